//! Labelled lines: `  hint    air tasks`, wrapped under their label.

use super::layout::{cells, pad, wrap};

/// Lines of `label` and text; what does not fit in `width` goes on under the text. `column`: where the
/// text begins.
pub fn labelled(indent: usize, label: &str, column: usize, text: &str, width: usize) -> Vec<String> {
    let room = width.saturating_sub(column).max(20);
    let mut out = Vec::new();
    for (index, line) in wrap(text, room).into_iter().enumerate() {
        let head = if index == 0 { format!("{}{label}", " ".repeat(indent)) } else { String::new() };
        let gap = if cells(&head) >= column { format!("{head}  ") } else { pad(&head, column) };
        out.push(format!("{gap}{line}").trim_end().to_owned());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_goes_on_under_itself() {
        let lines =
            labelled(2, "looked", 10, "ANTHROPIC_API_KEY, OPENAI_API_KEY, OPENROUTER_API_KEY; ollama on", 40);
        assert_eq!(lines[0], "  looked  ANTHROPIC_API_KEY,");
        assert_eq!(lines[1], "          OPENAI_API_KEY,");
    }
}
