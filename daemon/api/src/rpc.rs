//! JSON-RPC 2.0 on the wire: one call or a batch in, one answer or a batch out.
//!
//! Source: <https://www.jsonrpc.org/specification>. Parameters stay raw text until a handler reads them,
//! so a large message costs its own size and not a tree of values.

use std::borrow::Cow;

use air_contracts::AirError;
use air_contracts::api::RpcError;
use air_contracts::error::codes;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

/// Calls of one batch, at most.
pub const MAX_BATCH: usize = 100;

/// A call that is well formed.
#[derive(Debug, Clone)]
pub struct Call {
    /// `None`: a notification, which gets no answer.
    pub id: Option<Box<RawValue>>,
    pub method: String,
    /// An object or an array, where there is one.
    pub params: Option<Box<RawValue>>,
}

/// A message, taken apart. `Err` holds the id, where one could be read, and what is wrong.
pub type Parsed = Result<Call, (Option<Box<RawValue>>, AirError)>;

/// What came in one text.
#[derive(Debug)]
pub enum Incoming {
    One(Parsed),
    Batch(Vec<Parsed>),
}

#[derive(Deserialize)]
struct Shape<'a> {
    #[serde(borrow, default)]
    jsonrpc: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
}

/// `"id": null` is an id; only an absent one makes a notification.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// Takes a text apart. Never fails: what is wrong is in the message that it is wrong in.
pub fn parse(text: &str) -> Incoming {
    if !text.trim_start().starts_with('[') {
        return Incoming::One(parse_one(text));
    }
    match serde_json::from_str::<Vec<&RawValue>>(text) {
        Err(error) => {
            Incoming::One(Err((None, AirError::new(codes::RPC_PARSE, format!("not JSON: {error}")))))
        }
        Ok(all) if all.is_empty() => Incoming::One(Err((None, invalid("the batch is empty")))),
        Ok(all) if all.len() > MAX_BATCH => Incoming::One(Err((
            None,
            invalid(&format!("a batch holds at most {MAX_BATCH} calls, not {}", all.len())),
        ))),
        Ok(all) => Incoming::Batch(all.into_iter().map(|one| parse_one(one.get())).collect()),
    }
}

fn invalid(what: &str) -> AirError {
    AirError::new(codes::RPC_INVALID_REQUEST, what)
        .hint(r#"a call is {"jsonrpc":"2.0","id":1,"method":"daemon/status","params":{}}"#)
}

fn parse_one(text: &str) -> Parsed {
    let shape: Shape<'_> = serde_json::from_str(text).map_err(|error| {
        let error = match error.classify() {
            serde_json::error::Category::Data => invalid(&format!("not a call: {error}")),
            _ => AirError::new(codes::RPC_PARSE, format!("not JSON: {error}")),
        };
        (None, error)
    })?;
    let id = shape.id.map(ToOwned::to_owned);
    if let Some(id) = &id
        && !is_id(id)
    {
        return Err((None, invalid("id is neither a string nor a number")));
    }
    let refuse = |what: &str| (id.clone(), invalid(what));
    if shape.jsonrpc.as_deref() != Some("2.0") {
        return Err(refuse(r#"jsonrpc is not "2.0""#));
    }
    let Some(method) = shape.method else { return Err(refuse("method is missing")) };
    let params = match shape.params.map(|raw| (raw, raw.get().as_bytes().first())) {
        None => None,
        Some((raw, Some(b'{' | b'['))) => Some(raw.to_owned()),
        Some((raw, _)) if raw.get() == "null" => None,
        Some(_) => return Err(refuse("params is neither an object nor an array")),
    };
    Ok(Call { id, method: method.into_owned(), params })
}

fn is_id(raw: &RawValue) -> bool {
    matches!(raw.get().as_bytes().first(), Some(b'"' | b'-' | b'0'..=b'9' | b'n'))
}

#[derive(Serialize)]
struct Outgoing<'a> {
    jsonrpc: &'static str,
    id: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<RpcError>,
}

/// The text of an answer.
pub fn answer(id: Option<&RawValue>, result: &Result<Box<RawValue>, AirError>) -> String {
    let out = match result {
        Ok(value) => Outgoing { jsonrpc: "2.0", id, result: Some(value), error: None },
        Err(error) => Outgoing { jsonrpc: "2.0", id, result: None, error: Some(RpcError::new(error)) },
    };
    serde_json::to_string(&out).unwrap_or_else(|_| {
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"the answer could not be written"}}"#.to_owned()
    })
}

/// The text of the answers of a batch.
pub fn batch(answers: &[String]) -> String {
    format!("[{}]", answers.join(","))
}

#[derive(Serialize)]
struct Notification<'a, T> {
    jsonrpc: &'static str,
    method: &'a str,
    params: &'a T,
}

/// The text of a notification.
pub fn notification<T: Serialize>(method: &str, params: &T) -> Result<String, AirError> {
    serde_json::to_string(&Notification { jsonrpc: "2.0", method, params })
        .map_err(|error| AirError::internal(format!("{method}: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let one = |parsed: Parsed| match parsed {
            Ok(call) => format!(
                "{}#{}",
                call.method,
                call.id.map_or("notification".to_owned(), |id| id.get().to_owned())
            ),
            Err((id, error)) => {
                format!("{}#{}", error.code, id.map_or("null".to_owned(), |id| id.get().to_owned()))
            }
        };
        let got = match parse(text) {
            Incoming::One(parsed) => one(parsed),
            Incoming::Batch(all) => all.into_iter().map(one).collect::<Vec<_>>().join(" "),
        };
        assert_eq!(got, expected, "{text}");
    }

    #[test]
    fn calls_notifications_batches_and_what_is_neither() {
        check(r#"{"jsonrpc":"2.0","id":7,"method":"a/b"}"#, "a/b#7");
        check(r#"{"jsonrpc":"2.0","id":"x\u0041","method":"a\u002fb","params":null}"#, r#"a/b#"x\u0041""#);
        check(r#"{"jsonrpc":"2.0","id":null,"method":"a","params":[]}"#, "a#null");
        check(r#"{"jsonrpc":"2.0","method":"a"}"#, "a#notification");
        check(r#"{"jsonrpc":"2.0","id":1,"method":"a"}x"#, "rpc.parse#null");
        check(r#"{"jsonrpc":"1.0","id":1,"method":"a"}"#, "rpc.invalid_request#1");
        check(r#"{"jsonrpc":"2.0","id":{},"method":"a"}"#, "rpc.invalid_request#null");
        check(r#"{"jsonrpc":"2.0","id":1,"method":3}"#, "rpc.invalid_request#null");
        check(r#"{"jsonrpc":"2.0","id":1,"method":"a","params":3}"#, "rpc.invalid_request#1");
        check("7", "rpc.invalid_request#null");
        check("", "rpc.parse#null");
        check(" []", "rpc.invalid_request#null");
        check("[1,", "rpc.parse#null");
        check(r#"[1,{"jsonrpc":"2.0","id":2,"method":"b"}]"#, "rpc.invalid_request#null b#2");
    }
}
