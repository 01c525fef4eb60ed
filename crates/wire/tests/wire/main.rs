//! The crate through its public interface: whole responses, every one of them at every 2-cut.

mod anthropic;
mod aws;
mod bedrock;
mod body;
mod cohere;
mod completions;
mod defects;
mod examples;
mod gemini;
mod openai_assistants;
mod openai_chat;
mod openai_responses;
mod support;
mod whole;
