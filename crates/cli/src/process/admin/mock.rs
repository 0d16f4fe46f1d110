//! The calls, rules and sessions of mocks.

use std::sync::Arc;

use leat_gateway::config::Config;
use leat_message::{Exchange, Reason};
use leat_rpc::mock::journal::Filter;
use leat_rpc::mock::{Mock, Reset, problems};
use serde_json::{Map, Value, json};

use super::Admin;
use super::answer::Answer;
use super::mock_call::{MockAsk, MockCall};
use super::write::{json_body, keys, text_body};
use crate::event;

/// The longest question or text of rules, in bytes.
const BODY_BYTES_MAX: usize = 16 * 1024 * 1024;
/// The longest name under which rules are added, in bytes.
const NAME_BYTES_MAX: usize = 128;

impl Admin {
    /// Shows something of a mock.
    pub(super) fn read_mock(&self, call: &MockCall) -> Answer {
        let mock = match self.mock(call.mock.as_deref()) {
            Ok(mock) => mock,
            Err(answer) => return answer,
        };
        match &call.ask {
            MockAsk::Overview => Answer::json(&mock.overview()),
            MockAsk::Sessions => Answer::json(&mock.sessions()),
            MockAsk::Rules { from } => Answer::json(&mock.rules(*from)),
            MockAsk::Call { number } => match mock.call(*number) {
                Some(shown) => Answer::json(&shown),
                None => refuse(Reason::AdminUnknown, "the journal does not have this call, or not any more"),
            },
            MockAsk::Calls { parameters, from } => {
                let mut filter = Filter::default();
                for (name, value) in parameters {
                    match filter.parameter(name, value) {
                        Ok(true) => {}
                        Ok(false) => return refuse(Reason::AdminRequest, &format!("there is no parameter `{name}`")),
                        Err(error) => return refuse(Reason::AdminRequest, &error.to_string()),
                    }
                }
                Answer::json(&mock.calls(filter, *from))
            }
            MockAsk::Verify
            | MockAsk::PutRules { .. }
            | MockAsk::RemoveRules { .. }
            | MockAsk::Reset
            | MockAsk::Scenario => Answer::refuse_method("POST"),
        }
    }

    /// Answers a question that has a body, or changes a mock.
    pub(super) async fn ask_mock<X: Exchange>(&self, call: &MockCall, exchange: &mut X) -> Result<Answer, Reason> {
        let by = super::by(exchange.peer());
        let mock = match self.mock(call.mock.as_deref()) {
            Ok(mock) => mock,
            Err(answer) => return Ok(answer),
        };
        let told = |what: &str| {
            let facts = [("what", what), ("outcome", "done"), ("by", by.as_str())];
            event::notice("admin_write", "something was changed by the admin API", &facts);
        };
        Ok(match &call.ask {
            MockAsk::Verify => {
                let Some(question) = json_body(exchange, BODY_BYTES_MAX).await? else { return Ok(no_json()) };
                let asked = Arc::clone(&mock);
                match apart(move || asked.verify(&question)).await? {
                    Ok(verdict) => Answer::json_with(if verdict.pass { 200 } else { 417 }, &verdict.shown),
                    Err(error) => refuse(Reason::AdminRequest, &error.to_string()),
                }
            }
            MockAsk::Reset => {
                // Nothing at all means everything; what can't be read must not.
                let text = text_body(exchange, BODY_BYTES_MAX).await?.unwrap_or_else(|| "no UTF-8".to_owned());
                let body = keys(&text, &["what", "session"]);
                match body.as_ref().map_err(String::clone).and_then(reset_of) {
                    Ok((what, session)) => {
                        let done = mock.reset(what, session);
                        told("mock reset");
                        Answer::json(&done)
                    }
                    Err(message) => refuse(Reason::AdminRequest, &message),
                }
            }
            MockAsk::Scenario => {
                let text = text_body(exchange, BODY_BYTES_MAX).await?.unwrap_or_else(|| "no UTF-8".to_owned());
                let body = match keys(&text, &["scenario", "state", "session"]) {
                    Ok(body) => body,
                    Err(message) => return Ok(refuse(Reason::AdminRequest, &message)),
                };
                let text = |key: &str| body.get(key).and_then(Value::as_str);
                let session = body.get("session").filter(|session| !session.is_null());
                let is_text = session.is_none_or(Value::is_string);
                let (Some(scenario), Some(state), true) = (text("scenario"), text("state"), is_text) else {
                    let detail = "the body is JSON: {\"scenario\": \"order\", \"state\": \"placed\"}, with `session` if it is one's";
                    return Ok(refuse(Reason::AdminRequest, detail));
                };
                match mock.set_scenario(text("session"), scenario, state) {
                    Ok(()) => {
                        told(&format!("mock scenario {scenario} to {state}"));
                        Answer::json(&json!({ "scenario": scenario, "state": state }))
                    }
                    Err(message) => refuse(Reason::AdminRequest, &message),
                }
            }
            MockAsk::PutRules { name } => {
                let Some(text) = text_body(exchange, BODY_BYTES_MAX).await? else {
                    return Ok(refuse(Reason::AdminRequest, "the body is a file of rules in UTF-8, YAML or JSON"));
                };
                if name.is_empty() || name.len() > NAME_BYTES_MAX || name.chars().any(char::is_control) {
                    return Ok(refuse(
                        Reason::AdminRequest,
                        "name the rules, in at most 128 bytes: POST /mock/rules/NAME",
                    ));
                }
                let (changed, asked) = (Arc::clone(&mock), name.clone());
                let put = apart(move || changed.put_rules(&asked, &text)).await?;
                match put {
                    Ok(warnings) => {
                        told(&format!("mock rules {name} put"));
                        Answer::json(&json!({ "name": name, "warnings": problems(&warnings) }))
                    }
                    Err(found) => Answer::refuse_with(
                        Reason::AdminRequest,
                        json!({ "detail": "the rules are wrong; nothing changed", "problems": problems(&found) }),
                    ),
                }
            }
            MockAsk::RemoveRules { name } => {
                let text = text_body(exchange, BODY_BYTES_MAX).await?.unwrap_or_else(|| "no UTF-8".to_owned());
                if let Err(message) = keys(&text, &[]) {
                    return Ok(refuse(Reason::AdminRequest, &message));
                }
                let (changed, asked) = (Arc::clone(&mock), name.clone());
                match apart(move || changed.remove_rules(&asked)).await? {
                    Ok(None) => refuse(Reason::AdminUnknown, "no rules were added under this name"),
                    Ok(Some(warnings)) => {
                        told(&format!("mock rules {name} removed"));
                        Answer::json(&json!({ "name": name, "warnings": problems(&warnings) }))
                    }
                    Err(found) => Answer::refuse_with(
                        Reason::AdminRequest,
                        json!({ "detail": "the rules are wrong without them; nothing changed", "problems": problems(&found) }),
                    ),
                }
            }
            MockAsk::Overview
            | MockAsk::Sessions
            | MockAsk::Rules { .. }
            | MockAsk::Call { .. }
            | MockAsk::Calls { .. } => Answer::refuse_method("GET, HEAD"),
        })
    }

