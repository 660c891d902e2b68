//! At most 10 frames in any second; two may come at once, so that what is typed, and the first state after the
//! first frame, are shown without a wait.

use std::time::Duration;

use tokio::time::Instant;

/// Between two frames, on the average: two at once and eight more make ten in a second.
const INTERVAL: Duration = Duration::from_millis(120);

/// When the next frame may be drawn (the generic cell rate algorithm with room for one in advance).
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    due: Instant,
}

impl Pace {
    /// Nothing was drawn yet.
    pub fn new(now: Instant) -> Self {
        Self { due: now }
    }

    /// From when on a frame may be drawn.
    pub fn next(&self) -> Instant {
        self.due.checked_sub(INTERVAL).unwrap_or(self.due)
    }

    /// A frame was drawn.
    pub fn drawn(&mut self, now: Instant) {
        self.due = self.due.max(now) + INTERVAL;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_frames_a_second_and_two_at_once() {
        let begun = Instant::now();
        let mut now = begun;
        let mut pace = Pace::new(now);
        let mut times = Vec::new();
        // Something changes every millisecond.
        for _ in 0..3_000 {
            if pace.next() <= now {
                pace.drawn(now);
                times.push(now);
            }
            now += Duration::from_millis(1);
        }
        assert_eq!(times[..2], [begun, begun + Duration::from_millis(1)]);
        for first in &times {
            let within =
                times.iter().filter(|time| **time >= *first && **time < *first + Duration::from_secs(1));
            assert!(within.count() <= 10);
        }
        assert!(times.len() >= 25);
    }
}
