//! Answers as programs get them from models, in the situations that five systems which people use have
//! tests for. Where those expect another outcome, a comment says why this one is right.

mod fitted;
mod found;
mod tools;
mod whole;
