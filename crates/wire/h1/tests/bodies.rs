//! Framing of bodies, in both directions.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use leat_h1::{
    BodyDecoder, BodyEncoder, Decoded, DecoderLimits, EncodeError, Field, Fields, Length, Limits, Name, Profile,
    Reason, Span, encode,
};

/// What became of an input: the data, the trailers, and the bytes behind the body (`None` if it goes on).
#[derive(Debug, PartialEq)]
struct Outcome {
    data: Vec<u8>,
    trailers: Vec<(Vec<u8>, Vec<u8>)>,
    rest: Option<usize>,
}

fn decode(mut decoder: BodyDecoder, pieces: &[&[u8]], take_max: usize) -> Result<Outcome, Reason> {
    let mut input = Vec::new();
    let mut data = Vec::new();
    let mut pieces = pieces.iter();
    loop {
        match decoder.decode(&input)? {
            Decoded::Data { skip, data: count } => {
                assert!(count > 0);
                // A caller may take less than it was lent, and look again.
                let taken = count.min(take_max);
                data.extend_from_slice(&input[skip..skip + taken]);
                decoder.consumed(taken);
                input.drain(..skip + taken);
            }
            Decoded::More { skip } => {
                assert_eq!(skip, input.len());
                input.clear();
                match pieces.next() {
                    Some(piece) => input.extend_from_slice(piece),
                    None => return Ok(Outcome { data, trailers: trailers(&decoder), rest: None }),
                }
            }
            Decoded::End { skip } => {
                assert!(decoder.is_done());
                let rest = input.len() - skip + pieces.map(|piece| piece.len()).sum::<usize>();
                return Ok(Outcome { data, trailers: trailers(&decoder), rest: Some(rest) });
            }
        }
    }
}

fn trailers(decoder: &BodyDecoder) -> Vec<(Vec<u8>, Vec<u8>)> {
    decoder.trailers().into_iter().flatten().map(|(_, name, value)| (name.to_vec(), value.to_vec())).collect()
}

/// Decodes at once, in two pieces cut anywhere, and byte by byte; all must agree.
fn everywhere(length: Length, limits: DecoderLimits, bytes: &[u8]) -> Result<Outcome, Reason> {
    let decoder = || BodyDecoder::new(length, limits);
    let whole = decode(decoder(), &[bytes], usize::MAX);
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(decode(decoder(), &single, usize::MAX), whole, "{}", bytes.escape_ascii());
    assert_eq!(decode(decoder(), &[bytes], 1), whole, "{}", bytes.escape_ascii());
    for at in 0..=bytes.len() {
        let (front, back) = bytes.split_at(at);
        assert_eq!(decode(decoder(), &[front, back], 3), whole, "cut at {at}: {}", bytes.escape_ascii());
    }
    whole
}

#[test]
fn chunked_bodies_end_where_they_say_wherever_they_are_cut() {
    let trailer = vec![(b"X-Sum".to_vec(), b"1".to_vec())];
    for (bytes, data, trailers, rest) in [
        ("0\r\n\r\n", "", vec![], Some(0)),
        ("5\r\nhello\r\n0\r\n\r\nGET", "hello", vec![], Some(3)),
        ("1\r\na\r\n2\r\nbc\r\n00\r\n\r\n", "abc", vec![], Some(0)),
        ("A\r\n0123456789\r\n0\r\n\r\n", "0123456789", vec![], Some(0)),
        ("5;a=\"b\\\"\";c\r\nhello\r\n0;d\r\n\r\n", "hello", vec![], Some(0)),
        ("5\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n\r\n", "hello", trailer.clone(), Some(2)),
        ("5\r\nhello\r\n0\r\nX-Sum: 1\r\n", "hello", vec![], None),
        ("5\r\nhel", "hel", vec![], None),
        ("5\r\nhello\r\n0\r\n\r", "hello", vec![], None),
    ] {
        let outcome = everywhere(Length::Stream, DecoderLimits::default(), bytes.as_bytes());
        assert_eq!(outcome, Ok(Outcome { data: data.into(), trailers, rest }), "{bytes:?}");
    }
}

