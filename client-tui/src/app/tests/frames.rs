//! Frames at their sizes, as text; colours and attributes are looked at where they carry a rule.

use insta::assert_snapshot;
use ratatui::style::{Color, Modifier};
use serde_json::json;

use super::{Bench, fixture};
use crate::app::event::{Event, Reply};
use crate::app::overlay::DiffOf;
use crate::text::style::Pen;

const SIZE: (u16, u16) = (80, 24);

fn working(size: (u16, u16)) -> Bench {
    let mut bench = Bench::with(size, fixture::snapshot(fixture::working()));
    bench.notify(fixture::output(
        4,
        "[5/10] a\n[6/10] tests/CMakeFiles/percentile_test.dir/percentile_test.cpp.o\n",
    ));
    bench.notify(fixture::delta(9, "The rank used n instead of n - 1, so every percentile between "));
    bench.notify(fixture::delta(9, "the ends came out too high"));
    bench.keys("also say in the header what happens for one value");
    bench
}

fn busy(size: (u16, u16)) -> Bench {
    Bench::with(size, fixture::snapshot(fixture::busy()))
}

#[test]
fn the_session_while_it_works() {
    assert_snapshot!("working_80x24", working(SIZE).frame());
    assert_snapshot!("working_40x12", working((40, 12)).frame());
    assert_snapshot!("busy_120x40", busy((120, 40)).frame());
}

#[test]
fn the_first_frame_needs_no_daemon() {
    let mut bench = Bench::start(SIZE, Pen::default(), false);
    bench.keys("fix it");
    assert_snapshot!("first_80x24", bench.frame());
    assert_eq!(bench.cursor(), (20, 9));
}

#[test]
fn ascii_takes_the_place_of_every_symbol() {
    let mut bench = Bench::start(SIZE, Pen { colour: false, ascii: true }, false);
    bench.connect();
    let snapshot = Reply::Snapshot(fixture::snapshot(fixture::busy()));
    bench.event(Event::Answered(Box::new(snapshot)));
    for keys in ["", "\x18t", "\x18a"] {
        bench.keys(keys);
        let frame = bench.frame();
        assert!(frame.is_ascii(), "{frame}");
    }
    assert_snapshot!("ascii_question_80x24", bench.frame());
}

#[test]
fn overlays_fill_the_screen_but_for_title_input_and_hud() {
    let mut bench = busy(SIZE);
    bench.keys("\x18a");
    assert_snapshot!("question_80x24", bench.frame());
    bench.later(400);
    bench.keys("\x1b[B\x1b[B");
    assert!(bench.frame().contains("Enter takes the marked choice"));
    bench.keys("\x1b");
    bench.keys("\x18t");
    assert_snapshot!("tasks_80x24", bench.frame());
    bench.keys("X");
    assert!(bench.frame().contains("cancel k1?") || bench.frame().contains("Enter evidence"));
    bench.keys("w");
    assert_snapshot!("workers_80x24", bench.frame());
    bench.keys("r");
    assert_snapshot!("runs_80x24", bench.frame());
    bench.keys("?");
    assert_snapshot!("help_80x24", bench.frame());
}

#[test]
fn a_question_is_never_cut() {
    let mut value = fixture::busy();
    let covers = "curl to example.org:443 and to every host that it leads on to; new files inside the project, and none elsewhere";
    value["approvals"][0]["subject"]["scopes"][1]["covers"] = json!(covers);
    let mut bench = Bench::with(SIZE, fixture::snapshot(value));
    bench.keys("\x18a");
    assert!(bench.frame().contains("none elsewhere"), "{}", bench.frame());
    bench.later(400);
    // On a small screen all of it can be scrolled to, and the letters are there at once.
    bench.resize((40, 12));
    let mut seen = bench.frame();
    assert!(seen.contains("y s p n w v"), "{seen}");
    for _ in 0..6 {
        bench.keys("\x1b[6~");
        seen.push_str(&bench.frame());
    }
    for part in ["project, and none", "deny", "everything"] {
        assert!(seen.contains(part), "{part} in {seen}");
    }
}

