//! What the person does meanwhile: answers, Ctrl-C.

use air_client_tui::ProjectionClientExt as _;
use air_client_tui::plain::is_lost;
use air_contracts::api::{
    ApprovalAnswerMethod, ApprovalAnswerParams, SessionRefParams, TurnCancel, TurnInterrupt, TurnRefParams,
};
use air_contracts::error::codes;
use air_contracts::{AirError, Result};

use super::super::prompt::Typed;
use super::Watch;

impl Watch<'_> {
    pub(super) async fn typed(&mut self, line: &str) -> Result<()> {
        match self.prompt.typed(self.opened.id(), line) {
            Typed::Answer(params) => self.answer(*params).await,
            Typed::Show(lines) => {
                self.progress.ask(&lines);
                Ok(())
            }
            Typed::Nothing => Ok(()),
        }
    }

    async fn answer(&mut self, params: ApprovalAnswerParams) -> Result<()> {
        match self.opened.client.call::<ApprovalAnswerMethod>(params).await {
            Ok(answered) => {
                self.approval(&answered);
                Ok(())
            }
            Err(error) if is_lost(&error) => Err(error),
            Err(error) => {
                self.progress.ask(&crate::report::block(&error, self.app.out.err_pen, 80));
                Ok(())
            }
        }
    }

    /// The first Ctrl-C stops the turn (or the watching), the second ends this process.
    pub(super) async fn interrupt(&mut self) -> Result<()> {
        if self.interrupted || !self.follow.interrupts {
            self.progress.end();
            if !self.app.out.is_json() && !self.app.out.quiet {
                self.app.out.note(&format!(
                    "{} goes on; air wait {} stays with it",
                    self.watched.turn, self.watched.turn
                ));
            }
            return Err(AirError::new(codes::CLIENT_INTERRUPTED, format!("{} goes on", self.watched.turn)));
        }
        self.interrupted = true;
        self.prompt.give_up();
        self.progress.asked();
        self.progress.notice(&format!("stopping {}; ^C again leaves at once", self.watched.turn));
        let project_id = self.opened.id();
        let stopped = if self.queued {
            let params = TurnRefParams { project_id, turn: self.watched.turn_id.to_string() };
            self.opened.client.call::<TurnCancel>(params).await.map(|_| ())
        } else {
            let params = SessionRefParams { project_id, session: self.watched.session_id.to_string() };
            self.opened.client.call::<TurnInterrupt>(params).await.map(|_| ())
        };
        match stopped {
            // It ended by itself meanwhile.
            Err(error) if error.is(codes::TURN_NOT_ACTIVE) => Ok(()),
            other => other,
        }
    }
}
