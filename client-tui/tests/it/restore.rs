//! The terminal is as it was found, whatever ended the app.

use rustix::process::Signal;

use crate::pty::Terminal;

const ENTER: &str = "\x1b[?1049h";
const LEAVE: &str = "\x1b[?1049l";

/// Modes and screens are as before, and nothing of the screen came after.
fn check_restored(terminal: &Terminal) {
    let (before, after) = (&terminal.before, terminal.modes());
    assert_eq!(after.local_modes, before.local_modes);
    assert_eq!(after.input_modes, before.input_modes);
    assert_eq!(after.output_modes, before.output_modes);
    let output = terminal.output();
    let (_, rest) = output.rsplit_once(LEAVE).unwrap();
    assert!(output.rfind(ENTER) < output.rfind(LEAVE), "{output:?}");
    for on in ["[?1000h", "[?2004h", "[?2026h", "[?25l"] {
        assert!(!rest.contains(on), "{on} in {rest:?}");
    }
    let before_leave = &output[..output.rfind(LEAVE).unwrap()];
    assert!(before_leave.rfind("[?2004l") > before_leave.rfind("[?2004h"));
    assert!(rest.contains("\x1b[?25h"));
}

#[test]
fn leaving_prints_the_last_answer_and_one_line() {
    let mut terminal = Terminal::start();
    assert!(terminal.is_raw());
    // A lone Escape leaves the input when its time is over; what is typed before stays in it.
    terminal.keys("half\x1b");
    terminal.wait_for(" > half");
    terminal.keys("?");
    terminal.wait_for("┌ keys ─");
    terminal.keys("q");
    assert!(terminal.ended().success());
    terminal.wait_for("ended: Ok(())");
    check_restored(&terminal);
    let screen = terminal.screen();
    assert!(screen.contains("the median is 2.5 \\u{1b}[2J\\u{1b}]0;sly\\u{7}"), "{screen}");
    assert!(screen.contains("left s3: working · air"), "{screen}");
}

#[test]
fn a_signal_restores() {
    for signal in [Signal::TERM, Signal::HUP, Signal::INT] {
        let mut terminal = Terminal::start();
        terminal.signal(signal);
        assert!(terminal.ended().success(), "{signal:?}");
        terminal.wait_for("ended: Ok(())");
        check_restored(&terminal);
        assert!(!terminal.output().contains("\x1b[2J\x1b]0;sly"), "text of a model was executed");
    }
}

#[test]
fn a_panic_restores_before_it_is_printed() {
    let mut terminal = Terminal::start();
    terminal.keys("\x03");
    terminal.ended();
    terminal.wait_for("boom");
    check_restored(&terminal);
    let output = terminal.output();
    assert!(output.rfind(LEAVE) < output.find("boom"), "{output:?}");
}

#[test]
fn a_closed_window_ends_it() {
    let mut terminal = Terminal::start();
    terminal.hang_up();
    terminal.ended();
}

#[test]
fn a_stopped_one_leaves_a_usable_shell_and_draws_again() {
    let mut terminal = Terminal::start();
    terminal.keys("\x1a");
    terminal.wait_until("it is stopped", |terminal| terminal.state() == 'T');
    assert!(!terminal.is_raw());
    check_restored(&terminal);
    terminal.forget();
    terminal.signal(Signal::CONT);
    terminal.wait_for("the median is 2.5");
    assert!(terminal.is_raw() && terminal.output().contains(ENTER));
    terminal.signal(Signal::TERM);
    terminal.ended();
    terminal.wait_for("ended: Ok(())");
    check_restored(&terminal);
}

#[test]
fn a_new_size_is_drawn_and_frames_are_whole() {
    let mut terminal = Terminal::start();
    terminal.forget();
    terminal.resize(40, 12);
    terminal.wait_for(" s3 Fix the percentiles");
    let output = terminal.output();
    assert_eq!(output.matches("\x1b[?2026h").count(), output.matches("\x1b[?2026l").count());
    terminal.keys("\x18\x05");
    terminal.wait_for("edited");
    terminal.signal(Signal::TERM);
    terminal.ended();
}
