//! This thread's side of its lane: the memory it lends, the replies it sends.
#![allow(unsafe_code)]

use std::cell::RefCell;
use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use leat_script::{Batch, Buffer, Given, Lent, Port, Published, REPLY_WORDS, Slab};
use napi::sys;

use crate::engine::Engine;
use crate::error::{Coded, coded, from_io};
use crate::wake::{Bell, Ring};

/// Buffers from this length on are sent from where they are, and kept until they are sent. JavaScript waits for the engine's
/// word before it tells a program that such a buffer is its own again (`LENT_BYTES_MIN` in `packages/leat`).
const LENT_BYTES_MIN: usize = 64 * 1024;

/// Words that tell one part of what was published.
const PART_WORDS: usize = 3;

/// One of this thread's lanes. There is one for each copy of the package that runs here: two versions, or one that a test
/// runner loads anew for each file.
struct Attached {
    /// The engine's number for the lane.
    lane: u64,
    port: Port,
    bell: Arc<Bell>,
    /// The records of `flush`; JavaScript keeps the array for as long as its thread lives.
    words: Words,
    /// Where `take` tells what was published: a slab's number, the first byte and the one past the last, for each part.
    parts: Words,
}

/// An array of JavaScript's that both sides know.
#[derive(Clone, Copy)]
struct Words {
    start: NonNull<u32>,
    len: usize,
}

thread_local! {
    /// Not dropped with the thread: where the process just exits, Node calls no hook, and the engine still runs.
    static ATTACHED: RefCell<Vec<ManuallyDrop<Attached>>> = const { RefCell::new(Vec::new()) };
}

/// Looks at one of this thread's lanes, by the number that `attach` gave.
fn with<R>(lane: u32, use_it: impl FnOnce(&mut Attached) -> Result<R, Coded>) -> Result<R, Coded> {
    ATTACHED.with_borrow_mut(|attached| match attached.get_mut(lane as usize) {
        Some(attached) => use_it(attached),
        None => Err(coded("LEAT_NOT_ATTACHED", "this thread has no such lane: call attach first")),
    })
}

/// The engine's number for a lane of this thread.
pub(crate) fn engine_lane(lane: u32) -> Result<u64, Coded> {
    with(lane, |attached| Ok(attached.lane))
}

/// Opens a lane for this thread; gives its number, and the descriptor that tells of batches.
pub(crate) fn attach(env: sys::napi_env, words: sys::napi_value, parts: sys::napi_value) -> Result<(u32, i32), Coded> {
    let (words, parts) = (words_of(env, words)?, words_of(env, parts)?);
    let number = ATTACHED.with_borrow(Vec::len) as u32;
    let engine = Engine::get()?;
    let (bell, heard) = Bell::new().map_err(|error| from_io(&error))?;
    let (seed, port) = leat_script::lane(Box::new(Ring(Arc::clone(&bell))));
    let lane = engine.attach(seed);
    ATTACHED.with_borrow_mut(|list| list.push(ManuallyDrop::new(Attached { lane, port, bell, words, parts })));
    if number == 0 {
        // SAFETY: on the thread of `env`; the hook takes no data, so there is nothing to outlive.
        unsafe { sys::napi_add_env_cleanup_hook(env, Some(on_end), ptr::null_mut()) };
    }
    Ok((number, heard))
}

fn words_of(env: sys::napi_env, words: sys::napi_value) -> Result<Words, Coded> {
    let (start, len, element) = typed_array(env, words)?;
    let start = NonNull::new(start.cast::<u32>())
        .filter(|_| element == sys::TypedarrayType::uint32_array)
        .ok_or_else(|| coded("LEAT_ARGUMENT", "expected a Uint32Array"))?;
    Ok(Words { start, len })
}

/// The thread ends: its memory goes away, so the engine must have let go of it. Better a thread that does not end than an
/// engine that writes to what belongs to somebody else.
unsafe extern "C" fn on_end(_: *mut c_void) {
    for attached in ATTACHED.take().into_iter().map(ManuallyDrop::into_inner) {
        attached.port.close(|| eprintln!("leat: a thread can't end, since the engine still uses its memory"));
        attached.bell.end();
    }
}

/// Names a place that calls of a lane may go to; gives its number.
pub(crate) fn name_destination(lane: u32, given: Given) -> Result<u32, Coded> {
    with(lane, |attached| Ok(attached.port.name_destination(given)))
}

/// Lends a slab. JavaScript keeps the array until it has been filled, so its memory stays.
pub(crate) fn supply(env: sys::napi_env, lane: u32, slab: sys::napi_value) -> Result<(), Coded> {
    let slab = slab_of(env, slab)?;
    with(lane, |attached| attached.port.supply(slab).map_err(|_| coded("LEAT_ARGUMENT", "more slabs than may be lent")))
}

/// Lends a slab for a long piece of a body.
pub(crate) fn supply_body(env: sys::napi_env, lane: u32, slab: sys::napi_value) -> Result<(), Coded> {
    let slab = slab_of(env, slab)?;
    with(lane, |attached| {
        attached.port.supply_body(slab).map_err(|_| coded("LEAT_ARGUMENT", "more slabs than may be lent"))
    })
}

fn slab_of(env: sys::napi_env, slab: sys::napi_value) -> Result<Slab, Coded> {
    let (start, len, _) = typed_array(env, slab)?;
    let start = NonNull::new(start).ok_or_else(|| coded("LEAT_ARGUMENT", "an empty slab"))?;
    // SAFETY: the memory of an array stays where it is; JavaScript holds this one and never writes to it before it was
    // filled, and `on_end` waits for the engine before the thread's memory goes.
    Ok(unsafe { Slab::new(start, len) })
}

