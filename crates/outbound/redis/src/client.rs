use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::rc::{Rc, Weak};
use std::task::{Context, Poll};

use leat_stream::Timer;
use leat_stream::clock::{now_ms, sleep};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio::task::{JoinHandle, spawn_local};

use crate::line::{Line, Phase};
use crate::resp::{Malformed, Reply, read_reply, write_command};
use crate::{Call, Failure, Numbers, Script, Server, Target};

/// How long connecting and logging in may take, in milliseconds.
const CONNECT_MS: u64 = 1_000;
/// A server that owes an answer for so long is not waited for any more: its connection is made anew.
const SILENCE_MS: u64 = 1_000;
/// The pause before a connection is made anew; it doubles up to the longest one.
const PAUSE_MS: u64 = 50;
const PAUSE_MS_MAX: u64 = 1_000;
/// What is read at a time.
const READ_BYTES: usize = 16 * 1024;

/// A core's connection to one server, for calls of one script. Clones are the same connection; it ends with the last.
#[derive(Clone)]
pub struct Client {
    server: Rc<Server>,
    line: Rc<Line>,
    task: Rc<Task>,
}

/// A connection that some client holds.
struct Held {
    server: Rc<Server>,
    script: Script,
    line: Weak<Line>,
    task: Weak<Task>,
}

thread_local! {
    /// The core's connections.
    static SHARED: RefCell<Vec<Held>> = const { RefCell::new(Vec::new()) };
}

/// Ends with its owner.
struct Task(JoinHandle<()>);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Client {
    /// The core's connection to this server for this script: the one that somebody holds already, or a new one. So a reload
    /// keeps connections to servers that stay. To be called as [`Client::start`].
    pub fn shared(server: &Server, script: Script) -> Self {
        SHARED.with_borrow_mut(|shared| {
            shared.retain(|held| held.task.strong_count() > 0);
            let held = shared.iter().find(|held| *held.server == *server && held.script == script);
            if let Some((line, task)) = held.and_then(|held| Some((held.line.upgrade()?, held.task.upgrade()?))) {
                return Self { server: Rc::new(server.clone()), line, task };
            }
            let new = Self::start(server.clone(), script);
            let (line, task) = (Rc::downgrade(&new.line), Rc::downgrade(&new.task));
            shared.push(Held { server: Rc::clone(&new.server), script, line, task });
            new
        })
    }

    /// Starts to connect. To be called on a core's thread, inside its `LocalSet`.
    pub fn start(server: Server, script: Script) -> Self {
        let (server, line) = (Rc::new(server), Rc::<Line>::default());
        let task = spawn_local(keep(Rc::clone(&server), script, Rc::downgrade(&line)));
        Self { server, line, task: Rc::new(Task(task)) }
    }

    /// The server.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// Waits for the first connection, for as long as a call may take. At once where there was one, or a failure.
    pub async fn started(&self) {
        let mut timer = Timer::default();
        poll_fn(|cx| {
            if self.line.poll_started(cx).is_ready() {
                return Poll::Ready(());
            }
            timer.set(now_ms().saturating_add(self.server.deadline_ms));
            timer.poll_due(cx)
        })
        .await;
    }

    /// Calls the script. The command leaves with all others of this loop turn, in one write.
    ///
    /// # Errors
    /// [`Failure::Down`] at once where there is no connection, [`Failure::Busy`] where too many calls wait.
    pub fn eval(&self, keys: &[&[u8]], arguments: &[&[u8]]) -> Result<Call, Failure> {
        let place = self.line.ask(keys, arguments, now_ms())?;
        Ok(Call::new(&self.line, place, self.server.deadline_ms))
    }
}

impl Client {
    /// As [`Client::eval`], for an answer that nobody waits for: `then` gets it. Allocates for a task.
    pub fn eval_then(
        &self,
        keys: &[&[u8]],
        arguments: &[&[u8]],
        then: impl FnOnce(Result<Numbers, Failure>) + 'static,
    ) {
        match self.eval(keys, arguments) {
            Ok(call) => drop(spawn_local(async move { then(call.await) })),
            Err(failure) => then(Err(failure)),
        }
    }
}

trait Stream: AsyncRead + AsyncWrite + Unpin {}
impl<S: AsyncRead + AsyncWrite + Unpin> Stream for S {}

/// Keeps a connection for as long as somebody may call on it.
async fn keep(server: Rc<Server>, script: Script, line: Weak<Line>) {
    let mut pause_ms = PAUSE_MS;
    loop {
        let opened = within(CONNECT_MS, open(&server, &script)).await;
        let Some(line) = line.upgrade() else { return };
        if let Some(Ok((mut stream, hash))) = opened {
            pause_ms = PAUSE_MS;
            line.up(hash);
            // Why it ended makes no difference: what it owed is lost.
            let _ = Serving { line: &line, server: &server, script: &script }.run(&mut *stream).await;
        }
        line.down();
        drop(line);
        sleep(pause_ms).await;
        pause_ms = (pause_ms * 2).min(PAUSE_MS_MAX);
    }
}

