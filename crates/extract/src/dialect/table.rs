//! The table of dialects: a row for each format that models are known to write.

mod tags;

use std::sync::LazyLock;

use super::{
    Dialect,
    shape::{Block, Brace, Frames, Layout, Prefix, Shape, Trim, Unknown, Xml},
};

static TABLE: LazyLock<Vec<Dialect>> = LazyLock::new(|| {
    let mut rows = json();
    rows.extend(named());
    rows.extend(tags::xml());
    rows.extend(tags::pairs());
    rows.extend(python());
    rows.extend(frames());
    rows
});

impl Dialect {
    /// All dialects that are built in, grouped by family.
    #[must_use]
    pub fn all() -> &'static [Self] {
        &TABLE
    }

    /// The dialect of that name.
    ///
    /// ```
    /// use wiremend_extract::Dialect;
    /// assert_eq!(Dialect::by_name("hermes").unwrap().name(), "hermes");
    /// assert!(Dialect::by_name("klingon").is_none());
    /// ```
    #[must_use]
    pub fn by_name(name: &str) -> Option<&'static Self> {
        Self::all().iter().find(|row| row.name() == name)
    }
}

/// JSON between markers.
fn json() -> Vec<Dialect> {
    let tagged = |name: &'static str| {
        Dialect::json(name, "<tool_call>", ["</tool_call>"]).tokens(&["<|im_end|>"])
    };
    let listed = |name: &'static str| Dialect::json(name, "<tool_calls>", ["</tool_calls>"]);
    let bare = |name: &'static str| Dialect::json(name, "", [""; 0]);
    vec![
        tagged("hermes").shown(
            "Hermes, Qwen 2.5 and 3, and many others",
            "<tool_call>\n{\"name\": \"book\", \"arguments\": {\"seats\": 2}}\n</tool_call>",
        ),
        tagged("granite4").shown(
            "IBM Granite 4",
            "<tool_call>\n{\"name\": \"book\", \"arguments\": {\"seats\": 2}}\n</tool_call>",
        ),
        tagged("ernie45")
            .around("<response>", "</response>")
            .answer("<response>", "</response>")
            .shown(
            "ERNIE 4.5",
            "<tool_call>\n{\"name\": \"book\", \"arguments\": {\"seats\": 2}}\n</tool_call>\n",
        ),
        tagged("reka_edge").shown(
            "Reka Edge",
            "<tool_call>\n{\"name\": \"book\", \"arguments\": {\"seats\": 2}}</tool_call>",
        ),
        tagged("deepseek_r1").shown(
            "distillates of DeepSeek R1",
            "</think>\n<tool_call>\n{\"name\": \"book\", \"arguments\": {\"seats\": 2}}\n</tool_call>",
        ),
        Dialect::json("granite3", "<|tool_call|>", [""; 0])
            .and_json("<tool_call>", ["</tool_call>"])
            .tokens(&["<|end_of_text|>"])
            .shown("IBM Granite 3", "<|tool_call|> [{\"name\": \"book\", \"arguments\": {\"seats\": 2}}]"),
        Dialect::json("granite_20b_fc", "<function_call>", ["</function_call>"])
            .and_json("<functioncall>", ["</functioncall>"]).shown(
            "IBM Granite 20B function calling",
            "<function_call> {\"name\": \"book\", \"arguments\": {\"seats\": 2}}",
        ),
        Dialect::json("internlm2", "<|action_start|><|plugin|>", ["<|action_end|>"])
            .tokens(&["<|im_end|>"])
            .shown(
            "InternLM 2",
            "<|action_start|><|plugin|>{\"name\": \"book\", \"parameters\": {\"seats\": 2}}<|action_end|>",
        ),
        Dialect::json("phi4mini_functools", "functools", [""; 0])
            .and_json("<|tool_call|>", ["<|/tool_call|>"])
            .tokens(&["<|/tool_call|>", "<|end|>"])
            .shown("Phi-4 mini", "functools[{\"name\": \"book\", \"arguments\": {\"seats\": 2}}]"),
        Dialect::json("firefunction_v2", "functools", [""; 0])
            .shown("FireFunction 2", " functools[{\"name\": \"book\", \"arguments\": {\"seats\": 2}}]"),
        listed("jamba").shown(
            "AI21 Jamba",
            "<tool_calls>[\n    {\"name\": \"book\", \"arguments\": {\"seats\": 2}}\n]</tool_calls>",
        ),
        listed("hunyuan_a13b")
            .around("<answer>", "</answer>")
            .answer("<answer>", "</answer>")
            .shown("Hunyuan A13B", "<tool_calls>[{\"name\": \"book\", \"arguments\": {\"seats\": 2}}]</tool_calls>"),
        // The prompt opens the reasoning, in words.
        listed("apriel")
            .with_reasoning("", "[BEGIN FINAL RESPONSE]")
            .tokens(&["[END FINAL RESPONSE]", "<|end|>"])
            .shown(
            "ServiceNow Apriel",
            "<tool_calls>[{\"name\": \"book\", \"arguments\": {\"seats\": 2}}]</tool_calls>",
        ),
        Dialect::json("lm_studio", "[TOOL_REQUEST]", ["[END_TOOL_REQUEST]"]).shown(
            "LM Studio, for models without a format of their own",
            "[TOOL_REQUEST]{\"name\": \"book\", \"arguments\": {\"seats\": 2}}[END_TOOL_REQUEST]",
        ),
        Dialect::json("nemotron_toolcall", "<TOOLCALL>", ["</TOOLCALL>"]).tokens(&["<SPECIAL_12>"]).shown(
            "NVIDIA Nemotron",
            "<TOOLCALL>[{\"name\": \"book\", \"arguments\": {\"seats\": 2}}]</TOOLCALL>",
        ),
        Dialect::json("cohere_command", "<|START_ACTION|>", ["<|END_ACTION|>"])
            .with_reasoning("<|START_THINKING|>", "<|END_THINKING|>")
            .answer("<|START_RESPONSE|>", "<|END_RESPONSE|>")
            .tokens(&["<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|START_TEXT|>", "<|END_TEXT|>", "<|END_OF_TURN_TOKEN|>"])
            .shown(
                "Cohere Command R7B, A",
                "<|START_ACTION|>[{\"tool_call_id\": \"0\", \"tool_name\": \"book\", \"parameters\": {\"seats\": 2}}]<|END_ACTION|>",
            ),
        Dialect::json("cohere_command_r_plus", "Action:\n```json\n", ["```"])
            .and_json("Action: ```json\n", ["```"])
            .and_json("Action:\r\n```json\r\n", ["```"])
            .and_json("Action: ```json\r\n", ["```"])
            .tokens(&["<|CHATBOT_TOKEN|>", "<|END_OF_TURN_TOKEN|>"])
            .shown(
                "Cohere Command R+",
                "Action:\n```json\n[{\"tool_name\": \"book\", \"parameters\": {\"seats\": 2}}]\n```",
            ),
        Dialect::empty("apertus")
            .and(Shape::Json(Block {
                keyed: true,
                ..Block::new("<|tools_prefix|>", ["<|tools_suffix|>"])
            }))
            .with_reasoning("<|inner_prefix|>", "<|inner_suffix|>")
            .shown("Apertus", "<|tools_prefix|>[{\"book\": {\"seats\": 2}}]<|tools_suffix|>"),
        Dialect::json("gigachat3", "<|message_sep|>\n\nfunction call<|role_sep|>\n", [""; 0])
            .and_json("function call<|role_sep|>\n", [""; 0])
            .and_json("<|message_sep|>\r\n\r\nfunction call<|role_sep|>", [""; 0])
            .and_json("function call<|role_sep|>\r\n", [""; 0])
            .and_json("<|function_call|>", [""; 0])
            .tokens(&["<|message_sep|>"])
            .shown(
                "GigaChat 3",
                "<|message_sep|>\n\nfunction call<|role_sep|>\n{\"name\": \"book\", \"arguments\": {\"seats\": 2}}",
            ),
        Dialect::json("longcat", "<longcat_tool_call>", ["</longcat_tool_call>"])
            .and(
                Xml::new(&["tool_call"], &["tool_calls"])
                    .tag("<longcat_", "</longcat_", ">")
                    .layout(Layout::Pairs)
                    .trim(Trim::Nothing)
                    .into(),
            )
            .with_reasoning("<longcat_think>", "</longcat_think>")
            .shown(
                "LongCat",
                "<longcat_tool_call>{\"name\": \"book\", \"arguments\": {\"seats\": 2}}</longcat_tool_call>",
            ),
        bare("llama3_json")
            // The tools that the model knows by itself are called as methods.
            .and(Shape::Python(Block {
                method: ".call",
                ..Block::new("<|python_tag|>", ["<|eom_id|>", "<|eot_id|>"])
            }))
            .and_json("<|python_tag|>", ["<|eom_id|>", "<|eot_id|>"])
            .separators(b";,")
            .tokens(&["<|eom_id|>", "<|eot_id|>"])
            .shown("Llama 3.1 to 3.3", "{\"name\": \"book\", \"parameters\": {\"seats\": 2}}"),
        bare("xlam")
            .and_json("[TOOL_CALLS]", [""; 0])
            .and_json("<tool_call>", ["</tool_call>"])
            .shown("Salesforce xLAM", "[{\"name\": \"book\", \"arguments\": {\"seats\": 2}}]"),
        bare("sarashina")
            .and_json("<|tool_calls|>", [""; 0])
            .shown("Sarashina", "<|tool_calls|>[{'name': 'book', 'arguments': {'seats': 2}}]"),
        bare("bare_json")
            .bare_name()
            .unknown(Unknown::Text)
            .separators(b";,")
            .shown("JSON without any marker", "{\"name\": \"book\", \"arguments\": {\"seats\": 2}}"),
        bare("generic_json").bare_name().around("<tool_use>", "</tool_use>").shown(
            "an object that lists the calls next to the answer",
            "{\"content\": \"On it.\", \"tool_calls\": [{\"name\": \"book\", \"arguments\": {\"seats\": 2}}]}",
        ),
    ]
}