/// Begins a turn: takes what was published up to now, as far as there is room to tell it. Gives the number of parts. A turn
/// of which nothing was taken is over.
pub(crate) fn take(lane: u32) -> Result<u32, Coded> {
    with(lane, |attached| {
        let until = attached.port.begin_turn();
        // SAFETY: JavaScript keeps the array, and neither reads nor writes it during this call.
        let parts = unsafe { std::slice::from_raw_parts_mut(attached.parts.start.as_ptr(), attached.parts.len) };
        let mut count = 0;
        for part in parts.as_chunks_mut::<PART_WORDS>().0 {
            let Some(Published { slab, from, to }) = attached.port.take(until) else { break };
            *part = [slab, from, to];
            count += 1;
        }
        if count == 0 {
            attached.port.end_turn();
        }
        Ok(count)
    })
}

/// Sends a turn's replies and ends the turn.
pub(crate) fn flush(
    env: sys::napi_env,
    lane: u32,
    count: u32,
    text: sys::napi_value,
    buffers: sys::napi_value,
) -> Result<(), Coded> {
    with(lane, |attached| {
        let mut filled = Ok(());
        if count > 0 {
            let mut batch = attached.port.batch();
            filled = fill(env, attached, &mut batch, count as usize, text, buffers);
            match filled {
                Ok(()) => attached.port.send(batch),
                // It goes nowhere, so nobody else gives back what it keeps.
                Err(_) => let_go(env, batch.tokens()),
            }
        }
        attached.port.end_turn();
        let_go(env, attached.port.returned());
        filled
    })
}

fn fill(
    env: sys::napi_env,
    attached: &Attached,
    batch: &mut Batch,
    count: usize,
    text: sys::napi_value,
    buffers: sys::napi_value,
) -> Result<(), Coded> {
    let words_len = count * REPLY_WORDS;
    if words_len > attached.words.len {
        return Err(coded("LEAT_ARGUMENT", "more records than words"));
    }
    // SAFETY: within the array, which JavaScript does not write to during this call.
    let words = unsafe { std::slice::from_raw_parts(attached.words.start.as_ptr(), words_len) };
    batch.words.extend_from_slice(words);
    let text_len: usize =
        words.chunks_exact(REPLY_WORDS).filter_map(|record| record.get(2)).map(|&len| len as usize).sum();
    // One more for the NUL that Node-API writes.
    batch.bytes.reserve(text_len + 1);
    let mut written = 0;
    // SAFETY: the memory has room for `text_len` bytes and the NUL; what is written is made part of the vector.
    unsafe {
        let start = batch.bytes.as_mut_ptr().cast();
        sys::napi_get_value_string_latin1(env, text, start, text_len + 1, &mut written);
        batch.bytes.set_len(written);
    }
    if written != text_len {
        return Err(coded("LEAT_ARGUMENT", "the text is shorter than the records say"));
    }
    batch.text_bytes = text_len;
    let mut list_len = 0;
    // SAFETY: a value of this call's scope; for anything but an array the length stays 0.
    unsafe { sys::napi_get_array_length(env, buffers, &mut list_len) };
    for index in 0..list_len {
        let mut buffer = ptr::null_mut();
        // SAFETY: as above.
        unsafe { sys::napi_get_element(env, buffers, index, &mut buffer) };
        let (start, len, _) = typed_array(env, buffer)?;
        if let Some(start) = NonNull::new(start).filter(|_| len >= LENT_BYTES_MIN) {
            let token = keep(env, buffer)?;
            // SAFETY: the reference keeps the array, whose memory stays where it is; it is let go when the token comes back.
            batch.buffers.push(Buffer::Lent(unsafe { Lent::new(start, len, token) }));
            continue;
        }
        if let Some(start) = NonNull::new(start) {
            // SAFETY: the bytes of an array that JavaScript does not touch during this call.
            batch.bytes.extend_from_slice(unsafe { std::slice::from_raw_parts(start.as_ptr(), len) });
        }
        batch.buffers.push(Buffer::Copied(len));
    }
    Ok(())
}

/// A reference that keeps a value alive, as a token.
fn keep(env: sys::napi_env, value: sys::napi_value) -> Result<usize, Coded> {
    let mut reference = ptr::null_mut();
    // SAFETY: a value of this call's scope.
    let status = unsafe { sys::napi_create_reference(env, value, 1, &mut reference) };
    if status != sys::Status::napi_ok {
        return Err(coded("LEAT_NODE_API", "Node-API gave no reference"));
    }
    Ok(reference as usize)
}

/// Lets go of buffers that are not sent, or were.
fn let_go(env: sys::napi_env, tokens: impl IntoIterator<Item = usize>) {
    for token in tokens {
        // SAFETY: a reference that `keep` made, and that comes back once.
        unsafe { sys::napi_delete_reference(env, token as sys::napi_ref) };
    }
}

/// Start, length in elements and kind of a typed array.
fn typed_array(
    env: sys::napi_env,
    value: sys::napi_value,
) -> Result<(*mut u8, usize, sys::napi_typedarray_type), Coded> {
    let (mut kind, mut len, mut data) = (0, 0, ptr::null_mut());
    // SAFETY: out-parameters of this frame; a value of another type is told by the status.
    let status = unsafe {
        sys::napi_get_typedarray_info(env, value, &mut kind, &mut len, &mut data, ptr::null_mut(), ptr::null_mut())
    };
    if status != sys::Status::napi_ok {
        return Err(coded("LEAT_ARGUMENT", "expected a typed array"));
    }
    Ok((data.cast(), len, kind))
}

/// Reports an error as uncaught.
pub(crate) fn fatal(env: sys::napi_env, error: sys::napi_value) {
    // SAFETY: on the thread of `env`, with a value of the current scope.
    unsafe { sys::napi_fatal_exception(env, error) };
}
