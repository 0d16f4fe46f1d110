//! What kind of object a value is, whatever its prototype says.

use rquickjs::convert::List;
use rquickjs::function::Func;
use rquickjs::{Ctx, Object, Result, Value};

pub(super) fn make<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let group = Object::new(ctx.clone())?;
    // The number of a value's class; equal for two objects of one kind, 0 for what is no object.
    group.set("kind", Func::from(|value: Value<'js>| kind(&value)))?;
    // 0 pending, 1 fulfilled, 2 rejected, and the value, of a promise.
    group.set("promise", Func::from(promise))?;
    // Target and handler of a proxy.
    group.set("proxy", Func::from(proxy))?;
    Ok(group)
}

#[allow(unsafe_code, reason = "only QuickJS knows the classes of objects")]
fn kind(value: &Value<'_>) -> u32 {
    if !value.is_object() {
        return 0;
    }
    // SAFETY: the value is alive, and the function only reads its class.
    unsafe { rquickjs::qjs::JS_GetClassID(value.as_raw()) }
}

fn promise<'js>(ctx: Ctx<'js>, value: rquickjs::Promise<'js>) -> List<(u32, Value<'js>)> {
    use rquickjs::promise::PromiseState;
    let undefined = Value::new_undefined(ctx.clone());
    List(match value.state() {
        PromiseState::Pending => (0, undefined),
        PromiseState::Resolved => (1, settled(&ctx, &value)),
        PromiseState::Rejected => (2, settled(&ctx, &value)),
    })
}

fn settled<'js>(ctx: &Ctx<'js>, promise: &rquickjs::Promise<'js>) -> Value<'js> {
    match promise.result::<Value<'js>>() {
        Some(Ok(value)) => value,
        Some(Err(_)) => ctx.catch(),
        None => Value::new_undefined(ctx.clone()),
    }
}

/// Target and handler of a proxy, `null` both if it was revoked; nothing for what is no proxy.
#[allow(unsafe_code, reason = "only QuickJS sees into proxies")]
fn proxy<'js>(ctx: Ctx<'js>, value: Value<'js>) -> Option<List<(Value<'js>, Value<'js>)>> {
    use rquickjs::qjs::{JS_GetProxyHandler, JS_GetProxyTarget, JS_IsProxy};
    let raw = ctx.as_raw().as_ptr();
    // SAFETY: context and value are live; target and handler are given as values of our own, and `null` for a revoked one is
    // an exception, which `Value::from_raw` is not given.
    unsafe {
        if !JS_IsProxy(value.as_raw()) {
            return None;
        }
        let target = JS_GetProxyTarget(raw, value.as_raw());
        let handler = JS_GetProxyHandler(raw, value.as_raw());
        if rquickjs::qjs::JS_IsException(target) || rquickjs::qjs::JS_IsException(handler) {
            let _ = ctx.catch();
            return Some(List((Value::new_null(ctx.clone()), Value::new_null(ctx))));
        }
        Some(List((Value::from_raw(ctx.clone(), target), Value::from_raw(ctx, handler))))
    }
}
