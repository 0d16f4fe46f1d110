use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::TlsStream;

/// A connected byte stream without encryption.
#[derive(Debug)]
pub enum Plain {
    /// TCP; the one who made it has set TCP_NODELAY.
    Tcp(TcpStream),
    /// A Unix socket.
    Unix(UnixStream),
}

/// A connected byte stream of any kind that Leat speaks over; dispatch is a branch, not a virtual call.
#[derive(Debug)]
pub enum Socket {
    /// No encryption.
    Plain(Plain),
    /// TLS in either role; boxed since it is large and rare beside plain sockets.
    Tls(Box<TlsStream<Plain>>),
}

impl From<TcpStream> for Socket {
    fn from(stream: TcpStream) -> Self {
        Self::Plain(Plain::Tcp(stream))
    }
}

impl From<UnixStream> for Socket {
    fn from(stream: UnixStream) -> Self {
        Self::Plain(Plain::Unix(stream))
    }
}

impl From<TlsStream<Plain>> for Socket {
    fn from(stream: TlsStream<Plain>) -> Self {
        Self::Tls(Box::new(stream))
    }
}

macro_rules! each_plain {
    ($self:expr, $stream:ident => $call:expr) => {
        match $self.get_mut() {
            Plain::Tcp($stream) => $call,
            Plain::Unix($stream) => $call,
        }
    };
}

impl AsyncRead for Plain {
    #[inline]
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        each_plain!(self, stream => Pin::new(stream).poll_read(cx, buf))
    }
}

impl AsyncWrite for Plain {
    #[inline]
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        each_plain!(self, stream => Pin::new(stream).poll_write(cx, buf))
    }

    #[inline]
    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        each_plain!(self, stream => Pin::new(stream).poll_write_vectored(cx, bufs))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    #[inline]
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        each_plain!(self, stream => Pin::new(stream).poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        each_plain!(self, stream => Pin::new(stream).poll_shutdown(cx))
    }
}

macro_rules! each {
    ($self:expr, $stream:ident => $call:expr) => {
        match $self.get_mut() {
            Socket::Plain($stream) => $call,
            Socket::Tls($stream) => $call,
        }
    };
}

impl AsyncRead for Socket {
    #[inline]
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        each!(self, stream => Pin::new(stream).poll_read(cx, buf))
    }
}

impl AsyncWrite for Socket {
    #[inline]
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        each!(self, stream => Pin::new(stream).poll_write(cx, buf))
    }

    #[inline]
    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        each!(self, stream => Pin::new(stream).poll_write_vectored(cx, bufs))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    #[inline]
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        each!(self, stream => Pin::new(stream).poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        each!(self, stream => Pin::new(stream).poll_shutdown(cx))
    }
}
