//! Types that can cross threads.

#![allow(missing_docs)]

use std::sync::Arc;

use wiremend_core as core;

const fn crosses<T: Send + Sync>() {}

/// Compiles only if every public type may be sent to, and shared with, another thread.
#[test]
fn every_type_is_send_and_sync() {
    crosses::<core::BufferedMender>();
    crosses::<core::Collected>();
    crosses::<core::Completion<'static>>();
    crosses::<core::Delta<'static>>();
    crosses::<core::DeltaOp<'static>>();
    crosses::<core::Deltas<'static>>();
    crosses::<core::EventReader>();
    crosses::<core::Events<fn(core::ParseEvent<'_>)>>();
    crosses::<core::JsonType>();
    crosses::<core::KindSet>();
    crosses::<core::Lead>();
    crosses::<core::Limits>();
    crosses::<core::Listed>();
    crosses::<core::Member>();
    crosses::<core::Mended>();
    crosses::<core::Mender>();
    crosses::<core::Misplaced>();
    crosses::<core::MendOptions>();
    crosses::<core::Outcome>();
    crosses::<core::OwnedValue>();
    crosses::<core::ParseEvent<'static>>();
    crosses::<core::Partial>();
    crosses::<core::Path>();
    crosses::<core::Policy>();
    crosses::<core::Repair>();
    crosses::<core::RepairKind>();
    crosses::<core::Revision>();
    crosses::<core::Risk>();
    crosses::<core::Step>();
    crosses::<core::Tail>();
    crosses::<core::TrailingDocuments>();
    crosses::<core::UnknownCode>();
    crosses::<core::Value<'static>>();
    crosses::<Arc<dyn core::Guide>>();
}
