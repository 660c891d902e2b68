//! From what a model wrote to what a tool takes: other names, other forms, friendly errors.

use air_contracts::error::codes;
use air_contracts::{AirError, Result};
use serde_json::{Map, Value};

/// An input in the form of its schema.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Normalised {
    /// Keys in the order of the schema, so that equal inputs are equal texts.
    pub value: Value,
    /// What was mapped: `file_path → path`.
    pub mapped: Vec<String>,
}

/// Names that models know for a parameter. Used only where the tool has the second and not the first.
const ALIASES: &[(&str, &str)] = &[
    ("file_path", "path"),
    ("filePath", "path"),
    ("filepath", "path"),
    ("filename", "path"),
    ("file", "path"),
    ("old_str", "old_string"),
    ("oldString", "old_string"),
    ("oldText", "old_string"),
    ("new_str", "new_string"),
    ("newString", "new_string"),
    ("newText", "new_string"),
    ("replaceAll", "replace_all"),
    ("allow_multiple", "replace_all"),
    ("cmd", "command"),
    ("workdir", "cwd"),
    ("dir_path", "cwd"),
    ("dir_path", "path"),
    ("directory", "path"),
    ("timeout", "timeout_ms"),
    ("is_background", "background"),
    ("run_in_background", "background"),
    ("file_text", "content"),
    ("contents", "content"),
    ("query", "pattern"),
    ("regex", "pattern"),
    ("outputMode", "output_mode"),
];

/// Brings `input` into the form of `schema`, or says which parameter is wrong and what is taken.
pub(crate) fn normalise(tool: &str, schema: &Value, input: Value) -> Result<Normalised> {
    let mut mapped = Vec::new();
    let input = match input {
        Value::Null => Value::Object(Map::new()),
        Value::String(text) => match serde_json::from_str::<Value>(&text) {
            Ok(value @ Value::Object(_)) => {
                mapped.push("text → object".to_owned());
                value
            }
            _ => Value::String(text),
        },
        other => other,
    };
    let Value::Object(input) = input else {
        return Err(invalid(tool, schema, format!("the input is {}, not an object", kind_of(&input))));
    };
    let value = object(tool, schema, input, "", &mut mapped)?;
    Ok(Normalised { value, mapped })
}

fn object(
    tool: &str,
    schema: &Value,
    mut input: Map<String, Value>,
    at: &str,
    mapped: &mut Vec<String>,
) -> Result<Value> {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return Ok(Value::Object(input));
    };
    rename(properties, &mut input, mapped);
    let closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
    let mut output = Map::new();
    for (name, property) in properties {
        let Some(value) = input.shift_remove(name) else { continue };
        // Some models send null for what they leave out.
        if value.is_null() {
            continue;
        }
        let place = if at.is_empty() { name.clone() } else { format!("{at}.{name}") };
        output.insert(name.clone(), coerce(tool, schema, property, value, &place, mapped)?);
    }
    if let Some(unknown) = input.keys().next().filter(|_| closed) {
        return Err(invalid(tool, schema, format!("there is no parameter `{}`", join(at, unknown))));
    }
    output.extend(input);
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    for name in required.filter_map(Value::as_str) {
        if !output.contains_key(name) {
            return Err(invalid(tool, schema, format!("`{}` is missing", join(at, name))));
        }
    }
    Ok(Value::Object(output))
}

fn rename(properties: &Map<String, Value>, input: &mut Map<String, Value>, mapped: &mut Vec<String>) {
    for (alias, name) in ALIASES {
        if !properties.contains_key(*name) || properties.contains_key(*alias) || input.contains_key(*name) {
            continue;
        }
        let Some(value) = input.shift_remove(*alias) else { continue };
        mapped.push(format!("{alias} → {name}"));
        let value = match (*name, value) {
            ("timeout_ms", value) => seconds(value, mapped),
            ("command", Value::Array(words)) => Value::String(join_argv(&words)),
            (_, value) => value,
        };
        input.insert((*name).to_owned(), value);
    }
    lines_to_offset(properties, input, mapped);
}

/// A `timeout` below 1,000 is meant in seconds.
fn seconds(value: Value, mapped: &mut Vec<String>) -> Value {
    let number = value.as_f64().or_else(|| value.as_str().and_then(|text| text.trim().parse().ok()));
    match number {
        Some(number) if number > 0.0 && number < 1_000.0 => {
            mapped.push(format!("timeout {number} taken as seconds"));
            Value::from((number * 1_000.0) as u64)
        }
        _ => value,
    }
}

