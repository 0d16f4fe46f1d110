//! What `node:zlib` is made of: a codec takes bytes and gives at most one chunk at a time, so nothing that is compressed can
//! fill the memory; what it gives is asked for by who reads it.

mod brotli;
mod deflate;
mod zstd;

use rquickjs::class::Trace;
use rquickjs::function::{Func, Opt};
use rquickjs::{Class, Ctx, Function, IntoJs, JsLifetime, Object, Result, TypedArray, Value};

use crate::host::Failure;
use crate::native::{later, view};

type Done<T> = std::result::Result<T, Failure>;

/// Bytes of one step: a larger chunk comes in several.
const STEP_BYTES_MAX: usize = 1 << 24;
/// The first room of an output that is made at once.
const ROOM_BYTES_MIN: usize = 1024;
/// How much of it is added at a time at most.
const ROOM_BYTES_MAX: usize = 1 << 20;

/// What programs want of one step: Node's numbers of zlib, brotli and zstd come down to these.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flush {
    None,
    Partial,
    Sync,
    Full,
    Block,
    Finish,
}

impl Flush {
    fn of(number: i32) -> Self {
        match number {
            1 => Self::Partial,
            2 => Self::Sync,
            3 => Self::Full,
            4 => Self::Finish,
            5 => Self::Block,
            _ => Self::None,
        }
    }
}

/// What came of one step.
struct Step {
    consumed: usize,
    produced: usize,
    /// The compressed data has come to its end; what follows is not a part of it.
    ended: bool,
}

/// What each codec does.
trait Codec: Send {
    /// Takes some of `input` and gives some `output`: until either is used up.
    fn step(&mut self, input: &[u8], flush: Flush, output: &mut [u8]) -> Done<Step>;

    /// Changes level and strategy; false if this codec can't.
    fn params(&mut self, level: i32, strategy: i32) -> bool {
        let _ = (level, strategy);
        false
    }
}

fn codec(mode: i32, settings: &[i32], dictionary: Option<Vec<u8>>) -> Done<Box<dyn Codec>> {
    match mode {
        8 => Ok(Box::new(brotli::Decoder::new())),
        9 => Ok(Box::new(brotli::Encoder::new(settings))),
        10 => zstd::Encoder::new(settings, dictionary).map(|codec| Box::new(codec) as Box<dyn Codec>),
        11 => zstd::Decoder::new(settings, dictionary).map(|codec| Box::new(codec) as Box<dyn Codec>),
        1 | 3 | 5 => deflate::Encoder::new(mode, settings, dictionary).map(|codec| Box::new(codec) as Box<dyn Codec>),
        _ => Ok(Box::new(deflate::Decoder::new(mode, settings, dictionary))),
    }
}

fn failed(message: &str, code: &'static str, errno: i32) -> Failure {
    Failure { message: message.to_owned(), code, errno: Some(errno), ..Failure::default() }
}

/// Compressed data that stops before its end.
fn unexpected_end() -> Failure {
    failed("unexpected end of file", "Z_BUF_ERROR", -5)
}

pub(super) fn make<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let group = Object::new(ctx.clone())?;
    group.set("open", Func::from(open))?;
    group.set("once", Func::from(once))?;
    group.set(
        "crc32",
        Func::from(|bytes: TypedArray<'_, u8>, start: u32| {
            view::read(&bytes, |bytes| zlib_rs::crc32::crc32(start, bytes))
        }),
    )?;
    Ok(group)
}

/// A codec under way.
#[derive(JsLifetime, Trace)]
#[rquickjs::class]
pub(super) struct Engine {
    #[qjs(skip_trace)]
    codec: Box<dyn Codec>,
    /// Bytes of the last step's input that were taken.
    #[qjs(get)]
    consumed: usize,
    /// The last step filled its room: there is more to come.
    #[qjs(get)]
    more: bool,
    /// The compressed data has come to its end.
    #[qjs(get)]
    ended: bool,
}

