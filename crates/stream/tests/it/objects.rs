//! Objects in the text while they grow, with a schema: through the reader, the stream and the blocking iterator.

use std::{io::Read, pin::pin};

use crate::source::Source;
use futures::{StreamExt, executor::block_on};
use serde_json::json;
use wiremend_core::{Limits, MendOptions, Outcome, Policy, Risk};
use wiremend_extract::Scope;
use wiremend_response::{
    Event, FittedObject, Object, Response, ResponseOptions, ResponseReader, TextCalls,
};
use wiremend_schema::{Cursor, FitOptions, NodeState, Schema, Standing};
use wiremend_stream::ByteStreamExt;

fn text(text: &str) -> String {
    format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": {"content": text}}]}))
}

const END: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n\
                   data: [DONE]\n\n";

/// The event that fills this gap never arrives.
const LOST: &str = "data: {\"choi\n\n";

fn schema() -> Schema {
    let schema = json!({"properties": {
        "n": {"type": "integer"}, "m": {}, "tags": {"items": {"enum": ["red", "dark blue"]}},
    }, "required": ["n"]});
    Schema::from_text(&schema.to_string()).unwrap()
}

/// A policy without guesses, under which something can be lost for certain.
fn options() -> ResponseOptions {
    ResponseOptions::new()
        .with_mending(MendOptions::new().with_policy(Policy::CONSERVATIVE))
        .with_schema(&schema(), FitOptions::new())
}

fn with_limits(limits: Limits) -> ResponseOptions {
    let mending = options().mending().clone().with_limits(limits);
    options().with_mending(mending)
}

/// What was said of the objects.
#[derive(Debug, Default, PartialEq)]
struct Said {
    /// Of each early issue the object, the standing, the offset and the words.
    found: Vec<(usize, Standing, usize, String)>,
    fits: Vec<(Option<usize>, Outcome, Option<String>)>,
    /// How much was read of each object, and whether it has ended.
    read: Vec<(usize, bool)>,
}

impl Said {
    fn add(&mut self, event: Event) {
        match event {
            Event::ObjectBegan { object, .. } => {
                assert_eq!(object, self.read.len());
                self.read.push((0, false));
            }
            Event::ObjectFragment { object, json, .. } => self.read[object].0 += json.len(),
            Event::ObjectIssue { object, issue, .. } => {
                let (read, ended) = self.read[object];
                assert!(issue.offset() <= read, "after what it is about");
                assert!(!ended, "before the end");
                assert_ne!(issue.standing(), Standing::Pending);
                let words = issue.to_string();
                self.found.push((object, issue.standing(), issue.offset(), words));
            }
            Event::ObjectEnded(object) => self.read[object.number()].1 = true,
            Event::ObjectFitted(fit) => {
                let json = fit.json().map(str::to_owned);
                self.fits.push((fit.object(), fit.outcome(), json));
            }
            _ => {}
        }
    }

    fn through_the_reader(body: &[u8], size: usize, options: &ResponseOptions) -> Self {
        let (mut said, mut reader) = (Self::default(), ResponseReader::new(options.clone()));
        for chunk in body.chunks(size) {
            reader.push(chunk, &mut |event| said.add(event));
        }
        reader.finish(&mut |event| said.add(event));
        said
    }

    fn through_the_stream(source: Source, options: &ResponseOptions) -> Self {
        let (mut said, mut events) = (Self::default(), pin!(source.read(options.clone())));
        while let Some(event) = block_on(events.next()) {
            said.add(event.unwrap());
        }
        said
    }

    fn through_the_iterator(body: &[u8], size: usize, options: &ResponseOptions) -> Self {
        let (mut said, read) = (Self::default(), InPieces(body, size));
        for event in wiremend_stream::source::from_read(read).read(options.clone()) {
            said.add(event.unwrap());
        }
        said
    }

    /// What is the same however the body is read, and wherever it is cut.
    fn of(body: &str, options: &ResponseOptions) -> Self {
        let body = body.as_bytes();
        let whole = Self::through_the_reader(body, body.len(), options);
        for size in [1, 2, 3, 7, 40, body.len()] {
            assert_eq!(Self::through_the_reader(body, size, options), whole, "{size}");
            let source = Source::cut(body, size).0.hesitant();
            assert_eq!(Self::through_the_stream(source, options), whole, "{size}");
            assert_eq!(Self::through_the_iterator(body, size, options), whole, "{size}");
        }
        for cut in 0..=body.len() {
            let (head, tail) = body.split_at(cut);
            let source = Source::new(vec![Ok(head.to_vec()), Ok(tail.to_vec())]).0;
            assert_eq!(Self::through_the_stream(source, options), whole, "{cut}");
        }
        whole
    }

