//! One request and its answer: time limits, retries, decoding. Shared by all dialects.
//!
//! Nothing is spawned: the exchange lives in the stream that it returns, and dropping that stream drops
//! the connection with it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use air_contracts::port::BoxStream;
use air_contracts::provider::{ProviderError, ProviderStreamEvent};
use bytes::Bytes;
use futures_util::StreamExt;
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use reqwest::{Client, Response, Url};
use tokio::time::timeout;

use crate::classify::{Complaint, Source, classify};
use crate::config::{ApiKey, Limits};
use crate::failure::{interrupted, malformed, network};
use crate::retry::{Retries, advice};
use crate::sse::{SseDecoder, TooLarge};
use crate::transport::cause;

/// The largest answer that is one document, and the largest error, in bytes.
const LARGEST_DOCUMENT: usize = 32 << 20;
const LARGEST_COMPLAINT: usize = 64 << 10;
/// How long the end of a body may lag behind the end of the answer; a connection that is read to its end
/// is used again.
const TAIL: Duration = Duration::from_millis(50);

type Body = BoxStream<'static, Result<Bytes, String>>;
type Events = Vec<ProviderStreamEvent>;

/// Decodes the answer of one dialect. A new one is made for each attempt.
pub(crate) trait AnswerDecoder: Send {
    /// Takes the data of one server-sent event.
    fn event(&mut self, data: &[u8], out: &mut Events) -> Result<(), ProviderError>;
    /// Whether the terminal event has come.
    fn finished(&self) -> bool;
    /// The body has ended, tidily or not. `Ok`: the answer is complete all the same.
    fn end(&mut self, how: &str, out: &mut Events) -> Result<(), ProviderError>;
    /// Takes an answer that came as one document.
    fn document(&mut self, body: &[u8], out: &mut Events) -> Result<(), ProviderError>;
}

/// Makes decoders.
pub(crate) type DecoderFactory = Arc<dyn Fn() -> Box<dyn AnswerDecoder> + Send + Sync>;

/// A request, ready to be sent as often as needed.
pub(crate) struct Outgoing {
    /// Its id in the configuration, for messages.
    pub provider: Arc<str>,
    pub client: Client,
    pub url: Url,
    pub headers: HeaderMap,
    pub body: Bytes,
    pub limits: Limits,
    /// Kept out of every message.
    pub key: Option<ApiKey>,
}

enum Phase {
    Send,
    Wait(Duration),
    Read { body: Body, sse: SseDecoder, decoder: Box<dyn AnswerDecoder>, any: bool },
    Done,
}

struct Exchange {
    outgoing: Outgoing,
    decoders: DecoderFactory,
    retries: Retries,
    phase: Phase,
    ready: VecDeque<ProviderStreamEvent>,
    /// Events before the first content: given out with it, so that a retry leaves no trace.
    held: Events,
    content: bool,
}

/// Sends a request and streams its answer.
pub(crate) fn exchange(
    outgoing: Outgoing,
    decoders: DecoderFactory,
) -> BoxStream<'static, ProviderStreamEvent> {
    stream(Exchange::new(outgoing, decoders))
}

fn stream(exchange: Exchange) -> BoxStream<'static, ProviderStreamEvent> {
    let step =
        |mut exchange: Box<Exchange>| async move { exchange.next().await.map(|event| (event, exchange)) };
    Box::pin(futures_util::stream::unfold(Box::new(exchange), step))
}

impl Exchange {
    fn new(outgoing: Outgoing, decoders: DecoderFactory) -> Self {
        let retries = Retries::new(outgoing.limits.max_retries);
        Self {
            outgoing,
            decoders,
            retries,
            phase: Phase::Send,
            ready: VecDeque::new(),
            held: Vec::new(),
            content: false,
        }
    }

