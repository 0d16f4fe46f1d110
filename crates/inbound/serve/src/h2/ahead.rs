use std::task::{Context, Poll, Waker};

use bytes::{Bytes, BytesMut};
use h2::RecvStream;
use leat_message::WHOLE_BODY_BYTES_MAX;

use super::head::OwnedHead;

/// What has come of a body together with its head.
#[derive(Default)]
pub(super) struct Ahead {
    bytes: Bytes,
    /// Whether that is all of it.
    is_whole: bool,
}

impl Ahead {
    /// Takes what is there, without waiting. A body in one piece is not copied. Nothing is taken of one that the client waits
    /// to be asked for, and nothing beyond a limit: the exchange step says what is wrong with such a body.
    pub(super) fn read(recv: &mut RecvStream, head: &OwnedHead, bytes_max: u64) -> Self {
        let mut ahead = Self::default();
        if recv.is_end_stream() || head.view().lines().expect_continue {
            return ahead;
        }
        let room = usize::try_from(bytes_max).unwrap_or(usize::MAX).min(WHOLE_BODY_BYTES_MAX);
        // Whoever goes on with the body polls it again, with a task to wake.
        let mut cx = Context::from_waker(Waker::noop());
        while ahead.bytes.len() < room
            && let Poll::Ready(Some(Ok(piece))) = recv.poll_data(&mut cx)
        {
            ahead.put(piece);
            if recv.is_end_stream() {
                ahead.is_whole = !ahead.bytes.is_empty() && ahead.bytes.len() <= room;
                break;
            }
        }
        ahead
    }

    /// The body, where all of it is here.
    pub(super) fn whole(&self) -> Option<&[u8]> {
        self.is_whole.then_some(&*self.bytes)
    }

    /// Throws it away: the client may send as much again.
    pub(super) fn let_go(self, recv: &mut RecvStream) -> Self {
        // Fails only for more than was received.
        let _ = recv.flow_control().release_capacity(self.bytes.len());
        Self::default()
    }

    /// Takes the bytes out, which count as received but not yet as consumed.
    pub(super) fn take(&mut self) -> Option<Bytes> {
        let bytes = std::mem::take(&mut self.bytes);
        (!bytes.is_empty()).then_some(bytes)
    }

    fn put(&mut self, piece: Bytes) {
        if self.bytes.is_empty() {
            self.bytes = piece;
        } else if !piece.is_empty() {
            let mut both = BytesMut::with_capacity(self.bytes.len() + piece.len());
            both.extend_from_slice(&self.bytes);
            both.extend_from_slice(&piece);
            self.bytes = both.freeze();
        }
    }
}
