//! A usual response: 200, a length, a connection that stays, and nobody who listens to how it goes. Its properties are looked at as
//! `js/http` would look at them; of any other nothing is known here, and nothing has happened.
#![allow(unsafe_code, reason = "a response's properties are read as QuickJS keeps them")]

use rquickjs::{Ctx, Persistent, Value, qjs};

use super::call::Hooks;
use super::held::Held;
use super::http::Http;
use super::names::Names;

/// The status of a usual response.
pub(super) const OK: u16 = 200;

/// A response that nothing unusual is known of.
pub(super) struct Usual {
    pub(super) exchange: u32,
    pub(super) req: Held,
    pub(super) line: Held,
}

impl Usual {
    /// `None` for any other.
    pub(super) fn of(ctx: &Ctx<'_>, http: &Http, hooks: &Hooks, res: &Held) -> Option<Self> {
        let names = &hooks.names;
        let exchange = u32::try_from(res.get(names.exchange).int()?).ok()?;
        if !http.awaits(exchange) || res.get(names.status_code).int() != Some(OK.into()) {
            return None;
        }
        let (req, line) = (res.get(names.req), res.get(names.line));
        let is_usual = is_kept(names, res)
            && is_unheard(names, res, &req)
            && line.is_object()
            && line.get(names.socket).is_nothing()
            && is_own(ctx, res, [names.write_head, names.implicit_header, names.store_header], &hooks.head);
        is_usual.then_some(Self { exchange, req, line })
    }
}

/// Whether the reply leaves its connection open, and nobody has said anything of how it is framed: `isKept` of
/// `js/http/outgoing.ts`, and what `end` looks at besides.
fn is_kept(names: &Names, res: &Held) -> bool {
    let usual = [names.has_body, names.send_date, names.should_keep_alive, names.default_keep_alive];
    let unusual = [
        names.finished,
        names.destroyed,
        names.header_sent,
        names.strict_content_length,
        names.last,
        names.raw,
        names.chunked_encoding,
        names.expect_continue,
        names.removed_connection,
        names.removed_transfer_encoding,
        names.removed_content_length,
        names.requests_reached,
    ];
    let nothing = [names.header, names.status_message, names.unique_headers];
    usual.into_iter().all(|name| res.get(name).is_true())
        && res.get(names.chunked_by_default).is_true()
        && unusual.into_iter().all(|name| res.get(name).is_false())
        && nothing.into_iter().all(|name| res.get(name).is_nothing())
        && res.get(names.response_requests_max).int() == Some(0)
}

/// Whether nobody could notice the events of the exchange, and the request has no more to come.
fn is_unheard(names: &Names, res: &Held, req: &Held) -> bool {
    let none = |message: &Held| {
        let count = message.get(names.events_count);
        count.is_nothing() || count.int() == Some(0)
    };
    req.is_object() && none(res) && none(req) && req.get(names.body_done).is_true()
}

/// Whether nobody has put methods in the place of these.
pub(super) fn is_own(
    ctx: &Ctx<'_>,
    res: &Held,
    names: [qjs::JSAtom; 3],
    methods: &[Persistent<Value<'static>>; 3],
) -> bool {
    names.into_iter().zip(methods).all(|(name, method)| {
        let method = method.clone().restore(ctx);
        method.is_ok_and(|method| res.get(name).is(method.as_raw()))
    })
}

/// All is over: what programs may look at says so, and nothing refers to what has gone.
pub(super) fn over(ctx: &Ctx<'_>, names: &Names, res: &Held, req: &Held, line: &Held, bytes: usize) {
    let text = |name| {
        // SAFETY: context and atom are live; the value is given away.
        unsafe { qjs::JS_AtomToValue(ctx.as_raw().as_ptr(), name) }
    };
    let (none, int) = (qjs::JS_NULL, |number: i32| qjs::JS_MKVAL(qjs::JS_TAG_INT, number));
    res.set(names.status_message, text(names.ok));
    res.set(names.header, text(names.status_line));
    let ended =
        [names.header_sent, names.finished, names.empty_rest, names.writable_finished, names.destroyed, names.closed];
    for name in ended {
        res.set(name, qjs::JS_TRUE);
    }
    // Which request of its connection it answered: for `isSettledEarly` of `js/http/settle.ts`.
    res.set(names.exchange, int((-2_i32).wrapping_sub(line.get(names.requests).int().unwrap_or_default())));
    req.set(names.complete, qjs::JS_TRUE);
    req.set(names.res, none);
    req.set(names.exchange, int(-1));
    line.set(names.current, none);
    line.set(names.last_bytes, int(i32::try_from(bytes).unwrap_or(i32::MAX)));
}
