use super::*;

#[test]
fn a_line_is_a_sentence_or_a_label() {
    for (text, is_sentence) in [
        ("", false),
        ("I can't run ", true),
        ("Sure! ", true),
        ("No. ", true),
        ("Sure: ", false),
        ("**Result:** ", false),
        ("**Result**: `", false),
        ("Result：", false),
        ("结果：", false),
        ("结果", true),
        ("“", false),
        ("🙂 ", false),
        ("const x = ", false),
        ("let config: Config = ", false),
        ("window.__STATE__=", false),
        ("self.args := ", false),
        ("if x == ", true),
        ("I can't set it = ", true),
        ("then she would have set x = ", true),
        ("<tool_call>", false),
        ("<|python_tag|>", false),
        ("<function=run> ", false),
        ("I refuse <b> ", true),
        ("a < b ", true),
        ("[TOOL_CALLS] ", false),
        ("[TOOL_CALLS", true),
        ("[Output] ", true),
        ("[x] ", true),
        ("- ", false),
        ("1. ", false),
        ("2) ", false),
        ("3 ", true),
        ("> ", false),
        ("-- ", false),
        ("// never run ", true),
        ("```json ", false),
        ("run ```json ", true),
        ("run `", true),
        ("(I mean: this) ", true),
        ("That is it: no. ", true),
        ("12:30 ", true),
        ("f(", true),
    ] {
        let mut line = Line::BEFORE;
        text.bytes().for_each(|byte| line.byte(byte));
        assert_eq!(line.is_sentence(), is_sentence, "{text}");
    }
}

#[test]
fn text_at_once_is_text_byte_by_byte() {
    const PARTS: [&str; 27] = [
        "“a”: “x”,\n",
        "  “b c”: ",
        ",\n",
        "`k`",
        "\x1b",
        "\x1b[0m",
        "\n\x1b] x\n",
        "a word",
        " two more",
        "1",
        "x2 y ",
        "it's",
        ":",
        "\"k\"",
        " ",
        "\n)",
        "\n\n",
        "{",
        "]",
        "}",
        "```json",
        "`",
        ".\n",
        "x =",
        "<b>",
        "结",
        "\"\n:",
    ];
    let mut seed = 11_u32;
    for round in 0..6000 {
        let mut text = alloc::vec::Vec::new();
        for _ in 0..1 + round % 24 {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            text.extend_from_slice(PARTS[(seed >> 16) as usize % PARTS.len()].as_bytes());
        }
        let (mut bytes, mut runs) = (Lead::new(), Lead::new());
        text.iter().for_each(|byte| bytes.byte(*byte));
        text.chunks(1 + round % 31).for_each(|chunk| runs.text(chunk));
        assert_eq!(bytes, runs, "{}", text.escape_ascii());
    }
}

#[test]
fn a_label_announces_the_answer() {
    for (text, announces) in [
        ("\n\nFinal answer:\n", true),
        ("Here is the corrected version:\n\n```json\n", true),
        ("## Final Answer\n", true),
        ("**Corrected**\n", true),
        ("The **final** output:\n", true),
        ("Revised:\n", true),
        ("I have corrected the date. ", false),
        ("2. Final section:\n", false),
        ("And finally the second user:", false),
        ("Semi-final:\n", false),
        ("Cup final:\n", false),
        ("Final:\n", true),
        ("Users with corrected vision:\n", false),
        ("Here is the corrected booking:\n", true),
        ("User two, who sat the final exam:", false),
        ("Final answer:\n\nAnd another one:\n", false),
        ("", false),
    ] {
        assert_eq!(Lead::announces_answer(text.as_bytes()), announces, "{text}");
    }
}

#[test]
fn text_before_a_document() {
    use RepairKind::{InlineProse, LeadingProse, StrayText};
    for (text, kind) in [
        ("I can't do that.\n", LeadingProse),
        ("I can't do that\n  ", LeadingProse),
        ("Here:\n```json\n", LeadingProse),
        ("Here is ```json\n", InlineProse),
        ("Here is ```json\nand more\n", LeadingProse),
        ("See {x} and [1]:\n", LeadingProse),
        ("See {x and [1]:\n", StrayText),
        ("}\n", LeadingProse),
    ] {
        assert_eq!(Lead::of(text.as_bytes()).kind(), kind, "{text}");
    }
}

#[test]
fn a_key_without_quotes_of_json_counts_after_a_line_with_a_comma() {
    for (text, kind) in [
        ("«a»: «x»,\n«b»: ", RepairKind::StrayText),
        ("'a': 1,\n  'b c': ", RepairKind::StrayText),
        ("Dear all,\nthis is `b`: ", RepairKind::LeadingProse),
        ("Dear all,\n`b` and 'c': ", RepairKind::LeadingProse),
        ("«a»: «x»\n«b»: ", RepairKind::LeadingProse),
        ("`a`: 1,\n`b`:\n", RepairKind::LeadingProse),
        ("'a'= 1,\n'b' =>", RepairKind::StrayText),
        ("a: 1,\n\n b_2 : ", RepairKind::StrayText),
        ("a: 1;\nb:\u{3000}", RepairKind::StrayText),
        ("\"a\"\u{A0}: 1, \"b\"\u{A0}: ", RepairKind::StrayText),
        ("\"a\" => 1, \"b\" => ", RepairKind::StrayText),
        ("a: 1\nb: ", RepairKind::LeadingProse),
        ("Dear all,\nthe result: ", RepairKind::LeadingProse),
        ("x = 1;\ny = ", RepairKind::LeadingProse),
    ] {
        assert_eq!(Lead::of(text.as_bytes()).kind(), kind, "{text}");
        let mut lead = Lead::new();
        lead.text(text.as_bytes());
        assert_eq!(lead, Lead::of(text.as_bytes()), "{text}");
    }
}
