//! Many clients, one log: what is attached sees the same; leaving changes nothing.

use std::process::{Child, Stdio};

use crate::env::{TestEnv, kill};
use crate::shell_project::{FILES, REQUEST, calls, scenario};

/// A terminal without a screen: `air attach --plain`, its output in a file.
struct Attached {
    child: Child,
    output: std::path::PathBuf,
}

impl Attached {
    fn start(env: &TestEnv, name: &str) -> Self {
        let output = env.air_home().join(name);
        let file = std::fs::File::create(&output).unwrap();
        let mut command = env.command(&["attach", "--plain"]);
        // An open input that says nothing: at its end a client leaves.
        let child = command.stdin(Stdio::piped()).stdout(file).stderr(Stdio::null()).spawn().unwrap();
        Self { child, output }
    }

    fn shows(&self, text: &str) -> bool {
        std::fs::read_to_string(&self.output).unwrap_or_default().contains(text)
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn two_terminals_see_the_same_and_one_may_leave() {
    let mut env = TestEnv::new(FILES);
    let turns = [
        calls(&[
            ("fs.read", "{path: total.sh}"),
            ("shell.run", "{command: \"touch started; while [ ! -f go ]; do sleep 0.05; done\"}"),
        ]),
        calls(&[("fs.edit", "{path: total.sh, old_string: \"$1 - $2\", new_string: \"$1 + $2\"}")]),
        calls(&[("task.finish", "{status: done, summary: \"It adds, as both can see.\"}")]),
    ];
    env.model(&scenario(&turns.concat()));
    env.air(&["submit", REQUEST]).expect_code(0);
    let first = Attached::start(&env, "first.txt");
    let second = Attached::start(&env, "second.txt");
    env.wait_until("both see the run", || first.shows("total.sh") && second.shows("total.sh"));
    drop(first);
    env.write("go", "");
    env.wait_until("the other sees the end", || second.shows("It adds, as both can see."));
    let third = Attached::start(&env, "third.txt");
    env.wait_until("a new one sees it all", || {
        third.shows(REQUEST) && third.shows("It adds, as both can see.")
    });
}

#[test]
fn an_attached_client_outlives_its_daemon() {
    let mut env = TestEnv::new(FILES);
    env.model("turns:\n  - reply: {text: the first answer}\n  - reply: {text: the second answer}\n");
    env.air(&["submit", "--wait", "one"]).expect_code(0);
    let attached = Attached::start(&env, "attached.txt");
    env.wait_until("it shows the first answer", || attached.shows("the first answer"));
    kill(env.daemon_pid().unwrap());
    env.air(&["submit", "--wait", "two"]).expect_code(0);
    env.wait_until("it shows the second answer", || attached.shows("the second answer"));
}

#[test]
fn the_same_client_key_is_the_same_turn() {
    let mut env = TestEnv::new(FILES);
    env.model("turns:\n  - repeat: forever\n    reply: {text: hello}\n");
    let project =
        env.json(&["rpc", "project/open", &format!("{{\"path\": \"{}\"}}", env.project().display())]);
    let id = project["id"].as_str().unwrap().to_owned();
    let params = format!(
        "{{\"project_id\": \"{id}\", \"session\": \"latest\", \"client_id\": \"key-1\", \"text\": \"hi\"}}"
    );
    let first = env.json(&["rpc", "turn/submit", &params]);
    env.kill_daemon();
    env.json(&["rpc", "project/open", &format!("{{\"path\": \"{}\"}}", env.project().display())]);
    let second = env.json(&["rpc", "turn/submit", &params]);
    assert_eq!(first["turn_id"], second["turn_id"]);
}
