//! The endpoints and their layers.

use std::sync::Arc;
use std::time::Duration;

use air_contracts::AirError;
use air_contracts::api::ClientRole;
use air_contracts::error::codes;
use axum::body::Body;
use axum::error_handling::HandleErrorLayer;
use axum::extract::rejection::BytesRejection;
use axum::extract::ws::{WebSocketUpgrade, rejection::WebSocketUpgradeRejection};
use axum::extract::{DefaultBodyLimit, Extension, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use bytes::Bytes;
use tokio::sync::OwnedSemaphorePermit;
use tower::ServiceBuilder;

use crate::call::{self, Origin};
use crate::caller::Peer;
use crate::counters::Counters;
use crate::server::Shared;
use crate::{rpc, ws};

/// The header that names the role of a call by POST.
const ROLE_HEADER: &str = "x-air-role";

/// All endpoints.
pub(crate) fn app(shared: Arc<Shared>) -> axum::Router {
    let limits = shared.options.limits;
    let counters = Arc::clone(&shared.counters);
    let layers = ServiceBuilder::new()
        .layer(HandleErrorLayer::new(move |failure| turned_away(Arc::clone(&counters), failure)))
        .load_shed()
        .concurrency_limit(limits.posts)
        // Behind the limit of the call itself: this one bounds reading the body too.
        .timeout(limits.call + Duration::from_secs(2));
    let call = axum::Router::new()
        .route("/rpc", post(post_rpc).layer(layers))
        .layer(DefaultBodyLimit::max(limits.body));
    axum::Router::new()
        .route("/rpc", get(upgrade))
        .route("/healthz", get(healthz))
        .route("/metrics", get(metrics))
        .merge(call)
        .fallback(no_such_endpoint)
        .method_not_allowed_fallback(no_such_endpoint)
        .with_state(shared)
}

/// An error that is no answer to a call that could be read.
pub(crate) fn error(status: StatusCode, error: &AirError) -> Response {
    json(status, rpc::answer(None, &Err(error.clone())))
}

fn json(status: StatusCode, text: String) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], text).into_response()
}

async fn turned_away(counters: Arc<Counters>, failure: tower::BoxError) -> Response {
    if failure.is::<tower::load_shed::error::Overloaded>() {
        Counters::add(&counters.shed);
        let overloaded = AirError::new(codes::RPC_OVERLOADED, "aird is answering as many calls as it may");
        return error(StatusCode::SERVICE_UNAVAILABLE, &overloaded);
    }
    error(
        StatusCode::REQUEST_TIMEOUT,
        &AirError::new(codes::RPC_TIMEOUT, "the request did not come to its end in time"),
    )
}

async fn post_rpc(
    State(shared): State<Arc<Shared>>,
    Extension(peer): Extension<Peer>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Response {
    let role = match role_of(&headers) {
        Ok(role) => role,
        Err(refused) => return error(StatusCode::BAD_REQUEST, &refused),
    };
    let body = match body {
        Ok(body) => body,
        Err(rejection) if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE => {
            let limit = shared.options.limits.body;
            let large =
                AirError::new(codes::RPC_BODY_TOO_LARGE, format!("the body is larger than {limit} bytes"));
            return error(StatusCode::PAYLOAD_TOO_LARGE, &large);
        }
        Err(rejection) => {
            let broken = AirError::new(codes::RPC_INVALID_REQUEST, format!("the body: {rejection}"));
            return error(StatusCode::BAD_REQUEST, &broken);
        }
    };
    let Ok(text) = std::str::from_utf8(&body) else {
        return error(StatusCode::OK, &AirError::new(codes::RPC_PARSE, "the body is not UTF-8"));
    };
    let incoming = rpc::parse(text);
    drop(body);
    let limit = Some(shared.options.limits.call);
    let origin = Origin { role, peer, client: None, connection: None, limit };
    match call::answer(shared, origin, incoming).await.text {
        Some(text) => json(StatusCode::OK, text),
        None => StatusCode::NO_CONTENT.into_response(),
    }
}

fn role_of(headers: &HeaderMap) -> Result<ClientRole, AirError> {
    match headers.get(ROLE_HEADER).map(|value| value.as_bytes()) {
        None | Some(b"driver") => Ok(ClientRole::Driver),
        Some(b"observer") => Ok(ClientRole::Observer),
        Some(other) => Err(AirError::new(
            codes::RPC_INVALID_REQUEST,
            format!("X-Air-Role: {}: not one of driver, observer", String::from_utf8_lossy(other)),
        )),
    }
}

async fn upgrade(
    State(shared): State<Arc<Shared>>,
    Extension(peer): Extension<Peer>,
    Extension(permit): Extension<Arc<OwnedSemaphorePermit>>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    let upgrade = match upgrade {
        Ok(upgrade) => upgrade,
        Err(rejection) => {
            let refused =
                AirError::new(codes::RPC_INVALID_REQUEST, format!("GET /rpc is a WebSocket: {rejection}"))
                    .hint("one call without a WebSocket is POST /rpc");
            return error(StatusCode::BAD_REQUEST, &refused);
        }
    };
    let limit = shared.options.limits.body;
    // Small buffers: an idle connection should cost next to nothing.
    upgrade
        .read_buffer_size(8 << 10)
        .write_buffer_size(0)
        .max_message_size(limit)
        .max_frame_size(limit)
        .on_upgrade(move |socket| ws::run(shared, peer, permit, socket))
}

async fn healthz(State(shared): State<Arc<Shared>>) -> Response {
    let body = serde_json::json!({
        "status": "ok",
        "version": shared.options.version,
        "instance_id": shared.options.instance_id,
        "pid": std::process::id(),
    });
    json(StatusCode::OK, body.to_string())
}

async fn metrics(State(shared): State<Arc<Shared>>) -> Response {
    let text = shared.counters.prometheus() + &(shared.options.metrics)();
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], Body::from(text)).into_response()
}

async fn no_such_endpoint(method: axum::http::Method, uri: axum::http::Uri) -> Response {
    let refused = AirError::new(codes::RPC_INVALID_REQUEST, format!("no endpoint {method} {}", uri.path()))
        .hint("POST /rpc, GET /rpc (WebSocket), GET /healthz, GET /metrics");
    error(StatusCode::NOT_FOUND, &refused)
}
