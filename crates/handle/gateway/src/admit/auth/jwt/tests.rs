//! Tokens that attack, and what becomes of them.

use aws_lc_rs::encoding::AsDer;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair, RSA_PKCS1_SHA256, RSA_PSS_SHA256,
    RsaKeyPair,
};
use aws_lc_rs::{hmac, rand};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use leat_message::Reason;
use serde_json::{Value, json};

use super::algorithm::{Algorithm, Algorithms};
use super::cache::TokenCache;
use super::jwks::{JWKS_BYTES_MAX, JwksError, parse_jwks};
use super::key::{KeyError, KeySet, VerifyKey};
use super::rules::JwtRules;
use super::token::TOKEN_BYTES_MAX;
use crate::admit::auth::claim_name::ClaimName;

const NOW_S: u64 = 1_800_000_000;
const SECRET: &[u8] = b"0123456789abcdef0123456789abcdef";

fn b64(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

fn claims() -> Value {
    json!({ "iss": "https://issuer.example", "aud": ["api", "other"], "sub": "ann", "exp": NOW_S + 60, "org": { "id": 7 } })
}

fn unsigned(header: &Value, claims: &Value) -> String {
    format!("{}.{}", b64(header.to_string().as_bytes()), b64(claims.to_string().as_bytes()))
}

fn hs256(secret: &[u8], header: &Value, claims: &Value) -> String {
    let text = unsigned(header, claims);
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), text.as_bytes());
    format!("{text}.{}", b64(tag.as_ref()))
}

fn rules(algorithms: &[Algorithm]) -> JwtRules {
    JwtRules {
        algorithms: algorithms.iter().copied().collect(),
        issuers: vec!["https://issuer.example".into()],
        audiences: vec!["api".into()],
        skew_s: 30,
        fields: vec![
            ("x-user".into(), ClaimName::parse("sub").unwrap()),
            ("x-org".into(), ClaimName::parse("org.id").unwrap()),
            ("x-none".into(), ClaimName::parse("absent").unwrap()),
        ],
    }
}

fn shared() -> KeySet {
    KeySet::new(vec![VerifyKey::secret(Some("k1"), SECRET, [Algorithm::Hs256]).unwrap()])
}

fn reason(token: &str, rules: &JwtRules, keys: &KeySet) -> Option<Reason> {
    rules.verify(token.as_bytes(), keys, NOW_S).err()
}

fn with(name: &str, value: Value) -> Value {
    let mut claims = claims();
    claims[name] = value;
    claims
}

fn without(name: &str) -> Value {
    let mut claims = claims();
    claims.as_object_mut().unwrap().remove(name);
    claims
}

#[test]
fn a_good_token_says_who_it_is_from() {
    let token = hs256(SECRET, &json!({ "alg": "HS256", "kid": "k1", "typ": "JWT" }), &claims());
    let verified = rules(&[Algorithm::Hs256]).verify(token.as_bytes(), &shared(), NOW_S).unwrap();
    assert_eq!(verified.identity.subject(), "ann");
    let fields: Vec<_> = verified.identity.fields().collect();
    assert_eq!(fields, [(&b"x-user"[..], &b"ann"[..]), (b"x-org", b"7")]);
    assert_eq!(verified.expires_s, NOW_S + 90, "the clocks' difference is in our favour");
}

