//! AES in the modes CBC, CTR, ECB and GCM, as much at a time as JavaScript gives.
#![allow(unsafe_code, reason = "AWS-LC is a C library")]

use std::ffi::CString;
use std::ptr;

use aws_lc_sys as lc;
use rquickjs::class::Trace;
use rquickjs::function::Func;
use rquickjs::{Class, Ctx, JsLifetime, Object, Result, TypedArray, Value};

use super::handle::{CipherCtx, last_error};
use super::{Bytes, failed};
use crate::native::view;

/// Ciphers that programs may ask for.
const NAMES: &[&str] = &[
    "aes-128-cbc",
    "aes-128-ctr",
    "aes-128-ecb",
    "aes-128-gcm",
    "aes-192-cbc",
    "aes-192-ctr",
    "aes-192-ecb",
    "aes-192-gcm",
    "aes-256-cbc",
    "aes-256-ctr",
    "aes-256-ecb",
    "aes-256-gcm",
];
const TAG_BYTES_MAX: usize = 16;

pub(super) fn add(group: &Object<'_>) -> Result<()> {
    group.set("ciphers", NAMES.to_vec())?;
    group.set("cipherInfo", Func::from(info))?;
    group.set("cipher", Func::from(cipher))
}

fn find(name: &str) -> Option<*const lc::EVP_CIPHER> {
    let lower = name.to_ascii_lowercase();
    let known = match lower.as_str() {
        "aes128" => "aes-128-cbc",
        "aes192" => "aes-192-cbc",
        "aes256" => "aes-256-cbc",
        "id-aes128-gcm" => "aes-128-gcm",
        "id-aes192-gcm" => "aes-192-gcm",
        "id-aes256-gcm" => "aes-256-gcm",
        other => other,
    };
    let name = NAMES.iter().find(|name| **name == known).and_then(|name| CString::new(*name).ok())?;
    // SAFETY: a NUL-terminated name.
    let found = unsafe { lc::EVP_get_cipherbyname(name.as_ptr()) };
    (!found.is_null()).then_some(found)
}

/// Key length, length of the initial vector, block size and mode; undefined if it is unknown.
fn info(name: String) -> Option<Vec<u32>> {
    let cipher = find(&name)?;
    // SAFETY: a live cipher.
    unsafe {
        Some(vec![
            lc::EVP_CIPHER_key_length(cipher),
            lc::EVP_CIPHER_iv_length(cipher),
            lc::EVP_CIPHER_block_size(cipher),
            lc::EVP_CIPHER_mode(cipher),
        ])
    }
}

/// A cipher under way.
#[derive(JsLifetime, Trace)]
#[rquickjs::class]
pub(super) struct Cipher {
    #[qjs(skip_trace)]
    context: CipherCtx,
    encrypts: bool,
    authenticates: bool,
    #[qjs(skip_trace)]
    tag: Option<Vec<u8>>,
    finished: bool,
}

/// `(name, key, vector, whether it encrypts)`; their lengths were checked.
fn cipher<'js>(
    ctx: Ctx<'js>,
    name: String,
    key: TypedArray<'js, u8>,
    vector: TypedArray<'js, u8>,
    encrypts: bool,
) -> Result<Class<'js, Cipher>> {
    let unknown = || failed("Unknown cipher", "ERR_CRYPTO_UNKNOWN_CIPHER").throw(&ctx);
    let cipher = find(&name).ok_or_else(unknown)?;
    let (key, vector) = (view::read(&key, <[u8]>::to_vec), view::read(&vector, <[u8]>::to_vec));
    let way = i32::from(encrypts);
    // SAFETY: a live cipher and a context that is ours; the key has the length that the cipher asks for, the vector too or, in
    // the mode GCM, the one that is set before it is read.
    unsafe {
        let authenticates = lc::EVP_CIPHER_mode(cipher) == lc::EVP_CIPH_GCM_MODE as u32;
        let fits = key.len() == lc::EVP_CIPHER_key_length(cipher) as usize
            && (authenticates && !vector.is_empty() || vector.len() == lc::EVP_CIPHER_iv_length(cipher) as usize);
        let context = CipherCtx::own(lc::EVP_CIPHER_CTX_new());
        let (Some(context), true) = (context, fits) else { return Err(unknown()) };
        let mut done = lc::EVP_CipherInit_ex(context.raw(), cipher, ptr::null_mut(), ptr::null(), ptr::null(), way);
        if authenticates {
            let length = i32::try_from(vector.len()).unwrap_or(0);
            done &= lc::EVP_CIPHER_CTX_ctrl(context.raw(), lc::EVP_CTRL_AEAD_SET_IVLEN, length, ptr::null_mut());
        }
        done &= lc::EVP_CipherInit_ex(context.raw(), ptr::null(), ptr::null_mut(), key.as_ptr(), vector.as_ptr(), way);
        if done != 1 {
            return Err(failed("Invalid initialization vector", "ERR_CRYPTO_INVALID_IV").throw(&ctx));
        }
        Class::instance(ctx, Cipher { context, encrypts, authenticates, tag: None, finished: false })
    }
}

