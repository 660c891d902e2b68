//! Configuration without its secrets.

use serde_json::Value;

/// What stands in the place of a secret.
const HIDDEN: &str = "…";

/// Hides the values of keys that name secrets, and what stands before the host in addresses.
pub fn redact(value: &mut Value) {
    match value {
        Value::Object(map) => {
            for (key, value) in map.iter_mut() {
                if is_secret(key) && !value.is_null() {
                    *value = Value::from(HIDDEN);
                } else {
                    redact(value);
                }
            }
        }
        Value::Array(all) => all.iter_mut().for_each(redact),
        Value::String(text) => hide_userinfo(text),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// `api_key_env` names a variable, not a key.
fn is_secret(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let named = ["key", "token", "secret", "password", "authorization"].iter().any(|word| key.contains(word));
    named && !key.ends_with("_env") && !key.ends_with("tokens")
}

/// `https://user:password@host/` loses what is before the `@` (RFC 3986, section 3.2.1).
fn hide_userinfo(text: &mut String) {
    let Some((scheme, rest)) = text.split_once("://") else { return };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    if let Some(at) = rest[..end].rfind('@') {
        *text = format!("{scheme}://{HIDDEN}{}", &rest[at..]);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn secrets_go_and_the_rest_stays() {
        let mut value = json!({
            "providers": {
                "a": { "api_key": "sk-1", "api_key_env": "A_KEY", "base_url": "https://u:p@h.example/v1?x=a@b" },
                "b": { "headers": [{ "Authorization": "Bearer x" }], "max_output_tokens": 5, "api_key": null },
            },
        });
        redact(&mut value);
        let expected = json!({
            "providers": {
                "a": { "api_key": "…", "api_key_env": "A_KEY", "base_url": "https://…@h.example/v1?x=a@b" },
                "b": { "headers": [{ "Authorization": "…" }], "max_output_tokens": 5, "api_key": null },
            },
        });
        assert_eq!(value, expected);
    }
}
