//! Keys from passwords and from other keys.
#![allow(unsafe_code, reason = "AWS-LC is a C library")]

use aws_lc_sys as lc;
use rquickjs::function::{Func, Opt};
use rquickjs::{Ctx, Function, IntoJs, Object, Result, TypedArray, Value};

use super::handle::{Algorithm, last_error};
use super::{Bytes, failed};
use crate::host::Failure;
use crate::native::{later, view};

type Derived = std::result::Result<Bytes, Failure>;
/// Bytes of one derived key.
const KEY_BYTES_MAX: f64 = 2_147_483_647.0;

pub(super) fn add(group: &Object<'_>) -> Result<()> {
    group.set("pbkdf2", Func::from(pbkdf2))?;
    group.set("scrypt", Func::from(scrypt))?;
    group.set("hkdf", Func::from(hkdf))
}

/// At once, or on another thread if there is a callback.
fn run<'js>(
    ctx: Ctx<'js>,
    callback: Opt<Function<'js>>,
    work: impl FnOnce() -> Derived + Send + 'static,
) -> Result<Value<'js>> {
    match callback.0 {
        Some(callback) => later::later(&ctx, callback, work).map(|()| Value::new_undefined(ctx)),
        None => match work() {
            Ok(bytes) => bytes.into_js(&ctx),
            Err(failure) => Err(failure.throw(&ctx)),
        },
    }
}

fn room(length: f64) -> Vec<u8> {
    vec![0; length.clamp(0.0, KEY_BYTES_MAX) as usize]
}

fn algorithm(ctx: &Ctx<'_>, name: &str) -> Result<Algorithm> {
    let unknown = || failed(format!("Invalid digest: {name}"), "ERR_CRYPTO_INVALID_DIGEST").throw(ctx);
    Algorithm::find(name).ok_or_else(unknown)
}

fn pbkdf2<'js>(
    ctx: Ctx<'js>,
    password: TypedArray<'js, u8>,
    salt: TypedArray<'js, u8>,
    rounds: f64,
    length: f64,
    digest: String,
    callback: Opt<Function<'js>>,
) -> Result<Value<'js>> {
    let algorithm = algorithm(&ctx, &digest)?;
    let (password, salt) = (view::read(&password, <[u8]>::to_vec), view::read(&salt, <[u8]>::to_vec));
    run(ctx, callback, move || {
        let mut key = room(length);
        let rounds = rounds.clamp(1.0, f64::from(u32::MAX)) as u32;
        // SAFETY: pointers and lengths of live slices, a static algorithm.
        let done = unsafe {
            lc::PKCS5_PBKDF2_HMAC(
                password.as_ptr().cast(),
                password.len(),
                salt.as_ptr(),
                salt.len(),
                rounds,
                algorithm.raw(),
                key.len(),
                key.as_mut_ptr(),
            )
        };
        if done == 1 { Ok(Bytes(key)) } else { Err(failed("PBKDF2 failed", "ERR_CRYPTO_OPERATION_FAILED")) }
    })
}

#[allow(clippy::too_many_arguments, reason = "they are the algorithm's")]
fn scrypt<'js>(
    ctx: Ctx<'js>,
    password: TypedArray<'js, u8>,
    salt: TypedArray<'js, u8>,
    length: f64,
    costs: Vec<f64>,
    callback: Opt<Function<'js>>,
) -> Result<Value<'js>> {
    let (password, salt) = (view::read(&password, <[u8]>::to_vec), view::read(&salt, <[u8]>::to_vec));
    run(ctx, callback, move || {
        let cost = |at: usize| costs.get(at).copied().unwrap_or(0.0) as u64;
        let mut key = room(length);
        // SAFETY: pointers and lengths of live slices; the library bounds its memory by the last cost.
        let done = unsafe {
            lc::EVP_PBE_scrypt(
                password.as_ptr().cast(),
                password.len(),
                salt.as_ptr(),
                salt.len(),
                cost(0),
                cost(1),
                cost(2),
                usize::try_from(cost(3)).unwrap_or(usize::MAX),
                key.as_mut_ptr(),
                key.len(),
            )
        };
        if done == 1 {
            return Ok(Bytes(key));
        }
        let reason = last_error().unwrap_or_default();
        let reason = if reason.contains("MEMORY") { "memory limit exceeded" } else { "invalid parameters" };
        Err(failed(format!("Invalid scrypt params: {reason}"), "ERR_CRYPTO_INVALID_SCRYPT_PARAMS"))
    })
}

fn hkdf<'js>(
    ctx: Ctx<'js>,
    digest: String,
    secret: TypedArray<'js, u8>,
    salt: TypedArray<'js, u8>,
    info: TypedArray<'js, u8>,
    length: f64,
    callback: Opt<Function<'js>>,
) -> Result<Value<'js>> {
    let algorithm = algorithm(&ctx, &digest)?;
    let copied = |array: &TypedArray<'js, u8>| view::read(array, <[u8]>::to_vec);
    let (secret, salt, info) = (copied(&secret), copied(&salt), copied(&info));
    run(ctx, callback, move || {
        let mut key = room(length);
        // SAFETY: pointers and lengths of live slices, a static algorithm.
        let done = unsafe {
            lc::HKDF(
                key.as_mut_ptr(),
                key.len(),
                algorithm.raw(),
                secret.as_ptr(),
                secret.len(),
                salt.as_ptr(),
                salt.len(),
                info.as_ptr(),
                info.len(),
            )
        };
        if done == 1 { Ok(Bytes(key)) } else { Err(failed("Invalid key length", "ERR_CRYPTO_INVALID_KEYLEN")) }
    })
}
