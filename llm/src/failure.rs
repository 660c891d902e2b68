//! Constructors of [`ProviderError`].

use air_contracts::AirError;
use air_contracts::error::codes;
use air_contracts::provider::ProviderError;

/// A failure of a registered code.
pub(crate) fn failure(code: &'static str, message: impl Into<String>, retryable: bool) -> ProviderError {
    ProviderError {
        error: AirError::new(code, message).retryable(retryable),
        retry_after_ms: None,
        partial: false,
    }
}

/// The answer was cut before its end.
pub(crate) fn interrupted(provider: &str, how: &str) -> ProviderError {
    let message = format!("the answer of {provider} was cut before its end: {how}");
    failure(codes::PROVIDER_STREAM_INTERRUPTED, message, true)
}

/// The answer does not follow the protocol.
pub(crate) fn malformed(provider: &str, what: &str) -> ProviderError {
    failure(codes::PROVIDER_MALFORMED_STREAM, format!("the answer of {provider} is malformed: {what}"), true)
}

/// The server was not reached, or did not answer.
pub(crate) fn network(provider: &str, what: &str) -> ProviderError {
    failure(codes::PROVIDER_NETWORK, format!("{provider} was not reached: {what}"), true)
}
