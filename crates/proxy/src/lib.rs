//! A gateway between a client and the provider of a language model: it repairs the tool calls
//! of each answer while it passes.
//!
//! A client changes its base URL, and nothing else. Requests and answers pass byte for byte, but for what
//! is broken: arguments of calls that are not JSON, content that is not JSON where the request asked for it,
//! and calls in the history of a request. A call that was cut off is never completed. docs/gateway.md has
//! what is changed, and docs/gateway.md what a gateway is safe against.
//!
//! [`Server`] is the gateway, and [`Config`] its settings. The command is `wiremend serve`.

mod admin;
mod config;
mod exchange;
#[cfg(any(test, feature = "fuzz"))]
#[doc(hidden)]
pub mod fuzz;
mod headers;
mod hosts;
mod live;
mod log;
mod metrics;
mod recent;
mod relay;
mod server;
mod shared;
mod timed;
mod unpacked;

pub use config::{Config, ConfigError, Limits, Reask, Setting, Upstream, address, settings};
pub use server::Server;
/// What is mended, which is the same wherever an exchange is.
pub use wiremend_exchange::{
    Arguments, CallsInText, Content, CutCalls, Mending, Mode, Repair, SettingError, ToolRule,
};
