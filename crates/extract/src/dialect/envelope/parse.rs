//! The calls in mended JSON that is there as a whole, or as far as it goes.

use std::ops::Range;

use wiremend_core::lexer::skip;

use super::keys::{
    ARGUMENTS, ARGUMENTS_TOO, IDS, INNER, LISTS, NAMES, OTHERS, RESULTS, is_key_of_call, unescaped,
};
use crate::dialect::{
    Dialect,
    tools::{Tool, Tools},
};

/// How deep objects and lists are looked into for calls.
const DEEPEST: usize = 8;
/// The key of the text for the user.
const CONTENT: &str = "content";
/// What the type of an object says if it is a call.
const TYPES: [&[u8]; 4] =
    [b"\"function\"", b"\"function_call\"", b"\"tool_call\"", b"\"tool_use\""];
/// Who writes the messages of a conversation that the model does not write.
const OTHER_ROLES: [&[u8]; 6] =
    [b"\"user\"", b"\"system\"", b"\"developer\"", b"\"tool\"", b"\"function\"", b"\"ipython\""];

/// What makes an object a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules<'r> {
    pub(super) row: &'r Dialect,
    pub(super) tools: &'r Tools,
    /// Whether the dialect was detected.
    pub(super) auto: bool,
    /// Whether each object is a call only if nothing else is in it, because there is no marker.
    pub(super) strict: bool,
    /// Whether any key may be the name of a tool.
    pub(super) keyed: bool,
    /// Where the text ended, if it ended inside of the payload.
    pub(super) cut: Option<usize>,
}

/// What a payload has in it, in order.
#[derive(Debug, Default)]
pub(super) struct Reading {
    pub(super) calls: Vec<Found>,
    /// Text for the user that is next to the calls.
    pub(super) content: Option<Range<usize>>,
    /// Whether a message of another than the model is in it, so that the calls were made before.
    pub(super) history: bool,
}

/// A call.
#[derive(Debug)]
pub(super) struct Found {
    /// The object, or the member whose key is the name.
    pub(super) at: Range<usize>,
    /// The name, or nothing if it is text after all.
    pub(super) name: String,
    pub(super) id: Option<String>,
    pub(super) given: Given,
    /// Whether there is nothing but a name.
    pub(super) bare: bool,
    /// Whether it is not clear what is meant.
    pub(super) refused: bool,
}

/// Where arguments are.
#[derive(Debug)]
pub(super) enum Given {
    /// A value, and whether its key says that it is the arguments.
    Value(Range<usize>, bool),
    /// Members next to the name, each with its key.
    Members(Vec<[Range<usize>; 2]>),
}

/// Where an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// It is all there is.
    Whole,
    /// In a list that is all there is.
    Item,
    /// In a list of calls of an object.
    Listed,
}

/// Reads the object or the list that begins at `from`.
pub(super) fn parse(json: &[u8], from: usize, place: Place, rules: Rules<'_>) -> Reading {
    let mut parser = Parser { json, rules, found: Reading::default() };
    match json.get(from) {
        Some(b'{') => parser.object(from, place, 0),
        Some(b'[') => parser.list(from, Place::Item, 0),
        _ => {}
    }
    parser.found
}

struct Parser<'p> {
    json: &'p [u8],
    rules: Rules<'p>,
    found: Reading,
}

/// An object that may be a call.
#[derive(Debug, Default)]
struct Object {
    name: Option<String>,
    id: Option<String>,
    given: Option<Given>,
    /// How deep the member with the arguments is.
    level: usize,
    others: Vec<Member>,
    refused: bool,
    state: State,
    /// Whether the last member is a call itself.
    own: bool,
    /// Whether it lists calls, and the text for the user so far.
    lists: bool,
    content: Option<Range<usize>>,
}

/// A member of an object that is neither the name nor the arguments.
#[derive(Debug)]
struct Member {
    /// How deep it is.
    level: usize,
    key: String,
    at: [Range<usize>; 2],
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Open,
    /// Its calls were read.
    Ended,
    /// It is no call.
    Dead,
}

impl Object {
    /// Whether its name and its arguments were read.
    const fn is_call(&self) -> bool {
        self.name.is_some() && self.given.is_some()
    }
}

impl<'p> Parser<'p> {
    fn list(&mut self, from: usize, place: Place, depth: usize) {
        let items = || parts(self.json, from, false).map(|[_, item]| item);
        if self.rules.strict && items().next().is_some_and(|item| self.first(&item) == b'"') {
            let items: Vec<_> = items().take(3).collect();
            return self.pair(from, &items);
        }
        let items: Vec<_> = items().collect();
        for item in items {
            match self.first(&item) {
                b'{' => self.object(item.start, place, depth + 1),
                b'[' if self.rules.strict && depth == 0 => {
                    self.list(item.start, Place::Listed, depth + 1);
                }
                // What else is in a list says that it is none of calls.
                _ if self.rules.strict => self.text_at(item),
                _ => {}
            }
        }
    }

