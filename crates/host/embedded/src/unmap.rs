//! Pages of the binary that the start has touched and that may not be needed again.
#![allow(unsafe_code, reason = "mappings are named by their addresses")]

use std::time::Duration;

/// After the first requests of a process that was started for one, and before anybody counts what an idle one takes.
const AFTER: Duration = Duration::from_secs(1);

/// Lets go of them, once. The kernel maps 16 pages around each that is touched, and starting runs much that serving does not: two thirds of
/// what is mapped by then are not touched again. What is comes back from the page cache, at a microsecond for 16 pages.
pub(crate) async fn run() {
    tokio::time::sleep(AFTER).await;
    unmap();
}

#[cfg(target_os = "linux")]
fn unmap() {
    let Ok(maps) = std::fs::read_to_string("/proc/self/maps") else { return };
    for (start, length) in maps.lines().filter_map(unwritten) {
        // SAFETY: a private mapping of a file that this process has never written to, so its pages are those of the file, now and
        // when they are mapped again.
        let _ = unsafe { rustix::mm::madvise(start as *mut _, length, rustix::mm::Advice::LinuxDontNeed) };
    }
}

#[cfg(not(target_os = "linux"))]
fn unmap() {}

/// Start and length of a mapping that is code, or the head of a file with its constants: no segment that the loader wrote to
/// and made read-only since begins where its file does.
#[cfg(target_os = "linux")]
fn unwritten(line: &str) -> Option<(usize, usize)> {
    let mut parts = line.split_ascii_whitespace();
    let (range, access, offset) = (parts.next()?, parts.next()?, parts.next()?);
    let is_file = parts.nth(2).is_some_and(|path| path.starts_with('/'));
    let is_head = access == "r--p" && offset.bytes().all(|digit| digit == b'0');
    if !is_file || !(access == "r-xp" || is_head) {
        return None;
    }
    let (start, end) = range.split_once('-')?;
    let (start, end) = (usize::from_str_radix(start, 16).ok()?, usize::from_str_radix(end, 16).ok()?);
    Some((start, end.checked_sub(start)?))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::unwritten;

    #[test]
    fn code_and_constants_are_let_go_and_nothing_that_was_written() {
        let of = |access, offset, path| {
            unwritten(&format!("00001000-00003000 {access} {offset} fe:00 17                 {path}"))
        };
        assert_eq!(of("r-xp", "0078d000", "/bin/leat"), Some((0x1000, 0x2000)));
        assert_eq!(of("r--p", "00000000", "/bin/leat"), Some((0x1000, 0x2000)));
        assert_eq!(of("r--p", "013b4000", "/bin/leat"), None, "relocated, and made read-only since");
        assert_eq!(of("rw-p", "01439000", "/bin/leat"), None);
        assert_eq!(of("r-xp", "00000000", "[vdso]"), None);
        assert_eq!(unwritten(""), None);
    }

    #[test]
    fn this_process_goes_on_without_them() {
        super::unmap();
        assert_eq!("still".len(), 5);
    }
}
