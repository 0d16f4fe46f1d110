//! What `process` and the host's hooks are made of.

use std::io::{BufRead, BufReader, IsTerminal, Read};

use rquickjs::function::{Func, This};
use rquickjs::{Ctx, Exception, Function, Object, Result, TypedArray};
use rustix::process::{Pid, Signal};

use crate::host::{Failure, Host, Trouble};
use crate::native::view;

/// Bytes of standard input that one read gives at most, as in Node.
const STDIN_READ_BYTES: usize = 65_536;
/// Lines longer than this are not shown with an error.
const SOURCE_LINE_BYTES_MAX: u64 = 4096;
/// The code of a program that a signal has ended is this and the signal's number, as in shells.
const SIGNALLED: i32 = 128;
/// Lines of a file that are read to find the one of an error.
const SOURCE_LINES_MAX: usize = 100_000;

pub(super) fn make<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let host = Host::of(ctx)?;
    let group = Object::new(ctx.clone())?;
    group.set("pid", std::process::id())?;
    group.set("arch", architecture())?;
    group.set("leat", env!("CARGO_PKG_VERSION"))?;
    group.set("quickjs", quickjs_version())?;
    group.set("goesOn", host.goes_on())?;
    group.set("keeps", host.keeps())?;
    group.set("keep", Func::from(keep))?;
    group.set("hooks", Func::from(hooks))?;
    group.set("tick", Func::from(tick))?;
    group.set("exit", Func::from(exit))?;
    group.set("ended", Func::from(ended))?;
    group.set("write", Func::from(write))?;
    group.set("tell", Func::from(tell))?;
    group.set("isGuest", host.seat().process.options.is_guest)?;
    group.set("writeBytes", Func::from(write_bytes))?;
    group.set("readStdin", Func::from(read_stdin))?;
    group.set("isTerminal", Func::from(is_terminal))?;
    group.set("sourceLine", Func::from(source_line))?;
    group.set("cwd", Func::from(cwd))?;
    group.set("chdir", Func::from(chdir))?;
    group.set("environment", Func::from(environment))?;
    group.set("arguments", Func::from(arguments))?;
    group.set("ids", Func::from(ids))?;
    group.set("umask", Func::from(umask))?;
    group.set("kill", Func::from(kill))?;
    group.set("listen", Func::from(listen))?;
    group.set("memory", Func::from(memory))?;
    group.set("collect", Func::from(|ctx: Ctx<'js>| ctx.run_gc()))?;
    group.set("procFile", Func::from(proc_file))?;
    group.set("monotonic", Func::from(monotonic))?;
    Ok(group)
}

/// Keeps an error that nobody caught for whoever asks.
fn keep(ctx: Ctx<'_>, text: String) -> Result<()> {
    Host::of(&ctx)?.tell(Trouble::Uncaught, text, str::to_owned);
    Ok(())
}

/// Node's name of it.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        "x86" => "ia32",
        other => other,
    }
}

#[allow(unsafe_code, reason = "QuickJS tells its version as a C string")]
fn quickjs_version() -> String {
    // SAFETY: the function has no conditions, and gives a static text that ends with NUL.
    unsafe { std::ffi::CStr::from_ptr(rquickjs::qjs::JS_GetVersion()) }.to_string_lossy().into_owned()
}

/// The environment as an object; one look at each variable.
fn environment(ctx: Ctx<'_>) -> Result<Object<'_>> {
    let host = Host::of(&ctx)?;
    let env = Object::new(ctx)?;
    for (name, value) in std::env::vars_os() {
        if let (Ok(name), Ok(value)) = (name.into_string(), value.into_string()) {
            env.set(name, value)?;
        }
    }
    for (name, value) in host.seat().environment() {
        env.set(name, value)?;
    }
    Ok(env)
}

/// The path of this binary, the name it was called by, the program's path and its arguments.
fn arguments(ctx: Ctx<'_>) -> Result<Vec<String>> {
    let host = Host::of(&ctx)?;
    let binary = std::env::current_exe().map(|path| path.to_string_lossy().into_owned()).unwrap_or_default();
    let called = std::env::args_os().next().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut all = vec![binary, called];
    all.extend_from_slice(host.arguments());
    Ok(all)
}

fn hooks<'js>(ctx: Ctx<'js>, hooks: Object<'js>) -> Result<()> {
    Host::of(&ctx)?.set_hooks(&ctx, hooks);
    Ok(())
}

fn tick(ctx: Ctx<'_>) -> Result<()> {
    Host::of(&ctx)?.tick();
    Ok(())
}

/// Ends the program: nothing of it runs any more, not even its `finally` blocks.
fn exit(ctx: Ctx<'_>, code: i32) -> Result<()> {
    Host::of(&ctx)?.exit(code);
    Err(uncatchable(&ctx))
}

