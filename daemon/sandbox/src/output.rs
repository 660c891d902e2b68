//! Output of a run on disk: the first bytes, a ring with the last ones, and the true size.
//!
//! `output.head` holds the first `head_cap` bytes. What goes beyond is written to the ring `output.tail`
//! of `tail_cap` bytes, and `output.size` then holds three little-endian u64: the true size and both
//! caps. Without that file the head is everything.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::fs::{Mode, OFlags, openat};
use std::os::fd::BorrowedFd;

pub const HEAD: &str = "output.head";
pub const TAIL: &str = "output.tail";
pub const SIZE: &str = "output.size";

/// The writing side, in the launcher. A full disk never stops the command: bytes are then only counted.
pub struct OutputWriter {
    head: File,
    beyond: Option<(File, File)>,
    head_cap: u64,
    tail_cap: u64,
    total: u64,
    error: Option<String>,
}

impl OutputWriter {
    /// Makes an empty head file in the run folder.
    pub fn create(folder: BorrowedFd<'_>, head_cap: u64, tail_cap: u64) -> io::Result<Self> {
        let head = create(folder, HEAD)?;
        Ok(Self { head, beyond: None, head_cap, tail_cap, total: 0, error: None })
    }

    /// Bytes that came so far.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Why bytes within the caps were lost.
    pub fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// Takes the next bytes of the stream.
    pub fn write(&mut self, folder: BorrowedFd<'_>, bytes: &[u8]) {
        let room = self.head_cap.saturating_sub(self.total);
        let (first, rest) = bytes.split_at(bytes.len().min(usize::try_from(room).unwrap_or(usize::MAX)));
        let mut result = if first.is_empty() { Ok(()) } else { self.head.write_all_at(first, self.total) };
        let start = self.total + first.len() as u64;
        self.total += bytes.len() as u64;
        if !rest.is_empty() {
            result = result.and(self.write_beyond(folder, rest, start));
        }
        if let Err(error) = result {
            self.error.get_or_insert_with(|| error.to_string());
        }
    }

    fn write_beyond(&mut self, folder: BorrowedFd<'_>, bytes: &[u8], start: u64) -> io::Result<()> {
        if self.beyond.is_none() {
            self.beyond = Some((create(folder, TAIL)?, create(folder, SIZE)?));
        }
        let Some((ring, size)) = &self.beyond else { return Ok(()) };
        // Of a piece longer than the ring, only the end would survive.
        let skip = (bytes.len() as u64).saturating_sub(self.tail_cap);
        let kept = bytes.get(usize::try_from(skip).unwrap_or(usize::MAX)..).unwrap_or_default();
        if !kept.is_empty() {
            let at = (start + skip - self.head_cap) % self.tail_cap;
            let fits = usize::try_from(self.tail_cap - at).unwrap_or(usize::MAX).min(kept.len());
            let (end, wrapped) = kept.split_at(fits);
            ring.write_all_at(end, at)?;
            ring.write_all_at(wrapped, 0)?;
        }
        let mut record = [0; 24];
        record[..8].copy_from_slice(&self.total.to_le_bytes());
        record[8..16].copy_from_slice(&self.head_cap.to_le_bytes());
        record[16..].copy_from_slice(&self.tail_cap.to_le_bytes());
        size.write_all_at(&record, 0)
    }
}

fn create(folder: BorrowedFd<'_>, name: &str) -> io::Result<File> {
    let flags = OFlags::CREATE | OFlags::TRUNC | OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    Ok(File::from(openat(folder, name, flags, Mode::RUSR | Mode::WUSR)?))
}

/// Output as it is shown: its start, its end, and how much lies between.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KeptOutput {
    pub head: Vec<u8>,
    /// What follows `head`, after `omitted` bytes.
    pub tail: Vec<u8>,
    /// True size of the output.
    pub total: u64,
    /// Bytes between head and tail.
    pub omitted: u64,
}

/// The reading side: sizes as they are at this moment.
pub struct OutputReader {
    head: Option<File>,
    head_len: u64,
    ring: Option<File>,
    total: u64,
    head_cap: u64,
    tail_cap: u64,
}

impl OutputReader {
    /// Opens the output files of a run folder, which need not exist yet.
    pub fn open(folder: &Path) -> io::Result<Self> {
        let head = optional(&folder.join(HEAD))?;
        let head_len = head.as_ref().map_or(Ok(0), |file| file.metadata().map(|data| data.len()))?;
        let mut reader =
            Self { head, head_len, ring: None, total: head_len, head_cap: head_len, tail_cap: 0 };
        let mut record = [0; 24];
        if let Some(size) = optional(&folder.join(SIZE))?
            && size.read_exact_at(&mut record, 0).is_ok()
        {
            let field = |at: usize| u64::from_le_bytes(std::array::from_fn(|index| record[at + index]));
            (reader.total, reader.head_cap, reader.tail_cap) = (field(0), field(8), field(16));
            reader.ring = optional(&folder.join(TAIL))?;
        }
        Ok(reader)
    }

