//! Benchmarks of jsonmend.
//!
//! `cargo bench -p jsonmend-benches` prints ratios: how long each contender takes for a document,
//! against `serde_json` skipping over the same document in the same run. Absolute times say more
//! about the machine than about the code, and are printed for orientation only.

pub mod documents;
pub mod measure;
