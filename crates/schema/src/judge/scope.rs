//! The dynamic scope, which is the list of schema resources on the way to a subschema, for
//! `$dynamicRef`.

use std::collections::HashMap;

use super::Judge;
use crate::compile::{Dynamic, ShapeId};

/// Identifies a scope by its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ScopeId(u32);

impl ScopeId {
    /// The empty scope.
    pub(crate) const NONE: Self = Self(0);
}

/// All scopes so far, each with its resources, outermost first. Only the first time that a resource
/// is entered matters.
#[derive(Default)]
pub(super) struct Scopes {
    /// All scopes but the empty one.
    all: Vec<Vec<u16>>,
    entered: HashMap<(ScopeId, u16), ScopeId>,
}

impl Scopes {
    fn resources(&self, scope: ScopeId) -> &[u16] {
        let at = (scope.0 as usize).checked_sub(1);
        at.and_then(|at| self.all.get(at)).map(Vec::as_slice).unwrap_or_default()
    }
}

impl Judge<'_> {
    /// The scope after entering a resource.
    pub(super) fn enter(&mut self, scope: ScopeId, resource: u16) -> ScopeId {
        if !self.shapes().is_scoped() || self.scopes.resources(scope).contains(&resource) {
            return scope;
        }
        if let Some(known) = self.scopes.entered.get(&(scope, resource)) {
            return *known;
        }
        let mut resources = self.scopes.resources(scope).to_vec();
        resources.push(resource);
        self.spend_bytes(64 + 8 * resources.len());
        self.scopes.all.push(resources);
        let id = ScopeId(u32::try_from(self.scopes.all.len()).unwrap_or(u32::MAX));
        self.scopes.entered.insert((scope, resource), id);
        id
    }

    /// The target of a reference in a scope: the outermost anchor with its name.
    pub(super) fn target(&self, scope: ScopeId, dynamic: &Dynamic) -> ShapeId {
        let resources = self.scopes.resources(scope).iter();
        let mut anchors =
            resources.filter_map(|resource| self.shapes().anchor(*resource, &dynamic.anchor));
        anchors.next().unwrap_or(dynamic.target)
    }
}
