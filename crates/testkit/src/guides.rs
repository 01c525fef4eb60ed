//! Guides for tests: one that is written down, and ones that no schema would give.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use serde_json::Value;
use wiremend_core::{Guide, JsonType, Listed, Member};

/// A guide as an outline of the value, in JSON.
///
/// | outline | place |
/// |---|---|
/// | `"string"`, `"number"`, `"bool"` | a value of that kind |
/// | `"any"` | any value |
/// | `"red\|green"` | one of those strings |
/// | `[PLACE]` | a list of such values |
/// | `{"key": PLACE}` | an object with these members; `"*": "none"` says that it has no others |
///
/// ```
/// use std::sync::Arc;
/// use wiremend_core::{MendOptions, mend};
/// use wiremend_testkit::guides::Outline;
///
/// let outline = serde_json::from_str(r#"{"code": "string", "lines": "number"}"#).unwrap();
/// let options = MendOptions::new().with_guide(Arc::new(Outline::new(outline)));
/// assert_eq!(mend(b"{code x lines 2}", &options).text(), Some(r#"{"code": "x lines 2"}"#));
/// assert_eq!(mend(b"{code x, lines 2}", &options).text(), Some(r#"{"code": "x", "lines": 2}"#));
/// ```
#[derive(Clone, Debug)]
pub struct Outline(Value);

impl Outline {
    /// The guide with that outline.
    #[must_use]
    pub const fn new(outline: Value) -> Self {
        Self(outline)
    }

    fn place(outline: &Value) -> Arc<dyn Guide> {
        Arc::new(Self(outline.clone()))
    }
}

impl Guide for Outline {
    fn allows(&self, kind: JsonType) -> bool {
        match (&self.0, kind) {
            (Value::Object(_), kind) => kind == JsonType::Object,
            (Value::Array(_), kind) => kind == JsonType::Array,
            (Value::String(name), kind) => match name.as_str() {
                "any" => true,
                "bool" => kind == JsonType::Boolean,
                "number" => kind == JsonType::Number,
                _ => kind == JsonType::String,
            },
            _ => true,
        }
    }

    fn member(&self, key: &str) -> Member {
        match (self.0.get(key), self.0.get("*")) {
            (Some(place), _) if key != "*" => Member::Declared(Self::place(place)),
            (_, Some(_)) => Member::Forbidden,
            _ => Member::Open,
        }
    }

    fn item(&self, _: usize) -> Option<Arc<dyn Guide>> {
        self.0.get(0).map(Self::place)
    }

    fn listed(&self, text: &str) -> Listed {
        let words = self.0.as_str().filter(|words| words.contains('|'));
        let Some(words) = words else { return Listed::Any };
        if words.split('|').any(|word| word == text) {
            Listed::Whole
        } else if words.split('|').any(|word| word.starts_with(text)) {
            Listed::Begins
        } else {
            Listed::No
        }
    }
}

/// A guide that knows nothing. It must change nothing.
#[derive(Clone, Copy, Debug)]
pub struct Unknowing;

impl Guide for Unknowing {
    fn allows(&self, _: JsonType) -> bool {
        true
    }

    fn member(&self, _: &str) -> Member {
        Member::Open
    }
}

/// A guide that counts how often it is asked, and knows every name. It must not be asked about valid
/// JSON.
#[derive(Clone, Debug, Default)]
pub struct Counting(Arc<AtomicUsize>);

impl Counting {
    /// How often it, or a place inside it, was asked.
    #[must_use]
    pub fn asked(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    fn ask(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Guide for Counting {
    fn allows(&self, _: JsonType) -> bool {
        self.ask();
        true
    }

    fn member(&self, _: &str) -> Member {
        self.ask();
        Member::Declared(Arc::new(self.clone()))
    }

    fn item(&self, _: usize) -> Option<Arc<dyn Guide>> {
        self.ask();
        Some(Arc::new(self.clone()))
    }

    fn listed(&self, _: &str) -> Listed {
        self.ask();
        Listed::Any
    }
}

/// A guide whose answer about each place and name is a number computed from them: it knows, allows
/// and forbids without any sense, but always in the same way. The laws must hold whatever a guide
/// says.
#[derive(Clone, Copy, Debug)]
pub struct Whim(u64);

impl Whim {
    /// The guide for this number.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn of(self, text: &[u8]) -> u64 {
        // FNV-1a, as good as any other.
        text.iter().fold(self.0 ^ 0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        })
    }
}

impl Guide for Whim {
    fn allows(&self, kind: JsonType) -> bool {
        self.of(format!("{kind:?}").as_bytes()) >> 20 & 3 != 0
    }

    fn member(&self, key: &str) -> Member {
        let hash = self.of(key.as_bytes());
        match hash >> 20 & 3 {
            0 => Member::Forbidden,
            1 => Member::Open,
            _ => Member::Declared(Arc::new(Self(hash))),
        }
    }

    fn item(&self, index: usize) -> Option<Arc<dyn Guide>> {
        let hash = self.of(&index.to_le_bytes());
        (hash >> 20 & 3 != 0).then(|| Arc::new(Self(hash)) as Arc<dyn Guide>)
    }

    fn listed(&self, text: &str) -> Listed {
        match self.of(text.as_bytes()) >> 20 & 3 {
            0 => Listed::No,
            1 => Listed::Begins,
            _ => Listed::Whole,
        }
    }
}
