//! Examples of `examples/`, run by the Node.js of this machine as children of the demo.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

const NODE_MAJOR_MIN: u32 = 20;
/// How long Node.js may take to start.
const START_MAX: Duration = Duration::from_secs(10);

/// An example, with its files, which the binary brings along.
pub(super) struct Example {
    name: &'static str,
    files: &'static [(&'static str, &'static str)],
}

macro_rules! example {
    ($name:literal, $($file:literal),+) => {
        Example {
            name: $name,
            files: &[$(($file, include_str!(concat!("../../../../../examples/", $name, "/", $file)))),+],
        }
    };
}

/// A service on `leat/http`.
pub(super) const NOTES: Example = example!("node-http", "server.js", "notes.js", "events.js", "uploads.js", "reply.js");
/// An app on `leat/express`.
pub(super) const LINKS: Example = example!("express", "server.js", "app.js", "links.js", "public/index.html");

/// A shop whose client for its depot is on `leat/transport`.
pub(super) const SHOP: Example =
    example!("transport", "server.js", "depot.js", "client.js", "timing.js", "request_id.js");

/// An Express app in TypeScript, without Node.js.
const NOTICES: Example = example!("embedded", "server.ts", "app.ts", "board.ts");

/// The name of what is loaded before an example.
const WITH_DEMO_NAME: &str = "with_demo.cjs";

/// What is loaded before an example. Only the demo has the other end of this pipe: it closes however the demo ends.
const WITH_DEMO: &str = "const end = () => process.exit();
process.stdin.on(\"end\", end).on(\"error\", end).resume();
";

/// A running example. Ended when dropped, and by itself when this process is gone.
pub(super) struct App {
    child: Child,
    /// Where it listens, such as `http://127.0.0.1:40001`.
    pub(super) base: String,
    /// The package that it uses.
    pub(super) package: PathBuf,
}

/// A line that the child printed.
enum Line {
    Out(String),
    Error(String),
}

impl App {
    /// Starts an example in `folder` with the npm package at `package`, or with the one beside this binary. Waits until it
    /// listens. What is missing is said in one sentence.
    pub(super) fn start(example: &Example, folder: &Path, package: Option<&Path>) -> Result<Self, String> {
        let package = built(package)?;
        node()?;
        let folder =
            write(example, folder, &package).map_err(|error| format!("its files can't be written: {error}"))?;
        let mut command = Command::new("node");
        command.args(["--require", &format!("./{WITH_DEMO_NAME}"), "server.js"]);
        Self::spawn(command, &folder, package)
    }

    /// Starts the example that this binary runs itself.
    pub(super) fn start_embedded(folder: &Path) -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("its files can't be written: {error}");
        let folder = folder.join(NOTICES.name);
        put(&NOTICES, &folder).map_err(failed)?;
        std::fs::write(folder.join(WITH_DEMO_NAME), format!("{WITH_DEMO}import(\"./server.ts\");\n"))
            .map_err(failed)?;
        let binary = std::env::current_exe().map_err(|error| format!("this binary's place is not known: {error}"))?;
        let mut command = Command::new(binary);
        command.args(["run", WITH_DEMO_NAME]);
        Self::spawn(command, &folder, PathBuf::new())
    }

    fn spawn(mut command: Command, folder: &Path, package: PathBuf) -> Result<Self, String> {
        let mut child = command
            .current_dir(folder)
            // Uploads go with the demo's folder, too.
            .envs([("PORT", "0".as_ref()), ("HOST", "127.0.0.1".as_ref()), ("TMPDIR", folder.as_os_str())])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{} can't be started: {error}", command.get_program().to_string_lossy()))?;
        let (lines, heard) = channel();
        if let (Some(out), Some(errors)) = (child.stdout.take(), child.stderr.take()) {
            read(out, lines.clone(), Line::Out);
            read(errors, lines, Line::Error);
        }
        let mut app = Self { child, base: String::new(), package };
        app.base = listening(&heard)?;
        thread::spawn(move || {
            for line in heard {
                if let Line::Error(line) = line {
                    crate::event::say(format_args!("{line}"));
                }
            }
        });
        Ok(app)
    }
}

impl Drop for App {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The package's folder: as asked for, or `../../packages/leat` from the folder of the binary (`target/release`).
fn built(package: Option<&Path>) -> Result<PathBuf, String> {
    let path = match package {
        Some(path) => path.to_owned(),
        None => {
            let binary =
                std::env::current_exe().map_err(|error| format!("this binary's place is not known: {error}"))?;
            binary.ancestors().nth(3).map(|root| root.join("packages/leat")).unwrap_or_default()
        }
    };
    if path.join("dist/http/index.js").is_file() {
        return std::path::absolute(&path).map_err(|error| format!("{}: {error}", path.display()));
    }
    Err(format!(
        "there is no built npm package at {}; run `make build` in Leat's sources, or name one: leat demo --package FOLDER",
        path.display()
    ))
}

/// Whether there is a Node.js, and new enough.
fn node() -> Result<(), String> {
    let needed = format!("it needs Node.js {NODE_MAJOR_MIN} or newer");
    let output = Command::new("node")
        .arg("--version")
        .stdin(Stdio::null())
        .output()
        .map_err(|_| format!("there is no `node` on the PATH; {needed}"))?;
    let version = String::from_utf8_lossy(&output.stdout);
    let version = version.trim();
    let major = version.strip_prefix('v').and_then(|rest| rest.split('.').next()).and_then(|major| major.parse().ok());
    if major.is_some_and(|major: u32| major >= NODE_MAJOR_MIN) {
        return Ok(());
    }
    Err(format!("`node --version` says {version:?}; {needed}"))
}

/// Writes an example, with the package where `require` finds it.
fn write(example: &Example, folder: &Path, package: &Path) -> std::io::Result<PathBuf> {
    let app = folder.join(example.name);
    let modules = app.join("node_modules");
    std::fs::create_dir_all(&modules)?;
    std::os::unix::fs::symlink(package, modules.join("leat"))?;
    put(example, &app)?;
    std::fs::write(app.join(WITH_DEMO_NAME), WITH_DEMO)?;
    Ok(app)
}

/// Writes an example's files.
fn put(example: &Example, app: &Path) -> std::io::Result<()> {
    for (name, text) in example.files {
        let path = app.join(name);
        path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        std::fs::write(path, text)?;
    }
    Ok(())
}

fn read(from: impl Read + Send + 'static, to: Sender<Line>, line_of: fn(String) -> Line) {
    thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            // Nobody listens any more, yet a child must not wait for room in the pipe.
            let _ = to.send(line_of(line));
        }
    });
}

/// Waits for the line that tells the address.
fn listening(heard: &Receiver<Line>) -> Result<String, String> {
    let until = Instant::now() + START_MAX;
    let mut error = String::new();
    loop {
        match heard.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(Line::Out(line)) => {
                if let Some(at) = line.find("http://") {
                    return Ok(line.get(at..).unwrap_or_default().to_owned());
                }
            }
            // An uncaught error shows its code first; the line with its message begins with its name.
            Ok(Line::Error(line)) => {
                let is_error = line
                    .split_once(": ")
                    .is_some_and(|(name, _)| !name.starts_with(char::is_whitespace) && name.contains("Error"));
                if error.is_empty() && is_error {
                    error = line;
                }
            }
            Err(RecvTimeoutError::Timeout) => return Err(format!("it did not start within {} s", START_MAX.as_secs())),
            Err(RecvTimeoutError::Disconnected) if error.is_empty() => return Err("it ended at once".into()),
            Err(RecvTimeoutError::Disconnected) => return Err(error),
        }
    }
}