    async fn next(&mut self) -> Option<ProviderStreamEvent> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            let result = match &mut self.phase {
                Phase::Done => return None,
                Phase::Wait(delay) => {
                    tokio::time::sleep(*delay).await;
                    self.phase = Phase::Send;
                    Ok(())
                }
                Phase::Send => self.send().await,
                Phase::Read { .. } => self.read().await,
            };
            if let Err(error) = result {
                self.fail(error);
            }
        }
    }

    async fn send(&mut self) -> Result<(), ProviderError> {
        let out = &self.outgoing;
        let request = out.client.post(out.url.clone()).headers(out.headers.clone()).body(out.body.clone());
        let response = match timeout(out.limits.first_byte, request.send()).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(network(&out.provider, &cause(error))),
            Err(_) => return Err(network(&out.provider, &silence(out.limits.first_byte))),
        };
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        self.accept(status, &headers, body_of(response)).await
    }

    /// Branches on status and content type, before anything is decoded.
    async fn accept(&mut self, status: u16, headers: &HeaderMap, body: Body) -> Result<(), ProviderError> {
        let out = &self.outgoing;
        if !(200..300).contains(&status) {
            let text = read_all(body, LARGEST_COMPLAINT, out).await.unwrap_or_default();
            return Err(refusal(out, status, headers, &text));
        }
        let media_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        if media_type.contains("json") {
            let text = read_all(body, LARGEST_DOCUMENT, out).await?;
            let mut events = Vec::new();
            (self.decoders)().document(&text, &mut events)?;
            self.give(events);
            self.finish();
            return Ok(());
        }
        if media_type.starts_with("text/html") {
            return Err(malformed(&out.provider, "a web page came instead of an answer"));
        }
        self.phase = Phase::Read { body, sse: SseDecoder::default(), decoder: (self.decoders)(), any: false };
        Ok(())
    }

    async fn read(&mut self) -> Result<(), ProviderError> {
        let Phase::Read { body, sse, decoder, any } = &mut self.phase else { return Ok(()) };
        let (provider, limits) = (&self.outgoing.provider, self.outgoing.limits);
        let mut events = Vec::new();
        // Beside the result: whether the answer is over, and whether bytes may still follow.
        let (result, over, open) = match timeout(limits.idle, body.next()).await {
            Ok(Some(Ok(bytes))) => {
                let sink = |data: &[u8]| {
                    *any = true;
                    if decoder.finished() {
                        Ok(())
                    } else {
                        decoder.event(data, &mut events).map_err(Stop::Failed)
                    }
                };
                let result = sse.feed(&bytes, sink).map_err(|stop| stop.into_error(provider));
                (result, decoder.finished(), true)
            }
            Ok(None) if !*any => (Err(interrupted(provider, "the server sent no event at all")), true, false),
            Ok(None) => (decoder.end("the connection ended", &mut events), true, false),
            Ok(Some(Err(cause))) => (decoder.end(&cause, &mut events), true, false),
            Err(_) => (decoder.end(&silence(limits.idle), &mut events), true, false),
        };
        if result.is_ok() && over && open {
            drain(body).await;
        }
        self.give(events);
        result?;
        if over {
            self.finish();
        }
        Ok(())
    }

    fn give(&mut self, events: Events) {
        for event in events {
            if !self.content && is_prelude(&event) {
                self.held.push(event);
                continue;
            }
            self.content = true;
            self.ready.extend(self.held.drain(..));
            self.ready.push_back(event);
        }
    }

    fn finish(&mut self) {
        self.ready.extend(self.held.drain(..));
        self.phase = Phase::Done;
    }

    /// Waits and tries again, as long as nothing of the answer was given out; else ends with the error.
    fn fail(&mut self, mut error: ProviderError) {
        error.partial = self.content;
        if !error.partial
            && error.error.retryable
            && let Some(delay) = self.retries.next(error.retry_after_ms)
        {
            let (provider, code) = (&*self.outgoing.provider, &error.error.code);
            tracing::info!(provider, code, delay_ms = delay.as_millis() as u64, "request is sent again");
            self.held.clear();
            self.phase = Phase::Wait(delay);
            return;
        }
        self.ready.extend(self.held.drain(..));
        self.ready.push_back(ProviderStreamEvent::Error { error });
        self.phase = Phase::Done;
    }
}

