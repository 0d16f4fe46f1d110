//! Hashes and HMACs.
#![allow(unsafe_code, reason = "AWS-LC is a C library")]

use std::ptr;

use aws_lc_sys as lc;
use rquickjs::class::Trace;
use rquickjs::function::Func;
use rquickjs::{Class, Ctx, IntoJs, JsLifetime, Object, Result, TypedArray, Value};

use super::handle::{Algorithm, HmacCtx, MdCtx};
use super::{Bytes, failed};
use crate::native::view;

/// Digests that programs may ask for, as `getHashes` names them.
const NAMES: &[&str] = &[
    "RSA-MD5",
    "RSA-RIPEMD160",
    "RSA-SHA1",
    "RSA-SHA224",
    "RSA-SHA256",
    "RSA-SHA3-224",
    "RSA-SHA3-256",
    "RSA-SHA3-384",
    "RSA-SHA3-512",
    "RSA-SHA384",
    "RSA-SHA512",
    "RSA-SHA512/224",
    "RSA-SHA512/256",
    "md5",
    "ripemd160",
    "sha1",
    "sha224",
    "sha256",
    "sha3-224",
    "sha3-256",
    "sha3-384",
    "sha3-512",
    "sha384",
    "sha512",
    "sha512-224",
    "sha512-256",
    "shake128",
    "shake256",
];
/// Bytes that an extendable digest may have.
const OUTPUT_BYTES_MAX: usize = 1 << 24;

pub(super) fn add(group: &Object<'_>) -> Result<()> {
    let names: Vec<&str> =
        NAMES.iter().copied().filter(|name| Algorithm::find(&name.replace('/', "-")).is_some()).collect();
    group.set("hashes", names)?;
    group.set("hash", Func::from(hash))?;
    group.set("hasher", Func::from(hasher))?;
    group.set("hmac", Func::from(hmac))?;
    group.set("digestSize", Func::from(size))
}

/// Bytes of a digest; 0 if it is unknown.
fn size(name: String) -> usize {
    find(&name).map_or(0, Algorithm::size)
}

fn find(name: &str) -> Option<Algorithm> {
    Algorithm::find(name).or_else(|| Algorithm::find(&name.replace('/', "-")))
}

/// One digest at once: `(algorithm, data, hex)`; undefined if the algorithm is unknown.
fn hash<'js>(ctx: Ctx<'js>, name: String, data: Value<'js>, hex: bool) -> Result<Value<'js>> {
    let Some(mut state) = find(&name).and_then(|algorithm| State::hash(algorithm, None)) else {
        return Ok(Value::new_undefined(ctx));
    };
    feed(&ctx, &mut state, &data)?;
    let bytes = state.finish();
    if hex { self::hex(&bytes).into_js(&ctx) } else { Bytes(bytes).into_js(&ctx) }
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| DIGITS.get(usize::from(nibble)).map_or('0', |digit| char::from(*digit));
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

fn feed<'js>(ctx: &Ctx<'js>, state: &mut State, data: &Value<'js>) -> Result<()> {
    if let Some(array) = view::array(data) {
        view::read(&array, |bytes| state.update(bytes));
        return Ok(());
    }
    state.update(&view::copied(ctx, data)?);
    Ok(())
}

enum State {
    Hash(MdCtx, Algorithm, usize),
    Hmac(HmacCtx, usize),
    Done,
}

impl State {
    fn hash(algorithm: Algorithm, length: Option<usize>) -> Option<Self> {
        let context = MdCtx::new()?;
        // SAFETY: a live context and a static algorithm.
        let begun = unsafe { lc::EVP_DigestInit_ex(context.raw(), algorithm.raw(), ptr::null_mut()) };
        (begun == 1).then_some(Self::Hash(context, algorithm, length.unwrap_or_else(|| default_length(algorithm))))
    }

    fn hmac(algorithm: Algorithm, key: &[u8]) -> Option<Self> {
        // SAFETY: a new context, ours.
        let context = unsafe { HmacCtx::own(lc::HMAC_CTX_new()) }?;
        // An empty key may not be a null pointer: that would mean the key from before.
        let from = if key.is_empty() { [0].as_ptr() } else { key.as_ptr() };
        // SAFETY: a live context, a static algorithm, and a key of that length.
        let begun =
            unsafe { lc::HMAC_Init_ex(context.raw(), from.cast(), key.len(), algorithm.raw(), ptr::null_mut()) };
        (begun == 1).then_some(Self::Hmac(context, algorithm.size()))
    }