/// A name between markers, and the arguments as JSON.
fn named() -> Vec<Dialect> {
    let end = &["<｜end▁of▁sentence｜>"][..];
    vec![
        Dialect::json("mistral", "[TOOL_CALLS]", [""; 0])
            .and_named("[TOOL_CALLS]", "[ARGS]", &[], [""; 0])
            .around("[TOOL_CALLS]", "[/TOOL_CALLS]")
            .with_reasoning("[THINK]", "[/THINK]")
            .tokens(&["</s>"])
            .shown("Mistral 7B v3 to Large 3", "[TOOL_CALLS]book[ARGS]{\"seats\": 2}"),
        Dialect::empty("deepseek_v3")
            .and_named(
                "<｜tool▁call▁begin｜>function<｜tool▁sep｜>",
                "\n",
                &[],
                ["<｜tool▁call▁end｜>"],
            )
            .and_named("<｜tool▁call▁begin｜>", "\n", &[], ["<｜tool▁call▁end｜>"])
            // The first marker of distillates may be missing.
            .and_named("function<｜tool▁sep｜>", "\n", &[], ["<｜tool▁call▁end｜>"])
            .around("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>")
            .tokens(end)
            .shown(
                "DeepSeek V3, R1",
                "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>book\n```json\n{\"seats\": 2}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
            ),
        Dialect::json("deepseek_v31", "<｜tool▁call▁begin｜>", ["<｜tool▁call▁end｜>"])
            .and_named("<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", &[], ["<｜tool▁call▁end｜>"])
            .around("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>")
            .tokens(end)
            .shown(
                "DeepSeek V3.1",
                "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>book<｜tool▁sep｜>{\"seats\": 2}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
            ),
        Dialect::json("kimi_k2", "<|tool_call_begin|>", ["<|tool_call_end|>"])
            .and_named(
                "<|tool_call_begin|>",
                "<|tool_call_argument_begin|>",
                &["functions."],
                ["<|tool_call_end|>"],
            )
            .around("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>")
            .around("<|tool_call_section_begin|>", "<|tool_call_section_end|>")
            .tokens(&["<|im_end|>"])
            .shown(
                "Kimi K2",
                "<|tool_calls_section_begin|><|tool_call_begin|>functions.book:0<|tool_call_argument_begin|>{\"seats\": 2}<|tool_call_end|><|tool_calls_section_end|>",
            ),
        Dialect::named("functionary_v31", "<function=", ">", ["</function>"])
            .tokens(&["<|eom_id|>", "<|eot_id|>"])
            .shown("Functionary 3.1, Llama 3.1 with a custom prompt", "<function=book>{\"seats\": 2}</function>"),
        Dialect::empty("name_line")
            .and(Shape::Line)
            .shown("GLM 4, and models that repeat the name of a tool", "book\n{\"seats\": 2}"),
        functionary().shown("Functionary 3.2", ">>>book\n{\"seats\": 2}"),
        Dialect::empty("minimax_text")
            .and_named("functions.", "(", &[], [")"])
            .around("```typescript\n", "```")
            .around("```typescript\r\n", "```")
            .shown("MiniMax Text 01", "```typescript\nfunctions.book({\"seats\": 2})\n```"),
    ]
}

