//! The crate through its public interface: whole responses, every one of them at every 2-cut.

mod anthropic;
mod aws;
mod body;
mod examples;
mod openai_chat;
mod rewrite;
mod support;
