//! Asymmetric keys: read from DER, written to DER, made. PEM and JWK are JavaScript's to translate.
#![allow(unsafe_code, reason = "AWS-LC is a C library")]

use std::mem::MaybeUninit;
use std::ptr;

use aws_lc_sys as lc;
use rquickjs::class::Trace;
use rquickjs::function::Func;
use rquickjs::{Class, Ctx, Function, IntoJs, JsLifetime, Object, Result, TypedArray, Value};

use super::handle::{BigNumber, EcKey, PKey, Rsa};
use super::{Bytes, failed};
use crate::host::Failure;
use crate::native::{later, view};

/// Bits of an RSA key that is made: more takes minutes.
const RSA_BITS_MAX: f64 = 16_384.0;
/// The curves, by their numbers here and their names in Node.
const CURVES: &[(i32, &str)] = &[
    (lc::NID_X9_62_prime256v1, "prime256v1"),
    (lc::NID_secp384r1, "secp384r1"),
    (lc::NID_secp521r1, "secp521r1"),
    (lc::NID_secp256k1, "secp256k1"),
];

pub(super) fn add(group: &Object<'_>) -> Result<()> {
    group.set("parseKey", Func::from(parse))?;
    group.set("generateKey", Func::from(generate))
}

/// A key of any kind.
#[derive(JsLifetime, Trace)]
#[rquickjs::class]
pub(super) struct Key {
    #[qjs(skip_trace)]
    pub(super) key: PKey,
}

#[rquickjs::methods]
impl Key {
    /// `rsa`, `rsa-pss`, `ec`, `ed25519`, `x25519`, or nothing that is known.
    fn kind(&self) -> &'static str {
        // SAFETY: a live key.
        match unsafe { lc::EVP_PKEY_id(self.key.raw()) } {
            lc::EVP_PKEY_RSA => "rsa",
            lc::EVP_PKEY_RSA_PSS => "rsa-pss",
            lc::EVP_PKEY_EC => "ec",
            lc::EVP_PKEY_ED25519 => "ed25519",
            lc::EVP_PKEY_X25519 => "x25519",
            _ => "unknown",
        }
    }

    fn bits(&self) -> i32 {
        // SAFETY: a live key.
        unsafe { lc::EVP_PKEY_bits(self.key.raw()) }
    }

    /// The curve of an EC key.
    fn curve(&self) -> Option<&'static str> {
        // SAFETY: a live key; what belongs to it is only looked at.
        let name = unsafe {
            let key = lc::EVP_PKEY_get0_EC_KEY(self.key.raw());
            if key.is_null() { 0 } else { lc::EC_GROUP_get_curve_name(lc::EC_KEY_get0_group(key)) }
        };
        CURVES.iter().find(|(number, _)| *number == name).map(|(_, name)| *name)
    }

    /// SubjectPublicKeyInfo.
    fn spki(&self, ctx: Ctx<'_>) -> Result<Bytes> {
        // SAFETY: the library writes a live key to the builder that `write` gives it.
        write(&ctx, |to| unsafe { lc::EVP_marshal_public_key(to, self.key.raw()) })
    }

    /// PrivateKeyInfo.
    fn pkcs8(&self, ctx: Ctx<'_>) -> Result<Bytes> {
        // SAFETY: as above.
        write(&ctx, |to| unsafe { lc::EVP_marshal_private_key(to, self.key.raw()) })
    }
}

fn write(ctx: &Ctx<'_>, work: impl FnOnce(*mut lc::CBB) -> i32) -> Result<Bytes> {
    let refused = || failed("The key can't be written in this form", "ERR_CRYPTO_INVALID_KEY_OBJECT_TYPE").throw(ctx);
    written(work).ok_or_else(refused)
}

/// What `work` writes to a builder of the library's.
fn written(work: impl FnOnce(*mut lc::CBB) -> i32) -> Option<Bytes> {
    let mut builder = MaybeUninit::<lc::CBB>::zeroed();
    let (mut out, mut length) = (ptr::null_mut(), 0);
    // SAFETY: the builder is initialised before it is used, and finished or cleaned up once; the bytes are copied and freed.
    unsafe {
        if lc::CBB_init(builder.as_mut_ptr(), 256) != 1 {
            return None;
        }
        if work(builder.as_mut_ptr()) != 1 || lc::CBB_finish(builder.as_mut_ptr(), &raw mut out, &raw mut length) != 1 {
            lc::CBB_cleanup(builder.as_mut_ptr());
            lc::ERR_clear_error();
            return None;
        }
        let bytes = std::slice::from_raw_parts(out, length).to_vec();
        lc::OPENSSL_free(out.cast());
        Some(Bytes(bytes))
    }
}

