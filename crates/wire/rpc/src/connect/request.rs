use leat_message::{Fields, Head, Name};

use crate::connect::query::Query;
use crate::connect::timeout;
use crate::grpc::request::coding;
use crate::opening::{answer_coding, has_body};
use crate::{Code, Form, MediaType, Opening, Refused, Status};

/// Reads the head of a POST whose type is Connect's.
///
/// # Errors
/// [`Refused::Call`]: `unimplemented` for a compression that we do not know, `invalid_argument` for a malformed timeout and
/// for another version of the protocol.
pub fn open(head: Head<'_>, media: MediaType) -> Result<Opening, Refused> {
    let mut opening = Opening::new(media);
    let fields = head.fields();
    let unary = matches!(media, MediaType::Connect(_));
    let encoding =
        if unary { fields.get(Name::ContentEncoding) } else { fields.get_named(b"connect-content-encoding") };
    let accepted = if unary { fields.get(Name::AcceptEncoding) } else { fields.get_named(b"connect-accept-encoding") };
    let version = fields.get_named(b"connect-protocol-version");
    match read(fields, encoding, accepted, version.is_none_or(|version| version == b"1"), &mut opening) {
        Ok(()) => Ok(opening),
        Err(status) => Err(Refused::Call(opening, status)),
    }
}

/// Reads the head of a GET, whose query carries what a POST has in its fields and its body.
///
/// # Errors
/// As for [`open`], and `invalid_argument` without a message; [`Refused::Media`] where the form is none of ours, or where
/// there is a body.
pub fn open_get(head: Head<'_>) -> Result<Opening, Refused> {
    let query = Query::read(head.query().unwrap_or_default());
    let form = match query.encoding {
        Some(b"proto") => Form::Binary,
        Some(b"json") => Form::Json,
        Some(_) => return Err(Refused::Media),
        // Most likely somebody looks with a browser at what only takes POST.
        None => return Err(Refused::Method),
    };
    if has_body(head) {
        return Err(Refused::Media);
    }
    let mut opening = Opening { is_get: true, ..Opening::new(MediaType::Connect(form)) };
    let right_version = query.connect.is_none_or(|version| version == b"v1");
    let accepted = head.fields().get(Name::AcceptEncoding);
    let read = read(head.fields(), query.compression, accepted, right_version, &mut opening);
    match read.and_then(|()| query.message.map(drop).ok_or_else(|| invalid("missing message parameter"))) {
        Ok(()) => Ok(opening),
        Err(status) => Err(Refused::Call(opening, status)),
    }
}

fn read(
    fields: Fields<'_>,
    encoding: Option<&[u8]>,
    accepted: Option<&[u8]>,
    right_version: bool,
    opening: &mut Opening,
) -> Result<(), Status> {
    opening.received = coding(encoding)?;
    opening.answered = answer_coding(opening.received, accepted);
    if !right_version {
        return Err(invalid("connect-protocol-version must be \"1\" (in a query: connect=v1)"));
    }
    if let Some(value) = fields.get_named(b"connect-timeout-ms") {
        let invalid_time = || invalid("connect-timeout-ms must be up to ten digits");
        opening.timeout = Some(timeout::read(value).ok_or_else(invalid_time)?);
    }
    Ok(())
}

fn invalid(message: &str) -> Status {
    Status::new(Code::InvalidArgument, format!("protocol error: {message}"))
}
