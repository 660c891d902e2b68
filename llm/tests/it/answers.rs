//! The answer cases, over a socket.

use air_contracts::message::Message;
use serde_json::Value;

use crate::fold::fold;
use crate::server::{Reply, Server};
use crate::{cases, complete, manager, request};

fn reply(case: &Value) -> Reply {
    let status = &case["status"];
    let mut head = format!("HTTP/1.1 {status} Status\r\nconnection: close\r\n");
    for (name, value) in case["headers"].as_object().unwrap() {
        head.push_str(&format!("{name}: {}\r\n", value.as_str().unwrap()));
    }
    head.push_str("\r\n");
    let mut pieces = vec![head.into_bytes()];
    for chunk in case["chunks"].as_array().unwrap() {
        let bytes = chunk.as_str().unwrap().as_bytes();
        let size = if case["deliver"] == "every_byte" { 1 } else { bytes.len().max(1) };
        pieces.extend(bytes.chunks(size).map(<[u8]>::to_vec));
    }
    Reply::raw(pieces)
}

#[test]
fn answers_decode_as_the_cases_say() {
    let pauses = |case: &Value| case["chunks"].as_array().unwrap().iter().any(Value::is_object);
    let mut wrong = Vec::new();
    let mut count = 0;
    for case in cases().iter().filter(|case| case["chunks"].is_array() && !pauses(case)) {
        count += 1;
        let server = Server::start(vec![reply(case)]);
        let mut found = fold(&complete(&manager(&server.url), request(vec![Message::user("hi")])));
        let expected = case["expect"]["events"].as_array().unwrap();
        if !expected.iter().any(|event| event["type"] == "usage") {
            found.retain(|event| event["type"] != "usage");
        }
        if &found != expected {
            wrong.push(format!("{}\n  expected {expected:?}\n  found    {found:?}", case["id"]));
        }
    }
    assert!(count > 30, "{count} cases");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