#[allow(unsafe_code, reason = "only QuickJS's own function makes an error that can't be caught")]
fn uncatchable(ctx: &Ctx<'_>) -> rquickjs::Error {
    let Ok(error) = Exception::from_message(ctx.clone(), "the program has ended") else {
        return rquickjs::Error::Exception;
    };
    let value = error.into_value();
    // SAFETY: the context is live, and so is the value, which stays ours.
    unsafe { rquickjs::qjs::JS_SetUncatchableError(ctx.as_raw().as_ptr(), value.as_raw()) };
    ctx.throw(value)
}

/// The program's exit code, when nothing of it is running.
fn ended(ctx: Ctx<'_>, code: i32) -> Result<()> {
    Host::of(&ctx)?.exit(code);
    Ok(())
}

/// Writes text to descriptor 1 or 2, whole. What the reader does not take any more is lost, as it is nobody's then.
fn write<'js>(ctx: Ctx<'js>, to: i32, text: rquickjs::String<'js>) -> Result<()> {
    crate::tell::print(to, whole(&ctx, text)?.as_bytes());
    Ok(())
}

/// Says a message of the host's own, of one line or several.
fn tell<'js>(ctx: Ctx<'js>, text: rquickjs::String<'js>) -> Result<()> {
    crate::tell::text(&whole(&ctx, text)?);
    Ok(())
}

fn whole<'js>(ctx: &Ctx<'js>, text: rquickjs::String<'js>) -> Result<String> {
    if let Ok(text) = text.to_string() {
        return Ok(text);
    }
    // Half a pair of surrogates.
    let prototype: Object<'_> = ctx.globals().get::<_, Object<'_>>("String")?.get("prototype")?;
    prototype.get::<_, Function<'_>>("toWellFormed")?.call((This(text),))
}

#[allow(unsafe_code, reason = "the bytes are written from where they are")]
fn write_bytes(to: i32, bytes: TypedArray<'_, u8>) {
    // SAFETY: no JavaScript runs while they are written, so nothing moves or frees them.
    crate::tell::print(to, unsafe { bytes.as_bytes() }.unwrap_or_default());
}

/// The next bytes of standard input; `null` at its end.
fn read_stdin<'js>(ctx: Ctx<'js>) -> Result<rquickjs::Promise<'js>> {
    let host = Host::of(&ctx)?;
    host.promise(&ctx, async {
        let read = tokio::task::spawn_blocking(|| {
            let mut bytes = vec![0; STDIN_READ_BYTES];
            let length = std::io::stdin().lock().read(&mut bytes)?;
            bytes.truncate(length);
            Ok::<_, std::io::Error>(bytes)
        });
        match read.await {
            Ok(Ok(bytes)) if bytes.is_empty() => Ok(None),
            Ok(Ok(bytes)) => Ok(Some(Bytes(bytes))),
            Ok(Err(error)) => Err(Failure {
                message: error.to_string(),
                errno: error.raw_os_error().map(|code| -code),
                syscall: Some("read"),
                ..Failure::default()
            }),
            Err(error) => Err(Failure { message: error.to_string(), ..Failure::default() }),
        }
    })
}

struct Bytes(Vec<u8>);

