use std::future::poll_fn;
use std::task::Poll;

use leat_gateway::config::Problem;
use leat_message::{BodyLimits, Exchange, Piece, Reason};
use serde_json::{Map, Value, json};
use tokio::sync::oneshot;

use super::answer::Answer;
use super::call::Write;
use super::{Admin, settings};
use crate::event::{self, Level};
use crate::process::reload::Reloaded;

/// The longest body, in bytes.
const BODY_BYTES_MAX: usize = 4 * 1024;
/// How long a body may take, in milliseconds.
const BODY_TIME_MS: u64 = 10_000;

impl Admin {
    /// Changes something; what came of it is told in the log too.
    pub(super) async fn change<X: Exchange>(&self, write: Write, exchange: &mut X) -> Result<Answer, Reason> {
        let known: &[&str] = if matches!(write, Write::LogLevel) { &["level"] } else { &[] };
        let text = text_body(exchange, BODY_BYTES_MAX).await?.unwrap_or_else(|| "no UTF-8".to_owned());
        let body = match keys(&text, known) {
            Ok(body) => body,
            Err(detail) => return Ok(Answer::refuse_with(Reason::AdminRequest, json!({ "detail": detail }))),
        };
        let by = super::by(exchange.peer());
        let by = |what: &str, outcome: &str| {
            event::notice(
                "admin_write",
                "something was changed by the admin API",
                &[("what", what), ("outcome", outcome), ("by", &by)],
            );
        };
        Ok(match write {
            Write::LogLevel => {
                let level = body.get("level").and_then(|level| Level::named(level.as_str()?));
                let Some(level) = level else {
                    let detail = "the body is JSON: {\"level\": \"info\"}, \"warn\" or \"error\"";
                    return Ok(Answer::refuse_with(Reason::AdminRequest, json!({ "detail": detail })));
                };
                let before = event::set_level(level);
                by("log-level", level.name());
                Answer::json(&json!({ "level": level.name(), "before": before.name() }))
            }
            Write::Drain { upstream, endpoint, drain } => {
                let (what, done) = if drain { ("drain", "draining") } else { ("undrain", "undrained") };
                match self.lasting.states.set_draining(&upstream, &endpoint, drain) {
                    None | Some((0, _)) => Answer::refuse(Reason::AdminUnknown),
                    Some((endpoints, changed)) => {
                        by(&format!("{what} {upstream} {endpoint}"), if changed > 0 { done } else { "unchanged" });
                        let counts = json!({ "endpoints": endpoints, "changed": changed });
                        let report = self.report(|report| report.upstream_named(&upstream));
                        Answer::json(&json!({ what: counts, "upstream": report }))
                    }
                }
            }
            Write::ResetBreakers { upstream } => match self.lasting.states.reset_breakers(&upstream) {
                None | Some(0) => Answer::refuse(Reason::AdminUnknown),
                Some(breakers) => {
                    by(&format!("reset breakers of {upstream}"), "reset");
                    Answer::json(&json!({ "breakers": breakers }))
                }
            },
            Write::Reload => {
                let (told, came) = oneshot::channel();
                // The process ends where nobody takes it, or answers.
                self.live.orders.try_send(told).map_err(|_| Reason::HandlerFailed)?;
                match came.await.map_err(|_| Reason::HandlerFailed)? {
                    Reloaded::Done { before } => {
                        by("reload", "done");
                        let config = self.live.config();
                        let changes = settings::changes(config.source(), before.source());
                        Answer::json(&json!({ "reloaded": true, "differences": changes }))
                    }
                    Reloaded::Failed { message, problems } => {
                        by("reload", "failed");
                        let problems: Vec<Value> = problems.iter().map(problem).collect();
                        let more = json!({ "detail": message, "problems": problems });
                        Answer::refuse_with(Reason::AdminConfig, more)
                    }
                }
            }
        })
    }
}

fn problem(problem: &Problem) -> Value {
    json!({
        "file": problem.file(),
        "line": problem.place().map(|place| place.line),
        "column": problem.place().map(|place| place.column),
        "message": problem.message(),
        "help": problem.help(),
    })
}

/// What a body says, which may be left out; a key that is none of those that are known is an error, so that nobody waits for what a
/// misspelt one would have done.
pub(super) fn keys(text: &str, known: &[&str]) -> Result<Map<String, Value>, String> {
    let text = if text.trim().is_empty() { "{}" } else { text };
    let body = match (serde_json::from_str(text), known) {
        (Ok(Value::Object(body)), _) => body,
        (_, []) => return Err("the call takes no body".to_owned()),
        _ => return Err("the body is no JSON object".to_owned()),
    };
    match body.keys().find(|key| !known.contains(&key.as_str())) {
        None => Ok(body),
        Some(key) => {
            let known = match known {
                [] => "the call takes none".to_owned(),
                known => format!("known are `{}`", known.join("`, `")),
            };
            Err(format!("unknown key `{}`: {known}", key.escape_debug()))
        }
    }
}

/// The body as JSON; `None` where there is none or it is something else.
pub(super) async fn json_body<X: Exchange>(exchange: &mut X, bytes_max: usize) -> Result<Option<Value>, Reason> {
    Ok(serde_json::from_slice(&body(exchange, bytes_max).await?).ok())
}

/// The body as text; `None` where it is something else.
pub(super) async fn text_body<X: Exchange>(exchange: &mut X, bytes_max: usize) -> Result<Option<String>, Reason> {
    Ok(String::from_utf8(body(exchange, bytes_max).await?).ok())
}

async fn body<X: Exchange>(exchange: &mut X, bytes_max: usize) -> Result<Vec<u8>, Reason> {
    exchange.limit_body(BodyLimits { bytes_max: bytes_max as u64, time_ms: Some(BODY_TIME_MS) });
    let mut body = Vec::new();
    poll_fn(|cx| {
        loop {
            let count = match std::task::ready!(exchange.poll_body(cx))? {
                Piece::End => return Poll::Ready(Ok::<(), Reason>(())),
                Piece::Data(bytes) => {
                    body.extend_from_slice(bytes);
                    bytes.len()
                }
            };
            exchange.consume(count);
        }
    })
    .await?;
    Ok(body)
}
