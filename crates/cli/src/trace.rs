//! `jsonmend trace`: the steps of the push path.

use std::io::{self, Write};

use jsonmend_core::{Collected, Mender, Outcome, Repair};
use serde_json::{Value, json};

use crate::{
    Session,
    args::{PolicyArg, TraceArgs},
    exit::{Exit, Failure},
    input::Input,
    listing::Edit,
    paint::{BOLD, DIM, GOOD, Paint},
    report::{self, Record},
    visible::visible,
};

/// The widths of the columns for the piece and for the output.
const PIECE: usize = 24;
const CERTAIN: usize = 32;

pub(crate) fn run(args: &TraceArgs, session: Session) -> Result<Exit, Failure> {
    let mut input = Input::open(&args.file, session.quiet)?;
    let text = input.read_all()?;
    let mut mender = Mender::new(args.engine.options(PolicyArg::Permissive));
    let mut out = io::BufWriter::new(io::stdout().lock());
    let paint = session.stdout;
    if !args.json {
        let heads = format!(
            "{:>8}  {:<PIECE$}  {:<CERTAIN$}  {:>5}  {:>8}  completion",
            "byte", "piece", "certain", "depth", "withheld"
        );
        writeln!(out, "{}", paint.paint(BOLD, heads))?;
    }
    for piece in args.split.pieces(&text) {
        let offset = mender.offset();
        let mut made = Collected::default();
        mender.push(piece, &mut made);
        let step = Step { offset, piece, made: &made, mender: &mender, outcome: None };
        step.write(&mut out, args.json, &text, paint)?;
    }
    let offset = mender.offset();
    let mut made = Collected::default();
    let outcome = mender.finish(&mut made);
    let step = Step { offset, piece: b"", made: &made, mender: &mender, outcome: Some(outcome) };
    step.write(&mut out, args.json, &text, paint)?;
    out.flush()?;
    Ok(Exit::Unchanged)
}

struct Step<'a> {
    offset: usize,
    piece: &'a [u8],
    made: &'a Collected,
    mender: &'a Mender,
    /// Only in the last step.
    outcome: Option<Outcome>,
}

impl Step<'_> {
    fn write(
        &self,
        out: &mut impl Write,
        json: bool,
        text: &[u8],
        paint: Paint,
    ) -> Result<(), Failure> {
        if json {
            return Ok(writeln!(out, "{}", self.object())?);
        }
        let piece = match self.outcome {
            Some(_) => "(end)".to_owned(),
            None => visible(self.piece, PIECE - 1),
        };
        let certain = visible(self.made.text(), CERTAIN - 1);
        // The padding is outside of the colour, because escape sequences would count as width.
        let pad = " ".repeat(CERTAIN.saturating_sub(certain.chars().count()));
        writeln!(
            out,
            "{:>8}  {piece:<PIECE$}  {}{pad}  {:>5}  {:>8}  {}",
            self.offset,
            paint.paint(GOOD, certain),
            self.mender.depth(),
            self.mender.withheld(),
            paint.paint(DIM, self.completion().as_deref().unwrap_or("-")),
        )?;
        for repair in self.made.repairs() {
            self.change(out, repair, text, paint)?;
        }
        if let Some(outcome) = self.outcome {
            let path = match outcome {
                Outcome::Closed | Outcome::Cut => format!(" at {}", self.mender.path()),
                _ => String::new(),
            };
            let outcome = report::outcome(paint, outcome);
            let count = self.mender.repair_count();
            let noun = if count == 1 { "repair" } else { "repairs" };
            writeln!(out, "outcome: {outcome}{path} ({count} {noun})")?;
        }
        Ok(())
    }

    fn change(
        &self,
        out: &mut impl Write,
        repair: &Repair,
        text: &[u8],
        paint: Paint,
    ) -> io::Result<()> {
        let before = text.get(repair.start()..repair.end()).unwrap_or_default();
        writeln!(out, "{:>8}  {}", "~", Edit::from(repair).describe(paint, Some(before)))
    }

    fn object(&self) -> Value {
        json!({
            "offset": self.offset,
            "piece": String::from_utf8_lossy(self.piece),
            "certain": self.made.to_text(),
            "depth": self.mender.depth(),
            "withheld": self.mender.withheld(),
            "completion": self.completion(),
            "repairs": self.made.repairs().iter().map(Record::from).collect::<Vec<_>>(),
            "outcome": self.outcome.map(Outcome::code),
        })
    }

    fn completion(&self) -> Option<String> {
        self.mender.completion().map(|completion| completion.to_string())
    }
}
