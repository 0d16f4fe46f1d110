#![allow(clippy::unwrap_used)]
use super::*;

/// Feeds `bytes` in pieces of `step` as a socket would, and says what came out and how many bytes were taken.
fn read_in_steps(bytes: &[u8], step: usize) -> (Option<Origin>, usize) {
    let mut held = Vec::new();
    let mut arrived = 0;
    while arrived < bytes.len() {
        arrived = (arrived + step).min(bytes.len());
        while held.len() < arrived {
            let fresh = &bytes[held.len()..arrived];
            let Some(count) = claim(&held, fresh) else { return (None, held.len()) };
            assert!(count > 0 && count <= fresh.len());
            held.extend_from_slice(&fresh[..count]);
            if is_whole(&held) {
                return (parse(&held), held.len());
            }
        }
    }
    (None, held.len())
}

fn tcp(remote: &str, local: &str) -> Origin {
    Origin::Proxied { remote: Address::Ip(remote.parse().unwrap()), local: Address::Ip(local.parse().unwrap()) }
}

fn v2(command: u8, protocol: u8, rest: &[u8]) -> Vec<u8> {
    let mut bytes = V2_START.to_vec();
    bytes.extend([command, protocol]);
    bytes.extend((rest.len() as u16).to_be_bytes());
    bytes.extend(rest);
    bytes
}

const IPV4: [u8; 12] = [192, 0, 2, 1, 198, 51, 100, 2, 0x30, 0x39, 0x01, 0xbb];

#[test]
fn good_headers_give_their_addresses_and_leave_what_follows() {
    let mut ipv6 = [0; 36];
    ipv6[..16].copy_from_slice(&"2001:db8::1".parse::<Ipv6Addr>().unwrap().octets());
    ipv6[16..32].copy_from_slice(&"2001:db8::2".parse::<Ipv6Addr>().unwrap().octets());
    ipv6[32..].copy_from_slice(&[0, 1, 0, 2]);
    let with_tlvs = [&IPV4[..], &[0x04, 0, 2, 9, 9], &[0x20, 0, 0]].concat();
    let longest =
        "PROXY TCP6 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535\r\n";
    let huge = [&IPV4[..], &[0x04, 0x0f, 0xe1][..], &[0; 0xfe1][..]].concat();
    for (header, origin) in [
        (b"PROXY TCP4 192.0.2.1 198.51.100.2 12345 443\r\n".to_vec(), tcp("192.0.2.1:12345", "198.51.100.2:443")),
        (b"PROXY TCP4 0.0.0.0 255.255.255.255 0 65535\r\n".to_vec(), tcp("0.0.0.0:0", "255.255.255.255:65535")),
        (b"PROXY TCP6 2001:db8::1 2001:db8::2 1 2\r\n".to_vec(), tcp("[2001:db8::1]:1", "[2001:db8::2]:2")),
        (b"PROXY TCP6 ::ffff:192.0.2.1 ::1 1 2\r\n".to_vec(), tcp("192.0.2.1:1", "[::1]:2")),
        (
            longest.as_bytes().to_vec(),
            tcp("[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535", "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535"),
        ),
        (b"PROXY UNKNOWN\r\n".to_vec(), Origin::Direct),
        (b"PROXY UNKNOWN what ever 1 2\r\n".to_vec(), Origin::Direct),
        (v2(0x21, 0x11, &IPV4), tcp("192.0.2.1:12345", "198.51.100.2:443")),
        (v2(0x21, 0x11, &with_tlvs), tcp("192.0.2.1:12345", "198.51.100.2:443")),
        (v2(0x21, 0x11, &huge), tcp("192.0.2.1:12345", "198.51.100.2:443")),
        (v2(0x21, 0x21, &ipv6), tcp("[2001:db8::1]:1", "[2001:db8::2]:2")),
        (v2(0x21, 0x31, &[b'x'; 216]), Origin::Proxied { remote: Address::Unix, local: Address::Unix }),
        (v2(0x21, 0x00, b""), Origin::Direct),
        (v2(0x20, 0x00, b""), Origin::Direct),
        (v2(0x20, 0x11, &IPV4), Origin::Direct),
    ] {
        let whole = [&header[..], b"GET / HTTP/1.1\r\n"].concat();
        for step in [1, 2, 7, whole.len()] {
            assert_eq!(read_in_steps(&whole, step), (Some(origin.clone()), header.len()), "{header:?} by {step}");
        }
    }
}