fn functionary() -> Dialect {
    let mut row = Dialect::named("functionary_v32", ">>>", "\n", [""; 0]);
    if let Some(Shape::Named(named)) = row.shapes.first_mut() {
        named.text_names.push("all".into());
        named.prompted = true;
    }
    row.tokens(&["<|eot_id|>"])
}

/// Calls as in Python, and calls with braces.
fn python() -> Vec<Dialect> {
    let brace = |open: &'static str, close: &'static str, quote: &'static str| {
        Shape::Brace(Brace { open: open.into(), close: close.into(), quote: quote.into() })
    };
    vec![
        Dialect::json("pythonic", "<|python_start|>", ["<|python_end|>"])
            .and_python("", [""; 0])
            .around("<|python_start|>", "<|python_end|>")
            .shown("Llama 3.2, and models that were asked to", "[book(seats=2, name='Ada')]"),
        Dialect::json("llama4_pythonic", "<|python_start|>", ["<|python_end|>"])
            .and_python("", [""; 0])
            .around("<|python_start|>", "<|python_end|>")
            .tokens(&["<|eom|>", "<|eot|>"])
            .shown("Llama 4", "<|python_start|>[book(seats=2)]<|python_end|>"),
        Dialect::json("lfm2_pythonic", "<|tool_call_start|>", ["<|tool_call_end|>"])
            .and_python("<|tool_call_start|>", ["<|tool_call_end|>"])
            .tokens(&["<|im_end|>"])
            .shown("Liquid LFM2", "<|tool_call_start|>[book(seats=2)]<|tool_call_end|>"),
        Dialect::python("olmo3_pythonic", "<function_calls>", ["</function_calls>"])
            .tokens(&["<|im_end|>"])
            .shown("OLMo 3", "<function_calls>book(seats=2)\nbook(seats=3)</function_calls>"),
        Dialect::empty("functiongemma")
            .and(brace("<start_function_call>", "<end_function_call>", "<escape>"))
            .shown(
                "FunctionGemma",
                "<start_function_call>call:book{seats:2,name:<escape>Ada<escape>}<end_function_call>",
            ),
        Dialect::empty("gemma4")
            .and(brace("<|tool_call>", "<tool_call|>", "<|\"|>"))
            .with_reasoning("<|channel>thought", "<channel|>")
            .tokens(&["<|channel>", "<channel|>", "<|tool_response>", "<turn|>"])
            .end_closes()
            .shown("Gemma 4", "<|tool_call>call:book{seats:2,name:<|\"|>Ada<|\"|>}<tool_call|>"),
        Dialect::empty("react").and(Shape::React).end_closes().shown(
            "the prompt of the ReAct paper",
            "Thought: seats first.\nAction: book\nAction Input: {\"seats\": 2}",
        ),
    ]
}

