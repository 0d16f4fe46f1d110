//! The messages of grpc.health.v1, which are small enough to be written and read here.

/// `SERVING` in `HealthCheckResponse.ServingStatus`.
const SERVING: u64 = 1;

/// A length-prefixed `HealthCheckRequest` (field 1: the service's name).
pub(super) fn request(service: &str) -> Vec<u8> {
    let mut message = Vec::new();
    if !service.is_empty() {
        message.push(1 << 3 | 2);
        varint(service.len() as u64, &mut message);
        message.extend_from_slice(service.as_bytes());
    }
    let mut framed = vec![0];
    framed.extend_from_slice(&(message.len() as u32).to_be_bytes());
    framed.extend_from_slice(&message);
    framed
}

/// Whether a body is one length-prefixed `HealthCheckResponse` whose status (field 1) is `SERVING`. Unknown fields are
/// skipped; anything that is not such a message says no.
pub(super) fn is_serving(body: &[u8]) -> bool {
    let [0, a, b, c, d, message @ ..] = body else { return false };
    if u32::from_be_bytes([*a, *b, *c, *d]) as usize != message.len() {
        return false;
    }
    let mut rest = message;
    let mut status = 0;
    while !rest.is_empty() {
        let Some(tag) = read_varint(&mut rest) else { return false };
        let skipped = match tag & 7 {
            0 => match read_varint(&mut rest) {
                Some(value) if tag >> 3 == 1 => {
                    status = value;
                    0
                }
                Some(_) => 0,
                None => return false,
            },
            1 => 8,
            2 => match read_varint(&mut rest).map(usize::try_from) {
                Some(Ok(length)) => length,
                _ => return false,
            },
            5 => 4,
            _ => return false,
        };
        match rest.get(skipped..) {
            Some(behind) => rest = behind,
            None => return false,
        }
    }
    status == SERVING
}

fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn read_varint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, behind) = rest.split_first()?;
        *rest = behind;
        value |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_names_its_service() {
        assert_eq!(request(""), [0, 0, 0, 0, 0]);
        assert_eq!(request("a.B"), [0, 0, 0, 0, 5, 10, 3, b'a', b'.', b'B']);
        let long = "x".repeat(200);
        assert_eq!(request(&long)[..8], [0, 0, 0, 0, 203, 10, 0xc8, 1]);
    }

    #[test]
    fn only_a_whole_message_that_says_serving_is_good() {
        for (message, good) in [
            (&[8, 1][..], true),
            (&[8, 2], false),
            (&[], false),
            (&[8], false),
            (&[8, 0x81, 0x80, 0x00], true),
            (&[16, 9, 8, 1], true),
            (&[18, 1, 7, 8, 1], true),
            (&[18, 9, 7, 8, 1], false),
            (&[21, 0, 0, 0, 0, 8, 1], true),
            (&[17, 0, 0, 0, 0, 8, 1], false),
            (&[11, 8, 1], false),
            (&[8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1], false),
            (&[8, 1, 8, 2], false),
        ] {
            let mut body = vec![0, 0, 0, 0, message.len() as u8];
            body.extend_from_slice(message);
            assert_eq!(is_serving(&body), good, "{message:?}");
        }
        for body in [&[][..], &[0, 0, 0, 0], &[1, 0, 0, 0, 2, 8, 1], &[0, 0, 0, 0, 3, 8, 1], &[0, 0, 0, 0, 1, 8, 1]] {
            assert!(!is_serving(body), "{body:?}");
        }
    }
}
