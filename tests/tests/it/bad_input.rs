//! What people and machines get wrong: a clear error, a right exit code, nothing lost, the daemon alive.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;

use crate::env::TestEnv;
use crate::shell_project::{FILES, REQUEST, calls, honest, scenario};

#[track_caller]
fn check(env: &TestEnv, args: &[&str], exit: i32, code: &str) {
    let mut all = args.to_vec();
    all.extend(["--output", "json"]);
    let ran = env.air(&all).expect_code(exit);
    assert_eq!(ran.json()["error"]["code"], code, "{ran:#?}");
}

#[test]
fn wrong_names_and_values_get_their_code() {
    let mut env = TestEnv::new(FILES);
    env.model("turns:\n  - reply: {text: hello}\n");
    check(&env, &["submit", "--session", "s99", "hello"], 1, "session.not_found");
    check(&env, &["evidence", "k9"], 1, "task.not_found");
    check(&env, &["tasks", "--session", "k1"], 1, "id.wrong_kind");
    check(&env, &["approve", "a1"], 1, "approval.not_found");
    check(&env, &["artifact", "ffffffff"], 1, "artifact.not_found");
    check(&env, &["submit", " "], 2, "usage.missing");
    check(&env, &["cancel", "k1"], 1, "task.not_found");
    check(&env, &["rpc", "no/such"], 1, "rpc.method_not_found");
    check(&env, &["rpc", "session/list", "{}"], 1, "rpc.invalid_params");
    check(&env, &["-C", "/", "init"], 1, "project.root_refused");
    assert_eq!(env.air(&["submitt", "x"]).code, 2);
    assert_eq!(env.air(&["approve"]).code, 2);
    env.air(&["submit", "--wait", "hello"]).expect_code(0);
}

#[test]
fn without_a_model_the_error_says_what_was_looked_for() {
    let env = TestEnv::new(FILES);
    let ran = env.air(&["submit", "--wait", "--output", "json", "hello"]);
    assert_eq!(ran.code, 1, "{ran:#?}");
    let outcome = ran.json();
    assert_eq!(outcome["error"]["code"], "provider.none_configured", "{outcome:#}");
    assert!(
        outcome["error"]["message"].to_string().contains("ANTHROPIC_API_KEY")
            || outcome["error"]["hints"].to_string().contains("ANTHROPIC_API_KEY"),
        "{outcome:#}"
    );
}

#[test]
fn broken_yaml_is_named_and_the_last_good_state_holds() {
    let mut env = TestEnv::new(FILES);
    env.model("turns:\n  - repeat: forever\n    reply: {text: hello}\n");
    env.air(&["submit", "--wait", "hello"]).expect_code(0);
    std::fs::write(env.air_home().join("config.yaml"), "models: [").unwrap();
    env.air(&["submit", "--wait", "again"]).expect_code(0);
    let config = env.json(&["config"]);
    assert!(config["warnings"].to_string().contains("config.yaml"), "{config:#}");
    // A new daemon has no last good state.
    env.air(&["daemon", "stop"]).expect_code(0);
    let ran = env.air(&["submit", "--wait", "--output", "json", "third"]);
    assert_ne!(ran.code, 0, "{ran:#?}");
    assert!(format!("{ran:?}").contains("config.yaml"), "{ran:#?}");
}

#[test]
fn a_socket_path_that_is_too_long_is_refused_with_its_limit() {
    let env = TestEnv::new(FILES);
    let long = format!("/{}/aird.sock", "x".repeat(120));
    let output =
        env.command(&["daemon", "status", "--output", "json"]).env("AIR_SOCKET", long).output().unwrap();
    let ran = crate::env::ran(output);
    assert_ne!(ran.code, 0);
    assert_eq!(ran.json()["error"]["code"], "socket.path_too_long", "{ran:#?}");
}

#[test]
fn garbage_on_the_socket_harms_nobody() {
    let env = TestEnv::new(FILES);
    env.air(&["sessions"]).expect_code(0);
    let pid = env.daemon_pid();
    let pieces: [&[u8]; 5] = [
        b"\x00\xff\xfe garbage\n\n",
        b"POST /rpc HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\n{\"a\":",
        b"POST /rpc HTTP/1.1\r\nhost: x\r\ncontent-length: 99999999999\r\n\r\n",
        b"GET /rpc HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\nnot a frame at all",
        &[b'a'; 200_000],
    ];
    for piece in pieces {
        let mut stream = UnixStream::connect(env.air_home().join("run/aird.sock")).unwrap();
        stream.set_read_timeout(Some(std::time::Duration::from_millis(300))).unwrap();
        let _ = stream.write_all(piece);
        let _ = stream.read(&mut [0; 4096]);
    }
    env.air(&["sessions"]).expect_code(0);
    assert_eq!(env.daemon_pid(), pid);
}

#[test]
fn a_stream_that_is_cut_is_asked_for_again() {
    let mut env = TestEnv::new(FILES);
    let cut = "      - fault: {cut_after_events: 4}\n        reply:\n          tools: [{name: fs.read, input: {path: total.sh}}]\n";
    env.model(&scenario(&(cut.to_owned() + &honest())));
    let done = env.air(&["submit", "--wait", "--output", "json", REQUEST]).expect_code(0).json();
    assert_eq!(done["status"], "completed", "{done:#}");
}

#[test]
fn a_read_only_home_is_an_error_that_names_it() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("not run: mounting needs root");
        return;
    }
    let env = TestEnv::new(FILES);
    let home = env.air_home();
    let script = format!(
        "mount -t tmpfs none {h} && mount -o remount,ro {h} && exec {air} sessions --output json",
        h = home.display(),
        air = crate::env::binary("air").display()
    );
    let mut command = std::process::Command::new("unshare");
    command.args(["-m", "sh", "-c", &script]).current_dir(env.project());
    command.env("AIR_HOME", &home).env("HOME", env.project().parent().unwrap());
    let ran = crate::env::ran(command.output().unwrap());
    assert_ne!(ran.code, 0, "{ran:#?}");
    assert!(format!("{ran:?}").to_lowercase().contains("read-only"), "{ran:#?}");
}

#[test]
fn a_budget_ends_a_turn_and_a_higher_one_goes_on() {
    let mut env = TestEnv::new(FILES);
    env.model(&scenario(&(calls(&[("fs.read", "{path: total.sh}")]) + &honest())));
    env.configure("");
    let text = std::fs::read_to_string(env.air_home().join("config.yaml")).unwrap();
    let priced = text.replace(
        "api_key_env: SCRIPTED_KEY }",
        "api_key_env: SCRIPTED_KEY, models: { scripted-model: { price: { input: 100000, output: 100000, cache_read: 0, cache_write: 0 } } } }",
    );
    std::fs::write(env.air_home().join("config.yaml"), priced).unwrap();
    let ran =
        env.air(&["submit", "--wait", "--max-cost", "0.01", "--output", "json", REQUEST]).expect_code(5);
    assert_eq!(ran.json()["status"], "budget", "{ran:#?}");
}
