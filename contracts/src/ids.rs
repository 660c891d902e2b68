//! Ids: `<kind>_<uuidv7>` on the wire, 16 bytes inside; short references (`s3`, `k4`) for people.
//!
//! An id is minted by the daemon's id source (UUID version 7, RFC 9562) and never changes. A short
//! reference is counted per project and assigned in the log; every argument of the API and the CLI
//! takes either form.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Why a text is not an id of the wanted kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdParseError {
    /// The text carries the prefix of another kind, or none.
    #[error("{text} is not a {wanted} id")]
    WrongKind { text: String, wanted: &'static str },
    /// The part behind the prefix is not a UUID.
    #[error("{text}: the part behind the underscore is not a UUID")]
    NotAUuid { text: String },
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident = $prefix:literal),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Uuid);

        impl $name {
            /// The prefix of this kind on the wire, without the underscore.
            pub const PREFIX: &'static str = $prefix;

            /// Wraps a UUID that an id source made or a row held.
            pub const fn from_uuid(uuid: Uuid) -> Self {
                Self(uuid)
            }

            /// The UUID inside.
            pub const fn uuid(self) -> Uuid {
                self.0
            }

            /// The 16 bytes that are stored.
            pub fn as_bytes(&self) -> &[u8; 16] {
                self.0.as_bytes()
            }

            /// Reads the 16 bytes of a row; `None` when the length is another.
            pub fn from_slice(bytes: &[u8]) -> Option<Self> {
                Uuid::from_slice(bytes).ok().map(Self)
            }

            /// 32 hexadecimal digits, the form that SQLite's `unhex` reads.
            pub fn hex(&self) -> String {
                self.0.simple().to_string()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}_{}", $prefix, self.0.hyphenated())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = IdParseError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let rest = text
                    .strip_prefix(concat!($prefix, "_"))
                    .ok_or_else(|| IdParseError::WrongKind { text: text.to_owned(), wanted: $prefix })?;
                Uuid::try_parse(rest)
                    .map(Self)
                    .map_err(|_| IdParseError::NotAUuid { text: text.to_owned() })
            }
        }

        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "pattern": concat!("^", $prefix, "_[0-9a-f-]{36}$") })
            }
        }
    )*};
}

ids! {
    /// A project: one canonical root folder.
    ProjectId = "project",
    /// A conversation and its work.
    SessionId = "session",
    /// One user message until it is answered and its tasks have ended.
    TurnId = "turn",
    /// A message of a transcript.
    MessageId = "message",
    /// A node of a turn's task graph.
    TaskId = "task",
    /// One try at a task. Doubles as its fencing token.
    AttemptId = "attempt",
    /// A role at work: a worker process, or an actor inside `aird`.
    AgentId = "agent",
    /// A tree that tools act on: the user's, or a worktree.
    WorkspaceId = "workspace",
    /// One call of a tool.
    ToolRunId = "run",
    /// One event of the log.
    EventId = "event",
    /// Stored bytes.
    ArtifactId = "artifact",
    /// A claim linked to tool runs and artifacts.
    EvidenceId = "evidence",
    /// A parsed message of a tool.
    DiagnosticId = "diagnostic",
    /// A question to the user and its answer.
    ApprovalId = "approval",
    /// One request to a model.
    RequestId = "request",
    /// A summary of a range of messages.
    SummaryId = "summary",
    /// One life of one daemon.
    InstanceId = "instance",
}

/// The kinds that have a short reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RefKind {
    Session,
    Turn,
    Task,
    Agent,
    ToolRun,
    Evidence,
    Approval,
    Request,
}

impl RefKind {
    /// All kinds, in the order in which they are documented.
    pub const ALL: [Self; 8] = [
        Self::Session,
        Self::Turn,
        Self::Task,
        Self::Agent,
        Self::ToolRun,
        Self::Evidence,
        Self::Approval,
        Self::Request,
    ];

    /// The letter before the number.
    pub const fn letter(self) -> char {
        match self {
            Self::Session => 's',
            Self::Turn => 't',
            Self::Task => 'k',
            Self::Agent => 'w',
            Self::ToolRun => 'r',
            Self::Evidence => 'e',
            Self::Approval => 'a',
            Self::Request => 'c',
        }
    }

    /// The word that error messages use for this kind.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Turn => "turn",
            Self::Task => "task",
            Self::Agent => "agent",
            Self::ToolRun => "tool run",
            Self::Evidence => "evidence",
            Self::Approval => "approval",
            Self::Request => "model request",
        }
    }
}

/// A short reference: a letter and a number, counted per project from 1.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ShortRef {
    /// What it names.
    pub kind: RefKind,
    /// Its number within the project.
    pub n: u64,
}

impl ShortRef {
    /// The reference of the `n`th object of a kind.
    pub const fn new(kind: RefKind, n: u64) -> Self {
        Self { kind, n }
    }
}

impl fmt::Display for ShortRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.kind.letter(), self.n)
    }
}

impl fmt::Debug for ShortRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for ShortRef {
    type Err = IdParseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || IdParseError::WrongKind { text: text.to_owned(), wanted: "short" };
        let mut chars = text.chars();
        let letter = chars.next().ok_or_else(wrong)?;
        let kind = RefKind::ALL.into_iter().find(|kind| kind.letter() == letter).ok_or_else(wrong)?;
        let digits = chars.as_str();
        if digits.starts_with(['+', '0']) {
            return Err(wrong());
        }
        digits.parse().map(|n| Self { kind, n }).map_err(|_| wrong())
    }
}

impl Serialize for ShortRef {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ShortRef {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for ShortRef {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ShortRef".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": "^[stkwreac][1-9][0-9]*$" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_survives_the_wire_and_refuses_another_kind() {
        let id = TaskId::from_uuid(Uuid::from_u128(7));
        let json = serde_json::to_string(&id).unwrap();
        assert_eq!(json, "\"task_00000000-0000-0000-0000-000000000007\"");
        assert_eq!(serde_json::from_str::<TaskId>(&json).unwrap(), id);
        assert!(serde_json::from_str::<TurnId>(&json).is_err());
        assert_eq!(TaskId::from_slice(id.as_bytes()), Some(id));
        assert_eq!(TaskId::from_slice(b"short"), None);
    }

    #[test]
    fn short_references_are_a_letter_and_a_positive_number() {
        assert_eq!("k12".parse::<ShortRef>().unwrap(), ShortRef::new(RefKind::Task, 12));
        for bad in ["", "k", "k0", "k01", "k+1", "z3", "k1x", "12", "κ1"] {
            assert!(bad.parse::<ShortRef>().is_err(), "{bad:?} was taken");
        }
        let letters: std::collections::HashSet<char> =
            RefKind::ALL.iter().map(|kind| kind.letter()).collect();
        assert_eq!(letters.len(), RefKind::ALL.len());
    }
}
