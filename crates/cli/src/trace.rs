//! `jsonmend trace`: the steps of the push path.

use jsonmend_core::{Collected, Mender, Outcome};
use serde_json::{Value, json};

use crate::{
    Session,
    args::{PolicyArg, TraceArgs},
    exit::{Exit, Failure},
    input::Input,
    listing::Edit,
    out::Out,
    paint::{BOLD, DIM, GOOD, Paint},
    report::{self, Record},
    visible::{Shown, shown},
};

/// The widths of the columns for the piece and for the output.
const PIECE: usize = 24;
const CERTAIN: usize = 32;

pub(crate) fn run(args: &TraceArgs, session: Session) -> Result<Exit, Failure> {
    let mut input = Input::open(&args.file, session.quiet)?;
    let text = input.read_all(args.input.max_input)?;
    let mut mender = Mender::new(args.engine.options(PolicyArg::Permissive));
    let mut out = Out::new();
    let paint = session.stdout;
    if !args.json {
        let heads = format!(
            "{:>8}  {:<PIECE$}  {:<CERTAIN$}  {:>5}  {:>8}  completion",
            "byte", "piece", "certain", "depth", "withheld"
        );
        out.line(&paint.paint(BOLD, heads));
    }
    for piece in args.split.pieces(&text) {
        let offset = mender.offset();
        let mut made = Collected::default();
        mender.push(piece, &mut made);
        let step = Step { offset, piece, made: &made, mender: &mender, outcome: None };
        step.write(&mut out, args.json, &text, paint);
        out.check()?;
    }
    let offset = mender.offset();
    let mut made = Collected::default();
    let outcome = mender.finish(&mut made);
    let step = Step { offset, piece: b"", made: &made, mender: &mender, outcome: Some(outcome) };
    step.write(&mut out, args.json, &text, paint);
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
    fn write(&self, out: &mut Out, json: bool, text: &[u8], paint: Paint) {
        if json {
            return out.record(&self.object());
        }
        let piece = match self.outcome {
            Some(_) => shown!("(end)"),
            None => Shown::clipped(self.piece, PIECE - 1),
        };
        let certain = Shown::clipped(self.made.text(), CERTAIN - 1).padded(CERTAIN);
        out.line(&shown!(
            "{}  {}  {}  {}  {}  {}",
            format!("{:>8}", self.offset),
            piece.padded(PIECE),
            paint.paint(GOOD, certain),
            format!("{:>5}", self.mender.depth()),
            format!("{:>8}", self.mender.withheld()),
            paint.paint(DIM, self.completion().as_deref().unwrap_or("-")),
        ));
        for repair in self.made.repairs() {
            let before = text.get(repair.start()..repair.end()).unwrap_or_default();
            let change = Edit::from(repair).describe(paint, Some(before));
            out.line(&shown!("       ~  {}", change));
        }
        if let Some(outcome) = self.outcome {
            let path = match outcome {
                Outcome::Closed | Outcome::Cut => {
                    shown!(" at {}", Shown::message(&self.mender.path().to_string()))
                }
                _ => Shown::default(),
            };
            let outcome = report::outcome(paint, outcome);
            let count = self.mender.repair_count();
            let noun = if count == 1 { "repair" } else { "repairs" };
            out.line(&shown!("outcome: {}{} ({} {})", outcome, path, count, noun));
        }
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