#[rquickjs::methods]
impl Engine {
    /// Takes what it can of `input` behind `from`, and gives at most `room` bytes; undefined if there are none.
    fn step<'js>(
        &mut self,
        ctx: Ctx<'js>,
        input: TypedArray<'js, u8>,
        from: usize,
        flush: i32,
        room: usize,
    ) -> Result<Value<'js>> {
        let room = room.min(STEP_BYTES_MAX);
        let mut out = vec![0; room];
        let done = view::read(&input, |bytes| {
            self.codec.step(bytes.get(from..).unwrap_or_default(), Flush::of(flush), &mut out)
        });
        let step = done.map_err(|failure| failure.throw(&ctx))?;
        self.consumed = step.consumed;
        self.more = step.produced == room;
        self.ended = step.ended;
        out.truncate(step.produced);
        if out.is_empty() {
            return Ok(Value::new_undefined(ctx));
        }
        view::buffer(&ctx, &out)
    }

    fn params(&mut self, level: i32, strategy: i32) -> bool {
        self.codec.params(level, strategy)
    }
}

fn open<'js>(ctx: Ctx<'js>, mode: i32, settings: Vec<i32>, dictionary: Value<'js>) -> Result<Class<'js, Engine>> {
    let dictionary = view::array(&dictionary).map(|bytes| view::read(&bytes, <[u8]>::to_vec));
    let codec = codec(mode, &settings, dictionary).map_err(|failure| failure.throw(&ctx))?;
    Class::instance(ctx, Engine { codec, consumed: 0, more: false, ended: false })
}

struct Bytes(Vec<u8>);

impl<'js> IntoJs<'js> for Bytes {
    fn into_js(self, ctx: &Ctx<'js>) -> Result<Value<'js>> {
        view::buffer(ctx, &self.0)
    }
}

/// All at once: `(mode, settings, dictionary or null, input, [flush, most bytes], callback)`.
fn once<'js>(
    ctx: Ctx<'js>,
    mode: i32,
    settings: Vec<i32>,
    dictionary: Value<'js>,
    input: TypedArray<'js, u8>,
    ending: Vec<f64>,
    callback: Opt<Function<'js>>,
) -> Result<Value<'js>> {
    let dictionary = view::array(&dictionary).map(|bytes| view::read(&bytes, <[u8]>::to_vec));
    let ending = |at: usize| ending.get(at).copied().unwrap_or(0.0);
    let (flush, most) = (Flush::of(ending(0) as i32), ending(1).clamp(0.0, 9e15) as usize);
    match callback.0 {
        Some(callback) => {
            let input = view::read(&input, <[u8]>::to_vec);
            let work = move || {
                codec(mode, &settings, dictionary).and_then(|codec| whole(codec, &input, flush, most)).map(Bytes)
            };
            later::later(&ctx, callback, work).map(|()| Value::new_undefined(ctx))
        }
        None => {
            let codec = codec(mode, &settings, dictionary).map_err(|failure| failure.throw(&ctx))?;
            match view::read(&input, |input| whole(codec, input, flush, most)) {
                Ok(bytes) => Bytes(bytes).into_js(&ctx),
                Err(failure) => Err(failure.throw(&ctx)),
            }
        }
    }
}

fn whole(mut codec: Box<dyn Codec>, mut input: &[u8], flush: Flush, most: usize) -> Done<Vec<u8>> {
    let mut out = Vec::new();
    let mut room = (input.len() / 2).clamp(ROOM_BYTES_MIN, ROOM_BYTES_MAX);
    loop {
        let filled = out.len();
        out.resize(filled + room, 0);
        let step = codec.step(input, flush, out.get_mut(filled..).unwrap_or_default())?;
        input = input.get(step.consumed..).unwrap_or_default();
        out.truncate(filled + step.produced);
        if out.len() > most {
            let message = format!("Cannot create a Buffer larger than {most} bytes");
            return Err(Failure { message, code: "ERR_BUFFER_TOO_LARGE", ..Failure::default() });
        }
        if step.ended || step.produced < room {
            out.shrink_to_fit();
            return Ok(out);
        }
        room = (room * 2).min(ROOM_BYTES_MAX);
    }
}
