//! The call for a request: its two objects are made here, as they will stay, and the listener of its server is called without any
//! JavaScript of ours in between. What is unusual goes through `serve` of `js/http/line.ts`, which does the same and the rest.
#![allow(unsafe_code, reason = "two objects and a call for each request: values are made as QuickJS keeps them")]

use rquickjs::{Ctx, Error, Function, Object, Persistent, Result, Value, qjs};

use super::held::Held;
use super::names::Names;

/// What JavaScript is called for.
pub(super) struct Hooks {
    /// An unusual request.
    pub(super) request: Persistent<Function<'static>>,
    /// The whole body of a request is here.
    pub(super) body: Persistent<Function<'static>>,
    /// A request was not answered within its turn.
    pub(super) pending: Persistent<Function<'static>>,
    pub(super) all: Persistent<Object<'static>>,
    /// `emit` as emitters have it.
    emit: Persistent<Value<'static>>,
    /// What makes a response's head: `writeHead`, `_implicitHeader`, `_storeHeader`.
    pub(super) head: [Persistent<Value<'static>>; 3],
    /// What Express calls besides: `setHeader`, `getHeader`, `end`.
    pub(super) said: [Persistent<Value<'static>>; 3],
    pub(super) names: Names,
}

impl Hooks {
    /// Of the functions that `js/http/line.ts` gives.
    pub(super) fn new<'js>(ctx: &Ctx<'js>, hooks: Object<'js>) -> Result<Self> {
        let function = |name: &str| hooks.get::<_, Function<'js>>(name).map(|hook| Persistent::save(ctx, hook));
        let (emit, captures): (Value<'js>, Value<'js>) = (hooks.get("emit")?, hooks.get("captures")?);
        let head = |name: &str| hooks.get::<_, Value<'js>>(name).map(|method| Persistent::save(ctx, method));
        Ok(Self {
            head: [head("writeHead")?, head("implicitHeader")?, head("storeHeader")?],
            said: [head("setHeader")?, head("getHeader")?, head("endReply")?],
            request: function("request")?,
            body: function("body")?,
            pending: function("pending")?,
            emit: Persistent::save(ctx, emit),
            names: Names::new(ctx, &captures),
            all: Persistent::save(ctx, hooks),
        })
    }
}

/// A server and what the objects of its messages inherit from.
pub(super) struct Objects {
    pub(super) server: Persistent<Object<'static>>,
    pub(super) request: Persistent<Object<'static>>,
    pub(super) response: Persistent<Object<'static>>,
}

/// Calls the listener for a usual request, `req`, on `line`; `false`, and nothing has happened, if its server is an unusual one.
/// Its body, if it `has_body`, comes later. The exchange's number is below 2^31.
pub(super) fn usual<'js>(
    ctx: &Ctx<'js>,
    hooks: &Hooks,
    objects: &Objects,
    line: &Object<'js>,
    req: &Object<'js>,
    exchange: u32,
    has_body: bool,
) -> Result<bool> {
    let names = &hooks.names;
    let raw = ctx.as_raw().as_ptr();
    let server = objects.server.clone().restore(ctx)?;
    let served = held(&server);
    let (line, req) = (held(line), held(req));
    let is_usual = served.get(names.particular).is_false()
        && served.get(names.requests_max).int() == Some(0)
        && line.get(names.socket).is_nothing();
    if !is_usual {
        return Ok(false);
    }
    let exchange = int(exchange);
    let response = objects.response.clone().restore(ctx)?;
    // SAFETY: the context is live, and so is the prototype; the object is owned.
    let res = unsafe { Held::new(raw, qjs::JS_NewObjectProto(raw, response.as_value().as_raw())) };
    let made = res.is_object()
        && res.define(names.req, req.share())
        && res.define(names.line, line.share())
        && res.define(names.exchange, exchange)
        && res.define(names.keep_alive_timeout, served.get(names.server_timeout).share())
        && req.define(names.line, line.share())
        && req.define(names.exchange, exchange)
        && req.define(names.res, res.share())
        && (!has_body || req.define(names.body_done, qjs::JS_FALSE))
        && line.set(names.current, res.share())
        && line.set(names.requests, int(line.get(names.requests).int().unwrap_or_default().wrapping_add(1) as u32));
    if !made {
        return Err(Error::Exception);
    }
    let called = emit(ctx, hooks, &server, &served, &req, &res);
    // Whoever looks later finds a request that has come whole. One that was answered says so already.
    if !has_body && res.get(names.exchange).int().is_some_and(|exchange| exchange >= 0) {
        req.set(names.complete, qjs::JS_TRUE);
    }
    called.map(|_| true)
}

/// `server.emit("request", req, res)`: the one listener that servers usually have is called directly.
fn emit<'js>(
    ctx: &Ctx<'js>,
    hooks: &Hooks,
    server: &Object<'js>,
    served: &Held,
    req: &Held,
    res: &Held,
) -> Result<Held> {
    let names = &hooks.names;
    let raw = ctx.as_raw().as_ptr();
    let emit = served.get(names.emit);
    let plain = hooks.emit.clone().restore(ctx)?;
    let this = server.as_value().as_raw();
    if emit.is(plain.as_raw()) && !served.get(names.captures).is_true() {
        let events = served.get(names.events);
        if events.is_object() {
            let listener = events.get(names.request);
            if listener.is_function() {
                return call(raw, &listener, this, &mut [req.raw(), res.raw()]);
            }
        }
    }
    // SAFETY: the atom is live; the string is owned.
    let name = unsafe { Held::new(raw, qjs::JS_AtomToValue(raw, names.request)) };
    call(raw, &emit, this, &mut [name.raw(), req.raw(), res.raw()])
}

fn call(raw: *mut qjs::JSContext, function: &Held, this: qjs::JSValue, arguments: &mut [qjs::JSValue]) -> Result<Held> {
    // SAFETY: all values are held by the caller for the length of the call; the result is owned.
    unsafe {
        let result = qjs::JS_Call(raw, function.raw(), this, arguments.len() as i32, arguments.as_mut_ptr());
        if qjs::JS_IsException(result) { Err(Error::Exception) } else { Ok(Held::new(raw, result)) }
    }
}

/// Defines a property that `object` has not yet, as an assignment would make it.
pub(super) fn define(object: &Object<'_>, name: qjs::JSAtom, value: &Value<'_>) -> Result<()> {
    // SAFETY: the value is live; the reference is one more, which QuickJS takes.
    let value = unsafe { qjs::JS_DupValue(object.ctx().as_raw().as_ptr(), value.as_raw()) };
    if held(object).define(name, value) { Ok(()) } else { Err(Error::Exception) }
}

fn held(object: &Object<'_>) -> Held {
    let raw = object.ctx().as_raw().as_ptr();
    // SAFETY: the object is live; the reference is one more.
    unsafe { Held::new(raw, qjs::JS_DupValue(raw, object.as_value().as_raw())) }
}

fn int(number: u32) -> qjs::JSValue {
    qjs::JS_MKVAL(qjs::JS_TAG_INT, number as i32)
}
