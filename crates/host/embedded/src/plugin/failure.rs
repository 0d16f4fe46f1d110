/// Whose limit it was that a run came to, or whose error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// A plug-in threw, or returned what can't be sent.
    Threw,
    /// It ran for longer than it may at once, and was stopped.
    TurnTime,
    /// It waited for longer than it may.
    WaitTime,
    /// The world is lost: memory was used up, or a plug-in ended the process.
    Lost,
    /// Bodies that others are reading leave no room for another one.
    Busy,
}
