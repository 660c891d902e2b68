//! Starts the server and speaks HTTP to it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

pub struct Model {
    child: Child,
    pub address: String,
    pub folder: tempfile::TempDir,
    _out: BufReader<ChildStdout>,
}

impl Drop for Model {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn binary() -> Command {
    Command::new(env!("CARGO_BIN_EXE_air-scripted-model"))
}

impl Model {
    pub fn start(scenario: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("scenario.yaml");
        std::fs::write(&file, scenario).unwrap();
        let mut command = binary();
        command.arg("--scenario").arg(&file);
        command.arg("--record").arg(folder.path().join("record.jsonl"));
        command.arg("--port-file").arg(folder.path().join("port"));
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://").unwrap().to_owned();
        Self { child, address, folder, _out: out }
    }

    pub fn connect(&self) -> Client {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        Client { stream, buffer: Vec::new() }
    }

    /// Posts a message over a connection of its own.
    pub fn message(&self, body: &Value) -> Answer {
        self.connect().post("/v1/messages", &body.to_string())
    }

    pub fn record(&self) -> Vec<Value> {
        let path: PathBuf = self.folder.path().join("record.jsonl");
        let text = std::fs::read_to_string(path).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

pub struct Client {
    stream: TcpStream,
    buffer: Vec<u8>,
}

#[derive(Debug)]
pub struct Answer {
    /// 0: the connection was closed without an answer.
    pub status: u16,
    pub head: String,
    pub body: String,
    /// Whether the body came to its proper end.
    pub complete: bool,
}

impl Answer {
    /// (event name, data) of every server-sent event.
    pub fn events(&self) -> Vec<(String, Value)> {
        let event = |part: &str| {
            let (name, data) = part.split_once('\n')?;
            let data = serde_json::from_str(data.strip_prefix("data: ")?).ok()?;
            Some((name.strip_prefix("event: ")?.to_owned(), data))
        };
        self.body.split("\n\n").filter_map(event).collect()
    }

    /// The joined texts of all deltas of one kind.
    pub fn joined(&self, field: &str) -> String {
        let events = self.events();
        events.iter().filter_map(|(_, data)| data["delta"][field].as_str()).collect()
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

impl Client {
    pub fn post(&mut self, path: &str, body: &str) -> Answer {
        self.ask("POST", path, "x-api-key: sk-secret\r\n", body)
    }

    pub fn ask(&mut self, method: &str, path: &str, headers: &str, body: &str) -> Answer {
        let length = body.len();
        let head =
            format!("{method} {path} HTTP/1.1\r\nhost: model\r\n{headers}content-length: {length}\r\n\r\n");
        self.stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
        self.answer()
    }

    /// Sends a request and reads only so much of its answer as contains `part`.
    pub fn post_and_read_until(&mut self, body: &Value, part: &str) {
        let body = body.to_string();
        let head =
            format!("POST /v1/messages HTTP/1.1\r\nhost: model\r\ncontent-length: {}\r\n\r\n", body.len());
        self.stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
        while !String::from_utf8_lossy(&self.buffer).contains(part) {
            assert!(self.fill(), "{part} comes");
        }
    }

    fn fill(&mut self) -> bool {
        let mut part = [0; 4096];
        match self.stream.read(&mut part) {
            Ok(0) => false,
            Ok(count) => {
                self.buffer.extend_from_slice(&part[..count]);
                true
            }
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => false,
            Err(error) => panic!("reading: {error}"),
        }
    }

    fn line(&mut self) -> Option<String> {
        loop {
            if let Some(at) = self.buffer.windows(2).position(|window| window == b"\r\n") {
                let rest = self.buffer.split_off(at + 2);
                let line = std::mem::replace(&mut self.buffer, rest);
                return Some(String::from_utf8(line[..at].to_vec()).unwrap());
            }
            if !self.fill() {
                return None;
            }
        }
    }

    fn take(&mut self, count: usize) -> Option<Vec<u8>> {
        while self.buffer.len() < count {
            if !self.fill() {
                return None;
            }
        }
        let rest = self.buffer.split_off(count);
        Some(std::mem::replace(&mut self.buffer, rest))
    }

    fn answer(&mut self) -> Answer {
        let mut answer = Answer { status: 0, head: String::new(), body: String::new(), complete: false };
        let Some(first) = self.line() else { return answer };
        answer.status = first.split(' ').nth(1).unwrap().parse().unwrap();
        loop {
            match self.line() {
                Some(line) if line.is_empty() => break,
                Some(line) => answer.head.push_str(&format!("{line}\n")),
                None => return answer,
            }
        }
        let length =
            answer.head.lines().find_map(|line| line.strip_prefix("content-length: ")).map(str::to_owned);
        let body = match length {
            Some(length) => self.take(length.parse().unwrap()).map(|bytes| (bytes, true)),
            None => Some(self.chunks()),
        };
        if let Some((bytes, complete)) = body {
            answer.body = String::from_utf8(bytes).unwrap();
            answer.complete = complete;
        }
        answer
    }

    fn chunks(&mut self) -> (Vec<u8>, bool) {
        let mut body = Vec::new();
        while let Some(line) = self.line() {
            let size = usize::from_str_radix(&line, 16).unwrap();
            let Some(bytes) = self.take(size + 2) else { break };
            if size == 0 {
                return (body, true);
            }
            body.extend_from_slice(&bytes[..size]);
        }
        (body, false)
    }
}

/// A request with one user text.
pub fn say(system: &str, user: &str) -> Value {
    json!({
        "model": "claude-sonnet-5-5", "max_tokens": 100, "stream": true, "system": system,
        "tools": [{"name": "fs_read", "input_schema": {"type": "object"}}],
        "messages": [{"role": "user", "content": user}],
    })
}

/// The same, after one call with this result.
pub fn say_with_result(system: &str, user: &str, result: &str) -> Value {
    let mut request = say(system, user);
    request["messages"] = json!([
        {"role": "user", "content": user},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "fs_read", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": result}]},
    ]);
    request
}
