//! The role loop over real pipes, with this test as the parent.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};

use air_contracts::AirError;
use air_contracts::error::codes;
use air_contracts::ids::TaskId;
use air_contracts::ipc::{FinishedClaim, IPC_VERSION, ParentMessage, WorkerMessage};
use air_contracts::provider::StopReason;
use air_contracts::tool::ToolStatus;
use air_contracts::worker_result::{FinishClaim, WorkerStatus};
use serde_json::json;
use uuid::Uuid;

struct Parent {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: std::io::Lines<BufReader<ChildStdout>>,
    rss_bytes: u64,
}

impl Parent {
    fn spawn() -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_air-worker"))
            .arg("role")
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut parent = Self { child, stdin, lines, rss_bytes: 0 };
        let ready = parent.next();
        assert!(
            matches!(ready, Some(WorkerMessage::AgentReady { ipc_version: IPC_VERSION, .. })),
            "{ready:?}"
        );
        parent
    }

    fn say(&mut self, message: &ParentMessage) {
        let line = serde_json::to_string(message).unwrap();
        writeln!(self.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    /// The next message that is no heartbeat.
    fn next(&mut self) -> Option<WorkerMessage> {
        loop {
            let line = self.lines.next()?.unwrap();
            match serde_json::from_str(&line).unwrap() {
                WorkerMessage::Heartbeat { rss_bytes } => self.rss_bytes = rss_bytes,
                message => return Some(message),
            }
        }
    }

    fn start(&mut self, ipc_version: u32, max_model_calls: u32) {
        let id = |prefix: &str, n: u128| format!("{prefix}_{}", Uuid::from_u128(n));
        let task = json!({ "id": id("task", 1), "turn_id": id("turn", 2), "type": "implement", "title": "t", "user_text": "u" });
        let start = json!({
            "type": "agent.start", "ipc_version": ipc_version, "session_id": id("session", 3), "turn_id": id("turn", 2),
            "agent_id": id("agent", 4), "attempt_id": id("attempt", 5), "role": "executor", "task": task,
            "max_model_calls": max_model_calls,
        });
        self.say(&serde_json::from_value(start).unwrap());
    }

    fn answer(&mut self, text: &str, calls: &[(&str, &str)], stop: StopReason) {
        let calls = calls
            .iter()
            .map(|(id, name)| {
                serde_json::from_value(json!({ "call_id": id, "name": name, "input": {} })).unwrap()
            })
            .collect();
        self.say(&ParentMessage::LlmDone { text: text.into(), calls, stop, error: None });
    }

    fn result(&mut self, call_id: &str, status: ToolStatus, finished: Option<FinishedClaim>) {
        self.say(&ParentMessage::ToolResult {
            call_id: call_id.into(),
            status,
            summary: String::new(),
            finished,
        });
    }

    fn asks(&mut self) -> (Vec<String>, Option<String>) {
        loop {
            match self.next() {
                Some(WorkerMessage::LlmRequest { answered, reminder }) => return (answered, reminder),
                Some(WorkerMessage::Checkpoint { .. }) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    fn calls(&mut self) -> String {
        match self.next() {
            Some(WorkerMessage::ToolCall { call_id }) => call_id,
            other => panic!("{other:?}"),
        }
    }

    fn end(&mut self) -> (WorkerStatus, FinishClaim, Option<AirError>) {
        match self.next() {
            Some(WorkerMessage::WorkerResult { task_id, status, claim, error }) => {
                assert_eq!(task_id, TaskId::from_uuid(Uuid::from_u128(1)));
                assert!(self.child.wait().unwrap().success());
                (status, claim, error)
            }
            other => panic!("{other:?}"),
        }
    }

    fn close(&mut self) -> ExitStatus {
        self.stdin = None;
        self.child.wait().unwrap()
    }
}

#[test]
fn calls_run_in_order_and_an_accepted_finish_is_the_result() {
    let mut parent = Parent::spawn();
    parent.start(IPC_VERSION, 10);
    assert_eq!(parent.asks(), (vec![], None));
    parent.answer("", &[("a", "fs.read"), ("b", "fs.edit")], StopReason::ToolUse);
    assert_eq!(parent.calls(), "a");
    parent.result("a", ToolStatus::Ok, None);
    assert_eq!(parent.calls(), "b");
    parent.result("b", ToolStatus::Error, None);
    assert_eq!(parent.asks().0, ["a", "b"]);
    parent.answer("done", &[("c", "task.finish")], StopReason::ToolUse);
    assert_eq!(parent.calls(), "c");
    let claim = FinishClaim { summary: "fixed".into(), ..FinishClaim::default() };
    parent.result(
        "c",
        ToolStatus::Ok,
        Some(FinishedClaim { status: WorkerStatus::NoChange, claim: claim.clone() }),
    );
    assert_eq!(parent.end(), (WorkerStatus::NoChange, claim, None));
    assert!(parent.rss_bytes < 16 << 20, "{} bytes", parent.rss_bytes);
}

#[test]
fn a_text_is_reminded_once_and_then_taken_for_the_summary() {
    let mut parent = Parent::spawn();
    parent.start(IPC_VERSION, 10);
    parent.asks();
    parent.answer("I fixed it.", &[], StopReason::EndTurn);
    assert!(parent.asks().1.unwrap().contains("task.finish"));
    parent.answer("", &[], StopReason::EndTurn);
    let (status, claim, error) = parent.end();
    assert_eq!((status, claim.summary.as_str(), error), (WorkerStatus::Done, "I fixed it.", None));
}

#[test]
fn limits_end_an_attempt_as_failed() {
    let mut parent = Parent::spawn();
    parent.start(IPC_VERSION, 1);
    parent.asks();
    parent.answer("", &[("a", "fs.read")], StopReason::ToolUse);
    parent.calls();
    parent.result("a", ToolStatus::Ok, None);
    assert_eq!(parent.end().2.unwrap().code, codes::BUDGET_REACHED);

    let mut parent = Parent::spawn();
    parent.start(IPC_VERSION, 100);
    for id in ["a", "b", "c"] {
        parent.asks();
        parent.answer("", &[(id, "task.finish")], StopReason::ToolUse);
        parent.calls();
        parent.result(id, ToolStatus::Error, None);
    }
    assert_eq!(parent.end().2.unwrap().code, codes::TOOL_NOT_ACCEPTED);

    let mut parent = Parent::spawn();
    parent.start(IPC_VERSION, 100);
    for _ in 0..4 {
        parent.asks();
        parent.answer("cut", &[], StopReason::MaxTokens);
    }
    assert_eq!(parent.end().0, WorkerStatus::Failed);

    let mut parent = Parent::spawn();
    parent.start(IPC_VERSION + 1, 100);
    assert_eq!(parent.end().2.unwrap().code, codes::IPC_PROTOCOL);
}

#[test]
fn a_worker_ends_when_it_is_told_to_or_its_parent_is_gone() {
    let mut parent = Parent::spawn();
    parent.start(IPC_VERSION, 10);
    parent.asks();
    parent.say(&ParentMessage::AgentCancel { reason: "enough".into() });
    assert_eq!(parent.end().0, WorkerStatus::Cancelled);

    let mut parent = Parent::spawn();
    parent.start(IPC_VERSION, 10);
    parent.asks();
    assert!(parent.close().success());
    assert_eq!(parent.next(), None);

    let mut parent = Parent::spawn();
    writeln!(parent.stdin.as_mut().unwrap(), "this is no message").unwrap();
    assert!(!parent.child.wait().unwrap().success());
}
