//! Connections, routes and the playing of answers.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};

use crate::answer::{Answer, error, event};
use crate::fault::{Break, Fault, Place, usual};
use crate::http::{Connection, HttpRequest, LAST_CHUNK, ReadError, answer_head, chunk};
use crate::minted;
use crate::record::{EndLine, Recorder, RequestLine, now_ms};
use crate::request::{Request, View};
use crate::scenario::{Reply, Scenario, Turn};
use crate::script::{Play, Script};
use crate::validate::refusal;

const AT_END: &str = "script is at its end";
/// Headers that hold keys.
const SECRET: [&str; 4] = ["x-api-key", "authorization", "api-key", "cookie"];

struct Server {
    script: RefCell<Script>,
    recorder: Recorder,
    count: Cell<u64>,
}

/// What is sent for one request.
enum Response {
    Whole { status: u16, headers: Vec<(String, String)>, body: String },
    Steps { delay_ms: u64, head: Vec<u8>, steps: Vec<Step>, end: End },
    Drop,
}

enum Step {
    Send(Vec<u8>),
    Wait(u64),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    KeepAlive,
    Close,
    /// Silence until the client goes away.
    Stall,
}

/// Serves connections until the listener fails. To be run on a current-thread runtime, inside a
/// `LocalSet`: the script is one, and requests are answered in the order in which they are whole.
pub async fn serve(listener: TcpListener, scenario: Scenario, recorder: Recorder) -> std::io::Result<()> {
    let script = RefCell::new(Script::new(scenario));
    let server = Rc::new(Server { script, recorder, count: Cell::new(0) });
    loop {
        let (stream, _) = listener.accept().await?;
        let server = Rc::clone(&server);
        tokio::task::spawn_local(async move { server.connection(stream).await });
    }
}

impl Server {
    async fn connection(&self, stream: TcpStream) {
        // Without it, events would wait for acknowledgements of those before them.
        let _ = stream.set_nodelay(true);
        let mut connection = Connection::new(stream);
        loop {
            let request = match connection.request().await {
                Ok(request) => request,
                Err(ReadError::Closed) => return,
                Err(ReadError::Bad(status)) => {
                    let (kind, message) = usual(status);
                    let _ = send_whole(&mut connection, status, &[], &error(kind, message).to_string()).await;
                    return;
                }
            };
            let seq = self.count.replace(self.count.get() + 1);
            let response = self.respond(seq, &request);
            let outcome = send(&mut connection, response).await;
            let complete = outcome.is_ok();
            self.recorder.write(&EndLine { kind: "end", seq, at_ms: now_ms(), complete });
            if !outcome.is_ok_and(|keep| keep) || request.wants_close() {
                return;
            }
        }
    }

    fn respond(&self, seq: u64, request: &HttpRequest) -> Response {
        let scenario_key = self.script.borrow().scenario().require_key.clone();
        let bearer = request.header("authorization").and_then(|value| value.strip_prefix("Bearer "));
        let key = request.header("x-api-key").or(bearer);
        let mut play = None;
        let response = if scenario_key.is_some() && scenario_key.as_deref() != key {
            refuse(401, None)
        } else {
            match (request.method.as_str(), request.path.as_str()) {
                ("POST", "/v1/messages") => self.message(&request.body, &mut play),
                ("POST", "/v1/messages/count_tokens") => count_tokens(&request.body),
                ("GET", "/v1/models") => self.models(),
                _ => refuse(404, None),
            }
        };
        self.record(seq, request, &response, play.as_ref());
        response
    }

