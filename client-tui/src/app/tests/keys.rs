//! What keys do, from bytes to calls.

use air_contracts::approval::ApprovalDecision;
use air_contracts::permission::GrantScope;
use serde_json::json;

use super::{Bench, fixture};
use crate::app::event::{Answer, Call, Effect, Event, Reply};
use crate::app::overlay::Overlay;
use crate::app::state::Focus;
use crate::app::terminal::keys::Input;
use crate::app::transcript::Anchor;
use crate::rpc::Notification;

const SIZE: (u16, u16) = (80, 24);

fn working() -> Bench {
    Bench::with(SIZE, fixture::snapshot(fixture::working()))
}

fn busy() -> Bench {
    Bench::with(SIZE, fixture::snapshot(fixture::busy()))
}

/// Nothing runs.
fn idle() -> Bench {
    let mut value = fixture::working();
    value["session"] = fixture::session("done", &[]);
    value["turns"] = json!([fixture::turn(12, "answered", "why")]);
    value["tasks"] = json!([]);
    Bench::with(SIZE, fixture::snapshot(value))
}

fn calls(effects: &[Effect]) -> Vec<&Call> {
    effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::Call(Call::UiSet { .. }) => None,
            Effect::Call(call) | Effect::LastCall(call) => Some(call),
            _ => None,
        })
        .collect()
}

fn submitted(effects: &[Effect]) -> Vec<String> {
    let text = |effect: &Effect| match effect {
        Effect::Call(Call::Submit { text, .. }) => Some(text.clone()),
        _ => None,
    };
    effects.iter().filter_map(text).collect()
}

#[test]
fn enter_sends_and_a_new_line_does_not() {
    let mut bench = idle();
    assert_eq!(submitted(&bench.keys("one\ntwo\\\rthree\x1b\rfour\r")), ["one\ntwo\nthree\nfour"]);
    assert!(bench.app.editor.is_empty());
    assert!(submitted(&bench.keys("  \r")).is_empty());
    // The second waits until the first is on disk, so that their order stays.
    assert!(submitted(&bench.keys("\x15second\x18\r")).is_empty());
    let sent = bench.app.outbox.front().unwrap().client_id.clone();
    let result = json!({ "turn_id": fixture::id("turn", 13), "turn": "t13", "session_id": fixture::id("session", 3),
        "session": "s3", "seq": 50, "queued": false });
    let reply = Reply::Submitted { client_id: sent, result: serde_json::from_value(result).unwrap() };
    assert_eq!(submitted(&bench.event(Event::Answered(Box::new(reply)))), ["second"]);
}

#[test]
fn a_paste_never_submits_and_is_kept_exactly() {
    let mut bench = idle();
    assert!(submitted(&bench.keys("\x1b[200~line1\rline2\r\x1b[201~")).is_empty());
    assert_eq!(bench.app.editor.text(), "line1\nline2\n");
}

#[test]
fn control_c_clears_then_stops_then_asks() {
    let mut bench = working();
    assert!(calls(&bench.keys("typed\x03")).is_empty());
    assert!(bench.app.editor.is_empty());
    bench.keys("\x1b[A");
    assert_eq!(bench.app.editor.text(), "typed");
    bench.keys("\x03");
    let effects = bench.keys("\x03");
    assert!(matches!(calls(&effects).as_slice(), [Call::Interrupt { .. }]), "{effects:?}");
    assert!(!bench.app.left);
    bench.event(Event::Answered(Box::new(Reply::Interrupted { stopped: true })));
    assert!(bench.frame().contains("stopped · say what to change, or /continue"));

    let mut bench = idle();
    assert!(bench.keys("\x03").is_empty());
    assert!(bench.frame().contains("^C again leaves; work goes on"));
    bench.later(2_100);
    bench.keys("\x03");
    assert!(!bench.app.left);
    assert!(bench.keys("\x03").contains(&Effect::Leave));
}

