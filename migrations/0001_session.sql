-- The database of a project. `events` is the truth. Every other table but the three local ones is what
-- replaying it gives; such a row holds what is searched for or changes, and the `seq` of the events that hold the rest.
--
-- Ids are 16 bytes. `n` is the number of a short reference. Times are milliseconds since 1970. JSON is TEXT.

CREATE TABLE schema_meta (
    key   TEXT PRIMARY KEY NOT NULL,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- `payload` comes last, so that a scan by session or type stays off its overflow pages.
CREATE TABLE events (
    seq         INTEGER PRIMARY KEY,
    session_seq INTEGER NOT NULL,
    type        TEXT NOT NULL,
    version     INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    session     BLOB,
    id          BLOB NOT NULL,
    task        BLOB,
    agent       BLOB,
    source_kind TEXT NOT NULL,
    -- NULL: the agent above.
    source_id   TEXT,
    payload     TEXT NOT NULL
) STRICT;

CREATE TABLE sessions (
    n           INTEGER PRIMARY KEY,
    id          BLOB NOT NULL UNIQUE,
    settings    TEXT NOT NULL,
    forked_from TEXT,
    closed      INTEGER NOT NULL DEFAULT 0,
    seq         INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL
) STRICT;

CREATE TABLE turns (
    n            INTEGER PRIMARY KEY,
    id           BLOB NOT NULL UNIQUE,
    session      BLOB NOT NULL,
    status       TEXT NOT NULL,
    client_id    TEXT,
    write_seq    INTEGER NOT NULL DEFAULT 0,
    seq          INTEGER NOT NULL,
    ended_seq    INTEGER,
    submitted_at INTEGER NOT NULL,
    started_at   INTEGER,
    ended_at     INTEGER
) STRICT;
CREATE INDEX turns_session ON turns (session);
CREATE INDEX turns_client_id ON turns (client_id) WHERE client_id IS NOT NULL;

-- Lists, one behind the other in one tree: the high bits of `key` name the list, the low 40 are the `seq`. Such a key
-- is an integer that mostly rises, and costs a third of the writes of an index on (list, seq).
--
-- `transcript`: twice the number of the session for the conversation, twice that of the task plus one for its own.
CREATE TABLE messages (
    key        INTEGER PRIMARY KEY,
    transcript INTEGER NOT NULL,
    id         BLOB NOT NULL,
    role       TEXT NOT NULL
) STRICT;

-- What a conversation shows, in its order. `session` and `object` are numbers of short references.
CREATE TABLE items (
    key     INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    kind    INTEGER NOT NULL,
    object  INTEGER NOT NULL
) STRICT;

CREATE TABLE tasks (
    n             INTEGER PRIMARY KEY,
    id            BLOB NOT NULL UNIQUE,
    session       BLOB NOT NULL,
    turn          BLOB NOT NULL,
    status        TEXT NOT NULL,
    reason        TEXT NOT NULL DEFAULT '',
    summary       TEXT,
    criteria      TEXT,
    changed_files TEXT,
    foreign_files TEXT,
    blocker       TEXT,
    note          TEXT,
    seq           INTEGER NOT NULL,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL
) STRICT;
CREATE INDEX tasks_turn ON tasks (turn);

CREATE TABLE task_dependencies (
    task       BLOB NOT NULL,
    depends_on BLOB NOT NULL,
    PRIMARY KEY (task, depends_on)
) STRICT, WITHOUT ROWID;

CREATE TABLE task_attempts (
    seq               INTEGER PRIMARY KEY,
    id                BLOB NOT NULL UNIQUE,
    task              BLOB NOT NULL,
    agent             BLOB NOT NULL,
    n                 INTEGER NOT NULL,
    status            TEXT NOT NULL,
    failure_class     TEXT,
    note              TEXT NOT NULL DEFAULT '',
    failure_instances TEXT,
    started_at        INTEGER NOT NULL,
    ended_at          INTEGER
) STRICT;
CREATE INDEX task_attempts_task ON task_attempts (task);

CREATE TABLE agents (
    n              INTEGER PRIMARY KEY,
    id             BLOB NOT NULL UNIQUE,
    session        BLOB NOT NULL,
    task           BLOB,
    state          TEXT NOT NULL,
    waiting_reason TEXT,
    waiting_until  INTEGER,
    seq            INTEGER NOT NULL,
    started_at     INTEGER NOT NULL,
    ended_at       INTEGER
) STRICT;

CREATE TABLE tool_runs (
    n         INTEGER PRIMARY KEY,
    id        BLOB NOT NULL UNIQUE,
    session   BLOB NOT NULL,
    turn      BLOB NOT NULL,
    task      BLOB,
    -- Of (turn, the model's id of the call): 8 bytes of SHA-256.
    call_hash INTEGER NOT NULL,
    status    TEXT,
    seq       INTEGER NOT NULL,
    ended_seq INTEGER
) STRICT;
CREATE INDEX tool_runs_call ON tool_runs (call_hash);

CREATE TABLE command_runs (
    seq          INTEGER PRIMARY KEY,
    run          BLOB NOT NULL,
    exit_code    INTEGER,
    signal       INTEGER,
    timed_out    INTEGER NOT NULL,
    output_bytes INTEGER NOT NULL,
    survivors    INTEGER NOT NULL,
    wall_ms      INTEGER NOT NULL
) STRICT;

-- Every artifact that an event refers to.
CREATE TABLE artifacts (
    n          INTEGER PRIMARY KEY,
    id         BLOB NOT NULL UNIQUE,
    hash       BLOB NOT NULL,
    size       INTEGER NOT NULL,
    media_type TEXT NOT NULL,
    name       TEXT NOT NULL,
    seq        INTEGER NOT NULL
) STRICT;

CREATE TABLE diagnostics (
    seq       INTEGER PRIMARY KEY,
    id        BLOB NOT NULL,
    session   BLOB NOT NULL,
    run       BLOB NOT NULL,
    severity  TEXT NOT NULL,
    signature TEXT NOT NULL,
    instance  TEXT NOT NULL
) STRICT;

CREATE TABLE evidence_refs (
    n           INTEGER PRIMARY KEY,
    id          BLOB NOT NULL UNIQUE,
    session     BLOB NOT NULL,
    task        BLOB NOT NULL,
    kind        TEXT NOT NULL,
    write_seq   INTEGER NOT NULL,
    seq         INTEGER NOT NULL
) STRICT;
CREATE INDEX evidence_refs_task ON evidence_refs (task);

CREATE TABLE workspaces (
    seq   INTEGER PRIMARY KEY,
    id    BLOB NOT NULL UNIQUE,
    kind  TEXT NOT NULL,
    -- JSON: `WorkspaceRef`, the newest.
    body  TEXT NOT NULL,
    -- `open`, `merging`, `merged`, `conflicted`.
    state TEXT NOT NULL
) STRICT;

CREATE TABLE checkpoints (
    seq       INTEGER PRIMARY KEY,
    workspace BLOB NOT NULL,
    turn      BLOB NOT NULL,
    task      BLOB,
    purpose   TEXT NOT NULL
) STRICT;
CREATE INDEX checkpoints_turn ON checkpoints (turn);

CREATE TABLE summaries (
    seq     INTEGER PRIMARY KEY,
    id      BLOB NOT NULL,
    session BLOB NOT NULL,
    task    BLOB
) STRICT;

CREATE TABLE approvals (
    n          INTEGER PRIMARY KEY,
    id         BLOB NOT NULL UNIQUE,
    session    BLOB NOT NULL,
    turn       BLOB NOT NULL,
    task       BLOB,
    call_id    TEXT NOT NULL,
    state      TEXT NOT NULL,
    scope      TEXT,
    seq        INTEGER NOT NULL,
    answer_seq INTEGER
) STRICT;
CREATE INDEX approvals_call ON approvals (turn, call_id);
CREATE INDEX approvals_open ON approvals (session) WHERE state = 'open';

CREATE TABLE usage (
    seq         INTEGER PRIMARY KEY,
    session     BLOB NOT NULL,
    turn        BLOB NOT NULL,
    task        BLOB,
    agent       BLOB NOT NULL,
    role        TEXT NOT NULL,
    model       TEXT NOT NULL,
    input       INTEGER NOT NULL,
    cache_read  INTEGER NOT NULL,
    cache_write INTEGER NOT NULL,
    output      INTEGER NOT NULL,
    cost_usd    REAL NOT NULL
) STRICT;

-- Looked up by people only: no index on `n` and `id`.
CREATE TABLE requests (
    seq     INTEGER PRIMARY KEY,
    n       INTEGER NOT NULL,
    id      BLOB NOT NULL,
    session BLOB NOT NULL,
    agent   BLOB NOT NULL,
    role    TEXT NOT NULL,
    tokens  INTEGER NOT NULL,
    window  INTEGER NOT NULL
) STRICT;

-- Local state, outside replay.

CREATE TABLE message_drafts (
    session    BLOB PRIMARY KEY NOT NULL,
    text       TEXT NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE ui_state (
    key        TEXT PRIMARY KEY NOT NULL,
    value      TEXT NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

PRAGMA user_version = 1;
