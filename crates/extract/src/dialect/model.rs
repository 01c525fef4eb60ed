//! The dialect of a model, by its name.

use super::Dialect;

/// Patterns of model names, most specific first, each with the dialect that the template of the model
/// uses. A `*` matches any text.
const MODELS: &[(&str, &str)] = &[
    ("*qwen3*coder*", "qwen3_coder_xml"),
    ("*qwen3.5*", "qwen3_coder_xml"),
    ("*qwen*", "hermes"),
    ("*qwq*", "hermes"),
    ("*hermes*", "hermes"),
    ("*nemotron*3*nano*", "qwen3_coder_xml"),
    ("*nemotron*", "nemotron_toolcall"),
    ("*deepseek*v4.1*", "deepseek_dsml_v41"),
    ("*deepseek*v4*", "deepseek_dsml_v4"),
    ("*deepseek*v3.2*", "deepseek_dsml_v32"),
    ("*deepseek*v3.1*", "deepseek_v31"),
    ("*deepseek*r1*distill*", "deepseek_r1"),
    ("*deepseek*", "deepseek_v3"),
    ("*kimi*k3*", "kimi_k3"),
    ("*kimi*", "kimi_k2"),
    ("*glm-4-*", "name_line"),
    ("*glm*", "glm_arg_kv"),
    ("*minimax*m3*", "minimax_m3"),
    ("*minimax*m2*", "minimax_m2_xml"),
    ("*minimax*text*", "minimax_text"),
    ("*gpt-oss*", "harmony"),
    ("*functiongemma*", "functiongemma"),
    ("*gemma*4*", "gemma4"),
    ("*gemma*", "pythonic"),
    ("*llama-4*", "llama4_pythonic"),
    ("*llama-3.2*", "pythonic"),
    ("*llama-3*", "llama3_json"),
    ("*mistral*", "mistral"),
    ("*ministral*", "mistral"),
    ("*magistral*", "mistral"),
    ("*devstral*", "mistral"),
    ("*granite-20b*", "granite_20b_fc"),
    ("*granite-3*", "granite3"),
    ("*granite*", "granite4"),
    ("*command-r-plus*", "cohere_command_r_plus"),
    ("*command*", "cohere_command"),
    ("*internlm*", "internlm2"),
    ("*phi-4-mini*", "phi4mini_functools"),
    ("*firefunction*", "firefunction_v2"),
    ("*jamba*", "jamba"),
    ("*hunyuan*a13b*", "hunyuan_a13b"),
    ("*hunyuan*4*", "hunyuan_v4"),
    ("*hunyuan*", "hunyuan_v3"),
    ("*apriel*", "apriel"),
    ("*apertus*", "apertus"),
    ("*gigachat*3.5*", "gigachat35"),
    ("*gigachat*3*", "gigachat3"),
    ("*longcat*", "longcat"),
    ("*xlam*", "xlam"),
    ("*sarashina*", "sarashina"),
    ("*functionary*3.1*", "functionary_v31"),
    ("*functionary*", "functionary_v32"),
    ("*seed-oss*", "seed_oss_xml"),
    ("*step-3.5*", "step3p5_xml"),
    ("*step*3*", "step3_steptml"),
    ("*dots*", "dots"),
    ("*minicpm*5*", "minicpm5_xml"),
    ("*poolside*", "poolside_v1"),
    ("*laguna*", "poolside_v1"),
    ("*spark*2.5*", "spark25"),
    ("*ling*3*", "ling3"),
    ("*lfm2*", "lfm2_pythonic"),
    ("*olmo*3*", "olmo3_pythonic"),
    ("*ernie*4.5*", "ernie45"),
    ("*reka*edge*", "reka_edge"),
    ("*muse*glimmer*", "muse_glimmer"),
    ("*muse*", "muse"),
    ("*inkling*", "inkling"),
    ("*k2-horizon*", "k2_horizon"),
];

impl Dialect {
    /// The dialect of a model, by its name as providers and model hubs write it. `None` if the name
    /// says nothing; then it can be detected.
    ///
    /// ```
    /// use wiremend_extract::Dialect;
    /// let of = |model| Dialect::of_model(model).map(Dialect::name);
    /// assert_eq!(of("Qwen/Qwen3-Coder-480B-A35B-Instruct"), Some("qwen3_coder_xml"));
    /// assert_eq!(of("deepseek-ai/DeepSeek-V3.1"), Some("deepseek_v31"));
    /// assert_eq!(of("my-own-model"), None);
    /// ```
    #[must_use]
    pub fn of_model(model: &str) -> Option<&'static Self> {
        let model = model.to_lowercase().replace('_', "-");
        let (_, name) = MODELS.iter().find(|(pattern, _)| matches(pattern, &model))?;
        Self::by_name(name)
    }
}

/// Whether a text matches a pattern that begins and ends with `*`.
fn matches(pattern: &str, text: &str) -> bool {
    let mut rest = text;
    for part in pattern.split('*').filter(|part| !part.is_empty()) {
        match rest.find(part) {
            Some(at) => rest = rest.get(at + part.len()..).unwrap_or_default(),
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_names_a_dialect_and_can_be_reached() {
        for (pattern, name) in MODELS {
            assert!(Dialect::by_name(name).is_some(), "{name}");
            assert!(pattern.starts_with('*') && pattern.ends_with('*'));
            let model = pattern.replace('*', "-");
            let first = MODELS.iter().find(|(other, _)| matches(other, &model));
            assert_eq!(first.map(|(_, name)| name), Some(name), "{pattern}");
        }
    }
}
