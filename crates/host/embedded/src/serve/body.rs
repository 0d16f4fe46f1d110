//! The whole body of a request that came with its head, as JavaScript asks for it: as bytes, or as the value that it is in JSON.

use std::ffi::CStr;

use rquickjs::{Ctx, Result, TypedArray, Value};

use super::http::Http;
use crate::native::direct::{self, Body, Call, Given, Table};

struct Json;

impl Table for Json {
    const BODIES: &'static [Body] = &[|call| json(call).unwrap_or(Given::UNDEFINED)];
}

/// `json(strict)`: the body's value; undefined if there is none, or the body is not plainly that.
pub(super) fn json_function<'js>(ctx: &Ctx<'js>) -> Result<Value<'js>> {
    direct::function::<Json>(ctx, c"json", (1, 0, 0), &[])
}

fn json(call: &Call<'_>) -> Option<Given> {
    let http = Http::of(&call.context()?).ok()?;
    let body = http.body();
    let (_, text) = body.split_last()?;
    // Parsing runs nothing of a program's, so the body stays borrowed. What is wrong with it is said by whoever gets the text.
    if is_json(text, call.at(0).is_true()) { call.parse_json(CStr::from_bytes_with_nul(&body).ok()?) } else { None }
}

/// Whether the text may be given to the parser: UTF-8 without a mark before it, which begins as an object or an array if it must be one.
fn is_json(text: &[u8], strict: bool) -> bool {
    let begins = match text.first() {
        Some(b'{' | b'[') => true,
        _ => !strict && !text.starts_with("\u{feff}".as_bytes()),
    };
    begins && std::str::from_utf8(text).is_ok()
}

/// The body's bytes; none if there is no body.
pub(super) fn bytes<'js>(ctx: Ctx<'js>) -> Result<TypedArray<'js, u8>> {
    let http = Http::of(&ctx)?;
    let body = http.body();
    TypedArray::new_copy(ctx.clone(), body.split_last().map_or(&[][..], |(_, bytes)| bytes))
}