    fn message(&self, body: &[u8], play: &mut Option<Play>) -> Response {
        let request: Request<'_> = match serde_json::from_slice(body) {
            Ok(request) => request,
            Err(error) => return refuse(400, Some(&error.to_string())),
        };
        let mut script = self.script.borrow_mut();
        if script.scenario().strict
            && let Some(problem) = refusal(&request)
        {
            return refuse(400, Some(&problem));
        }
        let view = View::of(&request);
        let played = play.insert(script.next(&view));
        let at_end = Reply { text: Some(AT_END.to_owned()), ..Reply::default() };
        let (reply, fault) = match &played.turn {
            Some(Turn { reply, fault, .. }) => (reply, fault.as_ref()),
            None => (&at_end, None),
        };
        let answer = Answer::new(reply, &view, body.len());
        match fault {
            Some(Fault::Drop) => Response::Drop,
            Some(Fault::Refuse { status, kind, message, headers, body }) => {
                refuse_as(*status, kind, message, headers, body.as_deref())
            }
            Some(Fault::Break { place, how }) => steps(reply, &answer, request.stream, Some((*place, how))),
            None => steps(reply, &answer, request.stream, None),
        }
    }

    fn models(&self) -> Response {
        let entry = |id: &String| json!({"type": "model", "id": id, "display_name": id, "created_at": "2026-01-01T00:00:00Z"});
        let script = self.script.borrow();
        let models = &script.scenario().models;
        let data: Vec<Value> = models.iter().map(entry).collect();
        let list =
            json!({"data": data, "has_more": false, "first_id": models.first(), "last_id": models.last()});
        json_body(200, list.to_string())
    }

    fn record(&self, seq: u64, request: &HttpRequest, response: &Response, play: Option<&Play>) {
        let shown = request.headers.iter().filter(|(name, _)| !SECRET.contains(&name.as_str()));
        let headers: Map<String, Value> = shown.map(|(name, value)| (name.clone(), json!(value))).collect();
        let status = match response {
            Response::Whole { status, .. } => *status,
            Response::Steps { .. } => 200,
            Response::Drop => 0,
        };
        let Some(body) = raw(&request.body) else { return };
        self.recorder.write(&RequestLine {
            kind: "request",
            seq,
            at_ms: now_ms(),
            method: &request.method,
            path: &request.path,
            headers,
            body: &body,
            agent: play.map(|play| play.agent.as_str()),
            turn: play.and_then(|play| play.index),
            status,
        });
    }
}

/// A body as it stands in a line: JSON on one line as it came, else parsed, else as a text.
fn raw(body: &[u8]) -> Option<Box<RawValue>> {
    let text = String::from_utf8_lossy(body);
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return RawValue::from_string("null".to_owned()).ok();
    }
    if !trimmed.contains('\n')
        && let Ok(value) = RawValue::from_string(trimmed.to_owned())
    {
        return Some(value);
    }
    let value = serde_json::from_str(trimmed).unwrap_or_else(|_| json!(trimmed));
    RawValue::from_string(value.to_string()).ok()
}

fn count_tokens(body: &[u8]) -> Response {
    match serde_json::from_slice::<Request<'_>>(body) {
        Ok(_) => json_body(200, json!({"input_tokens": body.len() / 4 + 1}).to_string()),
        Err(error) => refuse(400, Some(&error.to_string())),
    }
}

fn json_body(status: u16, body: String) -> Response {
    Response::Whole {
        status,
        headers: vec![("content-type".to_owned(), "application/json".to_owned())],
        body,
    }
}

fn refuse(status: u16, message: Option<&str>) -> Response {
    let (kind, usual) = usual(status);
    json_body(status, error(kind, message.unwrap_or(usual)).to_string())
}

fn refuse_as(
    status: u16,
    kind: &str,
    message: &str,
    headers: &BTreeMap<String, String>,
    body: Option<&str>,
) -> Response {
    let media_type = if body.is_some() { "text/html" } else { "application/json" };
    let mut all = vec![("content-type".to_owned(), media_type.to_owned())];
    all.extend(headers.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.clone())));
    let body = body.map_or_else(|| error(kind, message).to_string(), str::to_owned);
    Response::Whole { status, headers: all, body }
}

