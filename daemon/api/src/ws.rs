//! One WebSocket: calls in, answers and notifications out (RFC 6455, text frames).

use std::sync::Arc;
use std::time::Duration;

use air_contracts::AirError;
use air_contracts::api::ClientRole;
use air_contracts::error::codes;
use air_rt::OnCancel;
use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::call::{self, Answered, Origin};
use crate::caller::Peer;
use crate::connection::Connection;
use crate::counters::{Counters, Held};
use crate::rpc::{self, Incoming, Parsed};
use crate::server::{INITIALIZE, Shared};

/// Time for the answers that are under way when the daemon stops.
const FAREWELL: Duration = Duration::from_secs(5);
/// Calls that wait for a place, for each place there is; more are turned away.
const WAITING_PER_PLACE: usize = 8;
/// Bytes of calls that are under way or wait, in bodies of the largest size.
const WAITING_BODIES: usize = 4;

/// Serves a WebSocket until one side ends it. Its task belongs to the server.
pub(crate) async fn run(
    shared: Arc<Shared>,
    peer: Peer,
    permit: Arc<OwnedSemaphorePermit>,
    socket: WebSocket,
) {
    let owner = shared.tasks.clone();
    let task = owner.spawn("websocket", OnCancel::Finish, async move {
        let _permit = permit;
        let counters = Arc::clone(&shared.counters);
        let _open = Counters::hold(&counters.connections);
        let connection = Connection::new(shared.tasks.child("streams"), Arc::clone(&counters));
        let origin = Origin {
            role: ClientRole::Observer,
            peer,
            client: None,
            connection: Some(Arc::clone(&connection)),
            limit: None,
        };
        let mut session = Session { shared: &shared, socket, origin, client: None };
        session.serve(&connection).await;
        connection.close();
    });
    let _ = task.await;
}

struct Session<'a> {
    shared: &'a Arc<Shared>,
    socket: WebSocket,
    origin: Origin,
    /// Set once `initialize` is answered.
    client: Option<Held<'a>>,
}

enum Step {
    Stop,
    Answer(Answered, usize),
    Notification(String),
    Frame(Option<Result<Message, axum::Error>>),
}

/// Why a connection ends.
struct Ended;

