use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};

use rustix::process::{Pid, Signal, kill_process};

use crate::{Client, Folder, eventually, listening};

/// The built binary: `LEAT_BIN`, or the `leat` of the profile that this test was built with.
///
/// Cargo builds it before the tests of `leat-cli`; for other crates run `cargo build -p leat-cli` first.
pub fn binary() -> PathBuf {
    built().unwrap_or_else(|| panic!("leat is not built; run: cargo build -p leat-cli"))
}

/// The same, `None` where it was not built.
pub fn built() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("LEAT_BIN") {
        return Some(path.into());
    }
    // target/debug/deps/some_test → target/debug/leat
    let test = std::env::current_exe().expect("a test knows its own path");
    test.ancestors().skip(1).take(2).map(|folder| folder.join("leat")).find(|path| path.is_file())
}

/// A running `leat gateway`. Killed when dropped.
#[derive(Debug)]
pub struct Leat {
    child: Child,
    folder: Folder,
    log: Arc<Mutex<Vec<String>>>,
    addresses: Vec<SocketAddr>,
}

/// What a command that ran to its end left.
#[derive(Clone, Debug)]
pub struct Output {
    /// The exit code; `None` after a signal.
    pub code: Option<i32>,
    /// What it printed.
    pub stdout: String,
    /// What it said on the side.
    pub stderr: String,
}

impl Leat {
    /// Starts a gateway with `config` in a temporary folder and waits until `listeners` TCP listeners are ready.
    pub fn gateway(config: &str, listeners: usize) -> Self {
        Self::gateway_in(Folder::new(), config, listeners)
    }

    /// The same in `folder`, which holds the files that the configuration names.
    pub fn gateway_in(folder: Folder, config: &str, listeners: usize) -> Self {
        Self::gateway_with(folder, config, &[], listeners)
    }

    /// The same with further arguments, such as `--watch`.
    pub fn gateway_with(folder: Folder, config: &str, arguments: &[&str], listeners: usize) -> Self {
        let path = folder.write("leat.yaml", config);
        let path = path.to_str().expect("a temporary path is text");
        Self::spawn(folder, &[&["gateway", path], arguments].concat()).ready(listeners)
    }

    /// Waits until so many listeners are ready.
    #[must_use]
    pub fn ready(mut self, listeners: usize) -> Self {
        self.addresses = eventually_alive(&mut self, &format!("{listeners} listeners ready"), |leat| {
            let found: Vec<SocketAddr> = leat.log().iter().filter_map(|line| listening::address(line)).collect();
            (found.len() >= listeners).then_some(found)
        });
        self
    }

    /// Starts `leat` with any arguments, in `folder`, without waiting.
    pub fn spawn(folder: Folder, arguments: &[&str]) -> Self {
        let mut command = Command::new(binary());
        command.args(arguments);
        Self::spawn_by(folder, command)
    }

    /// Starts `leat` by a command of the test's, such as one that hands sockets to it, in `folder`, without waiting.
    pub fn spawn_by(folder: Folder, mut command: Command) -> Self {
        let binary = command.get_program().to_owned();
        let mut child = command
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {}: {error}", binary.display()));
        drop(command);
        let log = Arc::new(Mutex::new(Vec::new()));
        let lines = BufReader::new(child.stderr.take().expect("stderr is a pipe"));
        std::thread::spawn({
            let log = Arc::clone(&log);
            move || lines.lines().map_while(Result::ok).for_each(|line| log.lock().unwrap().push(line))
        });
        Self { child, folder, log, addresses: Vec::new() }
    }

    /// Runs `leat` to its end, within the deadline.
    pub fn run(folder: &Path, arguments: &[&str]) -> Output {
        let binary = binary();
        let mut child = Command::new(&binary)
            .args(arguments)
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {}: {error}", binary.display()));
        let stdout = collect(child.stdout.take().expect("stdout is a pipe"));
        let stderr = collect(child.stderr.take().expect("stderr is a pipe"));
        let mut child = Killed(child);
        let status = eventually(&format!("the end of leat {}", arguments.join(" ")), || {
            child.0.try_wait().expect("a child can be waited for")
        });
        let [stdout, stderr] = [stdout, stderr].map(|text| text.join().expect("a reader does not panic"));
        Output { code: status.code(), stdout, stderr }
    }

    /// The address of the listener with this number, in the order of the configuration.
    pub fn address(&self, listener: usize) -> SocketAddr {
        *self.addresses.get(listener).unwrap_or_else(|| panic!("only {} listeners are ready", self.addresses.len()))
    }

    /// The admin address, once it is ready.
    pub fn admin(&mut self) -> SocketAddr {
        let line = self.wait_log("the admin address", |line| listening::admin(line).is_some());
        listening::admin(&line).expect("it was found before")
    }

    /// Connects to the first listener.
    pub fn connect(&self) -> Client {
        Client::connect(self.address(0))
    }

    /// The folder it runs in.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// The process's number.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Everything it has logged so far.
    pub fn log(&self) -> Vec<String> {
        self.log.lock().unwrap().clone()
    }

    /// Waits for a line of the log that `wanted` accepts.
    pub fn wait_log(&mut self, what: &str, wanted: impl Fn(&str) -> bool) -> String {
        eventually_alive(self, what, |leat| leat.log().into_iter().find(|line| wanted(line)))
    }

    /// Replaces the configuration file; `leat gateway` reads it on [`Leat::reload`].
    pub fn rewrite(&self, config: &str) {
        // Renamed into place, as editors do: a watcher must never see half a file.
        let new = self.folder.write("leat.yaml.new", config);
        std::fs::rename(&new, self.folder.path().join("leat.yaml")).expect("a file can be renamed in its folder");
    }

    /// Asks for a reload (SIGHUP).
    pub fn reload(&self) {
        self.signal(Signal::HUP);
    }

    /// Asks for the end (SIGTERM).
    pub fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// Asks for a successor with the same sockets (SIGUSR2).
    pub fn upgrade(&self) {
        self.signal(Signal::USR2);
    }

    /// Waits until the process has ended.
    pub fn wait(&mut self) -> ExitStatus {
        let child = &mut self.child;
        eventually("the end of leat", || child.try_wait().expect("a child can be waited for"))
    }

    /// Sends any signal.
    pub fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).expect("a process has a number");
        kill_process(pid, signal).expect("a child can be sent a signal");
    }
}

impl Drop for Leat {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("what leat said:\n{}", self.log().join("\n"));
        }
    }
}

/// Waits like [`eventually`], but not for a process that has ended.
fn eventually_alive<T>(leat: &mut Leat, what: &str, mut look: impl FnMut(&mut Leat) -> Option<T>) -> T {
    eventually(what, || {
        let ended = leat.child.try_wait().expect("a child can be waited for");
        let found = look(leat);
        if let (Some(status), None) = (ended, &found) {
            // Its last words may still be on the way through the pipe.
            std::thread::sleep(std::time::Duration::from_millis(50));
            match look(leat) {
                Some(found) => return Some(found),
                None => panic!("leat ended ({status}) while waiting for: {what}"),
            }
        }
        found
    })
}

struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn collect(mut from: impl Read + Send + 'static) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = from.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