#[test]
fn malformed_chunks_are_refused_wherever_they_are_cut() {
    let strict = DecoderLimits::new(&Limits::default(), Profile::Strict);
    for (bytes, compatible, in_strict) in [
        ("\r\n", Err(Reason::ChunkSizeInvalid), Err(Reason::ChunkSizeInvalid)),
        ("0x5\r\nhello", Err(Reason::ChunkSizeInvalid), Err(Reason::ChunkSizeInvalid)),
        ("+5\r\nhello", Err(Reason::ChunkSizeInvalid), Err(Reason::ChunkSizeInvalid)),
        ("-5\r\nhello", Err(Reason::ChunkSizeInvalid), Err(Reason::ChunkSizeInvalid)),
        ("1_0\r\nhello", Err(Reason::ChunkSizeInvalid), Err(Reason::ChunkSizeInvalid)),
        (" 5\r\nhello", Err(Reason::ChunkSizeInvalid), Err(Reason::ChunkSizeInvalid)),
        ("5 \r\nhello", Err(Reason::ChunkSizeInvalid), Err(Reason::ChunkSizeInvalid)),
        ("5\nhello", Err(Reason::ChunkEndMissing), Err(Reason::ChunkEndMissing)),
        ("5\rhello", Err(Reason::ChunkEndMissing), Err(Reason::ChunkEndMissing)),
        ("5\r\nhello0\r\n", Err(Reason::ChunkEndMissing), Err(Reason::ChunkEndMissing)),
        ("5\r\nhello\n0\r\n", Err(Reason::ChunkEndMissing), Err(Reason::ChunkEndMissing)),
        ("5\r\nhelloXX0\r\n", Err(Reason::ChunkEndMissing), Err(Reason::ChunkEndMissing)),
        ("8000000000000000\r\n", Err(Reason::ChunkSizeOverflow), Err(Reason::ChunkSizeOverflow)),
        ("ffffffffffffffff1\r\n", Err(Reason::ChunkSizeOverflow), Err(Reason::ChunkSizeOverflow)),
        ("7fffffffffffffff\r\n", Err(Reason::LimitBodyBytes), Err(Reason::LimitBodyBytes)),
        ("5;a\nx\r\nhello", Err(Reason::ChunkExtensionInvalid), Err(Reason::ChunkExtensionInvalid)),
        ("5;a\rx\r\nhello", Err(Reason::ChunkExtensionInvalid), Err(Reason::ChunkExtensionInvalid)),
        ("5;\r\nhello", Err(Reason::ChunkExtensionInvalid), Err(Reason::ChunkExtensionInvalid)),
        ("5;a=\"b\r\nhello", Err(Reason::ChunkExtensionInvalid), Err(Reason::ChunkExtensionInvalid)),
        ("0\r\nContent-Length: 5\r\n\r\n", Err(Reason::TrailerForbidden), Err(Reason::TrailerForbidden)),
        ("0\r\nX : y\r\n\r\n", Err(Reason::TrailerInvalid), Err(Reason::TrailerInvalid)),
        ("0\r\nX: y\n\r\n", Err(Reason::TrailerInvalid), Err(Reason::TrailerInvalid)),
        ("0\r\n\rX", Err(Reason::TrailerInvalid), Err(Reason::TrailerInvalid)),
        ("0\r\nX: y\r\n z\r\n\r\n", Err(Reason::TrailerInvalid), Err(Reason::TrailerInvalid)),
        ("5;a\r\nhello", Ok("hello"), Err(Reason::ChunkExtensionInvalid)),
        ("05\r\nhello", Ok("hello"), Err(Reason::ChunkSizeInvalid)),
    ] {
        for (limits, expected) in [(DecoderLimits::default(), compatible), (strict, in_strict)] {
            let outcome = everywhere(Length::Stream, limits, bytes.as_bytes());
            assert_eq!(outcome.map(|outcome| outcome.data), expected.map(Vec::from), "{bytes:?}");
        }
    }
}