/// Why decoding of a chunk stopped.
enum Stop {
    TooLarge,
    Failed(ProviderError),
}

impl From<TooLarge> for Stop {
    fn from(_: TooLarge) -> Self {
        Self::TooLarge
    }
}

impl Stop {
    fn into_error(self, provider: &str) -> ProviderError {
        match self {
            Self::TooLarge => malformed(provider, "an event is larger than 32 MB"),
            Self::Failed(error) => error,
        }
    }
}

fn is_prelude(event: &ProviderStreamEvent) -> bool {
    matches!(event, ProviderStreamEvent::MessageStart { .. } | ProviderStreamEvent::Usage { .. })
}

fn silence(limit: Duration) -> String {
    format!("no byte came for {} s", limit.as_secs())
}

fn body_of(response: Response) -> Body {
    Box::pin(response.bytes_stream().map(|chunk| chunk.map_err(cause)))
}

async fn drain(body: &mut Body) {
    let rest = async { while let Some(Ok(_)) = body.next().await {} };
    // Past the limit the connection is closed with the body, which costs only a new one.
    let _ = timeout(TAIL, rest).await;
}

async fn read_all(mut body: Body, limit: usize, out: &Outgoing) -> Result<Vec<u8>, ProviderError> {
    let mut text = Vec::new();
    loop {
        match timeout(out.limits.idle.min(Duration::from_secs(60)), body.next()).await {
            Ok(None) => return Ok(text),
            Ok(Some(Ok(bytes))) if text.len() + bytes.len() <= limit => text.extend_from_slice(&bytes),
            Ok(Some(Ok(_))) => return Err(malformed(&out.provider, "the document is too large")),
            Ok(Some(Err(cause))) => return Err(interrupted(&out.provider, &cause)),
            Err(_) => return Err(interrupted(&out.provider, "the document stopped coming")),
        }
    }
}

/// The error that an answer with a status other than 2xx stands for.
pub(crate) fn refusal(out: &Outgoing, status: u16, headers: &HeaderMap, body: &[u8]) -> ProviderError {
    let mut complaint = Complaint::parse(body);
    if complaint.request_id.is_none() {
        let id = headers.get("request-id").and_then(|value| value.to_str().ok());
        complaint.request_id = id.map(str::to_owned);
    }
    let source = Source { provider: &out.provider, key: out.key.as_ref().map(ApiKey::expose) };
    let mut error = classify(source, Some(status), advice(headers), &complaint);
    if (300..400).contains(&status) {
        error.error = error.error.hint("the server redirects: set base_url to where it points");
    }
    error
}

/// Sends a request and reads its whole JSON answer; no retries. For small calls beside completions.
pub(crate) async fn fetch(out: &Outgoing, get: bool) -> Result<Vec<u8>, ProviderError> {
    let request = if get {
        out.client.get(out.url.clone())
    } else {
        out.client.post(out.url.clone()).body(out.body.clone())
    };
    let sent = timeout(out.limits.first_byte, request.headers(out.headers.clone()).send()).await;
    let response = match sent {
        Ok(Ok(response)) => response,
        Ok(Err(error)) => return Err(network(&out.provider, &cause(error))),
        Err(_) => return Err(network(&out.provider, &silence(out.limits.first_byte))),
    };
    let status = response.status();
    let headers = response.headers().clone();
    let text = read_all(body_of(response), LARGEST_DOCUMENT, out).await?;
    if status.is_success() { Ok(text) } else { Err(refusal(out, status.as_u16(), &headers, &text)) }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Plays an answer that did not come over a socket, so that its pauses can be on a paused clock.
    pub(crate) async fn play(
        outgoing: Outgoing,
        decoders: DecoderFactory,
        status: u16,
        headers: &HeaderMap,
        body: Body,
    ) -> Vec<ProviderStreamEvent> {
        let mut exchange = Exchange::new(outgoing, decoders);
        if let Err(error) = exchange.accept(status, headers, body).await {
            exchange.fail(error);
        }
        stream(exchange).collect().await
    }
}
