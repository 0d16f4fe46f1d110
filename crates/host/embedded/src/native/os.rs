//! What `node:os` is made of.

use rquickjs::function::Func;
use rquickjs::{Ctx, Object, Result};
use rustix::process::Pid;

/// Bytes of memory a kilobyte of `/proc/meminfo` has.
const MEMINFO_UNIT_BYTES: f64 = 1024.0;

pub(super) fn make<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let group = Object::new(ctx.clone())?;
    group.set("uname", Func::from(uname))?;
    group.set("system", Func::from(system))?;
    group.set("file", Func::from(file))?;
    group.set("priority", Func::from(priority))?;
    group.set("setPriority", Func::from(set_priority))?;
    group.set("processors", Func::from(|| std::thread::available_parallelism().map_or(1, std::num::NonZero::get)))?;
    Ok(group)
}

fn uname() -> Vec<String> {
    let names = rustix::system::uname();
    let all = [names.sysname(), names.nodename(), names.release(), names.version(), names.machine()];
    all.iter().map(|name| name.to_string_lossy().into_owned()).collect()
}

/// Load of 1, 5 and 15 minutes, seconds since the start, bytes of memory, free, available.
fn system() -> Vec<f64> {
    let numbers = |text: String| -> Vec<f64> { text.split_whitespace().filter_map(|word| word.parse().ok()).collect() };
    let mut all = numbers(std::fs::read_to_string("/proc/loadavg").unwrap_or_default());
    all.resize(3, 0.0);
    let up = numbers(std::fs::read_to_string("/proc/uptime").unwrap_or_default());
    all.push(up.first().copied().unwrap_or_default());
    let memory = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    for name in ["MemTotal:", "MemAvailable:"] {
        let line = memory.lines().find_map(|line| line.strip_prefix(name));
        let kilobytes = line.and_then(|rest| rest.split_whitespace().next()).and_then(|word| word.parse::<f64>().ok());
        all.push(kilobytes.unwrap_or_default() * MEMINFO_UNIT_BYTES);
    }
    all
}

/// One of the system's files, by a name of its own.
fn file(name: String) -> Option<String> {
    let path = match name.as_str() {
        "cpuinfo" => "/proc/cpuinfo",
        "stat" => "/proc/stat",
        "passwd" => "/etc/passwd",
        _ => return None,
    };
    std::fs::read_to_string(path).ok()
}

fn of(pid: i32) -> Option<Pid> {
    Pid::from_raw(pid)
}

fn priority(pid: i32) -> i32 {
    rustix::process::getpriority_process(of(pid)).unwrap_or_default()
}

/// Gives the number of the error, or 0.
fn set_priority(pid: i32, priority: i32) -> i32 {
    rustix::process::setpriority_process(of(pid), priority).err().map_or(0, rustix::io::Errno::raw_os_error)
}
