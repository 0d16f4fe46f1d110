//! What a request's object has inside: its head, and the functions that read it. Nothing of it becomes a string before somebody
//! asks.

use leat_message::{Field, Head, Length, Name, RequestLines, Version};
use rquickjs::class::{JsClass, Readable, Trace, Tracer};
use rquickjs::function::Func;
use rquickjs::{Array, Class, Ctx, JsLifetime, Object, Result, String, Value};

use super::call::define;
use super::fields;
use super::names::Names;

/// A copy of a request's head. One allocation for its bytes, one for its spans.
#[derive(Clone, Debug, JsLifetime)]
pub(crate) struct RequestHead {
    bytes: Box<[u8]>,
    lines: RequestLines,
}

impl<'js> Trace<'js> for RequestHead {
    fn trace<'a>(&self, _tracer: Tracer<'a, 'js>) {}
}

impl<'js> JsClass<'js> for RequestHead {
    const NAME: &'static str = "IncomingMessage";
    type Mutable = Readable;

    fn prototype(_ctx: &Ctx<'js>) -> Result<Option<Object<'js>>> {
        Ok(None)
    }

    fn constructor(_ctx: &Ctx<'js>) -> Result<Option<rquickjs::function::Constructor<'js>>> {
        Ok(None)
    }
}

impl RequestHead {
    /// Copies a head.
    pub(super) fn copy(head: Head<'_>) -> Self {
        Self { bytes: head.bytes().into(), lines: head.lines().clone() }
    }

    pub(super) fn fields(&self) -> impl Iterator<Item = (&Field, &[u8], &[u8])> {
        self.lines.fields.iter().map(|field| (field, field.name.of(&self.bytes), field.value.of(&self.bytes)))
    }

    pub(super) fn count(&self) -> usize {
        self.lines.fields.len()
    }
}

/// The request object of a head, with `url` and `method` of its own.
pub(super) fn object<'js>(
    ctx: &Ctx<'js>,
    names: &Names,
    prototype: Object<'js>,
    head: Head<'_>,
) -> Result<Object<'js>> {
    let object = Class::instance_proto(RequestHead::copy(head), prototype)?.into_inner();
    let url = text(ctx, head.target())?;
    let method = match head.method_bytes() {
        b"GET" => names.string(ctx, names.get),
        b"POST" => names.string(ctx, names.post),
        other => text(ctx, other)?.into_value(),
    };
    define(&object, names.url, url.as_value())?;
    define(&object, names.method, &method)?;
    Ok(object)
}

/// Bytes as text, one character a byte.
pub(super) fn text<'js>(ctx: &Ctx<'js>, bytes: &[u8]) -> Result<String<'js>> {
    match std::str::from_utf8(bytes) {
        Ok(ascii) if ascii.is_ascii() => String::from_str(ctx.clone(), ascii),
        _ => {
            let wide: std::string::String = bytes.iter().map(|&byte| char::from(byte)).collect();
            String::from_str(ctx.clone(), &wide)
        }
    }
}

/// Functions over the head of a request object; of any other object they know nothing, and say `undefined`.
pub(crate) fn group<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let group = Object::new(ctx.clone())?;
    // `[name, value, …]` as they came.
    group.set("rawHeaders", Func::from(raw_headers))?;
    // As `req.headers` of Node has them; `joined` is the server's joinDuplicateHeaders, `max` how many are looked at.
    group.set("headers", Func::from(headers))?;
    // One of them, by its name in lower case.
    group.set("header", Func::from(header))?;
    // Whether it asks for a reply only if something has changed since.
    group.set("isConditional", Func::from(is_conditional))?;
    // The length of a body that is plain JSON in UTF-8; 0 for all others.
    group.set("jsonBytes", Func::from(json_bytes))?;
    // 10, 11 or 20.
    group.set("version", Func::from(version))?;
    Ok(group)
}

fn head_of<'js>(request: &Value<'js>) -> Option<Class<'js, RequestHead>> {
    request.as_object().and_then(Class::from_object)
}

fn raw_headers<'js>(ctx: Ctx<'js>, request: Value<'js>) -> Result<Option<Array<'js>>> {
    let Some(class) = head_of(&request) else { return Ok(None) };
    let head = class.borrow();
    let array = Array::new(ctx.clone())?;
    for (at, (_, name, value)) in head.fields().enumerate() {
        array.set(at * 2, text(&ctx, name)?)?;
        array.set(at * 2 + 1, text(&ctx, value)?)?;
    }
    Ok(Some(array))
}

fn headers<'js>(ctx: Ctx<'js>, request: Value<'js>, joined: bool, max: usize) -> Result<Option<Object<'js>>> {
    match head_of(&request) {
        Some(class) => fields::object(&ctx, &class.borrow(), joined, max).map(Some),
        None => Ok(None),
    }
}

fn header<'js>(ctx: Ctx<'js>, request: Value<'js>, name: std::string::String) -> Result<Value<'js>> {
    match head_of(&request) {
        Some(class) => fields::one(&ctx, &class.borrow(), &name),
        None => Ok(Value::new_undefined(ctx)),
    }
}

fn version(request: Value<'_>) -> Option<u32> {
    head_of(&request).map(|class| match class.borrow().lines.version {
        Version::Http10 => 10,
        Version::Http11 => 11,
        Version::Http2 => 20,
    })
}

pub(super) fn is_conditional(request: Value<'_>) -> bool {
    let asks =
        |name: &[u8]| name.eq_ignore_ascii_case(b"if-none-match") || name.eq_ignore_ascii_case(b"if-modified-since");
    head_of(&request).is_some_and(|class| class.borrow().fields().any(|(_, name, _)| asks(name)))
}

/// As `wholeBytes` of `packages/leat/src/express/json.ts`.
fn json_bytes(request: Value<'_>) -> u32 {
    let Some(class) = head_of(&request) else { return 0 };
    let head = class.borrow();
    let (mut is_json, mut typed) = (false, false);
    for (field, name, value) in head.fields() {
        match field.id {
            Name::TransferEncoding => return 0,
            // The first one counts.
            Name::ContentType if !typed => (typed, is_json) = (true, is_plain_json(value)),
            _ if name.eq_ignore_ascii_case(b"content-encoding") => return 0,
            _ => {}
        }
    }
    match head.lines.length {
        Length::Known(bytes) if is_json => u32::try_from(bytes).unwrap_or(0),
        _ => 0,
    }
}

/// `application/json`, with the charset of UTF-8 at most.
fn is_plain_json(value: &[u8]) -> bool {
    const TYPE: &[u8] = b"application/json";
    let Some((kind, rest)) = value.split_at_checked(TYPE.len()) else { return false };
    let charset = rest.strip_prefix(b";").map_or(rest, |rest| rest.strip_prefix(b" ").unwrap_or(rest));
    kind.eq_ignore_ascii_case(TYPE)
        && (rest.is_empty() || rest != charset && charset.eq_ignore_ascii_case(b"charset=utf-8"))
}
