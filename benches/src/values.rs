//! The schemas that are measured, with valid and damaged values of any size.

use std::fmt::Write as _;

use serde_json::{Value, json};

/// A tool with ten properties.
#[must_use]
pub fn tool() -> Value {
    json!({
        "type": "object",
        "properties": {
            "title": {"type": "string", "description": "What the meeting is called", "minLength": 1},
            "start": {"type": "string", "description": "When it begins, as RFC 3339 has it"},
            "minutes": {"type": "integer", "minimum": 5, "maximum": 480},
            "remote": {"type": "boolean"},
            "room": {"type": ["string", "null"]},
            "priority": {"enum": ["low", "normal", "high"]},
            "attendees": {"type": "array", "items": {"type": "string"}, "maxItems": 400},
            "budget": {"type": "number", "minimum": 0},
            "agenda": {"type": "array", "items": {"type": "object", "properties": {
                "topic": {"type": "string"}, "minutes": {"type": "integer"},
                "lead": {"anyOf": [{"type": "string"}, {"type": "null"}]}
            }, "required": ["topic", "minutes"], "additionalProperties": false}},
            "notes": {"type": "string"}
        },
        "required": ["title", "start", "minutes"],
        "additionalProperties": false
    })
}

/// A value of about `bytes` bytes that is valid for [`tool`].
#[must_use]
pub fn meeting(bytes: usize) -> String {
    let mut text = r#"{"title": "Review of the north region", "start": "2026-03-04T10:00:00Z", "minutes": 45, "remote": true, "room": null, "priority": "normal", "budget": 1250.50, "attendees": ["mara@example.com", "tomas@example.com"], "notes": "Bring the final figures, in thousands.", "agenda": ["#.to_owned();
    let mut item = 0;
    while text.len() < bytes {
        let separator = if item == 0 { "" } else { ", " };
        let _ = write!(
            text,
            r#"{separator}{{"topic": "Point {item}: what was sold, and to whom", "minutes": {}, "lead": null}}"#,
            5 + item % 20
        );
        item += 1;
    }
    text.push_str("]}");
    text
}

/// An order with lines, and with events of three kinds.
#[must_use]
pub fn order() -> Value {
    json!({
        "type": "object",
        "properties": {
            "number": {"type": "integer", "minimum": 1},
            "customer": {"type": "object", "properties": {
                "name": {"type": "string"}, "email": {"type": "string"}, "returning": {"type": "boolean"}
            }, "required": ["name"]},
            "lines": {"type": "array", "items": {"type": "object", "properties": {
                "sku": {"type": "string"},
                "quantity": {"type": "integer", "minimum": 1, "maximum": 999},
                "unit_price": {"type": "number", "minimum": 0},
                "status": {"enum": ["in_stock", "on_order", "sold_out"]},
                "gift": {"type": "boolean"},
                "tags": {"type": "array", "items": {"type": "string"}},
                "remark": {"type": "string"}
            }, "required": ["sku", "quantity", "unit_price"], "additionalProperties": false}},
            "events": {"type": "array", "items": {"oneOf": [
                {"type": "object", "properties": {
                    "kind": {"const": "placed"}, "channel": {"enum": ["web", "phone"]}
                }, "required": ["kind", "channel"], "additionalProperties": false},
                {"type": "object", "properties": {
                    "kind": {"const": "paid"}, "amount": {"type": "number"}
                }, "required": ["kind", "amount"], "additionalProperties": false},
                {"type": "object", "properties": {
                    "kind": {"const": "sent"}, "parcels": {"type": "integer"}
                }, "required": ["kind", "parcels"], "additionalProperties": false}
            ]}}
        },
        "required": ["number", "customer", "lines"],
        "additionalProperties": false
    })
}

/// What is wrong with each line or event of an [`order`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Damage {
    /// Numbers and booleans in strings.
    Quoted,
    /// A number instead of a string.
    Unquoted,
    /// Keys in another case, and a key that the schema does not know.
    Keys,
    /// Values of an enum in another case.
    Enums,
    /// A string instead of a list of strings, and a list instead of a number.
    Lists,
    /// A missing comma and a number in a string.
    Syntax,
    /// Events of a union, each with a member of another type.
    Unions,
    /// A different one of these in each line, and in each event.
    Mixed,
}

