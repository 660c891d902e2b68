//! Runs checks through the executor and remembers what was shown about which tree.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use air_contracts::artifact::ArtifactRef;
use air_contracts::evidence::TestCounts;
use air_contracts::ids::{ToolRunId, TurnId};
use air_contracts::port::ToolExecutor;
use air_contracts::project::ProjectCheck;
use air_contracts::task::AgentRole;
use air_contracts::tool::{CallContext, ToolCall, ToolResultEnvelope, ToolStatus};
use air_rt::IdSource;
use air_store::ToolRunRow;
use serde_json::{Value, json};

/// The runtime's own tool.
const TOOL: &str = "check.exec";

/// Trees and checks that are remembered.
const REMEMBERED: usize = 512;

/// Why a check is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Before the task has written anything.
    Baseline,
    /// The runtime looks at a result.
    Verify,
    /// In an empty folder: what passes there says nothing about the project.
    Control,
    /// A worker asked for it.
    Worker,
}

impl Purpose {
    const fn word(self) -> &'static str {
        match self {
            Self::Baseline => "baseline",
            Self::Verify => "verify",
            Self::Control => "control",
            Self::Worker => "worker",
        }
    }
}

/// What one run of a check showed.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckRun {
    pub run_id: ToolRunId,
    /// The number in `r41`.
    pub run_ref: u64,
    pub turn_id: TurnId,
    /// Why it was not run to its end, where it was not: refused, stopped.
    pub not_run: Option<(ToolStatus, String)>,
    pub exit_code: Option<i32>,
    pub tests: Option<TestCounts>,
    /// What failed; never empty for a failed run, sorted.
    pub instances: Vec<String>,
    /// What a model reads of it.
    pub content: String,
    pub artifact: Option<ArtifactRef>,
    /// Tree and count of writes when it was run; empty where they moved meanwhile.
    pub tree: String,
    pub write_seq: u64,
}

impl CheckRun {
    /// Exit code 0 of a run that came to its end.
    pub fn passed(&self) -> bool {
        self.not_run.is_none() && self.exit_code == Some(0)
    }

    fn new(check: &ProjectCheck, turn_id: TurnId, envelope: ToolResultEnvelope) -> Self {
        let not_run = (envelope.status != ToolStatus::Ok).then(|| {
            let why = envelope.error.as_ref().map_or(envelope.summary.clone(), |error| error.message.clone());
            (envelope.status, why)
        });
        let shown = Shown::of(check, &envelope.data, envelope.exit_code);
        Self {
            run_id: envelope.run_id,
            run_ref: envelope.run_ref,
            turn_id,
            not_run,
            exit_code: envelope.exit_code,
            tests: shown.tests,
            instances: shown.instances,
            content: envelope.content,
            artifact: envelope.artifacts.into_iter().next(),
            tree: String::new(),
            write_seq: 0,
        }
    }

    /// From the log: a run of an earlier life, of the check whose command it holds.
    pub(crate) fn from_row(check: &ProjectCheck, row: &ToolRunRow) -> Option<Self> {
        if row.tool != TOOL || row.status != Some(ToolStatus::Ok) {
            return None;
        }
        let shown = Shown::of(check, &row.data, row.exit_code);
        Some(Self {
            run_id: row.run_id,
            run_ref: row.n,
            turn_id: row.turn_id,
            not_run: None,
            exit_code: row.exit_code,
            tests: shown.tests,
            instances: shown.instances,
            content: row.summary.clone(),
            artifact: row.artifacts.first().cloned(),
            tree: String::new(),
            write_seq: 0,
        })
    }
}

struct Shown {
    tests: Option<TestCounts>,
    instances: Vec<String>,
}

impl Shown {
    fn of(check: &ProjectCheck, data: &Value, exit_code: Option<i32>) -> Self {
        let tests = data.get("tests").and_then(|tests| serde_json::from_value(tests.clone()).ok());
        let texts = data.get("instances").and_then(Value::as_array).into_iter().flatten();
        let mut instances: Vec<String> = texts.filter_map(Value::as_str).map(str::to_owned).collect();
        if exit_code == Some(0) {
            instances.clear();
        } else if instances.is_empty() {
            let how = exit_code.map_or_else(|| "no exit code".to_owned(), |code| format!("exit {code}"));
            instances.push(format!("{}: {how}", check.name));
        }
        instances.sort();
        instances.dedup();
        Self { tests, instances }
    }
}

/// Runs that are known, by tree and command. A bounded memory: what is forgotten is run again.
#[derive(Default)]
pub(crate) struct CheckCache(Mutex<Remembered>);

#[derive(Default)]
struct Remembered {
    runs: BTreeMap<(String, String), CheckRun>,
    controls: BTreeMap<String, bool>,
}

impl CheckCache {
    /// A run of this command on this tree.
    pub(crate) fn get(&self, tree: &str, check: &ProjectCheck) -> Option<CheckRun> {
        self.lock().runs.get(&(tree.to_owned(), check.command.clone())).cloned()
    }

    pub(crate) fn put(&self, check: &ProjectCheck, run: CheckRun) {
        if run.tree.is_empty() || run.not_run.is_some() {
            return;
        }
        let mut known = self.lock();
        if known.runs.len() >= REMEMBERED {
            let oldest = known.runs.iter().min_by_key(|(_, run)| run.run_ref).map(|(key, _)| key.clone());
            if let Some(oldest) = oldest {
                known.runs.remove(&oldest);
            }
        }
        known.runs.insert((run.tree.clone(), check.command.clone()), run);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Remembered> {
        // Nothing can panic between two halves of a change here.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs checks for one task.
pub(crate) struct Checker<'a> {
    pub(crate) executor: &'a Arc<dyn ToolExecutor>,
    pub(crate) cache: &'a CheckCache,
    pub(crate) ids: &'a IdSource,
    pub(crate) context: CallContext,
}

impl Checker<'_> {
    /// Runs one check, without looking at what is known.
    pub(crate) async fn run(&self, check: &ProjectCheck, purpose: Purpose) -> CheckRun {
        let mut input = serde_json::to_value(check).unwrap_or_else(|_| json!({}));
        if let Some(fields) = input.as_object_mut() {
            fields.insert("purpose".to_owned(), json!(purpose.word()));
        }
        let call = ToolCall {
            context: CallContext { role: AgentRole::Runtime, attempt_id: None, ..self.context.clone() },
            call_id: format!("check-{}", self.ids.next().simple()),
            name: TOOL.to_owned(),
            input,
            before: Vec::new(),
        };
        CheckRun::new(check, self.context.turn_id, self.executor.call(call).await)
    }

    /// Whether the command passes in an empty folder. Its outcome does not depend on any tree and is kept.
    pub(crate) async fn passes_anywhere(&self, check: &ProjectCheck) -> bool {
        let known = self.cache.lock().controls.get(&check.command).copied();
        if let Some(known) = known {
            return known;
        }
        let passed = self.run(check, Purpose::Control).await.passed();
        let mut cache = self.cache.lock();
        if cache.controls.len() >= REMEMBERED {
            cache.controls.clear();
        }
        cache.controls.insert(check.command.clone(), passed);
        passed
    }
}
