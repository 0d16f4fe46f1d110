//! Signatures. Those of elliptic curves are in DER here.
#![allow(unsafe_code, reason = "AWS-LC is a C library")]

use std::ptr;

use aws_lc_sys as lc;
use rquickjs::function::Func;
use rquickjs::{Class, Ctx, Object, Result, TypedArray};

use super::handle::{Algorithm, MdCtx, last_error};
use super::key::Key;
use super::{Bytes, failed};
use crate::native::view;

/// `Init` of signing or of verifying.
type Begin = unsafe extern "C" fn(
    *mut lc::EVP_MD_CTX,
    *mut *mut lc::EVP_PKEY_CTX,
    *const lc::EVP_MD,
    *mut lc::ENGINE,
    *mut lc::EVP_PKEY,
) -> i32;

pub(super) fn add(group: &Object<'_>) -> Result<()> {
    group.set("sign", Func::from(sign))?;
    group.set("verify", Func::from(verify))
}

/// A context for one signature. `digest` is empty for keys that bring their own; `padding` and `salt` are OpenSSL's numbers,
/// for RSA; 0 is PKCS #1 v1.5.
fn begin(begin: Begin, key: &Key, digest: &str, padding: i32, salt: i32) -> Option<MdCtx> {
    let algorithm = if digest.is_empty() { ptr::null() } else { Algorithm::find(digest)?.raw() };
    let context = MdCtx::new()?;
    let mut parameters = ptr::null_mut();
    // SAFETY: a live context, algorithm and key; the parameters belong to the context.
    unsafe {
        if begin(context.raw(), &raw mut parameters, algorithm, ptr::null_mut(), key.key.raw()) != 1 {
            return None;
        }
        if padding == lc::RSA_PKCS1_PSS_PADDING {
            let done = lc::EVP_PKEY_CTX_set_rsa_padding(parameters, padding) == 1
                && lc::EVP_PKEY_CTX_set_rsa_pss_saltlen(parameters, salt) == 1;
            return done.then_some(context);
        }
    }
    Some(context)
}

fn sign<'js>(
    ctx: Ctx<'js>,
    key: Class<'js, Key>,
    digest: String,
    padding: i32,
    salt: i32,
    data: TypedArray<'js, u8>,
) -> Result<Bytes> {
    let key = key.borrow();
    let signed = begin(lc::EVP_DigestSignInit, &key, &digest, padding, salt).and_then(|context| {
        view::read(&data, |data| {
            let mut length = 0;
            // SAFETY: a live context, the data's slice, and room of the length that the first call tells.
            unsafe {
                let (from, raw) = (data.as_ptr(), context.raw());
                if lc::EVP_DigestSign(raw, ptr::null_mut(), &raw mut length, from, data.len()) != 1 {
                    return None;
                }
                let mut out = vec![0; length];
                let done = lc::EVP_DigestSign(raw, out.as_mut_ptr(), &raw mut length, from, data.len());
                out.truncate(length);
                (done == 1).then_some(out)
            }
        })
    });
    match signed {
        Some(bytes) => Ok(Bytes(bytes)),
        None => {
            let reason = last_error().unwrap_or_else(|| "invalid digest".into()).to_lowercase().replace('_', " ");
            Err(failed(format!("error: {reason}"), "ERR_CRYPTO_OPERATION_FAILED").throw(&ctx))
        }
    }
}

fn verify<'js>(
    key: Class<'js, Key>,
    digest: String,
    padding: i32,
    salt: i32,
    data: TypedArray<'js, u8>,
    signature: TypedArray<'js, u8>,
) -> bool {
    let key = key.borrow();
    let Some(context) = begin(lc::EVP_DigestVerifyInit, &key, &digest, padding, salt) else {
        last_error();
        return false;
    };
    view::read(&data, |data| {
        view::read(&signature, |signature| {
            // SAFETY: a live context and two slices.
            let done = unsafe {
                let (raw, length) = (context.raw(), signature.len());
                lc::EVP_DigestVerify(raw, signature.as_ptr(), length, data.as_ptr(), data.len())
            };
            last_error();
            done == 1
        })
    })
}
