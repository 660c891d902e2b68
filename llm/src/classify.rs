//! Classes of provider errors: from a status, or from an error object inside a stream.

use air_contracts::error::codes;
use air_contracts::provider::ProviderError;
use serde::Deserialize;
use serde_json::Value;

use crate::failure::failure;
use crate::retry::RetryAdvice;

/// How much of a server's own message is kept, in characters.
const LONGEST_MESSAGE: usize = 300;

/// What a server said about a failure, whatever its dialect.
#[derive(Debug, Default)]
pub(crate) struct Complaint {
    /// `overloaded_error`, `rate_limit_exceeded`.
    pub kind: String,
    /// A finer code: `insufficient_quota`.
    pub code: String,
    /// Whether a limit of spending is named, which only a person can raise.
    pub spend_limit: bool,
    pub message: String,
    pub request_id: Option<String>,
}

#[derive(Deserialize)]
struct Envelope {
    error: Option<Value>,
    request_id: Option<String>,
}

impl Complaint {
    /// Reads `{"error": {...}}` in the shapes of both large APIs. What is not JSON, such as the page of a
    /// proxy, says nothing and is not shown.
    pub fn parse(body: &[u8]) -> Self {
        let Ok(Envelope { error: Some(error), request_id }) = serde_json::from_slice(body) else {
            return Self::default();
        };
        let word = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
        let (kind, code) = (word(error.get("type")), word(error.get("code")));
        Self {
            kind: if kind.is_empty() { code.clone() } else { kind },
            code,
            spend_limit: error.pointer("/details/error_code").is_some(),
            message: error.as_str().map_or_else(|| word(error.get("message")), str::to_owned),
            request_id,
        }
    }
}

/// Where an error is to be shown and what must not be in it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source<'a> {
    pub provider: &'a str,
    pub key: Option<&'a str>,
}

/// Classifies a failure. `status`: that of the answer; `None` for an error inside a stream.
pub(crate) fn classify(
    source: Source<'_>,
    status: Option<u16>,
    advice: RetryAdvice,
    complaint: &Complaint,
) -> ProviderError {
    let (code, retryable) = class_of(status, advice, complaint);
    let message = describe(source, status, code, complaint);
    let mut error = failure(code, message, advice.should.unwrap_or(retryable));
    if error.error.retryable {
        error.retry_after_ms = advice.after_ms;
    }
    if code == codes::PROVIDER_AUTH {
        error.error = error.error.hint(format!(
            "look at the key of {} (air provider list shows where it comes from)",
            source.provider
        ));
    }
    error
}

fn class_of(status: Option<u16>, advice: RetryAdvice, complaint: &Complaint) -> (&'static str, bool) {
    if is_too_large(status, complaint) {
        return (codes::PROVIDER_REQUEST_TOO_LARGE, false);
    }
    if is_overflow(status, complaint) {
        return (codes::PROVIDER_CONTEXT_TOO_LONG, false);
    }
    if is_spent(status, advice, complaint) {
        return (codes::PROVIDER_QUOTA_EXHAUSTED, false);
    }
    class_by_kind(&complaint.kind)
        .or_else(|| status.map(|status| class_by_status(status, complaint)))
        .unwrap_or((codes::PROVIDER_SERVER_ERROR, true))
}

fn class_by_kind(kind: &str) -> Option<(&'static str, bool)> {
    Some(match kind {
        "overloaded_error" => (codes::PROVIDER_OVERLOADED, true),
        "rate_limit_error" | "rate_limit_exceeded" => (codes::PROVIDER_RATE_LIMITED, true),
        "authentication_error" | "permission_error" | "invalid_api_key" => (codes::PROVIDER_AUTH, false),
        "billing_error" => (codes::PROVIDER_QUOTA_EXHAUSTED, false),
        "api_error" | "timeout_error" => (codes::PROVIDER_SERVER_ERROR, true),
        _ => return None,
    })
}

fn class_by_status(status: u16, complaint: &Complaint) -> (&'static str, bool) {
    match status {
        401 | 403 => (codes::PROVIDER_AUTH, false),
        402 => (codes::PROVIDER_QUOTA_EXHAUSTED, false),
        408 | 409 => (codes::PROVIDER_SERVER_ERROR, true),
        429 => (codes::PROVIDER_RATE_LIMITED, true),
        503 | 529 => (codes::PROVIDER_OVERLOADED, true),
        500.. => (codes::PROVIDER_SERVER_ERROR, true),
        _ => (invalid_request(complaint), false),
    }
}

fn invalid_request(complaint: &Complaint) -> &'static str {
    let message = complaint.message.to_ascii_lowercase();
    let says = |text: &str| message.contains(text);
    if says("does not support tools") || says("tools are not supported") || says("tool use is not supported")
    {
        codes::PROVIDER_TOOLS_UNSUPPORTED
    } else if complaint.code == "unsupported_parameter"
        || says("unsupported parameter")
        || says("extra inputs are not permitted")
    {
        codes::PROVIDER_UNSUPPORTED_PARAMETER
    } else {
        codes::PROVIDER_INVALID_REQUEST
    }
}

fn is_too_large(status: Option<u16>, complaint: &Complaint) -> bool {
    complaint.kind == "request_too_large" || (status == Some(413) && !says_overflow(complaint))
}

