//! What node:buffer does on bytes: encodings, searching, copying, and numbers.

mod encoding;
mod number;

use std::cmp::Ordering;
use std::ffi::CStr;

use memchr::memmem;
use rquickjs::function::Func;
use rquickjs::{Ctx, Object, Result, Value};

use super::direct::{self, Body, Bytes, Call, Given, Table};
use encoding::Encoding;

struct Buffers;

impl Table for Buffers {
    const BODIES: &'static [Body] = &[
        encode,
        decode,
        write,
        byte_length,
        fill,
        index_of,
        compare,
        copy,
        swap,
        concat,
        is_utf8,
        is_ascii,
        number::read,
        number::write,
    ];
}

const NAMES: &[(&CStr, i32)] = &[
    (c"encode", 3),
    (c"decode", 4),
    (c"write", 5),
    (c"byteLength", 2),
    (c"fill", 4),
    (c"indexOf", 5),
    (c"compare", 6),
    (c"copy", 5),
    (c"swap", 2),
    (c"concat", 3),
    (c"isUtf8", 1),
    (c"isAscii", 1),
];
const READ: u8 = 12;
const WRITE: u8 = 13;

pub(super) fn make<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let group = Object::new(ctx.clone())?;
    let base: Value<'js> = ctx.globals().get("Uint8Array")?;
    for (at, (name, length)) in NAMES.iter().enumerate() {
        let made = direct::function::<Buffers>(ctx, name, (*length, at as u8, 0), std::slice::from_ref(&base))?;
        group.set(name.to_str().unwrap_or_default(), made)?;
    }
    group.set("numbers", Func::from(number::define))?;
    Ok(group)
}

/// `(Class, string, encoding)`: its bytes in a new array.
fn encode(call: &Call<'_>) -> Given {
    let encoding = Encoding::of(call.index(2, 0));
    encoding.with_bytes(call, 1, |bytes| {
        let made = call.make(0, bytes.len());
        if made.is_exception() {
            return made;
        }
        if let Some(mut to) = call.bytes(made.seen())
            && let Some(to) = to.write().get_mut(..bytes.len())
        {
            to.copy_from_slice(bytes);
        }
        made
    })
}

/// `(bytes, encoding, start, end)`: a string.
fn decode(call: &Call<'_>) -> Given {
    let Some(bytes) = call.bytes(call.at(0)) else { return Given::UNDEFINED };
    let (start, end) = (call.index(2, 0), call.index(3, bytes.len()).min(bytes.len()));
    let part = bytes.read().get(start..end).unwrap_or(&[]);
    Encoding::of(call.index(1, 0)).decode(call, part)
}

/// `(bytes, string, offset, length, encoding)`: how many bytes were written, whole characters only.
fn write(call: &Call<'_>) -> Given {
    let Some(mut bytes) = call.bytes(call.at(0)) else { return Given::UNDEFINED };
    let encoding = Encoding::of(call.index(4, 0));
    encoding.with_bytes(call, 1, |from| {
        let offset = call.index(2, 0).min(bytes.len());
        let room = call.index(3, usize::MAX).min(bytes.len() - offset);
        let from = encoding.cut(from, room);
        if let Some(to) = bytes.write().get_mut(offset..offset + from.len()) {
            to.copy_from_slice(from);
        }
        Given::number(from.len() as f64)
    })
}

/// `(string, encoding)`: the number of its bytes.
fn byte_length(call: &Call<'_>) -> Given {
    match call.text(0) {
        Some(text) => Given::number(text.bytes().len() as f64),
        None => Given::UNDEFINED,
    }
}

/// `(bytes, pattern, start, end)`
fn fill(call: &Call<'_>) -> Given {
    let (Some(mut bytes), Some(pattern)) = (call.bytes(call.at(0)), call.bytes(call.at(1))) else {
        return Given::UNDEFINED;
    };
    // They may be parts of one buffer.
    let pattern = pattern.read().to_vec();
    let (start, end) = (call.index(2, 0), call.index(3, bytes.len()).min(bytes.len()));
    if let (Some(to), false) = (bytes.write().get_mut(start..end), pattern.is_empty()) {
        for chunk in to.chunks_mut(pattern.len()) {
            chunk.iter_mut().zip(&pattern).for_each(|(to, from)| *to = *from);
        }
    }
    Given::UNDEFINED
}

