//! Inputs from the bytes of a fuzzer, and the crate that defines what that means.
//!
//! ```
//! use wiremend_testkit::{Case, arbitrary::{Arbitrary, Unstructured}};
//!
//! // What a fuzz target gets with `fuzz_target!(|case: Case| { … })`.
//! let case = Case::arbitrary(&mut Unstructured::new(&[7; 64]))?;
//! assert!(!case.body().is_empty());
//! # Ok::<(), wiremend_testkit::arbitrary::Error>(())
//! ```

pub use ::arbitrary::*;

use crate::{
    Case, Seed,
    bodies::{Reply, Shape},
    damage::Damage,
};

impl<'a> Arbitrary<'a> for Case {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> Result<Self> {
        Ok(Self::random(bytes))
    }
}

impl<'a> Arbitrary<'a> for Reply {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> Result<Self> {
        Ok(Self::random(bytes))
    }
}

impl<'a> Arbitrary<'a> for Shape {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> Result<Self> {
        bytes.choose(&Self::ALL).copied()
    }
}

impl<'a> Arbitrary<'a> for Damage {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> Result<Self> {
        bytes.choose(&Self::ALL).copied()
    }
}

impl<'a> Arbitrary<'a> for Seed {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> Result<Self> {
        bytes.arbitrary().map(Self::new)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn any_bytes_are_a_case() {
        let mut seen = BTreeSet::new();
        for number in 0..600 {
            let mut seed = Seed::new(number);
            let len = seed.below(200);
            let bytes: Vec<u8> = (0..len).map(|_| seed.bits() as u8).collect();
            let case = Case::arbitrary(&mut Unstructured::new(&bytes)).unwrap();
            assert_eq!(case.delivery(), case.scenario().deliver(&case.reply().body()));
            seen.insert(case.reply().shape().code());
        }
        assert_eq!(seen.len(), Shape::ALL.len());
    }

    #[test]
    fn no_bytes_are_a_case() {
        let case = Case::arbitrary(&mut Unstructured::new(&[])).unwrap();
        assert!(case.scenario().faults().is_empty());
    }
}
