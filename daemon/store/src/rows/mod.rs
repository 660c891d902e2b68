//! Rows of the domain tables as plain structs. No policy here.

mod agent;
mod approval;
mod evidence;
mod message;
mod request;
mod session;
mod task;
mod tool_run;
mod turn;
mod workspace;

pub use agent::AgentRow;
pub use approval::ApprovalRow;
pub use evidence::{EvidenceFilter, EvidenceRow};
pub use message::MessageRow;
pub(crate) use message::transcript;
pub use request::RequestRow;
pub use session::SessionRow;
pub use task::{AttemptRow, TaskRow};
pub use tool_run::{ToolRunFilter, ToolRunRow};
pub use turn::TurnRow;
