//! Signatures whose bodies follow.
#![allow(unused_variables, clippy::unused_async)]

use std::path::Path;

use air_contracts::api::{EventsVerifyResult, UsageGetResult};
use air_contracts::artifact::{ArtifactRef, Stored};
use air_contracts::event::{EphemeralEvent, EventSource, NewEvent, RuntimeEvent, WorkspaceCheckpointed};
use air_contracts::ids::*;
use air_contracts::projection::*;
use air_contracts::workspace::WorkspaceRef;
use air_contracts::{AirError, Result};
use air_rt::{Clock, IdSource};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::*;

fn soon<T>() -> Result<T> {
    Err(AirError::internal("not built yet"))
}

impl Store {
    pub async fn open(dir: &Path, project_id: ProjectId, clock: Clock, ids: IdSource) -> Result<Self> {
        soon()
    }
    pub async fn close(&self) {}
    pub fn project_id(&self) -> ProjectId {
        self.project_id
    }
    pub fn next_ref(&self, kind: RefKind) -> u64 {
        0
    }
    pub fn last_seq(&self) -> u64 {
        0
    }
    pub async fn ingest(&self, events: Vec<NewEvent>) -> Result<Committed> {
        soon()
    }
    pub fn ingest_ephemeral(&self, event: EphemeralEvent) {}
    pub fn subscribe(&self) -> BusReceiver {
        self.bus.subscribe()
    }
    pub async fn events(&self, query: EventQuery) -> Result<Vec<RuntimeEvent>> {
        soon()
    }

    pub async fn put_artifact(&self, bytes: &[u8], media_type: &str, name: &str) -> Result<ArtifactRef> {
        soon()
    }
    pub fn artifact_event(
        &self,
        artifact: &ArtifactRef,
        session_id: Option<SessionId>,
        run_id: Option<ToolRunId>,
        source: EventSource,
    ) -> NewEvent {
        NewEvent {
            session_id,
            source,
            task_id: None,
            agent_id: None,
            body: air_contracts::event::ArtifactCreated { artifact: artifact.clone(), session_id, run_id }
                .into(),
        }
    }
    pub async fn read_artifact(&self, artifact: &ArtifactRef) -> Result<Vec<u8>> {
        soon()
    }
    pub async fn read_artifact_range(
        &self,
        artifact: &ArtifactRef,
        offset: u64,
        limit: u64,
    ) -> Result<Vec<u8>> {
        soon()
    }
    pub async fn find_artifact(&self, text: &str) -> Result<ArtifactRef> {
        soon()
    }
    pub async fn store_value<T: Serialize>(
        &self,
        value: T,
        name: &str,
    ) -> Result<(Stored<T>, Option<ArtifactRef>)> {
        soon()
    }
    pub async fn load_value<T: DeserializeOwned + Clone>(&self, stored: &Stored<T>) -> Result<T> {
        soon()
    }

    pub async fn resolve_session(&self, text: &str) -> Result<SessionId> {
        soon()
    }
    pub async fn resolve_turn(&self, text: &str) -> Result<TurnId> {
        soon()
    }
    pub async fn resolve_task(&self, text: &str) -> Result<TaskId> {
        soon()
    }
    pub async fn resolve_run(&self, text: &str) -> Result<ToolRunId> {
        soon()
    }
    pub async fn resolve_approval(&self, text: &str) -> Result<ApprovalId> {
        soon()
    }
    pub async fn resolve_request(&self, text: &str) -> Result<RequestId> {
        soon()
    }
    pub async fn resolve_agent(&self, text: &str) -> Result<AgentId> {
        soon()
    }
    pub async fn resolve_evidence(&self, text: &str) -> Result<EvidenceId> {
        soon()
    }