#[test]
fn escape_goes_back_and_twice_stops() {
    let mut bench = working();
    bench.keys("\x18t");
    assert_eq!(bench.app.focus, Focus::Overlay);
    bench.keys("\x1b");
    assert_eq!((bench.app.focus, bench.app.overlays.len()), (Focus::Input, 0));
    assert!(calls(&bench.keys("\x1b")).is_empty());
    assert_eq!(bench.app.focus, Focus::Transcript);
    bench.later(600);
    assert!(calls(&bench.keys("\x1b")).is_empty());
    bench.later(100);
    assert!(matches!(calls(&bench.keys("\x1b")).as_slice(), [Call::Interrupt { .. }]));
}

#[test]
fn a_question_takes_neither_focus_nor_keys_on_their_way() {
    let mut bench = working();
    bench.keys("half a sent");
    let changed = fixture::changed(41, &[("approval", fixture::approval(7))]);
    assert_eq!(bench.notify(Notification::ProjectionChanged(changed))[0], Effect::Ring);
    bench.later(30);
    assert_eq!(submitted(&bench.keys("ence\r")), ["half a sentence"]);
    assert!(bench.frame().contains("? a7 reach the network: curl"));
    // Opened: keys within the guard, pastes and Enter alone do nothing.
    bench.keys("\x18a");
    assert!(calls(&bench.keys("y\r")).is_empty());
    bench.later(301);
    assert!(calls(&bench.keys("\r\r1yes"[..2].into())).is_empty());
    assert!(calls(&bench.input(Input::Paste("y".into()))).is_empty());
    let effects = bench.keys("s");
    let [Call::Answer { answer, .. }] = calls(&effects)[..] else { panic!("{effects:?}") };
    assert_eq!(
        *answer,
        Answer {
            decision: Some(ApprovalDecision::Allow),
            scope: Some(GrantScope::Session),
            ..Answer::default()
        }
    );
    // Only once.
    assert!(calls(&bench.keys("ny")).is_empty());
    bench.event(Event::Answered(Box::new(Reply::QuestionAnswered("a7".parse().unwrap()))));
    assert_eq!((bench.app.overlays.len(), bench.app.focus), (0, Focus::Input));
}

#[test]
fn a_denial_can_say_why_and_a_choice_can_be_marked() {
    let mut bench = busy();
    bench.keys("\t");
    assert!(matches!(bench.app.overlays.last(), Some(Overlay::Question(_))));
    bench.later(400);
    let effects = bench.keys("wuse the system's\r");
    let [Call::Answer { answer, .. }] = calls(&effects)[..] else { panic!("{effects:?}") };
    assert_eq!(
        (answer.decision, answer.note.as_deref()),
        (Some(ApprovalDecision::Deny), Some("use the system's"))
    );

    let mut bench = busy();
    bench.keys("\x18a");
    bench.later(400);
    bench.keys("\x1b[B\x1b[B");
    bench.resize((40, 10));
    assert!(bench.frame().contains("a7"));
    bench.resize(SIZE);
    let effects = bench.keys("\r");
    let [Call::Answer { answer, .. }] = calls(&effects)[..] else { panic!("{effects:?}") };
    assert_eq!(answer.scope, Some(GrantScope::Session));
}

#[test]
fn a_question_of_the_model_takes_a_letter_or_words() {
    let mut value = fixture::busy();
    value["approvals"] = json!([fixture::question(8)]);
    let answer = |keys: &str| {
        let mut bench = Bench::with(SIZE, fixture::snapshot(value.clone()));
        bench.keys("\x18a");
        bench.later(400);
        let effects = bench.keys(keys);
        calls(&effects).into_iter().find_map(|call| match call {
            Call::Answer { answer, .. } => answer.text.clone(),
            _ => None,
        })
    };
    assert_eq!(answer("b").as_deref(), Some("2"));
    assert_eq!(answer("wneither\r").as_deref(), Some("neither"));
    assert_eq!(answer("1"), None);
    assert_eq!(answer("\r"), None);
}

