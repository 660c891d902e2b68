//! The entry: text checks, the parser behind a wall, the guards that need the whole tree.

use std::panic::{AssertUnwindSafe, catch_unwind};

use shuck_parser::parser::{ParseStatus, Parser};

use super::command::Lower;
use super::join::join_lines;
use super::scan;
use super::tree::Script;

/// The longest text that is looked at, in bytes.
const MAX_LEN: usize = 64 * 1024;
/// From this length, or with this many brackets, the parser gets a stack of its own.
const LONG: usize = 8 * 1024;
const DEEP: usize = 48;
/// The deepest nesting of brackets, counted without regard to quotes.
const MAX_DEPTH: usize = 100;
const BIG_STACK: usize = 8 * 1024 * 1024;
/// Steps that the parser may take, for any text.
const FUEL: usize = 2_000_000;

/// A text as far as it is understood.
#[derive(Debug, Default)]
pub(crate) struct Parsed {
    pub script: Script,
    /// Why the tree cannot be trusted to hold everything that bash would run; empty where it can.
    pub refusals: Vec<String>,
}

impl Parsed {
    fn refused(why: impl Into<String>) -> Self {
        Self { script: Script::default(), refusals: vec![why.into()] }
    }
}

/// Parses a text as bash would. Never fails: what is wrong is in [`Parsed::refusals`].
pub(crate) fn parse(text: &str) -> Parsed {
    if text.len() > MAX_LEN {
        return Parsed::refused(format!("the command is longer than {MAX_LEN} bytes"));
    }
    if let Some(c) = text.chars().find(|c| c.is_control() && !matches!(c, '\t' | '\n')) {
        return Parsed::refused(format!("the command holds the control character {}", c.escape_unicode()));
    }
    if text.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1 {
        return Parsed::refused("the command ends in a backslash");
    }
    if depth(text) > MAX_DEPTH {
        return Parsed::refused("the command is nested too deeply");
    }
    let joined = join_lines(text);
    if joined.len() > LONG || nesting(&joined) > DEEP { on_big_stack(&joined) } else { guarded(&joined) }
}

/// How many brackets are open at most. Quoted ones count too: a text with so many is not looked at.
fn depth(text: &str) -> usize {
    let (mut open, mut most) = (0usize, 0);
    for byte in text.bytes() {
        match byte {
            b'(' | b'{' => open += 1,
            b')' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        most = most.max(open);
    }
    most
}

fn nesting(text: &str) -> usize {
    text.bytes().filter(|byte| matches!(byte, b'(' | b'{' | b'[' | b'`')).count()
}

fn on_big_stack(text: &str) -> Parsed {
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(BIG_STACK);
        match builder.spawn_scoped(scope, || guarded(text)) {
            Ok(handle) => handle.join().unwrap_or_else(|_| Parsed::refused("the parser failed")),
            Err(_) => Parsed::refused("no thread to parse a long command on"),
        }
    })
}

fn guarded(text: &str) -> Parsed {
    catch_unwind(AssertUnwindSafe(|| lower(text))).unwrap_or_else(|_| Parsed::refused("the parser failed"))
}

fn lower(text: &str) -> Parsed {
    let result = Parser::with_fuel(text, FUEL.min(text.len() * 64 + 4096)).parse();
    let mut lower = Lower::new(text);
    if result.status != ParseStatus::Clean || !result.diagnostics.is_empty() {
        let why = result.diagnostics.first().map_or("it is incomplete", |found| found.message.as_str());
        lower.refuse(0, &format!("bash would not take the command whole ({why})"));
    }
    let script = lower.sequence(&result.file.body);
    if let Some(at) = lower.cover.gap(text) {
        lower.refuse(at, "text that belongs to no command");
    }
    if let Some(at) = lower.stray_continuation() {
        lower.refuse(at, "a line continued inside a word");
    }
    lower.bodies.sort_by_key(|body| body.range.start);
    if scan::count(text, &lower.bodies) != lower.counts {
        lower.refuse(0, "a substitution that the parser did not see");
    }
    Parsed { script, refusals: lower.refusals }
}
