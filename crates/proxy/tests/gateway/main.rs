//! A gateway on loopback, between a client and a provider that plays a script.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod account;
mod admin;
mod browser;
mod chaos;
mod content;
mod fitting;
mod hostile;
mod limits;
mod live;
mod media;
mod mending;
mod packed;
mod reask;
mod reference;
mod scene;
mod threads;
mod tls;
mod transparent;
