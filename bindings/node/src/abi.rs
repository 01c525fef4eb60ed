//! What a host can call. Nothing here reads or writes through a pointer of the host: it writes into a buffer of the module
//! and reads from one.
//!
//! A host asks for [room](wiremend_room), writes the options of an operation (JSON, or nothing) and its text there, and
//! [calls](wiremend_call) it. The [answer](wiremend_answer) is JSON, which may be followed by bytes.
#![allow(
    unsafe_code,
    reason = "names that are exported: no two may be the same, and the compiler cannot see to it; and one write, to where \
              the validator asks for chance"
)]

use std::cell::{Cell, RefCell};

use crate::{answer::Answer, host::Host};

/// Buffers above this size are given back after a call.
const KEPT: usize = 1 << 20;

#[derive(Default)]
struct State {
    host: Host,
    input: Vec<u8>,
    answer: Answer,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
    static SEED: Cell<u64> = const { Cell::new(0) };
}

/// Gives the module chance, before anything else. Without it, who knows the keys of a schema could choose those of a
/// text so that hashing them takes long.
#[unsafe(no_mangle)]
pub extern "C" fn wiremend_seed(low: u32, high: u32) {
    SEED.set(u64::from(high) << 32 | u64::from(low));
}

/// Where the hashes of the validator get their seeds.
#[cfg(all(feature = "schema", getrandom_backend = "custom"))]
#[unsafe(no_mangle)]
fn __getrandom_v03_custom(to: *mut u8, length: usize) -> Result<(), getrandom::Error> {
    for at in 0..length {
        // SplitMix64.
        let state = SEED.get().wrapping_add(0x9E37_79B9_7F4A_7C15);
        SEED.set(state);
        let mixed = (state ^ state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        // SAFETY: the caller owns so many bytes from there on, which need not be initialised.
        unsafe { to.add(at).write((mixed >> 56) as u8) };
    }
    Ok(())
}

/// Where the host may write so many bytes, until its next call of any function here.
#[unsafe(no_mangle)]
pub extern "C" fn wiremend_room(length: usize) -> *mut u8 {
    STATE.with_borrow_mut(|state| {
        if state.input.len() < length {
            state.input.resize(length, 0);
        }
        state.input.as_mut_ptr()
    })
}

/// Runs an operation on what was written: first its options, then its text. Returns the length of the JSON in the
/// answer, or -1 if the operation could not be run: then the answer is a message.
#[unsafe(no_mangle)]
pub extern "C" fn wiremend_call(operation: u32, object: u32, options: usize, text: usize) -> i32 {
    STATE.with_borrow_mut(|state| {
        let State { host, input, answer } = state;
        answer.clear(KEPT);
        let (options, rest) = input.split_at(options.min(input.len()));
        let text = rest.get(..text).unwrap_or(rest);
        let done = host.run(operation, object, options, text, answer);
        if input.capacity() > KEPT {
            *input = Vec::new();
        }
        match done {
            Ok(()) => i32::try_from(answer.head()).unwrap_or(-1),
            Err(message) => {
                answer.fail(&message);
                -1
            }
        }
    })
}

/// Where the answer begins.
#[unsafe(no_mangle)]
pub extern "C" fn wiremend_answer() -> *const u8 {
    STATE.with_borrow(|state| state.answer.bytes().as_ptr())
}

/// How long it is.
#[unsafe(no_mangle)]
pub extern "C" fn wiremend_length() -> usize {
    STATE.with_borrow(|state| state.answer.bytes().len())
}
