//! The wire, as it is committed: the schema of everything, and an example of each message.
//!
//! The examples are made from the schema. Each must be taken by its type and come back unchanged, so
//! schema and serde cannot drift apart; and it must equal the committed one, so that no change of the
//! wire goes unseen. `AIR_BLESS=1` writes the files anew.

#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "schema/sample.rs"]
mod sample;

use std::path::{Path, PathBuf};

use air_contracts::api;
use air_contracts::event::{EphemeralEvent, EventBody, RuntimeEvent};
use air_contracts::ipc::{ParentMessage, WorkerMessage};
use air_contracts::schema;
use sample::Sampler;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Compares with a committed file, or writes it.
fn check_file(name: &str, value: &Value) {
    let path = file(name);
    let text = serde_json::to_string_pretty(value).unwrap() + "\n";
    if std::env::var_os("AIR_BLESS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    if let Some((n, (old, new))) =
        committed.lines().zip(text.lines()).enumerate().find(|(_, (old, new))| old != new)
    {
        panic!("{name}:{}: committed {old:?}, now {new:?}. AIR_BLESS=1 takes it over", n + 1);
    }
    assert_eq!(committed.len(), text.len(), "{name} has another length. AIR_BLESS=1 takes it over");
}

fn reread<T: Serialize + DeserializeOwned>(what: &str, value: &Value) {
    let typed: T =
        serde_json::from_value(value.clone()).unwrap_or_else(|error| panic!("{what}: {error} in {value}"));
    assert_eq!(&serde_json::to_value(typed).unwrap(), value, "{what} comes back changed");
}

#[test]
fn the_schema_is_the_one_that_is_committed() {
    check_file("../docs/schema.json", &schema::all());
}

#[test]
fn every_event_is_taken_and_comes_back() {
    let schema = schema::all();
    let sampler = Sampler::new(&schema);
    let mut golden = Map::new();
    for (kind, version) in EventBody::TYPES {
        let payload = &schema["events"][kind];
        let full = sampler.full(payload);
        let body =
            EventBody::parse(kind, *version, full.clone()).unwrap_or_else(|error| panic!("{kind}: {error}"));
        assert_eq!(body.kind(), *kind, "{kind} is not known");
        let back: Value = serde_json::from_str(&body.payload_json().unwrap()).unwrap();
        assert_eq!(back, full, "{kind} comes back changed");
        let least = sampler.least(payload);
        let body = EventBody::parse(kind, *version, least)
            .unwrap_or_else(|error| panic!("the least {kind}: {error}"));
        assert!(!matches!(body, EventBody::Unknown { .. }));
        golden.insert((*kind).to_owned(), full);
    }
    let envelope = sampler.full(&schema["event"]);
    reread::<RuntimeEvent>("the envelope", &envelope);
    let ephemeral = variants::<EphemeralEvent>("ephemeral", &sampler, &schema["ephemeral_events"]);
    check_file(
        "tests/golden/events.json",
        &json!({ "envelope": envelope, "payloads": golden, "ephemeral": ephemeral }),
    );
}

#[test]
fn every_method_is_taken_and_comes_back() {
    let schema = schema::all();
    let sampler = Sampler::new(&schema);
    let mut golden = Map::new();
    for (name, _) in api::METHODS {
        let method = &schema["methods"][name];
        let (params, result) = (sampler.full(&method["params"]), sampler.full(&method["result"]));
        let back = api::reread(name, params.clone(), result.clone()).expect("a method");
        let back = back.unwrap_or_else(|error| panic!("{name}: {error} in {params} or {result}"));
        assert_eq!(back, (params.clone(), result.clone()), "{name} comes back changed");
        let (least_params, least_result) =
            (sampler.least(&method["params"]), sampler.least(&method["result"]));
        api::reread(name, least_params, least_result)
            .unwrap()
            .unwrap_or_else(|error| panic!("the least {name}: {error}"));
        golden.insert((*name).to_owned(), json!({ "params": params, "result": result }));
    }
    let mut notifications = Map::new();
    for (name, notification) in schema["notifications"].as_object().unwrap() {
        notifications.insert(name.clone(), sampler.full(notification));
    }
    reread::<api::ProjectionChanged>(api::PROJECTION_CHANGED, &notifications[api::PROJECTION_CHANGED]);
    reread::<api::StreamDelta>(api::STREAM_DELTA, &notifications[api::STREAM_DELTA]);
    reread::<api::StreamResync>(api::STREAM_RESYNC, &notifications[api::STREAM_RESYNC]);
    reread::<api::EventsAppended>(api::EVENTS_APPENDED, &notifications[api::EVENTS_APPENDED]);
    let error = sampler.full(&schema["error"]);
    reread::<api::RpcError>("error", &error);
    check_file(
        "tests/golden/methods.json",
        &json!({ "methods": golden, "notifications": notifications, "error": error }),
    );
}

#[test]
fn every_message_of_a_worker_is_taken_and_comes_back() {
    let schema = schema::all();
    let sampler = Sampler::new(&schema);
    let parent = variants::<ParentMessage>("parent", &sampler, &schema["ipc"]["parent"]);
    let worker = variants::<WorkerMessage>("worker", &sampler, &schema["ipc"]["worker"]);
    check_file("tests/golden/ipc.json", &json!({ "parent": parent, "worker": worker }));
}

/// An example of each variant of an enum.
fn variants<T: Serialize + DeserializeOwned>(
    what: &str,
    sampler: &Sampler<'_>,
    schema: &Value,
) -> Vec<Value> {
    let all = sampler.variants(schema);
    assert!(!all.is_empty(), "{what} has no variants");
    for one in &all {
        reread::<T>(what, one);
    }
    all
}

#[test]
fn every_reference_leads_somewhere() {
    fn walk(value: &Value, schema: &Value) {
        match value {
            Value::Object(object) => {
                if let Some(reference) = object.get("$ref").and_then(Value::as_str) {
                    let pointer = reference.strip_prefix('#').expect("a reference inside");
                    assert!(schema.pointer(pointer).is_some(), "{reference} leads nowhere");
                }
                object.values().for_each(|value| walk(value, schema));
            }
            Value::Array(items) => items.iter().for_each(|value| walk(value, schema)),
            _ => {}
        }
    }
    let schema = schema::all();
    walk(&schema, &schema);
}
