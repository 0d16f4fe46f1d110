use std::fmt;

use crate::MessageType;

/// A service of the schema.
#[derive(Clone, Debug)]
pub struct Service {
    pub(crate) full_name: Box<str>,
    pub(crate) methods: std::ops::Range<u32>,
}

impl Service {
    /// The full name.
    pub fn full_name(&self) -> &str {
        &self.full_name
    }
}

/// A method of a service.
#[derive(Clone)]
pub struct Method {
    pub(crate) id: u32,
    /// `/package.Service/Name`; the other names are parts of it.
    pub(crate) path: Box<str>,
    pub(crate) name_start: u32,
    pub(crate) input: MessageType,
    pub(crate) output: MessageType,
    pub(crate) client_streams: bool,
    pub(crate) server_streams: bool,
    pub(crate) idempotency: Idempotency,
    pub(crate) options: Box<[u8]>,
}

/// What a method promises about being called again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Idempotency {
    /// Nothing.
    #[default]
    Unknown,
    /// It changes nothing: Connect may call it by GET.
    NoSideEffects,
    /// Twice is as once.
    Idempotent,
}

impl Method {
    /// Its place in [`crate::Schema::methods`]: from 0, without gaps. What belongs to methods can stand in an array.
    pub fn id(&self) -> usize {
        self.id as usize
    }

    /// `/package.Service/Name`, as requests have it.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// `package.Service/Name`, as people write it.
    pub fn full_name(&self) -> &str {
        self.path.get(1..).unwrap_or_default()
    }

    /// `package.Service`.
    pub fn service_name(&self) -> &str {
        self.path.get(1..self.name_start as usize - 1).unwrap_or_default()
    }

    /// `Name`.
    pub fn name(&self) -> &str {
        self.path.get(self.name_start as usize..).unwrap_or_default()
    }

    /// The type of requests.
    pub fn input(&self) -> &MessageType {
        &self.input
    }

    /// The type of replies.
    pub fn output(&self) -> &MessageType {
        &self.output
    }

    /// Whether the client sends a stream.
    pub fn client_streams(&self) -> bool {
        self.client_streams
    }

    /// Whether the server sends a stream.
    pub fn server_streams(&self) -> bool {
        self.server_streams
    }

    /// Whether neither side sends a stream.
    pub fn is_unary(&self) -> bool {
        !self.client_streams && !self.server_streams
    }

    /// What it promises about being called again.
    pub fn idempotency(&self) -> Idempotency {
        self.idempotency
    }

    /// All its options in binary form (`google.protobuf.MethodOptions`).
    pub fn options(&self) -> &[u8] {
        &self.options
    }

    /// The custom option `number`, a message, in binary form; `google.api.http` is [`crate::bundled::HTTP`].
    pub fn option(&self, number: u32) -> Option<Vec<u8>> {
        crate::wire::joined(&self.options, number)
    }
}

impl fmt::Debug for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stream = |yes| if yes { "stream " } else { "" };
        let (input, output) = (self.input.full_name(), self.output.full_name());
        let (ask, answer) = (stream(self.client_streams), stream(self.server_streams));
        write!(f, "{}({ask}{input}) returns ({answer}{output})", self.full_name())
    }
}
