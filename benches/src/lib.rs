//! Benchmarks of wiremend: documents, and fair timing.
//!
//! The bench `ratios` prints how fast each contender reads a document, compared with `serde_json`
//! skipping a valid document of the same kind in the same run. The bench `instructions` counts
//! instructions per byte. Absolute times depend more on the machine than on the code, and are printed
//! for orientation only.

pub mod apart;
pub mod documents;
pub mod measure;
pub mod values;
