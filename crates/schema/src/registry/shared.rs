//! A registry that can be replaced while others read it.

use std::sync::{Arc, PoisonError, RwLock};

use super::Registry;

/// A registry that is shared between threads. Readers keep the version that they loaded, and a swap
/// does not wait for them.
///
/// ```
/// use wiremend_schema::{Registry, SharedRegistry};
/// let shared = SharedRegistry::new(Registry::new());
/// let before = shared.load();
/// shared.swap(Registry::new().with_default(wiremend_schema::Schema::from_text("true")?));
/// assert!(before.resolve(None, None).schema().is_none());
/// assert!(shared.load().resolve(None, None).schema().is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct SharedRegistry(Arc<RwLock<Arc<Registry>>>);

impl SharedRegistry {
    /// Creates a shared registry.
    #[must_use]
    pub fn new(registry: Registry) -> Self {
        Self(Arc::new(RwLock::new(Arc::new(registry))))
    }

    /// The current registry.
    #[must_use]
    pub fn load(&self) -> Arc<Registry> {
        // Nothing panics while the lock is held, and an `Arc` is never half written.
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces the registry, and returns the previous one.
    pub fn swap(&self, registry: Registry) -> Arc<Registry> {
        let mut place = self.0.write().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut place, Arc::new(registry))
    }
}
