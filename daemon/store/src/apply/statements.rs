//! The statements that apply a batch, one for each table and kind of change.

use std::fmt::Write as _;
use std::sync::LazyLock;

/// How a column is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    Plain(&'static str),
    /// Hexadecimal in JSON, bytes in the table.
    Bytes(&'static str),
}

use Column::{Bytes, Plain};

impl Column {
    const fn name(self) -> &'static str {
        match self {
            Plain(name) | Bytes(name) => name,
        }
    }

    fn read(self, place: usize) -> String {
        match self {
            Plain(_) => format!("value->>{place}"),
            Bytes(_) => format!("unhex(value->>{place})"),
        }
    }
}

/// What happens to a row that is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Existing {
    /// The whole batch is refused.
    Refuse,
    Keep,
    Replace,
}

pub(super) struct InsertShape {
    table: &'static str,
    existing: Existing,
    columns: &'static [Column],
    /// The statement, where it is no plain one.
    sql: Option<&'static str>,
}

pub(super) struct UpdateShape {
    table: &'static str,
    /// Whether only the first change of a row counts, and none once `open` no longer holds.
    pub first_wins: bool,
    open: &'static str,
    columns: &'static [Column],
}

macro_rules! shapes {
    ($kind:ident, $all:ident, $shape:ty; $($name:ident = $value:expr;)*) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum $kind { $($name),* }
        /// In the order in which they are applied.
        pub(super) static $all: &[$shape] = &[$($value),*];
    };
}

const fn new(table: &'static str, columns: &'static [Column]) -> InsertShape {
    InsertShape { table, existing: Existing::Refuse, columns, sql: None }
}

const fn written(table: &'static str, sql: &'static str) -> InsertShape {
    InsertShape { table, existing: Existing::Refuse, columns: &[], sql: Some(sql) }
}

const fn new_or(table: &'static str, existing: Existing, columns: &'static [Column]) -> InsertShape {
    InsertShape { table, existing, columns, sql: None }
}

const fn change(table: &'static str, columns: &'static [Column]) -> UpdateShape {
    UpdateShape { table, first_wins: false, open: "", columns }
}

const fn change_once(table: &'static str, open: &'static str, columns: &'static [Column]) -> UpdateShape {
    UpdateShape { table, first_wins: true, open, columns }
}

shapes! { Insert, INSERTS, InsertShape;
    Session = new("sessions", &[
        Plain("n"), Bytes("id"), Plain("settings"), Plain("forked_from"), Plain("seq"), Plain("created_at"),
        Plain("updated_at"),
    ]);
    Turn = new("turns", &[
        Plain("n"), Bytes("id"), Bytes("session"), Plain("status"), Plain("client_id"), Plain("seq"),
        Plain("submitted_at"),
    ]);
    Task = new("tasks", &[
        Plain("n"), Bytes("id"), Bytes("session"), Bytes("turn"), Plain("status"), Plain("seq"),
        Plain("created_at"), Plain("updated_at"),
    ]);
    Message = written("messages", INSERT_MESSAGES);
    Item = written("items", INSERT_ITEMS);
    Dependency = new_or("task_dependencies", Existing::Keep, &[Bytes("task"), Bytes("depends_on")]);
    Attempt = new("task_attempts", &[
        Plain("seq"), Bytes("id"), Bytes("task"), Bytes("agent"), Plain("n"), Plain("status"), Plain("started_at"),
    ]);
    Agent = new("agents", &[
        Plain("n"), Bytes("id"), Bytes("session"), Bytes("task"), Plain("state"), Plain("seq"), Plain("started_at"),
    ]);
    ToolRun = new("tool_runs", &[
        Plain("n"), Bytes("id"), Bytes("session"), Bytes("turn"), Bytes("task"), Plain("call_hash"), Plain("status"),
        Plain("seq"), Plain("ended_seq"),
    ]);
    CommandRun = new("command_runs", &[
        Plain("seq"), Bytes("run"), Plain("exit_code"), Plain("signal"), Plain("timed_out"), Plain("output_bytes"),
        Plain("survivors"), Plain("wall_ms"),
    ]);
    Artifact = new_or("artifacts", Existing::Keep, &[
        Bytes("id"), Bytes("hash"), Plain("size"), Plain("media_type"), Plain("name"), Plain("seq"),
    ]);
    Diagnostic = new("diagnostics", &[
        Plain("seq"), Bytes("id"), Bytes("session"), Bytes("run"), Plain("severity"), Plain("signature"),
        Plain("instance"),
    ]);
    Evidence = new("evidence_refs", &[
        Plain("n"), Bytes("id"), Bytes("session"), Bytes("task"), Plain("kind"), Plain("write_seq"), Plain("seq"),
    ]);
    Workspace = new_or("workspaces", Existing::Replace, &[
        Plain("seq"), Bytes("id"), Plain("kind"), Plain("body"), Plain("state"),
    ]);
    Checkpoint = new("checkpoints", &[
        Plain("seq"), Bytes("workspace"), Bytes("turn"), Bytes("task"), Plain("purpose"),
    ]);
    Summary = new("summaries", &[Plain("seq"), Bytes("id"), Bytes("session"), Bytes("task")]);
    Approval = new("approvals", &[
        Plain("n"), Bytes("id"), Bytes("session"), Bytes("turn"), Bytes("task"), Plain("call_id"), Plain("state"),
        Plain("seq"),
    ]);
    Usage = new("usage", &[
        Plain("seq"), Bytes("session"), Bytes("turn"), Bytes("task"), Bytes("agent"), Plain("role"), Plain("model"),
        Plain("input"), Plain("cache_read"), Plain("cache_write"), Plain("output"), Plain("cost_usd"),
    ]);
    Request = new("requests", &[
        Plain("seq"), Plain("n"), Bytes("id"), Bytes("session"), Bytes("agent"), Plain("role"), Plain("tokens"),
        Plain("window"),
    ]);
}

