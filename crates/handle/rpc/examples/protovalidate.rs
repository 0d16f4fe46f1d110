//! The executor that protovalidate's conformance suite runs: a `TestConformanceRequest` on stdin, its response on stdout.
//! With `--plain` as an argument nothing is proven by native checks, so that the suite judges every expression.

use std::io::{Read, Write};
use std::sync::Arc;

use leat_rpc::cel::Timestamp;
use leat_rpc::validate::{Failure, Validators};
use leat_schema::buffa_descriptor::DescriptorPool;
use leat_schema::buffa_descriptor::reflect::DynamicMessage;
use leat_schema::wire::{Reader, put_varint};

type Text = Result<Vec<u8>, String>;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let plain = std::env::args().any(|argument| argument == "--plain");
    let mut input = Vec::new();
    std::io::stdin().read_to_end(&mut input)?;
    let mut set: &[u8] = &[];
    let mut cases = Vec::new();
    for (number, bytes) in fields(&input)? {
        match number {
            2 => set = bytes,
            3 => cases.push(bytes),
            _ => {}
        }
    }
    let pool = Arc::new(DescriptorPool::decode(set).map_err(|error| error.to_string())?);
    let mut output = Vec::new();
    for case in cases {
        let (mut name, mut any): (&[u8], &[u8]) = (&[], &[]);
        for (number, bytes) in fields(case)? {
            *(if number == 1 { &mut name } else { &mut any }) = bytes;
        }
        let result = judged(&pool, any, plain).unwrap_or_else(|text| field(5, text.as_bytes()));
        output.extend(field(1, &[field(1, name), field(2, &result)].concat()));
    }
    std::io::stdout().write_all(&output)?;
    Ok(())
}

/// A `TestResult`.
fn judged(pool: &Arc<DescriptorPool>, any: &[u8], plain: bool) -> Text {
    let (mut url, mut value): (&[u8], &[u8]) = (&[], &[]);
    for (number, bytes) in fields(any)? {
        *(if number == 1 { &mut url } else { &mut value }) = bytes;
    }
    let url = std::str::from_utf8(url).map_err(|error| error.to_string())?;
    let name = url.rsplit('/').next().unwrap_or_default();
    let index = pool.message_index(name).ok_or_else(|| format!("no message {name}"))?;
    let message = DynamicMessage::decode(Arc::clone(pool), index, value).map_err(|error| error.to_string())?;
    let mut validators = Validators::compile_for(pool, [index]);
    if plain {
        validators.without_native();
    }
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_err(|error| error.to_string())?;
    let now = Timestamp::at(i64::try_from(now.as_secs()).unwrap_or_default(), now.subsec_nanos());
    let proven = validators.proves(index, value);
    Ok(match validators.validate(&message, now) {
        Ok(violations) if proven && !violations.is_empty() => {
            return Err(format!("proven from the bytes, and yet: {violations}"));
        }
        Err(failure) if proven => return Err(format!("proven from the bytes, and yet: {failure}")),
        Ok(violations) if violations.is_empty() => vec![8, 1],
        Ok(violations) => field(2, &violations.to_binary()),
        Err(Failure::Rules(text)) => field(3, text.as_bytes()),
        Err(Failure::Evaluation(text)) => field(4, text.as_bytes()),
    })
}

/// The fields of a message that have bytes, by number.
fn fields(bytes: &[u8]) -> Result<Vec<(u32, &[u8])>, String> {
    let mut reader = Reader::new(bytes);
    let mut found = Vec::new();
    while !reader.is_empty() {
        let tag = reader.tag().ok_or("a broken tag")?;
        found.push((tag.number, reader.length_delimited().ok_or("a broken field")?));
    }
    Ok(found)
}

fn field(number: u32, bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    put_varint(&mut out, u64::from(number) << 3 | 2);
    put_varint(&mut out, bytes.len() as u64);
    out.extend_from_slice(bytes);
    out
}
