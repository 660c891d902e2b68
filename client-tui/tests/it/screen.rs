//! As much of a terminal as is needed to see what was drawn: two screens, places, text (ECMA-48).

const ROWS: usize = 24;
const COLUMNS: usize = 80;

struct Screens {
    rows: [Vec<Vec<char>>; 2],
    front: usize,
    at: (usize, usize),
}

/// The rows of the screen in front.
pub fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let blank = || vec![vec![' '; COLUMNS]; ROWS];
    let mut screens = Screens { rows: [blank(), blank()], front: 0, at: (0, 0) };
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\u{1b}' if rest.peek() == Some(&'[') => {
                rest.next();
                let mut params = String::new();
                let last = loop {
                    match rest.next() {
                        Some(c @ '\u{40}'..='\u{7e}') => break c,
                        Some(c) => params.push(c),
                        None => break ' ',
                    }
                };
                screens.control(&params, last);
            }
            // A title: up to the string terminator.
            '\u{1b}' if rest.peek() == Some(&']') => while rest.next().is_some_and(|c| c != '\\') {},
            c => screens.put(c),
        }
    }
    screens.rows[screens.front]
        .iter()
        .map(|row| row.iter().collect::<String>().trim_end().to_owned())
        .collect::<Vec<_>>()
        .join("\n")
}

impl Screens {
    fn control(&mut self, params: &str, last: char) {
        match (params, last) {
            ("?1049h", _) | ("?1049", 'h') => self.front = 1,
            ("?1049", 'l') => (self.front, self.at) = (0, (0, 0)),
            ("2", 'J') => self.rows[self.front] = vec![vec![' '; COLUMNS]; ROWS],
            (place, 'H') => {
                let mut numbers =
                    place.split(';').map(|number| number.parse::<usize>().unwrap_or(1).max(1) - 1);
                self.at = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
            }
            _ => {}
        }
    }

    fn put(&mut self, c: char) {
        match c {
            '\r' => self.at.1 = 0,
            '\n' if self.at.0 + 1 == ROWS => {
                self.rows[self.front].remove(0);
                self.rows[self.front].push(vec![' '; COLUMNS]);
            }
            '\n' => self.at.0 += 1,
            c if c.is_control() => {}
            c => {
                if self.at.1 == COLUMNS {
                    self.put('\r');
                    self.put('\n');
                }
                if let Some(cell) =
                    self.rows[self.front].get_mut(self.at.0).and_then(|row| row.get_mut(self.at.1))
                {
                    *cell = c;
                }
                self.at.1 += 1;
            }
        }
    }
}
