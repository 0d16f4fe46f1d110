//! Errors of the system as Node.js names them: the codes and texts are libuv's.

use rustix::io::Errno;

use crate::host::Failure;

/// What is known of an error number: its code and its text.
const KNOWN: &[(Errno, &str, &str)] = &[
    (Errno::NOENT, "ENOENT", "no such file or directory"),
    (Errno::EXIST, "EEXIST", "file already exists"),
    (Errno::ACCESS, "EACCES", "permission denied"),
    (Errno::PERM, "EPERM", "operation not permitted"),
    (Errno::NOTDIR, "ENOTDIR", "not a directory"),
    (Errno::ISDIR, "EISDIR", "illegal operation on a directory"),
    (Errno::NOTEMPTY, "ENOTEMPTY", "directory not empty"),
    (Errno::BADF, "EBADF", "bad file descriptor"),
    (Errno::INVAL, "EINVAL", "invalid argument"),
    (Errno::MFILE, "EMFILE", "too many open files"),
    (Errno::NFILE, "ENFILE", "file table overflow"),
    (Errno::NOSPC, "ENOSPC", "no space left on device"),
    (Errno::ROFS, "EROFS", "read-only file system"),
    (Errno::XDEV, "EXDEV", "cross-device link not permitted"),
    (Errno::LOOP, "ELOOP", "too many symbolic links encountered"),
    (Errno::NAMETOOLONG, "ENAMETOOLONG", "name too long"),
    (Errno::BUSY, "EBUSY", "resource busy or locked"),
    (Errno::TXTBSY, "ETXTBSY", "text file is busy"),
    (Errno::FBIG, "EFBIG", "file too large"),
    (Errno::IO, "EIO", "i/o error"),
    (Errno::NOMEM, "ENOMEM", "not enough memory"),
    (Errno::AGAIN, "EAGAIN", "resource temporarily unavailable"),
    (Errno::INTR, "EINTR", "interrupted system call"),
    (Errno::NODEV, "ENODEV", "no such device"),
    (Errno::NXIO, "ENXIO", "no such device or address"),
    (Errno::SPIPE, "ESPIPE", "invalid seek"),
    (Errno::MLINK, "EMLINK", "too many links"),
    (Errno::NOTSUP, "ENOTSUP", "operation not supported on socket"),
    (Errno::NOSYS, "ENOSYS", "function not implemented"),
    (Errno::PIPE, "EPIPE", "broken pipe"),
    (Errno::OVERFLOW, "EOVERFLOW", "value too large for defined data type"),
    (Errno::NOTTY, "ENOTTY", "inappropriate ioctl for device"),
    (Errno::CONNREFUSED, "ECONNREFUSED", "connection refused"),
    (Errno::CONNRESET, "ECONNRESET", "connection reset by peer"),
    (Errno::CONNABORTED, "ECONNABORTED", "software caused connection abort"),
    (Errno::TIMEDOUT, "ETIMEDOUT", "connection timed out"),
    (Errno::HOSTUNREACH, "EHOSTUNREACH", "host is unreachable"),
    (Errno::NETUNREACH, "ENETUNREACH", "network is unreachable"),
    (Errno::NETDOWN, "ENETDOWN", "network is down"),
    (Errno::ADDRINUSE, "EADDRINUSE", "address already in use"),
    (Errno::ADDRNOTAVAIL, "EADDRNOTAVAIL", "address not available"),
    (Errno::AFNOSUPPORT, "EAFNOSUPPORT", "address family not supported"),
    (Errno::NOTCONN, "ENOTCONN", "socket is not connected"),
    (Errno::ISCONN, "EISCONN", "socket is already connected"),
    (Errno::NOTSOCK, "ENOTSOCK", "socket operation on non-socket"),
    (Errno::DESTADDRREQ, "EDESTADDRREQ", "destination address required"),
    (Errno::ALREADY, "EALREADY", "connection already in progress"),
    (Errno::PROTO, "EPROTO", "protocol error"),
    (Errno::PROTONOSUPPORT, "EPROTONOSUPPORT", "protocol not supported"),
    (Errno::NOBUFS, "ENOBUFS", "no buffer space available"),
    (Errno::CANCELED, "ECANCELED", "operation canceled"),
    (Errno::FAULT, "EFAULT", "bad address in system call argument"),
    (Errno::SRCH, "ESRCH", "no such process"),
];

/// The code and the text of the error number `errno` (positive).
pub(super) fn describe(errno: i32) -> (&'static str, &'static str) {
    let known = KNOWN.iter().find(|(known, ..)| known.raw_os_error() == errno);
    known.map_or(("UNKNOWN", "unknown error"), |(_, code, text)| (*code, *text))
}

/// The error number of an error of the standard library; `EIO` where the system gave none.
pub(super) fn number(error: &std::io::Error) -> i32 {
    let without = match error.kind() {
        std::io::ErrorKind::InvalidInput => Errno::INVAL,
        std::io::ErrorKind::NotFound => Errno::NOENT,
        std::io::ErrorKind::TimedOut => Errno::TIMEDOUT,
        _ => Errno::IO,
    };
    error.raw_os_error().unwrap_or(without.raw_os_error())
}

/// What the system answered to `syscall`: `CODE: text, syscall 'path' -> 'dest'`.
pub(super) fn failure(errno: i32, syscall: &'static str, path: Option<String>, dest: Option<String>) -> Failure {
    let (code, text) = describe(errno);
    let mut message = format!("{code}: {text}, {syscall}");
    if let Some(path) = &path {
        message.push_str(&format!(" '{path}'"));
    }
    if let Some(dest) = &dest {
        message.push_str(&format!(" -> '{dest}'"));
    }
    Failure {
        message,
        code,
        errno: Some(-errno),
        syscall: Some(syscall),
        path,
        dest: dest.map(String::into_boxed_str),
        name: None,
    }
}
