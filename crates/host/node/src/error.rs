use std::io;

/// An error with a `code` that JavaScript sees.
pub(crate) type Coded = napi::Error<String>;

/// An error of the system, by the name that Node has for it.
pub(crate) fn from_io(error: &io::Error) -> Coded {
    Coded::new(leat_door::errno_of(error).0.to_owned(), error.to_string())
}

/// An error of the engine's own.
pub(crate) fn coded(code: &str, text: impl Into<String>) -> Coded {
    Coded::new(code.to_owned(), text.into())
}
