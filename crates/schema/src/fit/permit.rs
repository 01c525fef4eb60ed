//! Which rules may be applied to a value.

use wiremend_core::Risk;

use super::{FitOptions, place::Place};
use crate::{Rule, compile::Off, part::Part};

/// The options, with the highest risk that they allow.
#[derive(Clone, Copy)]
pub(super) struct Permit<'o> {
    options: &'o FitOptions,
    pub(super) max_risk: Risk,
}

impl<'o> Permit<'o> {
    /// `None` if the policy allows no repair.
    pub(super) fn new(options: &'o FitOptions) -> Option<Self> {
        Some(Self { options, max_risk: options.engine().policy().max_risk()? })
    }

    pub(super) fn name(&self) -> Option<&'o str> {
        self.options.name()
    }

    /// Whether a rule may be used at a place.
    pub(super) fn allows(&self, rule: Rule, place: &Place, part: &Part<'_>) -> bool {
        let own = part.shapes().map(|shape| &shape.off);
        let off = place.off.iter().chain(own).any(|off| match off {
            Off::Nothing => false,
            Off::Everything => true,
            Off::Codes(codes) => codes.iter().any(|code| code == rule.code()),
        });
        rule.risk() <= self.max_risk && !off && self.options.rules().allows(rule, &place.pointer)
    }

    pub(super) const fn is_in_sentence(&self) -> bool {
        self.options.in_sentence
    }

    /// Whether the policy allows a risk.
    pub(super) fn takes(&self, risk: Risk) -> bool {
        risk <= self.max_risk
    }
}
