use leat_message::Head;

use super::admission::Verdict;
use super::admitted::FieldLines;
use crate::config::Decompression;
use crate::decompress::coding_of;

/// Refuses bodies in codings that the route does not take, and says which it does (RFC 9110 section 15.5.16).
pub(super) struct CodingCheck {
    config: Decompression,
    accepted: String,
}

impl CodingCheck {
    pub(super) fn new(config: &Decompression) -> Self {
        let names: Vec<&str> = config.codings().iter().map(|coding| coding.name()).collect();
        Self { config: config.clone(), accepted: names.join(", ") }
    }

    pub(super) fn ask(&self, head: Head<'_>, reply: &mut FieldLines) -> Verdict {
        match coding_of(&self.config, head) {
            Ok(_) => Verdict::Admit,
            Err(reason) => {
                reply.put(b"accept-encoding", |out| out.extend_from_slice(self.accepted.as_bytes()));
                Verdict::Refuse(reason)
            }
        }
    }
}
