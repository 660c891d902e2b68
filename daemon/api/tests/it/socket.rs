//! WebSockets: handshake, roles, concurrency, slow readers, shutdown.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::json;

use crate::harness::{Harness, initialize, wait_until};

#[tokio::test]
async fn nothing_comes_before_initialize_and_it_comes_once() {
    let air = Harness::start();
    let mut client = air.websocket().await;
    let early = client.call("toy/echo", json!({ "text": "x" })).await;
    assert_eq!(early["error"]["data"]["code"], "rpc.not_initialized");
    client.send(r#"[{"jsonrpc":"2.0","id":"b","method":"toy/echo"}]"#).await;
    assert_eq!(client.next().await.unwrap()[0]["error"]["data"]["code"], "rpc.not_initialized");
    client.send("garbage").await;
    assert_eq!(client.next().await.unwrap()["error"]["code"], -32700);
    let wrong = client.call("initialize", json!({ "client": 7 })).await;
    assert_eq!(wrong["error"]["code"], -32602);
    let right = client.call("initialize", initialize("driver")).await;
    assert_eq!(right["result"]["server"]["name"], "aird");
    let again = client.call("initialize", initialize("driver")).await;
    assert_eq!(again["error"]["data"]["code"], "rpc.invalid_request");
    assert_eq!(client.call("toy/echo", json!({ "text": "x" })).await["result"]["text"], "x");
}

#[tokio::test]
async fn an_observer_is_held_to_its_role() {
    let air = Harness::start();
    let mut client = air.client("observer").await;
    let refused = client.call("toy/change", json!({ "text": "x" })).await;
    assert_eq!(refused["error"]["data"]["code"], "role.observer");
    assert!(!air.changed.load(Ordering::SeqCst));
}

#[tokio::test]
async fn a_call_that_waits_holds_up_no_other() {
    let air = Harness::with(|_| Ok(()), |limits| limits.calls = 2);
    let mut client = air.client("driver").await;
    client.begin("toy/forever", json!({})).await;
    assert_eq!(client.call("toy/echo", json!({ "text": "x" })).await["result"]["text"], "x");
    client.begin("toy/forever", json!({})).await;
    // Both places are taken: this one waits, and is not made when its client goes.
    client.begin("toy/change", json!({ "text": "x" })).await;
    let mut other = air.client("driver").await;
    other.call("toy/echo", json!({ "text": "x" })).await;
    assert!(!air.changed.load(Ordering::SeqCst));
    drop(client);
    wait_until("the calls end with their connection", || air.counters.clients.load(Ordering::SeqCst) == 1)
        .await;
    assert!(!air.changed.load(Ordering::SeqCst));
}

#[tokio::test]
async fn calls_beyond_what_may_wait_are_turned_away() {
    let air = Harness::with(|_| Ok(()), |limits| limits.calls = 1);
    let mut client = air.client("driver").await;
    for _ in 0..8 {
        client.begin("toy/forever", json!({})).await;
    }
    let shed = client.call("toy/change", json!({ "text": "x" })).await;
    assert_eq!(shed["error"]["data"]["code"], "rpc.overloaded");
}

#[tokio::test]
async fn a_stream_begins_after_its_answer_and_a_reader_gets_all_of_it() {
    let air = Harness::start();
    let mut client = air.client("observer").await;
    let id = client.begin("toy/flood", json!({ "count": 50 })).await;
    assert_eq!(client.next().await.unwrap()["id"], id);
    for n in 1..=50 {
        assert_eq!(client.next().await.unwrap()["params"]["n"], n);
    }
    assert_eq!(client.next().await.unwrap()["method"], "toy/done");
}

#[tokio::test]
async fn a_client_that_does_not_read_is_dropped_to_one_resync() {
    let air = Harness::start();
    let mut slow = air.client("observer").await;
    slow.begin("toy/flood", json!({ "count": 3_000 })).await;
    wait_until("the stream collapses", || air.counters.resyncs.load(Ordering::SeqCst) == 1).await;
    // While it is stalled, nothing more is queued for it and others are served.
    let mut other = air.client("observer").await;
    assert_eq!(other.call("toy/echo", json!({ "text": "x" })).await["result"]["text"], "x");
    assert_eq!(air.counters.resyncs.load(Ordering::SeqCst), 1);
    let (mut drops, mut resyncs, mut last) = (0, 0, 0);
    loop {
        let text = slow.next().await.unwrap();
        match text["method"].as_str() {
            Some("toy/drop") => {
                drops += 1;
                let n = text["params"]["n"].as_u64().unwrap();
                assert!(n > last, "{n} came after {last}");
                last = n;
            }
            Some("stream/resync") => resyncs += 1,
            Some("toy/done") => break,
            _ => {}
        }
    }
    assert!(resyncs >= 1 && drops < 3_000, "{resyncs} resyncs, {drops} drops");
}

#[tokio::test]
async fn a_client_that_reads_nothing_for_long_is_closed() {
    let air = Harness::with(|_| Ok(()), |limits| limits.stall = Duration::from_millis(50));
    let mut client = air.client("observer").await;
    client.begin("toy/flood", json!({ "count": 0 })).await;
    wait_until("the client is closed", || air.counters.clients.load(Ordering::SeqCst) == 0).await;
}

#[tokio::test]
async fn a_frame_that_is_too_large_ends_its_connection_only() {
    let air = Harness::with(|_| Ok(()), |limits| limits.body = 1 << 16);
    let mut client = air.client("driver").await;
    let mut other = air.client("driver").await;
    client.send("x".repeat((1 << 16) + 1)).await;
    assert_eq!(client.next().await, None);
    assert_eq!(other.call("toy/echo", json!({ "text": "x" })).await["result"]["text"], "x");
}

#[tokio::test]
async fn a_shutdown_cuts_waiting_calls_with_an_answer_and_closes() {
    let air = Harness::start();
    let mut client = air.client("driver").await;
    let id = client.begin("toy/forever", json!({})).await;
    client.call("toy/echo", json!({ "text": "x" })).await;
    let server = air.server.clone();
    let ends = server.shutdown(Duration::from_secs(5));
    let sees = async {
        let answer = client.next().await.unwrap();
        assert_eq!(
            (&answer["id"], &answer["error"]["data"]["code"]),
            (&json!(id), &json!("daemon.stopping"))
        );
        assert_eq!(client.next().await, None);
    };
    tokio::join!(ends, sees);
}
