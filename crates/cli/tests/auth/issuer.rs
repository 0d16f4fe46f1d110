//! A token issuer: it signs, publishes its keys, rotates them, and misbehaves when told to.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// A key that tokens are signed with (ES256).
pub(crate) struct Key {
    id: String,
    pair: EcdsaKeyPair,
}

pub(crate) fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

/// Claims of `sub`, good for a minute, with more members of JSON.
pub(crate) fn claims(more: &str) -> String {
    let comma = if more.is_empty() { "" } else { "," };
    format!(
        "{{\"iss\":\"https://issuer.example\",\"aud\":\"api\",\"sub\":\"ann\",\"exp\":{}{comma}{more}}}",
        now_s() + 60
    )
}

impl Key {
    pub(crate) fn new(id: &str) -> Self {
        Self { id: id.to_owned(), pair: EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap() }
    }

    pub(crate) fn sign(&self, claims: &str) -> String {
        let header = format!("{{\"alg\":\"ES256\",\"kid\":\"{}\"}}", self.id);
        let text = format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(claims));
        let signature = self.pair.sign(&SystemRandom::new(), text.as_bytes()).unwrap();
        format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature))
    }

    pub(crate) fn jwk(&self) -> String {
        let point = self.pair.public_key().as_ref();
        let (x, y) = (URL_SAFE_NO_PAD.encode(&point[1..33]), URL_SAFE_NO_PAD.encode(&point[33..]));
        format!("{{\"kty\":\"EC\",\"crv\":\"P-256\",\"kid\":\"{}\",\"x\":\"{x}\",\"y\":\"{y}\"}}", self.id)
    }
}

pub(crate) fn set(keys: &[&Key]) -> String {
    let keys: Vec<String> = keys.iter().map(|key| key.jwk()).collect();
    format!("{{\"keys\":[{}]}}", keys.join(","))
}

/// How the issuer answers.
#[derive(Clone)]
pub(crate) enum Manner {
    Keys(String),
    Status(u16),
    Hang,
    /// Never ends.
    Endless,
    Garbage,
}

/// The server of keys.
pub(crate) struct Issuer {
    address: SocketAddr,
    manner: Arc<Mutex<Manner>>,
    asked: Arc<AtomicUsize>,
}

impl Issuer {
    pub(crate) fn new(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (manner, asked) = (Arc::new(Mutex::new(manner)), Arc::new(AtomicUsize::new(0)));
        let (seen, count) = (Arc::clone(&manner), Arc::clone(&asked));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (seen, count) = (Arc::clone(&seen), Arc::clone(&count));
                std::thread::spawn(move || serve(stream, &seen, &count));
            }
        });
        Self { address, manner, asked }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/jwks.json?tenant=a", self.address)
    }

    pub(crate) fn behave(&self, manner: Manner) {
        *self.manner.lock().unwrap() = manner;
    }

    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

/// One request a connection; ends without a word where the other side does.
fn serve(mut stream: TcpStream, manner: &Mutex<Manner>, asked: &AtomicUsize) {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(1) => head.push(byte[0]),
            _ => return,
        }
    }
    assert!(head.starts_with(b"GET /jwks.json?tenant=a HTTP/1.1\r\n"), "{}", String::from_utf8_lossy(&head));
    asked.fetch_add(1, Ordering::SeqCst);
    let whole = |status: u16, body: &str| {
        format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
    };
    let manner = manner.lock().unwrap().clone();
    let _ = match manner {
        Manner::Keys(keys) => stream.write_all(whole(200, &keys).as_bytes()),
        Manner::Status(status) => stream.write_all(whole(status, "").as_bytes()),
        Manner::Garbage => stream.write_all(whole(200, "<html>").as_bytes()),
        Manner::Hang => {
            // Until the other side gives up.
            let _ = stream.read(&mut byte);
            return;
        }
        Manner::Endless => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
            let spaces = [b' '; 65_536];
            while stream.write_all(&spaces).is_ok() {}
            return;
        }
    };
}
