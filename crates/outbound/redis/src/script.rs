/// A Lua script, told to the server on every new connection and called by its hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Script {
    /// What the server runs. It answers with at most [`crate::Numbers::MAX`] integers.
    pub text: &'static str,
}