/// Messages with headers.
fn frames() -> Vec<Dialect> {
    let atem = || {
        let shape = Xml::new(&["invoke"], &["function_calls"]).trim(Trim::Lines);
        shape.prefix(Prefix::Exact("atem:"))
    };
    let muse = |name: &'static str| {
        Dialect::empty(name)
            .and(atem().into())
            .around("<atem:function_calls>", "</atem:function_calls>")
            .frames(Frames::Muse)
            .tokens(&["<|eom|>", "<|eot|>"])
    };
    let example = "<|start|>assistant to=book<|message|><atem:function_calls>\n<atem:invoke name=\"book\">\n<atem:parameter name=\"seats\">2</atem:parameter>\n</atem:invoke>\n</atem:function_calls><|eom|>";
    vec![
        muse("muse").shown("Muse", example),
        muse("muse_glimmer").shown("Muse Glimmer", example),
        Dialect::empty("harmony").frames(Frames::Harmony).end_closes().shown(
            "gpt-oss",
            "<|channel|>commentary to=functions.book <|constrain|>json<|message|>{\"seats\": 2}<|call|>",
        ),
        Dialect::empty("kimi_k3")
            .and(
                Xml::new(&["call"], &["tools"])
                    .tag("<|open|>", "<|close|>", "<|sep|>")
                    .trim(Trim::Nothing)
                    .body("json")
                    .into(),
            )
            .frames(Frames::Sections)
            .tokens(&["<|end_of_msg|>"])
            .shown(
                "Kimi K3",
                "<|open|>tools<|sep|><|open|>call tool=\"book\" index=\"1\"<|sep|><|open|>argument key=\"seats\" type=\"number\"<|sep|>2<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>",
            ),
        Dialect::json("inkling", "<|content_invoke_tool_json|>", ["<|end_message|>"])
            .frames(Frames::Inkling)
            .bare_name()
            .unknown(Unknown::Drop)
            .shown(
                "Inkling",
                "<|message_model|>book<|content_invoke_tool_json|>{\"name\": \"book\", \"args\": {\"seats\": 2}}<|end_message|>",
            ),
    ]
}
