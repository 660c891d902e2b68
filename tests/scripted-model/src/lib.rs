//! A model server that plays a script: the Anthropic Messages protocol on loopback, with faults.
//!
//! `air-scripted-model --scenario FILE.yaml [--port 0] [--record FILE.jsonl] [--port-file FILE]` prints
//! `listening on http://127.0.0.1:PORT` and serves `POST /v1/messages` (streamed or not),
//! `POST /v1/messages/count_tokens` and `GET /v1/models`. It is a process of its own: what talks to it
//! takes the same path as to a vendor.
//!
//! # The scenario
//!
//! ```yaml
//! strict: true                 # refuse requests that the vendor would refuse (default true)
//! require_key: sk-test         # answer 401 to any other key (default: any key, or none)
//! models: [claude-sonnet-5-5]  # what GET /v1/models lists
//! agents:                      # conversations, told apart; the first whose `match` holds is taken
//!   main:
//!     match: You are the Main Agent    # a text, or a list of which all must hold: each is part of the
//!                                      # system prompt or the first user message, or names an offered tool
//!     cursor: agent                    # `agent` (default): one place in the script for all requests;
//!                                      # `conversation`: one for each first user message; `history`: none,
//!                                      # the place is the number of answers in the request's own history
//!     turns: [...]
//! turns: [...]                 # for requests that no agent matches
//! ```
//!
//! A request plays the first turn that is not used up and whose `when` holds. A turn without `when`
//! always holds, so turns play in order; one whose `when` does not hold is passed over and waits. When no
//! turn is left, the answer is the text `script is at its end` with `end_turn`. A client that repeats a
//! request after a fault gets the next turn.
//!
//! ```yaml
//! turns:
//!   - when:                        # all that are given must hold; each a text or a list of texts
//!       contains: fix the sum      # in the system prompt or the last user text
//!       system: Executor           # in the system prompt
//!       user: fix the sum          # in the last user text
//!       tool_result: error         # in one of the results of the last message
//!       tool: shell.run            # offered in the request
//!       model: opus                # in the name of the model
//!     repeat: 3                    # plays this often (default 1), or `forever`
//!     capture:                     # remembers the part at {}, sought in the last tool results, then in
//!       id: "task {} created"      # the last user text; kept for later turns of this conversation
//!     reply:
//!       thinking: Let me see.      # blocks are sent in this order: thinking, text, tools
//!       text: I will look.
//!       tools:
//!         - name: fs.read          # as the request offers it: `fs.read` and `fs_read` both find it
//!           input: {path: "src/{{n}}.rs"}
//!         - name: fs.write
//!           raw_input: '{"path": "a'     # sent as it is, to be invalid
//!       usage: {input_tokens: 900, output_tokens: 20, cache_read_input_tokens: 0, cache_creation_input_tokens: 0}
//!       stop_reason: tool_use      # default: tool_use with tools, else end_turn
//!       delay_ms: 20               # before the first byte
//!       piece: 24                  # characters in one delta
//!       piece_delay_ms: 0          # before each event
//! ```
//!
//! Texts and inputs may hold `{{n}}` (how often this turn has played, from 1), `{{request}}` (the number
//! of the request in its conversation, from 1), `{{last_tool_result}}`, `{{user}}` (the last user text)
//! and every captured name. An unknown name stays as it is written.
//!
//! # Faults
//!
//! A turn may have a `fault` of one kind. The first two take the place of a reply:
//!
//! ```yaml
//! fault: {status: 529, type: overloaded_error, message: Overloaded, retry_after: 2, headers: {x-should-retry: "false"}}
//! fault: {status: 502, body: "<html>Bad Gateway</html>"}     # another body; HTML
//! fault: {drop: true}                 # the connection is closed without an answer
//! fault: {cut_after_events: 3}        # the connection is closed inside the reply
//! fault: {cut_after_bytes: 100}
//! fault: {stall_after_events: 3}      # silence until the client goes away; with stall_ms: so long, then on
//! fault: {garbage_after_events: 3}    # bytes that are no event, then the end
//! fault: {malformed_after_events: 3}  # an event whose JSON does not parse, then the rest
//! fault: {error_after_events: 3, type: overloaded_error, message: Overloaded}   # an error event ends it
//! ```
//!
//! # The record
//!
//! `--record` appends one JSON object a line: `{"kind": "request", seq, at_ms, method, path, headers, body,
//! agent, turn, status}` as soon as a request is whole (before its answer; `turn` counts from 0 and is null
//! at the end of the script; the headers that hold keys are left out), and `{"kind": "end", seq, at_ms, complete}`
//! when its answer has been sent, or the client has gone (`complete: false`).

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod answer;
mod fault;
mod http;
mod minted;
mod record;
mod request;
mod scenario;
mod script;
mod serve;
mod template;
mod validate;

pub use fault::{Break, Fault, Place};
pub use record::Recorder;
pub use scenario::{Agent, CursorScope, Reply, Scenario, ScenarioError, ToolCall, Turn};
pub use serve::serve;
