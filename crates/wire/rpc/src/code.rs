macro_rules! codes {
    ($($variant:ident = $number:literal, $name:literal, $snake:literal, $http:literal, $text:literal;)+) => {
        /// How a call ended. The numbers are gRPC's (`doc/statuscodes.md` of gRPC), the words in lower case Connect's.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Code {
            $(#[doc = $text] $variant = $number,)+
        }

        impl Code {
            /// All of them, in the order of their numbers.
            pub const ALL: &'static [Code] = &[$(Code::$variant),+];

            /// gRPC's name: `NOT_FOUND`.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// Connect's name: `not_found`.
            pub const fn snake(self) -> &'static str {
                match self { $(Self::$variant => $snake,)+ }
            }

            /// The HTTP status of a unary Connect call that ends so (Connect protocol, "Error codes").
            pub const fn http_status(self) -> u16 {
                match self { $(Self::$variant => $http,)+ }
            }
        }
    };
}

codes! {
    Ok = 0, "OK", "ok", 200, "Success.";
    Canceled = 1, "CANCELLED", "canceled", 499, "The caller gave up.";
    Unknown = 2, "UNKNOWN", "unknown", 500, "An error that says nothing else.";
    InvalidArgument = 3, "INVALID_ARGUMENT", "invalid_argument", 400, "The request is wrong, whatever the state of the system.";
    DeadlineExceeded = 4, "DEADLINE_EXCEEDED", "deadline_exceeded", 504, "The deadline passed.";
    NotFound = 5, "NOT_FOUND", "not_found", 404, "What was asked for is not there.";
    AlreadyExists = 6, "ALREADY_EXISTS", "already_exists", 409, "What was to be made is there already.";
    PermissionDenied = 7, "PERMISSION_DENIED", "permission_denied", 403, "The caller is known and may not.";
    ResourceExhausted = 8, "RESOURCE_EXHAUSTED", "resource_exhausted", 429, "A limit or quota is used up.";
    FailedPrecondition = 9, "FAILED_PRECONDITION", "failed_precondition", 400, "The system is not in the state for it.";
    Aborted = 10, "ABORTED", "aborted", 409, "A conflict with something else under way.";
    OutOfRange = 11, "OUT_OF_RANGE", "out_of_range", 400, "Past the valid range.";
    Unimplemented = 12, "UNIMPLEMENTED", "unimplemented", 501, "There is no such method.";
    Internal = 13, "INTERNAL", "internal", 500, "An invariant is broken.";
    Unavailable = 14, "UNAVAILABLE", "unavailable", 503, "Not now; a later try may succeed.";
    DataLoss = 15, "DATA_LOSS", "data_loss", 500, "Data is lost for good.";
    Unauthenticated = 16, "UNAUTHENTICATED", "unauthenticated", 401, "Who asks is not known.";
}

impl Code {
    /// gRPC's number.
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// The code with gRPC's number; `None` above 16.
    pub fn from_number(number: u32) -> Option<Self> {
        Self::ALL.get(usize::try_from(number).ok()?).copied()
    }

    /// The code of this name, either protocol's: `NOT_FOUND` or `not_found`. gRPC spells one of them with two l, Connect with
    /// one; both words are read in both cases.
    pub fn from_name(name: &str) -> Option<Self> {
        if name.eq_ignore_ascii_case("canceled") || name.eq_ignore_ascii_case("cancelled") {
            return Some(Self::Canceled);
        }
        Self::ALL.iter().copied().find(|code| name == code.name() || name == code.snake())
    }

    /// What a response that is none of the protocol's means by its HTTP status (gRPC, `http-grpc-status-mapping.md`; the same
    /// in Connect).
    pub const fn from_http_status(status: u16) -> Self {
        match status {
            400 => Self::Internal,
            401 => Self::Unauthenticated,
            403 => Self::PermissionDenied,
            404 => Self::Unimplemented,
            429 | 502..=504 => Self::Unavailable,
            _ => Self::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Code;

    #[test]
    fn every_code_is_found_by_its_number_and_both_names() {
        for (number, &code) in Code::ALL.iter().enumerate() {
            assert_eq!(usize::from(code.number()), number);
            assert_eq!(Code::from_number(number as u32), Some(code));
            assert_eq!(Code::from_name(code.name()), Some(code));
            assert_eq!(Code::from_name(code.snake()), Some(code));
        }
        assert_eq!(Code::from_number(17), None);
        assert_eq!(Code::from_name("Ok"), None);
    }
}
