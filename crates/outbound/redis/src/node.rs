use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::task::{Context, Poll};

use leat_stream::clock::{now_ms, sleep};
use leat_stream::{Socket, Timer};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::task::{JoinHandle, spawn_local};

use crate::line::{Line, Phase};
use crate::open::open;
use crate::resp::Malformed;
use crate::{Followed, Problem, Script, Target};

/// How long connecting and logging in may take, in milliseconds.
const CONNECT_MS: u64 = 1_000;
/// A server that owes an answer for so long is not waited for any more: its connection is made anew.
const SILENCE_MS: u64 = 1_000;
/// The pause before a connection is made anew; it doubles up to the longest one.
const PAUSE_MS: u64 = 50;
const PAUSE_MS_MAX: u64 = 1_000;
/// A server that answers again is told of as well where it has answered with no error for so long: some errors come and go.
const WELL_AFTER_MS: u64 = 2_000;
/// What is read at a time.
const READ_BYTES: usize = 16 * 1024;

/// A core's connection to one server. It is kept for as long as this lives.
pub(crate) struct Node {
    target: Target,
    line: Rc<Line>,
    task: JoinHandle<()>,
    /// When a question was answered with an error last; 0 where that is over.
    refused_at_ms: Cell<u64>,
}

impl Node {
    /// Starts to connect. To be called on a core's thread, inside its `LocalSet`.
    pub(crate) fn start(followed: &Arc<Followed>, target: Target, script: Script) -> Rc<Self> {
        let line = Rc::<Line>::default();
        let task = spawn_local(keep(Arc::clone(followed), target.clone(), script, Rc::downgrade(&line)));
        Rc::new(Self { target, line, task, refused_at_ms: Cell::new(0) })
    }

    pub(crate) fn target(&self) -> &Target {
        &self.target
    }

    pub(crate) fn line(&self) -> &Rc<Line> {
        &self.line
    }

    /// The server has answered a question.
    #[inline]
    pub(crate) fn answered(&self, followed: &Followed) {
        let at_ms = self.refused_at_ms.get();
        if at_ms != 0 && now_ms() >= at_ms.saturating_add(WELL_AFTER_MS) {
            self.refused_at_ms.set(0);
            followed.report(&self.target, None);
        }
    }

    /// The server has answered a question with an error.
    pub(crate) fn refused(&self, followed: &Followed, problem: Problem) {
        self.refused_at_ms.set(now_ms().max(1));
        followed.report(&self.target, Some(problem));
    }

    /// Waits for the first connection until then. At once where there was one, or a failure.
    pub(crate) async fn started(&self, deadline_at_ms: u64) {
        if self.line.phase() != Phase::Starting {
            return;
        }
        let mut timer = Timer::default();
        timer.set(deadline_at_ms);
        poll_fn(|cx| match self.line.poll_started(cx) {
            Poll::Ready(()) => Poll::Ready(()),
            Poll::Pending => timer.poll_due(cx),
        })
        .await;
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.task.abort();
        // Nobody will answer who still waits.
        self.line.down();
    }
}

/// Keeps a connection for as long as somebody may call on it.
async fn keep(followed: Arc<Followed>, target: Target, script: Script, line: Weak<Line>) {
    let server = followed.server();
    let mut pause_ms = PAUSE_MS;
    loop {
        let opened = within(CONNECT_MS, open(server, &target, &script)).await.unwrap_or(Err(Problem::Late));
        let Some(line) = line.upgrade() else { return };
        match opened {
            Ok((mut socket, hash)) => {
                pause_ms = PAUSE_MS;
                followed.report(&target, None);
                line.up(&hash);
                let serving = Serving { line: &line, deadline_ms: server.deadline_ms, script: &script };
                // Connections end for many reasons; whether it is one to tell of, the next one shows.
                if let Err(Problem::Malformed) = serving.run(&mut socket).await.map_err(Problem::from) {
                    followed.report(&target, Some(Problem::Malformed));
                }
            }
            Err(problem) => followed.report(&target, Some(problem)),
        }
        line.down();
        drop(line);
        followed.refresh();
        sleep(pause_ms).await;
        pause_ms = (pause_ms * 2).min(PAUSE_MS_MAX);
    }
}

/// A connection at work.
struct Serving<'a> {
    line: &'a Line,
    deadline_ms: u64,
    script: &'a Script,
}

impl Serving<'_> {
    async fn run(&self, socket: &mut Socket) -> io::Result<()> {
        let mut buffer = vec![0; READ_BYTES];
        let mut filled = 0;
        let mut timer = Timer::default();
        poll_fn(|cx| {
            self.line.register(cx);
            self.read(socket, &mut buffer, &mut filled, cx)?;
            // Behind the reading: a reply may ask for a command.
            self.line.write(|bytes| Pin::new(&mut *socket).poll_write(cx, bytes))?;
            if matches!(socket, Socket::Tls(_)) {
                // What was written may stand in the session's buffer.
                let _ = Pin::new(&mut *socket).poll_flush(cx)?;
            }
            self.watch(&mut timer, cx)
        })
        .await
    }

    /// Reads all that there is.
    fn read(&self, socket: &mut Socket, buffer: &mut [u8], filled: &mut usize, cx: &mut Context<'_>) -> io::Result<()> {
        loop {
            let mut room = ReadBuf::new(buffer.get_mut(*filled..).unwrap_or_default());
            let Poll::Ready(read) = Pin::new(&mut *socket).poll_read(cx, &mut room) else { return Ok(()) };
            read?;
            match room.filled().len() {
                // The end of the stream, or a reply that is longer than any that was asked for.
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                count => *filled += count,
            }
            let used = self.line.read(buffer.get(..*filled).unwrap_or_default(), self.script.text, now_ms());
            let used = used.map_err(|Malformed| io::Error::from(io::ErrorKind::InvalidData))?;
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
            let next_ms = if waited_ms < self.deadline_ms {
                self.deadline_ms
            } else if waited_ms < SILENCE_MS.max(self.deadline_ms) {
                if self.line.phase() == Phase::Up {
                    self.line.set_phase(Phase::Down);
                }
                SILENCE_MS.max(self.deadline_ms)
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
