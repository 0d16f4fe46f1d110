//! Whether messages are validated.

/// `--validate`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Messages whose type, or a type in it, declares rules. Others are not even decoded.
    #[default]
    Auto,
    /// Every message: one that its type cannot decode is refused although nothing is declared.
    On,
    /// None.
    Off,
}

impl Mode {
    /// By its name in a configuration or on the command line.
    pub fn named(name: &str) -> Option<Mode> {
        match name {
            "auto" => Some(Mode::Auto),
            "on" => Some(Mode::On),
            "off" => Some(Mode::Off),
            _ => None,
        }
    }
}
