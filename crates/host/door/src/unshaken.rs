use leat_listen::TlsProblem;

/// How Node names what was wrong with a handshake: its error's code, and OpenSSL's words for it.
pub(crate) fn in_openssls_words(problem: TlsProblem) -> (String, String) {
    let words = match problem {
        TlsProblem::Ended => return ("ECONNRESET".into(), "socket hang up".into()),
        TlsProblem::Reset => return ("ECONNRESET".into(), "read ECONNRESET".into()),
        TlsProblem::Time => return ("ERR_TLS_HANDSHAKE_TIMEOUT".into(), "TLS handshake timeout".into()),
        TlsProblem::Alert(number) => return openssls(&alert(number)),
        TlsProblem::PlainHttp => "http request",
        TlsProblem::NoTls => "wrong version number",
        TlsProblem::Version => "unsupported protocol",
        TlsProblem::Suite => "no shared cipher",
        TlsProblem::Protocol => "no application protocol",
        TlsProblem::CertificateMissing => "peer did not return a certificate",
        TlsProblem::CertificateRefused => "certificate verify failed",
        TlsProblem::Other => "unexpected message",
    };
    openssls(words)
}

/// OpenSSL's codes are its words.
fn openssls(words: &str) -> (String, String) {
    let name = words.to_ascii_uppercase().replace(' ', "_");
    (format!("ERR_SSL_{name}"), words.to_owned())
}

/// What OpenSSL calls an alert that it received: after the version that brought it (RFC 8446 appendix B.2).
fn alert(number: u8) -> String {
    let (version, name) = match number {
        10 => ("sslv3", "unexpected message"),
        20 => ("sslv3", "bad record mac"),
        30 => ("sslv3", "decompression failure"),
        40 => ("sslv3", "handshake failure"),
        41 => ("sslv3", "no certificate"),
        42 => ("sslv3", "bad certificate"),
        43 => ("sslv3", "unsupported certificate"),
        44 => ("sslv3", "certificate revoked"),
        45 => ("sslv3", "certificate expired"),
        46 => ("sslv3", "certificate unknown"),
        47 => ("sslv3", "illegal parameter"),
        22 => ("tlsv1", "record overflow"),
        48 => ("tlsv1", "unknown ca"),
        49 => ("tlsv1", "access denied"),
        50 => ("tlsv1", "decode error"),
        51 => ("tlsv1", "decrypt error"),
        70 => ("tlsv1", "protocol version"),
        71 => ("tlsv1", "insufficient security"),
        80 => ("tlsv1", "internal error"),
        90 => ("tlsv1", "user cancelled"),
        120 => ("tlsv1", "no application protocol"),
        other => return format!("reason({})", 1000 + u32::from(other)),
    };
    format!("{version} alert {name}")
}
