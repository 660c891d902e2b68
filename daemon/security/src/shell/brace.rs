//! Brace expansion: `{a,b}` and `{1..3}` (bash(1), Brace Expansion).

use super::tree::{Part, Word};

/// The most words that one word may become.
const MAX: usize = 256;

/// One character of unquoted text, or a whole part.
#[derive(Clone)]
enum Atom {
    Char(char),
    Part(Part),
}

/// The words that a word becomes; `None` where there would be too many.
pub(crate) fn expand(word: &Word) -> Option<Vec<Word>> {
    let braces = word
        .parts
        .iter()
        .any(|part| matches!(part, Part::Text { text, quoted: false } if text.contains('{')));
    if !braces {
        return Some(vec![word.clone()]);
    }
    // Expansions come after braces: `{a$,b}c` becomes `a$c`, a variable.
    if word.parts.iter().any(|part| matches!(part, Part::Text { text, quoted: false } if text.contains('$')))
    {
        return None;
    }
    let atoms: Vec<Atom> = word.parts.iter().flat_map(atoms_of).collect();
    let expanded = expand_atoms(&atoms, 0)?;
    Some(expanded.into_iter().map(|atoms| Word { parts: parts_of(atoms) }).collect())
}

fn atoms_of(part: &Part) -> Vec<Atom> {
    match part {
        Part::Text { text, quoted: false } => text.chars().map(Atom::Char).collect(),
        other => vec![Atom::Part(other.clone())],
    }
}

fn parts_of(atoms: Vec<Atom>) -> Vec<Part> {
    let mut parts = Vec::new();
    for atom in atoms {
        match (atom, parts.last_mut()) {
            (Atom::Char(c), Some(Part::Text { text, quoted: false })) => text.push(c),
            (Atom::Char(c), _) => parts.push(Part::Text { text: c.to_string(), quoted: false }),
            (Atom::Part(part), _) => parts.push(part),
        }
    }
    parts
}

fn is_char(atom: &Atom, wanted: char) -> bool {
    matches!(atom, Atom::Char(c) if *c == wanted)
}

/// Expands the first brace that is one, then what follows. More nesting than bash lines have is given up.
fn expand_atoms(atoms: &[Atom], depth: usize) -> Option<Vec<Vec<Atom>>> {
    if depth > 16 {
        return None;
    }
    for (start, _) in atoms.iter().enumerate().filter(|(_, atom)| is_char(atom, '{')) {
        let Some(end) = closing(atoms, start) else { continue };
        let inner = &atoms[start + 1..end];
        if too_long(inner) {
            return None;
        }
        let Some(choices) = list(inner).or_else(|| sequence(inner)) else { continue };
        let tails = expand_atoms(&atoms[end + 1..], depth + 1)?;
        let mut out = Vec::new();
        for choice in choices {
            for middle in expand_atoms(&choice, depth + 1)? {
                for tail in &tails {
                    let mut whole = atoms[..start].to_vec();
                    whole.extend(middle.iter().cloned());
                    whole.extend(tail.iter().cloned());
                    out.push(whole);
                    if out.len() > MAX {
                        return None;
                    }
                }
            }
        }
        return Some(out);
    }
    Some(vec![atoms.to_vec()])
}

fn closing(atoms: &[Atom], start: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (at, atom) in atoms.iter().enumerate().skip(start) {
        if is_char(atom, '{') {
            depth += 1;
        } else if is_char(atom, '}') {
            depth -= 1;
            if depth == 0 {
                return Some(at);
            }
        }
    }
    None
}

/// The choices of `a,b`; `None` without a comma at the top.
fn list(inner: &[Atom]) -> Option<Vec<Vec<Atom>>> {
    let mut choices = vec![Vec::new()];
    let mut depth = 0usize;
    for atom in inner {
        if is_char(atom, '{') {
            depth += 1;
        } else if is_char(atom, '}') {
            depth = depth.saturating_sub(1);
        } else if depth == 0 && is_char(atom, ',') {
            choices.push(Vec::new());
            continue;
        }
        choices.last_mut()?.push(atom.clone());
    }
    (choices.len() > 1).then_some(choices)
}

/// Whether this is a sequence of more words than are looked at, or one with a step.
fn too_long(inner: &[Atom]) -> bool {
    let text: String = inner.iter().map(|atom| if let Atom::Char(c) = atom { *c } else { '$' }).collect();
    let mut ends = text.split("..").map(str::parse::<i64>);
    match (ends.next(), ends.next(), ends.next()) {
        (Some(Ok(from)), Some(Ok(to)), None) => from.abs_diff(to) > MAX as u64,
        (Some(Ok(_)), Some(Ok(_)), Some(_)) => true,
        _ => false,
    }
}

/// The choices of `1..3` and `a..c`.
fn sequence(inner: &[Atom]) -> Option<Vec<Vec<Atom>>> {
    let text: String = inner
        .iter()
        .map(|atom| match atom {
            Atom::Char(c) => Some(*c),
            Atom::Part(_) => None,
        })
        .collect::<Option<_>>()?;
    let (from, to) = text.split_once("..")?;
    if let (Ok(from), Ok(to)) = (from.parse::<i32>(), to.parse::<i32>()) {
        let numbers: Vec<i32> = if from <= to { (from..=to).collect() } else { (to..=from).rev().collect() };
        return Some(numbers.into_iter().map(|n| n.to_string().chars().map(Atom::Char).collect()).collect());
    }
    let (mut first, mut last) = (from.chars(), to.chars());
    let (Some(from), Some(to), None, None) = (first.next(), last.next(), first.next(), last.next()) else {
        return None;
    };
    if !from.is_ascii_alphabetic() || !to.is_ascii_alphabetic() {
        return None;
    }
    let letters: Vec<char> = if from <= to { (from..=to).collect() } else { (to..=from).rev().collect() };
    Some(letters.into_iter().map(|c| vec![Atom::Char(c)]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let word = Word { parts: vec![Part::Text { text: text.to_owned(), quoted: false }] };
        let words = expand(&word).unwrap();
        let texts: Vec<String> = words
            .iter()
            .map(|word| {
                word.parts
                    .iter()
                    .map(|part| match part {
                        Part::Text { text, .. } => text.as_str(),
                        _ => "?",
                    })
                    .collect()
            })
            .collect();
        assert_eq!(texts, expected, "{text}");
    }

    #[test]
    fn braces_expand_as_in_bash() {
        check("{rm,-rf,src}", &["rm", "-rf", "src"]);
        check("a{b,{c,d}}e", &["abe", "ace", "ade"]);
        check("x{1..3}", &["x1", "x2", "x3"]);
        check("{a}", &["{a}"]);
        check("{,x}", &["", "x"]);
        check("{c..a}{1,2}", &["c1", "c2", "b1", "b2", "a1", "a2"]);
    }
}
