//! Names near one that does not exist.

use std::path::Path;

use air_contracts::AirError;
use air_contracts::error::codes;

use super::walk::walker;

/// `no_such_file`, with names that may be meant: alike in the same folder, or the same elsewhere.
pub(super) fn no_such_file(shown: &str, path: &Path, root: &Path, what_not: &str) -> AirError {
    let near = near(path, root);
    let near = if near.is_empty() { String::new() } else { format!(" Near: {}.", near.join(", ")) };
    AirError::new(codes::EDIT_NO_SUCH_FILE, format!("{shown} does not exist.{near} {what_not}"))
}

fn near(path: &Path, root: &Path) -> Vec<String> {
    let Some(name) = path.file_name().map(|name| name.to_string_lossy().to_lowercase()) else {
        return Vec::new();
    };
    let mut found: Vec<(usize, String)> = Vec::new();
    let entries =
        path.parent().and_then(|folder| std::fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    for entry in entries.take(5_000) {
        let other = entry.file_name().to_string_lossy().to_lowercase();
        let distance = distance(&name, &other);
        if distance <= 2 || (name.len() > 3 && other.starts_with(stem(&name))) {
            found.push((distance, super::shown(&entry.path(), root)));
        }
    }
    for entry in walker(root, false).build().flatten().take(20_000) {
        let other = entry.file_name().to_string_lossy().to_lowercase();
        if other == name && entry.path() != path {
            found.push((1, super::shown(entry.path(), root)));
        }
    }
    found.sort();
    found.dedup_by(|a, b| a.1 == b.1);
    found.into_iter().take(4).map(|(_, name)| name).collect()
}

fn stem(name: &str) -> &str {
    name.split('.').next().filter(|stem| stem.len() > 3).unwrap_or(name)
}

/// Edits between two names (Damerau–Levenshtein, adjacent swaps count one), at most 3.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > 2 {
        return 3;
    }
    let width = b.len() + 1;
    let mut table = vec![0_usize; (a.len() + 1) * width];
    let get = |table: &[usize], i: usize, j: usize| table.get(i * width + j).copied().unwrap_or(3);
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            let value = if i == 0 || j == 0 {
                i + j
            } else {
                let same = usize::from(a.get(i - 1) != b.get(j - 1));
                let mut least = (get(&table, i - 1, j) + 1)
                    .min(get(&table, i, j - 1) + 1)
                    .min(get(&table, i - 1, j - 1) + same);
                if i > 1 && j > 1 && a.get(i - 1) == b.get(j - 2) && a.get(i - 2) == b.get(j - 1) {
                    least = least.min(get(&table, i - 2, j - 2) + 1);
                }
                least
            };
            if let Some(cell) = table.get_mut(i * width + j) {
                *cell = value;
            }
        }
    }
    get(&table, a.len(), b.len()).min(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swaps_and_small_slips_are_near() {
        for (a, b, expected) in
            [("pasre.cpp", "parse.cpp", 1), ("a.cpp", "a.hpp", 1), ("x", "x", 0), ("abc", "xyz", 3)]
        {
            assert_eq!(distance(a, b), expected, "{a} {b}");
        }
    }
}
