//! The repairs of a text, kept in a few bytes each.

use alloc::{borrow::Cow, string::String, vec::Vec};
use core::{fmt, iter::FusedIterator};

use crate::{KindSet, Repair, RepairKind, Risk};

/// The repairs of a text, in order.
///
/// Most take three or four bytes, however many there are: what repeats in a text is short, close to
/// the last one, and inserts one of a few constants. So a list can only be read from its start;
/// [`iter`](Self::iter) gives each repair by value.
///
/// ```
/// use wiremend_core::{MendOptions, RepairKind, Repairs, Risk, mend};
/// let mended = mend(b"{'a': [True, False]}", &MendOptions::new());
/// let repairs: &Repairs = mended.repairs();
/// assert_eq!(repairs.len(), 4);
/// assert_eq!(repairs.risk(), Some(Risk::Exact));
/// assert_eq!(repairs.last().unwrap().after(), "false");
/// let kinds: Vec<_> = repairs.kinds().collect();
/// assert_eq!(kinds, [(RepairKind::PythonLiteral, 2), (RepairKind::SingleQuote, 2)]);
/// ```
///
/// Repairs that are not sorted are kept too, and take more.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Repairs {
    /// One record after the other; see [`Repairs::push`].
    log: Vec<u8>,
    length: usize,
    /// Where the last repair ends.
    end: usize,
    /// Where the last record starts in the log.
    last: usize,
    /// Where the repair before that ends.
    before_last: usize,
    kinds: KindSet,
    /// The risk of those that are in doubt.
    doubt: Option<Risk>,
}

/// Texts that repairs usually insert. A number of four bits identifies each; the highest one means
/// that the text is in the record.
const USUAL: [&str; 15] =
    ["", "\"", ",", ":", "\\\"", "true", "false", "null", "\\\\", "\\n", "\\t", "[", "]", "}", "{"];
const INLINE: u8 = USUAL.len() as u8;

/// The number of a text among the usual ones, or `INLINE`.
#[inline]
fn usual(text: &[u8]) -> u8 {
    match text {
        [b'"'] => 1,
        [] => 0,
        _ => usual_other(text),
    }
}

/// The same for those that are less usual.
#[inline(never)]
fn usual_other(text: &[u8]) -> u8 {
    USUAL.iter().position(|usual| usual.as_bytes() == text).map_or(INLINE, |at| at as u8)
}

/// In the byte with the length of the span, this one means that the rest of it follows.
const LONG: usize = 15;

/// In the first byte of a record: the repair starts before the last one ends.
const BACK: u8 = 0x80;

/// In the first byte of a record: the repair is in doubt.
const DOUBT: u8 = 0x40;

const _: () = assert!(RepairKind::ALL.len() <= DOUBT as usize, "a kind takes six bits");

impl Repairs {
    /// An empty list.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            log: Vec::new(),
            length: 0,
            end: 0,
            last: 0,
            before_last: 0,
            kinds: KindSet::EMPTY,
            doubt: None,
        }
    }

    /// How many there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.length
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// How many bytes of memory the list takes.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.log.len()
    }

    /// Appends a repair.
    #[inline]
    pub fn push(&mut self, repair: &Repair) {
        // The kind, and whether it is in doubt; the distance from the end of the last repair, or the start if that is before it;
        // in one byte, the length of the span and the number of the inserted text; the rest of the
        // length; the text with its length.
        let mut kind = repair.kind as u8;
        if repair.is_in_doubt() {
            kind |= DOUBT;
            self.doubt = self.doubt.max(Some(repair.risk()));
        }
        (self.last, self.before_last) = (self.log.len(), self.end);
        let gap = repair.start.checked_sub(self.end);
        let text = usual(repair.after().as_bytes());
        let length = repair.end.wrapping_sub(repair.start);
        self.length += 1;
        self.end = repair.end;
        self.kinds = self.kinds.with(repair.kind);
        if let (Some(gap @ 0..0x80), true, true) = (gap, text < INLINE, length < LONG) {
            self.log.extend_from_slice(&[kind, gap as u8, text << 4 | length as u8]);
        } else {
            self.push_long(kind, gap, text, repair);
        }
    }

    /// Appends a repair that does not fit in three bytes.
    #[inline(never)]
    fn push_long(&mut self, kind: u8, gap: Option<usize>, text: u8, repair: &Repair) {
        let after = repair.after();
        let length = repair.end.wrapping_sub(repair.start);
        match gap {
            Some(gap) => {
                self.log.push(kind);
                self.number(gap);
            }
            None => {
                self.log.push(kind | BACK);
                self.number(repair.start);
            }
        }
        self.log.push(text << 4 | length.min(LONG) as u8);
        if length >= LONG {
            self.number(length - LONG);
        }
        if text == INLINE {
            self.number(after.len());
            self.log.extend_from_slice(after.as_bytes());
        }
    }

    /// Writes a number, seven bits a byte, the lowest first.
    fn number(&mut self, mut number: usize) {
        while number >= 0x80 {
            self.log.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.log.push(number as u8);
    }

    /// The repairs, in order.
    #[must_use]
    pub fn iter(&self) -> RepairsIter<'_> {
        self.iter_at(RepairsPosition::default())
    }

    /// The repairs from a position on that an [iterator](RepairsIter::position) over this list has
    /// reached. More may have been added since.
    #[must_use]
    pub fn iter_at(&self, position: RepairsPosition) -> RepairsIter<'_> {
        RepairsIter { log: &self.log, length: self.length, position }
    }

    /// The position after the last repair.
    #[must_use]
    pub fn end(&self) -> RepairsPosition {
        RepairsPosition { at: self.log.len(), end: self.end, read: self.length }
    }

    /// The first repair.
    #[must_use]
    pub fn first(&self) -> Option<Repair> {
        self.iter().next()
    }

    /// The last repair.
    #[must_use]
    pub fn last(&self) -> Option<Repair> {
        let read = self.length.checked_sub(1)?;
        self.iter_at(RepairsPosition { at: self.last, end: self.before_last, read }).next()
    }

    /// Whether any repair is of this kind.
    #[must_use]
    pub const fn contains(&self, kind: RepairKind) -> bool {
        self.kinds.contains(kind)
    }

    /// The highest risk, or `None` if there are no repairs.
    #[must_use]
    pub fn risk(&self) -> Option<Risk> {
        let of_kinds = RepairKind::ALL.iter().filter(|kind| self.kinds.contains(**kind));
        of_kinds.map(|kind| kind.risk()).max().max(self.doubt)
    }

    /// The kinds that occur and how often, in alphabetical order.
    pub fn kinds(&self) -> impl Iterator<Item = (RepairKind, usize)> + use<> {
        let mut counts = [0; RepairKind::ALL.len()];
        for repair in self.iter() {
            counts[repair.kind as usize] += 1;
        }
        let occurs = |(kind, count): (&RepairKind, usize)| (count > 0).then_some((*kind, count));
        RepairKind::ALL.iter().zip(counts).filter_map(occurs)
    }
}

