//! `wiremend trace`: the steps of the push path, and the two best readings of a whole text.

use serde_json::{Value, json};
use wiremend_core::{Located, Mender, Outcome, Output, Path, Paths, Reading, Repair, readings};

use crate::{
    Session,
    args::{PolicyArg, TraceArgs},
    exit::{Exit, Failure},
    input::Input,
    out::Out,
    report::{self, Edit, Record},
    visible::{BOLD, DIM, GOOD, Paint, Shown, shown},
};

/// The widths of the columns for the piece and for the output.
const PIECE: usize = 24;
const CERTAIN: usize = 32;

pub(crate) fn run(args: &TraceArgs, session: Session) -> Result<Exit, Failure> {
    let mut input = Input::open(&args.file, session.quiet)?;
    let text = input.read_all(args.input.max_input)?;
    if args.readings {
        return show_readings(args, &text, session);
    }
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
    let mut made = Made::default();
    for piece in args.split.pieces(&text) {
        let offset = mender.offset();
        made.clear();
        mender.push(piece, &mut made);
        let step = Step { offset, piece, made: &made, mender: &mender, outcome: None };
        step.write(&mut out, args.json, &text, paint);
        out.check()?;
    }
    let offset = mender.offset();
    made.clear();
    let outcome = mender.finish(&mut made);
    let step = Step { offset, piece: b"", made: &made, mender: &mender, outcome: Some(outcome) };
    step.write(&mut out, args.json, &text, paint);
    out.flush()?;
    Ok(Exit::Unchanged)
}

/// Shows the two cheapest readings of the text, and what they cost.
fn show_readings(args: &TraceArgs, text: &[u8], session: Session) -> Result<Exit, Failure> {
    let mut out = Out::new();
    let paint = session.stdout;
    let readings = readings(text, &args.engine.options(PolicyArg::Permissive));
    for Reading { cost, text: json, repairs, .. } in &readings {
        let mut repairs = Located::in_input(text, repairs);
        if args.json {
            let repairs = report::records(repairs);
            out.record(&json!({"cost": cost, "json": json, "repairs": repairs}));
            continue;
        }
        let cost = paint.paint(BOLD, format!("{cost:>8}"));
        out.line(&shown!("{}  {}", cost, Shown::of(json)));
        while let Some(repair) = repairs.next() {
            let before = text.get(repair.start()..repair.end()).unwrap_or_default();
            let change = Edit::from(&repair).describe(&repairs.path(), paint, Some(before));
            out.line(&shown!("       ~  {}", change));
        }
    }
    if readings.is_empty() && !args.json {
        out.line(&shown!("valid, or not searched: there is no other reading to show"));
    }
    out.flush()?;
    Ok(Exit::Unchanged)
}

/// What one step has emitted.
#[derive(Default)]
struct Made {
    text: Vec<u8>,
    repairs: Vec<(Repair, Path)>,
    /// Follows the text of all steps.
    paths: Paths,
}

impl Made {
    fn clear(&mut self) {
        self.text.clear();
        self.repairs.clear();
    }
}

impl Output for Made {
    fn copy(&mut self, bytes: &[u8]) {
        self.text.extend_from_slice(bytes);
        self.paths.read(bytes);
    }
    fn raw(&mut self) {
        self.paths.raw();
    }
    fn repair(&mut self, repair: Repair) {
        let path = self.paths.path_of(&repair);
        self.repairs.push((repair, path));
    }
}

struct Step<'a> {
    offset: usize,
    piece: &'a [u8],
    made: &'a Made,
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
        let certain = Shown::clipped(&self.made.text, CERTAIN - 1).padded(CERTAIN);
        out.line(&shown!(
            "{}  {}  {}  {}  {}  {}",
            format!("{:>8}", self.offset),
            piece.padded(PIECE),
            paint.paint(GOOD, certain),
            format!("{:>5}", self.mender.depth()),
            format!("{:>8}", self.mender.withheld()),
            paint.paint(DIM, self.completion().as_deref().unwrap_or("-")),
        ));
        for (repair, path) in &self.made.repairs {
            let before = text.get(repair.start()..repair.end()).unwrap_or_default();
            let change = Edit::from(repair).describe(path, paint, Some(before));
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
            "certain": String::from_utf8_lossy(&self.made.text),
            "depth": self.mender.depth(),
            "withheld": self.mender.withheld(),
            "completion": self.completion(),
            "repairs": self.repairs(),
            "outcome": self.outcome.map(Outcome::code),
        })
    }

    fn repairs(&self) -> Vec<Record> {
        let each = self.made.repairs.iter();
        each.map(|(repair, path)| Record::new(repair, path)).collect()
    }

    fn completion(&self) -> Option<String> {
        self.mender.completion().map(|completion| completion.to_string())
    }
}
