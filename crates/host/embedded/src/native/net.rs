//! What `node:net` and `node:dns` are made of: streams over TCP and over sockets of the file system, listeners, and names.
//! JavaScript reads a piece when it wants one, so nothing is read ahead of it.

use std::cell::{Cell, RefCell};
use std::io::Error;
use std::net::{IpAddr, Shutdown, SocketAddr};
use std::rc::Rc;
use std::time::Duration;

use rquickjs::class::Trace;
use rquickjs::function::Func;
use rquickjs::{Class, Ctx, Function, IntoJs, JsLifetime, Object, Result, TypedArray, Value};
use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpListener, TcpSocket, TcpStream, UnixListener, UnixStream};
use tokio::sync::Notify;

use crate::host::{Failure, Hold, Host};
use crate::native::{errno, later, view};

type Done<T> = std::result::Result<T, Failure>;

/// Bytes of one read.
const READ_BYTES: usize = 64 * 1024;

pub(super) fn make<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let group = Object::new(ctx.clone())?;
    group.set("connect", Func::from(connect))?;
    group.set("listen", Func::from(listen))?;
    group.set("lookup", Func::from(lookup))?;
    Ok(group)
}

enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Stream {
    async fn readable(&self) -> std::io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.readable().await,
            Self::Unix(stream) => stream.readable().await,
        }
    }

    async fn writable(&self) -> std::io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.writable().await,
            Self::Unix(stream) => stream.writable().await,
        }
    }

    fn try_read(&self, bytes: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.try_read(bytes),
            Self::Unix(stream) => stream.try_read(bytes),
        }
    }

    fn try_write(&self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.try_write(bytes),
            Self::Unix(stream) => stream.try_write(bytes),
        }
    }

    /// One piece; none at the end.
    async fn read(&self) -> Done<Piece> {
        let mut bytes = vec![0; READ_BYTES];
        loop {
            self.readable().await.map_err(|error| failed(&error, "read"))?;
            match self.try_read(&mut bytes) {
                Ok(length) => {
                    bytes.truncate(length);
                    bytes.shrink_to_fit();
                    return Ok(Piece(bytes));
                }
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(failed(&error, "read")),
            }
        }
    }

    async fn write(&self, bytes: &[u8]) -> Done<()> {
        let mut left = bytes;
        while !left.is_empty() {
            self.writable().await.map_err(|error| failed(&error, "write"))?;
            match self.try_write(left) {
                Ok(length) => left = left.get(length..).unwrap_or_default(),
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(failed(&error, "write")),
            }
        }
        Ok(())
    }
}

/// What was read; undefined for nothing.
struct Piece(Vec<u8>);

