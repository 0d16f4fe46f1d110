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