    /// The mock that is meant: the only one, where none is named.
    fn mock(&self, named: Option<&str>) -> Result<Arc<Mock>, Answer> {
        let config = self.live.config();
        let route = match named {
            Some(name) => Some(name.to_owned()),
            None => only(&config),
        };
        let is_mock = |name: &String| config.mocks().any(|(route, _)| route.name() == name);
        let found = route.filter(is_mock).and_then(|name| self.lasting.mocks.get(&name));
        found.ok_or_else(|| {
            let names: Vec<&str> = config.mocks().map(|(route, _)| route.name()).collect();
            let detail = match (names.as_slice(), named) {
                ([], _) => "no route of the configuration is a mock".to_owned(),
                (_, Some(_)) => format!("there is no such mock: there are {}", names.join(", ")),
                _ => format!("there are several mocks: add `?mock=NAME`, one of {}", names.join(", ")),
            };
            refuse(Reason::AdminUnknown, &detail)
        })
    }
}

/// Works on a thread of its own: thousands of rules or calls take a while, and the admin address answers meanwhile.
async fn apart<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Reason> {
    tokio::task::spawn_blocking(work).await.map_err(|_| Reason::HandlerFailed)
}

fn only(config: &Config) -> Option<String> {
    let mut mocks = config.mocks();
    let (route, _) = mocks.next()?;
    mocks.next().is_none().then(|| route.name().to_owned())
}

/// What is to be forgotten: all, unless the body says what, or whose.
fn reset_of(fields: &Map<String, Value>) -> Result<(Reset, Option<&str>), String> {
    const WRONG: &str =
        "the body is JSON: {\"what\": [\"calls\", \"state\"], \"session\": \"TEXT\"}, each of which may be left out";
    let session = match fields.get("session") {
        None | Some(Value::Null) => None,
        Some(session) => Some(session.as_str().ok_or(WRONG)?),
    };
    let Some(what) = fields.get("what") else { return Ok((Reset { calls: true, state: true }, session)) };
    let mut reset = Reset { calls: false, state: false };
    for word in what.as_array().ok_or(WRONG)? {
        match word.as_str() {
            Some("calls") => reset.calls = true,
            Some("state") => reset.state = true,
            _ => return Err(WRONG.to_owned()),
        }
    }
    Ok((reset, session))
}

fn no_json() -> Answer {
    refuse(Reason::AdminRequest, "the body is no JSON")
}

fn refuse(reason: Reason, detail: &str) -> Answer {
    Answer::refuse_with(reason, json!({ "detail": detail }))
}
