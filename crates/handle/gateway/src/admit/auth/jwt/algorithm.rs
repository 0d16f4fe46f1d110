use aws_lc_rs::hmac;
use aws_lc_rs::signature::{self, RsaParameters, VerificationAlgorithm};

/// A signature algorithm of RFC 7518 section 3 or RFC 8037. `none` is not among them, in no spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Algorithm {
    Hs256,
    Hs384,
    Hs512,
    Rs256,
    Rs384,
    Rs512,
    Ps256,
    Ps384,
    Ps512,
    Es256,
    Es384,
    Es512,
    EdDsa,
}

/// What an algorithm computes with.
pub(crate) enum Scheme {
    /// A shared secret.
    Hmac(hmac::Algorithm),
    /// A public key of RSA.
    Rsa(&'static RsaParameters),
    /// A public key of another kind.
    Public(&'static dyn VerificationAlgorithm),
}

impl Algorithm {
    /// Every algorithm.
    pub(crate) const ALL: [Self; 13] = [
        Self::Hs256,
        Self::Hs384,
        Self::Hs512,
        Self::Rs256,
        Self::Rs384,
        Self::Rs512,
        Self::Ps256,
        Self::Ps384,
        Self::Ps512,
        Self::Es256,
        Self::Es384,
        Self::Es512,
        Self::EdDsa,
    ];

    /// The algorithm of this name, in exactly this spelling: names are case-sensitive (RFC 7515 section 4.1.1). What was `EdDSA`
    /// with this curve is `Ed25519` since RFC 9864.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        if name == "Ed25519" {
            return Some(Self::EdDsa);
        }
        Self::ALL.into_iter().find(|algorithm| algorithm.name() == name)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Hs256 => "HS256",
            Self::Hs384 => "HS384",
            Self::Hs512 => "HS512",
            Self::Rs256 => "RS256",
            Self::Rs384 => "RS384",
            Self::Rs512 => "RS512",
            Self::Ps256 => "PS256",
            Self::Ps384 => "PS384",
            Self::Ps512 => "PS512",
            Self::Es256 => "ES256",
            Self::Es384 => "ES384",
            Self::Es512 => "ES512",
            Self::EdDsa => "EdDSA",
        }
    }

    pub(crate) fn scheme(self) -> Scheme {
        match self {
            Self::Hs256 => Scheme::Hmac(hmac::HMAC_SHA256),
            Self::Hs384 => Scheme::Hmac(hmac::HMAC_SHA384),
            Self::Hs512 => Scheme::Hmac(hmac::HMAC_SHA512),
            Self::Rs256 => Scheme::Rsa(&signature::RSA_PKCS1_2048_8192_SHA256),
            Self::Rs384 => Scheme::Rsa(&signature::RSA_PKCS1_2048_8192_SHA384),
            Self::Rs512 => Scheme::Rsa(&signature::RSA_PKCS1_2048_8192_SHA512),
            Self::Ps256 => Scheme::Rsa(&signature::RSA_PSS_2048_8192_SHA256),
            Self::Ps384 => Scheme::Rsa(&signature::RSA_PSS_2048_8192_SHA384),
            Self::Ps512 => Scheme::Rsa(&signature::RSA_PSS_2048_8192_SHA512),
            Self::Es256 => Scheme::Public(&signature::ECDSA_P256_SHA256_FIXED),
            Self::Es384 => Scheme::Public(&signature::ECDSA_P384_SHA384_FIXED),
            Self::Es512 => Scheme::Public(&signature::ECDSA_P521_SHA512_FIXED),
            Self::EdDsa => Scheme::Public(&signature::ED25519),
        }
    }

    /// Whether it computes with a shared secret.
    pub(crate) fn is_shared(self) -> bool {
        matches!(self, Self::Hs256 | Self::Hs384 | Self::Hs512)
    }
}

/// A set of algorithms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Algorithms(u16);

impl Algorithms {
    /// Those with public keys.
    pub(crate) fn public() -> Self {
        Algorithm::ALL.into_iter().filter(|algorithm| !algorithm.is_shared()).collect()
    }

    pub(crate) fn has(self, algorithm: Algorithm) -> bool {
        self.0 >> algorithm as u8 & 1 == 1
    }
}

impl FromIterator<Algorithm> for Algorithms {
    fn from_iter<I: IntoIterator<Item = Algorithm>>(algorithms: I) -> Self {
        Self(algorithms.into_iter().fold(0, |set, algorithm| set | 1 << algorithm as u8))
    }
}
