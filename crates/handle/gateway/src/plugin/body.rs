use std::future::poll_fn;
use std::task::Poll;

use leat_message::{Exchange, Length, Method, Piece, Reason};

/// How much of a body plug-ins may read, and whether a longer one passes beside them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BodyRule {
    pub(crate) bytes_max: usize,
    pub(crate) passes: bool,
}

/// A request's body as plug-ins have read it, or put it: what answers reads it again from here.
#[derive(Debug, Default)]
pub(crate) struct RequestBody {
    bytes: Vec<u8>,
    /// How much of it was read again.
    read: usize,
    extent: Extent,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Extent {
    /// Nobody has touched it.
    #[default]
    Untouched,
    /// The beginning is here, and the client's connection has the rest.
    Beginning,
    Whole,
    /// It is a plug-in's, and the client's is nobody's.
    Put,
}

impl RequestBody {
    /// Reads all of it, and gives a copy: `None` for one that is too long and passes, whose rest is still to be read.
    ///
    /// # Errors
    /// `plugin.request_body` for one that is too long otherwise; what the client's connection says.
    pub(crate) async fn take<X: Exchange>(&mut self, x: &mut X, rule: BodyRule) -> Result<Option<Vec<u8>>, Reason> {
        let head = x.request();
        match head.length() {
            _ if head.method() == Method::Connect => return Ok(None),
            Length::None => return Ok(Some(Vec::new())),
            Length::Known(count) if count > rule.bytes_max as u64 => return too_long(rule),
            _ => {}
        }
        self.extent = Extent::Beginning;
        loop {
            let bytes = &mut self.bytes;
            let piece = poll_fn(|cx| match x.poll_body(cx) {
                Poll::Pending => Poll::Pending,
                Poll::Ready(Err(reason)) => Poll::Ready(Err(reason)),
                Poll::Ready(Ok(Piece::End)) => Poll::Ready(Ok(Some(0))),
                Poll::Ready(Ok(Piece::Data(piece))) if bytes.len() + piece.len() > rule.bytes_max => {
                    Poll::Ready(Ok(None))
                }
                Poll::Ready(Ok(Piece::Data(piece))) => {
                    bytes.extend_from_slice(piece);
                    Poll::Ready(Ok(Some(piece.len())))
                }
            });
            match piece.await? {
                Some(0) => break,
                Some(count) => x.consume(count),
                None => return too_long(rule),
            }
        }
        self.extent = Extent::Whole;
        Ok(Some(self.bytes.clone()))
    }

    /// Puts another one in its place.
    pub(super) fn put(&mut self, bytes: &[u8]) {
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        (self.read, self.extent) = (0, Extent::Put);
    }

    /// Whether it is as the client's connection has it.
    pub(super) fn is_untouched(&self) -> bool {
        self.extent == Extent::Untouched
    }

    /// Whether it is a plug-in's.
    pub(super) fn is_put(&self) -> bool {
        self.extent == Extent::Put
    }

    /// What is to be read before the client's connection is asked; that it is not asked at all.
    pub(super) fn piece(&self) -> Option<Piece<'_>> {
        match self.bytes.get(self.read..) {
            Some(rest) if !rest.is_empty() => Some(Piece::Data(rest)),
            _ if matches!(self.extent, Extent::Whole | Extent::Put) => Some(Piece::End),
            _ => None,
        }
    }

    /// Takes bytes off; says how many are those of the client's connection.
    pub(super) fn consume(&mut self, count: usize) -> usize {
        let own = count.min(self.bytes.len().saturating_sub(self.read));
        self.read += own;
        count - own
    }
}

fn too_long(rule: BodyRule) -> Result<Option<Vec<u8>>, Reason> {
    if rule.passes { Ok(None) } else { Err(Reason::PluginRequestBody) }
}
