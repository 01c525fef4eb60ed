//! A reply, its body, and what happens to it on its way.

use crate::{
    Choices,
    bodies::Reply,
    transport::{Delivery, Scenario},
};

/// One input for a reader of streams: a reply of a model in the shape of a provider, and a scenario.
///
/// With the feature `arbitrary` it can be the input of a fuzz target, and with `proptest` that of a
/// property test: see `strategies::case`.
///
/// ```
/// use wiremend_testkit::{Case, Seed};
///
/// let case = Case::random(&mut Seed::new(7));
/// let delivery = case.delivery();
/// assert_eq!(delivery, case.scenario().deliver(case.body()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    reply: Reply,
    body: Vec<u8>,
    scenario: Scenario,
}

impl Case {
    /// A reply and what happens to it.
    #[must_use]
    pub fn new(reply: Reply, scenario: Scenario) -> Self {
        let body = reply.body();
        Self { reply, body, scenario }
    }

    /// A reply in any shape, and faults and cuts that fit it.
    #[must_use]
    pub fn random(choices: &mut impl Choices) -> Self {
        let reply = Reply::random(choices);
        let body = reply.body();
        let scenario = Scenario::random(&body, choices);
        Self { reply, body, scenario }
    }

    /// What the model says.
    #[must_use]
    pub const fn reply(&self) -> &Reply {
        &self.reply
    }

    /// The body as it was sent.
    #[must_use]
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// What happens to it.
    #[must_use]
    pub const fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// What arrives.
    #[must_use]
    pub fn delivery(&self) -> Delivery {
        self.scenario.deliver(&self.body)
    }
}
