//! A model server with no latency: the Main Agent's request gets a task, a worker's gets `shell.run true` as often
//! as asked, then `task.finish`. Notes when each request was whole and when it was answered.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// One request.
#[derive(Debug, Clone)]
pub struct Seen {
    pub whole_at: Instant,
    pub answered_at: Option<Instant>,
    /// Of its body.
    pub bytes: usize,
}

pub struct Model {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Model {
    /// Serves until the process ends.
    pub fn start(turns: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let shared = Arc::clone(&seen);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || serve(stream, turns, &shared));
            }
        });
        Self { address, seen }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// The `n`th request, once it is there.
    pub fn wait_for(&self, n: usize) -> Seen {
        let start = Instant::now();
        loop {
            if let Some(seen) = self.seen.lock().unwrap().get(n - 1) {
                return seen.clone();
            }
            assert!(start.elapsed() < Duration::from_secs(120), "request {n} did not come");
            std::thread::sleep(Duration::from_micros(200));
        }
    }
}

/// Sends a body and reads the answer.
pub fn post(stream: &mut TcpStream, body: &str) {
    let head = format!("POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n", body.len());
    stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
    read_message(&mut BufReader::new(stream.try_clone().unwrap()));
}

/// The body of an HTTP message with a length; `None` at the end of the connection.
fn read_message(reader: &mut BufReader<TcpStream>) -> Option<Vec<u8>> {
    let mut length = 0;
    let mut lines = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim().to_lowercase();
        if line.is_empty() && lines > 0 {
            break;
        }
        lines += 1;
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(body)
}

fn serve(mut stream: TcpStream, turns: usize, seen: &Mutex<Vec<Seen>>) {
    stream.set_nodelay(true).unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    while let Some(body) = read_message(&mut reader) {
        let index = {
            let mut seen = seen.lock().unwrap();
            seen.push(Seen { whole_at: Instant::now(), answered_at: None, bytes: body.len() });
            seen.len() - 1
        };
        let text = String::from_utf8_lossy(&body);
        let answer = answer(&text, turns, index);
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {}\r\n\r\n",
            answer.len()
        );
        if stream.write_all(format!("{head}{answer}").as_bytes()).is_err() {
            return;
        }
        seen.lock().unwrap()[index].answered_at = Some(Instant::now());
    }
}

fn answer(request: &str, turns: usize, index: usize) -> String {
    let worker = request.contains("task_finish");
    let done = request.matches("\"role\":\"assistant\"").count();
    if turns == 0 || !request.contains("task_create") && !worker {
        return text("hello");
    }
    match (worker, done) {
        (false, _) => call(index, "task_create", "{\"title\":\"Run it\"}"),
        (true, done) if done < turns => call(index, "shell_run", "{\"command\":\"true\"}"),
        (true, _) => call(index, "task_finish", "{\"status\":\"no_change\",\"summary\":\"It ran.\"}"),
    }
}

fn text(text: &str) -> String {
    let delta = serde_json::json!({ "type": "text_delta", "text": text });
    stream(&serde_json::json!({ "type": "text", "text": "" }), &delta, "end_turn")
}

fn call(index: usize, name: &str, input: &str) -> String {
    let block = serde_json::json!({ "type": "tool_use", "id": format!("toolu_{index:06}"), "name": name, "input": {} });
    stream(&block, &serde_json::json!({ "type": "input_json_delta", "partial_json": input }), "tool_use")
}

fn stream(block: &serde_json::Value, delta: &serde_json::Value, stop: &str) -> String {
    let usage = serde_json::json!({ "input_tokens": 100, "output_tokens": 10 });
    let events = [
        serde_json::json!({ "type": "message_start", "message": { "id": "msg_1", "type": "message", "role": "assistant",
            "content": [], "model": "bench", "stop_reason": null, "usage": usage } }),
        serde_json::json!({ "type": "content_block_start", "index": 0, "content_block": block }),
        serde_json::json!({ "type": "content_block_delta", "index": 0, "delta": delta }),
        serde_json::json!({ "type": "content_block_stop", "index": 0 }),
        serde_json::json!({ "type": "message_delta", "delta": { "stop_reason": stop }, "usage": { "output_tokens": 10 } }),
        serde_json::json!({ "type": "message_stop" }),
    ];
    events
        .iter()
        .map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()))
        .collect()
}
