//! Whether the connections of clients are encrypted.

use std::{path::Path, sync::Arc};

use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};
use serde::{Deserialize, Serialize};

use super::ConfigError;

/// The files of a certificate and its key. Without them, connections of clients are not encrypted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Tls {
    certificate: String,
    key: String,
}

impl Tls {
    pub(crate) fn new(certificate: &Path, key: &Path) -> Self {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        Self { certificate: text(certificate), key: text(key) }
    }

    pub(crate) fn is_on(&self) -> bool {
        !self.certificate.is_empty() || !self.key.is_empty()
    }

    /// Reads the files, if connections are to be encrypted. No message repeats what is in them.
    pub(crate) fn load(&self) -> Result<Option<Arc<ServerConfig>>, ConfigError> {
        if !self.is_on() {
            return Ok(None);
        }
        let wrong = |file: &str, what: &str| ConfigError::new(format!("{file:?} {what}"));
        let chain = CertificateDer::pem_file_iter(&self.certificate).and_then(Iterator::collect);
        let chain: Vec<_> =
            chain.map_err(|_| wrong(&self.certificate, "cannot be read as certificates"))?;
        let key = PrivateKeyDer::from_pem_file(&self.key)
            .map_err(|_| wrong(&self.key, "cannot be read as a private key"))?;
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|config| config.with_no_client_auth().with_single_cert(chain, key));
        let mut config =
            config.map_err(|_| wrong(&self.certificate, "and the key do not fit together"))?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Some(Arc::new(config)))
    }
}