    /// A list of the name and the arguments of one call.
    fn pair(&mut self, from: usize, items: &[Range<usize>]) {
        let [name, value] = items else { return };
        if self.first(value) == b'{' {
            let given = Given::Value(value.clone(), false);
            let object =
                Object { name: Some(self.text(name)), given: Some(given), ..Object::default() };
            self.push(object, from..self.end(from), false);
        }
    }

    fn object(&mut self, from: usize, place: Place, depth: usize) {
        let (mut object, before) = (Object::default(), self.found.calls.len());
        self.members(&mut object, from, 0, place, depth);
        let other = |member: &Member| {
            let role = member.level == 0 && member.key == "role";
            role && OTHER_ROLES.contains(&self.value(&member.at[1]))
        };
        let history = self.rules.strict && place == Place::Item;
        self.found.history |= history && object.others.iter().any(other);
        let (lists, content) = (object.lists, object.content.take());
        self.ends(object, from..self.end(from));
        // The content of a call is text, too, unless it is an argument.
        let own =
            self.found.calls.get(before).filter(|call| self.rules.strict && !call.name.is_empty());
        let own = own.map(|call| self.rules.tools.known(&call.name));
        let own = own.is_some_and(|tool| !tool.is_some_and(|tool| tool.has(CONTENT)));
        if place != Place::Listed && (lists || own) {
            self.found.content = content;
        }
    }

    fn members(
        &mut self,
        object: &mut Object,
        from: usize,
        level: usize,
        place: Place,
        depth: usize,
    ) {
        let json = self.json;
        for [key, value] in parts(json, from, true) {
            if object.state == State::Dead {
                return;
            }
            self.member(object, &key, value, level, place, depth);
        }
    }

    fn member(
        &mut self,
        object: &mut Object,
        key_at: &Range<usize>,
        value: Range<usize>,
        level: usize,
        place: Place,
        depth: usize,
    ) {
        let text = self.text(key_at);
        let key = text.trim();
        let first = self.first(&value);
        let (strict, keyed) = (self.rules.strict, self.rules.keyed);
        let own = &self.rules.row.keys;
        let is =
            |usual: &[&str], own: &[_]| usual.contains(&key) || own.iter().any(|own| own == key);
        let knows = self.rules.tools.known(key).is_some();
        if std::mem::take(&mut object.own) && strict {
            // After a member that is a call, another member begins. If that is none, the object may be data.
            let data = !(is_usual(key) || first == b'{' && knows);
            if let Some(call) = self.found.calls.last_mut().filter(|_| data) {
                call.refused = true;
                object.state = State::Ended;
            }
        }
        // A list of one call may have lost its brackets, unless its key names a tool.
        let free = object.name.is_none() || object.state == State::Ended;
        let lists = is(&LISTS, &own.lists) && (first == b'[' || first == b'{' && free && !knows);
        let tool = object.name.as_ref().and_then(|name| self.rules.tools.known(name));
        let arguments = is(&ARGUMENTS, &own.arguments);
        let all = ARGUMENTS.contains(&key);
        let takes = tool.is_some_and(|tool| tool.has(key));
        if object.state == State::Ended && !(lists && place == Place::Whole) {
            // What follows a list of calls belongs to none of them.
            self.content(object, key, &value);
        } else if is(&NAMES, &own.names) && first == b'"' && object.name.is_none() {
            object.name = Some(self.text(&value));
        } else if INNER.contains(&key) && first == b'{' && object.name.is_none() {
            object.lists = true;
            if depth < DEEPEST {
                self.members(object, value.start, level + 1, place, depth + 1);
            }
        } else if lists {
            object.lists = true;
            if object.is_call() {
                // Nobody knows which calls are meant.
                let call = std::mem::take(object);
                let refused = Object { refused: true, lists: true, ..call };
                self.ends(refused, value.start..value.start);
            }
            object.state = State::Ended;
            match first {
                _ if depth >= DEEPEST => {}
                b'[' => self.list(value.start, Place::Listed, depth + 1),
                _ => self.object(value.start, Place::Listed, depth + 1),
            }
        } else if let Some(Given::Members(members)) =
            object.given.as_mut().filter(|_| object.level == level)
        {
            if takes || !(all && matches!(first, b'{' | b'"') || is_usual(key)) {
                // What came of a call says that it was made before.
                object.refused |= !takes && RESULTS.contains(&key);
                members.push([key_at.clone(), value]);
            } else {
                // Arguments next to arguments: it is not clear which are meant.
                object.refused |= all && matches!(first, b'{' | b'"');
            }
        } else if IDS.contains(&key) && first == b'"' {
            object.id = Some(self.text(&value));
            object.others.push(Member { level, key: key.to_owned(), at: [key_at.clone(), value] });
        } else if takes && !is_usual(key) && !(all && first == b'{') && object.given.is_none() {
            let mut members = self.arguments_among(object, level);
            members.push([key_at.clone(), value]);
            (object.given, object.level) = (Some(Given::Members(members)), level);
        } else if arguments && object.given.is_none() {
            (object.given, object.level) = (Some(Given::Value(value, true)), level);
        } else if (key == "name" && object.level == level || arguments && first == b'{')
            && object.is_call()
        {
            // Nobody knows which of the two are meant. Parsers of JSON would take the last one.
            object.refused = true;
            self.content(object, key, &value);
        } else if (first == b'{' || keyed && first == b'"')
            && object.name.is_none()
            && (keyed || knows)
        {
            // The key is the name. Another member of the same object may be another call.
            let at = key_at.start..value.end;
            let given = Given::Value(value, false);
            let call =
                Object { name: Some(key.to_owned()), given: Some(given), ..Object::default() };
            self.push(call, at, true);
            (object.given, object.own) = (None, true);
        } else {
            self.content(object, key, &value);
            let foreign = !is_key_of_call(key) && !own.has(key);
            if object.is_call() {
                // What came of a call says that it was made before, and any other key that it is data.
                object.refused |= strict && (RESULTS.contains(&key) || foreign);
            } else if strict && foreign {
                object.state = State::Dead;
            }
            object.others.push(Member { level, key: key.to_owned(), at: [key_at.clone(), value] });
        }
    }