impl Damage {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Quoted,
        Self::Unquoted,
        Self::Keys,
        Self::Enums,
        Self::Lists,
        Self::Syntax,
        Self::Unions,
        Self::Mixed,
    ];

    /// The name for the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Quoted => "quoted",
            Self::Unquoted => "unquoted",
            Self::Keys => "keys",
            Self::Enums => "enums",
            Self::Lists => "lists",
            Self::Syntax => "syntax",
            Self::Unions => "unions",
            Self::Mixed => "mixed",
        }
    }

    /// A value of about `bytes` bytes with this damage, for [`order`]. The rules can mend it.
    #[must_use]
    pub fn order(self, bytes: usize) -> String {
        let mut text = r#"{"number": 70412, "customer": {"name": "Ines Duarte", "email": "ines@example.com", "returning": true}, "lines": ["#.to_owned();
        // Half of a value with damaged events consists of events.
        let events = matches!(self, Self::Unions | Self::Mixed);
        let until = if events { bytes / 2 } else { bytes };
        fill(&mut text, until, |index| self.at(index).line(index));
        text.push_str(r#"], "events": ["#);
        fill(&mut text, if events { bytes } else { 0 }, event);
        text.push_str("]}");
        text
    }

    /// The damage of one line.
    fn at(self, index: usize) -> Self {
        match self {
            Self::Mixed => Self::ALL[index % 6],
            only => only,
        }
    }

    fn line(self, index: usize) -> String {
        let mut line = [
            format!(r#"{{"sku": "A-{index}","#),
            format!(r#" "quantity": {},"#, 1 + index % 40),
            format!(r#" "unit_price": {}.25,"#, index % 90),
            r#" "status": "in_stock","#.to_owned(),
            r#" "gift": false,"#.to_owned(),
            r#" "tags": ["new", "spring"],"#.to_owned(),
            r#" "remark": "wrap it, please"}"#.to_owned(),
        ];
        let [sku, quantity, price, status, gift, tags, remark] = &mut line;
        match self {
            Self::Quoted => {
                *quantity = format!(r#" "quantity": "{}","#, 1 + index % 40);
                *price = format!(r#" "unit_price": "{}.25","#, index % 90);
                r#" "gift": "False","#.clone_into(gift);
            }
            Self::Unquoted => *sku = format!(r#"{{"sku": {},"#, 48_000 + index),
            Self::Keys => {
                *price = format!(r#" "unitPrice": {}.25,"#, index % 90);
                r#" "Status": "in_stock","#.clone_into(status);
                r#" "remark": "wrap it, please", "warehouse": 4}"#.clone_into(remark);
            }
            Self::Enums => r#" "status": "In Stock","#.clone_into(status),
            Self::Lists => {
                *quantity = format!(r#" "quantity": [{}],"#, 1 + index % 40);
                r#" "tags": "new","#.clone_into(tags);
            }
            Self::Syntax => {
                *quantity = format!(r#" "quantity": "{}""#, 1 + index % 40);
            }
            Self::Unions | Self::Mixed => {}
        }
        line.concat()
    }
}

/// An event whose type is wrong in one member.
fn event(index: usize) -> String {
    match index % 3 {
        0 => r#"{"kind": "placed", "channel": "Web"}"#.to_owned(),
        1 => format!(r#"{{"kind": "paid", "amount": "{}.50"}}"#, index % 700),
        _ => format!(r#"{{"kind": "sent", "parcels": "{}"}}"#, 1 + index % 5),
    }
}

/// Appends items until the text has a size.
fn fill(text: &mut String, bytes: usize, item: impl Fn(usize) -> String) {
    let mut index = 0;
    while text.len() < bytes {
        if index > 0 {
            text.push_str(", ");
        }
        text.push_str(&item(index));
        index += 1;
    }
}
