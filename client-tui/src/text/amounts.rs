//! Numbers as people read them: money, tokens, bytes, durations, times.

use air_contracts::Timestamp;
use jiff::tz::TimeZone;

/// `$0.03`; four digits where it is less than a cent.
pub fn cost(usd: f64) -> String {
    if usd > 0.0 && usd < 0.005 { format!("${usd:.4}") } else { format!("${usd:.2}") }
}

/// `42`, `0.9k`, `11.4k`, `2.1M`.
pub fn tokens(count: u64) -> String {
    let count = count as f64;
    match count {
        _ if count < 100.0 => format!("{count}"),
        _ if count < 999_950.0 => format!("{:.1}k", count / 1e3),
        _ => format!("{:.1}M", count / 1e6),
    }
}

/// `9,310`.
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `312 B`, `1.1 KB`, `48 KB`, `21 MB`: powers of 1,024.
pub fn bytes(size: u64) -> String {
    const UNITS: [&str; 4] = ["KB", "MB", "GB", "TB"];
    if size < 1024 {
        return format!("{size} B");
    }
    let mut value = size as f64 / 1024.0;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if value < 9.95 { format!("{value:.1} {}", UNITS[unit]) } else { format!("{value:.0} {}", UNITS[unit]) }
}

/// How long one run took: `2.4 s`, from a minute on `1:12`.
pub fn run_time(millis: u64) -> String {
    if millis < 59_950 { format!("{:.1} s", millis as f64 / 1e3) } else { clock(millis) }
}

/// How long a turn took: `31 s`, from 100 seconds on `2:40`.
pub fn total_time(millis: u64) -> String {
    let seconds = (millis + 500) / 1000;
    if seconds < 100 { format!("{seconds} s") } else { clock(millis) }
}

/// `0:14`, `2:40`, `1:02:03`.
pub fn clock(millis: u64) -> String {
    let seconds = millis / 1000;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

/// A span in its largest unit: `8 s`, `4 m`, `3 h`, `2 d`.
pub fn span(millis: u64) -> String {
    let seconds = millis / 1000;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} m", seconds / 60),
        3600..86_400 => format!("{} h", seconds / 3600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// When something was: `now`, `4 m`, `3 h`, else the local date.
pub fn age(at: Timestamp, now: Timestamp, zone: &TimeZone) -> String {
    match now.millis_since(at) {
        millis if millis < 60_000 => "now".to_owned(),
        millis if millis < 86_400_000 => span(millis),
        _ => local(at, zone, "%Y-%m-%d"),
    }
}

/// The local time of day: `20:14:02`.
pub fn time_of_day(at: Timestamp, zone: &TimeZone) -> String {
    local(at, zone, "%H:%M:%S")
}

/// RFC 3339 in UTC without the fraction: `2026-11-30T20:14:07Z`.
pub fn stamp(at: Timestamp) -> String {
    local(at, &TimeZone::UTC, "%Y-%m-%dT%H:%M:%SZ")
}

fn local(at: Timestamp, zone: &TimeZone, format: &str) -> String {
    match jiff::Timestamp::from_millisecond(at.as_millis()) {
        Ok(time) => time.to_zoned_datetime(zone.clone()).strftime(format).to_string(),
        Err(_) => at.to_string(),
    }
}

/// The time now, for ages.
pub fn now() -> Timestamp {
    Timestamp::from_millis(jiff::Timestamp::now().as_millisecond())
}

/// `30m`, `90s`, `2h`, `1h30m`, `250ms`, or seconds: milliseconds. `None` where it is none of them.
pub fn parse_duration(text: &str) -> Option<u64> {
    if let Ok(seconds) = text.parse::<u64>() {
        return seconds.checked_mul(1000);
    }
    let mut total = 0_u64;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).filter(|at| *at > 0)?;
        let (number, tail) = rest.split_at(digits);
        let unit = tail.find(|c: char| c.is_ascii_digit()).unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(unit);
        let factor = match unit {
            "ms" => 1,
            "s" => 1000,
            "m" | "min" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            _ => return None,
        };
        total = total.checked_add(number.parse::<u64>().ok()?.checked_mul(factor)?)?;
        rest = tail;
    }
    (!text.is_empty()).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_in_the_pages() {
        let texts =
            [cost(0.03), cost(0.0), cost(0.0012), tokens(900), tokens(42), tokens(11_400), tokens(2_100_000)];
        assert_eq!(texts, ["$0.03", "$0.00", "$0.0012", "0.9k", "42", "11.4k", "2.1M"]);
        assert_eq!([grouped(9_310), grouped(200_000), grouped(7)], ["9,310", "200,000", "7"]);
        assert_eq!(
            [bytes(312), bytes(1_126), bytes(49_152), bytes(21 << 20)],
            ["312 B", "1.1 KB", "48 KB", "21 MB"]
        );
        assert_eq!([run_time(2_400), run_time(9), run_time(72_000)], ["2.4 s", "0.0 s", "1:12"]);
        assert_eq!([total_time(31_000), total_time(160_000), clock(3_723_000)], ["31 s", "2:40", "1:02:03"]);
    }

    #[test]
    fn ages_are_relative_under_a_day() {
        let now: Timestamp = "2026-11-30T20:14:07Z".parse().unwrap();
        let check = |at: &str, expected: &str| {
            assert_eq!(age(at.parse().unwrap(), now, &TimeZone::UTC), expected);
        };
        check("2026-11-30T20:13:30Z", "now");
        check("2026-11-30T20:10:00Z", "4 m");
        check("2026-11-30T17:00:00Z", "3 h");
        check("2026-11-28T17:00:00Z", "2026-11-28");
        assert_eq!(stamp(now), "2026-11-30T20:14:07Z");
    }

    #[test]
    fn durations_have_units() {
        for (text, expected) in [
            ("30m", Some(1_800_000)),
            ("1h30m", Some(5_400_000)),
            ("250ms", Some(250)),
            ("5", Some(5_000)),
            ("", None),
            ("m", None),
            ("5 parsecs", None),
            ("99999999999999999999d", None),
        ] {
            assert_eq!(parse_duration(text), expected, "{text}");
        }
    }
}
