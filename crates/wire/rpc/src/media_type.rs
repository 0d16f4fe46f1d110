use crate::Form;

/// What a `content-type` says of the protocol and the form of messages. Parameters (`; charset=utf-8`) are passed over, and
/// the case of letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MediaType {
    /// `application/grpc`, `application/grpc+proto`, `application/grpc+json`.
    Grpc(Form),
    /// `application/grpc-web`, with `+proto` or `+json`.
    GrpcWeb(Form),
    /// `application/grpc-web-text`, with `+proto` or `+json`: Base64.
    GrpcWebText(Form),
    /// `application/proto` or `application/json`.
    Connect(Form),
    /// `application/connect+proto` or `application/connect+json`.
    ConnectStream(Form),
}

impl MediaType {
    /// What the client that sends one of the others may send, for `Accept-Post`.
    pub const ACCEPT_POST: &'static str = "application/grpc, application/grpc+proto, application/grpc+json, \
         application/grpc-web, application/grpc-web+proto, application/grpc-web+json, application/grpc-web-text, \
         application/grpc-web-text+proto, application/grpc-web-text+json, application/proto, application/json, \
         application/connect+proto, application/connect+json";

    /// Reads a field's value; `None` for everything that is no RPC.
    pub fn from_bytes(value: &[u8]) -> Option<Self> {
        let essence = value.split(|&byte| byte == b';').next().unwrap_or_default().trim_ascii();
        const TYPE: &[u8] = b"application/";
        let (start, rest) = essence.split_at_checked(TYPE.len())?;
        if !start.eq_ignore_ascii_case(TYPE) || rest.len() > b"grpc-web-text+proto".len() {
            return None;
        }
        let mut lower = [0; 20];
        let lower = lower.get_mut(..rest.len())?;
        lower.copy_from_slice(rest);
        lower.make_ascii_lowercase();
        Some(match &*lower {
            b"grpc" | b"grpc+proto" => Self::Grpc(Form::Binary),
            b"grpc+json" => Self::Grpc(Form::Json),
            b"grpc-web" | b"grpc-web+proto" => Self::GrpcWeb(Form::Binary),
            b"grpc-web+json" => Self::GrpcWeb(Form::Json),
            b"grpc-web-text" | b"grpc-web-text+proto" => Self::GrpcWebText(Form::Binary),
            b"grpc-web-text+json" => Self::GrpcWebText(Form::Json),
            b"proto" => Self::Connect(Form::Binary),
            b"json" => Self::Connect(Form::Json),
            b"connect+proto" => Self::ConnectStream(Form::Binary),
            b"connect+json" => Self::ConnectStream(Form::Json),
            _ => return None,
        })
    }

    /// The value for the reply.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Grpc(Form::Binary) => "application/grpc",
            Self::Grpc(Form::Json) => "application/grpc+json",
            Self::GrpcWeb(Form::Binary) => "application/grpc-web+proto",
            Self::GrpcWeb(Form::Json) => "application/grpc-web+json",
            Self::GrpcWebText(Form::Binary) => "application/grpc-web-text+proto",
            Self::GrpcWebText(Form::Json) => "application/grpc-web-text+json",
            Self::Connect(Form::Binary) => "application/proto",
            Self::Connect(Form::Json) => "application/json",
            Self::ConnectStream(Form::Binary) => "application/connect+proto",
            Self::ConnectStream(Form::Json) => "application/connect+json",
        }
    }

    /// The form of the messages.
    pub const fn form(self) -> Form {
        match self {
            Self::Grpc(form)
            | Self::GrpcWeb(form)
            | Self::GrpcWebText(form)
            | Self::Connect(form)
            | Self::ConnectStream(form) => form,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_read_in_any_case_and_with_parameters() {
        for (value, expected) in [
            ("application/grpc", Some(MediaType::Grpc(Form::Binary))),
            ("application/grpc+proto", Some(MediaType::Grpc(Form::Binary))),
            ("Application/gRPC+JSON", Some(MediaType::Grpc(Form::Json))),
            ("application/grpc-web", Some(MediaType::GrpcWeb(Form::Binary))),
            ("application/grpc-web-text+proto", Some(MediaType::GrpcWebText(Form::Binary))),
            ("application/json; charset=utf-8", Some(MediaType::Connect(Form::Json))),
            ("application/json ;charset=utf-8", Some(MediaType::Connect(Form::Json))),
            ("application/proto", Some(MediaType::Connect(Form::Binary))),
            ("application/connect+proto", Some(MediaType::ConnectStream(Form::Binary))),
            ("application/connect", None),
            ("application/grpcx", None),
            ("application/grpc+thrift", None),
            ("application/grpc-web-text+protobufs", None),
            ("text/plain", None),
            ("application/", None),
            ("", None),
        ] {
            assert_eq!(MediaType::from_bytes(value.as_bytes()), expected, "{value}");
        }
    }

    #[test]
    fn all_that_is_accepted_is_read() {
        for value in MediaType::ACCEPT_POST.split(',') {
            let found = MediaType::from_bytes(value.trim().as_bytes());
            assert!(
                found.is_some_and(|found| MediaType::from_bytes(found.name().as_bytes()) == Some(found)),
                "{value}"
            );
        }
    }
}
