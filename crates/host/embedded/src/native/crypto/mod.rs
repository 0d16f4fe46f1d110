//! What `node:crypto` is made of: AWS-LC's functions, the one crypto library of the binary, behind owned handles.
//!
//! The C interface is used directly because the safe crate above it has no streaming AES-GCM, no MD5, no scrypt and no keys
//! whose type is known only when they are read. Every pointer lives in a type of `handle` that frees it.

mod cipher;
mod digest;
mod handle;
mod kdf;
mod key;
mod sign;

use rquickjs::function::Func;
use rquickjs::{Ctx, Function, Object, Result, TypedArray, Value};

use crate::host::Failure;
use crate::native::{later, view};

/// Bytes that one call makes.
const RANDOM_BYTES_MAX: f64 = 2_147_483_647.0;

pub(super) fn make<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let group = Object::new(ctx.clone())?;
    digest::add(&group)?;
    cipher::add(&group)?;
    kdf::add(&group)?;
    key::add(&group)?;
    sign::add(&group)?;
    group.set("random", Func::from(random))?;
    group.set("randomLater", Func::from(random_later))?;
    group.set("randomFill", Func::from(random_fill))?;
    group.set("equal", Func::from(equal))?;
    Ok(group)
}

/// Bytes that JavaScript gets.
struct Bytes(Vec<u8>);

impl<'js> rquickjs::IntoJs<'js> for Bytes {
    fn into_js(self, ctx: &Ctx<'js>) -> Result<Value<'js>> {
        view::buffer(ctx, &self.0)
    }
}

/// An error of this library's, with OpenSSL's words for it where Node's messages have them.
fn failed(message: impl Into<String>, code: &'static str) -> Failure {
    Failure { message: message.into(), code, ..Failure::default() }
}

fn random_bytes(length: f64) -> Vec<u8> {
    let mut bytes = vec![0; length.clamp(0.0, RANDOM_BYTES_MAX) as usize];
    handle::random(&mut bytes);
    bytes
}

fn random(length: f64) -> Bytes {
    Bytes(random_bytes(length))
}

fn random_later<'js>(ctx: Ctx<'js>, length: f64, callback: Function<'js>) -> Result<()> {
    later::later(&ctx, callback, move || Ok(Bytes(random_bytes(length))))
}

fn random_fill(array: TypedArray<'_, u8>) {
    view::write(&array, handle::random);
}

/// Whether two arrays of one length are equal, in a time that does not tell where they differ.
fn equal(one: TypedArray<'_, u8>, other: TypedArray<'_, u8>) -> bool {
    view::read(&one, |one| view::read(&other, |other| handle::equal(one, other)))
}