shapes! { Update, UPDATES, UpdateShape;
    Session = change("sessions", &[Plain("settings"), Plain("closed"), Plain("updated_at")]);
    Turn = change("turns", &[Plain("status"), Plain("started_at"), Plain("ended_seq"), Plain("ended_at")]);
    Task = change("tasks", &[
        Plain("status"), Plain("reason"), Plain("summary"), Plain("criteria"), Plain("changed_files"),
        Plain("foreign_files"), Plain("blocker"), Plain("note"), Plain("updated_at"),
    ]);
    Attempt = change("task_attempts", &[
        Plain("status"), Plain("failure_class"), Plain("note"), Plain("failure_instances"), Plain("ended_at"),
    ]);
    Agent = change("agents", &[
        Plain("state"), Plain("waiting_reason"), Plain("waiting_until"), Plain("ended_at"),
    ]);
    ToolRun = change_once("tool_runs", "ended_seq IS NULL", &[Plain("status"), Plain("ended_seq")]);
    Approval = change_once("approvals", "state = 'open'", &[Plain("state"), Plain("scope"), Plain("answer_seq")]);
    Workspace = change("workspaces", &[Plain("state")]);
}

/// A message: session, task or null, seq, id, role. An unknown session or task violates `NOT NULL`.
const INSERT_MESSAGES: &str = "INSERT INTO messages (key, transcript, id, role) \
    SELECT (list << 40) | seq, list, id, role FROM (SELECT CASE WHEN value->>1 IS NULL \
    THEN (SELECT n FROM sessions WHERE id = unhex(value->>0)) * 2 \
    ELSE (SELECT n FROM tasks WHERE id = unhex(value->>1)) * 2 + 1 END AS list, \
    value->>2 AS seq, unhex(value->>3) AS id, value->>4 AS role FROM json_each(?))";

/// An item: session, seq, kind, number of the object.
const INSERT_ITEMS: &str = "INSERT INTO items (key, session, kind, object) \
    SELECT (list << 40) | seq, list, kind, object FROM (SELECT \
    (SELECT n FROM sessions WHERE id = unhex(value->>0)) AS list, \
    value->>1 AS seq, value->>2 AS kind, value->>3 AS object FROM json_each(?))";

/// The place of the statement that counts writes of turns: behind the inserts, before the updates.
pub(super) const WRITES: usize = Insert::Request as usize + 1;

/// How many statements there are.
pub(super) const STATEMENTS: usize = WRITES + 1 + Update::Workspace as usize + 1;

