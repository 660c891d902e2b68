//! The place of a file that is most like a text that was not found.

/// The nearest place: the index of its first line, and the first line of the text that differs there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Nearest {
    pub first: usize,
    /// Index within the text.
    pub differs: usize,
}

/// How two texts that do not match relate, line by line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Indentation {
    /// The file has tabs where the text has spaces.
    FileTabs,
    /// The file has spaces where the text has tabs.
    FileSpaces,
    /// Only the amount of white space differs.
    Amount,
}

/// Lines above this are not looked at: an answer within milliseconds matters more than the best one.
const MOST_LINES: usize = 50_000;

/// A place where the text stands but for white space at the begin and the end of lines.
pub(super) fn but_for_space(file: &[String], old: &[&str]) -> Option<(usize, Indentation)> {
    let wanted: Vec<&str> = old.iter().map(|line| line.trim()).collect();
    if wanted.iter().all(|line| line.is_empty()) {
        return None;
    }
    let trimmed: Vec<&str> = file.iter().take(MOST_LINES).map(|line| line.trim()).collect();
    let first = trimmed.windows(wanted.len()).position(|window| window == wanted)?;
    let lead = |line: &str| line.chars().take_while(|c| c.is_whitespace()).collect::<String>();
    let differing = old.iter().enumerate().find_map(|(i, line)| {
        let (have, want) = (lead(file.get(first + i)?), lead(line));
        (have != want).then_some((have, want))
    });
    let kind = match differing {
        Some((have, want)) if have.contains('\t') && !want.contains('\t') => Indentation::FileTabs,
        Some((have, want)) if want.contains('\t') && !have.contains('\t') => Indentation::FileSpaces,
        _ => Indentation::Amount,
    };
    Some((first, kind))
}

/// The window of the file that shares most lines with the text. `None` where nothing is alike.
pub(super) fn nearest(file: &[String], old: &[&str]) -> Option<Nearest> {
    let file = file.get(..file.len().min(MOST_LINES)).unwrap_or(file);
    let wanted: Vec<&str> = old.iter().map(|line| line.trim()).collect();
    let mut best: Option<(u32, usize)> = None;
    for first in 0..file.len() {
        let score = score(file.get(first..).unwrap_or_default(), &wanted);
        if score > best.map_or(0, |(score, _)| score) {
            best = Some((score, first));
        }
    }
    let (score, first) = best?;
    // Less than a third of one line in common says nothing.
    if score < 34 {
        return None;
    }
    let differs =
        old.iter().enumerate().position(|(i, line)| file.get(first + i).is_none_or(|have| have != line));
    Some(Nearest { first, differs: differs.unwrap_or(0) })
}

/// 100 for each line that is equal but for white space, less for one that is alike. Costly comparison is
/// made for few lines only.
fn score(file: &[String], wanted: &[&str]) -> u32 {
    let mut sum = 0;
    for (have, want) in file.iter().zip(wanted).take(40) {
        let have = have.trim();
        if want.is_empty() && have.is_empty() {
            sum += 10;
        } else if have == *want {
            sum += 100;
        } else {
            sum += likeness(have, want);
        }
    }
    sum
}

/// 0 to 99: the share of two lines that their common beginning and end make up.
fn likeness(a: &str, b: &str) -> u32 {
    let longest = a.len().max(b.len());
    if longest == 0 || a.is_empty() || b.is_empty() || longest > 4_000 {
        return 0;
    }
    let head = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
    let room = a.len().min(b.len()) - head;
    let tail = a.bytes().rev().zip(b.bytes().rev()).take(room).take_while(|(x, y)| x == y).count();
    u32::try_from((head + tail) * 99 / longest).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.split('\n').map(str::to_owned).collect()
    }

    #[test]
    fn the_nearest_place_and_the_line_that_differs() {
        let file = lines("int f();\nint main() {\n  return 0;\n}\n");
        let old = ["int main() {", "  return 1;", "}"];
        assert_eq!(nearest(&file, &old), Some(Nearest { first: 1, differs: 1 }));
        assert_eq!(nearest(&file, &["zzz qqq"]), None);
    }

    #[test]
    fn indentation_is_told_from_text() {
        let file = lines("\tif (x)\n\t\treturn;");
        assert_eq!(
            but_for_space(&file, &["    if (x)", "        return;"]),
            Some((0, Indentation::FileTabs))
        );
        assert_eq!(but_for_space(&file, &["\tif (y)"]), None);
    }
}