impl Session<'_> {
    async fn serve(&mut self, connection: &Arc<Connection>) {
        let token = self.shared.tasks.token().clone();
        let limits = self.shared.options.limits;
        let places = &Semaphore::new(limits.calls);
        let mut calls = FuturesUnordered::new();
        let mut bytes = 0;
        loop {
            // The socket is always read: only so is a client that has gone seen. All four are cancel-safe: a frame, an answer or a notification is taken only when it is returned.
            let step = tokio::select! {
                biased;
                () = token.cancelled() => Step::Stop,
                Some((answered, size)) = calls.next() => Step::Answer(answered, size),
                frame = self.socket.recv() => Step::Frame(frame),
                text = connection.outbox.next() => Step::Notification(text),
            };
            let went_on = match step {
                Step::Stop => break,
                Step::Answer(answered, size) => {
                    bytes -= size;
                    self.reply(&answered).await
                }
                Step::Notification(text) => self.notify(connection, text).await,
                Step::Frame(frame) => match self.frame(frame).await {
                    Ok(Some((incoming, size))) => {
                        let full = calls.len() >= limits.calls * WAITING_PER_PLACE;
                        if full || bytes + size > limits.body * WAITING_BODIES {
                            self.shed(incoming).await
                        } else {
                            bytes += size;
                            let answer = call::answer(Arc::clone(self.shared), self.origin.clone(), incoming);
                            calls.push(async move {
                                let _place = places.acquire().await;
                                (answer.await, size)
                            });
                            Ok(())
                        }
                    }
                    Ok(None) => Ok(()),
                    Err(ended) => Err(ended),
                },
            };
            if went_on.is_err() {
                return;
            }
        }
        let farewell = async {
            while let Some((answered, _)) = calls.next().await {
                if self.reply(&answered).await.is_err() {
                    break;
                }
            }
        };
        let _ = tokio::time::timeout(FAREWELL, farewell).await;
        drop(calls);
        self.close(close_code::AWAY, "aird stops").await;
    }

    async fn reply(&mut self, answered: &Answered) -> Result<(), Ended> {
        if let Some(text) = &answered.text {
            self.send(text.clone()).await?;
        }
        answered.sent();
        Ok(())
    }

    async fn notify(&mut self, connection: &Connection, text: String) -> Result<(), Ended> {
        self.send(text).await?;
        connection.outbox.sent();
        Counters::add(&self.shared.counters.notifications);
        Ok(())
    }

    /// Sends one text; the connection ends when the client leaves it unread for too long.
    async fn send(&mut self, text: String) -> Result<(), Ended> {
        let stall = self.shared.options.limits.stall;
        match tokio::time::timeout(stall, self.socket.send(Message::Text(text.into()))).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(Ended),
            Err(_) => {
                tracing::info!(
                    pid = self.origin.peer.pid,
                    "a client read nothing for {} s and is closed",
                    stall.as_secs()
                );
                Err(Ended)
            }
        }
    }

    async fn close(&mut self, code: u16, reason: &'static str) {
        let frame = CloseFrame { code, reason: reason.into() };
        let _ =
            tokio::time::timeout(Duration::from_secs(1), self.socket.send(Message::Close(Some(frame)))).await;
    }

    /// Looks at a frame: what there is to call, with its size, or nothing.
    async fn frame(
        &mut self,
        frame: Option<Result<Message, axum::Error>>,
    ) -> Result<Option<(Incoming, usize)>, Ended> {
        match frame {
            Some(Ok(Message::Text(text))) => {
                let incoming = self.text(rpc::parse(text.as_str())).await?;
                Ok(incoming.map(|incoming| (incoming, text.len())))
            }
            Some(Ok(Message::Binary(_))) => {
                let refused = AirError::new(codes::RPC_INVALID_REQUEST, "calls are text frames");
                self.reply(&Answered::plain(rpc::answer(None, &Err(refused)))).await.map(|()| None)
            }
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => Ok(None),
            Some(Ok(Message::Close(_))) | None => Err(Ended),
            Some(Err(error)) => {
                tracing::debug!(%error, pid = self.origin.peer.pid, "websocket ended");
                self.close(close_code::SIZE, "a frame could not be read").await;
                Err(Ended)
            }
        }
    }

    async fn text(&mut self, incoming: Incoming) -> Result<Option<Incoming>, Ended> {
        if self.client.is_some() {
            return Ok(Some(incoming));
        }
        match incoming {
            Incoming::One(Ok(call)) if call.method == INITIALIZE => {
                let result = call::initialize(self.shared, call.params.as_deref()).map(|(params, answer)| {
                    self.origin.role = params.role;
                    self.origin.client = Some(Arc::new(params.client));
                    self.client = Some(Counters::hold(&self.shared.counters.clients));
                    answer
                });
                let text = rpc::answer(call.id.as_deref(), &result);
                self.reply(&Answered::plain(text)).await.map(|()| None)
            }
            Incoming::One(parsed) => {
                let text = too_early(parsed);
                self.reply(&Answered::plain(text)).await.map(|()| None)
            }
            Incoming::Batch(all) => {
                let texts: Vec<String> = all.into_iter().map(too_early).collect();
                self.reply(&Answered::plain(rpc::batch(&texts))).await.map(|()| None)
            }
        }
    }

    /// Turns calls away because too many wait already.
    async fn shed(&mut self, incoming: Incoming) -> Result<(), Ended> {
        Counters::add(&self.shared.counters.shed);
        let refuse = |parsed: Parsed| {
            let (id, error) = match parsed {
                Err(refused) => refused,
                Ok(call) => {
                    let what =
                        format!("{} was not begun: too many calls of this connection wait", call.method);
                    (call.id, AirError::new(codes::RPC_OVERLOADED, what))
                }
            };
            rpc::answer(id.as_deref(), &Err(error))
        };
        let text = match incoming {
            Incoming::One(parsed) => refuse(parsed),
            Incoming::Batch(all) => rpc::batch(&all.into_iter().map(refuse).collect::<Vec<_>>()),
        };
        self.reply(&Answered::plain(text)).await
    }
}

fn too_early(parsed: Parsed) -> String {
    let (id, error) = match parsed {
        Err(refused) => refused,
        Ok(call) => {
            let error =
                AirError::new(codes::RPC_NOT_INITIALIZED, format!("{} came before initialize", call.method))
                    .hint("the first call of a WebSocket is initialize");
            (call.id, error)
        }
    };
    rpc::answer(id.as_deref(), &Err(error))
}
