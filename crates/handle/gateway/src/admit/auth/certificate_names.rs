use std::fmt::Write as _;

use rustls_pki_types::CertificateDer;
use webpki::EndEntityCert;

/// Relative names of a subject that are read; real ones have fewer than ten.
const PARTS_MAX: usize = 32;

/// What a certificate says of its owner.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CertificateNames {
    /// The subject as text (RFC 4514): the most specific part first.
    pub(super) subject: String,
    /// DNS names and URIs of subjectAltName.
    pub(super) alternative: Vec<String>,
}

/// Reads a certificate that the handshake has verified; `None` for one that cannot be read.
pub(super) fn names_of(der: &[u8]) -> Option<CertificateNames> {
    let der = CertificateDer::from(der);
    let certificate = EndEntityCert::try_from(&der).ok()?;
    let alternative = certificate.valid_dns_names().chain(certificate.valid_uri_names()).map(str::to_owned).collect();
    Some(CertificateNames { subject: subject(certificate.subject())?, alternative })
}

/// A Name (RFC 5280 section 4.1.2.4), with or without the SEQUENCE around it, as text.
fn subject(der: &[u8]) -> Option<String> {
    let mut rest = match value(der) {
        Some((SEQUENCE, inner, [])) => inner,
        _ => der,
    };
    let mut parts = Vec::new();
    while !rest.is_empty() && parts.len() < PARTS_MAX {
        let (SET, mut attributes, after) = value(rest)? else { return None };
        let mut part = String::new();
        while !attributes.is_empty() {
            let (SEQUENCE, attribute, others) = value(attributes)? else { return None };
            let (OBJECT_ID, id, text) = value(attribute)? else { return None };
            let (kind, text, []) = value(text)? else { return None };
            if !part.is_empty() {
                part.push('+');
            }
            write_attribute(id, kind, text, &mut part);
            attributes = others;
        }
        parts.push(part);
        rest = after;
    }
    parts.reverse();
    rest.is_empty().then(|| parts.join(","))
}

const OBJECT_ID: u8 = 0x06;
const UTF8_STRING: u8 = 0x0c;
const PRINTABLE_STRING: u8 = 0x13;
const IA5_STRING: u8 = 0x16;
const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;

/// The first value of DER: its tag, its content, and what follows.
fn value(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = der.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        0x81 => {
            let (&length, rest) = rest.split_first()?;
            (usize::from(length), rest)
        }
        0x82 => {
            let (length, rest) = rest.split_first_chunk::<2>()?;
            (usize::from(u16::from_be_bytes(*length)), rest)
        }
        // No name is longer than 64 KiB.
        _ => return None,
    };
    let (content, after) = rest.split_at_checked(length)?;
    Some((tag, content, after))
}

/// `CN=Ann`, or by number and in hexadecimal what has no short name or is no text (RFC 4514 sections 2.3 and 2.4).
fn write_attribute(id: &[u8], kind: u8, text: &[u8], out: &mut String) {
    let name = match id {
        [0x55, 4, 3] => "CN",
        [0x55, 4, 5] => "serialNumber",
        [0x55, 4, 6] => "C",
        [0x55, 4, 7] => "L",
        [0x55, 4, 8] => "ST",
        [0x55, 4, 9] => "STREET",
        [0x55, 4, 10] => "O",
        [0x55, 4, 11] => "OU",
        [0x09, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 1, 1] => "UID",
        [0x09, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 1, 25] => "DC",
        [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, 1] => "emailAddress",
        _ => "",
    };
    if name.is_empty() {
        out.push_str("oid.");
        id.iter().for_each(|byte| hex(*byte, out));
    } else {
        out.push_str(name);
    }
    out.push('=');
    let is_text = matches!(kind, UTF8_STRING | PRINTABLE_STRING | IA5_STRING);
    match std::str::from_utf8(text).ok().filter(|_| is_text) {
        Some(text) => write_escaped(text, out),
        None => {
            out.push('#');
            text.iter().for_each(|byte| hex(*byte, out));
        }
    }
}

fn write_escaped(text: &str, out: &mut String) {
    let last = text.chars().count().saturating_sub(1);
    for (at, c) in text.chars().enumerate() {
        match c {
            ',' | '+' | '"' | '\\' | '<' | '>' | ';' | '=' => out.extend(['\\', c]),
            ' ' if at == 0 || at == last => out.push_str("\\ "),
            '#' if at == 0 => out.push_str("\\#"),
            c if c.is_control() => {
                let mut bytes = [0; 4];
                for byte in c.encode_utf8(&mut bytes).bytes() {
                    out.push('\\');
                    hex(byte, out);
                }
            }
            c => out.push(c),
        }
    }
}

fn hex(byte: u8, out: &mut String) {
    // Writing to a String can't fail.
    let _ = write!(out, "{byte:02x}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tlv(tag: u8, content: &[u8]) -> Vec<u8> {
        [&[tag, content.len() as u8], content].concat()
    }

    fn part(id: &[u8], kind: u8, text: &[u8]) -> Vec<u8> {
        tlv(SET, &tlv(SEQUENCE, &[tlv(OBJECT_ID, id), tlv(kind, text)].concat()))
    }

    #[test]
    fn subjects_are_written_so_that_no_part_passes_for_another() {
        let cn: &[u8] = &[0x55, 4, 3];
        for (der, text) in [
            ([part(&[0x55, 4, 10], UTF8_STRING, b"Acme"), part(cn, UTF8_STRING, b"ann")].concat(), "CN=ann,O=Acme"),
            (part(cn, PRINTABLE_STRING, b"ann, O=Evil"), "CN=ann\\, O\\=Evil"),
            (part(cn, UTF8_STRING, b" #x "), "CN=\\ #x\\ "),
            (part(cn, UTF8_STRING, b"#x"), "CN=\\#x"),
            (part(cn, UTF8_STRING, b"a\r\nb\0"), "CN=a\\0d\\0ab\\00"),
            (part(cn, UTF8_STRING, "Zoë".as_bytes()), "CN=Zoë"),
            (part(cn, UTF8_STRING, b"\xff"), "CN=#ff"),
            (part(cn, 0x1e, b"\0a"), "CN=#0061"),
            (part(&[0x55, 4, 99], IA5_STRING, b"x"), "oid.550463=x"),
            (Vec::new(), ""),
        ] {
            assert_eq!(subject(&der).as_deref(), Some(text));
            assert_eq!(subject(&tlv(SEQUENCE, &der)).as_deref(), Some(text));
        }
    }

    #[test]
    fn what_is_cut_off_or_of_another_form_is_no_subject() {
        let whole = part(&[0x55, 4, 3], UTF8_STRING, b"ann");
        for length in 1..whole.len() {
            assert_eq!(subject(&whole[..length]), None, "{length}");
        }
        for der in [&[0x30, 0x84, 1, 1, 1, 1][..], &[0x31, 0x80], &[0x02, 1, 1]] {
            assert_eq!(subject(der), None);
        }
        assert_eq!(names_of(b"no certificate"), None);
    }
}
