use std::io;

use rustix::io::Errno;

/// An error with a `code` that JavaScript sees.
pub(crate) type Coded = napi::Error<String>;

/// An error of the system, by the name that Node has for it.
pub(crate) fn from_io(error: &io::Error) -> Coded {
    let code = Errno::from_io_error(error).and_then(name_of).unwrap_or("UNKNOWN");
    Coded::new(code.to_owned(), error.to_string())
}

/// An error of the engine's own.
pub(crate) fn coded(code: &str, text: impl Into<String>) -> Coded {
    Coded::new(code.to_owned(), text.into())
}

/// The names of what `socket`, `bind` and `listen` can say.
fn name_of(errno: Errno) -> Option<&'static str> {
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
