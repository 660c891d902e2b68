//! As much of HTTP/1.1 (RFC 9112) as clients of model servers use.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const LONGEST_HEAD: usize = 64 << 10;
const LARGEST_BODY: usize = 64 << 20;

/// A request, whole.
#[derive(Debug)]
pub(crate) struct HttpRequest {
    pub method: String,
    /// Without the query.
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl HttpRequest {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Whether the client wants the connection closed after the answer.
    pub fn wants_close(&self) -> bool {
        self.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"))
    }
}

/// Why no request could be read.
#[derive(Debug)]
pub(crate) enum ReadError {
    /// The client is gone, between requests or inside one.
    Closed,
    /// The bytes are not such a request: answer with this status and close.
    Bad(u16),
}

impl From<std::io::Error> for ReadError {
    fn from(_: std::io::Error) -> Self {
        Self::Closed
    }
}

/// One connection with what was read beyond the last request.
#[derive(Debug)]
pub(crate) struct Connection {
    pub stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    pub fn new(stream: TcpStream) -> Self {
        Self { stream, buffer: Vec::with_capacity(16 << 10) }
    }

    async fn fill(&mut self) -> Result<(), ReadError> {
        match self.stream.read_buf(&mut self.buffer).await? {
            0 => Err(ReadError::Closed),
            _ => Ok(()),
        }
    }

    /// Reads the next request.
    pub async fn request(&mut self) -> Result<HttpRequest, ReadError> {
        let end = loop {
            if let Some(at) = self.buffer.windows(4).position(|window| window == b"\r\n\r\n") {
                break at;
            }
            if self.buffer.len() > LONGEST_HEAD {
                return Err(ReadError::Bad(431));
            }
            self.fill().await?;
        };
        let mut request = head(&self.buffer[..end]).ok_or(ReadError::Bad(400))?;
        self.buffer.drain(..end + 4);
        if request.header("transfer-encoding").is_some() {
            return Err(ReadError::Bad(411));
        }
        let length = match request.header("content-length") {
            Some(text) => text.parse().map_err(|_| ReadError::Bad(400))?,
            None => 0,
        };
        if length > LARGEST_BODY {
            return Err(ReadError::Bad(413));
        }
        if request.header("expect").is_some() && self.buffer.len() < length {
            self.stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
        }
        self.buffer.reserve(length.saturating_sub(self.buffer.len()));
        while self.buffer.len() < length {
            self.fill().await?;
        }
        let rest = self.buffer.split_off(length);
        request.body = std::mem::replace(&mut self.buffer, rest);
        Ok(request)
    }

    /// Waits until the client goes away.
    pub async fn closed(&mut self) {
        let mut scratch = [0; 1024];
        while !matches!(self.stream.read(&mut scratch).await, Ok(0) | Err(_)) {}
    }
}

fn head(bytes: &[u8]) -> Option<HttpRequest> {
    let text = std::str::from_utf8(bytes).ok()?;
    let mut lines = text.split("\r\n");
    let mut first = lines.next()?.split(' ');
    let (method, target) = (first.next()?, first.next()?);
    if first.next()? != "HTTP/1.1" {
        return None;
    }
    let header = |line: &str| {
        let (name, value) = line.split_once(':')?;
        Some((name.to_ascii_lowercase(), value.trim().to_owned()))
    };
    let headers: Option<Vec<(String, String)>> = lines.map(header).collect();
    let path = target.split('?').next().unwrap_or(target).to_owned();
    Some(HttpRequest { method: method.to_owned(), path, headers: headers?, body: Vec::new() })
}

/// The status line and the headers of an answer.
pub(crate) fn answer_head(status: u16, headers: &[(&str, &str)]) -> Vec<u8> {
    let mut text = format!("HTTP/1.1 {status} {}\r\n", reason(status));
    let date = httpdate::fmt_http_date(std::time::SystemTime::now());
    for (name, value) in [("date", date.as_str())].iter().chain(headers) {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str("\r\n");
    text.into_bytes()
}

/// One chunk of a chunked body.
pub(crate) fn chunk(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(format!("{:x}\r\n", bytes.len()).as_bytes());
    out.extend_from_slice(bytes);
    out.extend_from_slice(b"\r\n");
}

/// The end of a chunked body.
pub(crate) const LAST_CHUNK: &[u8] = b"0\r\n\r\n";

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        404 => "Not Found",
        405 => "Method Not Allowed",
        411 => "Length Required",
        413 => "Payload Too Large",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        529 => "Site Overloaded",
        _ => "Status",
    }
}