impl Cipher {
    fn feed(&mut self, bytes: &[u8], out: *mut u8) -> Option<usize> {
        let length = i32::try_from(bytes.len()).ok()?;
        let mut written = 0;
        // SAFETY: a live context; `out` is null (data that is only authenticated) or has room for a block more than `bytes`.
        let done = unsafe { lc::EVP_CipherUpdate(self.context.raw(), out, &raw mut written, bytes.as_ptr(), length) };
        if done == 1 { usize::try_from(written).ok() } else { None }
    }

    /// The bytes that are left, with the tag checked where there is one.
    fn end(&mut self) -> Option<Vec<u8>> {
        let mut out = vec![0; 32];
        let mut written = 0;
        // SAFETY: a live context, a tag of that length, and room for a block.
        unsafe {
            if let (false, Some(tag)) = (self.encrypts, &mut self.tag) {
                let length = i32::try_from(tag.len()).ok()?;
                let raw = self.context.raw();
                if lc::EVP_CIPHER_CTX_ctrl(raw, lc::EVP_CTRL_AEAD_SET_TAG, length, tag.as_mut_ptr().cast()) != 1 {
                    return None;
                }
            }
            if lc::EVP_CipherFinal_ex(self.context.raw(), out.as_mut_ptr(), &raw mut written) != 1 {
                return None;
            }
        }
        out.truncate(usize::try_from(written).ok()?);
        Some(out)
    }
}

#[rquickjs::methods]
impl Cipher {
    fn update<'js>(&mut self, ctx: Ctx<'js>, data: Value<'js>) -> Result<Bytes> {
        let bytes = view::copied(&ctx, &data)?;
        let mut out = vec![0; bytes.len() + 32];
        let length = if self.finished { None } else { self.feed(&bytes, out.as_mut_ptr()) };
        let Some(length) = length else {
            return Err(failed("Unsupported state", "ERR_CRYPTO_INVALID_STATE").throw(&ctx));
        };
        out.truncate(length);
        Ok(Bytes(out))
    }

    fn finish(&mut self, ctx: Ctx<'_>) -> Result<Bytes> {
        if std::mem::replace(&mut self.finished, true) {
            return Err(failed("Unsupported state", "ERR_CRYPTO_INVALID_STATE").throw(&ctx));
        }
        if let Some(out) = self.end() {
            if self.encrypts && self.authenticates {
                let mut tag = vec![0; TAG_BYTES_MAX];
                // SAFETY: a live context that has finished, and room for the whole tag.
                unsafe {
                    let room = TAG_BYTES_MAX as i32;
                    lc::EVP_CIPHER_CTX_ctrl(
                        self.context.raw(),
                        lc::EVP_CTRL_AEAD_GET_TAG,
                        room,
                        tag.as_mut_ptr().cast(),
                    );
                }
                self.tag = Some(tag);
            }
            return Ok(Bytes(out));
        }
        let reason = last_error().unwrap_or_default();
        if self.authenticates {
            let failure = crate::host::Failure {
                message: "Unsupported state or unable to authenticate data".into(),
                ..Default::default()
            };
            return Err(failure.throw(&ctx));
        }
        let (text, code) = if reason.contains("WRONG_FINAL") || reason.contains("DATA_NOT_MULTIPLE") {
            ("wrong final block length", "ERR_OSSL_WRONG_FINAL_BLOCK_LENGTH")
        } else {
            ("bad decrypt", "ERR_OSSL_BAD_DECRYPT")
        };
        let number = if text == "bad decrypt" { "1C800064" } else { "1C80006B" };
        Err(failed(format!("error:{number}:Provider routines::{text}"), code).throw(&ctx))
    }

    /// Data that is authenticated, not encrypted. False if it is too late for that.
    fn authenticate(&mut self, data: TypedArray<'_, u8>) -> bool {
        let bytes = view::read(&data, <[u8]>::to_vec);
        !self.finished && self.feed(&bytes, ptr::null_mut()).is_some()
    }

    #[qjs(rename = "setTag")]
    fn set_tag(&mut self, tag: TypedArray<'_, u8>) {
        self.tag = Some(view::read(&tag, <[u8]>::to_vec));
    }

    fn tag(&self) -> Option<Bytes> {
        self.tag.clone().filter(|_| self.encrypts).map(Bytes)
    }

    fn pad(&mut self, pads: bool) {
        // SAFETY: a live context.
        unsafe { lc::EVP_CIPHER_CTX_set_padding(self.context.raw(), i32::from(pads)) };
    }
}