impl fmt::Debug for Repairs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

impl Extend<Repair> for Repairs {
    fn extend<I: IntoIterator<Item = Repair>>(&mut self, repairs: I) {
        repairs.into_iter().for_each(|repair| self.push(&repair));
    }
}

impl FromIterator<Repair> for Repairs {
    fn from_iter<I: IntoIterator<Item = Repair>>(repairs: I) -> Self {
        let mut list = Self::new();
        list.extend(repairs);
        list
    }
}

impl<'a> IntoIterator for &'a Repairs {
    type Item = Repair;
    type IntoIter = RepairsIter<'a>;

    fn into_iter(self) -> RepairsIter<'a> {
        self.iter()
    }
}

/// A position between two repairs of a list. The default is the start.
///
/// ```
/// use wiremend_core::{MendOptions, mend};
/// let mended = mend(b"['a', None]", &MendOptions::new());
/// let mut first = mended.repairs().iter();
/// assert_eq!(first.by_ref().take(2).count(), 2);
/// let rest = mended.repairs().iter_at(first.position());
/// assert_eq!(rest.map(|repair| repair.start()).collect::<Vec<_>>(), [6]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RepairsPosition {
    /// Where the next record starts in the log.
    at: usize,
    /// Where the repair before it ends.
    end: usize,
    /// How many repairs come before it.
    read: usize,
}

/// An iterator over [`Repairs`].
#[derive(Clone, Debug)]
pub struct RepairsIter<'a> {
    log: &'a [u8],
    length: usize,
    position: RepairsPosition,
}

impl RepairsIter<'_> {
    /// The position after the repair that was returned last.
    #[must_use]
    pub const fn position(&self) -> RepairsPosition {
        self.position
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = self.log.get(self.position.at)?;
        self.position.at += 1;
        Some(*byte)
    }

    fn number(&mut self) -> Option<usize> {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = self.byte()?;
            number |= usize::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
            shift += 7;
        }
    }
}

impl Iterator for RepairsIter<'_> {
    type Item = Repair;

    fn next(&mut self) -> Option<Repair> {
        if self.position.read >= self.length {
            return None;
        }
        self.position.read += 1;
        let first = self.byte()?;
        let kind = *RepairKind::ALL.get(usize::from(first & !(BACK | DOUBT)))?;
        let place = self.number()?;
        let start = if first < BACK { self.position.end.wrapping_add(place) } else { place };
        let lengths = self.byte()?;
        let mut length = usize::from(lengths & 0xf);
        if length == LONG {
            length = length.wrapping_add(self.number()?);
        }
        let after = match USUAL.get(usize::from(lengths >> 4)) {
            Some(text) => Cow::Borrowed(*text),
            None => {
                let size = self.number()?;
                let end = self.position.at.checked_add(size)?;
                let text = self.log.get(self.position.at..end)?;
                self.position.at = end;
                Cow::Owned(String::from_utf8_lossy(text).into_owned())
            }
        };
        let end = start.wrapping_add(length);
        self.position.end = end;
        let repair = Repair::new(kind, start..end, after);
        Some(if first & DOUBT == 0 { repair } else { repair.in_doubt() })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.length.saturating_sub(self.position.read);
        (left, Some(left))
    }
}

impl ExactSizeIterator for RepairsIter<'_> {}
impl FusedIterator for RepairsIter<'_> {}
