//! Numbers in buffers: `readInt32LE` and its siblings.
//!
//! A kind is a width in bytes (0: the program says, 1 to 6) and flags.

use crate::native::direct::{Call, Given};

const WIDTH: u32 = 0x0f;
const SIGNED: u32 = 0x10;
const BIG_ENDIAN: u32 = 0x20;
const FLOAT: u32 = 0x40;
const BIGINT: u32 = 0x80;
/// The most bytes that a program may ask for.
const WIDTH_MAX: usize = 6;

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

/// `(offset, width)`, on a buffer. Where it can't, its `fail` is called with the same, which throws.
pub(super) fn read(call: &Call<'_>) -> Given {
    try_read(call).unwrap_or_else(|| call.pass(call.own(0), 0))
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
    try_write(call).unwrap_or_else(|| call.pass(call.own(0), 0))
}

fn try_write(call: &Call<'_>) -> Option<Given> {
    let mut bytes = call.bytes(call.this())?;
    let (start, width) = place(call, 1, bytes.len())?;
    let bits = if call.kind & BIGINT != 0 {
        call.big_at(0)? as u64
    } else {
        let value = call.at(0).number()?;
        match (call.kind & FLOAT != 0, width) {
            (true, 4) => u64::from((value as f32).to_bits()),
            (true, _) => value.to_bits(),
            (false, _) => {
                let signed = call.kind & SIGNED != 0;
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
