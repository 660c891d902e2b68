//! The cases of the folder `tests/cases` (another one with `AIR_CASES_DIR`). Those of the kind `restore` need a
//! terminal: `tests/it`.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::{Bench, fixture};
use crate::app::event::{Call, Effect, Event, Reply};
use crate::app::terminal::modes;
use crate::app::terminal::parse::ESCAPE_MS;
use crate::text::escape::{visible_block, visible_line};
use crate::text::layout::{cells, cut};
use crate::text::style::Pen;

fn cases() -> Vec<Value> {
    let folder = std::env::var_os("AIR_CASES_DIR")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/cases")), PathBuf::from);
    let text = std::fs::read_to_string(folder.join("tui.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_case_holds() {
    let mut known = 0;
    for case in cases() {
        let id = case["id"].as_str().unwrap();
        known += 1;
        match case["kind"].as_str().unwrap() {
            "width" => width(id, &case["given"], &case["then"]),
            "size" => size(id, &case["given"], &case["then"]),
            "input" => input(id, &case["given"], &case["then"]),
            "output" => output(id, &case["given"], &case["then"]),
            "restore" => restore(id, &case["given"], &case["then"]),
            other => panic!("{id}: a kind that is not known: {other}"),
        }
    }
    assert!(known > 0);
}

/// What can be seen without a terminal; the rest is in `tests/it/restore.rs`, by the same events.
fn restore(id: &str, given: &Value, then: &Value) {
    if then["next_start_sends_reset"] == true {
        let modes = modes::Modes { mouse: false, console: false };
        for reset in ["[?1000l", "[?1002l", "[?1006l", "[?2004l", "[0m", "[?25h"] {
            assert!(modes::enter(modes, false).contains(reset), "{id}: {reset}");
        }
        assert!(modes::enter(modes, true).contains("[?1049l"), "{id}");
    } else if let Some(key) = given["keys"].as_array() {
        assert_eq!(key, &["ctrl-z"], "{id}");
        assert_eq!(idle().keys("\x1a"), [Effect::Suspend], "{id}");
    } else if let Some(event) = given["event"].as_str() {
        assert!(event.contains("SIGTERM") || event.contains("EIO"), "{id}: an event that no test makes");
        assert!(idle().event(Event::Hangup).contains(&Effect::Leave), "{id}");
    } else {
        assert_eq!(given["stdout"], "pipe", "{id}: what is no terminal gets line mode");
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn pair(value: &Value) -> (u16, u16) {
    serde_json::from_value(value.clone()).unwrap()
}

fn width(id: &str, given: &Value, then: &Value) {
    if let Some(input) = given["input"].as_str() {
        let mut bench = Bench::start(pair(&given["screen"]), Pen::default(), false);
        bench.keys(input);
        let rows = bench.app.editor.rows("…");
        assert_eq!(json!(rows.cursor.1), then["cursor_column"], "{id}");
        return;
    }
    let given_text = text(&given["text"]);
    if let Some(expected) = then["shown"].as_str() {
        let shown = match given["width"].as_u64() {
            Some(width) => cut(&visible_line(given_text), usize::try_from(width).unwrap(), "…"),
            None => visible_line(given_text),
        };
        assert_eq!(shown, expected, "{id}");
    } else if then["stored_order"] == "unchanged" {
        assert_eq!(visible_line(given_text), given_text, "{id}");
    } else if let Some(expected) = then["cells"].as_u64() {
        assert_eq!(cells(given_text) as u64, expected, "{id}");
    } else {
        assert!(!visible_block(given_text).chars().any(char::is_control), "{id}");
    }
}

fn view(name: &str) -> &'static str {
    match name {
        "permission prompt" => "\x18a",
        "diff" => "\x18d",
        "help" => "\x18?",
        _ => "",
    }
}

fn size(id: &str, given: &Value, then: &Value) {
    if given["state"] == "permission prompt open" {
        let mut bench = Bench::with(pair(&given["screen"]), fixture::snapshot(fixture::busy()));
        bench.keys("\x18a");
        bench.later(400);
        bench.resize(pair(&given["resize_to"]));
        assert_eq!(then["prompt_visible"], bench.frame().contains("? a7"), "{id}");
        assert!(
            !bench.keys("\r").iter().any(|effect| matches!(effect, Effect::Call(Call::Answer { .. }))),
            "{id}"
        );
        return;
    }
    let (columns, rows) = pair(&given["screen"]);
    for name in given["views"].as_array().unwrap() {
        let mut bench = Bench::with((80, 24), fixture::snapshot(fixture::busy()));
        bench.keys(view(text(name)));
        let whole = bench.frame();
        bench.event(Event::Resize(columns, rows));
        // A screen that is smaller than what is believed gets no write outside of it either.
        bench.draw((columns, rows));
        bench.app.size = (80, 24);
        bench.draw((columns, rows));
        for keys in ["\x1b[5~", "\x1b[6~", "\x1b[B", "x"] {
            bench.resize((columns, rows));
            bench.keys(keys);
            bench.draw((columns, rows));
        }
        let mut bench = Bench::with((80, 24), fixture::snapshot(fixture::busy()));
        bench.keys(view(text(name)));
        bench.resize((columns, rows));
        bench.resize((80, 24));
        assert_eq!(bench.frame(), whole, "{id}: {name}");
    }
}

/// What was sent, and what is left in the input.
fn outcome(bench: &mut Bench, effects: &[Effect]) -> (usize, String) {
    let sent = effects.iter().filter(|effect| matches!(effect, Effect::Call(Call::Submit { .. }))).count();
    (sent, bench.app.editor.text().to_owned())
}

fn input(id: &str, given: &Value, then: &Value) {
    if given["state"].is_string() {
        return state(id, given, then);
    }
    let mut bench = idle();
    let effects: Vec<Effect> = if let Some(count) = given["paste_chars"].as_u64() {
        let paste = "x".repeat(usize::try_from(count).unwrap());
        let effects = bench.keys(&format!("\x1b[200~{paste}\x1b[201~"));
        assert_eq!(bench.app.editor.text(), paste, "{id}");
        assert!(bench.frame().contains("[pasted 100000 characters]"), "{id}");
        effects
    } else if let Some(reads) = given["reads"].as_array() {
        reads.iter().flat_map(|read| feed(&mut bench, text(read))).collect()
    } else {
        bench.keys(text(&given["bytes"]))
    };
    if then["key"] == "up" {
        // The first entry of the history came back: the key was Up, and Escape moved no focus.
        assert!(ESCAPE_MS <= then["within_ms"].as_i64().unwrap(), "{id}");
        assert_eq!(bench.app.editor.text(), "earlier", "{id}");
        return;
    }
    let (sent, left) = outcome(&mut bench, &effects);
    assert_eq!(json!(sent), then["submitted"], "{id}");
    if let Some(expected) = then["input"].as_str() {
        assert_eq!(left, expected, "{id}");
    }
}

/// One read, without the end of a lone Escape's time.
fn feed(bench: &mut Bench, bytes: &str) -> Vec<Effect> {
    let inputs = bench.parser.feed(bytes.as_bytes());
    inputs.into_iter().flat_map(|input| bench.input(input)).collect()
}

fn idle() -> Bench {
    let mut value = fixture::working();
    value["session"] = fixture::session("done", &[]);
    value["turns"] = json!([]);
    let mut bench = Bench::with((80, 24), fixture::snapshot(value));
    bench.event(Event::Answered(Box::new(Reply::Ui {
        key: crate::app::history::KEY,
        value: json!(["earlier"]),
    })));
    bench
}

fn state(id: &str, given: &Value, then: &Value) {
    let state = text(&given["state"]);
    if state.contains("prompt appears") {
        let mut bench = Bench::with((80, 24), fixture::snapshot(fixture::working()));
        bench.keys("typing");
        let changed = fixture::changed(41, &[("approval", fixture::approval(7))]);
        bench.notify(crate::rpc::Notification::ProjectionChanged(changed));
        bench.later(30);
        let effects = bench.keys("\r");
        assert!(!effects.iter().any(|effect| matches!(effect, Effect::Call(Call::Answer { .. }))), "{id}");
        return;
    }
    let mut bench = if state.contains("running") {
        Bench::with((80, 24), fixture::snapshot(fixture::working()))
    } else {
        idle()
    };
    if state.contains("text in the input") {
        bench.keys("some text");
    }
    let effects = bench.keys("\x03");
    assert_eq!(then["exits"], bench.app.left, "{id}");
    if let Some(hint) = then["hint"].as_str() {
        assert!(bench.frame().contains(hint), "{id}");
    }
    if let Some(input) = then["input"].as_str() {
        assert_eq!(bench.app.editor.text(), input, "{id}");
        bench.keys("\x1b[A");
        assert_eq!(then["history_has_text"], bench.app.editor.text() == "some text", "{id}");
    }
    if then["cancels"] == "the turn" {
        assert!(effects.iter().any(|effect| matches!(effect, Effect::Call(Call::Interrupt { .. }))), "{id}");
    }
}

fn output(id: &str, given: &Value, then: &Value) {
    if let Some(name) = given["project_name"].as_str() {
        let title = modes::title(name);
        let inner = title.strip_prefix("\x1b]2;").and_then(|rest| rest.strip_suffix("\x1b\\")).unwrap();
        assert_eq!(then["title_has_no_control_bytes"], !inner.chars().any(char::is_control), "{id}");
        return;
    }
    let given = text(&given["tool_output"]);
    let mut bench = Bench::with((80, 24), fixture::snapshot(fixture::working()));
    let before = bench.frame();
    bench.notify(fixture::output(4, given));
    let frame = bench.frame();
    assert!(!frame.chars().any(|c| c.is_control() && c != '\n'), "{id}");
    let changed = before.lines().zip(frame.lines()).filter(|(old, new)| old != new).count();
    assert!(changed <= 1, "{id}: only the row of the run is another");
    if let Some(last) = then["shown_last_line"].as_str() {
        assert!(frame.lines().any(|line| line.contains(&format!("cpp.build  {last} "))), "{id}: {frame}");
    }
}
