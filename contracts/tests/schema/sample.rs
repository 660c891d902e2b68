//! Examples of a JSON Schema, always the same.

use serde_json::{Map, Value, json};

/// Deeper than this only what must be there is made.
const DEPTH: usize = 12;

/// Makes examples over the definitions of a schema.
pub struct Sampler<'a> {
    root: &'a Value,
}

impl<'a> Sampler<'a> {
    pub fn new(root: &'a Value) -> Self {
        Self { root }
    }

    /// With every field.
    pub fn full(&self, schema: &Value) -> Value {
        self.make(schema, true, 0)
    }

    /// With the fields that must be there.
    pub fn least(&self, schema: &Value) -> Value {
        self.make(schema, false, 0)
    }

    /// One for each alternative, with every field.
    pub fn variants(&self, schema: &Value) -> Vec<Value> {
        let schema = self.resolve(schema);
        let list = schema.get("oneOf").or_else(|| schema.get("anyOf")).and_then(Value::as_array);
        list.into_iter().flatten().map(|one| self.full(one)).collect()
    }

    fn resolve<'b>(&'b self, schema: &'b Value) -> &'b Value {
        match schema.get("$ref").and_then(Value::as_str).and_then(|reference| reference.strip_prefix('#')) {
            Some(pointer) => self.root.pointer(pointer).expect("a definition"),
            None => schema,
        }
    }

    fn make(&self, given: &Value, full: bool, depth: usize) -> Value {
        let full = full && depth < DEPTH;
        let schema = self.resolve(given);
        if let Some(value) = schema.get("const") {
            return value.clone();
        }
        if let Some(value) = schema["enum"].get(0) {
            return value.clone();
        }
        let mut parts: Vec<Value> = Vec::new();
        // Fields beside a reference, or beside alternatives (`flatten`), belong to the same object.
        if schema.get("properties").is_some() {
            parts.push(self.object(schema, full, depth));
        }
        if !std::ptr::eq(given, schema) && given.get("properties").is_some() {
            parts.push(self.object(given, full, depth));
        }
        for key in ["oneOf", "anyOf"] {
            parts.extend(schema[key].get(0).map(|one| self.make(one, full, depth + 1)));
        }
        parts.extend(
            schema["allOf"].as_array().into_iter().flatten().map(|one| self.make(one, full, depth + 1)),
        );
        match parts.len() {
            0 => self.plain(schema, full, depth),
            1 => parts.remove(0),
            _ => Value::Object(
                parts.into_iter().filter_map(|part| part.as_object().cloned()).flatten().collect(),
            ),
        }
    }

    fn object(&self, schema: &Value, full: bool, depth: usize) -> Value {
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let mut object = Map::new();
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            if full || required.contains(&name.as_str()) {
                object.insert(name.clone(), self.make(property, full, depth + 1));
            }
        }
        Value::Object(object)
    }

    fn plain(&self, schema: &Value, full: bool, depth: usize) -> Value {
        let kind = match &schema["type"] {
            Value::Array(kinds) => kinds.first().and_then(Value::as_str),
            kind => kind.as_str(),
        };
        match kind {
            Some("string") => json!(text(schema)),
            Some("integer") => json!(7),
            Some("number") => json!(1.5),
            Some("boolean") => json!(true),
            Some("null") => Value::Null,
            Some("array") => self.array(schema, full, depth),
            Some("object") => match schema.get("additionalProperties").filter(|one| one.is_object()) {
                Some(values) if full => json!({ "key": self.make(values, full, depth + 1) }),
                _ => json!({}),
            },
            // Any value.
            _ => json!({ "any": [1, "two"] }),
        }
    }

    fn array(&self, schema: &Value, full: bool, depth: usize) -> Value {
        let fixed = schema["minItems"].as_u64().unwrap_or(0);
        if let Some(items) = schema["prefixItems"].as_array() {
            return items.iter().map(|item| self.make(item, full, depth + 1)).collect();
        }
        let count = if full { fixed.max(1) } else { fixed };
        (0..count).map(|_| self.make(&schema["items"], full, depth + 1)).collect()
    }
}

fn text(schema: &Value) -> String {
    let pattern = schema["pattern"].as_str().unwrap_or_default();
    match (pattern, schema["format"].as_str()) {
        (_, Some("date-time")) => "2026-11-30T20:14:07.000Z".to_owned(),
        (pattern, _) if pattern.ends_with("_[0-9a-f-]{36}$") => {
            let prefix = pattern.trim_start_matches('^').split('_').next().unwrap_or_default();
            format!("{prefix}_01a22ea6-1551-77df-b708-539bfc09ef23")
        }
        (pattern, _) if pattern.starts_with("^[stkwreac]") => "k4".to_owned(),
        _ => "text".to_owned(),
    }
}