#[test]
fn claims_decide_over_a_good_signature() {
    let rules = rules(&[Algorithm::Hs256]);
    for (what, claims, wanted) in [
        ("good", claims(), None),
        ("expired within the clocks' difference", with("exp", json!(NOW_S - 29)), None),
        ("expired", with("exp", json!(NOW_S - 30)), Some(Reason::AuthExpired)),
        ("long expired", with("exp", json!(0)), Some(Reason::AuthExpired)),
        ("before 1970", with("exp", json!(-5)), Some(Reason::AuthExpired)),
        ("never expires", without("exp"), Some(Reason::AuthExpired)),
        ("a fraction", with("exp", json!(NOW_S as f64 + 0.5)), None),
        ("beyond all time", with("exp", json!(1e300)), None),
        ("text for a time", with("exp", json!("9999999999")), Some(Reason::AuthTokenMalformed)),
        ("not yet, within the clocks' difference", with("nbf", json!(NOW_S + 30)), None),
        ("not yet", with("nbf", json!(NOW_S + 31)), Some(Reason::AuthNotYet)),
        ("another issuer", with("iss", json!("https://evil.example")), Some(Reason::AuthIssuer)),
        ("the issuer with a slash", with("iss", json!("https://issuer.example/")), Some(Reason::AuthIssuer)),
        ("a list of issuers", with("iss", json!(["https://issuer.example"])), Some(Reason::AuthIssuer)),
        ("no issuer", without("iss"), Some(Reason::AuthIssuer)),
        ("one audience", with("aud", json!("api")), None),
        ("another audience", with("aud", json!("apis")), Some(Reason::AuthAudience)),
        ("no audience", without("aud"), Some(Reason::AuthAudience)),
        ("an audience of another kind", with("aud", json!({ "api": 1 })), Some(Reason::AuthAudience)),
        ("an empty audience", with("aud", json!([])), Some(Reason::AuthAudience)),
    ] {
        let token = hs256(SECRET, &json!({ "alg": "HS256" }), &claims);
        assert_eq!(reason(&token, &rules, &shared()), wanted, "{what}");
    }
}

#[test]
fn headers_that_attack_are_refused() {
    let rules = rules(&[Algorithm::Hs256]);
    for (what, header, wanted) in [
        ("good", json!({ "alg": "HS256" }), None),
        ("none", json!({ "alg": "none" }), Some(Reason::AuthAlgorithm)),
        ("None", json!({ "alg": "None" }), Some(Reason::AuthAlgorithm)),
        ("nOnE", json!({ "alg": "nOnE" }), Some(Reason::AuthAlgorithm)),
        ("empty", json!({ "alg": "" }), Some(Reason::AuthAlgorithm)),
        ("in lower case", json!({ "alg": "hs256" }), Some(Reason::AuthAlgorithm)),
        ("an algorithm that the scheme does not take", json!({ "alg": "HS512" }), Some(Reason::AuthAlgorithm)),
        ("a public one", json!({ "alg": "RS256" }), Some(Reason::AuthAlgorithm)),
        ("no algorithm", json!({}), Some(Reason::AuthTokenMalformed)),
        ("a list of algorithms", json!({ "alg": ["HS256"] }), Some(Reason::AuthTokenMalformed)),
        ("null", json!({ "alg": null }), Some(Reason::AuthTokenMalformed)),
        ("a key that is a path", json!({ "alg": "HS256", "kid": "../../dev/null" }), Some(Reason::AuthKeyUnknown)),
        ("a key that is a query", json!({ "alg": "HS256", "kid": "k1' OR '1'='1" }), Some(Reason::AuthKeyUnknown)),
        ("an empty key", json!({ "alg": "HS256", "kid": "" }), Some(Reason::AuthKeyUnknown)),
        ("a key that is a number", json!({ "alg": "HS256", "kid": 1 }), Some(Reason::AuthTokenMalformed)),
        ("critical", json!({ "alg": "HS256", "crit": ["b64"], "b64": false }), Some(Reason::AuthTokenMalformed)),
        ("critical and empty", json!({ "alg": "HS256", "crit": [] }), Some(Reason::AuthTokenMalformed)),
        ("a key of its own", json!({ "alg": "HS256", "jwk": { "kty": "oct", "k": b64(b"x") } }), None),
        ("keys elsewhere", json!({ "alg": "HS256", "jku": "http://127.0.0.1:1/evil" }), None),
    ] {
        let token = hs256(SECRET, &header, &claims());
        assert_eq!(reason(&token, &rules, &shared()), wanted, "{what}");
    }
    let own = json!({ "alg": "HS256", "jwk": { "kty": "oct", "k": b64(b"attackers-secret-of-32-bytes-long") } });
    let token = hs256(b"attackers-secret-of-32-bytes-long", &own, &claims());
    assert_eq!(reason(&token, &rules, &shared()), Some(Reason::AuthSignature), "signed with the key that it brings");
}

