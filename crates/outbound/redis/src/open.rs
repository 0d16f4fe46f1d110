use leat_stream::{Plain, Socket};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};

use crate::problem::code;
use crate::question::write_command;
use crate::value::Value;
use crate::{Login, Place, Problem, Script, Server, Target};

/// The longest answer to a command about the server itself, in bytes.
const ANSWER_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Connects, logs in and tells the script; returns the script's hash. The caller watches the time.
pub(crate) async fn open(server: &Server, target: &Target, script: &Script) -> Result<(Socket, Vec<u8>), Problem> {
    let mut socket = connect(server, target, &server.login).await?;
    let mut session = Session::new(&mut socket);
    if server.database != 0 {
        session.ask(&[b"SELECT", server.database.to_string().as_bytes()]).await?;
    }
    if matches!(server.place, Place::Sentinel { .. }) {
        // Sentinels may know less than the server itself.
        let role = session.ask(&[b"ROLE"]).await?;
        if role.list().first().and_then(Value::text) != Some("master") {
            return Err(Problem::NotMaster);
        }
    }
    match session.ask(&[b"SCRIPT", b"LOAD", script.text.as_bytes()]).await? {
        Value::Text(hash) if session.is_quiet() => Ok((socket, hash)),
        _ => Err(Problem::Malformed),
    }
}

/// Connects and logs in.
pub(crate) async fn connect(server: &Server, target: &Target, login: &Login) -> Result<Socket, Problem> {
    let plain = match target {
        Target::Tcp(host, port) => {
            let stream = TcpStream::connect((host.as_str(), *port)).await?;
            stream.set_nodelay(true)?;
            Plain::Tcp(stream)
        }
        Target::Unix(path) => Plain::Unix(UnixStream::connect(path).await?),
    };
    let mut socket = match &server.security {
        Some(security) => security.secure(plain, target).await?,
        None => Socket::Plain(plain),
    };
    if let Some(password) = &login.password {
        let password = password.reveal().as_bytes();
        let mut session = Session::new(&mut socket);
        let answer = match &login.username {
            Some(user) => session.ask(&[b"AUTH", user.as_bytes(), password]).await,
            None => session.ask(&[b"AUTH", password]).await,
        };
        answer.map_err(|problem| match problem {
            Problem::Refused(code) => Problem::Login(code),
            problem => problem,
        })?;
    }
    Ok(socket)
}

/// Commands one after another, each waited for.
pub(crate) struct Session<'a> {
    socket: &'a mut Socket,
    bytes: Vec<u8>,
}

impl<'a> Session<'a> {
    pub(crate) fn new(socket: &'a mut Socket) -> Self {
        Self { socket, bytes: Vec::new() }
    }

    /// Sends a command and waits for its answer; an error is a problem.
    pub(crate) async fn ask(&mut self, parts: &[&[u8]]) -> Result<Value, Problem> {
        let mut command = Vec::new();
        write_command(parts, &mut command);
        self.socket.write_all(&command).await?;
        match self.next().await? {
            Value::Error(error) if error.starts_with(b"NOAUTH") => Err(Problem::Login(code(&error))),
            Value::Error(error) => Err(Problem::Refused(code(&error))),
            value => Ok(value),
        }
    }

    /// Waits for what the server says next. Nothing is lost where this is given up.
    pub(crate) async fn next(&mut self) -> Result<Value, Problem> {
        loop {
            // A value ends a line: what does not end one is not worth a look.
            if self.bytes.ends_with(b"\n")
                && let Some((value, length)) = Value::read(&self.bytes).map_err(|_| Problem::Malformed)?
            {
                self.bytes.drain(..length);
                return Ok(value);
            }
            if self.bytes.len() > ANSWER_BYTES_MAX {
                return Err(Problem::Malformed);
            }
            if self.socket.read_buf(&mut self.bytes).await? == 0 {
                return Err(Problem::Ended);
            }
        }
    }

    /// Whether nothing was said beyond what was asked.
    pub(crate) fn is_quiet(&self) -> bool {
        self.bytes.is_empty()
    }
}
