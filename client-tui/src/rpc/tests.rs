//! The client against a server of the test, over a real socket.

use air_contracts::AirError;
use air_contracts::api::{ClientRole, DraftGet, PROTOCOL_VERSION, RpcError, SessionRefParams, StreamResync};
use air_contracts::error::codes;
use air_contracts::ids::{ProjectId, SessionId};
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::UnixStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;

use super::{FakeClient, Identity, Notification, ProjectionClient as _, ProjectionClientExt as _, RpcClient};

struct Server(WebSocketStream<UnixStream>);

impl Server {
    async fn call(&mut self) -> Value {
        let message = self.0.next().await.unwrap().unwrap();
        serde_json::from_str(message.to_text().unwrap()).unwrap()
    }

    async fn send(&mut self, message: Value) {
        self.0.send(Message::text(message.to_string())).await.unwrap();
    }
}

fn identity() -> Identity {
    Identity {
        name: "test".into(),
        version: "0.1.0".into(),
        place: "here".into(),
        role: ClientRole::Observer,
    }
}

/// Both ends, the client initialised by an answer with this protocol version.
async fn pair(version: u32) -> (air_contracts::Result<RpcClient>, Server) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let server = async {
        let mut server = Server(tokio_tungstenite::accept_async(theirs).await.unwrap());
        let hello = server.call().await;
        assert_eq!((&hello["method"], &hello["params"]["role"]), (&json!("initialize"), &json!("observer")));
        let result = json!({
            "server": { "name": "aird", "version": "0.2.0", "pid": 7 }, "protocol_version": version,
            "instance_id": "instance_00000000-0000-0000-0000-000000000001",
        });
        server.send(json!({ "jsonrpc": "2.0", "id": hello["id"], "result": result })).await;
        server
    };
    let who = identity();
    tokio::join!(RpcClient::over(ours, &who), server)
}

fn session() -> SessionRefParams {
    SessionRefParams { project_id: ProjectId::from_uuid(Default::default()), session: "latest".into() }
}

#[tokio::test]
async fn answers_find_their_calls_in_any_order() {
    let (client, mut server) = pair(PROTOCOL_VERSION).await;
    let client = client.unwrap();
    assert_eq!(client.server().server.version, "0.2.0");
    let serve = async {
        let (first, second) = (server.call().await, server.call().await);
        server.send(json!({ "jsonrpc": "2.0", "id": second["id"], "result": { "text": "second" } })).await;
        let error =
            RpcError::new(&AirError::new(codes::SESSION_NOT_FOUND, "no session").hint("air sessions"));
        server.send(json!({ "jsonrpc": "2.0", "id": first["id"], "error": error })).await;
    };
    let (first, second, ()) =
        tokio::join!(client.call::<DraftGet>(session()), client.call::<DraftGet>(session()), serve);
    let error = first.unwrap_err();
    assert_eq!(
        (error.code.as_str(), error.hints.as_slice()),
        (codes::SESSION_NOT_FOUND, &["air sessions".to_owned()][..])
    );
    assert_eq!(second.unwrap().text, "second");
}

#[tokio::test]
async fn a_slow_reader_of_notifications_loses_some_and_is_told() {
    let (client, mut server) = pair(PROTOCOL_VERSION).await;
    let client = client.unwrap();
    let session_id = SessionId::from_uuid(Default::default());
    let resync = |seq: u64| json!({ "jsonrpc": "2.0", "method": "stream/resync", "params": { "session_id": session_id, "seq": seq } });
    let answered = async {
        for seq in 0..super::notification::QUEUE as u64 + 50 {
            server.send(resync(seq)).await;
        }
        let call = server.call().await;
        server.send(json!({ "jsonrpc": "2.0", "id": call["id"], "result": { "text": "" } })).await;
        server
    };
    // A call is answered although nobody reads the notifications.
    let (draft, mut server) = tokio::join!(client.call::<DraftGet>(session()), answered);
    assert!(draft.is_ok());
    let mut notifications = client.take_notifications().unwrap();
    assert!(client.take_notifications().is_none(), "one reader");
    assert_eq!(
        notifications.next().await,
        Some(Notification::StreamResync(StreamResync { session_id, seq: 0 }))
    );
    server.send(resync(9999)).await;
    drop(server);
    let mut rest = Vec::new();
    while let Some(one) = notifications.next().await {
        rest.push(one);
    }
    assert!(rest.contains(&Notification::Lagged), "it was not told");
}

#[tokio::test]
async fn a_goodbye_and_a_broken_connection_are_different_errors() {
    let (client, mut server) = pair(PROTOCOL_VERSION).await;
    let client = client.unwrap();
    let serve = async {
        server.call().await;
        server.0.close(None).await.unwrap();
    };
    let (draft, ()) = tokio::join!(client.call::<DraftGet>(session()), serve);
    assert_eq!(draft.unwrap_err().code, codes::DAEMON_STOPPING);

    let (client, mut server) = pair(PROTOCOL_VERSION).await;
    let client = client.unwrap();
    let serve = async move {
        server.call().await;
        drop(server);
    };
    let (draft, ()) = tokio::join!(client.call::<DraftGet>(session()), serve);
    assert_eq!(draft.unwrap_err().code, codes::DAEMON_UNREACHABLE);
    assert_eq!(client.call::<DraftGet>(session()).await.unwrap_err().code, codes::DAEMON_UNREACHABLE);
}

#[tokio::test]
async fn another_protocol_is_refused_with_the_way_out() {
    let (client, _server) = pair(PROTOCOL_VERSION + 1).await;
    let error = client.unwrap_err();
    assert_eq!(error.code, codes::DAEMON_VERSION);
    assert_eq!(error.hints[0], "air daemon restart");
}

#[tokio::test]
async fn the_fake_answers_as_it_was_told() {
    let fake = FakeClient::new().on::<DraftGet>(|params| {
        assert_eq!(params.session, "latest");
        Ok(air_contracts::api::Draft { text: "half a thought".into() })
    });
    assert_eq!(fake.call::<DraftGet>(session()).await.unwrap().text, "half a thought");
    assert_eq!(fake.calls()[0].0, "draft/get");
    let unknown = fake.call_value("moon/rise", Value::Null).await.unwrap_err();
    assert_eq!(unknown.code, codes::RPC_METHOD_NOT_FOUND);
    let mut notifications = fake.take_notifications().unwrap();
    assert!(fake.notifier().send(Notification::Lagged));
    assert_eq!(notifications.next().await, Some(Notification::Lagged));
}
