//! The nearest known name, for hints.

/// The name with the fewest single-letter edits from `wanted`, where it is near enough to be meant.
pub fn nearest<'a>(wanted: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (wanted.len() / 3).clamp(2, 6);
    known
        .map(|name| (distance(wanted, name), name))
        .filter(|(edits, _)| *edits <= limit)
        .min_by_key(|(edits, name)| (*edits, *name))
        .map(|(_, name)| name)
}

/// Levenshtein distance in bytes. Names are short; longer texts than 64 bytes are as far away as can be.
fn distance(a: &str, b: &str) -> usize {
    if a.len() > 64 || b.len() > 64 {
        return usize::MAX;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.bytes().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, right) in b.bytes().enumerate() {
            let replaced = diagonal + usize::from(left != right);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_recognised_and_a_stranger_is_not() {
        let known = ["turn/submit", "turn/wait", "daemon/status"];
        let check =
            |wanted: &str, expected: Option<&str>| assert_eq!(nearest(wanted, known.into_iter()), expected);
        check("turn/sumbit", Some("turn/submit"));
        check("turn.submit", Some("turn/submit"));
        check("daemon/state", Some("daemon/status"));
        check("moon/rise", None);
        check(&"x".repeat(1000), None);
    }
}
