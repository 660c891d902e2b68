//! Commands under a real launcher.

use std::time::Duration;

use air_contracts::permission::ApproveMode;
use air_contracts::port::{CancelScope, ToolExecutor};
use air_contracts::task::AgentRole;
use air_contracts::tool::ToolStatus;
use serde_json::json;

use crate::world::{SECRET, World, until};

#[tokio::test]
async fn a_command_has_a_header_and_a_clean_environment() {
    let mut world = World::new().await;
    world.approve = ApproveMode::All;
    let result = world.shell("echo out; echo err >&2; exit 3").await;
    assert_eq!((result.status, result.exit_code), (ToolStatus::Ok, Some(3)), "{}", result.content);
    assert!(
        result.content.starts_with("[exit 3 · 0.") && result.content.ends_with(" · 2 lines · r1]\nout\nerr"),
        "{}",
        result.content
    );
    let silent = world.shell("true").await.content;
    assert!(silent.ends_with("r2]\n[no output]"), "{silent}");
    let env = world.shell("env").await.content;
    for wanted in ["PAGER=cat", "GIT_TERMINAL_PROMPT=0", "PLAIN=plain", "TERM=dumb"] {
        assert!(env.contains(wanted), "{wanted}: {env}");
    }
    assert!(!env.contains("API_KEY") && !env.contains(SECRET), "{env}");
    let state = world.shell("export A=1; cd /; echo ${A}").await;
    assert!(state.content.ends_with("\n1"), "{}", state.content);
    let state = world.shell("echo [${A}] $(pwd)").await;
    assert!(state.content.ends_with(&format!("\n[] {}", world.root.display())), "{}", state.content);
    let inside = world.call("shell.run", json!({ "cmd": ["pwd"], "workdir": "sub" })).await;
    assert!(inside.content.contains("no_such_file"), "{}", inside.content);
    std::fs::create_dir(world.root.join("sub")).unwrap();
    let inside = world.call("shell.run", json!({ "cmd": ["pwd"], "workdir": "sub" })).await;
    assert!(inside.content.ends_with("/project/sub"), "{}", inside.content);
    assert!(world.shell("echo x > $TMPDIR/y && cat $TMPDIR/y").await.content.ends_with("\nx"));
}

#[tokio::test]
async fn nothing_waits_for_a_person_or_for_what_is_left_behind() {
    let mut world = World::new().await;
    world.approve = ApproveMode::All;
    let left = world.shell("sleep 300 & echo started").await;
    assert!(left.content.contains("\nstarted"), "{}", left.content);
    assert!(left.content.contains("1 background process was ended"), "{}", left.content);
    let tee = world.shell("exec > >(cat) 2>&1; echo hi").await;
    assert!(tee.content.contains("hi"), "{}", tee.content);
    let tty = world.shell("cat < /dev/tty").await;
    assert_ne!(tty.exit_code, Some(0), "{}", tty.content);
    let input = world.shell("read -r x; echo \"[$x]\"").await;
    assert!(input.content.ends_with("\n[]"), "{}", input.content);
    let own = world.shell("kill -TERM $$; sleep 5").await;
    assert!(own.content.contains("killed by signal 15 (SIGTERM)"), "{}", own.content);
    let missing = world.shell("no-such-program-anywhere").await;
    assert!(missing.content.contains("[no-such-program-anywhere is not installed]"), "{}", missing.content);
}

#[tokio::test]
async fn the_time_limit_ends_the_whole_tree() {
    let world = World::new().await;
    let input = json!({ "command": "echo begun; (trap '' TERM; sleep 301) | cat", "timeout_ms": 1000 });
    let result = world.call("shell.run", input).await;
    assert_eq!(result.error.as_ref().unwrap().code, "timed_out", "{}", result.content);
    assert!(
        result.content.contains("begun") && result.content.contains("stopped after 1.0 s"),
        "{}",
        result.content
    );
    assert!(!runs("sleep 301"), "the command goes on");
}

/// Whether a process with this command line lives.
fn runs(line: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok()).any(|cmdline| {
        let text = String::from_utf8_lossy(&cmdline).replace('\0', " ");
        text.trim() == line
    })
}