#[test]
fn limits_of_bodies_are_those_of_the_last_byte_that_fits() {
    let limits = DecoderLimits {
        body_bytes_max: 6,
        trailer_bytes_max: 12,
        chunk_extension_bytes_max: 4,
        fields_max: 2,
        profile: Profile::Compatible,
    };
    for (length, bytes, refusal) in [
        (Length::Known(6), "abcdef", None),
        (Length::Known(7), "", Some(Reason::LimitBodyBytes)),
        (Length::Close, "abcdef", None),
        (Length::Close, "abcdefg", Some(Reason::LimitBodyBytes)),
        (Length::Tunnel, "abcdefgh", None),
        (Length::Stream, "3\r\nabc\r\n3\r\nabc\r\n0\r\n\r\n", None),
        (Length::Stream, "3\r\nabc\r\n4\r\n", Some(Reason::LimitBodyBytes)),
        (Length::Stream, "1;abc\r\na\r\n0\r\n\r\n", None),
        (Length::Stream, "1;abcd\r\na\r\n0\r\n\r\n", Some(Reason::LimitChunkExtension)),
        (Length::Stream, "0\r\nA: 12\r\nB:\r\n\r\n", Some(Reason::LimitTrailerBytes)),
        (Length::Stream, "0\r\nA:\r\nB:\r\n\r\n", None),
        (Length::Stream, "0\r\nA:\r\nB:\r\nC", Some(Reason::LimitFields)),
    ] {
        let outcome = everywhere(length, limits, bytes.as_bytes());
        assert_eq!(outcome.err(), refusal, "{length:?} {bytes:?}");
    }
}

#[test]
fn a_body_of_tiny_chunks_cannot_be_mostly_extensions() {
    let limits = DecoderLimits { chunk_extension_bytes_max: 8, ..DecoderLimits::default() };
    let bytes = "1;aaaaaa\r\nx\r\n".repeat(1_000);
    let outcome = decode(BodyDecoder::new(Length::Stream, limits), &[bytes.as_bytes()], usize::MAX);
    assert_eq!(outcome, Err(Reason::LimitChunkExtension));
}

#[test]
fn only_a_body_that_ends_with_the_connection_may_end_with_it() {
    for (length, bytes, expected) in [
        (Length::None, "", Ok(())),
        (Length::Known(0), "", Ok(())),
        (Length::Known(2), "a", Err(Reason::BodyCutOff)),
        (Length::Known(2), "ab", Ok(())),
        (Length::Stream, "1\r\na\r\n0\r\n", Err(Reason::BodyCutOff)),
        (Length::Close, "a", Ok(())),
        (Length::Tunnel, "a", Ok(())),
    ] {
        let mut decoder = BodyDecoder::new(length, DecoderLimits::default());
        let mut input = bytes.as_bytes();
        while let Decoded::Data { skip, data } = decoder.decode(input).unwrap() {
            decoder.consumed(data);
            input = &input[skip + data..];
        }
        assert_eq!(decoder.end_of_input(), expected, "{length:?} {bytes:?}");
    }
}

#[test]
fn a_raised_limit_counts_from_the_next_look_on() {
    let limits = DecoderLimits { body_bytes_max: 1, ..DecoderLimits::default() };
    let mut decoder = BodyDecoder::new(Length::Known(4), limits);
    assert_eq!(decoder.clone().decode(b"abcd"), Err(Reason::LimitBodyBytes));
    decoder.limit(4);
    assert_eq!(decoder.decode(b"abcd"), Ok(Decoded::Data { skip: 0, data: 4 }));
}

fn encoded(length: Length, pieces: &[&[u8]], trailers: Option<Fields<'_>>) -> Result<Vec<u8>, EncodeError> {
    let mut encoder = BodyEncoder::new(length);
    let mut out = Vec::new();
    for piece in pieces {
        let framed = encoder.piece(piece.len())?;
        out.extend_from_slice(framed.prefix());
        out.extend_from_slice(piece);
        out.extend_from_slice(framed.suffix);
    }
    encoder.end(trailers, &mut out)?;
    Ok(out)
}

