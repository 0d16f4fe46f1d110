//! AWS-LC's objects, each freed once by its owner.
#![allow(unsafe_code, reason = "AWS-LC is a C library")]

use std::ffi::CString;
use std::ptr;

use aws_lc_sys as lc;

/// Fills `bytes` with random ones; the library ends the process rather than give bad ones.
pub(super) fn random(bytes: &mut [u8]) {
    // SAFETY: the pointer and the length are of one slice.
    unsafe { lc::RAND_bytes(bytes.as_mut_ptr(), bytes.len()) };
}

/// Whether both are equal, in a time that depends on their lengths alone.
pub(super) fn equal(one: &[u8], other: &[u8]) -> bool {
    // SAFETY: both have that length.
    one.len() == other.len() && unsafe { lc::CRYPTO_memcmp(one.as_ptr().cast(), other.as_ptr().cast(), one.len()) } == 0
}

/// The text of the last error, as OpenSSL has it; the queue is empty after that.
pub(super) fn last_error() -> Option<String> {
    // SAFETY: both take nothing; the text is a static one of the library, or null.
    unsafe {
        let code = lc::ERR_get_error();
        let text = if code == 0 { ptr::null() } else { lc::ERR_reason_error_string(code) };
        let told = (!text.is_null()).then(|| std::ffi::CStr::from_ptr(text).to_string_lossy().into_owned());
        lc::ERR_clear_error();
        told
    }
}

/// A digest's algorithm. They are static.
#[derive(Clone, Copy)]
pub(super) struct Algorithm(*const lc::EVP_MD);

// SAFETY: it points to constant data of the library.
unsafe impl Send for Algorithm {}

impl Algorithm {
    /// By its name, in any case, as OpenSSL knows it: `sha256`, `RSA-SHA256`, `SHA2-256`.
    pub(super) fn find(name: &str) -> Option<Self> {
        let lower = name.to_ascii_lowercase();
        let plain = lower.strip_prefix("rsa-").unwrap_or(&lower);
        let known = match plain {
            "sha-1" => "sha1",
            "sha-224" | "sha2-224" => "sha224",
            "sha-256" | "sha2-256" => "sha256",
            "sha-384" | "sha2-384" => "sha384",
            "sha-512" | "sha2-512" => "sha512",
            "sha-512/256" | "sha2-512/256" => "sha512-256",
            "sha-512/224" | "sha2-512/224" => "sha512-224",
            "rmd160" | "ripemd" => "ripemd160",
            other => other,
        };
        let name = CString::new(known).ok()?;
        // SAFETY: a NUL-terminated name.
        let found = unsafe { lc::EVP_get_digestbyname(name.as_ptr()) };
        (!found.is_null()).then_some(Self(found))
    }

    pub(super) fn raw(self) -> *const lc::EVP_MD {
        self.0
    }

    /// Bytes of a digest.
    pub(super) fn size(self) -> usize {
        // SAFETY: a live algorithm.
        unsafe { lc::EVP_MD_size(self.0) }
    }

    /// Whether a digest may have any length (SHAKE).
    pub(super) fn is_extendable(self) -> bool {
        // SAFETY: a live algorithm.
        unsafe { lc::EVP_MD_flags(self.0) & lc::EVP_MD_FLAG_XOF as u32 != 0 }
    }
}

/// A type that owns a pointer of the library's.
macro_rules! owned {
    ($(#[$doc:meta])* $name:ident, $raw:ty, $free:path) => {
        $(#[$doc])*
        pub(super) struct $name(*mut $raw);

        impl $name {
            /// Takes the pointer over; `None` if it is null.
            ///
            /// # Safety
            /// It is null, or live and nobody else's to free.
            pub(super) unsafe fn own(raw: *mut $raw) -> Option<Self> {
                (!raw.is_null()).then_some(Self(raw))
            }

            pub(super) fn raw(&self) -> *mut $raw {
                self.0
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                // SAFETY: it is ours, and freed once.
                unsafe { $free(self.0) };
            }
        }
    };
}
owned!(
    /// A digest under way, or a signature over one.
    MdCtx, lc::EVP_MD_CTX, lc::EVP_MD_CTX_free
);
owned!(
    /// An HMAC under way.
    HmacCtx, lc::HMAC_CTX, lc::HMAC_CTX_free
);
owned!(
    /// A cipher under way.
    CipherCtx, lc::EVP_CIPHER_CTX, lc::EVP_CIPHER_CTX_free
);
owned!(
    /// A key of any kind.
    PKey, lc::EVP_PKEY, lc::EVP_PKEY_free
);
owned!(
    /// An RSA key.
    Rsa, lc::RSA, lc::RSA_free
);
owned!(
    /// A key on an elliptic curve.
    EcKey, lc::EC_KEY, lc::EC_KEY_free
);
owned!(
    /// A number.
    BigNumber, lc::BIGNUM, lc::BN_free
);

impl MdCtx {
    pub(super) fn new() -> Option<Self> {
        // SAFETY: a new context, ours.
        unsafe { Self::own(lc::EVP_MD_CTX_new()) }
    }
}
