//! Calls by POST, the other endpoints, and what is not HTTP at all.

use std::sync::atomic::Ordering;

use air_contracts::AirError;
use air_contracts::error::codes;
use serde_json::{Value, json};

use crate::harness::{Harness, initialize};

fn call(method: &str, params: Value) -> String {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string()
}

#[tokio::test]
async fn calls_answer_and_errors_name_what_is_wrong() {
    let air = Harness::start();
    let check = async |headers: &str, body: String, status: u16, code: i64, name: &str, text: &str| {
        let (got, answer) = air.post(headers, &body).await;
        assert_eq!(got, status, "{body}: {answer}");
        assert_eq!(answer["error"]["code"], code, "{answer}");
        assert_eq!(answer["error"]["data"]["code"], name, "{answer}");
        assert!(answer.to_string().contains(text), "{answer} does not say {text}");
    };
    let (status, answer) = air.post("", &call("toy/echo", json!({ "text": "hé" }))).await;
    assert_eq!((status, &answer["result"]["text"]), (200, &json!("hé")));
    let (status, answer) = air.post("", &call("initialize", initialize("driver"))).await;
    assert_eq!((status, &answer["result"]["protocol_version"]), (200, &json!(1)));

    check("", call("toy/ecko", json!({})), 200, -32601, "rpc.method_not_found", "did you mean toy/echo?")
        .await;
    check(
        "",
        call("toy/echo", json!({ "text": 7 })),
        200,
        -32602,
        "rpc.invalid_params",
        "toy/echo: text: invalid type",
    )
    .await;
    check("", call("toy/echo", json!({})), 200, -32602, "rpc.invalid_params", "missing field `text`").await;
    check("", call("toy/echo", json!(["x"])), 200, -32602, "rpc.invalid_params", "by name").await;
    check("", call("toy/fails", json!({})), 200, -32000, "task.not_found", "air tasks").await;
    check("", call("toy/panics", json!({})), 200, -32603, "internal", "toy/panics").await;
    check("", call("toy/flood", json!({ "count": 1 })), 200, -32600, "rpc.invalid_request", "WebSocket")
        .await;
    check("", "{".into(), 200, -32700, "rpc.parse", "not JSON").await;
    check("X-Air-Role: boss\r\n", call("toy/fails", json!({})), 400, -32600, "rpc.invalid_request", "boss")
        .await;
    let old = json!({ "client": { "name": "old air", "version": "0" }, "protocol_version": 99 });
    check("", call("initialize", old), 200, -32000, "rpc.protocol_version", "old air").await;
}

#[tokio::test]
async fn a_batch_is_answered_whole_and_notifications_are_not() {
    let air = Harness::start();
    let batch = json!([
        { "jsonrpc": "2.0", "id": "a", "method": "toy/echo", "params": { "text": "1" } },
        { "jsonrpc": "2.0", "method": "toy/change", "params": { "text": "2" } },
        { "jsonrpc": "2.0", "id": "b", "method": "toy/fails" },
        7,
    ]);
    let (status, answer) = air.post("", &batch.to_string()).await;
    assert_eq!((status, answer.as_array().map(Vec::len)), (200, Some(3)), "{answer}");
    assert_eq!(answer[0]["result"]["text"], "1");
    assert_eq!(
        (&answer[1]["id"], &answer[1]["error"]["data"]["code"]),
        (&json!("b"), &json!("task.not_found"))
    );
    assert_eq!((&answer[2]["id"], &answer[2]["error"]["code"]), (&Value::Null, &json!(-32600)));
    assert!(air.changed.load(Ordering::SeqCst), "the notification was not carried out");
    let silent = r#"{"jsonrpc":"2.0","method":"toy/echo","params":{"text":"x"}}"#;
    assert_eq!(air.post("", silent).await, (204, Value::Null));
}

#[tokio::test]
async fn an_observer_only_looks() {
    let air = Harness::start();
    let observer = "X-Air-Role: observer\r\n";
    let (_, answer) = air.post(observer, &call("toy/change", json!({ "text": "" }))).await;
    assert_eq!(answer["error"]["data"]["code"], "role.observer");
    assert!(!air.changed.load(Ordering::SeqCst));
    let (_, answer) = air.post(observer, &call("toy/echo", json!({ "text": "x" }))).await;
    assert_eq!(answer["result"]["text"], "x");
}

#[tokio::test]
async fn what_is_too_large_too_long_or_not_http_harms_nobody() {
    let air = Harness::with(|_| Ok(()), |limits| limits.call = std::time::Duration::from_millis(50));
    let (status, answer) = air.post("", &"x".repeat((4 << 20) + 1)).await;
    // The server may close before it has taken the whole body; the answer is there all the same.
    assert!(
        status == 413 && answer["error"]["data"]["code"] == "rpc.body_too_large" || status == 0,
        "{status} {answer}"
    );
    let (_, answer) = air.post("", &call("toy/forever", json!({}))).await;
    assert_eq!(answer["error"]["data"]["code"], "rpc.timeout");
    for garbage in [&b"\x00\xff\x16\x03\x01garbage\r\n\r\n"[..], b"hello\n\n", &vec![b'a'; 1 << 20]] {
        let answer = air.raw(garbage).await;
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer}");
    }
    drop(air.connect().await);
    let (status, _) = air.post("", &call("toy/echo", json!({ "text": "x" }))).await;
    assert_eq!(status, 200);
}

#[tokio::test]
async fn health_metrics_and_unknown_endpoints() {
    let air = Harness::start();
    assert!(air.get("/healthz").await.contains(r#""status":"ok""#));
    let metrics = air.get("/metrics").await;
    assert!(metrics.contains("air_api_connections 1") && metrics.contains("air_toy 1"), "{metrics}");
    for path in ["/moon", "/rpc"] {
        let answer = air.get(path).await;
        assert!(answer.starts_with("HTTP/1.1 40") && answer.contains("rpc.invalid_request"), "{answer}");
    }
}

#[tokio::test]
async fn a_refused_peer_is_told_why() {
    let me = std::process::id();
    let refuse = move |peer: air_api::Peer| {
        assert_eq!(peer.pid, me);
        Err(AirError::new(codes::PEER_REFUSED, "a command that aird runs may not call it"))
    };
    let air = Harness::with(refuse, |_| {});
    let (status, answer) = air.post("", &call("toy/change", json!({ "text": "" }))).await;
    assert_eq!((status, &answer["error"]["data"]["code"]), (403, &json!("peer.refused")));
    assert!(air.get("/healthz").await.starts_with("HTTP/1.1 403"));
    let upgraded = tokio_tungstenite::client_async("ws://air/rpc", air.connect().await).await;
    assert!(upgraded.is_err());
    assert!(!air.changed.load(Ordering::SeqCst));
}

#[tokio::test]
async fn too_many_connections_are_turned_away_and_places_come_back() {
    let air = Harness::with(|_| Ok(()), |limits| limits.connections = 1);
    let client = air.client("driver").await;
    let (status, answer) = air.post("", &call("toy/echo", json!({ "text": "x" }))).await;
    assert_eq!((status, &answer["error"]["data"]["code"]), (503, &json!("rpc.overloaded")));
    drop(client);
    crate::harness::wait_until("the place comes back", || air.counters.clients.load(Ordering::SeqCst) == 0)
        .await;
    let mut status = 503;
    while status == 503 {
        status = air.post("", &call("toy/echo", json!({ "text": "x" }))).await.0;
    }
    assert_eq!(status, 200);
}
