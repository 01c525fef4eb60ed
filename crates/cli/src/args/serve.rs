//! The command line of `wiremend serve`.

use std::{net::SocketAddr, path::PathBuf};

use clap::Args;
use wiremend_proxy::{ConfigError, address};

use crate::exit::OTHER_CODES;

/// Stand between clients and the providers of language models, and repair the tool calls of each answer
/// while it passes.
///
/// A client uses the address of the gateway as its base URL, and keeps its key, which passes untouched.
/// Without --config, everything is set by options and by variables such as WIREMEND_MENDING_MODE. It runs
/// until it gets SIGINT or SIGTERM, and lets answers that have begun end; a second one ends it at once. On
/// standard error it says when it starts and stops, and which exchanges failed.
///
/// docs/gateway.md lists all settings, and what is changed. docs/gateway.md says what it is safe against.
#[derive(Debug, Args)]
#[command(after_help = OTHER_CODES)]
pub(crate) struct ServeArgs {
    /// Where requests are sent; with a prefix, those whose path begins with it. May be repeated.
    #[arg(long, value_name = "[PREFIX=]URL")]
    pub(crate) upstream: Vec<String>,

    /// The address for clients, such as localhost:8484, or :8484 for loopback; port 0 is one that is free
    /// [default: 127.0.0.1:8484].
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    pub(crate) listen: Option<SocketAddr>,

    /// The address of /health, /ready, /metrics and /repairs, or `off` [default: 127.0.0.1:8485].
    #[arg(long, value_name = "ADDRESS|off", value_parser = admin)]
    pub(crate) admin: Option<Admin>,

    /// A file of settings, in TOML.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Print the settings as they would hold, or what is wrong with them, and serve nothing.
    #[arg(long, conflicts_with = "probe")]
    pub(crate) check: bool,

    /// Ask a gateway with these settings, which runs on this machine, whether it is healthy.
    #[arg(long)]
    pub(crate) probe: bool,

    /// Print one JSON object with the addresses, or with the settings.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Where the pages for those who run the gateway are.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Admin {
    At(SocketAddr),
    Off,
}

fn admin(text: &str) -> Result<Admin, ConfigError> {
    match text {
        "off" => Ok(Admin::Off),
        _ => address(text).map(Admin::At),
    }
}