    fn update(&mut self, bytes: &[u8]) {
        // SAFETY: live contexts, and a slice's pointer and length.
        unsafe {
            match self {
                Self::Hash(context, ..) => _ = lc::EVP_DigestUpdate(context.raw(), bytes.as_ptr().cast(), bytes.len()),
                Self::Hmac(context, _) => _ = lc::HMAC_Update(context.raw(), bytes.as_ptr(), bytes.len()),
                Self::Done => {}
            }
        }
    }

    fn finish(&mut self) -> Vec<u8> {
        match std::mem::replace(self, Self::Done) {
            Self::Hash(context, algorithm, length) => {
                let mut out = vec![0; length];
                let mut written = 0;
                // SAFETY: a live context; the room is the digest's size, or what an extendable one is asked for.
                unsafe {
                    if algorithm.is_extendable() {
                        lc::EVP_DigestFinalXOF(context.raw(), out.as_mut_ptr(), length);
                    } else {
                        lc::EVP_DigestFinal_ex(context.raw(), out.as_mut_ptr(), &raw mut written);
                    }
                }
                out
            }
            Self::Hmac(context, length) => {
                let mut out = vec![0; length];
                let mut written = 0;
                // SAFETY: a live context, and room for the digest.
                unsafe { lc::HMAC_Final(context.raw(), out.as_mut_ptr(), &raw mut written) };
                out
            }
            Self::Done => Vec::new(),
        }
    }

    fn copy(&self) -> Option<Self> {
        // SAFETY: both contexts are live, the new one is ours.
        unsafe {
            match self {
                Self::Hash(context, algorithm, length) => {
                    let copy = MdCtx::new()?;
                    let done = lc::EVP_MD_CTX_copy_ex(copy.raw(), context.raw());
                    (done == 1).then_some(Self::Hash(copy, *algorithm, *length))
                }
                Self::Hmac(context, length) => {
                    let copy = HmacCtx::own(lc::HMAC_CTX_new())?;
                    let done = lc::HMAC_CTX_copy_ex(copy.raw(), context.raw());
                    (done == 1).then_some(Self::Hmac(copy, *length))
                }
                Self::Done => Some(Self::Done),
            }
        }
    }
}

/// OpenSSL gives extendable digests these lengths where none is asked for.
fn default_length(algorithm: Algorithm) -> usize {
    // SAFETY: a static algorithm.
    match unsafe { lc::EVP_MD_type(algorithm.raw()) } {
        lc::NID_shake128 => 16,
        lc::NID_shake256 => 32,
        _ => algorithm.size(),
    }
}

/// A hash or an HMAC under way.
#[derive(JsLifetime, Trace)]
#[rquickjs::class]
pub(super) struct Hasher {
    #[qjs(skip_trace)]
    state: State,
}

#[rquickjs::methods]
impl Hasher {
    /// Takes a Uint8Array, or a string as UTF-8.
    fn update<'js>(&mut self, ctx: Ctx<'js>, data: Value<'js>) -> Result<()> {
        feed(&ctx, &mut self.state, &data)
    }

    fn digest(&mut self) -> Bytes {
        Bytes(self.state.finish())
    }

    fn hex(&mut self) -> String {
        hex(&self.state.finish())
    }

    fn copy<'js>(&self, ctx: Ctx<'js>) -> Result<Class<'js, Hasher>> {
        let state = self.state.copy().unwrap_or(State::Done);
        Class::instance(ctx, Hasher { state })
    }
}

/// `(algorithm, output length or -1)`; undefined if the algorithm is unknown.
fn hasher<'js>(ctx: Ctx<'js>, name: String, length: f64) -> Result<Value<'js>> {
    let Some(algorithm) = find(&name) else { return Ok(Value::new_undefined(ctx)) };
    let fixed = !algorithm.is_extendable();
    if length >= 0.0 && (fixed && length as usize != algorithm.size() || length as usize > OUTPUT_BYTES_MAX) {
        return Err(
            failed("Unsupported state or unable to authenticate", "ERR_OSSL_EVP_NOT_XOF_OR_INVALID_LENGTH").throw(&ctx)
        );
    }
    let asked = (length >= 0.0).then_some(length as usize);
    match State::hash(algorithm, asked) {
        Some(state) => Ok(Class::instance(ctx, Hasher { state })?.into_value()),
        None => Ok(Value::new_undefined(ctx)),
    }
}

/// `(algorithm, key)`; undefined if the algorithm is unknown.
fn hmac<'js>(ctx: Ctx<'js>, name: String, key: TypedArray<'js, u8>) -> Result<Value<'js>> {
    let Some(algorithm) = find(&name) else { return Ok(Value::new_undefined(ctx)) };
    match view::read(&key, |key| State::hmac(algorithm, key)) {
        Some(state) => Ok(Class::instance(ctx, Hasher { state })?.into_value()),
        None => Ok(Value::new_undefined(ctx)),
    }
}