const COUNT_WRITES: &str = "UPDATE turns SET write_seq = turns.write_seq + w.n FROM \
    (SELECT r.turn AS turn, count(*) AS n FROM json_each(?) AS j CROSS JOIN tool_runs AS r ON r.id = unhex(j.value) \
    GROUP BY r.turn) AS w WHERE turns.id = w.turn";

/// The tables that replay gives again, with the columns that order their rows.
pub(crate) const DOMAIN_TABLES: &[(&str, &str)] = &[
    ("sessions", "n"),
    ("turns", "n"),
    ("messages", "key"),
    ("items", "key"),
    ("tasks", "n"),
    ("task_dependencies", "task, depends_on"),
    ("task_attempts", "seq"),
    ("agents", "n"),
    ("tool_runs", "n"),
    ("command_runs", "seq"),
    ("artifacts", "n"),
    ("diagnostics", "seq"),
    ("evidence_refs", "n"),
    ("workspaces", "seq"),
    ("checkpoints", "seq"),
    ("summaries", "seq"),
    ("approvals", "n"),
    ("usage", "seq"),
    ("requests", "seq"),
];

static SQL: LazyLock<Vec<String>> = LazyLock::new(|| {
    let inserts = INSERTS.iter().map(insert_sql);
    let updates = UPDATES.iter().map(update_sql);
    inserts.chain([COUNT_WRITES.to_owned()]).chain(updates).collect()
});

/// The text of a statement. It has one parameter: a JSON array of rows.
pub(crate) fn sql(place: usize) -> &'static str {
    SQL.get(place).map_or("", String::as_str)
}

fn insert_sql(shape: &InsertShape) -> String {
    if let Some(sql) = shape.sql {
        return sql.to_owned();
    }
    let names: Vec<&str> = shape.columns.iter().map(|column| column.name()).collect();
    let values: Vec<String> =
        shape.columns.iter().enumerate().map(|(place, column)| column.read(place)).collect();
    let verb = if shape.existing == Existing::Keep { "INSERT OR IGNORE" } else { "INSERT" };
    let mut sql = format!(
        "{verb} INTO {} ({}) SELECT {} FROM json_each(?) WHERE true",
        shape.table,
        names.join(", "),
        values.join(", ")
    );
    if shape.existing == Existing::Replace {
        let kept = ["seq", "id"];
        let set: Vec<String> = names
            .iter()
            .filter(|name| !kept.contains(name))
            .map(|name| format!("{name} = excluded.{name}"))
            .collect();
        let _ = write!(sql, " ON CONFLICT (id) DO UPDATE SET {}", set.join(", "));
    }
    sql
}

fn update_sql(shape: &UpdateShape) -> String {
    let table = shape.table;
    let mut set = Vec::new();
    let mut read = vec!["unhex(value->>0) AS id".to_owned()];
    for (place, column) in shape.columns.iter().enumerate() {
        let name = column.name();
        set.push(format!("{name} = COALESCE(v.{name}, {table}.{name})"));
        read.push(format!("{} AS {name}", column.read(place + 1)));
    }
    let open = if shape.open.is_empty() { String::new() } else { format!(" AND {table}.{}", shape.open) };
    format!(
        "UPDATE {table} SET {} FROM (SELECT {} FROM json_each(?)) AS v WHERE {table}.id = v.id{open}",
        set.join(", "),
        read.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use sqlx::Row as _;

    use super::*;

    /// A statement that walks through a table costs more the longer a project lives.
    #[tokio::test]
    async fn no_statement_scans_a_table() {
        let dir = tempfile::tempdir().unwrap();
        let mut connection = crate::db::open_scratch(&dir.path().join("scratch.db")).await.unwrap();
        for place in 0..STATEMENTS {
            let text = format!("EXPLAIN QUERY PLAN {}", sql(place));
            let plan = sqlx::query(sqlx::AssertSqlSafe(text)).fetch_all(&mut connection).await.unwrap();
            let steps: Vec<String> = plan.iter().map(|row| row.get::<String, _>(3)).collect();
            let scanned = |(table, _): &&(&str, &str)| {
                steps.iter().any(|step| step.split_whitespace().take(2).eq(["SCAN", *table]))
            };
            assert_eq!(DOMAIN_TABLES.iter().find(scanned), None, "{}: {steps:?}", sql(place));
        }
    }
}