    pub async fn session(&self, id: SessionId) -> Result<SessionRow> {
        soon()
    }
    pub async fn sessions(&self, limit: u32) -> Result<Vec<SessionRow>> {
        soon()
    }
    pub async fn latest_session(&self) -> Result<Option<SessionRow>> {
        soon()
    }
    pub async fn turn(&self, id: TurnId) -> Result<TurnRow> {
        soon()
    }
    pub async fn turns(&self, session: SessionId, limit: u32) -> Result<Vec<TurnRow>> {
        soon()
    }
    pub async fn unfinished_turns(&self) -> Result<Vec<TurnRow>> {
        soon()
    }
    pub async fn turn_by_client_id(
        &self,
        session: Option<SessionId>,
        client_id: &str,
    ) -> Result<Option<TurnRow>> {
        soon()
    }
    pub async fn messages(&self, session: SessionId, task: Option<TaskId>) -> Result<Vec<MessageRow>> {
        soon()
    }
    pub async fn message_count(&self, session: SessionId, task: Option<TaskId>) -> Result<u64> {
        soon()
    }
    pub async fn task(&self, id: TaskId) -> Result<TaskRow> {
        soon()
    }
    pub async fn tasks_of_turn(&self, turn: TurnId) -> Result<Vec<TaskRow>> {
        soon()
    }
    pub async fn tasks_of_session(&self, session: SessionId) -> Result<Vec<TaskRow>> {
        soon()
    }
    pub async fn attempts(&self, task: TaskId) -> Result<Vec<AttemptRow>> {
        soon()
    }
    pub async fn running_attempts(&self) -> Result<Vec<AttemptRow>> {
        soon()
    }
    pub async fn agent(&self, id: AgentId) -> Result<AgentRow> {
        soon()
    }
    pub async fn agents(&self, session: Option<SessionId>, all: bool) -> Result<Vec<AgentRow>> {
        soon()
    }
    pub async fn tool_run(&self, id: ToolRunId) -> Result<ToolRunRow> {
        soon()
    }
    pub async fn tool_run_by_call(
        &self,
        turn: TurnId,
        task: Option<TaskId>,
        call_id: &str,
    ) -> Result<Option<ToolRunRow>> {
        soon()
    }
    pub async fn unfinished_tool_runs(&self) -> Result<Vec<ToolRunRow>> {
        soon()
    }
    pub async fn tool_runs(&self, filter: ToolRunFilter) -> Result<Vec<ToolRunRow>> {
        soon()
    }
    pub async fn approval(&self, id: ApprovalId) -> Result<ApprovalRow> {
        soon()
    }
    pub async fn open_approvals(&self, session: Option<SessionId>) -> Result<Vec<ApprovalRow>> {
        soon()
    }
    pub async fn approval_by_call(
        &self,
        turn: TurnId,
        task: Option<TaskId>,
        call_id: &str,
    ) -> Result<Option<ApprovalRow>> {
        soon()
    }
    pub async fn session_grants(&self, session: SessionId) -> Result<Vec<(String, String, ApprovalId)>> {
        soon()
    }
    pub async fn evidence(&self, filter: EvidenceFilter) -> Result<Vec<EvidenceRow>> {
        soon()
    }
    pub async fn workspace(&self, id: WorkspaceId) -> Result<WorkspaceRef> {
        soon()
    }
    pub async fn workspaces(&self) -> Result<Vec<WorkspaceRef>> {
        soon()
    }
    pub async fn user_workspace(&self) -> Result<Option<WorkspaceRef>> {
        soon()
    }
    pub async fn checkpoints(&self, turn: TurnId) -> Result<Vec<WorkspaceCheckpointed>> {
        soon()
    }
    pub async fn last_checkpoint(
        &self,
        turn: TurnId,
        task: Option<TaskId>,
        purpose: &str,
    ) -> Result<Option<WorkspaceCheckpointed>> {
        soon()
    }
    pub async fn session_cost(&self, session: SessionId) -> Result<f64> {
        soon()
    }
    pub async fn turn_cost(&self, turn: TurnId) -> Result<f64> {
        soon()
    }
    pub async fn usage(&self, session: Option<SessionId>) -> Result<Vec<UsageRow>> {
        soon()
    }
    pub async fn turn_usage(&self, turn: TurnId) -> Result<UsageRow> {
        soon()
    }
    pub async fn requests(&self, session: SessionId) -> Result<Vec<RequestView>> {
        soon()
    }
    pub async fn request(&self, id: RequestId) -> Result<RequestRow> {
        soon()
    }
    pub async fn draft(&self, session: SessionId) -> Result<String> {
        soon()
    }
    pub async fn set_draft(&self, session: SessionId, text: &str) -> Result<()> {
        soon()
    }
    pub async fn ui_state(&self, key: &str) -> Result<Value> {
        soon()
    }
    pub async fn set_ui_state(&self, key: &str, value: &Value) -> Result<()> {
        soon()
    }

    pub async fn session_view(&self, id: SessionId) -> Result<SessionView> {
        soon()
    }
    pub async fn session_views(&self, limit: u32) -> Result<Vec<SessionView>> {
        soon()
    }
    pub async fn turn_view(&self, id: TurnId) -> Result<TurnView> {
        soon()
    }
    pub async fn turn_views(&self, session: SessionId, limit: u32) -> Result<Vec<TurnView>> {
        soon()
    }
    pub async fn items(&self, session: SessionId, before: Option<u64>, limit: u32) -> Result<Vec<ItemView>> {
        soon()
    }
    pub async fn item_at(&self, seq: u64) -> Result<Option<ItemView>> {
        soon()
    }
    pub async fn task_view(&self, id: TaskId) -> Result<TaskView> {
        soon()
    }
    pub async fn task_views(
        &self,
        session: Option<SessionId>,
        turn: Option<TurnId>,
        limit: u32,
    ) -> Result<Vec<TaskView>> {
        soon()
    }
    pub async fn agent_view(&self, id: AgentId) -> Result<AgentView> {
        soon()
    }
    pub async fn agent_views(&self, session: Option<SessionId>, all: bool) -> Result<Vec<AgentView>> {
        soon()
    }
    pub async fn approval_view(&self, id: ApprovalId) -> Result<ApprovalView> {
        soon()
    }
    pub async fn approval_views(&self, session: Option<SessionId>, all: bool) -> Result<Vec<ApprovalView>> {
        soon()
    }
    pub async fn evidence_views(&self, filter: EvidenceFilter) -> Result<Vec<EvidenceView>> {
        soon()
    }
    pub async fn tool_run_view(&self, id: ToolRunId) -> Result<ToolRunView> {
        soon()
    }
    pub async fn tool_run_views(&self, filter: ToolRunFilter) -> Result<Vec<ToolRunView>> {
        soon()
    }
    pub async fn hud(&self, session: SessionId) -> Result<HudView> {
        soon()
    }
    pub async fn usage_result(&self, session: Option<SessionId>) -> Result<UsageGetResult> {
        soon()
    }
    pub async fn verify(&self) -> Result<EventsVerifyResult> {
        soon()
    }
}