#[test]
fn a_run_shows_its_command_and_its_output() {
    let mut bench = busy(SIZE);
    bench.keys("\x18rjjj\r");
    let text: String = (1..=40).map(|n| format!("{n}/40 Test #{n}: stats.summary ...   Passed\n")).collect();
    let whole = fixture::run(
        1,
        "cpp.test",
        "ctest --preset default",
        json!({ "content": text, "exit_code": 8, "duration_ms": 2_400 }),
    );
    bench.event(Event::Answered(Box::new(Reply::Run(fixture::run_view(&whole)))));
    assert_snapshot!("run_80x24", bench.frame());
    bench.keys("gj");
    assert!(bench.frame().contains("│ 2/40 ") && !bench.frame().contains("│ 1/40 "));
}

#[test]
fn evidence_and_diff() {
    let mut bench = busy(SIZE);
    bench.keys("\x18e");
    bench.event(Event::Answered(Box::new(Reply::Evidence { task: None, items: fixture::evidence_views() })));
    assert_snapshot!("evidence_80x24", bench.frame());
    bench.keys("d");
    let of = DiffOf::Turn("t12".parse().unwrap());
    bench.event(Event::Answered(Box::new(Reply::Changes { of, changes: fixture::changes() })));
    assert_snapshot!("diff_80x24", bench.frame());
    bench.keys("}z");
    assert!(!bench.frame().contains("sly") && bench.frame().contains("notes.txt"));
}

#[test]
fn an_observer_is_told_so() {
    let mut bench = Bench::start(SIZE, Pen::default(), true);
    bench.connect();
    bench.event(Event::Answered(Box::new(Reply::Snapshot(fixture::snapshot(fixture::working())))));
    let frame = bench.frame();
    assert!(frame.lines().next().unwrap().ends_with("OBSERVER   ▸ working 0:14"), "{frame}");
    assert!(frame.contains("You watch; nothing you press changes the work.  D drives"));
}

#[test]
fn an_ended_turn_and_another_ones_thinking() {
    let mut value = fixture::working();
    value["session"] = fixture::session("failed", &[]);
    let mut turn = fixture::turn(12, "failed", "why");
    turn["error"] = json!({ "kind": "provider", "code": "provider.auth", "message": "the key is refused (401)",
        "hints": ["export ANTHROPIC_API_KEY=…"], "retryable": false });
    value["turns"] = json!([turn]);
    value["tasks"] = json!([]);
    value["items"] = json!([
        fixture::user(1, "why\n\nsecond paragraph with 你好，世界"),
        fixture::item(
            3,
            json!({ "kind": "assistant_message", "id": fixture::id("message", 3),
            "text": "# Why\n\n```cpp\nint\tmain();\n```", "thinking": "first\nsecond" })
        ),
        fixture::item(4, json!({ "kind": "notice", "text": "waits for anthropic" })),
        fixture::item(9, json!({ "kind": "turn_ended", "status": "failed", "answer": "I could not." })),
    ]);
    assert_snapshot!("failed_80x24", Bench::with(SIZE, fixture::snapshot(value)).frame());
}

#[test]
fn colours_are_of_the_users_palette_and_mono_has_none() {
    for (colour, expected) in [(true, true), (false, false)] {
        let mut bench = Bench::start((120, 40), Pen { colour, ascii: false }, false);
        bench.connect();
        bench.event(Event::Answered(Box::new(Reply::Snapshot(fixture::snapshot(fixture::busy())))));
        let terminal = bench.draw(bench.app.size);
        let cells = terminal.backend().buffer().content();
        let allowed =
            [Color::Reset, Color::Red, Color::Green, Color::Yellow, Color::Blue, Color::Magenta, Color::Cyan];
        assert!(cells.iter().all(|cell| allowed.contains(&cell.fg) && cell.bg == Color::Reset));
        assert_eq!(cells.iter().any(|cell| cell.fg != Color::Reset), expected);
        // A question stands out either way.
        let asks = cells.iter().find(|cell| cell.symbol() == "?").unwrap();
        assert!(asks.modifier.contains(Modifier::REVERSED));
    }
}
