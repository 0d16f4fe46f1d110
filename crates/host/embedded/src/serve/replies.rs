//! Whole replies in one native call: `finish` is `end` of a usual response, `reply` is Express's `json` and `send` of one, and
//! `sendPlain` writes the reply of one that somebody listens to, or has another status, from what JavaScript has looked at.
//! Where anything is unusual, nothing happens here, and JavaScript goes its longer way.

use std::io::Write as _;
use std::rc::Rc;

use rquickjs::{Ctx, Result, Value};

use super::call::Hooks;
use super::field_lines;
use super::held::Held;
use super::http::Http;
use super::names::Names;
use super::natives::tag_of;
use super::usual::{OK, Usual, is_own, over};
use super::{head, json};
use crate::native::direct::{self, Body, Bytes, Call, Given, Table, Text};

const STATUS_LINE: &[u8] = b"HTTP/1.1 200 OK\r\n";

/// Longer bodies go the longer way, which knows how to wait (`HIGH_WATER_MARK` of `js/http/response.ts`).
const BODY_BYTES_MAX: usize = 65_536;

struct Replies;

impl Table for Replies {
    const BODIES: &'static [Body] = &[
        |call| Given::bool(finish(call).is_some()),
        |call| reply(call).map_or(Given::UNDEFINED, |tag| call.string(tag.as_bytes())),
        |call| send_plain(call).map_or(Given::UNDEFINED, |tag| call.string(tag.as_bytes())),
    ];
}

/// `finish(res, chunk)`: whether the reply was given, and all of it is over.
pub(super) fn finish_function<'js>(ctx: &Ctx<'js>) -> Result<Value<'js>> {
    direct::function::<Replies>(ctx, c"finish", (2, 0, 0), &[])
}

/// `reply(res, value, type)`: sends text or bytes as `type`, or without a type `value` as JSON. The entity tag, or undefined if nothing
/// was sent.
pub(super) fn reply_function<'js>(ctx: &Ctx<'js>) -> Result<Value<'js>> {
    direct::function::<Replies>(ctx, c"reply", (3, 1, 0), &[])
}

/// `sendPlain(exchange, status, line, fields, timeout, body, type, powered)`, as `js/http/native.ts` has it: the entity tag, or
/// undefined if nothing was sent.
pub(super) fn send_plain_function<'js>(ctx: &Ctx<'js>) -> Result<Value<'js>> {
    direct::function::<Replies>(ctx, c"sendPlain", (8, 2, 0), &[])
}

/// What the calls look at.
struct Asked<'js> {
    ctx: Ctx<'js>,
    http: Rc<Http>,
    hooks: Rc<Hooks>,
    res: Held,
}

impl Asked<'_> {
    /// `None` where the first argument is no object, or nobody serves yet.
    fn of(call: &Call<'_>) -> Option<Self> {
        let ctx = call.context()?;
        let http = Http::of(&ctx).ok()?;
        let hooks = http.hooks()?;
        let res = Held::of(&ctx, call.at(0));
        res.is_object().then_some(Self { ctx, http, hooks, res })
    }
}

/// The bytes of a body.
enum Chunk<'c> {
    None,
    Text(Text<'c>),
    Bytes(Bytes),
}

impl<'c> Chunk<'c> {
    /// Text without halves of pairs, or bytes of a Uint8Array; `None` for anything else.
    fn of(call: &'c Call<'_>, at: usize) -> Option<Self> {
        match call.text(at) {
            Some(text) if std::str::from_utf8(text.bytes()).is_ok() => Some(Self::Text(text)),
            Some(_) => None,
            None => call.bytes(call.at(at)).map(Self::Bytes),
        }
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Self::None => &[],
            Self::Text(text) => text.bytes(),
            Self::Bytes(bytes) => bytes.read(),
        }
    }
}

fn finish(call: &Call<'_>) -> Option<()> {
    let Asked { ctx, http, hooks, res } = Asked::of(call)?;
    let names = &hooks.names;
    let Usual { exchange, req, line } = Usual::of(&ctx, &http, &hooks, &res)?;
    if !res.get(names.unread).is_nothing() {
        return None;
    }
    let fields = res.get(names.fields);
    let timeout_ms = res.get(names.keep_alive_timeout).int()?;
    let body = if call.at(1).is_nothing() { Chunk::None } else { Chunk::of(call, 1)? };
    let body = body.bytes();
    let answered = http.answer_now_if(exchange, OK, true, |out| {
        out.extend_from_slice(STATUS_LINE);
        // Of a head that leaves with text Node makes UTF-8: more than ASCII goes the longer way.
        if fields.is_object() && !(field_lines::append(&fields, out, b"content-length") && out.is_ascii()) {
            return None;
        }
        append_kept(out, timeout_ms);
        // Writing to a vector does not fail.
        let _ = write!(out, "Content-Length: {}\r\n\r\n", body.len());
        let head_len = out.len();
        out.extend_from_slice(body);
        Some(head_len)
    });
    answered.then(|| over(&ctx, names, &res, &req, &line, body.len()))
}

