use std::fmt;
use std::io;

/// Why a server can't be used, in words for a log. Nothing in it is a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// No connection.
    Connect(io::ErrorKind),
    /// No TLS: what rustls says, as of a certificate that is not trusted.
    Tls(String),
    /// It does not let us in; the first word of its error, since the rest may repeat what we sent.
    Login(String),
    /// It answered a command with an error; its first word.
    Refused(String),
    /// It is a replica.
    NotMaster,
    /// It is a cluster, or part of one, and was not announced as such.
    Cluster,
    /// It ended the connection.
    Ended,
    /// It took too long.
    Late,
    /// It does not speak the protocol, or answered what nobody asked.
    Malformed,
    /// Sentinels have not heard of the master of this name.
    UnknownMaster,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connect(kind) => write!(f, "it cannot be connected to: {kind}"),
            Self::Tls(what) => write!(f, "no TLS: {what}"),
            Self::Login(code) => write!(f, "it lets nobody in with this user and password ({code})"),
            Self::Refused(code) => write!(f, "it answered with an error ({code})"),
            Self::NotMaster => f.write_str("it is a replica, not the master"),
            Self::Cluster => f.write_str("it is a node of a cluster: name it under `cluster`"),
            Self::Ended => f.write_str("it ended the connection"),
            Self::Late => f.write_str("it took too long to answer"),
            Self::Malformed => f.write_str("it does not speak Redis's protocol"),
            Self::UnknownMaster => f.write_str("it knows no master of this name"),
        }
    }
}

impl std::error::Error for Problem {}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::Ended,
            io::ErrorKind::InvalidData => Self::Malformed,
            io::ErrorKind::TimedOut => Self::Late,
            kind => Self::Connect(kind),
        }
    }
}

/// The first word of a server's error, as `WRONGPASS`: capitals, and short.
pub(crate) fn code(error: &[u8]) -> String {
    let word = error.iter().take_while(|byte| byte.is_ascii_uppercase()).take(32);
    let word: String = word.map(|byte| char::from(*byte)).collect();
    if word.is_empty() { "ERR".to_owned() } else { word }
}