#[test]
fn tokens_that_are_none_are_refused() {
    let rules = rules(&[Algorithm::Hs256]);
    let good = hs256(SECRET, &json!({ "alg": "HS256" }), &claims());
    let (signed, signature) = good.rsplit_once('.').unwrap();
    let (header, payload) = signed.split_once('.').unwrap();
    let changed = unsigned(&json!({ "alg": "HS256" }), &with("sub", json!("root")));
    let none = unsigned(&json!({ "alg": "none" }), &claims());
    let deep = format!("{}{}", "[".repeat(3_000), "]".repeat(3_000));
    for (what, token, wanted) in [
        ("empty", String::new(), Reason::AuthTokenMalformed),
        ("dots", "..".to_owned(), Reason::AuthTokenMalformed),
        ("two parts", signed.to_owned(), Reason::AuthTokenMalformed),
        ("four parts", format!("{good}.x"), Reason::AuthTokenMalformed),
        ("an empty signature", format!("{signed}."), Reason::AuthSignature),
        ("none with an empty signature", format!("{none}."), Reason::AuthAlgorithm),
        ("padding", format!("{good}="), Reason::AuthTokenMalformed),
        ("white space", format!("{header} .{payload}.{signature}"), Reason::AuthTokenMalformed),
        ("standard base64", good.replace(['-', '_'], "+") + "+", Reason::AuthTokenMalformed),
        (
            "two algorithms, the last of them none",
            format!("{}.{payload}.{signature}", b64(b"{\"alg\":\"HS256\",\"alg\":\"none\"}")),
            Reason::AuthAlgorithm,
        ),
        (
            "two algorithms, the first of them none",
            format!("{}.{payload}.{signature}", b64(b"{\"alg\":\"none\",\"alg\":\"HS256\"}")),
            Reason::AuthSignature,
        ),
        ("none in other letters", format!("{}.{payload}.", b64(b"{\"alg\":\"\\u006eone\"}")), Reason::AuthAlgorithm),
        ("other claims", format!("{changed}.{signature}"), Reason::AuthSignature),
        ("a signature cut short", format!("{signed}.{}", &signature[..signature.len() - 3]), Reason::AuthSignature),
        ("a header that is a list", format!("{}.{payload}.{signature}", b64(b"[]")), Reason::AuthTokenMalformed),
        ("a header that is no JSON", format!("{}.{payload}.{signature}", b64(b"{")), Reason::AuthTokenMalformed),
        ("a deep header", format!("{}.{payload}.{signature}", b64(deep.as_bytes())), Reason::AuthTokenMalformed),
        ("not UTF-8", format!("{}.{payload}.{signature}", b64(b"{\"alg\":\"\xff\"}")), Reason::AuthTokenMalformed),
        ("huge", format!("{}.{payload}.{signature}", "A".repeat(TOKEN_BYTES_MAX)), Reason::AuthTokenMalformed),
        ("encrypted, as JWE is", format!("{good}.{payload}.{payload}"), Reason::AuthTokenMalformed),
    ] {
        assert_eq!(reason(&token, &rules, &shared()), Some(wanted), "{what}");
    }
}

#[test]
fn every_changed_bit_of_a_token_is_seen() {
    let rules = rules(&[Algorithm::Hs256]);
    let good = hs256(SECRET, &json!({ "alg": "HS256" }), &claims());
    for at in 0..good.len() {
        for bit in 0..7 {
            let mut bytes = good.clone().into_bytes();
            bytes[at] ^= 1 << bit;
            assert!(rules.verify(&bytes, &shared(), NOW_S).is_err(), "byte {at}, bit {bit}");
        }
    }
}

