//! What an exchange does over time: retries, cancellation, reuse of connections, secrets.

use air_contracts::message::Message;
use air_contracts::provider::ProviderStreamEvent;
use futures_util::StreamExt;

use crate::fold::finish;
use crate::server::{After, Reply, Server, sse, streamed};
use crate::{complete, manager, manager_with, request, run};

const OVERLOADED: &str = r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;

fn hello() -> air_contracts::provider::ModelRequest {
    request(vec![Message::user("hi")])
}

fn refuse(status: &str, headers: &str, body: &str) -> Reply {
    Reply::sized(status, &format!("content-type: application/json\r\n{headers}"), body)
}

#[test]
fn a_transient_failure_before_the_first_content_is_retried() {
    let cut = "data: {\"type\":\"message_start\",\"message\":{\"id\":\"m0\"}}\n\n";
    let replies = vec![refuse("529 Overloaded", "", OVERLOADED), early_end(cut), streamed("third")];
    let server = Server::start(replies);
    let manager = manager_with(&server.url, |config| config.max_retries = Some(2));
    let events = complete(&manager, hello());
    assert_eq!(finish(&events).unwrap().message.plain_text(), "third");
    let starts =
        events.iter().filter(|event| matches!(event, ProviderStreamEvent::MessageStart { .. })).count();
    assert_eq!((starts, server.unseen()), (1, 3));
}

fn early_end(body: &str) -> Reply {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    Reply::raw(vec![format!("{head}{body}").into_bytes()])
}

#[test]
fn nothing_is_retried_that_must_not_be() {
    let partial = sse("shown").split_inclusive("\n\n").take(3).collect::<String>();
    let check = |first: Reply, code: &str, partial: bool| {
        let server = Server::start(vec![first, streamed("never")]);
        let manager = manager_with(&server.url, |config| config.max_retries = Some(3));
        let error = finish(&complete(&manager, hello())).unwrap_err();
        assert_eq!((error.error.code.as_str(), error.partial, server.unseen()), (code, partial, 1));
    };
    check(early_end(&partial), "provider.stream_interrupted", true);
    check(refuse("400 Bad", "", "{}"), "provider.invalid_request", false);
    check(refuse("429 Slow", "retry-after: 3600\r\n", "{}"), "provider.rate_limited", false);
    check(refuse("529 Overloaded", "x-should-retry: false\r\n", OVERLOADED), "provider.overloaded", false);
    check(refuse("307 Moved", "location: http://127.0.0.1:9/\r\n", ""), "provider.invalid_request", false);
}

#[test]
fn dropping_the_stream_closes_the_connection() {
    let mut pieces = early_end("").pieces;
    pieces.push(sse("x").split_inclusive("\n\n").take(3).collect::<String>().into_bytes());
    let server = Server::start(vec![Reply { pieces, after: After::Stall }]);
    run(async {
        let mut events = manager(&server.url).complete(&hello());
        while !matches!(events.next().await.unwrap(), ProviderStreamEvent::TextDelta { .. }) {}
        drop(events);
        // The connection is a task of this runtime; it has to run once to see that nobody reads it.
        tokio::task::spawn_blocking(move || server.wait_closed()).await.unwrap();
    });
}

#[test]
fn connections_are_reused() {
    let server = Server::start(vec![streamed("one"), streamed("two"), streamed("three")]);
    let manager = manager(&server.url);
    run(async {
        for _ in 0..3 {
            let mut events = manager.complete(&hello());
            // As a caller does that knows the end when it sees it.
            while !matches!(events.next().await.unwrap(), ProviderStreamEvent::Stop { .. }) {}
        }
    });
    let used: Vec<usize> = (0..3).map(|_| server.request().connection).collect();
    assert_eq!(used, [0, 0, 0]);
}

#[test]
fn the_key_travels_in_one_header_and_nowhere_else() {
    let body = r#"{"error":{"type":"authentication_error","message":"bad key sk-test-secret"}}"#;
    let server = Server::start(vec![refuse("401 No", "", body)]);
    let manager = manager(&server.url);
    let error = finish(&complete(&manager, hello())).unwrap_err();
    let seen = server.request();
    assert_eq!(seen.line, "POST /v1/messages HTTP/1.1");
    assert_eq!(seen.header("x-api-key"), Some("sk-test-secret"));
    assert_eq!(seen.header("anthropic-version"), Some("2023-06-01"));
    assert!(seen.header("user-agent").unwrap().starts_with("aircoding/"));
    let shown = format!("{error:?} {manager:?} {:?} {}", manager.statuses(), seen.body);
    assert!(!shown.contains("sk-test-secret"), "{shown}");
}

#[test]
fn a_server_that_is_not_there_is_a_network_error() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    for scheme in ["http", "https"] {
        let error = finish(&complete(&manager(&format!("{scheme}://{address}")), hello())).unwrap_err();
        assert_eq!((error.error.code.as_str(), error.partial), ("provider.network", false));
        assert!(!error.error.message.contains(&address.port().to_string()), "{}", error.error.message);
    }
}

#[test]
fn check_lists_models_and_asks_one() {
    let page = |id: &str, more: bool| {
        let body =
            format!(r#"{{"data":[{{"id":"{id}","display_name":"M"}}],"has_more":{more},"last_id":"{id}"}}"#);
        refuse("200 OK", "", &body)
    };
    let count = refuse("200 OK", "", r#"{"input_tokens":42}"#);
    let server =
        Server::start(vec![page("claude-a", true), page("claude-b", false), streamed("ready"), count]);
    let manager = manager(&server.url);
    let found = run(manager.check("anthropic")).unwrap();
    assert_eq!(found.listed.unwrap(), ["claude-a", "claude-b"]);
    assert_eq!((found.key_source.as_str(), found.usage.input_tokens), ("TEST_KEY", Some(10)));
    assert!(manager.statuses()[0].models.contains(&"claude-b".to_owned()));
    assert_eq!(run(manager.count_tokens(&hello())).unwrap(), 42);
    let lines: Vec<String> = (0..4).map(|_| server.request().line).collect();
    assert_eq!(lines[1], "GET /v1/models?limit=1000&after_id=claude-a HTTP/1.1");
    assert_eq!(lines[3], "POST /v1/messages/count_tokens HTTP/1.1");
}