#[tokio::test]
async fn long_output_keeps_both_ends_and_the_rest_can_be_read() {
    let world = World::new().await;
    let result = world.shell("seq 1 20000").await;
    assert!(
        result.content.len() < 21_000 && result.content.contains(" · 20000 lines · r1]\n1\n2\n"),
        "{}",
        &result.content[..100]
    );
    assert!(result.content.ends_with("\n19999\n20000"));
    let marker = result.content.lines().find(|line| line.starts_with("[…")).unwrap();
    assert!(marker.contains("left out: `process.output` r1 offset "), "{marker}");
    assert_eq!(result.artifacts.len(), 1);
    let page = world.call("process.output", json!({ "id": "r1", "offset": 9_000, "limit": 2 })).await.content;
    assert_eq!(page, "[exit 0 · lines 9000-9001 of 20000 · r1]\n9000\n9001\n[10999 lines left: offset 9002]");
    let binary = world.shell("head -c 4096 /dev/urandom").await;
    assert!(binary.content.contains("[binary output, 4096 bytes: artifact "), "{}", binary.content);
    let bar = world.shell(r"printf '10%%\r50%%\r100%%\n\033[31mred\033[0m\n'").await;
    assert!(bar.content.ends_with("\n100%\nred"), "{}", bar.content);
}

#[tokio::test]
async fn a_cancel_ends_only_its_own() {
    let world = World::new().await;
    let mut other = world.next_call("shell.run", json!({ "command": "sleep 1; echo survived" }));
    other.context.agent_id = air_contracts::ids::AgentId::from_uuid(world.deps.ids.next());
    let other = world.start(other);
    let mine = world.start(world.next_call("shell.run", json!({ "command": "echo begun; sleep 300" })));
    until("both run", || async { (world.count("tool.started").await == 2).then_some(()) }).await;
    assert_eq!(world.service.cancel(CancelScope::Agent(world.agent), "the user interrupted").await, 1);
    let result = mine.await.unwrap();
    assert_eq!(result.status, ToolStatus::Cancelled, "{}", result.content);
    assert!(result.content.contains("the user interrupted"), "{}", result.content);
    let other = other.await.unwrap();
    assert!(other.content.ends_with("survived"), "{}", other.content);
}

#[tokio::test]
async fn the_background_can_be_listed_read_and_ended() {
    let world = World::new().await;
    let input = json!({ "command": "echo ready; sleep 302", "background": true });
    let started = world.call("shell.run", input).await;
    assert!(started.content.starts_with("[running in the background · r1]"), "{}", started.content);
    assert!(world.call("process.list", json!({})).await.content.contains("r1 · echo ready"));
    let first = world.call("process.output", json!({ "id": "r1", "wait_ms": 5_000 })).await.content;
    assert!(first.contains("running") && first.ends_with("\nready"), "{first}");
    let none = world.call("process.output", json!({ "id": "r1" })).await.content;
    assert!(none.ends_with("[no new output]"), "{none}");
    assert!(world.call("process.kill", json!({ "id": "r1" })).await.content.contains("was ended"));
    assert!(world.call("process.list", json!({})).await.content.contains("nothing runs"));
    assert!(!runs("sleep 302"));
    let at_once = world.call("shell.run", json!({ "command": "exit 4", "background": true })).await;
    assert_eq!(at_once.exit_code, Some(4), "{}", at_once.content);
    // A cancel of the session ends what is left of an earlier daemon as well.
    let mut world = world;
    world.call("shell.run", json!({ "command": "sleep 303", "background": true })).await;
    world.restart().await;
    assert!(runs("sleep 303"));
    world.service.cancel(CancelScope::Session(world.session), "the session was closed").await;
    until("it ends", || async { (!runs("sleep 303")).then_some(()) }).await;
}

#[tokio::test]
async fn output_is_shown_while_a_command_runs_and_launchers_are_reaped() {
    let world = World::new().await;
    let mut bus = world.deps.store.subscribe();
    let call = world.call_with(
        AgentRole::Executor,
        "slow",
        "shell.run",
        json!({ "command": "echo one; sleep 1; echo two" }),
    );
    let running = world.start(call);
    let chunk = tokio::time::timeout(Duration::from_secs(20), async {
        loop {
            if let air_store::BusItem::Ephemeral(event) = bus.next().await
                && let air_contracts::event::EphemeralEvent::OutputChunk { text, .. } = event.as_ref()
            {
                return text.clone();
            }
        }
    });
    assert_eq!(chunk.await.unwrap(), "one\n");
    running.await.unwrap();
    for _ in 0..20 {
        world.shell("true").await;
    }
    let own = std::process::id().to_string();
    let zombies = std::fs::read_dir("/proc").unwrap().flatten().filter(|entry| {
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
        fields.first() == Some(&"Z") && fields.get(1) == Some(&own.as_str())
    });
    assert_eq!(zombies.count(), 0);
    until("folders of commands that ended go", || async {
        let left = std::fs::read_dir(world.deps.project_dir.join("runs")).unwrap().count();
        (left == 0).then_some(())
    })
    .await;
}