fn lines_to_offset(
    properties: &Map<String, Value>,
    input: &mut Map<String, Value>,
    mapped: &mut Vec<String>,
) {
    if !properties.contains_key("offset")
        || !properties.contains_key("limit")
        || properties.contains_key("start_line")
    {
        return;
    }
    let number =
        |value: Value| value.as_u64().or_else(|| value.as_str().and_then(|text| text.trim().parse().ok()));
    let start = input.shift_remove("start_line").and_then(number);
    let end = input.shift_remove("end_line").and_then(number);
    if start.is_none() && end.is_none() {
        return;
    }
    mapped.push("start_line, end_line → offset, limit".to_owned());
    let first = start.unwrap_or(1).max(1);
    input.entry("offset").or_insert_with(|| first.into());
    if let Some(end) = end.filter(|end| *end >= first) {
        input.entry("limit").or_insert_with(|| (end - first + 1).into());
    }
}

/// Numbers and booleans as strings, and JSON text where an object or a list is due.
fn coerce(
    tool: &str,
    schema: &Value,
    property: &Value,
    value: Value,
    at: &str,
    mapped: &mut Vec<String>,
) -> Result<Value> {
    let Some(wanted) = property.get("type").and_then(Value::as_str) else { return Ok(value) };
    let value = match (wanted, value) {
        ("integer" | "number" | "boolean" | "array" | "object", Value::String(text)) => {
            match serde_json::from_str::<Value>(text.trim()) {
                Ok(parsed) if has_type(&parsed, wanted) => {
                    mapped.push(format!("{at}: text → {wanted}"));
                    parsed
                }
                _ => Value::String(text),
            }
        }
        ("integer", Value::Number(number)) => {
            match number.as_f64().filter(|n| n.fract() == 0.0 && number.as_i64().is_none()) {
                Some(whole) => Value::from(whole as i64),
                None => Value::Number(number),
            }
        }
        ("string", value @ (Value::Number(_) | Value::Bool(_))) => Value::String(value.to_string()),
        ("string", Value::Array(words)) if at == "command" => {
            mapped.push("command: list → text".to_owned());
            Value::String(join_argv(&words))
        }
        (_, value) => value,
    };
    if !has_type(&value, wanted) {
        return Err(invalid(tool, schema, format!("`{at}` is {}, {wanted} is due", kind_of(&value))));
    }
    check_range(tool, schema, property, &value, at)?;
    match value {
        Value::Object(map) => object(tool, property, map, at, mapped),
        Value::Array(items) => {
            let Some(item) = property.get("items") else { return Ok(Value::Array(items)) };
            let items = items.into_iter().enumerate();
            let items: Result<Vec<Value>> = items
                .map(|(i, value)| coerce(tool, schema, item, value, &format!("{at}[{i}]"), mapped))
                .collect();
            Ok(Value::Array(items?))
        }
        value => Ok(value),
    }
}

fn check_range(tool: &str, schema: &Value, property: &Value, value: &Value, at: &str) -> Result<()> {
    if let Some(allowed) = property.get("enum").and_then(Value::as_array)
        && !allowed.contains(value)
    {
        let allowed: Vec<String> =
            allowed.iter().filter_map(Value::as_str).map(|text| format!("`{text}`")).collect();
        return Err(invalid(
            tool,
            schema,
            format!("`{at}` is {value}, one of {} is due", allowed.join(", ")),
        ));
    }
    let bound = |name: &str| property.get(name).and_then(Value::as_i64);
    if let Some(number) = value.as_i64() {
        if bound("minimum").is_some_and(|least| number < least) {
            return Err(invalid(
                tool,
                schema,
                format!("`{at}` is {number}, the least is {}", property["minimum"]),
            ));
        }
        if bound("maximum").is_some_and(|most| number > most) {
            return Err(invalid(
                tool,
                schema,
                format!("`{at}` is {number}, the most is {}", property["maximum"]),
            ));
        }
    }
    Ok(())
}

