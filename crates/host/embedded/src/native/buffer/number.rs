//! Numbers in buffers: `readInt32LE` and its siblings, which are methods of buffers themselves.

use std::ffi::CString;

use rquickjs::{Ctx, Function, Object, Result};

use super::{Buffers, READ, WRITE};
use crate::native::direct::{self, Call, Given};

/// A kind is a width in bytes (0: the program says, 1 to 6) and flags.
const WIDTH: u32 = 0x0f;
const SIGNED: u32 = 0x10;
const BIG_ENDIAN: u32 = 0x20;
const FLOAT: u32 = 0x40;
const BIGINT: u32 = 0x80;
/// The most bytes that a program may ask for.
const WIDTH_MAX: usize = 6;

const KINDS: &[(&str, u32)] = &[
    ("UInt8", 1),
    ("Int8", 1 | SIGNED),
    ("UInt16LE", 2),
    ("UInt16BE", 2 | BIG_ENDIAN),
    ("Int16LE", 2 | SIGNED),
    ("Int16BE", 2 | SIGNED | BIG_ENDIAN),
    ("UInt32LE", 4),
    ("UInt32BE", 4 | BIG_ENDIAN),
    ("Int32LE", 4 | SIGNED),
    ("Int32BE", 4 | SIGNED | BIG_ENDIAN),
    ("UIntLE", 0),
    ("UIntBE", BIG_ENDIAN),
    ("IntLE", SIGNED),
    ("IntBE", SIGNED | BIG_ENDIAN),
    ("FloatLE", 4 | FLOAT),
    ("FloatBE", 4 | FLOAT | BIG_ENDIAN),
    ("DoubleLE", 8 | FLOAT),
    ("DoubleBE", 8 | FLOAT | BIG_ENDIAN),
    ("BigInt64LE", 8 | BIGINT | SIGNED),
    ("BigInt64BE", 8 | BIGINT | SIGNED | BIG_ENDIAN),
    ("BigUInt64LE", 8 | BIGINT),
    ("BigUInt64BE", 8 | BIGINT | BIG_ENDIAN),
];

/// Defines all methods on `prototype`. What can't be read or written goes to `no_read(kind, offset, width)` and
/// `no_write(kind, value, offset, width)`, which throw, or give what the method gives.
pub(super) fn define<'js>(
    ctx: Ctx<'js>,
    prototype: Object<'js>,
    no_read: Function<'js>,
    no_write: Function<'js>,
) -> Result<()> {
    for (name, kind) in KINDS {
        for (verb, length, body, fail) in [("read", 0, READ, &no_read), ("write", 1, WRITE, &no_write)] {
            let full = format!("{verb}{name}");
            let title = CString::new(full.as_str()).unwrap_or_default();
            let data = [fail.clone().into_value()];
            let made = direct::function::<Buffers>(&ctx, &title, (length, body, *kind), &data)?;
            if name.contains("UInt") {
                prototype.set(full.replace("UInt", "Uint"), made.clone())?;
            }
            prototype.set(full, made)?;
        }
    }
    Ok(())
}

/// Where a number is: from which byte on, and how wide it is.
fn place(call: &Call<'_>, offset_at: usize, length: usize) -> Option<(usize, usize)> {
    let fixed = (call.kind & WIDTH) as usize;
    let offset = call.at(offset_at);
    let (start, width) = if fixed == 0 {
        (offset.whole()?, call.at(offset_at + 1).whole().filter(|width| (1..=WIDTH_MAX).contains(width))?)
    } else {
        (if offset.is_undefined() { 0 } else { offset.whole()? }, fixed)
    };
    (start.checked_add(width)? <= length).then_some((start, width))
}

/// `(offset, width)`, on a buffer.
pub(super) fn read(call: &Call<'_>) -> Given {
    try_read(call).unwrap_or_else(|| fail(call))
}

fn fail(call: &Call<'_>) -> Given {
    let kind = Given::number(f64::from(call.kind));
    call.call(call.own(0), &[kind.seen(), call.at(0), call.at(1), call.at(2)])
}

fn try_read(call: &Call<'_>) -> Option<Given> {
    let bytes = call.bytes(call.this())?;
    let (start, width) = place(call, 0, bytes.len())?;
    let mut eight = [0; 8];
    // Little-endian, at the lower end.
    for (to, from) in eight.iter_mut().zip(bytes.read().get(start..start + width)?) {
        *to = *from;
    }
    if call.kind & BIG_ENDIAN != 0 {
        eight.get_mut(..width)?.reverse();
    }
    let bits = u64::from_le_bytes(eight);
    if call.kind & FLOAT != 0 {
        return Some(Given::number(if width == 4 {
            f64::from(f32::from_bits(bits as u32))
        } else {
            f64::from_bits(bits)
        }));
    }
    let unused = 64 - 8 * width;
    Some(match (call.kind & BIGINT != 0, call.kind & SIGNED != 0) {
        (true, true) => call.big(bits as i64),
        (true, false) => call.big_unsigned(bits),
        (false, true) => Given::number(((bits << unused) as i64 >> unused) as f64),
        (false, false) => Given::number(bits as f64),
    })
}

/// `(value, offset, width)`, on a buffer: the offset behind what was written.
pub(super) fn write(call: &Call<'_>) -> Given {
    try_write(call).unwrap_or_else(|| fail(call))
}

fn try_write(call: &Call<'_>) -> Option<Given> {
    let mut bytes = call.bytes(call.this())?;
    let (start, width) = place(call, 1, bytes.len())?;
    let signed = call.kind & SIGNED != 0;
    let bits = if call.kind & BIGINT != 0 {
        call.big_at(0, signed)?
    } else {
        let value = call.at(0).number()?;
        match (call.kind & FLOAT != 0, width) {
            (true, 4) => u64::from((value as f32).to_bits()),
            (true, _) => value.to_bits(),
            (false, _) => {
                let (least, most) = range(width, signed);
                if value < least || value > most {
                    return None;
                }
                value as i64 as u64
            }
        }
    };
    let eight = bits.to_le_bytes();
    let to = bytes.write().get_mut(start..start + width)?;
    to.iter_mut().zip(eight).for_each(|(to, from)| *to = from);
    if call.kind & BIG_ENDIAN != 0 {
        to.reverse();
    }
    Some(Given::number((start + width) as f64))
}

fn range(width: usize, signed: bool) -> (f64, f64) {
    let bits = 8 * width as i32;
    if signed { (-2_f64.powi(bits - 1), 2_f64.powi(bits - 1) - 1.0) } else { (0.0, 2_f64.powi(bits) - 1.0) }
}