    /// A member that means nothing to the calls may be the text for the user.
    fn content(&self, object: &mut Object, key: &str, value: &Range<usize>) {
        let free = object.lists || object.name.is_none() || self.rules.strict && object.is_call();
        if key == CONTENT && self.first(value) == b'"' && free {
            object.content = Some(value.clone());
        }
    }

    /// An object has ended.
    fn ends(&mut self, mut object: Object, at: Range<usize>) {
        let Rules { strict, auto, row, .. } = self.rules;
        let Some(name) = &object.name else { return };
        if object.state != State::Open || name.is_empty() {
            return;
        }
        let tool = self.rules.tools.known(name);
        let mut bare = false;
        if object.given.is_none() {
            // Without arguments, the name alone is a call only where it may be one.
            let members = self.arguments_among(&object, 0);
            let takes_none = tool.is_some_and(|tool| tool.parameters.is_empty());
            let lacks = !takes_none && members.is_empty();
            let cut = self.rules.cut.is_some_and(|cut| at.end > cut);
            let may = !strict || row.bare_name || auto && tool.is_some();
            if !may || strict && (cut || auto && lacks || !self.is_bare_call(&object, &members)) {
                // It has the name of a tool, so it is not passed over.
                return self.text_at(at);
            }
            object.refused |= match auto {
                true => lacks,
                false => !row.bare_name && members.is_empty(),
            };
            // With a member that means nothing, arguments may be missing.
            object.refused |= self.has_unread(&object, tool);
            (object.given, object.level, bare) = (Some(Given::Members(members)), 0, true);
        }
        let flat = matches!(object.given, Some(Given::Members(_)));
        // An argument next to the others would be missing.
        object.refused |= object.others.iter().any(|member| {
            let beside = object.level == member.level && self.value(&member.at[1]) != b"null";
            let usual = is_usual(&member.key) && !(beside && is_argument_too(&member.key));
            let own = flat && object.level == member.level;
            !own && !usual && tool.is_some_and(|tool| tool.has(&member.key))
        });
        // The identifier may be an argument.
        let own = self.arguments_among(&object, object.level);
        let is_id = |member: &&Member| IDS.contains(&member.key.as_str());
        let mut ids = object.others.iter().filter(is_id);
        let taken = flat && ids.any(|member| own.contains(&member.at));
        object.id = object.id.filter(|_| !taken);
        self.push(object, at, false);
        if let Some(call) = self.found.calls.last_mut() {
            call.bare = bare;
        }
    }

    /// What is there is text.
    fn text_at(&mut self, at: Range<usize>) {
        let given = Given::Members(Vec::new());
        let text = Found { at, name: String::new(), id: None, given, bare: false, refused: false };
        self.found.calls.push(text);
    }

