//! The JSON Schema (2020-12) of everything that crosses a border.

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::api::{PROTOCOL_VERSION, RpcError, method_schemas};
use crate::event::{EphemeralEvent, EventBody, RuntimeEvent};
use crate::ipc::{IPC_VERSION, ParentMessage, WorkerMessage};

/// Methods, notifications, events with the versions that this build writes, messages of workers, and
/// the codes of errors, over one set of definitions (`$defs`).
pub fn all() -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let methods = method_schemas(&mut generator);
    let read_only: Map<String, Value> =
        crate::api::METHODS.iter().map(|(name, read)| ((*name).to_owned(), Value::Bool(*read))).collect();
    let notifications = notifications(&mut generator);
    let events = EventBody::schemas(&mut generator);
    let versions: Map<String, Value> =
        EventBody::TYPES.iter().map(|(name, version)| ((*name).to_owned(), Value::from(*version))).collect();
    let envelope = generator.subschema_for::<RuntimeEvent>();
    let ephemeral = generator.subschema_for::<EphemeralEvent>();
    let parent = generator.subschema_for::<ParentMessage>();
    let worker = generator.subschema_for::<WorkerMessage>();
    let error = generator.subschema_for::<RpcError>();
    let codes: Map<String, Value> =
        crate::error::codes::ALL.iter().map(|(code, kind)| ((*code).to_owned(), json!(kind))).collect();
    let definitions = generator.take_definitions(true);
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "AirCoding",
        "protocol_version": PROTOCOL_VERSION,
        "ipc_version": IPC_VERSION,
        "methods": methods,
        "observer_may_call": read_only,
        "notifications": notifications,
        "event": envelope,
        "event_versions": versions,
        "events": events,
        "ephemeral_events": ephemeral,
        "ipc": { "parent": parent, "worker": worker },
        "error": error,
        "error_codes": codes,
        "$defs": definitions,
    })
}

fn notifications(generator: &mut SchemaGenerator) -> Map<String, Value> {
    use crate::api;
    let mut all = Map::new();
    all.insert(
        api::PROJECTION_CHANGED.to_owned(),
        generator.subschema_for::<api::ProjectionChanged>().to_value(),
    );
    all.insert(api::STREAM_DELTA.to_owned(), generator.subschema_for::<api::StreamDelta>().to_value());
    all.insert(api::STREAM_RESYNC.to_owned(), generator.subschema_for::<api::StreamResync>().to_value());
    all.insert(api::EVENTS_APPENDED.to_owned(), generator.subschema_for::<api::EventsAppended>().to_value());
    all
}
