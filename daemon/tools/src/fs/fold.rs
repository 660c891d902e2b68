//! Texts that look equal and are not: spaces, quotes, dashes, composed and decomposed letters.

/// Base letters of U+00C0 to U+017F, in order; `*` where there is none of one letter.
const LATIN: &str = "AAAAAA*CEEEEIIII*NOOOOO**UUUUY**aaaaaa*ceeeeiiii*nooooo**uuuuy*y\
    AaAaAaCcCcCcCcDd**EeEeEeEeEeGgGgGgGgHh**IiIiIiIiI***JjKk*LlLlLl****NnNnNn***OoOoOo**RrRrRrSsSsSsSsTtTt**UuUuUuUuUuUuWwYyYZzZzZz*";

/// The character that a person sees, or nothing for marks that join the letter before.
fn look(c: char) -> Option<char> {
    match c {
        '\u{300}'..='\u{36F}'
        | '\u{200B}'..='\u{200F}'
        | '\u{202A}'..='\u{202E}'
        | '\u{2060}'
        | '\u{FEFF}'
        | '\u{AD}' => None,
        '\u{A0}' | '\u{2000}'..='\u{200A}' | '\u{202F}' | '\u{205F}' | '\u{3000}' => Some(' '),
        '\u{2018}'..='\u{201B}' | '\u{2032}' | '\u{B4}' => Some('\''),
        '\u{201C}'..='\u{201F}' | '\u{2033}' | '\u{AB}' | '\u{BB}' => Some('"'),
        '\u{2010}'..='\u{2015}' | '\u{2212}' => Some('-'),
        '\u{C0}'..='\u{17F}' => {
            let index = (c as usize) - 0xC0;
            match LATIN.as_bytes().get(index) {
                Some(b'*') | None => Some(c),
                Some(base) => Some(char::from(*base)),
            }
        }
        c => Some(c),
    }
}

/// A text as it looks.
fn folded(text: &str) -> String {
    text.chars().filter_map(look).collect()
}

/// Where `old` would stand in `line`s if only looks counted: the index of the first line, and the first
/// characters in which the two differ (of the file, of `old`).
pub(super) fn look_alike(lines: &[String], old: &str) -> Option<(usize, String)> {
    let wanted = folded(old);
    let wanted: Vec<&str> = wanted.split('\n').collect();
    let old_lines: Vec<&str> = old.split('\n').collect();
    let folded_lines: Vec<String> = lines.iter().map(|line| folded(line)).collect();
    let fits = |at: usize| {
        wanted.iter().enumerate().all(|(i, want)| {
            folded_lines.get(at + i).is_some_and(|have| {
                if wanted.len() == 1 {
                    have.contains(*want)
                } else {
                    have.ends_with(*want) || have.starts_with(*want)
                }
            })
        })
    };
    let at = (0..folded_lines.len()).find(|at| fits(*at))?;
    let differing = old_lines.iter().enumerate().find_map(|(i, old)| difference(lines.get(at + i)?, old));
    differing.map(|difference| (at, difference))
}

/// What the file has where `old` has something that looks the same.
fn difference(file: &str, old: &str) -> Option<String> {
    let odd = |text: &str, other: &str| -> Vec<String> {
        let mut all: Vec<char> = text.chars().filter(|c| !c.is_ascii() && !other.contains(*c)).collect();
        all.dedup();
        all.iter().take(4).map(|c| format!("U+{:04X}", *c as u32)).collect()
    };
    let (in_file, in_old) = (odd(file, old), odd(old, file));
    match (in_file.is_empty(), in_old.is_empty()) {
        (true, true) => None,
        (false, true) => {
            Some(format!("the file has {}, old_string has plain ASCII there", in_file.join(" ")))
        }
        (true, false) => Some(format!("old_string has {}, the file has plain ASCII there", in_old.join(" "))),
        (false, false) => {
            Some(format!("the file has {} where old_string has {}", in_file.join(" "), in_old.join(" ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(file: &str, old: &str, mentions: Option<&str>) {
        let found = look_alike(&[file.to_owned()], old).map(|(_, text)| text);
        match mentions {
            Some(mentions) => {
                assert!(found.as_deref().is_some_and(|text| text.contains(mentions)), "{found:?}")
            }
            None => assert_eq!(found, None),
        }
    }

    #[test]
    fn what_only_looks_equal_is_named() {
        assert_eq!(LATIN.len(), 0x180 - 0xC0);
        check("// cafe\u{301}", "// café", Some("U+0301"));
        check("a\u{a0}= 1", "a = 1", Some("U+00A0"));
        check("x = “y”", "x = \"y\"", Some("U+201C"));
        check("x = 1", "x = 2", None);
    }
}