#[test]
fn bad_headers_are_refused() {
    let too_long = format!("PROXY UNKNOWN {}\r\n", "x".repeat(92));
    assert_eq!(too_long.len(), V1_BYTES_MAX + 1);
    let mut wrong_signature = v2(0x21, 0x11, &IPV4);
    wrong_signature[11] = b'\r';
    for header in [
        b"GET / HTTP/1.1\r\n\r\n".to_vec(),
        b"\x16\x03\x01\x02\x00".to_vec(),
        b"proxy TCP4 192.0.2.1 198.51.100.2 1 2\r\n".to_vec(),
        b"PROXY\tTCP4 192.0.2.1 198.51.100.2 1 2\r\n".to_vec(),
        b"PROXY  TCP4 192.0.2.1 198.51.100.2 1 2\r\n".to_vec(),
        b"PROXY TCP4 192.0.2.1 198.51.100.2 1 2\n".to_vec(),
        b"PROXY TCP4 192.0.2.1 198.51.100.2 1 2 \r\n".to_vec(),
        b"PROXY TCP4 192.0.2.1 198.51.100.2 1\r\n".to_vec(),
        b"PROXY TCP4 192.0.2.1 198.51.100.2 1 2 3\r\n".to_vec(),
        b"PROXY TCP4 192.0.2.1 198.51.100.2 01 2\r\n".to_vec(),
        b"PROXY TCP4 192.0.2.1 198.51.100.2 +1 2\r\n".to_vec(),
        b"PROXY TCP4 192.0.2.1 198.51.100.2 1 65536\r\n".to_vec(),
        b"PROXY TCP4 192.0.2.01 198.51.100.2 1 2\r\n".to_vec(),
        b"PROXY TCP4 2001:db8::1 2001:db8::2 1 2\r\n".to_vec(),
        b"PROXY TCP6 192.0.2.1 198.51.100.2 1 2\r\n".to_vec(),
        b"PROXY UDP4 192.0.2.1 198.51.100.2 1 2\r\n".to_vec(),
        b"PROXY \r\n".to_vec(),
        b"PROXY TCP4 192.0.2.1 198.51.100.2 1 \xff\r\n".to_vec(),
        too_long.into_bytes(),
        wrong_signature,
        v2(0x11, 0x11, &IPV4),
        v2(0x22, 0x11, &IPV4),
        v2(0x21, 0x11, &IPV4[..11]),
        v2(0x21, 0x21, &[0; 35]),
        v2(0x21, 0x31, &[0; 215]),
        v2(0x21, 0x12, &IPV4),
        v2(0x21, 0x41, &IPV4),
        v2(0x21, 0x11, &[&IPV4[..], &[0x04, 0]].concat()),
        v2(0x21, 0x11, &[&IPV4[..], &[0x04, 0, 2, 9]].concat()),
        v2(0x21, 0x11, &[0; V2_BYTES_MAX]),
    ] {
        for step in [1, 2, 7, header.len()] {
            assert_eq!(read_in_steps(&header, step).0, None, "{header:?} by {step}");
        }
    }
}

#[test]
fn a_wrong_first_byte_is_refused_before_the_next_arrives() {
    for byte in [b'G', b'p', 0x16, b'\n'] {
        assert_eq!(claim(b"", &[byte]), None);
    }
}
