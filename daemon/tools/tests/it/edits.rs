//! The cases of `tests/cases/edits.jsonl` for `fs.edit` and `fs.write`.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use air_contracts::ids::AgentId;
use air_contracts::port::ToolExecutor;
use air_contracts::task::AgentRole;
use air_contracts::tool::{ToolCall, ToolResultEnvelope, ToolStatus};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::world::World;

type Tree = BTreeMap<PathBuf, (Vec<u8>, u32)>;

fn cases() -> Vec<Value> {
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases");
    let folder = std::env::var_os("AIR_CASES_DIR").map_or(default, PathBuf::from);
    let text = std::fs::read_to_string(folder.join("edits.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn content(file: &Value) -> Vec<u8> {
    if let Some(text) = file["content"].as_str() {
        return text.as_bytes().to_vec();
    }
    if let Some(text) = file["content_b64"].as_str() {
        return STANDARD.decode(text).unwrap();
    }
    let repeat = &file["content_repeat"];
    let count = usize::try_from(repeat[1].as_u64().unwrap()).unwrap();
    let then = file["then"].as_str().unwrap_or_default();
    (repeat[0].as_str().unwrap().repeat(count) + then).into_bytes()
}

fn put(root: &Path, file: &Value) {
    let path = root.join(file["path"].as_str().unwrap());
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    if let Some(target) = file["symlink_to"].as_str() {
        std::os::unix::fs::symlink(target, &path).unwrap();
        return;
    }
    let _ = std::fs::remove_file(&path);
    std::fs::write(&path, content(file)).unwrap();
    if let Some(mode) = file["mode"].as_str() {
        let mode = u32::from_str_radix(mode, 8).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
}

fn tree(root: &Path) -> Tree {
    let mut found = Tree::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if entry.file_type().unwrap().is_dir() {
                folders.push(path);
            } else {
                let mode = entry.metadata().unwrap().permissions().mode() & 0o7777;
                found.insert(
                    path.strip_prefix(root).unwrap().to_path_buf(),
                    (std::fs::read(&path).unwrap_or_default(), mode),
                );
            }
        }
    }
    found
}

struct Case<'a> {
    world: &'a World,
    root: PathBuf,
    agent: AgentId,
    case: &'a Value,
}

impl Case<'_> {
    async fn call(&self, tool: &str, step: &str, input: Value) -> ToolResultEnvelope {
        let mut context = self.world.context(AgentRole::Executor);
        context.workspace_root.clone_from(&self.root);
        context.agent_id = self.agent;
        let call_id = format!("{}-{step}", self.case["id"].as_str().unwrap());
        self.world
            .service
            .call(ToolCall { context, call_id, name: tool.to_owned(), input, before: Vec::new() })
            .await
    }

    /// Files as the worker saw them last, then as they are.
    async fn prepare(&self) {
        let before = &self.case["before"];
        let files = before["files"].as_array().unwrap();
        let last_read = before["last_read"].as_object();
        let previous = before["previous_call"].as_object();
        for file in files {
            let path = file["path"].as_str().unwrap();
            let seen = last_read.map(|seen| seen.get(path).and_then(Value::as_str));
            match seen {
                // Never read.
                Some(None) => {}
                Some(Some(seen)) => {
                    let mut old = file.clone();
                    old["content"] = seen.into();
                    put(&self.root, &old);
                    self.read(path).await;
                }
                None => {
                    put(&self.root, file);
                    self.read(path).await;
                }
            }
        }
        if let Some(previous) = previous {
            let mut input = previous.clone();
            let tool = input.remove("tool").unwrap();
            let result = self.call(tool.as_str().unwrap(), "previous", Value::Object(input)).await;
            assert_eq!(result.status, ToolStatus::Ok, "{}", result.content);
        } else {
            files.iter().for_each(|file| put(&self.root, file));
        }
    }

    async fn read(&self, path: &str) {
        self.call("fs.read", &format!("read {path}"), serde_json::json!({ "path": path })).await;
    }

    /// What is wrong with an outcome; empty where nothing is.
    fn judge(&self, expect: &Value, result: &ToolResultEnvelope, before: &Tree, after: &Tree) -> Vec<String> {
        let mut wrong = Vec::new();
        if let Some(options) = expect["any_of"].as_array() {
            let all: Vec<Vec<String>> =
                options.iter().map(|option| self.judge(option, result, before, after)).collect();
            return if all.iter().any(Vec::is_empty) { wrong } else { all.concat() };
        }
        let mut expected = before.clone();
        if let Some(kind) = expect["error_kind"].as_str() {
            let code = result.error.as_ref().map(|error| error.code.as_str());
            if code != Some(kind) {
                wrong.push(format!("the error is {code:?}, not {kind}: {}", result.content));
            }
            let message = result.error.as_ref().map(|error| error.message.to_lowercase()).unwrap_or_default();
            for word in expect["message_must_mention"].as_array().into_iter().flatten() {
                let word = word.as_str().unwrap().to_lowercase();
                // Names of tools are written for the model when the message is sent.
                if !message.contains(&word) {
                    wrong.push(format!("{word:?} is not in {message:?}"));
                }
            }
        } else {
            if result.status != ToolStatus::Ok {
                wrong.push(format!("it failed: {}", result.content));
            }
            for file in expect["after"]["files"].as_array().unwrap() {
                let path = PathBuf::from(file["path"].as_str().unwrap());
                if file["absent"].as_bool() == Some(true) {
                    expected.remove(&path);
                    continue;
                }
                let mode = file["mode"].as_str().map(|mode| u32::from_str_radix(mode, 8).unwrap());
                let known = after.get(&path).map_or(0, |(_, mode)| *mode);
                let mode = mode.or_else(|| before.get(&path).map(|(_, mode)| *mode)).unwrap_or(known);
                expected.insert(path, (content(file), mode));
            }
        }
        for path in expected.keys().chain(after.keys()) {
            if expected.get(path) != after.get(path) {
                let show = |tree: &Tree| {
                    tree.get(path).map(|(bytes, mode)| {
                        (String::from_utf8_lossy(&bytes[..bytes.len().min(200)]).into_owned(), *mode)
                    })
                };
                wrong.push(format!("{}: {:?} instead of {:?}", path.display(), show(after), show(&expected)));
            }
        }
        wrong
    }
}

#[tokio::test]
async fn every_case_of_edit_and_write_holds() {
    let world = World::new().await;
    let cases = cases();
    let mut failures = Vec::new();
    let mut run = 0;
    for case in cases.iter().filter(|case| matches!(case["tool"].as_str(), Some("fs.edit" | "fs.write"))) {
        let id = case["id"].as_str().unwrap();
        let root = world.base.join("project").join(id);
        std::fs::create_dir_all(&root).unwrap();
        let agent = AgentId::from_uuid(world.deps.ids.next());
        let case = Case { world: &world, root, agent, case };
        case.prepare().await;
        let before = tree(&case.root);
        let result = case.call(case.case["tool"].as_str().unwrap(), "call", case.case["call"].clone()).await;
        let after = tree(&case.root);
        let wrong = case.judge(&case.case["expect"], &result, &before, &after);
        failures.extend(wrong.into_iter().map(|wrong| format!("{id}: {wrong}")));
        std::fs::remove_dir_all(&case.root).unwrap();
        run += 1;
    }
    assert!(run >= 50, "only {run} cases");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
