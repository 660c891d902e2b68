//! A git patch as rows with line numbers, by files that can be folded.

use air_contracts::api::Changes;

/// What a row of a diff is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiffKind {
    Context,
    Added,
    Removed,
    /// `@@ … @@`.
    Hunk,
    /// A line of git itself: mode, rename, binary, no newline.
    Note,
}

/// One row; `text` is a range of the patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffRow {
    pub kind: DiffKind,
    /// The line in the new file; of a removed line that in the old one.
    pub number: Option<u32>,
    pub text: std::ops::Range<usize>,
}

/// One file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffFile {
    pub path: String,
    pub status: String,
    pub added: Option<u32>,
    pub removed: Option<u32>,
    pub folded: bool,
    pub rows: Vec<DiffRow>,
}

/// A patch, read once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Diff {
    patch: String,
    pub files: Vec<DiffFile>,
}

/// A row as it is listed: a file, or a row of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listed {
    File(usize),
    Row(usize, usize),
}

impl Diff {
    /// Reads what the daemon compared.
    pub fn new(changes: Changes) -> Self {
        let mut files: Vec<DiffFile> = Vec::new();
        let mut reader = Reader::default();
        let mut at = 0;
        for line in changes.patch.split_inclusive('\n') {
            let range = at..at + line.trim_end_matches('\n').len();
            at += line.len();
            if let Some(rest) = line.strip_prefix("diff --git ") {
                files.push(file(files.len(), rest, &changes));
                reader = Reader::default();
            } else if let Some(file) = files.last_mut() {
                file.rows.extend(reader.row(line, range));
            }
        }
        // Files without a patch of their own are listed all the same.
        if files.is_empty() {
            files = (0..changes.files.len()).map(|index| file(index, "", &changes)).collect();
        }
        Self { patch: changes.patch, files }
    }

    /// The text of a row, without its sign.
    pub fn text(&self, row: &DiffRow) -> &str {
        let skip = match row.kind {
            DiffKind::Context | DiffKind::Added | DiffKind::Removed => 1,
            DiffKind::Hunk | DiffKind::Note => 0,
        };
        self.patch.get(row.text.clone()).and_then(|text| text.get(skip..)).unwrap_or("")
    }

    /// The rows that are not folded.
    pub fn listed(&self) -> Vec<Listed> {
        let mut out = Vec::new();
        for (index, file) in self.files.iter().enumerate() {
            out.push(Listed::File(index));
            if !file.folded {
                out.extend((0..file.rows.len()).map(|row| Listed::Row(index, row)));
            }
        }
        out
    }

    /// Lines added and removed in all files that are text.
    pub fn totals(&self) -> (u32, u32) {
        self.files.iter().fold((0, 0), |(added, removed), file| {
            (added + file.added.unwrap_or(0), removed + file.removed.unwrap_or(0))
        })
    }
}

fn file(index: usize, head: &str, changes: &Changes) -> DiffFile {
    let known =
        changes.files.iter().find(|file| head.trim_end().ends_with(&format!(" b/{}", file.path.display())));
    let known = known.or_else(|| changes.files.get(index));
    let named = head.trim_end().rsplit(" b/").next().unwrap_or(head).to_owned();
    DiffFile {
        path: known.map_or(named, |file| file.path.display()),
        status: known.map_or_else(String::new, |file| file.status.clone()),
        added: known.and_then(|file| file.added),
        removed: known.and_then(|file| file.removed),
        folded: false,
        rows: Vec::new(),
    }
}

/// The place in a file while its patch is read.
#[derive(Default)]
struct Reader {
    old: u32,
    new: u32,
    in_hunk: bool,
}

impl Reader {
    fn row(&mut self, line: &str, text: std::ops::Range<usize>) -> Option<DiffRow> {
        if let Some(rest) = line.strip_prefix("@@ ") {
            self.in_hunk = true;
            (self.old, self.new) = starts(rest);
            return Some(DiffRow { kind: DiffKind::Hunk, number: None, text });
        }
        if !self.in_hunk {
            let quiet = ["index ", "--- ", "+++ "].iter().any(|head| line.starts_with(head));
            return (!quiet && !line.trim().is_empty()).then_some(DiffRow {
                kind: DiffKind::Note,
                number: None,
                text,
            });
        }
        let (kind, number) = match line.as_bytes().first() {
            Some(b'+') => (DiffKind::Added, Some(self.new)),
            Some(b'-') => (DiffKind::Removed, Some(self.old)),
            Some(b' ' | b'\n') => (DiffKind::Context, Some(self.new)),
            _ => (DiffKind::Note, None),
        };
        self.old += u32::from(matches!(kind, DiffKind::Removed | DiffKind::Context));
        self.new += u32::from(matches!(kind, DiffKind::Added | DiffKind::Context));
        Some(DiffRow { kind, number, text })
    }
}

/// `-19,3 +19,4 @@`: the first lines.
fn starts(text: &str) -> (u32, u32) {
    let mut parts = text.split(' ').map(|part| {
        let number = part.trim_start_matches(['-', '+']).split(',').next().unwrap_or("");
        number.parse().unwrap_or(0)
    });
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_the_numbers_of_their_files() {
        let patch = "diff --git a/a.c b/a.c\nindex 1..2 100644\n--- a/a.c\n+++ b/a.c\n@@ -18,3 +18,3 @@ f()\n x\n-old\n+new\n y\n\\ No newline at end of file\ndiff --git a/b b/b\nnew file mode 100644\n--- /dev/null\n+++ b/b\n@@ -0,0 +1 @@\n+--- dashes\n";
        let files = serde_json::json!([
            { "path": { "path": "a.c" }, "status": "modified", "added": 1, "removed": 1 },
            { "path": { "path": "b" }, "status": "added", "added": 1, "removed": 0 },
        ]);
        let changes = serde_json::from_value(
            serde_json::json!({ "from": "", "to": "", "files": files, "patch": patch }),
        )
        .unwrap();
        let mut diff = Diff::new(changes);
        let shown: Vec<String> = diff.files[0]
            .rows
            .iter()
            .map(|row| format!("{:?} {} {}", row.kind, row.number.unwrap_or(0), diff.text(row)))
            .collect();
        assert_eq!(
            shown,
            [
                "Hunk 0 @@ -18,3 +18,3 @@ f()",
                "Context 18 x",
                "Removed 19 old",
                "Added 19 new",
                "Context 20 y",
                "Note 0 \\ No newline at end of file",
            ]
        );
        assert_eq!(diff.text(&diff.files[1].rows[2]), "--- dashes");
        assert_eq!((diff.totals(), diff.files[1].status.as_str()), ((2, 1), "added"));
        diff.files[0].folded = true;
        assert_eq!(diff.listed().len(), 2 + 3);
    }
}