/// Connects, logs in and tells the script; returns the script's hash.
async fn open(server: &Server, script: &Script) -> io::Result<(Box<dyn Stream>, Vec<u8>)> {
    let mut stream: Box<dyn Stream> = match &server.target {
        Target::Tcp(host, port) => {
            let stream = TcpStream::connect((host.as_str(), *port)).await?;
            stream.set_nodelay(true)?;
            Box::new(stream)
        }
        Target::Unix(path) => Box::new(UnixStream::connect(path).await?),
    };
    if let Some(password) = &server.password {
        let password = password.reveal().as_bytes();
        match &server.username {
            Some(user) => command(&mut *stream, &[b"AUTH", user.as_bytes(), password]).await?,
            None => command(&mut *stream, &[b"AUTH", password]).await?,
        };
    }
    if server.database != 0 {
        command(&mut *stream, &[b"SELECT", server.database.to_string().as_bytes()]).await?;
    }
    let hash = command(&mut *stream, &[b"SCRIPT", b"LOAD", script.text.as_bytes()]).await?;
    Ok((stream, hash))
}

/// One command that is answered with a text.
async fn command(stream: &mut dyn Stream, parts: &[&[u8]]) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    write_command(&[parts], &mut bytes);
    stream.write_all(&bytes).await?;
    bytes.clear();
    loop {
        match read_reply(&bytes).map_err(malformed)? {
            Some((Reply::Text(text), length)) if length == bytes.len() => return Ok(text),
            Some(_) => return Err(io::ErrorKind::PermissionDenied.into()),
            None => {}
        }
        if stream.read_buf(&mut bytes).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

fn malformed(_: Malformed) -> io::Error {
    io::ErrorKind::InvalidData.into()
}

/// A connection at work.
struct Serving<'a> {
    line: &'a Line,
    server: &'a Server,
    script: &'a Script,
}

impl Serving<'_> {
    async fn run(&self, stream: &mut dyn Stream) -> io::Result<()> {
        let mut buffer = vec![0; READ_BYTES];
        let mut filled = 0;
        let mut timer = Timer::default();
        poll_fn(|cx| {
            self.line.register(cx);
            self.read(stream, &mut buffer, &mut filled, cx)?;
            // Behind the reading: a reply may ask for a command.
            self.line.write(|bytes| Pin::new(&mut *stream).poll_write(cx, bytes))?;
            self.watch(&mut timer, cx)
        })
        .await
    }

    /// Reads all that there is.
    fn read(
        &self,
        stream: &mut dyn Stream,
        buffer: &mut [u8],
        filled: &mut usize,
        cx: &mut Context<'_>,
    ) -> io::Result<()> {
        loop {
            let mut room = ReadBuf::new(buffer.get_mut(*filled..).unwrap_or_default());
            let Poll::Ready(read) = Pin::new(&mut *stream).poll_read(cx, &mut room) else { return Ok(()) };
            read?;
            match room.filled().len() {
                // The end of the stream, or a reply that is longer than any that was asked for.
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                count => *filled += count,
            }
            let used = self.line.read(buffer.get(..*filled).unwrap_or_default(), self.script.text, now_ms());
            let used = used.map_err(malformed)?;
            buffer.copy_within(used..*filled, 0);
            *filled -= used;
            if used > 0 && self.line.phase() == Phase::Down {
                self.line.set_phase(Phase::Up);
            }
        }
    }

    /// Says that the server is down while it lets calls wait for longer than they may, and gives it up after a while.
    fn watch(&self, timer: &mut Timer, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Some(since_ms) = self.line.owed_since_ms() else { return Poll::Pending };
        loop {
            let waited_ms = now_ms().saturating_sub(since_ms);
            let next_ms = if waited_ms < self.server.deadline_ms {
                self.server.deadline_ms
            } else if waited_ms < SILENCE_MS.max(self.server.deadline_ms) {
                if self.line.phase() == Phase::Up {
                    self.line.set_phase(Phase::Down);
                }
                SILENCE_MS.max(self.server.deadline_ms)
            } else {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            };
            timer.set(since_ms.saturating_add(next_ms));
            if timer.poll_due(cx).is_pending() {
                return Poll::Pending;
            }
        }
    }
}

/// The future's output, or `None` if it takes longer than `ms` on the core's clock.
async fn within<F: Future>(ms: u64, future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    let mut timer = Timer::default();
    timer.set_after(ms);
    poll_fn(|cx| {
        if let Poll::Ready(output) = future.as_mut().poll(cx) {
            return Poll::Ready(Some(output));
        }
        timer.poll_due(cx).map(|()| None)
    })
    .await
}
