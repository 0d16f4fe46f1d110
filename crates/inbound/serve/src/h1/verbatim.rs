use leat_h1::BodyEncoder;
use leat_message::Length;

use super::reply::{H1Reply, Head, Phase};

/// Heads that the handler formatted, and exchanges whose bytes are all its own.
impl H1Reply {
    /// Appends a whole final head. The body behind it passes as it is.
    pub(super) fn verbatim(&mut self, status: u16, head: &[u8]) {
        debug_assert_eq!(self.phase, Phase::Waiting, "a final head comes first and once");
        if self.phase != Phase::Waiting {
            return;
        }
        self.status = status;
        self.record.status = status;
        self.output.buffer().extend_from_slice(head);
        let framed = self.keep_alive || is_framed(head);
        self.pass_on(Length::Close, if framed { Head::GivenFramed } else { Head::Given });
    }

    /// Appends a whole reply that the handler formatted; says whether there was a place for it.
    pub(super) fn whole(&mut self, status: u16, head: &[u8], body: &[u8], keep: bool) -> bool {
        if self.phase != Phase::Waiting {
            return false;
        }
        self.status = status;
        self.record.status = status;
        self.keep_alive &= keep;
        let out = self.output.buffer();
        out.extend_from_slice(head);
        out.extend_from_slice(body);
        self.record.bytes_out += body.len() as u64;
        (self.length, self.head, self.phase) = (Length::Close, Head::GivenFramed, Phase::Done);
        true
    }

    /// Appends an interim response as it is; says whether there was still a place for it.
    pub(super) fn interim_verbatim(&mut self, status: u16, head: &[u8]) -> bool {
        if !self.takes_interim(status) {
            return false;
        }
        self.output.buffer().extend_from_slice(head);
        self.mark = self.output.mark();
        true
    }

    /// Lets the connection end after this reply unless `keep`.
    pub(super) fn lower_keep_alive(&mut self, keep: bool) {
        if keep || !self.keep_alive {
            return;
        }
        self.keep_alive = false;
        // Of a head that has left, the handler said so far that the connection goes on: then its body has framing.
        if self.head == Head::GivenFramed && !self.sent {
            let mark = self.mark;
            let head = self.output.buffer().get(mark..).unwrap_or_default();
            self.head = if is_framed(head) { Head::GivenFramed } else { Head::Given };
        }
    }

    /// Turns the reply into raw bytes of which none is the engine's; says whether that was still possible.
    pub(super) fn take_over(&mut self) -> bool {
        let is_given = self.phase == Phase::Body && self.head != Head::Encoded;
        if self.phase != Phase::Waiting && !is_given {
            return false;
        }
        self.pass_on(Length::Tunnel, Head::Given);
        self.tunnel = true;
        true
    }

    /// Whether [`H1Reply::take_over`] has happened.
    pub(super) fn is_taken_over(&self) -> bool {
        self.tunnel && self.head != Head::Encoded
    }

    /// From here on bytes pass as they are, until the call to end them.
    fn pass_on(&mut self, length: Length, head: Head) {
        self.phase = Phase::Body;
        self.length = length;
        self.encoder = BodyEncoder::new(length);
        self.head = head;
    }
}

/// Whether a head has a field that delimits its body.
fn is_framed(head: &[u8]) -> bool {
    let lines = head.split(|&byte| byte == b'\n').take_while(|line| !matches!(*line, b"" | b"\r"));
    lines
        .filter_map(|line| line.split(|&byte| byte == b':').next())
        .any(|name| name.eq_ignore_ascii_case(b"content-length") || name.eq_ignore_ascii_case(b"transfer-encoding"))
}

#[cfg(test)]
mod tests {
    use super::is_framed;

    #[test]
    fn framing_is_found_in_a_head_only() {
        for (head, framed) in [
            ("HTTP/1.1 200 OK\r\ndate: x\r\nContent-Length: 3\r\n\r\n", true),
            ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", true),
            ("HTTP/1.1 200 OK\r\nx-content-length: 3\r\n\r\n", false),
            ("HTTP/1.1 200 OK\r\n\r\ncontent-length: 3\r\n\r\n", false),
            ("HTTP/1.1 200 OK\nContent-Length: 3\n\n", true),
            ("", false),
        ] {
            assert_eq!(is_framed(head.as_bytes()), framed, "{head:?}");
        }
    }
}
