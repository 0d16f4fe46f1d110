use leat_message::{Fields, Head};

use crate::compression::ALL_NAMES;
use crate::grpc::timeout;
use crate::opening::answer_coding;
use crate::{Code, Coding, MediaType, Opening, Refused, Status};

/// Reads the head of a request whose type is gRPC's.
///
/// # Errors
/// [`Refused::Call`]: `unimplemented` for a compression that we do not know, `invalid_argument` for a malformed timeout.
pub fn open(head: Head<'_>, media: MediaType) -> Result<Opening, Refused> {
    let mut opening = Opening::new(media);
    match read(head.fields(), &mut opening) {
        Ok(()) => Ok(opening),
        Err(status) => Err(Refused::Call(opening, status)),
    }
}

/// The fields that gRPC and gRPC-Web share.
pub(crate) fn read(fields: Fields<'_>, opening: &mut Opening) -> Result<(), Status> {
    let (mut encoding, mut accepted, mut time) = (None, None, None);
    for (_, name, value) in fields {
        if !name.get(..5).is_some_and(|start| start.eq_ignore_ascii_case(b"grpc-")) {
            continue;
        }
        if name.eq_ignore_ascii_case(b"grpc-timeout") {
            time = Some(value);
        } else if name.eq_ignore_ascii_case(b"grpc-encoding") {
            encoding = Some(value);
        } else if name.eq_ignore_ascii_case(b"grpc-accept-encoding") {
            accepted = Some(value);
        }
    }
    opening.received = coding(encoding)?;
    opening.answered = answer_coding(opening.received, accepted);
    if let Some(value) = time {
        let time = timeout::read(value);
        opening.timeout = Some(time.ok_or_else(|| {
            let text = String::from_utf8_lossy(value);
            Status::new(
                Code::InvalidArgument,
                format!("protocol error: invalid grpc-timeout \"{}\"", text.escape_debug()),
            )
        })?);
    }
    Ok(())
}

/// The coding that a field names.
pub(crate) fn coding(name: Option<&[u8]>) -> Result<Coding, Status> {
    let Some(name) = name else { return Ok(Coding::Identity) };
    Coding::from_name(name).ok_or_else(|| {
        let text = String::from_utf8_lossy(name);
        let text = text.escape_debug();
        Status::new(Code::Unimplemented, format!("unknown compression \"{text}\": supported encodings are {ALL_NAMES}"))
    })
}
