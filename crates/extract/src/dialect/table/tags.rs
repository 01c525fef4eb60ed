//! Rows of which the calls are tags.

use crate::dialect::{
    Dialect,
    shape::{Layout, Prefix, Trim, Unknown, Untyped, Xml},
};

/// Tags with named parameters.
pub(super) fn xml() -> Vec<Dialect> {
    let function = || Xml::new(&["function"], &["tool_call"]);
    let qwen = |name: &'static str| {
        Dialect::empty(name).and(function().into()).around("<tool_call>", "</tool_call>")
    };
    let invoke = |wrappers: &[&'static str]| Xml::new(&["invoke"], wrappers).trim(Trim::Lines);
    let dsml = |name: &'static str, wrappers: &[&'static str]| {
        let mut wrappers = wrappers.to_vec();
        wrappers.extend(["function_calls", "tool_calls", "calls"]);
        let shape = invoke(&wrappers).prefix(Prefix::Bars("DSML")).trim(Trim::Nothing);
        Dialect::empty(name).and(shape.into()).tokens(&["<｜end▁of▁sentence｜>"])
    };
    let minimax = "]<]minimax[>[";
    vec![
        qwen("qwen3_coder_xml").tokens(&["<|im_end|>"]).shown(
            "Qwen 3 Coder, Nemotron 3",
            "<tool_call>\n<function=book>\n<parameter=seats>\n2\n</parameter>\n</function>\n</tool_call>",
        ),
        qwen("step3p5_xml").tokens(&["<|im_end|>"]).shown(
            "Step 3.5",
            "<tool_call>\n<function=book>\n<parameter=seats>\n2\n</parameter>\n</function>\n</tool_call>",
        ),
        Dialect::empty("seed_oss_xml")
            .and(
                Xml::new(&["function"], &["tool_call"])
                    .prefix(Prefix::Exact("seed:"))
                    .trim(Trim::Lines)
                    .into(),
            )
            .around("<seed:tool_call>", "</seed:tool_call>")
            .tokens(&["<seed:eos>"])
            .shown(
                "Seed OSS",
                "<seed:tool_call>\n<function=book>\n<parameter=seats>2</parameter>\n</function>\n</seed:tool_call>",
            ),
        Dialect::empty("gigachat35")
            .and(invoke(&["tool_calls"]).prefix(Prefix::Bars("GCML")).trim(Trim::Nothing).into())
            .tokens(&["</s>"])
            .shown(
                "GigaChat 3.5",
                "<｜GCML｜tool_calls>\n<｜GCML｜invoke name=\"book\">\n<｜GCML｜parameter name=\"seats\" string=\"false\">2</｜GCML｜parameter>\n</｜GCML｜invoke>\n</｜GCML｜tool_calls>",
            ),
        Dialect::json("anthropic_function_calls", "<function_calls>", ["</function_calls>"])
            .and(invoke(&["function_calls"]).untyped(Untyped::Text).into())
            .around("<function_calls>", "</function_calls>")
            .unknown(Unknown::Text)
            .shown(
                "Claude 2 and 3 without tools, and agents that write like them",
                "<function_calls><invoke name=\"book\"><parameter name=\"seats\">2</parameter></invoke></function_calls>",
            ),
        Dialect::empty("minimax_m2_xml")
            .and(invoke(&["tool_call"]).prefix(Prefix::Exact("minimax:")).untyped(Untyped::Text).into())
            .around("<minimax:tool_call>", "</minimax:tool_call>")
            .tokens(&["[e~["])
            .shown(
                "MiniMax M2",
                "<minimax:tool_call>\n<invoke name=\"book\">\n<parameter name=\"seats\">2</parameter>\n</invoke>\n</minimax:tool_call>",
            ),
        Dialect::empty("minimax_m3")
            .and(
                invoke(&["tool_call"])
                    .tag("]<]minimax[>[<", "]<]minimax[>[</", ">")
                    .layout(Layout::Keys)
                    .trim(Trim::Nothing)
                    .untyped(Untyped::Scalars)
                    .into(),
            )
            .around(format!("{minimax}<tool_call>"), format!("{minimax}</tool_call>"))
            .with_reasoning("<mm:think>", "</mm:think>")
            .shown(
                "MiniMax M3",
                "]<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name=\"book\">]<]minimax[>[<seats>2]<]minimax[>[</seats>]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>",
            ),
        Dialect::empty("step3_steptml")
            .and(invoke(&[]).prefix(Prefix::Exact("steptml:")).into())
            .around("<｜tool_calls_begin｜>", "<｜tool_calls_end｜>")
            .around("<｜tool_call_begin｜>", "<｜tool_call_end｜>")
            .around("<｜tool_call_begin｜>function<｜tool_sep｜>", "<｜tool_call_end｜>")
            .shown(
                "Step 3",
                "<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name=\"book\"><steptml:parameter name=\"seats\">2</steptml:parameter></steptml:invoke><｜tool_call_end｜><｜tool_calls_end｜>",
            ),
        Dialect::json("dots", "<dots_function_call>", ["</dots_function_call>"])
            .and(invoke(&["dots_function_call"]).into())
            .around("<dots_function_call>", "</dots_function_call>")
            .shown(
                "dots",
                "<dots_function_call><invoke name=\"book\"><parameter name=\"seats\">2</parameter></invoke></dots_function_call>",
            ),
        dsml("deepseek_dsml_v32", &[]).shown(
            "DeepSeek V3.2",
            "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"book\">\n<｜DSML｜parameter name=\"seats\" string=\"false\">2</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>",
        ),
        dsml("deepseek_dsml_v4", &[]).shown(
            "DeepSeek V4",
            "<｜DSML｜tool_calls>\n<｜DSML｜invoke name=\"book\">\n<｜DSML｜parameter name=\"seats\" string=\"false\">2</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>",
        ),
        dsml("deepseek_dsml_v41", &[]).shown(
            "DeepSeek V4.1",
            "<｜DSML｜ calls>\n<｜DSML｜ invoke name=\"book\">\n<｜DSML｜ parameter name=\"seats\" string=\"false\">2</｜DSML｜ parameter>\n</｜DSML｜ invoke>\n</｜DSML｜ calls>",
        ),
        Dialect::empty("minicpm5_xml")
            .and(function().trim(Trim::Lines).sections().into())
            .tokens(&["<|im_end|>"])
            .shown("MiniCPM 5", "<function name=\"book\"><param name=\"seats\">2</param></function>"),
        Dialect::empty("xml_tool_tags")
            .and(
                Xml::new(&[], &[])
                    .layout(Layout::Tools)
                    .untyped(Untyped::Text)
                    .entities()
                    .into(),
            )
            .unknown(Unknown::Text)
            .end_closes()
            .shown("Cline, Roo Code, probe", "<book>\n<seats>2</seats>\n</book>"),
    ]
}

