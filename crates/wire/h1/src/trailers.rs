use leat_message::{Field, Fields, Name, Profile, Reason};

use crate::fields::{self, SectionLimits};
use crate::limits::DecoderLimits;
use crate::progress::Stop;

/// The trailer section of a chunked body, gathered line by line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trailers {
    bytes: Vec<u8>,
    /// Where the line begins that is being gathered.
    line: usize,
    fields: Vec<Field>,
    complete: bool,
}

impl Trailers {
    pub(crate) fn fields(&self) -> Fields<'_> {
        Fields::new(&self.bytes, &self.fields)
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.complete
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Takes bytes up to the next line end, or all of `input`; says how many. A line is judged as far as it is there.
    pub(crate) fn take_line(&mut self, input: &[u8], limits: &DecoderLimits) -> Result<usize, Reason> {
        let wanted = memchr::memchr(b'\n', input).map_or(input.len(), |lf| lf + 1);
        let room = limits.trailer_bytes_max.saturating_sub(self.bytes.len());
        let taken = wanted.min(room);
        self.bytes.extend_from_slice(input.get(..taken).unwrap_or_default());
        self.judge_line(limits)?;
        if taken < wanted {
            return Err(Reason::LimitTrailerBytes);
        }
        Ok(taken)
    }

    /// Parses the gathered line by the rules for fields in heads.
    fn judge_line(&mut self, limits: &DecoderLimits) -> Result<(), Reason> {
        let section = SectionLimits { fields_max: limits.fields_max, field_bytes_max: limits.trailer_bytes_max };
        let before = self.fields.len();
        match fields::parse_some(&self.bytes, self.line, section, &mut self.fields) {
            Ok(_) => self.complete = true,
            Err(Stop::More(line)) => self.line = line,
            Err(Stop::Refuse(Reason::LimitFields)) => return Err(Reason::LimitFields),
            Err(Stop::Refuse(_)) => return Err(Reason::TrailerInvalid),
        }
        match self.fields.get(before) {
            Some(field) if is_forbidden(field.id, field.name.of(&self.bytes)) => Err(Reason::TrailerForbidden),
            Some(field) if limits.profile == Profile::Strict && !field.value.of(&self.bytes).is_ascii() => {
                Err(Reason::TrailerInvalid)
            }
            _ => Ok(()),
        }
    }
}

/// Whether a field must not stand in a trailer section (RFC 9110 section 6.5.1): it frames, routes, authenticates,
/// modifies the request, controls the response or describes the content, and whoever merges it into the head would be
/// made to believe it too late.
pub(crate) fn is_forbidden(id: Name, name: &[u8]) -> bool {
    match id {
        Name::Other => {
            const OTHERS: [&[u8]; 8] = [
                b"pragma",
                b"max-forwards",
                b"www-authenticate",
                b"authentication-info",
                b"proxy-authentication-info",
                b"expires",
                b"warning",
                b"content-location",
            ];
            OTHERS.iter().any(|other| other.eq_ignore_ascii_case(name))
        }
        // Validators and bookkeeping may only be known at the end.
        Name::Accept
        | Name::AcceptEncoding
        | Name::Etag
        | Name::LastModified
        | Name::Server
        | Name::Traceparent
        | Name::UserAgent
        | Name::XRequestId => false,
        _ => true,
    }
}