/// A key from DER in the form `pkcs8`, `pkcs1`, `sec1`, `spki` or `pkcs1-public`; undefined if it is none.
fn parse<'js>(ctx: Ctx<'js>, form: String, der: TypedArray<'js, u8>) -> Result<Value<'js>> {
    let key = view::read(&der, |der| read(&form, der));
    // SAFETY: it takes nothing.
    unsafe { lc::ERR_clear_error() };
    match key {
        Some(key) => Ok(Class::instance(ctx, Key { key })?.into_value()),
        None => Ok(Value::new_undefined(ctx)),
    }
}

fn read(form: &str, der: &[u8]) -> Option<PKey> {
    let mut input = MaybeUninit::<lc::CBS>::zeroed();
    // SAFETY: the reader looks at `der`, which outlives it; what the library makes is owned at once, and null is none.
    unsafe {
        lc::CBS_init(input.as_mut_ptr(), der.as_ptr(), der.len());
        match form {
            "pkcs8" => PKey::own(lc::EVP_parse_private_key(input.as_mut_ptr())),
            "spki" => PKey::own(lc::EVP_parse_public_key(input.as_mut_ptr())),
            "pkcs1" => with_rsa(Rsa::own(lc::RSA_private_key_from_bytes(der.as_ptr(), der.len()))?),
            "pkcs1-public" => with_rsa(Rsa::own(lc::RSA_public_key_from_bytes(der.as_ptr(), der.len()))?),
            "sec1" => with_ec(EcKey::own(lc::EC_KEY_parse_private_key(input.as_mut_ptr(), ptr::null()))?),
            _ => None,
        }
    }
}

fn with_rsa(rsa: Rsa) -> Option<PKey> {
    // SAFETY: a new key that is ours takes a share of a live one.
    unsafe {
        let key = PKey::own(lc::EVP_PKEY_new())?;
        (lc::EVP_PKEY_set1_RSA(key.raw(), rsa.raw()) == 1).then_some(key)
    }
}

fn with_ec(ec: EcKey) -> Option<PKey> {
    // SAFETY: as above.
    unsafe {
        let key = PKey::own(lc::EVP_PKEY_new())?;
        (lc::EVP_PKEY_set1_EC_KEY(key.raw(), ec.raw()) == 1).then_some(key)
    }
}

/// The PKCS #8 form of a new key: `(kind, curve or "", bits, exponent, callback)`.
fn generate<'js>(
    ctx: Ctx<'js>,
    kind: String,
    curve: String,
    bits: f64,
    exponent: f64,
    callback: rquickjs::function::Opt<Function<'js>>,
) -> Result<Value<'js>> {
    let work = move || {
        let key = made(&kind, &curve, bits, exponent).ok_or_else(refused)?;
        // SAFETY: the library writes a live key to the builder.
        written(|to| unsafe { lc::EVP_marshal_private_key(to, key.raw()) }).ok_or_else(refused)
    };
    match callback.0 {
        Some(callback) => later::later(&ctx, callback, work).map(|()| Value::new_undefined(ctx)),
        None => match work() {
            Ok(bytes) => bytes.into_js(&ctx),
            Err(failure) => Err(failure.throw(&ctx)),
        },
    }
}

fn refused() -> Failure {
    failed("Key generation failed: a kind, curve or size that is not known", "ERR_CRYPTO_OPERATION_FAILED")
}

fn made(kind: &str, curve: &str, bits: f64, exponent: f64) -> Option<PKey> {
    // SAFETY: new objects, owned at once; the seed has the length that the kind asks for.
    unsafe {
        match kind {
            "rsa" if (512.0..=RSA_BITS_MAX).contains(&bits) => {
                let rsa = Rsa::own(lc::RSA_new())?;
                let exponent = (exponent as u64).to_be_bytes();
                let number = BigNumber::own(lc::BN_bin2bn(exponent.as_ptr(), exponent.len(), ptr::null_mut()))?;
                let done = lc::RSA_generate_key_ex(rsa.raw(), bits as i32, number.raw(), ptr::null_mut());
                if done == 1 { with_rsa(rsa) } else { None }
            }
            "ec" => {
                let number = CURVES.iter().find(|(_, name)| *name == curve).map(|(number, _)| *number)?;
                let key = EcKey::own(lc::EC_KEY_new_by_curve_name(number))?;
                if lc::EC_KEY_generate_key(key.raw()) == 1 { with_ec(key) } else { None }
            }
            "ed25519" | "x25519" => {
                let mut seed = [0; 32];
                super::handle::random(&mut seed);
                let number = if kind == "ed25519" { lc::EVP_PKEY_ED25519 } else { lc::EVP_PKEY_X25519 };
                PKey::own(lc::EVP_PKEY_new_raw_private_key(number, ptr::null_mut(), seed.as_ptr(), seed.len()))
            }
            _ => None,
        }
    }
}