/// Servers tell of a full context window in many words, and with several statuses.
fn is_overflow(status: Option<u16>, complaint: &Complaint) -> bool {
    matches!(status, None | Some(400 | 413 | 422 | 500)) && says_overflow(complaint)
}

fn says_overflow(complaint: &Complaint) -> bool {
    const WORDS: [&str; 7] = [
        "prompt is too long",
        "maximum context length",
        "context length exceeded",
        "context_length_exceeded",
        "exceeds the available context size",
        "exceed_context_size",
        "exceed context limit",
    ];
    let message = complaint.message.to_ascii_lowercase();
    [message.as_str(), &complaint.kind, &complaint.code]
        .iter()
        .any(|text| WORDS.iter().any(|word| text.contains(word)))
}

/// Waiting does not bring money back: a spend limit looks like a rate limit but has a code of its own and
/// names no time.
fn is_spent(status: Option<u16>, advice: RetryAdvice, complaint: &Complaint) -> bool {
    let message = complaint.message.to_ascii_lowercase();
    complaint.code == "insufficient_quota"
        || complaint.kind == "insufficient_quota"
        || (status == Some(429) && advice.after_ms.is_none() && complaint.spend_limit)
        || (matches!(status, None | Some(400 | 403 | 429))
            && (message.contains("credit balance is too low") || message.contains("spend limit")))
}

fn describe(source: Source<'_>, status: Option<u16>, code: &str, complaint: &Complaint) -> String {
    let what = match code {
        codes::PROVIDER_RATE_LIMITED => "limits the rate of requests",
        codes::PROVIDER_OVERLOADED => "is overloaded",
        codes::PROVIDER_QUOTA_EXHAUSTED => "refuses: the account has no quota left",
        codes::PROVIDER_AUTH => "refuses the key",
        codes::PROVIDER_CONTEXT_TOO_LONG => "refuses: the prompt does not fit the context window",
        codes::PROVIDER_REQUEST_TOO_LARGE => "refuses: the request has too many bytes",
        codes::PROVIDER_SERVER_ERROR => "failed",
        _ => "refuses the request",
    };
    let mut text = format!("{} {what}", source.provider);
    if let Some(status) = status {
        text.push_str(&format!(" (HTTP {status})"));
    }
    if !complaint.message.is_empty() {
        text.push_str(": ");
        text.push_str(&shown(&complaint.message, source.key));
    }
    if let Some(id) = &complaint.request_id {
        text.push_str(&format!(" [{}]", shown(id, source.key)));
    }
    text
}

/// A server's text on one line, cut, without the key that some servers echo.
pub(crate) fn shown(text: &str, key: Option<&str>) -> String {
    let clean = match key {
        Some(key) if !key.is_empty() => text.replace(key, "…"),
        _ => text.to_owned(),
    };
    let line: String = clean.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let cut: String = line.chars().take(LONGEST_MESSAGE).collect();
    if cut.len() < line.len() { cut + "…" } else { cut }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_ADVICE: RetryAdvice = RetryAdvice { after_ms: None, should: None };

    fn check(status: u16, advice: RetryAdvice, body: &str, code: &str, retryable: bool) {
        let source = Source { provider: "anthropic", key: Some("sk-secret") };
        let error = classify(source, Some(status), advice, &Complaint::parse(body.as_bytes()));
        assert_eq!((error.error.code.as_str(), error.error.retryable), (code, retryable), "{body}");
        assert!(!error.error.message.contains("sk-secret"), "{}", error.error.message);
    }

    #[test]
    fn statuses_and_bodies_are_classified() {
        let body = |kind: &str, message: &str| {
            format!(r#"{{"type":"error","error":{{"type":"{kind}","message":"{message}"}}}}"#)
        };
        let bad = "invalid_request_error";
        check(
            401,
            NO_ADVICE,
            &body("authentication_error", "invalid x-api-key sk-secret"),
            "provider.auth",
            false,
        );
        check(403, NO_ADVICE, "<html>", "provider.auth", false);
        check(402, NO_ADVICE, "", "provider.quota_exhausted", false);
        check(
            400,
            NO_ADVICE,
            &body(bad, "Your credit balance is too low"),
            "provider.quota_exhausted",
            false,
        );
        check(404, NO_ADVICE, &body("not_found_error", "model: x"), "provider.invalid_request", false);
        check(
            400,
            NO_ADVICE,
            &body(bad, "x: Extra inputs are not permitted"),
            "provider.unsupported_parameter",
            false,
        );
        check(413, NO_ADVICE, "", "provider.request_too_large", false);
        check(503, NO_ADVICE, "", "provider.overloaded", true);
        check(504, NO_ADVICE, &body("timeout_error", "t"), "provider.server_error", true);
        let stay = RetryAdvice { after_ms: None, should: Some(false) };
        check(529, stay, &body("overloaded_error", "Overloaded"), "provider.overloaded", false);
        let spend =
            r#"{"error":{"type":"rate_limit_error","message":"limit","details":{"error_code":"spend"}}}"#;
        check(429, NO_ADVICE, spend, "provider.quota_exhausted", false);
        let llama = r#"{"error":{"code":400,"type":"exceed_context_size_error","message":"too big"}}"#;
        check(400, NO_ADVICE, llama, "provider.context_too_long", false);
    }
}