impl<'js> IntoJs<'js> for Piece {
    fn into_js(self, ctx: &Ctx<'js>) -> Result<Value<'js>> {
        if self.0.is_empty() {
            return Ok(Value::new_undefined(ctx.clone()));
        }
        view::buffer(ctx, &self.0)
    }
}

fn failed(error: &Error, syscall: &'static str) -> Failure {
    let number = errno::number(error);
    let code = errno::describe(number).0;
    Failure {
        message: format!("{syscall} {code}"),
        code,
        errno: Some(-number),
        syscall: Some(syscall),
        ..Failure::default()
    }
}

/// An address as JavaScript takes it: `[address, port, family]`.
struct Place(String, u16, &'static str);

impl From<SocketAddr> for Place {
    fn from(address: SocketAddr) -> Self {
        Self(address.ip().to_string(), address.port(), if address.is_ipv4() { "IPv4" } else { "IPv6" })
    }
}

impl<'js> IntoJs<'js> for Place {
    fn into_js(self, ctx: &Ctx<'js>) -> Result<Value<'js>> {
        vec![self.0.into_js(ctx)?, self.1.into_js(ctx)?, self.2.into_js(ctx)?].into_js(ctx)
    }
}

/// A stream under way, which keeps the program running unless it is told not to.
#[derive(JsLifetime, Trace)]
#[rquickjs::class]
pub(super) struct Connection {
    #[qjs(skip_trace)]
    stream: RefCell<Option<Rc<Stream>>>,
    /// Tells what waits for the stream that it is closed.
    #[qjs(skip_trace)]
    closed: Rc<Notify>,
    #[qjs(skip_trace)]
    hold: RefCell<Option<Hold>>,
}

impl Connection {
    fn new(stream: Stream, hold: Option<Hold>) -> Self {
        Self { stream: RefCell::new(Some(Rc::new(stream))), closed: Rc::default(), hold: RefCell::new(hold) }
    }

    fn stream(&self) -> Option<Rc<Stream>> {
        self.stream.borrow().clone()
    }

    fn with_tcp<R>(&self, work: impl FnOnce(&TcpStream) -> R) -> Option<R> {
        match self.stream().as_deref() {
            Some(Stream::Tcp(stream)) => Some(work(stream)),
            _ => None,
        }
    }
}

#[rquickjs::methods]
impl Connection {
    /// Calls back with a piece, or with nothing at the end. One at a time.
    fn read<'js>(&self, ctx: Ctx<'js>, callback: Function<'js>) -> Result<()> {
        let (stream, closed) = (self.stream(), Rc::clone(&self.closed));
        later::answer_holding(&ctx, callback, None, async move {
            let Some(stream) = stream else { return Ok(Piece(Vec::new())) };
            tokio::select! {
                biased;
                () = closed.notified() => Ok(Piece(Vec::new())),
                read = stream.read() => read,
            }
        })
    }

    /// Calls back when all was taken. One at a time.
    fn write<'js>(&self, ctx: Ctx<'js>, data: TypedArray<'js, u8>, callback: Function<'js>) -> Result<()> {
        let (stream, closed) = (self.stream(), Rc::clone(&self.closed));
        let bytes = view::read(&data, <[u8]>::to_vec);
        let hold = Host::of(&ctx)?.hold();
        later::answer_holding(&ctx, callback, Some(hold), async move {
            let gone = || failed(&Error::from(rustix::io::Errno::PIPE), "write");
            let Some(stream) = stream else { return Err(gone()) };
            tokio::select! {
                biased;
                () = closed.notified() => Err(gone()),
                written = stream.write(&bytes) => written,
            }
        })
    }

    /// Tells the peer that nothing more comes.
    fn shutdown(&self) {
        let Some(stream) = self.stream() else { return };
        let _ = match &*stream {
            Stream::Tcp(stream) => SockRef::from(stream).shutdown(Shutdown::Write),
            Stream::Unix(stream) => SockRef::from(stream).shutdown(Shutdown::Write),
        };
    }

    fn close(&self) {
        self.stream.borrow_mut().take();
        self.hold.borrow_mut().take();
        self.closed.notify_waiters();
        // A read that begins only now is told as well.
        self.closed.notify_one();
    }

    /// Closes so that the peer is told of a failure.
    fn reset(&self) {
        let _ = self.with_tcp(|stream| SockRef::from(stream).set_linger(Some(Duration::ZERO)));
        self.close();
    }

    #[qjs(rename = "setNoDelay")]
    fn set_no_delay(&self, on: bool) {
        let _ = self.with_tcp(|stream| stream.set_nodelay(on));
    }

    #[qjs(rename = "setKeepAlive")]
    fn set_keep_alive(&self, on: bool, seconds: f64) {
        let _ = self.with_tcp(|stream| {
            let socket = SockRef::from(stream);
            socket.set_keepalive(on)?;
            if on && seconds >= 1.0 {
                socket.set_tcp_keepalive(
                    &TcpKeepalive::new().with_time(Duration::from_secs_f64(seconds.min(32_767.0))),
                )?;
            }
            std::io::Result::Ok(())
        });
    }

    fn local(&self) -> Option<Place> {
        self.with_tcp(|stream| stream.local_addr().ok().map(Place::from)).flatten()
    }

    fn remote(&self) -> Option<Place> {
        self.with_tcp(|stream| stream.peer_addr().ok().map(Place::from)).flatten()
    }

    fn hold(&self, ctx: Ctx<'_>, holds: bool) -> Result<()> {
        let hold = if holds && self.stream().is_some() { Some(Host::of(&ctx)?.hold()) } else { None };
        self.hold.replace(hold);
        Ok(())
    }
}

/// A stream that becomes a [`Connection`] where there is JavaScript.
struct Connected(Stream);

impl<'js> IntoJs<'js> for Connected {
    fn into_js(self, ctx: &Ctx<'js>) -> Result<Value<'js>> {
        let hold = Host::of(ctx)?.hold();
        Ok(Class::instance(ctx.clone(), Connection::new(self.0, Some(hold)))?.into_value())
    }
}

/// `(address or path, port or -1 for a path, local address or "", local port, callback)`; the address is no name.
fn connect<'js>(
    ctx: Ctx<'js>,
    to: String,
    port: f64,
    from: String,
    from_port: u16,
    callback: Function<'js>,
) -> Result<()> {
    later::answer(&ctx, callback, async move {
        if port < 0.0 {
            let opened = UnixStream::connect(&to).await;
            return opened.map(|stream| Connected(Stream::Unix(stream))).map_err(|error| {
                let mut failure = failed(&error, "connect");
                failure.message = format!("{} {to}", failure.message);
                failure
            });
        }
        let opened = connect_tcp(&to, port as u16, &from, from_port).await;
        opened.map(|stream| Connected(Stream::Tcp(stream))).map_err(|error| failed(&error, "connect"))
    })
}

async fn connect_tcp(to: &str, port: u16, from: &str, from_port: u16) -> std::io::Result<TcpStream> {
    let invalid = |_| Error::from(rustix::io::Errno::INVAL);
    let address = SocketAddr::new(to.parse::<IpAddr>().map_err(invalid)?, port);
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    if !from.is_empty() {
        socket.bind(SocketAddr::new(from.parse::<IpAddr>().map_err(invalid)?, from_port))?;
    }
    let stream = socket.connect(address).await?;
    Ok(stream)
}

enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

/// A listener.
#[derive(JsLifetime, Trace)]
#[rquickjs::class]
pub(super) struct Listening {
    #[qjs(skip_trace)]
    listener: RefCell<Option<Rc<Listener>>>,
    #[qjs(skip_trace)]
    closed: Rc<Notify>,
    #[qjs(skip_trace)]
    hold: RefCell<Option<Hold>>,
    #[qjs(skip_trace)]
    open: Cell<bool>,
}

#[rquickjs::methods]
impl Listening {
    /// Calls back with the next connection. One at a time; never after `close`.
    fn accept<'js>(&self, ctx: Ctx<'js>, callback: Function<'js>) -> Result<()> {
        let (listener, closed) = (self.listener.borrow().clone(), Rc::clone(&self.closed));
        later::answer_holding(&ctx, callback, None, async move {
            let Some(listener) = listener else { return Ok(None) };
            tokio::select! {
                biased;
                () = closed.notified() => Ok(None),
                accepted = accept(&listener) => accepted.map(|stream| Some(Connected(stream))),
            }
        })
    }

