//! What every dialect offers to the manager.

use air_contracts::Result;
use air_contracts::port::{BoxFuture, BoxStream};
use air_contracts::provider::{ModelRequest, ProviderStreamEvent};
use serde::Serialize;

use crate::catalogue::ModelRow;
use crate::report::ConversionReport;

/// A model that a server lists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListedModel {
    /// As it is written behind `<provider>/`.
    pub id: String,
    pub display_name: Option<String>,
    /// Tokens of prompt and answer, where the server says so.
    pub context_window: Option<u32>,
    pub max_output_tokens: Option<u32>,
}

/// Whether a server has a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub enum ModelCheck {
    Available,
    /// The server answers and does not have it.
    Missing,
}

/// One way to speak to servers.
pub trait ProviderAdapter: Send + Sync {
    /// The models that the server lists, in its order.
    fn list_models(&self) -> BoxFuture<'_, Result<Vec<ListedModel>>>;

    /// Asks the server for one model, by its name there. Fails when the server cannot say.
    fn validate_model<'a>(&'a self, model: &'a str) -> BoxFuture<'a, Result<ModelCheck>>;

    /// Streams an answer. Dropping the stream closes the connection.
    fn complete(&self, request: &ModelRequest, row: &ModelRow) -> BoxStream<'static, ProviderStreamEvent>;

    /// The tokens of a request, counted by the server.
    fn count_tokens<'a>(&'a self, request: &'a ModelRequest, row: &'a ModelRow)
    -> BoxFuture<'a, Result<u64>>;

    /// The body that `complete` would send, and what the conversion changed.
    fn preview(&self, request: &ModelRequest, row: &ModelRow) -> Result<(Vec<u8>, ConversionReport)>;
}
