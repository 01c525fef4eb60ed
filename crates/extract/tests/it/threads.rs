//! Types that can cross threads, and codes.

use wiremend_extract::{Finder, FoundDocument, FoundDocuments, Scope};

const fn crosses<T: Send + Sync>() {}

#[test]
fn every_type_is_send_and_sync() {
    crosses::<Finder>();
    crosses::<FoundDocuments>();
    crosses::<FoundDocument>();
    crosses::<Scope>();
}

#[test]
fn scopes_are_read_from_their_codes() {
    for &scope in Scope::ALL {
        assert_eq!(scope.to_string().parse(), Ok(scope));
    }
    assert!("everything".parse::<Scope>().is_err());
}
