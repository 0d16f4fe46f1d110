use leat_message::{Length, Reason, Reply};
use serde_json::Value;

const JSON: &str = "application/json";
const PROBLEM: &str = "application/problem+json";

/// An answer, whole.
pub(super) struct Answer {
    status: u16,
    content_type: &'static str,
    body: String,
    reason: Option<Reason>,
    allow: Option<&'static str>,
}

impl Answer {
    pub(super) fn text(status: u16, content_type: &'static str, body: impl Into<String>) -> Self {
        Self { status, content_type, body: body.into(), reason: None, allow: None }
    }

    pub(super) fn json(value: &Value) -> Self {
        Self::text(200, JSON, format!("{value:#}\n"))
    }

    /// The same with another status than 200.
    pub(super) fn json_with(status: u16, value: &Value) -> Self {
        Self::text(status, JSON, format!("{value:#}\n"))
    }

    /// Problem details (RFC 9457).
    pub(super) fn refuse(reason: Reason) -> Self {
        let (status, body) = (reason.status(), reason.problem());
        Self { status, content_type: PROBLEM, body, reason: Some(reason), allow: None }
    }

    /// The same with what the path allows instead (RFC 9110 section 15.5.6).
    pub(super) fn refuse_method(allow: &'static str) -> Self {
        Self { allow: Some(allow), ..Self::refuse(Reason::AdminMethod) }
    }

    /// The same with more on what is wrong: members that are put beside the others, or in their place.
    pub(super) fn refuse_with(reason: Reason, more: Value) -> Self {
        let mut problem: Value = serde_json::from_str(&reason.problem()).unwrap_or_default();
        if let (Value::Object(problem), Value::Object(more)) = (&mut problem, more) {
            problem.extend(more);
        }
        Self { body: format!("{problem:#}\n"), ..Self::refuse(reason) }
    }

    pub(super) fn write<R: Reply>(&self, reply: &mut R) {
        if let Some(reason) = self.reason {
            reply.record().reason = Some(reason);
        }
        reply.status(self.status);
        reply.field(b"content-type", self.content_type.as_bytes());
        reply.field(b"cache-control", b"no-store");
        reply.field(b"x-content-type-options", b"nosniff");
        if self.reason == Some(Reason::AdminTokenMissing) {
            reply.field(b"www-authenticate", b"Bearer");
        }
        if let Some(allow) = self.allow {
            reply.field(b"allow", allow.as_bytes());
        }
        reply.length(Length::Known(self.body.len() as u64));
        reply.body(self.body.as_bytes());
    }
}