#[test]
fn a_public_key_is_never_the_secret_of_an_hmac() {
    let rsa = RsaKeyPair::generate(KeySize::Rsa2048).unwrap();
    let der = AsDer::<aws_lc_rs::encoding::PublicKeyX509Der<'_>>::as_der(rsa.public_key()).unwrap();
    let pem = format!("-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n", STANDARD.encode(der.as_ref()));
    let key = VerifyKey::public(Some("r1"), der.as_ref(), Algorithm::ALL).unwrap();
    let keys = KeySet::new(vec![key]);
    // Even a scheme that takes everything.
    let rules = rules(&Algorithm::ALL);
    for secret in [der.as_ref(), pem.as_bytes(), pem.trim_end().as_bytes()] {
        for header in [json!({ "alg": "HS256", "kid": "r1" }), json!({ "alg": "HS256" })] {
            let token = hs256(secret, &header, &claims());
            assert_eq!(reason(&token, &rules, &keys), Some(Reason::AuthKeyUnknown));
        }
    }
}

#[test]
fn public_keys_verify_what_they_signed_and_nothing_else() {
    let random = SystemRandom::new();
    let rsa = RsaKeyPair::generate(KeySize::Rsa2048).unwrap();
    let ec = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap();
    let ed = Ed25519KeyPair::generate().unwrap();
    // RSAPublicKey: SEQUENCE { INTEGER modulus (with a leading zero), INTEGER 65537 }.
    let rsa_public = rsa.public_key().as_ref();
    let (modulus, exponent) = (&rsa_public[9..265], &rsa_public[rsa_public.len() - 3..]);
    let point = ec.public_key().as_ref().to_vec();
    let set = json!({ "keys": [
        { "kty": "RSA", "kid": "r", "use": "sig", "n": b64(modulus),
          "e": b64(exponent) },
        { "kty": "EC", "kid": "e", "crv": "P-256", "alg": "ES256", "x": b64(&point[1..33]), "y": b64(&point[33..]) },
        { "kty": "OKP", "kid": "o", "crv": "Ed25519", "key_ops": ["verify"], "x": b64(ed.public_key().as_ref()) },
        { "kty": "oct", "kid": "s", "k": b64(SECRET) },
        { "kty": "EC", "kid": "x", "crv": "secp256k1" },
        { "kty": "PQ", "kid": "new" },
    ] });
    let keys = parse_jwks(set.to_string().as_bytes(), Algorithms::public(), false).unwrap();
    assert_eq!(keys.len(), 3, "a secret from a URL is none");
    let rules = rules(&Algorithm::ALL);
    let sign = |algorithm: &str, id: &str, tampered: bool| {
        let text = unsigned(&json!({ "alg": algorithm, "kid": id }), &claims());
        let mut signature = match algorithm {
            "RS256" | "PS256" => {
                let mut out = vec![0; modulus.len()];
                let padding: &dyn aws_lc_rs::signature::RsaEncoding =
                    if algorithm == "RS256" { &RSA_PKCS1_SHA256 } else { &RSA_PSS_SHA256 };
                rsa.sign(padding, &random, text.as_bytes(), &mut out).unwrap();
                out
            }
            "ES256" => ec.sign(&random, text.as_bytes()).unwrap().as_ref().to_vec(),
            _ => ed.sign(text.as_bytes()).as_ref().to_vec(),
        };
        if tampered {
            signature[7] ^= 1;
        }
        format!("{text}.{}", b64(&signature))
    };
    for (algorithm, id) in [("RS256", "r"), ("PS256", "r"), ("ES256", "e"), ("EdDSA", "o"), ("Ed25519", "o")] {
        assert_eq!(reason(&sign(algorithm, id, false), &rules, &keys), None, "{algorithm}");
        assert_eq!(reason(&sign(algorithm, id, true), &rules, &keys), Some(Reason::AuthSignature), "{algorithm}");
        assert_eq!(reason(&sign(algorithm, "other", false), &rules, &keys), Some(Reason::AuthKeyUnknown));
        let nameless = sign(algorithm, id, false);
        assert_eq!(reason(&nameless, &rules, &KeySet::default()), Some(Reason::AuthKeyUnknown), "no key at all");
    }
    // The elliptic curve's zero signature (as Java once took it), and others of the wrong length.
    let text = unsigned(&json!({ "alg": "ES256", "kid": "e" }), &claims());
    for signature in [vec![0; 64], vec![0; 0], vec![0; 65], vec![0xff; 64]] {
        let token = format!("{text}.{}", b64(&signature));
        assert_eq!(reason(&token, &rules, &keys), Some(Reason::AuthSignature));
    }
    // A key for one algorithm is not for another one of the same kind.
    let token = unsigned(&json!({ "alg": "ES384", "kid": "e" }), &claims());
    assert_eq!(reason(&format!("{token}.{}", b64(&[1; 96])), &rules, &keys), Some(Reason::AuthKeyUnknown));
}