    /// The same, also in deltas of so many characters.
    fn of_text(content: &str, options: &ResponseOptions) -> Self {
        let whole = Self::of(&(text(content) + END), options);
        let letters: Vec<char> = content.chars().collect();
        for size in [1, 2, 3, 5, 8, 13, 21] {
            let deltas = letters.chunks(size).map(|piece| text(&piece.iter().collect::<String>()));
            let body = deltas.collect::<String>() + END;
            assert_eq!(Self::through_the_reader(body.as_bytes(), 64, options), whole, "{size}");
        }
        whole
    }
}

/// A reader that gives at most so many bytes at once.
struct InPieces<'a>(&'a [u8], usize);

impl Read for InPieces<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let (piece, rest) = self.0.split_at(self.1.min(self.0.len()).min(into.len()));
        into[..piece.len()].copy_from_slice(piece);
        self.0 = rest;
        Ok(piece.len())
    }
}

/// The value of each open object after each event that is a fragment of it, with each piece in a chunk of its own:
/// the same through the reader, the stream and the iterator.
fn shown(pieces: &[&str], options: &ResponseOptions) -> Vec<Option<String>> {
    let chunks: Vec<String> = pieces.iter().map(|piece| text(piece)).collect();
    let root = |cursor: Option<&Cursor>| Some(cursor?.root()?.to_string());
    let mut reader = ResponseReader::new(options.clone());
    let mut through_reader = Vec::new();
    for chunk in chunks.iter().map(String::as_str).chain([END]) {
        let mut events = Vec::new();
        reader.push(chunk.as_bytes(), &mut |event| events.push(event));
        for event in events {
            match event {
                Event::ObjectFragment { object, .. } => {
                    through_reader.push(root(reader.object_cursor(object)));
                }
                Event::ObjectEnded(object) => {
                    assert!(reader.object_cursor(object.number()).is_none());
                }
                _ => {}
            }
        }
    }
    let source: Vec<_> = chunks.iter().map(|chunk| Ok(chunk.clone().into_bytes())).collect();
    let mut events = Source::new(source).0.read(options.clone());
    let mut through_stream = Vec::new();
    while let Some(event) = block_on(events.next()) {
        if let Event::ObjectFragment { object, .. } = event.unwrap() {
            through_stream.push(root(events.object_cursor(object)));
        }
    }
    assert_eq!(through_stream, through_reader[..through_stream.len()]);
    let body = chunks.concat();
    let longest = chunks.iter().map(String::len).max().unwrap();
    let mut events = wiremend_stream::source::from_read(InPieces(body.as_bytes(), longest))
        .read(options.clone())
        .into_iter();
    let mut last = None;
    while let Some(event) = events.next() {
        if let Event::ObjectFragment { object, .. } = event.unwrap() {
            last = root(events.get_ref().object_cursor(object)).or(last);
        }
    }
    assert_eq!(last.is_some(), through_reader.iter().any(Option::is_some));
    through_reader
}