impl<'js> rquickjs::IntoJs<'js> for Bytes {
    fn into_js(self, ctx: &Ctx<'js>) -> Result<rquickjs::Value<'js>> {
        view::uint8_array(ctx, &self.0)
    }
}

fn is_terminal(descriptor: i32) -> bool {
    match descriptor {
        0 => std::io::stdin().is_terminal(),
        1 => std::io::stdout().is_terminal(),
        2 => std::io::stderr().is_terminal(),
        _ => false,
    }
}

/// Line `number` of the file at `path`; `null` if it can't be read.
fn source_line(path: String, number: usize) -> Option<String> {
    if number == 0 || number > SOURCE_LINES_MAX {
        return None;
    }
    let mut reader = BufReader::new(std::fs::File::open(path).ok()?);
    for at in 1..=number {
        let mut line = Vec::new();
        let read = reader.by_ref().take(SOURCE_LINE_BYTES_MAX).read_until(b'\n', &mut line).ok()?;
        if read == 0 {
            return None;
        }
        if at == number {
            return Some(String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']).to_owned());
        }
    }
    None
}

fn cwd(ctx: Ctx<'_>) -> Result<String> {
    match std::env::current_dir() {
        Ok(path) => Ok(path.to_string_lossy().into_owned()),
        Err(error) => Err(failed(&error, "uv_cwd").throw(&ctx)),
    }
}

fn chdir(ctx: Ctx<'_>, to: String) -> Result<()> {
    let from = std::env::current_dir().map(|path| path.to_string_lossy().into_owned()).unwrap_or_default();
    std::env::set_current_dir(&to).map_err(|error| {
        let mut failure = failed(&error, "chdir");
        failure.message = format!("{} '{from}' -> '{to}'", failure.message);
        failure.path = Some(from);
        failure.throw(&ctx)
    })
}

fn failed(error: &std::io::Error, syscall: &'static str) -> Failure {
    let (code, text) = match error.kind() {
        std::io::ErrorKind::NotFound => ("ENOENT", "no such file or directory"),
        std::io::ErrorKind::PermissionDenied => ("EACCES", "permission denied"),
        std::io::ErrorKind::NotADirectory => ("ENOTDIR", "not a directory"),
        _ => ("EIO", "i/o error"),
    };
    Failure {
        message: format!("{code}: {text}, {syscall}"),
        code,
        errno: error.raw_os_error().map(|number| -number),
        syscall: Some(syscall),
        ..Failure::default()
    }
}

/// User, effective user, group, effective group, parent.
fn ids() -> Vec<u32> {
    use rustix::process::{getegid, geteuid, getgid, getuid};
    vec![
        getuid().as_raw(),
        geteuid().as_raw(),
        getgid().as_raw(),
        getegid().as_raw(),
        std::os::unix::process::parent_id(),
    ]
}

/// Sets the mask of file modes unless it is below 0, and gives what it was.
fn umask(mask: i32) -> u32 {
    use rustix::fs::Mode;
    match u32::try_from(mask) {
        Ok(mask) => rustix::process::umask(Mode::from_raw_mode(mask & 0o777)).as_raw_mode(),
        Err(_) => {
            let old = rustix::process::umask(Mode::empty());
            rustix::process::umask(old);
            old.as_raw_mode()
        }
    }
}

/// Sends a signal; 0 only asks whether there is such a process. Gives the number of the error, or 0. A guest that means the process
/// itself ends, as with [`exit`], and the process goes on.
fn kill(ctx: Ctx<'_>, pid: i32, signal: i32) -> Result<i32> {
    if Host::of(&ctx)?.seat().process.options.is_guest && signal != 0 && reaches_this_process(pid) {
        exit(ctx, SIGNALLED.saturating_add(signal))?;
    }
    Ok(send(pid, signal))
}

/// Whether a signal to `pid` comes to this process, alone or among others.
fn reaches_this_process(pid: i32) -> bool {
    use rustix::process::{getpgrp, getpid};
    pid == getpid().as_raw_pid() || matches!(pid, 0 | -1) || pid.checked_neg() == Some(getpgrp().as_raw_pid())
}

fn send(pid: i32, signal: i32) -> i32 {
    let to = if pid < 0 { pid.checked_neg() } else { Some(pid) }.and_then(Pid::from_raw);
    let signal = Signal::from_named_raw(signal);
    let done = match (pid, to, signal) {
        (0, _, Some(signal)) => rustix::process::kill_current_process_group(signal),
        (0, _, None) => rustix::process::test_kill_current_process_group(),
        (1.., Some(to), Some(signal)) => rustix::process::kill_process(to, signal),
        (1.., Some(to), None) => rustix::process::test_kill_process(to),
        (_, Some(to), Some(signal)) => rustix::process::kill_process_group(to, signal),
        (_, Some(to), None) => rustix::process::test_kill_process_group(to),
        (_, None, _) => Err(rustix::io::Errno::SRCH),
    };
    done.err().map_or(0, rustix::io::Errno::raw_os_error)
}

/// Calls the hook `signal` with `number` whenever that signal comes, until the function that it gives is called. Does not
/// keep the program running.
fn listen<'js>(ctx: Ctx<'js>, number: i32) -> Result<Function<'js>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut signals = signal(SignalKind::from_raw(number))
        .map_err(|error| Exception::throw_message(&ctx, &format!("signal {number}: {error}")))?;
    let host = Host::of(&ctx)?;
    let hears = host.hear(number);
    let host = std::rc::Rc::downgrade(&host);
    let task = tokio::task::spawn_local(async move {
        let _hears = hears;
        while signals.recv().await.is_some() {
            let Some(world) = host.upgrade().and_then(|host| host.world()) else { return };
            world.enter(|ctx| world.host().hook(ctx, "signal")?.call::<_, ()>((number,)));
        }
    });
    let task = task.abort_handle();
    Function::new(ctx, move || task.abort())
}

/// Bytes that JavaScript uses, and bytes that it was given.
#[allow(unsafe_code, reason = "rquickjs gives these numbers only where the runtime is not in use")]
fn memory(ctx: Ctx<'_>) -> Vec<f64> {
    let mut usage = std::mem::MaybeUninit::<rquickjs::qjs::JSMemoryUsage>::zeroed();
    // SAFETY: the runtime is live, and the structure of numbers, which zeroes are valid for, is filled by the call.
    let usage = unsafe {
        let runtime = rquickjs::qjs::JS_GetRuntime(ctx.as_raw().as_ptr());
        rquickjs::qjs::JS_ComputeMemoryUsage(runtime, usage.as_mut_ptr());
        usage.assume_init()
    };
    vec![usage.memory_used_size as f64, usage.malloc_size as f64, usage.binary_object_size as f64]
}

/// A file of this process below `/proc/self`, as text.
fn proc_file(name: String) -> Option<String> {
    let known = ["statm", "stat", "status", "io"];
    let name = known.iter().find(|known| **known == name)?;
    std::fs::read_to_string(format!("/proc/self/{name}")).ok()
}

/// Nanoseconds of the system's monotonic clock: seconds, and the rest.
fn monotonic() -> Vec<f64> {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    vec![now.tv_sec as f64, now.tv_nsec as f64]
}
