use crate::Failure;
use crate::problem::code;

/// Why a server has not run the script, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Nothing.
    Failure(Failure),
    /// Nothing: it answered with an error that no other question would change; its first word.
    Error(String),
    /// It has forgotten the script, and is being told again: ask it once more.
    NoScript,
    /// The slot belongs to the server at this address: ask there, and look at the topology.
    Moved(Box<[u8]>),
    /// The key is at the server of this address already, though its slot is not: ask there, this once.
    Ask(Box<[u8]>),
    /// The slot is moving, and its keys are at two servers: ask again in a moment.
    TryAgain,
    /// It is no master any more, or its cluster is not whole: look at the topology.
    NotMaster,
}

impl Refusal {
    /// What an error says (without its `-`).
    pub(crate) fn read(error: &[u8]) -> Self {
        let mut words = error.split(|byte| *byte == b' ');
        let word = words.next().unwrap_or_default();
        let mut address = || words.nth(1).map(Box::from);
        let known = match word {
            b"NOSCRIPT" => Some(Self::NoScript),
            b"MOVED" => address().map(Self::Moved),
            b"ASK" => address().map(Self::Ask),
            b"TRYAGAIN" => Some(Self::TryAgain),
            b"READONLY" | b"MASTERDOWN" | b"CLUSTERDOWN" => Some(Self::NotMaster),
            // Before Redis 7 scripts tell of the error inside their own.
            _ => error.windows(10).any(|part| part == b"-READONLY ").then_some(Self::NotMaster),
        };
        known.unwrap_or_else(|| Self::Error(code(error)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_say_what_to_do() {
        for (error, wanted) in [
            ("NOSCRIPT No matching script.", Refusal::NoScript),
            ("MOVED 3999 127.0.0.1:6381", Refusal::Moved(b"127.0.0.1:6381".as_slice().into())),
            ("ASK 3999 :6381", Refusal::Ask(b":6381".as_slice().into())),
            ("MOVED 3999", Refusal::Error("MOVED".to_owned())),
            ("TRYAGAIN Multiple keys request during rehashing of slot", Refusal::TryAgain),
            ("CLUSTERDOWN Hash slot not served", Refusal::NotMaster),
            ("READONLY You can't write against a read only replica.", Refusal::NotMaster),
            ("ERR Error running script: @user_script:97: -READONLY You can't write", Refusal::NotMaster),
            ("OOM command not allowed", Refusal::Error("OOM".to_owned())),
            ("", Refusal::Error("ERR".to_owned())),
        ] {
            assert_eq!(Refusal::read(error.as_bytes()), wanted, "{error}");
        }
    }
}
