//! What the lane tells of exchanges and connections, as calls of JavaScript. `leat_script`'s `record.rs` says what the words mean.

use rquickjs::{Array, TypedArray};

use super::head::text;
use super::http::Http;

const DATA: u32 = 2;
const END: u32 = 3;
const GONE: u32 = 4;
const CLOSED: u32 = 6;
const WRITABLE: u32 = 7;
const FAULT: u32 = 8;
const EOF: u32 = 9;
const UNSHAKEN: u32 = 11;

/// Calls for each record of `words`; the same memory as `bytes`, which began at byte `from` of its slab.
pub(super) fn tell(http: &Http, words: &[u32], bytes: &[u8], from: u32) {
    let mut rest = words;
    while let [word, len, ..] = *rest {
        let record = rest.get(..len as usize).unwrap_or(rest);
        one(http, word & 0xff, record, bytes, from);
        // Each record has its two words at least; anything else would be a bug of the lane.
        rest = rest.get((len as usize).max(2)..).unwrap_or_default();
    }
}

fn one(http: &Http, kind: u32, record: &[u32], bytes: &[u8], from: u32) {
    let word = |at: usize| record.get(at).copied().unwrap_or(0);
    let piece = |at: u32, len: u32| {
        let start = at.wrapping_sub(from) as usize;
        bytes.get(start..start + len as usize).unwrap_or_default()
    };
    match kind {
        DATA => http.call("data", |ctx, hook| {
            hook.call((word(2), TypedArray::<u8>::new_copy(ctx.clone(), piece(word(3), word(4)))?))
        }),
        END => http.call("end", |ctx, hook| {
            let count = word(3) as usize;
            if count == 0 {
                return hook.call((word(2),));
            }
            let trailers = Array::new(ctx.clone())?;
            for at in 0..count {
                let span = 4 + at * 4;
                trailers.set(at * 2, text(ctx, piece(word(span), word(span + 1) & 0xffff))?)?;
                trailers.set(at * 2 + 1, text(ctx, piece(word(span + 2), word(span + 3)))?)?;
            }
            hook.call((word(2), trailers))
        }),
        GONE => http.call("gone", |_, hook| hook.call((word(2), word(3)))),
        CLOSED => http.call("closed", |_, hook| hook.call((word(2), word(3)))),
        WRITABLE => http.call("writable", |_, hook| hook.call((word(2),))),
        EOF => http.call("eof", |_, hook| hook.call((word(2),))),
        FAULT => http.call("fault", |ctx, hook| {
            let bytes = TypedArray::<u8>::new_copy(ctx.clone(), piece(word(5), word(6)))?;
            hook.call((word(2), word(3), word(4), bytes))
        }),
        UNSHAKEN => http.call("unshaken", |ctx, hook| {
            let mut at = word(5);
            // As `opened` says it.
            let flags = word(0) >> 10 & 3;
            let parts = Array::new(ctx.clone())?;
            for part in 0..4 {
                let len = word(6 + part);
                parts.set(part, text(ctx, piece(at, len))?)?;
                at += len;
            }
            hook.call((word(2), word(3), word(4), flags, parts))
        }),
        // Connections are told of by a call when they come (`Http::opened`), and requests too.
        _ => {}
    }
}