#[test]
fn what_is_encoded_decodes_to_the_same() {
    let sizes = [0usize, 1, 15, 16, 17, 255, 256, 4095, 4096, 65_536];
    let body: Vec<Vec<u8>> = sizes.iter().map(|&size| vec![b'a' + (size % 7) as u8; size]).collect();
    let pieces: Vec<&[u8]> = body.iter().map(Vec::as_slice).collect();
    let total: usize = sizes.iter().sum();
    for length in [Length::Stream, Length::Known(total as u64), Length::Close] {
        let out = encoded(length, &pieces, None).unwrap();
        let outcome = decode(BodyDecoder::new(length, DecoderLimits::default()), &[&out], usize::MAX).unwrap();
        assert_eq!(outcome.data, body.concat());
        assert_eq!(outcome.rest.is_some(), length != Length::Close);
    }
}

#[test]
fn trailers_go_out_where_the_framing_can_carry_them() {
    let bytes = b"grpc-status0Content-Length5a\nb";
    let field = |name: (usize, usize), value: (usize, usize), id| Field {
        id,
        name: Span::new(name.0, name.1),
        value: Span::new(value.0, value.1),
    };
    let good = [field((0, 11), (11, 12), Name::Other)];
    let forbidden = [field((12, 26), (26, 27), Name::ContentLength)];
    let split = [field((0, 11), (27, 30), Name::Other)];
    let empty_name = [field((0, 0), (11, 12), Name::Other)];
    assert_eq!(
        encoded(Length::Stream, &[b"x"], Some(Fields::new(bytes, &good))).unwrap(),
        b"1\r\nx\r\n0\r\ngrpc-status: 0\r\n\r\n"
    );
    assert_eq!(encoded(Length::Known(1), &[b"x"], Some(Fields::new(bytes, &good))).unwrap(), b"x");
    for bad in [&forbidden, &split, &empty_name] {
        let result = encoded(Length::Stream, &[], Some(Fields::new(bytes, bad)));
        assert_eq!(result, Err(EncodeError::TrailerInvalid));
    }
}

#[test]
fn a_body_that_differs_from_its_announced_length_is_the_callers_mistake() {
    assert_eq!(encoded(Length::Known(2), &[b"abc"], None), Err(EncodeError::TooLong { excess: 1 }));
    assert_eq!(encoded(Length::Known(2), &[b"a"], None), Err(EncodeError::TooShort { missing: 1 }));
    assert_eq!(encoded(Length::None, &[b"a"], None), Err(EncodeError::TooLong { excess: 1 }));
    assert_eq!(encoded(Length::None, &[b""], None), Ok(vec![]));
    let mut encoder = BodyEncoder::new(Length::Stream);
    let mut out = Vec::new();
    encoder.end(None, &mut out).unwrap();
    encoder.end(None, &mut out).unwrap();
    assert_eq!(out, b"0\r\n\r\n");
    assert_eq!(encoder.piece(1), Err(EncodeError::TooLong { excess: 1 }));
}

#[test]
fn heads_are_written_line_by_line() {
    let mut out = Vec::new();
    encode::status_line(&mut out, 200);
    encode::date(&mut out, b"Sun, 06 Nov 1994 08:49:37 GMT");
    encode::field(&mut out, b"x-y", b"z");
    encode::content_length(&mut out, u64::MAX);
    encode::chunked(&mut out);
    encode::connection_close(&mut out);
    encode::end(&mut out);
    let expected = "HTTP/1.1 200 OK\r\ndate: Sun, 06 Nov 1994 08:49:37 GMT\r\nx-y: z\r\n\
        content-length: 18446744073709551615\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n";
    assert_eq!(String::from_utf8(out).unwrap(), expected);

    let mut out = Vec::new();
    encode::request_line(&mut out, b"GET", b"/a");
    encode::status_line(&mut out, 299);
    encode::content_length(&mut out, 0);
    assert_eq!(out, b"GET /a HTTP/1.1\r\nHTTP/1.1 299 \r\ncontent-length: 0\r\n");

    for (name, value, sound) in [
        (&b"x"[..], &b"a\tb \xff"[..], true),
        (b"x", b"", true),
        (b"", b"a", false),
        (b"x y", b"a", false),
        (b"x", b"a\r\nb", false),
        (b"x", b"a\0", false),
    ] {
        assert_eq!(encode::is_field(name, value), sound);
    }
}
