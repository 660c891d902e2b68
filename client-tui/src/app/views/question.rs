//! A question: what, why, which effects, and what each letter covers.

use air_contracts::approval::ApprovalSubject;
use air_contracts::permission::{Effect, EffectKind, GrantScope, ScopeOffer};
use air_contracts::projection::ApprovalView;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::boxed::{Boxed, Inside, inner_height, inner_width};
use super::input::cursor;
use crate::app::editor::{Editor, EditorRow};
use crate::app::overlay::QuestionPane;
use crate::app::row::{plain, width_of, wrap};
use crate::app::state::App;
use crate::text::escape::{visible_block, visible_line};
use crate::text::question::{object, offered, sandboxed, whole, wish};
use crate::text::style::{Mark, Role};
use crate::text::{amounts, words};

/// The letter of an answer in one's own words.
pub const OWN: char = 'w';
/// Options that can have a letter; `w` is not among them.
const OPTIONS: usize = 20;
/// Cells of a typed reason.
const REASON: usize = 64;

/// An editor for a reason.
pub fn editor() -> Editor {
    let mut editor = Editor::default();
    editor.set_width(REASON);
    editor
}

/// The letters that mean something for a question, in the order of their rows.
pub fn letters(approval: &ApprovalView) -> Vec<char> {
    match &approval.subject {
        ApprovalSubject::ToolCall { scopes, .. } => {
            let offered = offered(scopes).into_iter().map(letter);
            offered.chain(['n', 'w', 'v']).collect()
        }
        ApprovalSubject::Question { options, free_text, .. } => {
            let letters = ('a'..='z').take(options.len().min(OPTIONS));
            letters.chain((*free_text && !options.is_empty()).then_some(OWN)).collect()
        }
    }
}

const fn letter(scope: GrantScope) -> char {
    match scope {
        GrantScope::Once => 'y',
        GrantScope::Session => 's',
        GrantScope::Project => 'p',
    }
}

/// Draws it.
pub fn draw(frame: &mut Frame<'_>, app: &App, pane: &QuestionPane, area: Rect) {
    let Some(approval) = app.model.approvals.get(&pane.short) else {
        let mut gone = Boxed { title: vec![Span::raw(pane.short.to_string())], ..Boxed::default() };
        gone.row(plain(app.theme, Role::Dim, "It is closed; the conversation says how. Esc closes this."));
        return gone.draw(frame, app, area);
    };
    let waited = amounts::clock(app.now.millis_since(approval.asked_at));
    let mut boxed =
        Boxed { title: title(app, approval), right: format!("waiting {waited}"), ..Boxed::default() };
    boxed.keys = if pane.sent {
        "sent".to_owned()
    } else if app.observer {
        "you watch: a driver answers".to_owned()
    } else if pane.typing.is_some() {
        format!("Enter sends{}Esc goes back", app.theme.dot())
    } else if pane.marked.is_some() {
        "Enter takes the marked choice".to_owned()
    } else {
        "no choice is marked until you move".to_owned()
    };
    let (width, height) = (inner_width(area), inner_height(area));
    let mut choices = choices(app, pane, approval, width);
    let mut about = about(app, pane, approval, width);
    if choices.len() + 2 > height && pane.typing.is_none() {
        // A small screen scrolls all of it, and names the letters below.
        about.push(Inside::Rule);
        about.append(&mut choices);
        let letters: Vec<String> = letters(approval).iter().map(char::to_string).collect();
        boxed.keys = format!("{}  PgDn", letters.join(" "));
    }
    // The choices are always there; what is above them scrolls.
    let room = height.saturating_sub(if choices.is_empty() { 0 } else { choices.len() + 1 }).max(1);
    let top = pane.top.min(about.len().saturating_sub(room));
    boxed.rows.extend(about.into_iter().skip(top).take(room));
    if !choices.is_empty() {
        boxed.rule();
    }
    let typing_row = boxed.rows.len() + choices.len();
    boxed.rows.extend(choices);
    boxed.draw(frame, app, area);
    if let Some(editor) = &pane.typing {
        let (row, column) = editor.rows("").cursor;
        let back = editor.rows("").rows.len() - row;
        let x = usize::from(area.x) + 2 + PROMPT + column;
        let y = usize::from(area.y) + 1 + typing_row.saturating_sub(back);
        cursor(frame, u16::try_from(x).unwrap_or(u16::MAX), u16::try_from(y).unwrap_or(u16::MAX));
    }
}

/// Cells before a typed reason.
const PROMPT: usize = 7;

fn title(app: &App, approval: &ApprovalView) -> Vec<Span<'static>> {
    let what = match &approval.subject {
        ApprovalSubject::ToolCall { tool, effects, .. } => {
            format!("{}: {}", visible_line(tool), wish(effects))
        }
        ApprovalSubject::Question { .. } => "asks".to_owned(),
    };
    vec![app.theme.mark(Mark::Waiting), Span::raw(format!(" {}  {what}", approval.short))]
}

