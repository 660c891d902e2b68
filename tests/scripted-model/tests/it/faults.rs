//! Answers that go wrong.

use std::time::{Duration, Instant};

use crate::client::{Model, say};

#[test]
fn every_fault_of_the_example_plays() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/faults.yaml")).unwrap();
    let model = Model::start(&text);
    let next = || model.message(&say("", "x"));
    let limited = next();
    assert_eq!((limited.status, limited.head.contains("retry-after: 1\n")), (429, true));
    assert_eq!(limited.json()["error"]["type"], "rate_limit_error");
    let overloaded = next();
    assert_eq!((overloaded.status, overloaded.head.contains("x-should-retry: true")), (529, true));
    let page = next();
    assert_eq!((page.status, page.head.contains("text/html")), (502, true));
    assert_eq!(next().status, 0);
    let cut = next();
    assert_eq!((cut.status, cut.complete, cut.events().len()), (200, false, 4));
    let cut = next();
    assert_eq!((cut.complete, cut.body.len()), (false, 60));
    let stalled = next();
    assert_eq!(
        (stalled.complete, stalled.joined("text").as_str()),
        (true, "This answer stalls for a moment.")
    );
    let garbage = next();
    assert_eq!((garbage.complete, garbage.events().len()), (true, 3));
    assert!(garbage.body.contains("not an event"));
    let malformed = next();
    assert!(malformed.complete && malformed.body.contains("\"index\":0,\n\n"));
    assert_eq!(malformed.joined("text"), "This answer has a broken event.");
    let error = next();
    let (name, data) = error.events().pop().unwrap();
    assert_eq!((name.as_str(), data["error"]["type"].as_str()), ("error", Some("overloaded_error")));
    let invalid = next();
    assert_eq!(invalid.joined("partial_json"), r#"{"path": "a"#);
    assert_eq!(next().joined("partial_json"), r#"{"command":"true # 1"}"#);
}

#[test]
fn a_stall_lasts_until_the_client_goes_away() {
    let model = Model::start("turns:\n  - {reply: {text: hello}, fault: {stall_after_events: 4}}\n");
    let mut client = model.connect();
    client.post_and_read_until(&say("", "x"), "hello");
    assert!(!model.record().iter().any(|line| line["kind"] == "end"));
    drop(client);
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        if let Some(end) = model.record().into_iter().find(|line| line["kind"] == "end") {
            assert_eq!((&end["seq"], &end["complete"]), (&0.into(), &false.into()));
            return;
        }
        assert!(Instant::now() < deadline, "the end is recorded");
        std::thread::yield_now();
    }
}
