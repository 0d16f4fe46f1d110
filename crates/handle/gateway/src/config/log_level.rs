/// Which events the process tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogLevel {
    /// All.
    Info,
    /// Warnings and errors.
    Warn,
    /// Errors.
    Error,
}
