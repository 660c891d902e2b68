//! Variables in texts and inputs, and captures.

use std::collections::BTreeMap;

use serde_json::Value;

/// Replaces `{{name}}` by its value; an unknown name stays.
pub(crate) fn fill(text: &str, variables: &BTreeMap<String, String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("{{") {
        out.push_str(&rest[..at]);
        let inside = &rest[at + 2..];
        let value =
            inside.find("}}").and_then(|end| variables.get(inside[..end].trim()).map(|value| (value, end)));
        match value {
            Some((value, end)) => {
                out.push_str(value);
                rest = &inside[end + 2..];
            }
            None => {
                out.push_str("{{");
                rest = inside;
            }
        }
    }
    out.push_str(rest);
    out
}

/// Fills every text of an input, in place.
pub(crate) fn fill_value(value: &mut Value, variables: &BTreeMap<String, String>) {
    match value {
        Value::String(text) if text.contains("{{") => *text = fill(text, variables),
        Value::Array(items) => items.iter_mut().for_each(|item| fill_value(item, variables)),
        Value::Object(fields) => fields.values_mut().for_each(|item| fill_value(item, variables)),
        _ => {}
    }
}

/// The part of `text` at the `{}` of a pattern. With nothing behind `{}`, it ends with the line.
pub(crate) fn capture(pattern: &str, text: &str) -> Option<String> {
    let (before, after) = pattern.split_once("{}")?;
    let start = text.find(before)? + before.len();
    let rest = &text[start..];
    let end = if after.is_empty() { rest.find('\n').unwrap_or(rest.len()) } else { rest.find(after)? };
    Some(rest[..end].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_and_captures() {
        let variables =
            BTreeMap::from([("n".to_owned(), "3".to_owned()), ("x".to_owned(), "{{n}}".to_owned())]);
        let check = |text: &str, expected: &str| assert_eq!(fill(text, &variables), expected);
        check("a {{n}} b {{ n }}{{x}}", "a 3 b 3{{n}}");
        check("{{unknown}} {{", "{{unknown}} {{");
        assert_eq!(capture("task {} created", "the task k4 created now").as_deref(), Some("k4"));
        assert_eq!(capture("id: {}", "id: 7\nnext").as_deref(), Some("7"));
        assert_eq!(capture("id: {}", "nothing"), None);
    }
}
