//! Code in arguments: `sed` and `awk` are read as far as needed, other code is searched for names.

use air_contracts::permission::RiskLevel;

use super::arg::Arg;
use super::walk::Walker;
use crate::path::PathOp;

/// Texts that name what no tool touches.
const POLICY: &[&str] =
    &[".air/shared/permissions", ".air/permissions", ".air/local", ".air/projects", ".air/runtime"];
/// Texts that name keys and log-ins of the user.
const KEYS: &[&str] =
    &[".ssh/id_", ".aws/credentials", ".gnupg/", ".git-credentials", "/etc/shadow", ".ssh/authorized_keys"];

impl Walker<'_> {
    /// Searches code that is not understood for names that no command may touch.
    pub(crate) fn code(&mut self, text: &str) {
        if POLICY.iter().any(|name| text.contains(name)) {
            self.out.deny(RiskLevel::SystemSensitive, "the code names the rules or the state of the runtime");
        }
        if KEYS.iter().any(|name| text.contains(name)) {
            self.out.secret = true;
            self.out.deny(RiskLevel::Credential, "the code names keys or log-ins of the user");
        }
    }

    /// A `sed` script.
    pub(crate) fn sed(&mut self, script: &Arg) {
        let Some(text) = known_code(script) else {
            self.out.unknown(format!("the sed script {script} is not known"));
            return;
        };
        match read_sed(&text) {
            Ok(files) => {
                for (file, op) in files {
                    let arg = Arg::text(file);
                    self.path(&arg, op);
                    if op == PathOp::Write {
                        self.authored(&arg);
                    }
                }
            }
            Err(why) => self.out.opaque(format!("the sed script {why}")),
        }
    }

    /// An `awk` program: without input, output or commands of its own it only computes.
    pub(crate) fn awk(&mut self, program: &Arg) {
        let Some(text) = known_code(program) else {
            self.out.unknown(format!("the awk program {program} is not known"));
            return;
        };
        let code = without_strings(&text);
        if ["system", "getline", "@load", "@include", "|&", "extension", "ENVIRON", "PROCINFO"]
            .iter()
            .any(|word| code.contains(word))
        {
            self.out.opaque("the awk program may run or read something else");
            return;
        }
        if piped(&code) {
            self.out.opaque("the awk program pipes into a command");
        }
        self.awk_output(&text, &code);
    }

    /// `print > "file"`: the target must be a plain string.
    fn awk_output(&mut self, text: &str, code: &str) {
        for (at, _) in code.match_indices('>') {
            if !follows_print(&code[..at]) {
                continue;
            }
            let rest = text[at..].trim_start_matches('>').trim_start();
            let file = rest
                .strip_prefix('"')
                .and_then(|inner| inner.split_once('"'))
                .map(|(file, tail)| (file, tail.trim_start()));
            match file {
                Some((file, tail)) if !file.contains('\\') && tail.starts_with([';', '}', '\n']) => {
                    let arg = Arg::text(file);
                    self.path(&arg, PathOp::Write);
                    self.authored(&arg);
                }
                _ => self.out.unknown("the awk program writes a file whose name is not plain"),
            }
        }
    }
}

/// The text of code in which only numbers are filled in.
fn known_code(arg: &Arg) -> Option<String> {
    if arg.has_glob() { arg.pattern() } else { arg.exact().map(str::to_owned).or_else(|| arg.pattern()) }
}

/// The program with the inside of its strings and regular expressions blanked, byte for byte.
fn without_strings(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    let mut last = ' ';
    while let Some(c) = chars.next() {
        let regex = c == '/' && !(last.is_alphanumeric() || matches!(last, ')' | ']' | '_' | '$'));
        out.push(c);
        if c == '#' {
            // A comment: to the end of the line.
            for inner in chars.by_ref() {
                out.push(if inner == '\n' { '\n' } else { blank(inner) });
                if inner == '\n' {
                    break;
                }
                pad(&mut out, inner);
            }
            last = '\n';
            continue;
        }
        if c == '"' || regex {
            let mut escaped = false;
            for inner in chars.by_ref() {
                if inner == c && !escaped {
                    out.push(c);
                    break;
                }
                escaped = inner == '\\' && !escaped;
                out.push(blank(inner));
                pad(&mut out, inner);
            }
        }
        if !c.is_whitespace() {
            last = c;
        }
    }
    out
}

fn blank(_: char) -> char {
    ' '
}

/// Keeps the length in bytes equal.
fn pad(out: &mut String, c: char) {
    (1..c.len_utf8()).for_each(|_| out.push(' '));
}

/// A `|` that is not part of `||`.
fn piped(code: &str) -> bool {
    code.replace("||", "  ").contains('|')
}

/// Whether the statement before a `>` prints: then it is an output, else a comparison.
fn follows_print(before: &str) -> bool {
    let statement = before.rsplit([';', '{', '}', '\n']).next().unwrap_or_default();
    let open = statement.matches('(').count() > statement.matches(')').count();
    statement.contains("print") && !open
}

/// The files that a `sed` script names, or why it is not taken.
fn read_sed(text: &str) -> Result<Vec<(String, PathOp)>, String> {
    let mut reader = Sed { chars: text.chars().collect(), at: 0, files: Vec::new() };
    while reader.at < reader.chars.len() {
        reader.command()?;
    }
    Ok(reader.files)
}