fn has_type(value: &Value, wanted: &str) -> bool {
    match wanted {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => true,
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Words as one shell line, each quoted where it has to be.
fn join_argv(words: &[Value]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./=:,@%+".contains(c);
    let quote = |word: &Value| match word {
        Value::String(text) if !text.is_empty() && text.chars().all(plain) => text.clone(),
        Value::String(text) => format!("'{}'", text.replace('\'', r"'\''")),
        other => other.to_string(),
    };
    // `["bash", "-lc", "…"]` is the line itself.
    if let [Value::String(shell), Value::String(flag), Value::String(line)] = words
        && matches!(shell.rsplit('/').next(), Some("bash" | "sh"))
        && matches!(flag.as_str(), "-c" | "-lc")
    {
        return line.clone();
    }
    words.iter().map(quote).collect::<Vec<_>>().join(" ")
}

fn join(at: &str, name: &str) -> String {
    if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") }
}

fn invalid(tool: &str, schema: &Value, what: String) -> AirError {
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let properties = schema.get("properties").and_then(Value::as_object);
    let names: Vec<String> = properties
        .into_iter()
        .flatten()
        .map(
            |(name, _)| {
                if required.contains(&name.as_str()) { format!("{name} (required)") } else { name.clone() }
            },
        )
        .collect();
    let takes = if names.is_empty() {
        "it takes no parameters".to_owned()
    } else {
        format!("it takes {}", names.join(", "))
    };
    AirError::new(codes::TOOL_INVALID_INPUT, format!("`{tool}`: {what}; {takes}. Nothing was done."))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["path"],
            "properties": {
                "path": { "type": "string" },
                "offset": { "type": "integer", "minimum": 1 },
                "limit": { "type": "integer" },
                "command": { "type": "string" },
                "timeout_ms": { "type": "integer" },
                "background": { "type": "boolean" },
                "mode": { "type": "string", "enum": ["a", "b"] },
                "edits": { "type": "array", "items": { "type": "object", "additionalProperties": false,
                    "properties": { "old_string": { "type": "string" } }, "required": ["old_string"] } },
            },
        })
    }

    fn check(input: Value, expected: Value) {
        assert_eq!(normalise("t", &schema(), input).unwrap().value, expected);
    }

    fn refused(input: Value, mentions: &str) {
        let error = normalise("t", &schema(), input).unwrap_err();
        assert!(error.message.contains(mentions), "{}", error.message);
    }

    #[test]
    fn names_and_forms_that_models_know_are_taken() {
        check(
            json!({ "file_path": "a", "start_line": 5, "end_line": "9" }),
            json!({ "path": "a", "offset": 5, "limit": 5 }),
        );
        check(
            json!({ "path": "a", "timeout": 30, "is_background": "true" }),
            json!({ "path": "a", "timeout_ms": 30_000, "background": true }),
        );
        check(
            json!({ "path": "a", "cmd": ["ls", "-l", "a b"] }),
            json!({ "path": "a", "command": "ls -l 'a b'" }),
        );
        check(
            json!({ "path": "a", "command": ["bash", "-lc", "ls | wc"] }),
            json!({ "path": "a", "command": "ls | wc" }),
        );
        check(
            json!({ "path": "a", "edits": "[{\"old_str\":\"x\"}]" }),
            json!({ "path": "a", "edits": [{ "old_string": "x" }] }),
        );
        check(json!("{\"path\":\"a\",\"offset\":2.0,\"limit\":null}"), json!({ "path": "a", "offset": 2 }));
        let mapped = normalise("t", &schema(), json!({ "file": "a", "timeout": 2 })).unwrap().mapped;
        assert_eq!(mapped, ["file → path", "timeout → timeout_ms", "timeout 2 taken as seconds"]);
    }

    #[test]
    fn a_wrong_input_is_named_with_what_is_taken() {
        refused(json!({ "path": "a", "depht": 1 }), "no parameter `depht`; it takes path (required), offset");
        refused(json!({ "offset": 1 }), "`path` is missing");
        refused(json!({ "path": "a", "offset": "x" }), "`offset` is a text, integer is due");
        refused(json!({ "path": "a", "offset": 0 }), "the least is 1");
        refused(json!({ "path": "a", "mode": "c" }), "one of `a`, `b` is due");
        refused(json!({ "path": "a", "edits": [{ "x": 1 }] }), "no parameter `edits[0].x`");
        refused(json!([1]), "not an object");
    }
}