/// Tags with keys and values in turn.
pub(super) fn pairs() -> Vec<Dialect> {
    let shape =
        || Xml::new(&["tool_call"], &["tool_calls"]).layout(Layout::Pairs).trim(Trim::Nothing);
    let glm = |name: &'static str| Dialect::empty(name).and(shape().into());
    let example =
        "<tool_call>book\n<arg_key>seats</arg_key>\n<arg_value>2</arg_value>\n</tool_call>";
    vec![
        glm("glm_arg_kv").tokens(&["<|observation|>"]).shown("GLM 4.5 to 5", example),
        glm("poolside_v1").shown("Poolside", example),
        glm("spark25").shown("Spark 2.5", "<tool_call>book<arg_key>seats</arg_key><arg_value>2</arg_value></tool_call>"),
        glm("ling3").tokens(&["<|role_end|>"]).shown("Ling 3", example),
        glm("hunyuan_v3")
            .around("<tool_calls>", "</tool_calls>")
            .with_reasoning("<think:", "</think:")
            .tokens(&["<｜hy_eos｜>"])
            .shown(
            "Hunyuan 3",
            "<tool_calls>\n<tool_call>book<tool_sep>\n<arg_key>seats</arg_key>\n<arg_value>2</arg_value>\n</tool_call>\n</tool_calls>",
        ),
        glm("hunyuan_v4")
            .around("<tool_calls>", "</tool_calls>")
            .with_reasoning("<think:", "</think:")
            .shown(
            "Hunyuan 4",
            "<tool_calls:7f3a><tool_call:7f3a>book<arg_key:7f3a>seats</arg_key:7f3a><arg_value:7f3a>2</arg_value:7f3a></tool_call:7f3a></tool_calls:7f3a>",
        ),
        Dialect::json("k2_horizon", "<ifm|tool_call>", ["</ifm|tool_call>"])
            .and(
                Xml::new(&["tool_call"], &["tool_calls"])
                    .tag("<ifm|", "</ifm|", ">")
                    .layout(Layout::Pairs)
                    .trim(Trim::Nothing)
                    .into(),
            )
            .around("<ifm|tool_calls>", "</ifm|tool_calls>")
            .with_reasoning("<ifm|think>", "</ifm|think>")
            .with_reasoning("<ifm|think_fast>", "</ifm|think_fast>")
            .with_reasoning("<ifm|think_faster>", "</ifm|think_faster>")
            .bare_name()
            .unknown(Unknown::Text)
            .shown(
                "K2 Horizon",
                "<ifm|tool_calls><ifm|tool_call>book<ifm|arg_key>seats</ifm|arg_key><ifm|arg_value>2</ifm|arg_value></ifm|tool_call></ifm|tool_calls>",
            ),
    ]
}