#[test]
fn the_draft_is_kept_after_a_second_and_when_leaving() {
    let mut bench = idle();
    bench.keys("half");
    assert!(calls(&bench.later(900)).is_empty());
    let effects = bench.later(200);
    assert!(
        matches!(calls(&effects).as_slice(), [Call::DraftSet { text, .. }] if text == "half"),
        "{effects:?}"
    );
    bench.keys(" more\x1b");
    let effects = bench.keys("q");
    assert!(
        matches!(effects.as_slice(), [Effect::LastCall(Call::DraftSet { text, .. }), Effect::Leave] if text == "half more"),
        "{effects:?}"
    );
    // What another client left is there, unless something was typed.
    let mut bench = idle();
    bench.event(Event::Answered(Box::new(Reply::Draft { text: "from elsewhere".into() })));
    assert_eq!(bench.app.editor.text(), "from elsewhere");
}

#[test]
fn up_takes_back_what_has_not_begun() {
    let mut value = fixture::working();
    value["turns"] =
        json!([fixture::turn(12, "running", "why"), fixture::turn(13, "queued", "and then this")]);
    let mut bench = Bench::with(SIZE, fixture::snapshot(value));
    assert!(bench.frame().contains("t13 after this turn: and then this"));
    let effects = bench.keys("\x1b[A");
    assert!(matches!(calls(&effects).as_slice(), [Call::TakeBack { text, .. }] if text == "and then this"));
    bench.event(Event::Answered(Box::new(Reply::TakenBack { text: "and then this".into() })));
    assert_eq!(bench.app.editor.text(), "and then this");
}

#[test]
fn commands_have_the_words_of_the_cli() {
    let mut bench = busy();
    let effects = bench.keys("/deny a7 not now\r");
    assert!(
        matches!(calls(&effects).as_slice(), [Call::Answer { answer, .. }] if answer.note.as_deref() == Some("not now"))
    );
    assert!(calls(&bench.keys("/nonsense\r")).is_empty());
    assert_eq!(bench.app.editor.text(), "/nonsense");
    assert!(bench.frame().contains("/nonsense: no such command"));
    bench.keys("\x15/diff\r");
    assert!(matches!(bench.app.overlays.last(), Some(Overlay::Diff(_))));
    let effects = bench.keys("\t/quit\r");
    assert!(effects.contains(&Effect::Leave));
    assert!(!effects.iter().any(
        |effect| matches!(effect, Effect::LastCall(Call::DraftSet { text, .. }) if text.contains("quit"))
    ));
}

#[test]
fn scrolling_keeps_its_place_while_more_comes() {
    let mut value = fixture::working();
    let items: Vec<_> = (1..=60)
        .map(|n| fixture::assistant(n, 100 + u32::try_from(n).unwrap(), &format!("message {n}")))
        .collect();
    value["items"] = json!(items);
    let mut bench = Bench::with(SIZE, fixture::snapshot(value));
    bench.keys("\x1b[5~");
    let before = bench.frame();
    assert!(matches!(bench.app.transcript.anchor, Anchor::At { .. }));
    let more = fixture::assistant(41, 300, "message 61");
    bench.notify(Notification::ProjectionChanged(fixture::changed(41, &[("item", more)])));
    bench.notify(fixture::delta(301, "being written"));
    let body = |frame: &str| frame.lines().skip(2).take(10).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(body(&bench.frame()), body(&before));
    bench.keys("\x1b");
    bench.keys("F");
    assert!(bench.frame().contains("being written▌"));
    bench.keys("kkk");
    assert!(bench.frame().contains(">message") || bench.frame().contains("> message"));
    bench.keys("g");
    assert!(bench.frame().contains(" message 1\n"));
}

#[test]
fn an_observer_changes_nothing() {
    let mut bench = Bench::start(SIZE, crate::text::style::Pen::default(), true);
    bench.connect();
    bench.event(Event::Answered(Box::new(Reply::Snapshot(fixture::snapshot(fixture::busy())))));
    let effects = bench.keys("hello\r\x18a");
    bench.later(400);
    let more = bench.keys("yns\x1b\x03");
    let looks =
        |call: &&Call| matches!(call, Call::Evidence { .. } | Call::Agents { .. } | Call::Changes { .. });
    assert!(calls(&effects).iter().chain(&calls(&more)).all(looks), "{effects:?} {more:?}");
    assert!(bench.keys("D").contains(&Effect::Connect { after_ms: 0, observer: false, start: true }));
}