#[test]
fn sets_of_keys_that_are_of_no_use_say_why() {
    let key =
        json!({ "kty": "OKP", "crv": "Ed25519", "x": b64(Ed25519KeyPair::generate().unwrap().public_key().as_ref()) });
    let of = |keys: Value| json!({ "keys": keys }).to_string();
    let but = |name: &str, value: Value| {
        let mut key = key.clone();
        key[name] = value;
        of(json!([key]))
    };
    let many: Vec<Value> = vec![key.clone(); 101];
    for (what, text, wanted) in [
        ("good", of(json!([key])), None),
        ("empty", String::new(), Some(JwksError::Malformed)),
        ("HTML", "<html>".to_owned(), Some(JwksError::Malformed)),
        ("a list", "[]".to_owned(), Some(JwksError::Malformed)),
        ("no keys", of(json!([])), Some(JwksError::NoKey)),
        ("keys that are none", of(json!([1, "x", null, []])), Some(JwksError::NoKey)),
        ("for encryption", but("use", json!("enc")), Some(JwksError::NoKey)),
        ("for signing, which is the other side", but("key_ops", json!(["sign"])), Some(JwksError::NoKey)),
        ("of an unknown algorithm", but("alg", json!("XS1")), Some(JwksError::NoKey)),
        ("of another kind's algorithm", but("alg", json!("RS256")), Some(JwksError::NoKey)),
        ("of a shared secret's algorithm", but("alg", json!("HS256")), Some(JwksError::NoKey)),
        ("an id that is no text", but("kid", json!(7)), Some(JwksError::NoKey)),
        ("a long id", but("kid", json!("x".repeat(257))), Some(JwksError::NoKey)),
        ("a short key", but("x", json!(b64(&[1; 31]))), Some(JwksError::NoKey)),
        ("no base64", but("x", json!("!!")), Some(JwksError::NoKey)),
        ("a small RSA key", of(json!([{ "kty": "RSA", "n": b64(&[0xc1; 128]), "e": "AQAB" }])), Some(JwksError::NoKey)),
        ("a huge RSA key", of(json!([{ "kty": "RSA", "n": b64(&[0xc1; 2048]), "e": "AQAB" }])), Some(JwksError::NoKey)),
        (
            "a point off the curve",
            of(json!([{ "kty": "EC", "crv": "P-256", "x": b64(&[1; 32]), "y": b64(&[1; 32]) }])),
            Some(JwksError::NoKey),
        ),
        ("many", of(json!(many)), Some(JwksError::TooMany)),
        ("long", " ".repeat(JWKS_BYTES_MAX + 1), Some(JwksError::TooLong)),
    ] {
        let read = parse_jwks(text.as_bytes(), Algorithms::public(), false);
        assert_eq!(read.as_ref().err().copied(), wanted, "{what}");
    }
}

