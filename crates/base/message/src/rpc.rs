/// The protocol that a call came by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RpcProtocol {
    /// gRPC over HTTP/2.
    Grpc,
    /// gRPC-Web, binary or text.
    GrpcWeb,
    /// Connect, unary or streaming.
    Connect,
    /// HTTP and JSON by `google.api.http`.
    Rest,
}

impl RpcProtocol {
    /// All of them, in the order of their numbers.
    pub const ALL: &'static [Self] = &[Self::Grpc, Self::GrpcWeb, Self::Connect, Self::Rest];

    /// For records and metrics: `grpc`, `grpc_web`, `connect`, `rest`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Grpc => "grpc",
            Self::GrpcWeb => "grpc_web",
            Self::Connect => "connect",
            Self::Rest => "rest",
        }
    }
}
