//! Every row of docs/limits.md: each limit is reached, and its outcome is the one that the page names.

mod core;
mod response;
mod wire;

use std::fs;

/// The beginning of a row of the page, and what reaches its limit: a function here, or a test elsewhere
/// with its file.
const ROWS: &[(&str, Reached)] = &[
    ("`with_depth` | 127", Here(core::depth)),
    ("`with_depth` | 64", There("crates/schema/tests/it/validate.rs", "a_schema_has_limits")),
    ("`with_lookahead`", Here(core::lookahead)),
    ("`with_buffer`", Here(core::buffer)),
    ("`with_report`", Here(core::report)),
    (
        "`with_documents`",
        There("tests/hostile.rs", "short_documents_beyond_the_limit_are_an_overflow"),
    ),
    ("look-ahead of the whole-text path", Here(core::whole_text_lookahead)),
    ("looking back for a lost quote", Here(core::look_back)),
    ("a mark before each line", Here(core::line_mark)),
    ("bytes before the first quote of a document whose", Here(core::far_entity)),
    ("calls in the texts of a response", Here(response::calls_in_texts)),
    ("arguments of calls in text", Here(response::arguments_in_texts)),
    (
        "`wiremend-chaos --requests`, `--for`",
        There("crates/chaos/tests/command.rs", "it_serves_so_many_responses_and_stops"),
    ),
    (
        "requests that `wiremend-chaos` answers at the same time",
        There("crates/testkit/src/chaos.rs", "at_most_so_many_clients_are_served_at_once"),
    ),
    (
        "a request to `wiremend-chaos`",
        There("crates/testkit/src/chaos.rs", "what_is_no_request_is_refused"),
    ),
    (
        "delays in one response of `wiremend-chaos`",
        There("crates/testkit/src/chaos.rs", "a_plan_sends_what_is_delivered_in_bounded_time"),
    ),
    ("length of a key read ahead", Here(core::key_ahead)),
    ("a number longer than the look-ahead", Here(core::long_number)),
    ("frames, wrappers included", Here(core::frames)),
    ("hexadecimal numbers", Here(core::hexadecimal)),
    ("a name, or a listed text, of several words", Here(core::names_of_words)),
    ("a number or literal that is the whole channel", Here(core::lone_scalar)),
    ("a bracket in prose", Here(core::bracket_in_prose)),
    ("white space, comments and a lone string", Here(core::held_in_extraction)),
    ("a call without a name", Here(core::held)),
    (
        "a call without a marker",
        There("tests/dialects/restated.rs", "what_is_not_known_to_repeat_a_call_is_one"),
    ),
    (
        "the arguments of a call as in Python",
        There("tests/dialects/mod.rs", "a_call_in_python_is_kept_within_the_limit"),
    ),
    ("the name of a tool or a parameter in text", Here(core::names)),
    ("a tag", Here(core::tags)),
    ("the key of a pair of tags", Here(core::pairs)),
    ("the header of a message", Here(core::headers)),
    ("white space after a closing tag", Here(core::space)),
    ("a number or literal that is bare text", Here(core::scalars)),
    ("white space at the end of a value", Here(core::trailing_space)),
    ("calls that later ones are compared with", Here(core::compared)),
    ("elements inside of a value", Here(core::elements)),
    ("`SseLimits::with_line`", Here(wire::line)),
    ("`SseLimits::with_event`", Here(wire::event)),
    ("`WireLimits::with_calls`", Here(wire::calls)),
    ("`WireLimits::with_arguments`", Here(wire::arguments)),
    ("`WireLimits::with_open_arguments`", Here(wire::open_arguments)),
    (
        "`RewriteOptions::with_held`",
        There("crates/wire/tests/wire/rewrite.rs", "the_queue_is_bounded"),
    ),
    ("JSON content that is written again", Here(wire::content)),
    ("depth of an envelope", Here(wire::envelope_depth)),
    ("errors of a response", Here(wire::errors)),
    ("the name of a tool, in pieces", Here(wire::names)),
    ("a body that is no stream", Here(wire::page_of_html)),
    (
        "payloads of `chunk` in an AWS event stream",
        There("crates/wire/tests/wire/bedrock.rs", "what_is_kept_of_early_payloads_is_bounded"),
    ),
    ("the excerpt of a payload in an error", Here(wire::error_excerpt)),
    ("choices", Here(wire::choices)),
    ("texts that wait for the other half of a character", Here(wire::halves)),
    ("items of an OpenAI response", Here(wire::items)),
    ("arguments that come leaf by leaf", Here(wire::leaves)),
    ("`ResponseOptions::with_object_limit`", Here(response::object)),
    ("`ResponseOptions::with_open_objects_limit`", Here(response::open_objects)),
    ("texts of one response that are searched for objects", Here(response::searched_texts)),
    ("texts of one response that are searched for calls", Here(response::texts_searched_for_calls)),
    ("texts of one response that are searched for items", Here(response::texts_searched_for_items)),
    ("chunks in a row that come to nothing", Here(response::idle_chunks)),
    ("`with_nodes`", There("crates/schema/tests/it/validate.rs", "a_schema_has_limits")),
    (
        "`with_properties`",
        There("crates/schema/tests/it/hostile.rs", "a_schema_has_a_limit_on_bytes"),
    ),
    (
        "`with_branches`",
        There("crates/schema/tests/it/hostile.rs", "a_schema_has_a_limit_on_bytes"),
    ),
    ("`with_bytes`", There("crates/schema/tests/it/hostile.rs", "a_schema_has_a_limit_on_bytes")),
    (
        "`with_patterns`",
        There(
            "crates/schema/tests/it/hostile.rs",
            "patterns_have_limits_individually_and_together",
        ),
    ),
    ("`with_tools`", There("crates/schema/tests/it/hostile.rs", "a_registry_has_a_limit_on_tools")),
    (
        "nodes of all tools",
        There("crates/schema/tests/it/hostile.rs", "a_registry_has_a_limit_on_tools"),
    ),
    (
        "work for a text",
        There("tests/schema.rs", "what_takes_too_much_work_is_an_overflow_and_the_value_stays"),
    ),
    (
        "subschemas asked inside each other",
        There("crates/schema/tests/it/hostile.rs", "cyclic_references_add_no_conditions"),
    ),
    (
        "steps of a match with look-around",
        There(
            "crates/schema/tests/it/hostile.rs",
            "a_pattern_that_cannot_be_decided_is_an_issue_wherever_it_is",
        ),
    ),
    (
        "patterns that a key is compared with",
        There("crates/schema/tests/it/fit.rs", "members_by_pattern_are_mended_like_properties"),
    ),
    (
        "a name that is compared with others",
        There("tests/schema.rs", "documents_in_prose_and_long_names_cost_their_length"),
    ),
    ("a text in which a named value is looked for", Here(response::named_values)),
    ("pairs of names compared", Here(response::compared_names)),
    ("problems and issues of a value", Here(response::issues)),
    (
        "`limits.connections`",
        There("crates/proxy/tests/gateway/limits.rs", "no_more_than_so_many_clients_are_let_in"),
    ),
    (
        "`limits.open_answers`",
        There(
            "crates/proxy/tests/gateway/limits.rs",
            "no_more_than_so_many_requests_are_answered_at_once",
        ),
    ),
    (
        "`limits.head_bytes`",
        There("crates/proxy/tests/gateway/limits.rs", "the_limit_of_a_head_is_exact"),
    ),
    (
        "`limits.body_bytes`",
        There("crates/proxy/tests/gateway/limits.rs", "a_body_that_is_too_long_is_refused"),
    ),
    (
        "`limits.held_bytes`",
        There(
            "crates/proxy/tests/gateway/limits.rs",
            "a_call_that_is_too_long_to_hold_passes_as_it_came",
        ),
    ),
    (
        "`limits.all_held_bytes`",
        There("crates/proxy/tests/gateway/limits.rs", "what_all_answers_may_hold_is_bounded"),
    ),
    (
        "`limits.head_seconds`",
        There("crates/proxy/tests/gateway/limits.rs", "a_head_that_does_not_end_is_not_waited_for"),
    ),
    (
        "`limits.connect_seconds`",
        There(
            "crates/proxy/tests/gateway/limits.rs",
            "a_provider_that_accepts_nobody_is_not_waited_for",
        ),
    ),
    (
        "`limits.answer_seconds`",
        There("crates/proxy/tests/gateway/limits.rs", "a_provider_that_does_not_begin_is_an_error"),
    ),
    (
        "`limits.idle_seconds`",
        There("crates/proxy/tests/gateway/limits.rs", "a_provider_that_falls_silent_breaks_off"),
    ),
    (
        "`limits.total_seconds`",
        There("crates/proxy/tests/gateway/limits.rs", "a_stream_without_an_end_breaks_off"),
    ),
    (
        "`limits.drain_seconds`",
        There(
            "crates/proxy/tests/gateway/limits.rs",
            "what_does_not_end_is_not_waited_for_when_the_gateway_stops",
        ),
    ),
    (
        "`reask.attempts`",
        There("crates/proxy/tests/gateway/reask.rs", "nobody_is_asked_more_often_than_allowed"),
    ),
    (
        "`reask.seconds`",
        There(
            "crates/proxy/tests/gateway/reask.rs",
            "a_provider_that_fails_or_is_slow_when_it_is_asked_again_changes_nothing",
        ),
    ),
    (
        "`reask.tokens`",
        There("crates/proxy/tests/gateway/reask.rs", "few_calls_and_few_tokens_are_asked_for"),
    ),
    (
        "calls of an answer that are asked about again",
        There("crates/proxy/tests/gateway/reask.rs", "few_calls_and_few_tokens_are_asked_for"),
    ),
    (
        "the pattern of a tool's name in a rule",
        There("crates/exchange/src/mending.rs", "a_pattern_has_a_length"),
    ),
    (
        "`record.answers`",
        There(
            "crates/proxy/tests/gateway/admin.rs",
            "answers_are_counted_and_listed_without_secrets",
        ),
    ),
    (
        "headers of a request, or of an answer",
        There("crates/proxy/tests/gateway/limits.rs", "a_head_has_so_many_headers"),
    ),
    (
        "members of an object and items of an array of a request",
        There("crates/exchange/src/members.rs", "lists_without_bound_are_not_read"),
    ),
    (
        "declarations of tools that are kept compiled",
        There("crates/exchange/src/tools.rs", "the_same_tools_are_compiled_once_and_few_are_kept"),
    ),
    (
        "what unpacking one answer may hold",
        There(
            "crates/proxy/tests/gateway/packed.rs",
            "other_codings_pass_as_they_came_and_so_does_what_has_no_room",
        ),
    ),
    (
        "series of the metrics",
        There("crates/proxy/src/metrics.rs", "names_that_others_choose_are_escaped_and_bounded"),
    ),
    (
        "calls of an answer that are described",
        There("crates/exchange/src/account.rs", "few_calls_are_described_and_all_are_counted"),
    ),
    (
        "a text of a call in `/repairs`",
        There("crates/exchange/src/account.rs", "texts_are_shortened_between_characters"),
    ),
    (
        "edits of a call that are listed",
        There("crates/exchange/src/account.rs", "few_edits_are_listed_and_little_content_is_kept"),
    ),
    (
        "time for which a stream is mended before others",
        There("crates/proxy/tests/gateway/threads.rs", "looping_answers_keep_nobody_waiting"),
    ),
    (
        "connections to the admin port",
        There(
            "crates/proxy/tests/gateway/admin.rs",
            "health_is_answered_beside_connections_that_are_held_open",
        ),
    ),
    (
        "live pages at the same time",
        There(
            "crates/proxy/tests/gateway/live.rs",
            "pages_are_few_and_leave_room_for_those_who_ask_for_health",
        ),
    ),
    (
        "open answers on a live page",
        There("crates/proxy/src/live.rs", "a_page_is_shown_a_bounded_part_of_what_passes"),
    ),
    (
        "finished answers in one event for a live page",
        There("crates/proxy/src/live.rs", "what_does_not_fit_into_an_event_is_counted"),
    ),
    ("`--max-input`", There("crates/cli/tests/it/limits.rs", "an_input_is_as_long_as_it_may_be")),
    (
        "the same, for several inputs",
        There("crates/cli/tests/it/records.rs", "a_line_over_the_limit_is_one_reject"),
    ),
    ("pieces of 128 KiB", There("crates/cli/src/ordered.rs", "large_results_wait_for_their_turn")),
    (
        "window of a Zstandard",
        There("crates/cli/tests/it/many.rs", "the_window_of_a_zstandard_frame_is_bounded"),
    ),
    (
        "messages about inputs",
        There("crates/cli/tests/it/many.rs", "the_first_twenty_that_fail_are_listed"),
    ),
    (
        "`batch --max-line`",
        There("crates/cli/tests/it/batch.rs", "a_line_over_the_limit_is_skipped"),
    ),
    (
        "a file for `--schema` or `--tools`",
        There("crates/cli/tests/it/limits.rs", "the_files_of_a_directory_share_a_limit"),
    ),
    (
        "tools in a declaration",
        There("crates/cli/tests/it/limits.rs", "tools_are_as_many_as_they_may_be"),
    ),
    (
        "snapshots in a reply",
        There("crates/cli/tests/it/limits.rs", "snapshots_are_as_long_as_they_may_be"),
    ),
    (
        "`batch --threads`",
        There("crates/cli/tests/it/limits.rs", "threads_are_as_many_as_they_may_be"),
    ),
    (
        "requests that `batch` has read",
        There("crates/cli/src/batch/mod.rs", "requests_wait_until_others_are_answered"),
    ),
    (
        "issues of a schema that",
        There("crates/cli/tests/it/limits.rs", "issues_are_listed_up_to_a_number"),
    ),
    (
        "finish reasons in the summary",
        There("crates/cli/tests/it/limits.rs", "finish_reasons_are_listed_up_to_a_number"),
    ),
    (
        "a message about an input",
        There("crates/cli/tests/it/limits.rs", "messages_are_as_long_as_they_may_be"),
    ),
    (
        "a text of the model in a message",
        There("crates/cli/tests/it/limits.rs", "messages_are_as_long_as_they_may_be"),
    ),
];

