use leat_message::{Head, Length, Method, Name, RequestLines, Span};

use super::Patch;
use super::changes::{Changed, takes_coding};

/// A request's head as plug-ins changed it: a copy, whose memory is used again.
#[derive(Debug, Default)]
pub(super) struct Rewritten {
    text: Changed,
    lines: RequestLines,
}

impl Rewritten {
    /// Takes a head over with the changes of a patch.
    pub(super) fn take(&mut self, head: Head<'_>, patch: &impl Patch) {
        let Self { text, lines } = self;
        text.clear();
        // Lent while it is filled: the ranges of all fields are in it at the end.
        text.list = std::mem::take(&mut lines.fields);
        text.list.clear();
        let before = head.lines();
        let (target, path, query) = match patch.target() {
            None => {
                let target = text.put(head.target());
                // Neither need be a part of the target: that of HTTP/2 has no authority in it.
                (target, text.put(head.path()), head.query().map(|query| text.put(query)))
            }
            Some(target) => {
                let target_span = text.put(target);
                let (start, end) = (target_span.start as usize, target_span.end as usize);
                match target.iter().position(|byte| *byte == b'?') {
                    None => (target_span, target_span, None),
                    Some(at) => (target_span, Span::new(start, start + at), Some(Span::new(start + at + 1, end))),
                }
            }
        };
        let method = patch.method().unwrap_or(head.method_bytes());
        let method_span = text.put(method);
        let (put, plain) = (patch.body(), takes_coding(patch));
        text.take(head.fields(), patch, |id| {
            plain && id == Name::ContentEncoding
                || put.is_some() && matches!(id, Name::TransferEncoding | Name::Trailer | Name::Expect)
        });
        let length = match put {
            None => before.length,
            // None instead of none.
            Some([]) if before.length == Length::None => Length::None,
            Some(body) => {
                text.revalue(Name::ContentLength, body.len().to_string().as_bytes());
                Length::Known(body.len() as u64)
            }
        };
        let edits_host = patch.edits().any(|(name, value)| value.is_some() && Name::from_bytes(name) == Name::Host);
        let authority = match text.fields().get(Name::Host) {
            Some(host) if edits_host => {
                let host = host.to_vec();
                text.put(&host)
            }
            _ => text.put(head.authority()),
        };
        *lines = RequestLines {
            method: Method::from_bytes(method),
            method_span,
            target,
            authority,
            path,
            query,
            version: before.version,
            fields: std::mem::take(&mut text.list),
            length,
            keep_alive: before.keep_alive,
            expect_continue: before.expect_continue && put.is_none(),
            upgrade: before.upgrade,
        };
    }

    pub(super) fn head(&self) -> Head<'_> {
        Head::new(&self.text.bytes, &self.lines)
    }

    /// Whether the client still waits for 100 (Continue): its connection knows.
    pub(super) fn expects_continue(&mut self, expects: bool) {
        self.lines.expect_continue &= expects;
    }
}