/// The steps of a reply, with its break. A reply that is not streamed has one event, its document.
fn steps(reply: &Reply, answer: &Answer, stream: bool, fault: Option<(Place, &Break)>) -> Response {
    let (media_type, mut events) = if stream {
        ("text/event-stream; charset=utf-8", answer.events())
    } else {
        ("application/json", vec![answer.document()])
    };
    let mut pause = None;
    let mut end = End::KeepAlive;
    match fault {
        Some((Place::Bytes(count), _)) => {
            events = first_bytes(&events, count);
            end = End::Close;
        }
        Some((Place::Events(count), how)) => {
            let count = count.min(events.len());
            match how {
                Break::Cut => end = End::Close,
                Break::Stall(None) => end = End::Stall,
                Break::Stall(Some(ms)) => pause = Some((count, *ms)),
                Break::Garbage | Break::Malformed | Break::Error { .. } => {}
            }
            if !matches!(how, Break::Malformed | Break::Stall(Some(_))) {
                events.truncate(count);
            }
            events.splice(count..count, instead(how));
        }
        None => {}
    }
    let mut steps = Vec::new();
    let mut bytes = Vec::new();
    for (index, text) in events.iter().enumerate() {
        let wait = pause.filter(|(at, _)| *at == index).map_or(0, |(_, ms)| ms) + reply.piece_delay_ms;
        if wait > 0 {
            steps.push(Step::Send(std::mem::take(&mut bytes)));
            steps.push(Step::Wait(wait));
        }
        chunk(text.as_bytes(), &mut bytes);
    }
    if end == End::KeepAlive {
        bytes.extend_from_slice(LAST_CHUNK);
    }
    steps.push(Step::Send(bytes));
    let id = minted::id("req");
    let headers = [
        ("content-type", media_type),
        ("cache-control", "no-cache"),
        ("request-id", id.as_str()),
        ("transfer-encoding", "chunked"),
    ];
    Response::Steps { delay_ms: reply.delay_ms, head: answer_head(200, &headers), steps, end }
}

/// The events that a break puts into the reply.
fn instead(how: &Break) -> Option<String> {
    match how {
        Break::Cut | Break::Stall(_) => None,
        Break::Garbage => Some("\u{1}\u{2}<<< not an event >>>\r\n}{][\n\n".to_owned()),
        Break::Malformed => Some(
            "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\n\n".to_owned(),
        ),
        Break::Error { kind, message } => Some(event("error", &error(kind, message))),
    }
}

fn first_bytes(events: &[String], count: usize) -> Vec<String> {
    let all = events.concat();
    // Not inside a character: the pieces are texts here.
    let end = (0..=count.min(all.len())).rev().find(|at| all.is_char_boundary(*at)).unwrap_or(0);
    if end == 0 { Vec::new() } else { vec![all[..end].to_owned()] }
}

/// Sends an answer. Returns whether the connection can go on.
async fn send(connection: &mut Connection, response: Response) -> std::io::Result<bool> {
    match response {
        Response::Drop => Ok(false),
        Response::Whole { status, headers, body } => {
            let headers: Vec<(&str, &str)> = headers.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
            send_whole(connection, status, &headers, &body).await?;
            Ok(true)
        }
        Response::Steps { delay_ms, head, steps, end } => {
            if delay_ms > 0 {
                tokio::time::sleep(Duration::from_millis(delay_ms)).await;
            }
            let mut pending = head;
            for step in steps {
                match step {
                    Step::Send(bytes) => {
                        pending.extend_from_slice(&bytes);
                        connection.stream.write_all(&pending).await?;
                        pending.clear();
                    }
                    Step::Wait(ms) => tokio::time::sleep(Duration::from_millis(ms)).await,
                }
            }
            match end {
                End::KeepAlive => Ok(true),
                End::Close => Ok(false),
                End::Stall => {
                    connection.closed().await;
                    Err(std::io::ErrorKind::ConnectionAborted.into())
                }
            }
        }
    }
}

async fn send_whole(
    connection: &mut Connection,
    status: u16,
    headers: &[(&str, &str)],
    body: &str,
) -> std::io::Result<()> {
    let length = body.len().to_string();
    let id = minted::id("req");
    let mut all = vec![("content-length", length.as_str()), ("request-id", id.as_str())];
    all.extend_from_slice(headers);
    let mut bytes = answer_head(status, &all);
    bytes.extend_from_slice(body.as_bytes());
    connection.stream.write_all(&bytes).await
}
