use std::time::Duration;

use leat_stream::Socket;
use tokio::time::timeout;

use crate::open::{Session, connect};
use crate::value::Value;
use crate::{Login, Problem, Server, Target};

/// How long connecting, and how long an answer may take.
const WAIT_MAX: Duration = Duration::from_secs(1);

/// A connection of the control thread, made when something is asked and there is none.
pub(super) struct Asking {
    target: Target,
    socket: Option<Socket>,
}

impl Asking {
    pub(super) fn new(target: Target) -> Self {
        Self { target, socket: None }
    }

    pub(super) fn target(&self) -> &Target {
        &self.target
    }

    /// Asks one thing. After a problem the connection is made anew.
    pub(super) async fn ask(&mut self, server: &Server, login: &Login, parts: &[&[u8]]) -> Result<Value, Problem> {
        let mut socket = match self.socket.take() {
            Some(socket) => socket,
            None => timeout(WAIT_MAX, connect(server, &self.target, login)).await.map_err(|_| Problem::Late)??,
        };
        let mut session = Session::new(&mut socket);
        let value = timeout(WAIT_MAX, session.ask(parts)).await.map_err(|_| Problem::Late)??;
        if !session.is_quiet() {
            return Err(Problem::Malformed);
        }
        self.socket = Some(socket);
        Ok(value)
    }

    /// Waits for a message of a channel, for ever; connects and subscribes first. Ends with a problem.
    pub(super) async fn hear(
        &self,
        server: &Server,
        login: &Login,
        channel: &[u8],
        heard: impl Fn(&Value),
    ) -> Result<std::convert::Infallible, Problem> {
        let mut socket = timeout(WAIT_MAX, connect(server, &self.target, login)).await.map_err(|_| Problem::Late)??;
        let mut session = Session::new(&mut socket);
        timeout(WAIT_MAX, session.ask(&[b"SUBSCRIBE", channel])).await.map_err(|_| Problem::Late)??;
        loop {
            heard(&session.next().await?);
        }
    }
}