#[test]
fn an_object_is_fitted_while_it_grows() {
    let pieces = ["A: {'n': '4', 'm': [1", ", 2], 'k': 'a", "b'} and [", "3", ", 4]"];
    let shown = shown(&pieces, &options());
    // A number may go on in the next piece. The second object comes all at once, when it is clear that it is one.
    let want = [r#"{"n":4,"m":[]}"#, r#"{"n":4,"m":[1,2],"k":"a"}"#];
    assert_eq!(shown.iter().flatten().collect::<Vec<_>>(), want, "{shown:?}");
}

#[test]
fn the_value_so_far_has_a_state_for_each_node() {
    let mut reader = ResponseReader::new(options());
    reader.push(text("{'n': '3', 'm': 'Os").as_bytes(), &mut |_| {});
    let cursor = reader.object_cursor(0).unwrap();
    let state = |key: &str| cursor.root().unwrap().member(key).map(|node| node.state());
    assert_eq!(state("n"), Some(NodeState::Final));
    assert_eq!(state("m"), Some(NodeState::Tentative));
    assert!(cursor.pending().is_empty() && reader.object_cursor(1).is_none());
    let mut reader = ResponseReader::new(options());
    reader.push(text("{'m': [").as_bytes(), &mut |_| {});
    let pending = reader.object_cursor(0).unwrap().pending();
    assert_eq!(pending[0].to_string(), "/: missing required property \"n\"");
}

#[test]
fn an_object_that_will_not_be_fitted_is_not_followed() {
    let pieces = ["{\"n\": 1, \"m\": \"", "0123456789", "0123456789", "0123456789\"}"];
    let whole = shown(&pieces, &options());
    assert!(whole[2].as_ref().unwrap().ends_with("01234567890123456789\"}"), "{whole:?}");
    let short = Limits::new().with_buffer(30);
    let open = options().with_open_objects_limit(30);
    for options in [options().with_object_limit(30), with_limits(short), open] {
        let values = shown(&pieces, &options);
        assert!(values[0].is_some() && values[2].is_none(), "{values:?}");
    }
    // Without a schema, there is nothing to follow.
    let objects = ResponseOptions::new().with_objects(Scope::All);
    assert!(shown(&pieces, &objects).iter().all(Option::is_none));
}

#[test]
fn nothing_is_found_past_the_limits_however_the_body_is_cut() {
    let content = "{\"n\": 1.5, \"m\": \"0123456789\", \"n\": 2.5}";
    let offsets = |options: &ResponseOptions| {
        Said::of_text(content, options).found.iter().map(|found| found.2).collect::<Vec<_>>()
    };
    assert_eq!(offsets(&options()), [8, 37]);
    for (limit, want) in [(8, &[][..]), (9, &[8]), (37, &[8]), (38, &[8, 37])] {
        assert_eq!(offsets(&options().with_object_limit(limit)), want, "{limit}");
        assert_eq!(offsets(&with_limits(Limits::new().with_buffer(limit))), want, "{limit}");
    }
}

#[test]
fn what_is_wrong_with_an_object_is_said_before_its_end_however_the_body_is_cut() {
    let content = "{\"n\": 1} {\"m\": 2} {\"n\": 1.5, \"m\": [0]} {'n': '7'}.";
    let said = Said::of_text(content, &options());
    let found: Vec<_> = said.found.iter().map(|found| (found.0, found.1)).collect();
    assert_eq!(found, [(1, Standing::Lost), (2, Standing::Lost)], "{said:?}");
    assert_eq!(said.found[1].3, "/n: expected integer, got number 1.5");
    let complete: Vec<_> = said.fits.iter().map(|fit| fit.1.is_complete()).collect();
    assert_eq!(complete, [true, false, false, true]);
    // It is said with the number, and not with the end.
    let open = Said::through_the_reader(text("{\"n\": 1.5, \"m").as_bytes(), 64, &options());
    assert_eq!(open.found.len(), 1, "{open:?}");
    // A policy that allows guesses gives up on nothing.
    let said = Said::of_text(content, &options().with_mending(MendOptions::new()));
    assert!(said.found.iter().all(|found| found.1 == Standing::Definite), "{said:?}");
    assert_eq!(said.found.len(), 2);
    // Nor does one without rules repair anything: the schema only validates.
    let said = Said::of_text("{\"n\": \"7\"}", &options().without_rules());
    assert_eq!(said.found[0].1, Standing::Lost, "{said:?}");
    // Two texts at once.
    let block = |index: usize, content: &str| {
        format!(
            "data: {}\n\n",
            json!({"choices": [{"index": index, "delta": {"content": content}}]})
        )
    };
    let body = block(0, "{\"m\": [")
        + &block(1, "{\"n\": 1.5")
        + &block(0, "1], \"n\": 2.5")
        + &block(1, "}")
        + &block(0, "}")
        + END;
    let found: Vec<_> = Said::of(&body, &options()).found.iter().map(|found| found.0).collect();
    assert_eq!(found, [1, 0]);
}

/// The fit may read the bytes in another way than a reader that does not know the schema.
#[test]
fn what_is_lost_is_lost_because_both_read_with_the_schema() {
    for (content, fits) in [
        ("{\"n\": 007}", true),
        ("{'n': 1, 'tags': [red dark blue]}", true),
        ("{\"n\": 1, \"m\": \"say \"a\", \"b\" or \"c\"\"}", true),
        ("{\"n\": 0.5, \"tags\": [red]}", false),
    ] {
        for scope in [Scope::All, Scope::Whole, Scope::First] {
            let said = Said::of_text(content, &options().with_objects(scope));
            assert_eq!(said.fits[0].1.is_complete(), fits, "{content} {said:?}");
            let lost = said.found.iter().any(|found| found.1 == Standing::Lost);
            assert_eq!(lost, !fits, "{content} {said:?}");
        }
    }
}

/// What closes an object that was cut off is not the model's, and what seems to be wrong may be what is missing.
#[test]
fn what_is_missing_says_nothing() {
    for policy in [Policy::CONSERVATIVE, Policy::PERMISSIVE] {
        let options = options().with_mending(MendOptions::new().with_policy(policy));
        for scope in [Scope::All, Scope::Whole, Scope::First] {
            let options = options.clone().with_objects(scope);
            for content in ["{\"m\": 1", "{\"m\": [{\"k\": \"", "{'m"] {
                assert_eq!(Said::of_text(content, &options).found, [], "{content}");
                // Without any end, too.
                assert_eq!(Said::of(&text(content), &options).found, [], "{content}");
            }
        }
        for (lost, count) in [("", 2), (LOST, 0)] {
            let body = [&text("{\"m\": 1"), lost, &text(", \"k\": 2} {\"m\": 2}"), END].concat();
            let said = Said::of(&body, &options);
            assert_eq!(said.found.len(), count, "{lost} {said:?}");
            assert!(said.fits.iter().all(|fit| lost.is_empty() || !fit.1.is_complete()));
        }
    }
    let mut reader = ResponseReader::new(options());
    reader.push(text("{\"m\": 1").as_bytes(), &mut |_| {});
    assert!(reader.object_cursor(0).is_some());
    reader.push((LOST.to_owned() + &text(", \"k\": 2")).as_bytes(), &mut |_| {});
    assert!(reader.object_cursor(0).is_none());
}

/// Raw text says nothing about what was meant.
#[test]
fn what_is_raw_is_not_followed() {
    let strict = options().with_mending(MendOptions::new().with_policy(Policy::STRICT));
    let said = Said::of_text("{\"n\": 1.5, 'n': 2.5, \"n\": 3.5}", &strict);
    assert_eq!(said.found.iter().map(|found| found.2).collect::<Vec<_>>(), [8], "{said:?}");
    let deep = with_limits(Limits::new().with_depth(2));
    let said = Said::of_text("{\"n\": 1.5, \"m\": [[[1]]], \"n\": 3.5}", &deep);
    assert_eq!(said.found.len(), 1, "{said:?}");
}

#[test]
fn objects_taken_out_of_the_text_and_calls_in_it_change_nothing() {
    let content = "So: {\"n\": 1.5} and {\"n\": 2}.";
    let said = Said::of_text(content, &options());
    assert_eq!(said.found.len(), 1);
    assert_eq!(Said::of_text(content, &options().without_objects_in_text()), said);
    let calls = options().with_calls_in_text(TextCalls::detected());
    assert_eq!(Said::of_text(content, &calls), said);
}

/// What is dropped around a single object is not part of it.
#[test]
fn an_object_is_fitted_whatever_is_around_it() {
    for scope in [Scope::Whole, Scope::First, Scope::All, Scope::Fenced] {
        for (before, after) in [("Here:\n```json\n", "\n```\nDone."), ("```\n", "\n```")] {
            let content = format!("{before}{{'n': '1', 'm': 2,}}{after}");
            // A label may be dropped only under a policy that allows it.
            let options = options().with_mending(MendOptions::new()).with_objects(scope);
            let said = Said::of_text(&content, &options);
            let want = Some("{\"n\": 1, \"m\": 2}".to_owned());
            assert_eq!(said.fits[0].2.as_deref().map(str::trim), want.as_deref(), "{scope:?}");
        }
    }
}

/// An object of exactly the buffer limit is fitted, whatever is withheld after it.
#[test]
fn the_longest_object_that_is_fitted_is_fitted_however_the_text_is_cut() {
    let tail = "\n\n\"quoted\" words in here, and there \"too\", yes, and more still.";
    for object in ["{\"m\": \"say \"b\" }", "{\"m\": [1,2}", "{\"m\": 12}"] {
        for over in [0, 1] {
            let limits = Limits::new().with_buffer(object.len() - over);
            let mending = MendOptions::new().with_limits(limits);
            let schema = Schema::from_text("{}").unwrap();
            let options = ResponseOptions::new().with_schema(&schema, FitOptions::new());
            let options = options.with_mending(mending);
            let said = Said::of_text(&format!("{object}{tail}"), &options);
            assert_eq!(said.fits[0].1 == Outcome::Overflow, over == 1, "{said:?}");
        }
    }
}

/// A single object is open until the end of its text, but what follows it does not cost it its fit.
#[test]
fn an_object_is_fitted_however_much_text_follows() {
    let schema = Schema::from_text("{}").unwrap();
    let object = "{'n': 1, 'm': 2}";
    for scope in [Scope::Whole, Scope::First, Scope::All] {
        for tail in ["Words, and more. ", "\n", "\n\n\n", "} ", "] \n", "\n```\n"] {
            for (limit, fits) in [(object.len(), true), (64, true), (object.len() - 1, false)] {
                let limits = Limits::new().with_buffer(limit).with_lookahead(16);
                let mending = MendOptions::new().with_limits(limits);
                let options = ResponseOptions::new().with_schema(&schema, FitOptions::new());
                let options = options.with_mending(mending).with_objects(scope);
                let said = Said::of_text(&format!("{object}{}", tail.repeat(60)), &options);
                let json = said.fits[0].2.as_deref().map(str::trim);
                let want = fits.then_some("{\"n\": 1, \"m\": 2}");
                assert_eq!(json, want, "{scope:?} {tail:?} {limit} {said:?}");
            }
        }
    }
}

#[test]
fn an_answer_that_lacks_its_brace_is_found_by_a_name_of_the_schema() {
    let schema =
        json!({"properties": {"items": {"type": "array"}, "n": {}}, "required": ["items"]});
    let schema = Schema::from_text(&schema.to_string()).unwrap();
    let content = r#""items": [{"name": "pen"}], "n": 2}"#;
    for scope in [Scope::All, Scope::First, Scope::Whole] {
        for length in [1, 7, content.len()] {
            let deltas = content.as_bytes().chunks(length);
            let deltas = deltas.map(|piece| text(std::str::from_utf8(piece).unwrap()));
            let body: String = deltas.chain([END.to_owned()]).collect();
            let mending = MendOptions::new().with_policy(Policy::PERMISSIVE);
            let options = ResponseOptions::new()
                .with_objects(scope)
                .with_mending(mending)
                .with_schema(&schema, FitOptions::new());
            let response = Response::read(body.as_bytes(), options);
            let fitted: Vec<_> = response.objects().iter().filter_map(Object::json).collect();
            assert_eq!(fitted, [r#"{"items": [{"name": "pen"}], "n": 2}"#], "{scope:?} {length}");
        }
    }
}

/// The words around a list may belong to the answer, so that it does not only lack its object.
#[test]
fn a_list_in_a_sentence_is_only_a_guess_at_the_answer() {
    let source = json!({"type": "object", "properties": {"items": {"type": "array"}, "n": {"type": "integer"}}, "required": ["items"]});
    let schema = Schema::from_text(&source.to_string()).unwrap();
    let list = "[{\"name\": \"pen\"}]";
    let made = "{\"items\": [{\"name\": \"pen\"}]}";
    let far = "Some words. ".repeat(12);
    for (content, in_sentence) in [
        (format!("Sure! The items: {list}, and n is 2"), true),
        (format!("{far}They are {list}."), true),
        (format!("{far}\n{{\"other\": 1}}\nThey are {list}"), true),
        (list.to_owned(), false),
        (format!("Here they are:\n\n  {list}\n\nBye."), false),
        (format!("{far}\n{list}"), false),
        (format!("```json\n{list}\n```"), false),
        (format!("Sure.\n<answer>{list}</answer>"), false),
    ] {
        for scope in [Scope::All, Scope::First, Scope::Whole] {
            let limits = Limits::new().with_buffer(64).with_lookahead(32);
            let by = |policy| {
                let mending = MendOptions::new().with_policy(policy).with_limits(limits);
                let options = ResponseOptions::new().with_objects(scope).with_mending(mending);
                options.with_schema(&schema, FitOptions::new())
            };
            for length in [1, 7, content.len()] {
                let deltas = content.as_bytes().chunks(length);
                let deltas = deltas.map(|piece| text(std::str::from_utf8(piece).unwrap()));
                let body: String = deltas.chain([END.to_owned()]).collect();
                let lists = |policy| -> Vec<(Option<String>, Option<Risk>)> {
                    let response = Response::read(body.as_bytes(), by(policy));
                    let fits = response.fitted_objects().iter().filter_map(FittedObject::fitted);
                    let fits = fits.filter(|fit| {
                        fit.text().or(fit.mended()).is_some_and(|t| t.contains("pen"))
                    });
                    fits.map(|fit| (fit.text().map(str::to_owned), fit.risk())).collect()
                };
                let what = format!("{content} {scope:?} {length}");
                let (guessing, cautious) = (lists(Policy::PERMISSIVE), lists(Policy::CONSERVATIVE));
                if scope != Scope::All && content.contains("other") {
                    assert!(guessing.is_empty(), "{what}");
                    continue;
                }
                let (risk, text) = match in_sentence {
                    true => (Risk::Guess, None),
                    false => (Risk::Exact, Some(made.to_owned())),
                };
                assert_eq!(guessing, [(Some(made.to_owned()), Some(risk))], "{what}");
                assert_eq!(cautious.first().and_then(|one| one.0.clone()), text, "{what}");
            }
        }
    }
}
