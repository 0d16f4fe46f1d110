//! The way of a request: its turn, that of its body if all of it has come, and what is left to answer then.

use std::rc::Rc;

use leat_message::{Head, Length, Method, Name, Reason, Reply, Version};
use rquickjs::{Ctx, Object, Persistent, Result};

use super::call::{self, Hooks};
use super::http::{CURRENT_BYTES_KEPT, Http};
use super::{head, natives};
use crate::world::Entered;

/// What a call to JavaScript made of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Made {
    /// The whole reply is written.
    Whole,
    /// It goes on.
    Begun,
    /// It goes on, and JavaScript has had its whole body.
    Heard,
}

impl Http {
    /// Gives a request to JavaScript with all of its `body`, if that has come (else it is empty), and its reply to `reply` where
    /// it is whole at once.
    pub(super) fn request<R: Reply>(
        &self,
        server: u32,
        connection: u32,
        exchange: u32,
        request: Head<'_>,
        body: &[u8],
        reply: &mut R,
    ) -> Made {
        let (Some(world), Some(hooks)) = (self.host.world(), self.hooks.borrow().clone()) else { return Made::Begun };
        if let Some(metrics) = self.host.seat().metrics() {
            metrics.requests.add(1);
        }
        {
            let mut current = self.current.borrow_mut();
            current.exchange = Some(exchange);
            current.status = None;
        }
        let enter = |call: &mut dyn FnMut(&Ctx<'_>) -> Result<()>| {
            world.try_enter(|ctx| {
                self.calling.set(Some(connection));
                let called = call(ctx);
                // Ticks and promises come behind it.
                self.calling.set(None);
                called
            })
        };
        self.whole.set((!body.is_empty()).then_some(exchange));
        // The request's object, if the call left it without its reply.
        let mut open = None;
        let mut entered = enter(&mut |ctx| {
            self.hand_over(ctx, &hooks, [server, connection, exchange], request, !body.is_empty(), &mut open)
        });
        let mut heard = false;
        if let Some(open) = open.filter(|_| !self.is_answered() && self.is_entered(entered, exchange)) {
            if !body.is_empty() {
                // Behind what the request's own turn has left to do, as a body comes on Node.
                heard = true;
                self.keep_body(body);
                entered = enter(&mut |ctx| hooks.body.clone().restore(ctx)?.call((open.clone().restore(ctx)?,)));
                self.forget_body();
            }
            if !self.is_answered() && self.is_entered(entered, exchange) {
                enter(&mut |ctx| hooks.pending.clone().restore(ctx)?.call((open.clone().restore(ctx)?,)));
            }
        }
        self.whole.set(None);
        let (begun, taken) = if heard { (Made::Heard, body.len()) } else { (Made::Begun, 0) };
        let mut current = self.current.borrow_mut();
        let unanswered = current.exchange.take().is_some() && current.status.is_none();
        if unanswered && entered != Entered::Done(()) {
            // Nobody will answer it any more.
            let reason = if entered == Entered::Lost { Reason::LaneGone } else { Reason::LaneTurnTime };
            let has_body = request.method_bytes() != b"HEAD";
            (current.bytes, current.head_len) = refusal(reason, has_body);
            let status = reason.status();
            current.status = Some(status);
            current.keep = false;
        }
        let Some(status) = current.status.take() else { return begun };
        let (head, body) = current.bytes.split_at_checked(current.head_len).unwrap_or_default();
        let written = reply.whole(status, head, body, current.keep);
        if !written {
            let (head_len, bytes, keep) = (current.head_len, std::mem::take(&mut current.bytes), current.keep);
            drop(current);
            let flags = natives::LAST | if keep { natives::KEEP } else { 0 };
            self.push(natives::HEAD, flags, exchange, status.into(), head_len as u32, &bytes);
            self.flush();
            return begun;
        }
        reply.record().bytes_in = taken as u64;
        if current.bytes.capacity() > CURRENT_BYTES_KEPT {
            current.bytes = Vec::new();
        }
        Made::Whole
    }

    /// Whether JavaScript may be entered again for an exchange: a call for it that was stopped is answered already.
    fn is_entered(&self, entered: Entered<()>, exchange: u32) -> bool {
        match entered {
            Entered::Done(()) => self.host.exited().is_none(),
            Entered::Interrupted => self.current.borrow().exchange != Some(exchange),
            Entered::Lost => false,
        }
    }

