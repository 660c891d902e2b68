//! How long to wait before a request is sent again, and when not to.

use std::hash::{BuildHasher, Hasher};
use std::time::{Duration, SystemTime};

use reqwest::header::{DATE, HeaderMap, HeaderName, RETRY_AFTER};
use tokio::time::Instant;

/// The longest that the waits of one request may be together. Beyond it the caller decides: it may have
/// another model, or a timer that outlives the process.
const PATIENCE: Duration = Duration::from_secs(60);

/// A request that has taken this long is not sent again from here.
const LATEST: Duration = Duration::from_secs(300);

/// The retries of one request.
#[derive(Debug)]
pub(crate) struct Retries {
    left: u32,
    made: u32,
    waited: Duration,
    since: Instant,
}

impl Retries {
    /// At most `max` retries.
    pub fn new(max: u32) -> Self {
        Self { left: max, made: 0, waited: Duration::ZERO, since: Instant::now() }
    }

    /// How long to wait before the next attempt; `None`: there is none.
    pub fn next(&mut self, asked_ms: Option<u64>) -> Option<Duration> {
        if self.left == 0 || self.since.elapsed() > LATEST {
            return None;
        }
        let own = back_off(self.made, jitter());
        let wait = asked_ms.map_or(own, |asked| own.max(Duration::from_millis(asked)));
        if self.waited + wait > PATIENCE {
            return None;
        }
        self.left -= 1;
        self.made += 1;
        self.waited += wait;
        Some(wait)
    }
}

/// Half a second, doubled with each retry up to eight seconds, less up to a quarter.
fn back_off(made: u32, jitter: f64) -> Duration {
    let full = 0.5 * f64::from(1_u32 << made.min(4));
    Duration::from_secs_f64(full * (1.0 - jitter / 4.0))
}

/// A number in 0..1 from the randomness that the standard library seeds its hash maps with.
fn jitter() -> f64 {
    let hash = std::collections::hash_map::RandomState::new().build_hasher().finish();
    (hash >> 11) as f64 / (1_u64 << 53) as f64
}

/// What a server says about coming back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RetryAdvice {
    pub after_ms: Option<u64>,
    /// `x-should-retry`, which outranks the status.
    pub should: Option<bool>,
}

/// Reads `retry-after-ms`, `retry-after` (RFC 9110, section 10.2.3: seconds or a date) and
/// `x-should-retry`. A date is measured against the `Date` of the same answer, so that a wrong local
/// clock cannot make the wait a day long.
pub(crate) fn advice(headers: &HeaderMap) -> RetryAdvice {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let milliseconds = |text: &str, unit: f64| {
        let value: f64 = text.parse().ok()?;
        value.is_finite().then(|| (value.max(0.0) * unit).min(1e12) as u64)
    };
    let exact = text(HeaderName::from_static("retry-after-ms")).and_then(|text| milliseconds(text, 1.0));
    let after_ms = exact.or_else(|| {
        let after = text(RETRY_AFTER)?;
        milliseconds(after, 1000.0).or_else(|| {
            let then = httpdate::parse_http_date(after).ok()?;
            let now = text(DATE).and_then(|date| httpdate::parse_http_date(date).ok());
            let wait = then.duration_since(now.unwrap_or_else(SystemTime::now)).unwrap_or_default();
            u64::try_from(wait.as_millis()).ok()
        })
    });
    let should = text(HeaderName::from_static("x-should-retry")).and_then(|text| text.parse().ok());
    RetryAdvice { after_ms, should }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn waits_are_bounded_in_number_and_length() {
        let mut retries = Retries::new(2);
        assert!(retries.next(None).unwrap() <= Duration::from_millis(500));
        assert_eq!(retries.next(Some(7_000)), Some(Duration::from_secs(7)));
        assert_eq!(retries.next(None), None);
        assert_eq!(Retries::new(4).next(Some(61_000)), None);
        let mut slow = Retries::new(4);
        tokio::time::advance(Duration::from_secs(301)).await;
        assert_eq!(slow.next(None), None);
    }

    #[test]
    fn back_off_grows_to_its_cap() {
        let full: Vec<u128> = (0..6).map(|made| back_off(made, 0.0).as_millis()).collect();
        assert_eq!(full, [500, 1000, 2000, 4000, 8000, 8000]);
        assert_eq!(back_off(0, 1.0).as_millis(), 375);
    }

    #[test]
    fn advice_reads_every_form() {
        let check =
            |headers: &[(&'static str, &'static str)], after_ms: Option<u64>, should: Option<bool>| {
                let mut map = HeaderMap::new();
                for (name, value) in headers {
                    map.insert(*name, value.parse().unwrap());
                }
                assert_eq!(advice(&map), RetryAdvice { after_ms, should }, "{headers:?}");
            };
        check(&[("retry-after", "1.5"), ("x-should-retry", "false")], Some(1500), Some(false));
        check(&[("retry-after", "9"), ("retry-after-ms", "250")], Some(250), None);
        check(&[("retry-after", "-3")], Some(0), None);
        check(&[("retry-after", "soon"), ("x-should-retry", "true")], None, Some(true));
        let date = "Sunday, 06-Nov-94 08:49:37 GMT";
        check(&[("retry-after", date), ("date", "Sun, 06 Nov 1994 08:49:07 GMT")], Some(30_000), None);
    }
}