enum Reached {
    Here(fn()),
    There(&'static str, &'static str),
}
use Reached::{Here, There};

#[test]
fn every_limit_is_reached() {
    let failed = ROWS.iter().filter(|(_, reached)| match reached {
        Here(reach) => std::panic::catch_unwind(reach).is_err(),
        There(path, test) => {
            let file = fs::read_to_string(wiremend_tests::root().join(path)).unwrap();
            let heads =
                ["#[test]\nfn", "#[test]\n    fn", "test]\nasync fn", "test]\n    async fn"];
            let heads = heads.map(|head| format!("{head} {test}()"));
            !heads.iter().any(|head| file.contains(head))
        }
    });
    assert_eq!(failed.map(|(name, _)| *name).collect::<Vec<_>>(), [""; 0]);
}

/// The rows of the page's tables of limits are those that are reached here.
#[test]
fn every_row_of_the_page_is_here() {
    let page = fs::read_to_string(wiremend_tests::root().join("docs/limits.md")).unwrap();
    let (limits, _) = page.split_once("\n## Outcomes").unwrap();
    let rows: Vec<&str> = limits
        .lines()
        .filter_map(|line| line.strip_prefix("| "))
        .filter(|row| !row.starts_with("limit |"))
        .collect();
    let names = |row: &&str| ROWS.iter().filter(|(name, _)| row.starts_with(name)).count();
    let wrong: Vec<_> = rows.iter().filter(|row| names(row) != 1).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(rows.len(), ROWS.len());
}