    /// Calls JavaScript for a request; `open` is its object, if it has no reply then.
    fn hand_over(
        &self,
        ctx: &Ctx<'_>,
        hooks: &Hooks,
        [server, connection, exchange]: [u32; 3],
        request: Head<'_>,
        whole: bool,
        open: &mut Option<Persistent<Object<'static>>>,
    ) -> Result<()> {
        let line = self.lines.borrow().get(&connection).cloned();
        let objects = self.servers.borrow().get(&server).map(|listening| Rc::clone(&listening.objects));
        let (Some(line), Some(objects)) = (line, objects) else {
            // Its server was forgotten.
            self.push(natives::ABORT, 0, exchange, 0, 0, &[]);
            return Ok(());
        };
        let line = line.restore(ctx)?;
        let req = head::object(ctx, &hooks.names, objects.request.clone().restore(ctx)?, request)?;
        let flags = flags_of(request);
        let is_usual = flags & !HAS_BODY == USUAL && (whole || flags == USUAL) && request.method_bytes() != b"HEAD";
        let mut called = Ok(false);
        if is_usual {
            called = call::usual(ctx, hooks, &objects, &line, &req, exchange, whole);
        }
        if matches!(called, Ok(false)) {
            called = hooks.request.clone().restore(ctx)?.call((line, req.clone(), exchange, flags)).map(|()| true);
        }
        if !self.is_answered() {
            *open = Some(Persistent::save(ctx, req));
        }
        called.map(|_| ())
    }

    /// Keeps the body of a request for JavaScript's questions.
    fn keep_body(&self, bytes: &[u8]) {
        let mut body = self.body.borrow_mut();
        body.clear();
        body.extend_from_slice(bytes);
        // As what parses it wants it.
        body.push(0);
    }

    fn forget_body(&self) {
        let mut body = self.body.borrow_mut();
        body.clear();
        if body.capacity() > CURRENT_BYTES_KEPT {
            *body = Vec::new();
        }
    }

    /// The body that JavaScript is being told of, and a zero behind it; empty for none.
    pub(super) fn body(&self) -> std::cell::Ref<'_, Vec<u8>> {
        self.body.borrow()
    }

    /// JavaScript asks for `bytes` more of a body.
    pub(super) fn read(&self, exchange: u32, bytes: u32) {
        if self.whole.get() != Some(exchange) {
            self.push(natives::READ, 0, exchange, bytes, 0, &[]);
        }
    }

    /// Nothing can answer an exchange any more, since what was to do so was stopped. A reply that has begun is cut off.
    pub(super) fn abandon(&self, exchange: u32, has_begun: bool, has_body: bool) {
        if has_begun {
            self.push(natives::ABORT, 0, exchange, 0, 0, &[]);
            return;
        }
        let reason = Reason::LaneTurnTime;
        let (bytes, head_len) = refusal(reason, has_body);
        self.push(natives::HEAD, natives::LAST, exchange, reason.status().into(), head_len as u32, &bytes);
    }
}

/// The reply that says `reason` and ends its connection; how long its head is.
fn refusal(reason: Reason, has_body: bool) -> (Vec<u8>, usize) {
    let (status, text) = (reason.status(), reason.problem());
    let mut bytes = format!(
        "HTTP/1.1 {status} Service Unavailable\r\nContent-Type: application/problem+json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n",
        text.len()
    )
    .into_bytes();
    let head_len = bytes.len();
    if has_body {
        bytes.extend_from_slice(text.as_bytes());
    }
    (bytes, head_len)
}

/// The flags of a request without a body, that names its host and leaves the connection open.
const USUAL: u32 = 1 | 8;

const HAS_BODY: u32 = 2;

/// What JavaScript is told of a request beside its head (`js/http/native.ts`).
fn flags_of(head: Head<'_>) -> u32 {
    let lines = head.lines();
    let has = |name: Name| lines.fields.iter().any(|field| field.id == name);
    let has_body = !matches!(lines.length, Length::None | Length::Known(0));
    [
        (lines.keep_alive, 1),
        (has_body, 2),
        (lines.upgrade || lines.method == Method::Connect, 4),
        (has(Name::Host), 8),
        (has(Name::Expect), 16),
        (lines.version == Version::Http2, 32),
        (lines.version == Version::Http10, 64),
        (lines.method == Method::Other, 128),
    ]
    .into_iter()
    .fold(0, |flags, (set, flag)| if set { flags | flag } else { flags })
}