    fn address(&self) -> Option<Place> {
        match self.listener.borrow().as_deref() {
            Some(Listener::Tcp(listener)) => listener.local_addr().ok().map(Place::from),
            _ => None,
        }
    }

    fn close(&self) {
        self.open.set(false);
        self.listener.borrow_mut().take();
        self.hold.borrow_mut().take();
        self.closed.notify_one();
    }

    fn hold(&self, ctx: Ctx<'_>, holds: bool) -> Result<()> {
        let hold = if holds && self.open.get() { Some(Host::of(&ctx)?.hold()) } else { None };
        self.hold.replace(hold);
        Ok(())
    }
}

async fn accept(listener: &Listener) -> Done<Stream> {
    let accepted = match listener {
        Listener::Tcp(listener) => listener.accept().await.map(|(stream, _)| Stream::Tcp(stream)),
        Listener::Unix(listener) => listener.accept().await.map(|(stream, _)| Stream::Unix(stream)),
    };
    accepted.map_err(|error| failed(&error, "accept"))
}

/// `(address or path, port or -1 for a path, backlog)`.
fn listen<'js>(ctx: Ctx<'js>, at: String, port: f64, backlog: u32) -> Result<Class<'js, Listening>> {
    let bound = bind(&at, port, backlog);
    let listener = bound.map_err(|error| failed(&error, "listen").throw(&ctx))?;
    let hold = Host::of(&ctx)?.hold();
    let made = Listening {
        listener: RefCell::new(Some(Rc::new(listener))),
        closed: Rc::default(),
        hold: RefCell::new(Some(hold)),
        open: Cell::new(true),
    };
    Class::instance(ctx, made)
}

fn bind(at: &str, port: f64, backlog: u32) -> std::io::Result<Listener> {
    if port < 0.0 {
        return UnixListener::bind(at).map(Listener::Unix);
    }
    let address = at.parse::<IpAddr>().map_err(|_| Error::from(rustix::io::Errno::INVAL))?;
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_reuseaddr(true)?;
    socket.bind(SocketAddr::new(address, port as u16))?;
    socket.listen(backlog).map(Listener::Tcp)
}

/// `(name, callback)`: its addresses, in the order of the system.
fn lookup<'js>(ctx: Ctx<'js>, name: String, callback: Function<'js>) -> Result<()> {
    later::answer(&ctx, callback, async move {
        let mut found: Vec<String> = Vec::new();
        let looked = tokio::net::lookup_host((name.as_str(), 0)).await;
        for address in looked.map(Iterator::collect::<Vec<_>>).unwrap_or_default() {
            let text = address.ip().to_string();
            if !found.contains(&text) {
                found.push(text);
            }
        }
        if found.is_empty() {
            return Err(Failure {
                message: format!("getaddrinfo ENOTFOUND {name}"),
                code: "ENOTFOUND",
                errno: Some(-3008),
                syscall: Some("getaddrinfo"),
                ..Failure::default()
            });
        }
        Ok(found)
    })
}
