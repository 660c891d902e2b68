//! A server that reads requests whole and answers each with the next list of byte pieces.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use serde_json::Value;

/// What a server does after the pieces of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum After {
    Close,
    KeepAlive,
    /// Sends nothing more and tells when the client closes.
    Stall,
}

#[derive(Debug, Clone)]
pub struct Reply {
    pub pieces: Vec<Vec<u8>>,
    pub after: After,
}

impl Reply {
    pub fn raw(pieces: Vec<Vec<u8>>) -> Self {
        Self { pieces, after: After::Close }
    }

    /// A whole answer with a length, so that the connection can stay.
    pub fn sized(status: &str, headers: &str, body: &str) -> Self {
        let text = format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n{body}", body.len());
        Self { pieces: vec![text.into_bytes()], after: After::KeepAlive }
    }
}

#[derive(Debug)]
pub struct Seen {
    pub line: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Value,
    /// Counted from 0, in the order of connections.
    pub connection: usize,
}

impl Seen {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

pub struct Server {
    pub url: String,
    requests: Receiver<Seen>,
    closed: Receiver<()>,
}

impl Server {
    pub fn start(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (requests_in, requests) = channel();
        let (closed_in, closed) = channel();
        std::thread::spawn(move || serve(&listener, replies, &requests_in, &closed_in));
        Self { url, requests, closed }
    }

    /// The next request, whole.
    pub fn request(&self) -> Seen {
        self.requests.recv_timeout(Duration::from_secs(20)).expect("a request")
    }

    /// How many requests came that were not looked at.
    pub fn unseen(&self) -> usize {
        self.requests.try_iter().count()
    }

    /// Waits until the client has closed a stalled connection.
    pub fn wait_closed(&self) {
        self.closed.recv_timeout(Duration::from_secs(20)).expect("the client closes the connection");
    }
}

fn serve(listener: &TcpListener, replies: Vec<Reply>, requests: &Sender<Seen>, closed: &Sender<()>) {
    let mut replies = replies.into_iter();
    let mut next = replies.next();
    let mut connection = 0;
    while next.is_some() {
        let Ok((mut stream, _)) = listener.accept() else { return };
        stream.set_nodelay(true).unwrap();
        while let Some(seen) = next.as_ref().and_then(|_| read_request(&mut stream, connection)) {
            let Some(reply) = next.take() else { break };
            // The receiver may be gone: the test looked at what it wanted.
            let _ = requests.send(seen);
            next = replies.next();
            let sent = reply.pieces.iter().try_for_each(|piece| stream.write_all(piece));
            if reply.after == After::Stall {
                while !matches!(stream.read(&mut [0; 64]), Ok(0) | Err(_)) {}
                let _ = closed.send(());
            }
            if sent.is_err() || reply.after != After::KeepAlive {
                break;
            }
        }
        connection += 1;
    }
}

fn read_request(stream: &mut TcpStream, connection: usize) -> Option<Seen> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 8192];
    let head_end = loop {
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break at;
        }
        let count = stream.read(&mut buffer).ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&buffer[..count]);
    };
    let head = String::from_utf8(bytes[..head_end].to_vec()).unwrap();
    let mut lines = head.split("\r\n");
    let line = lines.next().unwrap().to_owned();
    let split =
        |line: &str| line.split_once(": ").map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()));
    let headers: Vec<(String, String)> = lines.filter_map(split).collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length: usize = length.map_or(0, |(_, value)| value.parse().unwrap());
    let mut body = bytes.split_off(head_end + 4);
    while body.len() < length {
        let count = stream.read(&mut buffer).ok().filter(|count| *count > 0)?;
        body.extend_from_slice(&buffer[..count]);
    }
    let body = if body.is_empty() { Value::Null } else { serde_json::from_slice(&body).unwrap() };
    Some(Seen { line, headers, body, connection })
}

/// A complete streamed answer with one text.
pub fn streamed(text: &str) -> Reply {
    Reply::sized("200 OK", "content-type: text/event-stream\r\n", &sse(text))
}

pub fn sse(text: &str) -> String {
    let text = serde_json::to_string(text).unwrap();
    let frames = [
        r#"{"type":"message_start","message":{"id":"msg_1","usage":{"input_tokens":10,"output_tokens":1}}}"#
            .to_owned(),
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#.to_owned(),
        format!(
            r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":{text}}}}}"#
        ),
        r#"{"type":"content_block_stop","index":0}"#.to_owned(),
        r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":25}}"#
            .to_owned(),
        r#"{"type":"message_stop"}"#.to_owned(),
    ];
    frames.iter().map(|frame| format!("data: {frame}\n\n")).collect()
}