/// Everything above the choices.
fn about(app: &App, pane: &QuestionPane, approval: &ApprovalView, width: usize) -> Vec<Inside> {
    let text = |text: &str| -> Vec<Inside> {
        wrap(text, width).into_iter().map(|line| Inside::Row(Line::from(line))).collect()
    };
    if pane.whole {
        return text(&whole(approval));
    }
    let whom = asker(app, approval);
    match &approval.subject {
        ApprovalSubject::ToolCall { input, effects, reason, .. } => {
            let mut rows = text(&visible_block(&object(input)));
            let why = format!("{whom}    why: {}", visible_line(reason));
            rows.extend(
                wrap(&why, width).into_iter().map(|line| Inside::Row(plain(app.theme, Role::Dim, line))),
            );
            if !effects.is_empty() {
                rows.push(Inside::Rule);
                rows.extend(
                    effects.iter().enumerate().flat_map(|(at, effect)| self::effect(effect, at, width)),
                );
            }
            rows
        }
        ApprovalSubject::Question { text: asked, .. } => {
            let mut rows = text(&visible_block(asked));
            rows.push(Inside::Row(plain(app.theme, Role::Dim, whom)));
            rows
        }
    }
}

/// `for k2 (w1), session s2`.
fn asker(app: &App, approval: &ApprovalView) -> String {
    let session = approval.session;
    match approval.task {
        None => format!("in session {session}"),
        Some(task) => match app.model.worker_of(task) {
            Some(worker) => format!("for {task} ({worker}), session {session}"),
            None => format!("for {task}, session {session}"),
        },
    }
}

fn effect(effect: &Effect, at: usize, width: usize) -> Vec<Inside> {
    let kind = match effect.kind {
        EffectKind::Read => "read",
        EffectKind::Write => "write",
        EffectKind::Delete => "delete",
        EffectKind::Chmod => "mode",
        EffectKind::Network => "network",
        EffectKind::Exec => "run",
        EffectKind::Env => "secrets",
        EffectKind::Signal => "signal",
        EffectKind::Vcs => "git",
        EffectKind::Build => "build",
        EffectKind::Unknown => "unknown",
    };
    let label = if at == 0 { "effects" } else { "" };
    hanging(vec![Span::raw(format!("{label:<9}{kind:<9}"))], &visible_line(&effect.target), width)
}

/// Text behind a head, which goes on under itself: nothing that is asked is ever cut.
fn hanging(head: Vec<Span<'static>>, text: &str, width: usize) -> Vec<Inside> {
    let indent = width_of(&head);
    let mut head = Some(head);
    let lines = wrap(text, width.saturating_sub(indent).max(8));
    let row = |line: String| {
        let mut spans = head.take().unwrap_or_else(|| vec![Span::raw(" ".repeat(indent))]);
        spans.push(Span::raw(line));
        Inside::Row(Line::from(spans))
    };
    lines.into_iter().map(row).collect()
}

fn choices(app: &App, pane: &QuestionPane, approval: &ApprovalView, width: usize) -> Vec<Inside> {
    if app.observer {
        return Vec::new();
    }
    if let Some(editor) = &pane.typing {
        return typing(app, editor, approval);
    }
    let mut at = 0;
    let mut letter_span = |letter: char| {
        let mut span = app.theme.span(Role::Bold, letter.to_string());
        if pane.marked == Some(at) {
            span.style = span.style.add_modifier(Modifier::REVERSED);
        }
        at += 1;
        span
    };
    let mut rows = Vec::new();
    match &approval.subject {
        ApprovalSubject::ToolCall { scopes, .. } => {
            for scope in offered(scopes) {
                let name = match scope {
                    GrantScope::Project if sandboxed(scopes) => "sandboxed: always here",
                    other => words::scope(other),
                };
                let head = vec![letter_span(letter(scope)), Span::raw(format!("  {name:<9}"))];
                rows.extend(hanging(head, &covers(scopes, scope), width));
            }
            let mut last: Vec<Vec<Span<'static>>> =
                [('n', "deny"), ('w', "deny and say why"), ('v', "everything about it")]
                    .into_iter()
                    .map(|(letter, text)| vec![letter_span(letter), Span::raw(format!("  {text}     "))])
                    .collect();
            last.push(vec![app.theme.span(Role::Dim, "Esc  later")]);
            if width_of(&last.concat()) <= width {
                last = vec![last.concat()];
            }
            rows.extend(last.into_iter().map(|spans| Inside::Row(Line::from(spans))));
        }
        ApprovalSubject::Question { options, .. } => {
            for (letter, option) in ('a'..='z').zip(options.iter().take(OPTIONS)) {
                rows.extend(hanging(
                    vec![letter_span(letter), Span::raw("  ")],
                    &visible_line(option),
                    width,
                ));
            }
            if letters(approval).contains(&OWN) {
                rows.push(Inside::Row(Line::from(vec![letter_span(OWN), Span::raw("  say something else")])));
            }
        }
    }
    rows
}

/// The reason, or the answer, that is being typed.
fn typing(app: &App, editor: &Editor, approval: &ApprovalView) -> Vec<Inside> {
    let is_call = matches!(approval.subject, ApprovalSubject::ToolCall { .. });
    let label = if is_call { "why  > " } else { "say  > " };
    let rows = editor.rows(app.theme.ellipsis()).rows;
    let row = |(at, row): (usize, &EditorRow)| {
        let head = if at == 0 { label.to_owned() } else { " ".repeat(PROMPT) };
        Inside::Row(Line::from(vec![app.theme.span(Role::Bold, head), Span::raw(row.text.clone())]))
    };
    rows.iter().enumerate().map(row).collect()
}

fn covers(scopes: &[ScopeOffer], scope: GrantScope) -> String {
    let offer = scopes.iter().find(|offer| offer.scope == scope);
    offer.map_or_else(|| "this call, byte for byte".to_owned(), |offer| visible_line(&offer.covers))
}