    /// A call was read. If it is a `member`, its key is its name.
    fn push(&mut self, object: Object, at: Range<usize>, member: bool) {
        let Object { name: Some(name), id, given: Some(given), refused, .. } = object else {
            return;
        };
        let tool = self.rules.tools.known(&name).filter(|_| self.rules.strict);
        // The object may declare the tool, or only happen to have its name as a key.
        let refused = refused
            || tool.is_some_and(|tool| {
                let json = given.json(self.json);
                tool.is_declared_by(&json) || member && !self.rules.auto && !tool.takes_all(&json)
            });
        self.found.calls.push(Found { at, name, id, given, bare: false, refused });
    }

    /// The members at this level that are arguments of the tool, if those are next to its name.
    fn arguments_among(&self, object: &Object, level: usize) -> Vec<[Range<usize>; 2]> {
        let tool = object.name.as_ref().and_then(|name| self.rules.tools.known(name));
        let is_argument = |member: &&Member| {
            let own = tool.is_some_and(|tool| tool.has(&member.key));
            member.level == level && own && !self.is_type(member)
        };
        object.others.iter().filter(is_argument).map(|member| member.at.clone()).collect()
    }

    /// Whether a member says that the object is a call.
    fn is_type(&self, member: &Member) -> bool {
        member.key == "type" && TYPES.contains(&self.value(&member.at[1]))
    }

    /// Whether there is a member that neither a call has around it nor the tool takes.
    fn has_unread(&self, object: &Object, tool: Option<&Tool>) -> bool {
        let taken = |key: &str| tool.is_some_and(|tool| tool.has(key));
        let mut own = object.others.iter().filter(|member| member.level == 0);
        own.any(|member| !is_usual(&member.key) && !taken(&member.key))
    }

    /// Whether there is nothing next to the name of a call without arguments but what only a call has:
    /// an object with a `status` or a column with a `type` is data.
    fn is_bare_call(&self, object: &Object, arguments: &[[Range<usize>; 2]]) -> bool {
        object.others.iter().filter(|member| member.level == 0).all(|member| {
            IDS.contains(&member.key.as_str())
                || self.is_type(member)
                || arguments.contains(&member.at)
        })
    }

    fn first(&self, value: &Range<usize>) -> u8 {
        self.json.get(value.start).copied().unwrap_or_default()
    }

    fn value(&self, value: &Range<usize>) -> &'p [u8] {
        self.json.get(value.clone()).unwrap_or_default()
    }

    /// The text of a string.
    fn text(&self, string: &Range<usize>) -> String {
        let text = self.value(string);
        let text = text.strip_prefix(b"\"").unwrap_or(text);
        unescaped(text.strip_suffix(b"\"").unwrap_or(text))
    }

    /// Where the value that begins at a place ends.
    fn end(&self, from: usize) -> usize {
        from + skip(self.json.get(from..).unwrap_or_default())
    }
}

impl Given {
    /// Where the values are.
    pub(super) fn at(&self) -> Vec<Range<usize>> {
        match self {
            Self::Value(value, _) => vec![value.clone()],
            Self::Members(members) => members.iter().map(|[_, value]| value.clone()).collect(),
        }
    }

    /// The arguments, of which the value may be a string that has them in it.
    pub(super) fn json(&self, text: &[u8]) -> Vec<u8> {
        let get = |range: &Range<usize>| text.get(range.clone()).unwrap_or_default();
        match self {
            Self::Value(value, _) => get(value).to_vec(),
            Self::Members(members) => {
                let members: Vec<_> = members
                    .iter()
                    .map(|[key, value]| [get(key), b": ", get(value)].concat())
                    .collect();
                [b"{", &members.join(&b", "[..])[..], b"}"].concat()
            }
        }
    }
}

/// The items of a list, or the members of an object with their keys, of mended text that may end early.
fn parts(json: &[u8], from: usize, keyed: bool) -> impl Iterator<Item = [Range<usize>; 2]> {
    let mut at = from + 1;
    let value = move |at: &mut usize, gap: &[u8]| {
        let rest = json.get(*at..).unwrap_or_default();
        *at +=
            rest.iter().take_while(|byte| byte.is_ascii_whitespace() || gap.contains(byte)).count();
        let start = *at;
        *at += skip(json.get(start..).unwrap_or_default());
        start..*at
    };
    std::iter::from_fn(move || {
        let key = if keyed { value(&mut at, b",") } else { at..at };
        let part = value(&mut at, if keyed { b":" } else { b"," });
        (!part.is_empty()).then_some([key, part])
    })
}

/// Whether the object around a call has members with this key.
fn is_usual(key: &str) -> bool {
    IDS.contains(&key) || OTHERS.contains(&key)
}

/// Whether a member next to the arguments may be one of them, although the object around a call has
/// such members.
fn is_argument_too(key: &str) -> bool {
    ARGUMENTS_TOO.contains(&key)
}
