//! The crate through its public interface: whole responses, every one of them at every 2-cut.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod anthropic;
mod bedrock;
mod body;
mod cohere;
mod completions;
mod contradictions;
mod defects;
mod empty;
mod examples;
mod fitted;
mod gemini;
mod honest;
mod identity;
mod items;
mod openai_assistants;
mod openai_chat;
mod openai_responses;
mod rewrite;
mod strays;
mod support;
mod tool_names;
mod withheld;
