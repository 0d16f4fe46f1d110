//! Errors of the system by the names that Node has for them.

use std::io;

use rustix::io::Errno;

/// The name of an error, and its number as libuv tells it (below 0).
pub fn errno_of(error: &io::Error) -> (&'static str, i32) {
    let errno = Errno::from_io_error(error);
    (errno.and_then(name_of).unwrap_or("UNKNOWN"), errno.map_or(0, |errno| -errno.raw_os_error()))
}

/// The names of what `socket`, `bind` and `listen` can say.
pub fn name_of(errno: Errno) -> Option<&'static str> {
    Some(match errno {
        Errno::ADDRINUSE => "EADDRINUSE",
        Errno::ADDRNOTAVAIL => "EADDRNOTAVAIL",
        Errno::ACCESS => "EACCES",
        Errno::PERM => "EPERM",
        Errno::AFNOSUPPORT => "EAFNOSUPPORT",
        Errno::INVAL => "EINVAL",
        Errno::BADF => "EBADF",
        Errno::NOTSOCK => "ENOTSOCK",
        Errno::MFILE => "EMFILE",
        Errno::NFILE => "ENFILE",
        Errno::NOBUFS => "ENOBUFS",
        Errno::NOMEM => "ENOMEM",
        Errno::NOENT => "ENOENT",
        Errno::NOTDIR => "ENOTDIR",
        Errno::ROFS => "EROFS",
        Errno::NAMETOOLONG => "ENAMETOOLONG",
        Errno::LOOP => "ELOOP",
        Errno::OPNOTSUPP => "EOPNOTSUPP",
        Errno::NODEV => "ENODEV",
        _ => return None,
    })
}
