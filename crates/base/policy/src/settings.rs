use std::fmt;

/// Why a policy can't have these settings. The caller knows the line of the file that they come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingsError {
    /// A number that must be at least 1, or a time that must be longer than nothing, is zero.
    Zero {
        /// The setting.
        name: &'static str,
    },
    /// A number is above what the policy can hold.
    TooLarge {
        /// The setting.
        name: &'static str,
        /// The most that it may be, in the setting's own unit.
        max: u64,
    },
    /// A number is below what the policy can use.
    TooSmall {
        /// The setting.
        name: &'static str,
        /// The least that it may be, in the setting's own unit.
        min: u64,
    },
    /// Two settings contradict each other: the first may not be above the second.
    Above {
        /// The one that is too large.
        name: &'static str,
        /// The one that bounds it.
        bound: &'static str,
    },
    /// There is nothing to choose from.
    Empty {
        /// The list.
        name: &'static str,
    },
    /// A number that must be a prime is none.
    NotPrime {
        /// The setting.
        name: &'static str,
    },
    /// A fraction is not between 0 and 1, or not a number.
    NotAFraction {
        /// The setting.
        name: &'static str,
    },
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zero { name } => write!(f, "{name} must be more than zero"),
            Self::TooLarge { name, max } => write!(f, "{name} must be at most {max}"),
            Self::TooSmall { name, min } => write!(f, "{name} must be at least {min}"),
            Self::Above { name, bound } => write!(f, "{name} must not be above {bound}"),
            Self::Empty { name } => write!(f, "{name} must not be empty"),
            Self::NotPrime { name } => write!(f, "{name} must be a prime number"),
            Self::NotAFraction { name } => write!(f, "{name} must be between 0 and 1"),
        }
    }
}

impl std::error::Error for SettingsError {}
