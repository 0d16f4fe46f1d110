use std::sync::{Arc, Condvar, Mutex};
use std::time::Instant;

use crate::DEADLINE;
use crate::connection::Connection;

/// What one end of a connection does, step by step. When the steps are over the connection is held open until the
/// other end closes it.
#[derive(Clone, Debug, Default)]
pub struct Script {
    steps: Vec<Step>,
}

#[derive(Clone, Debug)]
enum Step {
    Expect(Vec<u8>),
    ExpectUntil(Vec<u8>),
    ExpectBytes { count: u64 },
    ExpectEnd,
    Send(Vec<u8>),
    SendBytes { count: u64 },
    Wait(Gate),
    CloseWrite,
    Close,
    Reset,
}

impl Script {
    /// An empty script: accepts, and holds the connection.
    pub fn new() -> Self {
        Self::default()
    }

    /// The next bytes must be exactly these.
    pub fn expect(self, bytes: impl Into<Vec<u8>>) -> Self {
        self.with(Step::Expect(bytes.into()))
    }

    /// Reads up to and including `bytes`.
    pub fn expect_until(self, bytes: impl Into<Vec<u8>>) -> Self {
        self.with(Step::ExpectUntil(bytes.into()))
    }

    /// Reads a head: everything up to and including the empty line.
    pub fn expect_head(self) -> Self {
        self.expect_until("\r\n\r\n")
    }

    /// Reads `count` bytes, whatever they are, and forgets them.
    pub fn expect_bytes(self, count: u64) -> Self {
        self.with(Step::ExpectBytes { count })
    }

    /// The other end must close its direction without sending anything more.
    pub fn expect_end(self) -> Self {
        self.with(Step::ExpectEnd)
    }

    /// Sends these bytes in one write.
    pub fn send(self, bytes: impl Into<Vec<u8>>) -> Self {
        self.with(Step::Send(bytes.into()))
    }

    /// Sends `count` bytes `x` without holding them in memory.
    pub fn send_bytes(self, count: u64) -> Self {
        self.with(Step::SendBytes { count })
    }

    /// Waits until the test opens `gate`.
    pub fn wait(self, gate: &Gate) -> Self {
        self.with(Step::Wait(gate.clone()))
    }

    /// Ends this direction (FIN); the other one goes on.
    pub fn close_write(self) -> Self {
        self.with(Step::CloseWrite)
    }

    /// Closes the connection in the ordinary way.
    pub fn close(self) -> Self {
        self.with(Step::Close)
    }

    /// Resets the connection (RST).
    pub fn reset(self) -> Self {
        self.with(Step::Reset)
    }

    /// The steps so far, `times` times over.
    pub fn repeated(&self, times: usize) -> Self {
        Self { steps: self.steps.iter().cycle().take(self.steps.len() * times).cloned().collect() }
    }

    fn with(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// Plays the steps; says what is to become of the connection.
    pub(crate) fn play(&self, connection: &mut Connection) -> Result<End, String> {
        for (at, step) in self.steps.iter().enumerate() {
            let done = match step {
                Step::Expect(bytes) => connection.expect(bytes),
                Step::ExpectUntil(bytes) => connection.until(bytes).map(|_| ()),
                Step::ExpectBytes { count } => connection.discard(*count),
                Step::ExpectEnd => connection.expect_end(),
                Step::Send(bytes) => connection.send(bytes),
                Step::SendBytes { count } => connection.send_bytes(*count),
                Step::Wait(gate) => gate.wait(),
                Step::CloseWrite => connection.close_write(),
                Step::Close => return Ok(End::Close),
                Step::Reset => return connection.reset().map(|()| End::Close),
            };
            done.map_err(|error| format!("step {}: {error}", at + 1))?;
        }
        Ok(End::Hold)
    }
}

/// How a script ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The connection is closed, or reset, at once.
    Close,
    /// The other end closes.
    Hold,
}

/// Something that a test opens once and that scripts wait for.
#[derive(Clone, Debug, Default)]
pub struct Gate {
    state: Arc<(Mutex<bool>, Condvar)>,
}

impl Gate {
    /// A closed gate.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets everybody through, now and later.
    pub fn open(&self) {
        *self.state.0.lock().unwrap() = true;
        self.state.1.notify_all();
    }

    fn wait(&self) -> Result<(), String> {
        let end = Instant::now() + DEADLINE;
        let mut open = self.state.0.lock().unwrap();
        while !*open {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(format!("the gate was not opened within {DEADLINE:?}"));
            }
            open = self.state.1.wait_timeout(open, left).unwrap().0;
        }
        Ok(())
    }
}
