//! Benchmarks of jsonmend: documents, and fair timing.
//!
//! The bench `ratios` prints how fast each contender reads a document, against `serde_json` skipping
//! a valid document of the same kind in the same run; the bench `instructions` counts instructions a
//! byte. Absolute times say more about the machine than about the code, and are printed for
//! orientation only.

pub mod documents;
pub mod measure;
