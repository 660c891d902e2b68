//! What can go wrong with an answer.

use std::collections::BTreeMap;

use serde::Deserialize;

/// A fault of one turn.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Fields")]
pub enum Fault {
    /// An answer with an error status.
    Refuse {
        status: u16,
        kind: String,
        message: String,
        headers: BTreeMap<String, String>,
        body: Option<String>,
    },
    /// No answer at all.
    Drop,
    /// The reply breaks at a place.
    Break { place: Place, how: Break },
}

/// Where a reply breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Events(usize),
    Bytes(usize),
}

/// How a reply breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Break {
    Cut,
    /// `None`: until the client goes away.
    Stall(Option<u64>),
    Garbage,
    Malformed,
    Error {
        kind: String,
        message: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
#[derive(Default)]
struct Fields {
    status: Option<u16>,
    #[serde(rename = "type")]
    kind: Option<String>,
    message: Option<String>,
    retry_after: Option<Scalar>,
    headers: BTreeMap<String, String>,
    body: Option<String>,
    drop: bool,
    cut_after_events: Option<usize>,
    cut_after_bytes: Option<usize>,
    stall_after_events: Option<usize>,
    stall_ms: Option<u64>,
    garbage_after_events: Option<usize>,
    malformed_after_events: Option<usize>,
    error_after_events: Option<usize>,
}

/// A number of seconds or a date.
#[derive(Deserialize)]
#[serde(untagged)]
enum Scalar {
    Number(f64),
    Text(String),
}

impl TryFrom<Fields> for Fault {
    type Error = String;

    fn try_from(mut fields: Fields) -> Result<Self, String> {
        let events = |count: Option<usize>, how: Break| {
            count.map(|count| Self::Break { place: Place::Events(count), how })
        };
        let error = Break::Error {
            kind: fields.kind.clone().unwrap_or_else(|| "overloaded_error".to_owned()),
            message: fields.message.clone().unwrap_or_else(|| "Overloaded".to_owned()),
        };
        let cut_bytes =
            fields.cut_after_bytes.map(|count| Self::Break { place: Place::Bytes(count), how: Break::Cut });
        let kinds = [
            fields.drop.then_some(Self::Drop),
            events(fields.cut_after_events, Break::Cut),
            cut_bytes,
            events(fields.stall_after_events, Break::Stall(fields.stall_ms)),
            events(fields.garbage_after_events, Break::Garbage),
            events(fields.malformed_after_events, Break::Malformed),
            events(fields.error_after_events, error),
            fields.status.map(|status| refuse(status, &mut fields)),
        ];
        let mut given = kinds.into_iter().flatten();
        match (given.next(), given.next()) {
            (Some(fault), None) => Ok(fault),
            _ => Err(
                "a fault is of one kind: status, drop, or one of cut, stall, garbage, malformed, error with \
                      _after_events (or cut_after_bytes)"
                    .to_owned(),
            ),
        }
    }
}

fn refuse(status: u16, fields: &mut Fields) -> Fault {
    let mut headers = std::mem::take(&mut fields.headers);
    match &fields.retry_after {
        Some(Scalar::Number(seconds)) => headers.insert("retry-after".to_owned(), seconds.to_string()),
        Some(Scalar::Text(text)) => headers.insert("retry-after".to_owned(), text.clone()),
        None => None,
    };
    let (kind, message) = usual(status);
    Fault::Refuse {
        status,
        kind: fields.kind.take().unwrap_or_else(|| kind.to_owned()),
        message: fields.message.take().unwrap_or_else(|| message.to_owned()),
        headers,
        body: fields.body.take(),
    }
}

/// The error type and message that the vendor sends with a status.
pub(crate) fn usual(status: u16) -> (&'static str, &'static str) {
    match status {
        401 => ("authentication_error", "invalid x-api-key"),
        402 => ("billing_error", "Your credit balance is too low"),
        403 => ("permission_error", "Your API key does not have permission to use the specified resource"),
        404 => ("not_found_error", "Not found"),
        413 => ("request_too_large", "Request exceeds the maximum size"),
        429 => ("rate_limit_error", "This request would exceed your rate limit"),
        504 => ("timeout_error", "The request timed out"),
        529 => ("overloaded_error", "Overloaded"),
        500.. => ("api_error", "Internal server error"),
        _ => ("invalid_request_error", "The request is invalid"),
    }
}
