//! Fields of a request as `req.headers` has them: names in lower case, of a field that comes twice the first, all as a list, or all
//! joined, as Node does it.

use rquickjs::{Array, Ctx, Object, Result, Value};

use super::head::{RequestHead, text};

/// What Node does with a field that comes again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Again {
    /// The first one counts.
    First,
    /// Joined by `, `.
    Comma,
    /// Joined by `; `.
    Semicolon,
    /// A list.
    List,
}

/// Names of which only the first field counts.
const FIRST: &[&str] = &[
    "age",
    "authorization",
    "content-length",
    "content-type",
    "etag",
    "expires",
    "from",
    "host",
    "if-modified-since",
    "if-unmodified-since",
    "last-modified",
    "location",
    "max-forwards",
    "proxy-authorization",
    "referer",
    "retry-after",
    "server",
    "user-agent",
];

fn again(name: &[u8], joined: bool) -> Again {
    match name {
        b"set-cookie" => Again::List,
        b"cookie" => Again::Semicolon,
        _ if !joined && FIRST.iter().any(|first| first.as_bytes() == name) => Again::First,
        _ => Again::Comma,
    }
}

/// `req.headers` of the first `max` fields (0: of all).
pub(super) fn object<'js>(ctx: &Ctx<'js>, head: &RequestHead, joined: bool, max: usize) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    let max = if max == 0 { head.count() } else { max };
    let mut lower = Vec::with_capacity(32);
    for (at, (_, name, value)) in head.fields().take(max).enumerate() {
        lower.clear();
        lower.extend(name.iter().map(u8::to_ascii_lowercase));
        // Node's objects take none of that name.
        if lower == b"__proto__" {
            continue;
        }
        let earlier = head.fields().take(at).any(|(_, other, _)| other.eq_ignore_ascii_case(name));
        let value = text(ctx, value)?;
        let key = std::str::from_utf8(&lower).unwrap_or_default();
        match again(&lower, joined) {
            Again::List if earlier => {
                let list: Array<'js> = object.get(key)?;
                list.set(list.len(), value)?;
            }
            Again::List => {
                let list = Array::new(ctx.clone())?;
                list.set(0, value)?;
                object.set(key, list)?;
            }
            Again::First if earlier => {}
            kind if earlier => {
                let before: String = object.get(key)?;
                let between = if kind == Again::Semicolon { "; " } else { ", " };
                object.set(key, format!("{before}{between}{}", value.to_string()?))?;
            }
            _ => object.set(key, value)?,
        }
    }
    Ok(object)
}

/// One of them; `undefined` if there is none.
pub(super) fn one<'js>(ctx: &Ctx<'js>, head: &RequestHead, name: &str) -> Result<Value<'js>> {
    let wanted = name.as_bytes();
    let mut found = head.fields().filter(|(_, other, _)| other.eq_ignore_ascii_case(wanted)).map(|(_, _, value)| value);
    let Some(first) = found.next() else { return Ok(Value::new_undefined(ctx.clone())) };
    let kind = again(wanted, false);
    if kind == Again::List {
        let list = Array::new(ctx.clone())?;
        for (at, value) in std::iter::once(first).chain(found).enumerate() {
            list.set(at, text(ctx, value)?)?;
        }
        return Ok(list.into_value());
    }
    let mut whole = std::borrow::Cow::Borrowed(first);
    if kind != Again::First {
        for value in found {
            let between: &[u8] = if kind == Again::Semicolon { b"; " } else { b", " };
            let joined = whole.to_mut();
            joined.extend_from_slice(between);
            joined.extend_from_slice(value);
        }
    }
    Ok(text(ctx, &whole)?.into_value())
}