    /// True size of the output so far.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Up to `max` bytes of the head file from `offset` on.
    pub fn head_at(&self, offset: u64, max: usize) -> io::Result<Vec<u8>> {
        let end = offset.saturating_add(max as u64).min(self.head_len);
        match &self.head {
            Some(file) if offset < end => read_range(file, offset, end - offset),
            _ => Ok(Vec::new()),
        }
    }

    /// The first `head` and the last `tail` bytes that are kept.
    pub fn kept(&self, head: usize, tail: usize) -> io::Result<KeptOutput> {
        let first = self.head_at(0, head)?;
        let ring_start = self.head_cap.max(self.total.saturating_sub(self.tail_cap));
        let want = self.total.saturating_sub(tail as u64).max(first.len() as u64);
        let mut last = Vec::new();
        // The head file belongs to the end only where nothing is lost between it and the ring.
        if want < self.head_cap && ring_start == self.head_cap {
            last = self.head_at(want, usize::try_from(self.head_cap - want).unwrap_or(usize::MAX))?;
        }
        if self.ring.is_some() && self.total > ring_start {
            last.extend(self.ring_range(want.max(ring_start))?);
        }
        let omitted = self.total.saturating_sub(first.len() as u64 + last.len() as u64);
        Ok(KeptOutput { head: first, tail: last, total: self.total, omitted })
    }

    /// The bytes of the stream from `start` to its end, out of the ring.
    fn ring_range(&self, start: u64) -> io::Result<Vec<u8>> {
        let (Some(ring), true) = (&self.ring, self.tail_cap > 0 && start < self.total) else {
            return Ok(Vec::new());
        };
        let at = (start - self.head_cap) % self.tail_cap;
        let length = self.total - start;
        let first = length.min(self.tail_cap - at);
        let mut bytes = read_range(ring, at, first)?;
        bytes.extend(read_range(ring, 0, length - first)?);
        Ok(bytes)
    }
}

fn optional(path: &Path) -> io::Result<Option<File>> {
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Reads a range; shorter where the file ends before.
fn read_range(file: &File, at: u64, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(length).map_err(|_| io::ErrorKind::OutOfMemory)?];
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read_at(&mut bytes[filled..], at + filled as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    /// Writes 0, 1, 2, … in pieces and checks what is kept against the plain stream.
    fn check(total: usize, piece: usize, caps: (u64, u64), ask: (usize, usize)) {
        let folder = tempfile::tempdir().unwrap();
        let dir = File::open(folder.path()).unwrap();
        let stream: Vec<u8> = (0..total).map(|n| (n % 251) as u8).collect();
        let mut writer = OutputWriter::create(dir.as_fd(), caps.0, caps.1).unwrap();
        stream.chunks(piece).for_each(|bytes| writer.write(dir.as_fd(), bytes));
        assert_eq!((writer.total(), writer.error()), (total as u64, None));

        let kept = OutputReader::open(folder.path()).unwrap().kept(ask.0, ask.1).unwrap();
        let head = total.min(ask.0).min(caps.0 as usize);
        assert_eq!(kept.head, stream[..head], "head of {total} by {piece}");
        assert!(stream.ends_with(&kept.tail), "tail of {total} by {piece}");
        let beyond = (total - head).min(ask.1);
        let whole = total as u64 <= caps.0 + caps.1;
        let expected = if whole { beyond } else { beyond.min(caps.1 as usize) };
        assert_eq!(kept.tail.len(), expected, "tail of {total} by {piece} within {caps:?}, asked {ask:?}");
        assert_eq!(kept.omitted + (kept.head.len() + kept.tail.len()) as u64, total as u64);
    }

    #[test]
    fn head_and_ring_keep_the_two_ends_of_the_stream() {
        for total in [0, 1, 99, 100, 101, 149, 150, 151, 1000, 4999] {
            for piece in [1, 7, 50, 64, 700] {
                for caps in [(100, 50), (1, 1), (0, 50), (100, 0), (5000, 5000)] {
                    for ask in [(10, 10), (1000, 1000), (0, 40), (100, 0), (99, 2)] {
                        check(total, piece, caps, ask);
                    }
                }
            }
        }
    }
}
