//! An agent against a model that misbehaves: a scripted model in this process, without a network.
//!
//! ```text
//! cargo run -p wiremend-reask --example misbehaving
//! ```
//!
//! Each scene is one habit of models, or of the servers before them. The agent is the same in all of them: one loop, one
//! policy for failed calls. It prints what it asks, and what came of it. Its checks are those of an agent, too: a
//! question names what is wrong, and the value that is returned is the one that was validated.

mod scenes;

use core::{cell::Cell, future::ready, time::Duration};
use std::collections::{BTreeSet, VecDeque};

use futures::executor::block_on;
use serde_json::Value;
use wiremend_reask::{
    Answer, Ask, AskKind, EndReason, Failure, Mode, ModeMemory, Progress, Reask, ReaskOptions,
    RetryPolicy, Shape, Timer, instructions,
};
use wiremend_schema::{Schema, Tree};

use scenes::{Reply, TASK, refuses};

/// A clock that passes only while somebody waits, so that the example does not.
struct Clock(Cell<Duration>);

impl Timer for &Clock {
    fn now(&self) -> Duration {
        self.0.get()
    }

    async fn sleep(&self, time: Duration) {
        self.0.set(self.0.get() + time);
    }
}

/// Makes a call, as a client does.
fn call(ask: &Ask, reply: Reply, clock: &Clock) -> Result<Answer, Failure> {
    match reply {
        Reply::Answers(answer) => Ok(answer),
        Reply::Late(time, answer) => {
            clock.0.set(clock.0.get() + time);
            Ok(answer)
        }
        Reply::Fails(failure) => Err(failure),
        Reply::Streams(pieces) => {
            let mut watch = ask.watch();
            let all = pieces.len();
            let read = pieces.iter().position(|piece| watch.push_body(piece.as_bytes()).is_some());
            if let (Some(last), Some(issue)) = (read, watch.lost()) {
                println!("   stopped after {} of {all} events: {issue}", last + 1);
            }
            Ok(watch.finish())
        }
    }
}

/// What every question must be, whatever the answer before it was.
fn check_question(ask: &Ask) {
    let Some(question) = ask.user_message() else { return };
    // What a model of a chat template would take for the end of a message is never sent.
    assert!(!question.contains("<|"), "{question}");
    // It says what is wrong, and where.
    assert!(ask.kind() == AskKind::Continue || question.contains("wrong:\n- /"), "{question}");
    for field in ask.fields() {
        assert!(question.contains(&format!(": {field}")), "{field} in {question}");
    }
    for shape in Shape::ALL {
        let messages: Vec<Value> =
            ask.as_tool_result(*shape).into_iter().chain(ask.messages(*shape)).collect();
        assert!(!messages.is_empty());
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("The first request says:\n{}\n", instructions(&Schema::from_text(TASK)?));
    let memory = ModeMemory::new();
    let (mut ends, mut kinds) = (BTreeSet::new(), BTreeSet::new());
    let scenes = scenes::all();
    for (number, scene) in scenes.into_iter().enumerate() {
        println!("{}. {}", number + 1, scene.habit);
        let schema = Schema::from_text(scene.schema)?;
        let clock = Clock(Cell::new(Duration::ZERO));
        let model = scene.model.map_or_else(|| format!("model {number}"), str::to_owned);
        let options = (scene.options)(ReaskOptions::new().with_attempts(5));
        let options = options.with_deadline(Duration::from_secs(120)).with_memory(model, &memory);
        let mut reask = Reask::new(&schema, options);
        let mut replies: VecDeque<Reply> = scene.replies.into();
        let (mut calls, mut mode) = (0, Mode::JsonSchema);
        let print = |next: &Progress| {
            let what = if next.is_retry { "the same call again" } else { next.kind.code() };
            let (delay, reason) = (next.delay, &next.reason);
            println!("   call: {what} in mode {}, after {delay:?}; {reason}", next.mode);
        };
        let model = |ask: Ask| {
            calls += 1;
            mode = ask.mode();
            kinds.insert(ask.kind().code());
            check_question(&ask);
            let reply = replies.pop_front();
            ready(call(&ask, reply.unwrap_or_else(|| refuses(400, "the script is over")), &clock))
        };
        let driver = reask.driver(&clock).with_retry(RetryPolicy::new(), 42).with_progress(print);
        let (ended, brought) = match block_on(driver.run(model)) {
            Ok(done) => {
                println!("   done: {}", done.json());
                // What is returned is what was validated, and nothing is in it twice.
                assert_eq!(done.fitted().text(), Some(done.json()));
                assert!(schema.accepts(&Tree::read(done.json())?));
                ("done", Some(done.json().to_owned()))
            }
            Err(end) => {
                println!("   {end}");
                (end.reason().code(), end.best().map(|best| best.answer().to_owned()))
            }
        };
        assert_eq!((ended, calls, mode), (scene.ends, scene.calls, scene.mode), "{}", scene.habit);
        if scene.brings.is_some() {
            assert_eq!(brought, scene.brings, "{}", scene.habit);
        }
        ends.insert(ended);
    }
    // Each way in which a loop ends was acted out, and each kind of question.
    let all = EndReason::ALL.iter().map(|reason| reason.code()).chain(["done"]).collect();
    assert_eq!(ends, all);
    assert_eq!(kinds, AskKind::ALL.iter().map(|kind| kind.code()).collect());
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_scene_ends_as_it_should() {
        super::main().unwrap_or_else(|error| panic!("{error}"));
    }
}