struct Sed {
    chars: Vec<char>,
    at: usize,
    files: Vec<(String, PathOp)>,
}

impl Sed {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        Some(c)
    }

    fn skip(&mut self, wanted: impl Fn(char) -> bool) {
        while self.peek().is_some_and(&wanted) {
            self.at += 1;
        }
    }

    fn rest_of_line(&mut self) -> String {
        let line: String = self.chars[self.at..].iter().take_while(|c| **c != '\n').collect();
        self.at += line.chars().count() + 1;
        line
    }

    fn command(&mut self) -> Result<(), String> {
        self.skip(|c| c.is_whitespace() || c == ';' || c == '}');
        if self.peek().is_none() {
            return Ok(());
        }
        self.addresses()?;
        self.skip(|c| c == ' ' || c == '\t' || c == '!');
        match self.next() {
            None
            | Some('{' | '=' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z' | 'F') => {
                Ok(())
            }
            Some('#' | 'a' | 'i' | 'c' | ':') => {
                // Text: lines that end in a backslash go on.
                while self.rest_of_line().ends_with('\\') {}
                Ok(())
            }
            Some('b' | 't' | 'T') => {
                self.skip(|c| c != ';' && c != '\n' && c != '}');
                Ok(())
            }
            Some('q' | 'Q' | 'l' | 'L') => {
                self.skip(|c| c.is_ascii_digit() || c == ' ');
                Ok(())
            }
            Some('s') => self.substitute(),
            Some('y') => {
                let delimiter = self.next().ok_or("ends early")?;
                self.until(delimiter)?;
                self.until(delimiter)
            }
            Some('w' | 'W') => self.file(PathOp::Write),
            Some('r' | 'R') => self.file(PathOp::Read),
            Some('e') => Err("runs a command".to_owned()),
            Some(other) => Err(format!("has the command {other}")),
        }
    }

    fn file(&mut self, op: PathOp) -> Result<(), String> {
        let name = self.rest_of_line().trim().to_owned();
        self.files.push((name, op));
        Ok(())
    }

    fn addresses(&mut self) -> Result<(), String> {
        loop {
            match self.peek() {
                Some('/') => {
                    self.at += 1;
                    self.until('/')?;
                    self.skip(|c| c == 'I' || c == 'M');
                }
                Some('\\') => {
                    self.at += 1;
                    let delimiter = self.next().ok_or("ends early")?;
                    self.until(delimiter)?;
                    self.skip(|c| c == 'I' || c == 'M');
                }
                Some(c) if c.is_ascii_digit() || matches!(c, '$' | ',' | '~' | '+' | ' ') => self.at += 1,
                _ => return Ok(()),
            }
        }
    }

    /// Behind the next delimiter that is not escaped; in a bracket it is text only for some seds, so a
    /// bracket with the delimiter in it is not taken.
    fn until(&mut self, delimiter: char) -> Result<(), String> {
        let mut class = false;
        loop {
            match self.next() {
                None => return Err("ends early".to_owned()),
                Some('\\') => {
                    self.next();
                }
                Some(c) if c == delimiter && class => return Err("has a delimiter in a bracket".to_owned()),
                Some(c) if c == delimiter => return Ok(()),
                Some('[') => {
                    class = self.chars[self.at..].iter().take_while(|c| **c != delimiter).any(|c| *c == ']')
                }
                Some(']') => class = false,
                Some(_) => {}
            }
        }
    }

    fn substitute(&mut self) -> Result<(), String> {
        let delimiter = self.next().ok_or("ends early")?;
        self.until(delimiter)?;
        self.replacement(delimiter)?;
        loop {
            match self.peek() {
                Some('g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9') => self.at += 1,
                Some('w') => {
                    self.at += 1;
                    return self.file(PathOp::Write);
                }
                Some('e') => return Err("runs what it replaces".to_owned()),
                Some(';' | '\n' | '}' | ' ' | '\t' | '#') | None => return Ok(()),
                Some(other) => return Err(format!("has the flag {other}")),
            }
        }
    }

    /// In the replacement a bracket is text.
    fn replacement(&mut self, delimiter: char) -> Result<(), String> {
        loop {
            match self.next() {
                None => return Err("ends early".to_owned()),
                Some('\\') => {
                    self.next();
                }
                Some(c) if c == delimiter => return Ok(()),
                Some(_) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sed_scripts_are_told_apart() {
        for quiet in [
            "s/a/b/g",
            "10,40p",
            "/^int main/,/^}/p",
            "s|a/b|c|; /x/d",
            "1{s/a/b/;p}",
            "$!N;P;D",
            "s/[/]/x/",
            "y/abc/xyz/",
            "/a/I,+3d",
            "a text",
        ] {
            let result = read_sed(quiet);
            assert!(
                matches!(&result, Ok(files) if files.is_empty()) || quiet == "s/[/]/x/",
                "{quiet}: {result:?}"
            );
        }
        for strict in ["1e rm x", "s/.*/x/e", "e", "s/a/b/gew", "/x/e id", "s/a/b/;e id"] {
            assert!(read_sed(strict).is_err(), "{strict}");
        }
        assert_eq!(read_sed("s/a/b/w out.txt"), Ok(vec![("out.txt".to_owned(), PathOp::Write)]));
        assert_eq!(read_sed("w ../copy"), Ok(vec![("../copy".to_owned(), PathOp::Write)]));
    }
}