fn reply(call: &Call<'_>) -> Option<String> {
    let asked = Asked::of(call)?;
    let mut scratch = asked.http.take_scratch();
    let tag = reply_with(call, &asked, &mut scratch);
    asked.http.keep_scratch(scratch);
    tag
}

fn reply_with(call: &Call<'_>, Asked { ctx, http, hooks, res }: &Asked<'_>, scratch: &mut Vec<u8>) -> Option<String> {
    let names = &hooks.names;
    let Usual { exchange, req, line } = Usual::of(ctx, http, hooks, res)?;
    if !is_plain(ctx, hooks, res, &req) {
        return None;
    }
    let (given, given_kind);
    let (body, kind): (&[u8], &[u8]) = if call.at(2).is_undefined() {
        json::append(res.context(), names, scratch, call.at(1).raw(), BODY_BYTES_MAX)?;
        (scratch, b"application/json; charset=utf-8")
    } else {
        (given, given_kind) = (Chunk::of(call, 1)?, call.text(2)?);
        (given.bytes(), given_kind.bytes())
    };
    // A program's `toJSON` has a say in what follows.
    if body.is_empty() || body.len() > BODY_BYTES_MAX || !http.awaits(exchange) {
        return None;
    }
    let fields = res.get(names.fields);
    if fields.is_object() && !has_none(names, &fields) {
        return None;
    }
    let timeout_ms = res.get(names.keep_alive_timeout).int()?;
    let is_powered = !res.get(names.unread).is_nothing();
    let tag = format!("W/{}", tag_of(body));
    let answered = http.answer_now_if(exchange, OK, true, |out| {
        out.extend_from_slice(STATUS_LINE);
        append_tagged(out, is_powered, &fields, Some(kind), timeout_ms, body, &tag)
    });
    if !answered {
        return None;
    }
    over(ctx, names, res, &req, &line, body.len());
    Some(tag)
}

fn send_plain(call: &Call<'_>) -> Option<String> {
    let (exchange, status) = (call.at(0).whole()?, call.at(1).whole()?);
    let (exchange, status) = (u32::try_from(exchange).ok()?, u16::try_from(status).ok()?);
    let ctx = call.context()?;
    let http = Http::of(&ctx).ok()?;
    let (line, kind) = (call.text(2)?, call.text(6));
    let fields = Held::of(&ctx, call.at(3));
    let timeout_ms = call.at(4).number().unwrap_or_default() as i32;
    let body = Chunk::of(call, 5)?;
    let body = body.bytes();
    let tag = format!("W/{}", tag_of(body));
    let answered = http.answer_now_if(exchange, status, true, |out| {
        out.extend_from_slice(line.bytes());
        append_tagged(out, call.at(7).is_true(), &fields, kind.as_ref().map(Text::bytes), timeout_ms, body, &tag)
    });
    answered.then_some(tag)
}

/// Appends what Express's replies have behind their status line, and the body; how long the head is. `None` where a field must go the
/// longer way.
fn append_tagged(
    out: &mut Vec<u8>,
    is_powered: bool,
    fields: &Held,
    kind: Option<&[u8]>,
    timeout_ms: i32,
    body: &[u8],
    tag: &str,
) -> Option<usize> {
    if is_powered {
        out.extend_from_slice(b"X-Powered-By: Express\r\n");
    }
    if fields.is_object() && !field_lines::append(fields, out, b"") {
        return None;
    }
    if let Some(kind) = kind {
        out.extend_from_slice(b"Content-Type: ");
        out.extend_from_slice(kind);
        out.extend_from_slice(b"\r\n");
    }
    // Writing to a vector does not fail.
    let _ = write!(out, "Content-Length: {}\r\nETag: {tag}\r\n", body.len());
    append_kept(out, timeout_ms);
    out.extend_from_slice(b"\r\n");
    let head_len = out.len();
    out.extend_from_slice(body);
    Some(head_len)
}

/// Appends the date, and what a connection that stays adds, as Node does.
fn append_kept(out: &mut Vec<u8>, timeout_ms: i32) {
    out.extend_from_slice(b"Date: ");
    out.extend_from_slice(&leat_stream::clock::date());
    out.extend_from_slice(b"\r\nConnection: keep-alive\r\n");
    if timeout_ms > 0 {
        let _ = write!(out, "Keep-Alive: timeout={}\r\n", timeout_ms / 1000);
    }
}

/// Whether nobody has put a method in the place of those that Express calls, and the request is not conditional.
fn is_plain(ctx: &Ctx<'_>, hooks: &Hooks, res: &Held, req: &Held) -> bool {
    let names = &hooks.names;
    !req.has_own(names.own_headers)
        && res.get(names.corked).int() == Some(0)
        && is_own(ctx, res, [names.set_header, names.get_header, names.end], &hooks.said)
        && !head::is_conditional(req.value(ctx))
}

/// Whether the fields say nothing of the body yet.
fn has_none(names: &Names, fields: &Held) -> bool {
    [names.etag, names.content_length, names.content_type, names.transfer_encoding]
        .into_iter()
        .all(|name| fields.get(name).is_nothing())
}