#[test]
fn a_secret_is_as_long_as_its_hash_and_shows_nowhere() {
    for (bytes, algorithm, wanted) in [
        (31, Algorithm::Hs256, Some(KeyError::SecretShort(32))),
        (32, Algorithm::Hs256, None),
        (47, Algorithm::Hs384, Some(KeyError::SecretShort(48))),
        (63, Algorithm::Hs512, Some(KeyError::SecretShort(64))),
        (64, Algorithm::Hs512, None),
    ] {
        let key = VerifyKey::secret(None, &vec![b'k'; bytes], [algorithm]);
        assert_eq!(key.as_ref().err().copied(), wanted, "{bytes}");
        assert!(!format!("{key:?}").contains("kkk"));
    }
}

#[test]
fn a_remembered_token_holds_as_long_as_it_and_its_key_do() {
    let rules = rules(&[Algorithm::Hs256]);
    let token = hs256(SECRET, &json!({ "alg": "HS256", "kid": "k1" }), &claims());
    let token = token.as_bytes();
    let mut cache = TokenCache::new(8, 100_000);
    let keys = shared();
    assert!(cache.find(token, &keys, NOW_S).is_none());
    cache.remember(token, rules.verify(token, &keys, NOW_S).unwrap());
    assert_eq!(cache.find(token, &keys, NOW_S).unwrap().unwrap().subject(), "ann");
    assert!(cache.find(&token[..token.len() - 1], &keys, NOW_S).is_none());
    let mut other = token.to_vec();
    other[0] ^= 1;
    assert!(cache.find(&other, &keys, NOW_S).is_none(), "the end alone is not the token");
    assert!(cache.find(token, &keys, NOW_S + 89).unwrap().is_ok());
    assert_eq!(cache.find(token, &keys, NOW_S + 90).unwrap().err(), Some(Reason::AuthExpired));

    cache.remember(token, rules.verify(token, &keys, NOW_S).unwrap());
    cache.keys_changed();
    let more = KeySet::new(vec![
        VerifyKey::secret(Some("k2"), &[7; 32], [Algorithm::Hs256]).unwrap(),
        VerifyKey::secret(Some("k1"), SECRET, [Algorithm::Hs256]).unwrap(),
    ]);
    assert!(cache.find(token, &more, NOW_S).unwrap().is_ok(), "its key is still there");
    cache.keys_changed();
    let rotated = KeySet::new(vec![VerifyKey::secret(Some("k2"), &[7; 32], [Algorithm::Hs256]).unwrap()]);
    assert!(cache.find(token, &rotated, NOW_S).is_none(), "its key is gone");
    assert!(!keys.is_same(&rotated) && keys.is_same(&shared()));
}

#[test]
fn a_token_without_a_key_id_is_tried_with_a_few_keys_only() {
    let key = |number: u8| VerifyKey::secret(Some(&number.to_string()), &[number; 32], [Algorithm::Hs256]).unwrap();
    let keys = KeySet::new((1..=6).map(key).collect());
    let rules = rules(&[Algorithm::Hs256]);
    for (number, wanted) in [(1, None), (4, None), (5, Some(Reason::AuthSignature))] {
        let token = hs256(&[number; 32], &json!({ "alg": "HS256" }), &claims());
        assert_eq!(reason(&token, &rules, &keys), wanted, "{number}");
    }
    let mut random = [0; 32];
    rand::fill(&mut random).unwrap();
    let token = hs256(&random, &json!({ "alg": "HS256", "kid": "5" }), &claims());
    assert_eq!(reason(&token, &rules, &keys), Some(Reason::AuthSignature));
}