/// `(bytes, wanted, offset, forward, step)`: where it is, or -1. A step of 2 finds units of two bytes.
fn index_of(call: &Call<'_>) -> Given {
    let (Some(bytes), Some(wanted)) = (call.bytes(call.at(0)), call.bytes(call.at(1))) else { return Given::UNDEFINED };
    let (hay, needle, offset) = (bytes.read(), wanted.read(), call.index(2, 0));
    let step = call.index(4, 1).max(1);
    let found =
        if call.at(3).is_true() { forward(hay, needle, offset, step) } else { backward(hay, needle, offset, step) };
    Given::number(found.map_or(-1.0, |at| at as f64))
}

fn forward(hay: &[u8], needle: &[u8], offset: usize, step: usize) -> Option<usize> {
    let finder = memmem::Finder::new(needle);
    let mut from = offset;
    loop {
        let at = from + finder.find(hay.get(from..)?)?;
        if at.is_multiple_of(step) {
            return Some(at);
        }
        from = at + 1;
    }
}

fn backward(hay: &[u8], needle: &[u8], offset: usize, step: usize) -> Option<usize> {
    let finder = memmem::FinderRev::new(needle);
    let mut end = offset.saturating_add(needle.len()).min(hay.len());
    loop {
        let at = finder.rfind(hay.get(..end)?)?;
        if at.is_multiple_of(step) {
            return Some(at);
        }
        end = at + needle.len() - 1;
    }
}

/// `(one, other, oneStart, oneEnd, otherStart, otherEnd)`: -1, 0 or 1.
fn compare(call: &Call<'_>) -> Given {
    let (Some(one), Some(other)) = (call.bytes(call.at(0)), call.bytes(call.at(1))) else { return Given::UNDEFINED };
    let part = |bytes: &Bytes, at: usize| {
        let (start, end) = (call.index(at, 0), call.index(at + 1, bytes.len()).min(bytes.len()));
        start.min(end)..end
    };
    let (first, second) = (part(&one, 2), part(&other, 4));
    let order = one.read().get(first).cmp(&other.read().get(second));
    Given::number(match order {
        Ordering::Less => -1.0,
        Ordering::Equal => 0.0,
        Ordering::Greater => 1.0,
    })
}

/// `(source, target, targetStart, sourceStart, most)`: how many bytes were copied.
fn copy(call: &Call<'_>) -> Given {
    let (Some(source), Some(mut target)) = (call.bytes(call.at(0)), call.bytes(call.at(1))) else {
        return Given::UNDEFINED;
    };
    Given::number(target.copy(call.index(2, 0), &source, call.index(3, 0), call.index(4, usize::MAX)) as f64)
}

/// `(bytes, width)`: turns the bytes of each number around.
fn swap(call: &Call<'_>) -> Given {
    let Some(mut bytes) = call.bytes(call.at(0)) else { return Given::UNDEFINED };
    bytes.write().chunks_exact_mut(call.index(1, 1).max(1)).for_each(<[u8]>::reverse);
    Given::UNDEFINED
}

/// `(Class, list, total)`: one array of all; undefined if the list has something else than arrays of bytes.
fn concat(call: &Call<'_>) -> Given {
    let list = call.at(1);
    let Some(count) = call.length(list) else { return Given::THROWN };
    let mut sum = 0;
    for at in 0..count {
        let one = call.element(list, at);
        if one.is_exception() {
            return one;
        }
        let length = call.bytes(one.seen()).map(|bytes| bytes.len());
        call.free(one);
        let Some(length) = length else { return Given::UNDEFINED };
        sum += length;
    }
    let made = call.make(0, call.index(2, sum));
    if made.is_exception() {
        return made;
    }
    let mut filled = 0;
    for at in 0..count {
        let one = call.element(list, at);
        if let (Some(from), Some(mut to)) = (call.bytes(one.seen()), call.bytes(made.seen())) {
            filled += to.copy(filled, &from, 0, usize::MAX);
        }
        call.free(one);
    }
    made
}

fn is_utf8(call: &Call<'_>) -> Given {
    Given::bool(call.bytes(call.at(0)).is_some_and(|bytes| std::str::from_utf8(bytes.read()).is_ok()))
}

fn is_ascii(call: &Call<'_>) -> Given {
    Given::bool(call.bytes(call.at(0)).is_some_and(|bytes| bytes.read().is_ascii()))
}
