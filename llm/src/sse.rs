//! A decoder of server-sent events over bytes, in any chunking.
//!
//! Lines end in CR, LF or CRLF; several `data` lines of one event are joined by a newline; comments and
//! unknown fields are skipped; one byte order mark at the start is dropped; an event that is not
//! followed by a blank line is never delivered (HTML standard, section 9.2.6).

/// The longest line and the largest event that is kept, in bytes: that of a request to the large APIs.
const LARGEST: usize = 32 << 20;

/// Why the bytes cannot be decoded.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooLarge;

/// The state between two chunks.
#[derive(Debug, Default)]
pub(crate) struct SseDecoder {
    /// The beginning of a line whose end has not come yet.
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    after_cr: bool,
    past_start: bool,
}

impl SseDecoder {
    /// Takes the next bytes and hands the data of every event that they complete to `sink`.
    pub fn feed<E: From<TooLarge>>(
        &mut self,
        mut chunk: &[u8],
        mut sink: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        while let Some(&first) = chunk.first() {
            if self.after_cr {
                self.after_cr = false;
                if first == b'\n' {
                    chunk = &chunk[1..];
                    continue;
                }
            }
            let Some(end) = chunk.iter().position(|&byte| byte == b'\n' || byte == b'\r') else {
                self.keep(chunk)?;
                return Ok(());
            };
            self.after_cr = chunk[end] == b'\r';
            let (head, rest) = (&chunk[..end], &chunk[end + 1..]);
            chunk = rest;
            if self.line.is_empty() {
                self.take_line(head, &mut sink)?;
            } else {
                self.keep(head)?;
                let line = std::mem::take(&mut self.line);
                self.take_line(&line, &mut sink)?;
                self.line = line;
                self.line.clear();
            }
        }
        Ok(())
    }

    fn keep(&mut self, part: &[u8]) -> Result<(), TooLarge> {
        if self.line.len() + part.len() > LARGEST {
            return Err(TooLarge);
        }
        self.line.extend_from_slice(part);
        Ok(())
    }

    fn take_line<E: From<TooLarge>>(
        &mut self,
        mut line: &[u8],
        sink: &mut impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        if !self.past_start {
            self.past_start = true;
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        if line.is_empty() {
            let complete = std::mem::take(&mut self.has_data);
            let result = if complete { sink(&self.data) } else { Ok(()) };
            self.data.clear();
            return result;
        }
        let value = match line.strip_prefix(b"data") {
            Some(b"") => &b""[..],
            Some([b':', b' ', value @ ..] | [b':', value @ ..]) => value,
            _ => return Ok(()),
        };
        if self.data.len() + value.len() > LARGEST {
            return Err(TooLarge.into());
        }
        if std::mem::replace(&mut self.has_data, true) {
            self.data.push(b'\n');
        }
        self.data.extend_from_slice(value);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(text: &str, size: usize) -> Vec<String> {
        let mut events = Vec::new();
        let mut decoder = SseDecoder::default();
        for chunk in text.as_bytes().chunks(size) {
            let sink = |data: &[u8]| {
                events.push(String::from_utf8(data.to_vec()).unwrap());
                Ok::<(), TooLarge>(())
            };
            decoder.feed(chunk, sink).unwrap();
        }
        events
    }

    fn check(text: &str, expected: &[&str]) {
        for size in 1..=text.len() {
            assert_eq!(decode(text, size), expected, "{text:?} in chunks of {size}");
        }
    }

    #[test]
    fn framing_does_not_depend_on_chunks() {
        check("data: a\n\ndata:b\r\n\r\ndata: c\r\rdata: d\r\n\n", &["a", "b", "c", "d"]);
        check("\u{feff}data: é\u{2028}x\ndata:  y\n\n", &["é\u{2028}x\n y"]);
        check(": comment\n\nevent: e\nid: 1\nretry: 3\n\ndata\n\ndatax: n\n\n", &[""]);
        check("data: a\n\ndata: lost\n", &["a"]);
    }
}
