//! The page itself: one file, which needs nothing else.

use std::sync::LazyLock;

use http::HeaderValue;
use rustls::{SupportedCipherSuite, crypto::ring::cipher_suite::TLS13_AES_128_GCM_SHA256};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The page.
pub(crate) const PAGE: &str = concat!(
    "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<style>",
    include_str!("page.css"),
    "</style>\n",
    include_str!("page.html"),
    "<script>",
    include_str!("page.js"),
    "</script>\n</html>\n",
);

/// Allows the page its own style and script, requests to its own port, and nothing else. No text can become
/// a script or an element: there is no sink that the browser would accept it in.
pub(crate) static POLICY: LazyLock<HeaderValue> = LazyLock::new(|| {
    let policy = format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; connect-src 'self'; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
         trusted-types 'none'",
        hash(SCRIPT),
        hash(STYLE)
    );
    HeaderValue::try_from(policy).unwrap_or(HeaderValue::from_static("default-src 'none'"))
});

/// The hash of a text, as a policy names it.
fn hash(text: &str) -> String {
    // A hash is needed nowhere else, so the one of the TLS library is used.
    let digest = match TLS13_AES_128_GCM_SHA256 {
        SupportedCipherSuite::Tls13(suite) => suite.common.hash_provider.hash(text.as_bytes()),
        SupportedCipherSuite::Tls12(suite) => suite.common.hash_provider.hash(text.as_bytes()),
    };
    format!("sha256-{}", base64(digest.as_ref()))
}

fn base64(bytes: &[u8]) -> String {
    const SIGNS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for three in bytes.chunks(3) {
        let number = three.iter().fold(0, |number, byte| number << 8 | u32::from(*byte));
        let number = number << (8 * (3 - three.len()));
        for place in 0..4 {
            let sign = SIGNS[(number >> (18 - 6 * place)) as usize & 63];
            out.push(if place > three.len() { '=' } else { char::from(sign) });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_the_standards() {
        // FIPS 180-4 and RFC 4648 have these.
        assert_eq!(hash("abc"), "sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
        for (text, encoded) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foobar", "Zm9vYmFy")] {
            assert_eq!(base64(text.as_bytes()), encoded);
        }
    }

    #[test]
    fn the_page_is_one_file_and_puts_text_into_no_markup() {
        for outside in ["http://", "https://", "src=", "@import", "url("] {
            let own = PAGE.replace("http://www.w3.org/2000/svg", "");
            assert!(!own.contains(outside), "{outside} is in the page");
        }
        for sink in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("] {
            assert!(!PAGE.contains(sink), "{sink} is in the page");
        }
        assert_eq!(PAGE.matches("</script").count(), 1);
        assert_eq!(PAGE.matches("</style").count(), 1);
    }
}
