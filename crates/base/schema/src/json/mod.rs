//! Messages between their binary form and JSON ([mapping](https://protobuf.dev/programming-guides/json/)).

mod error;
mod quick;
mod read;
mod scan;
mod text;
mod time;
mod tree;
mod write;

pub use error::Error;
pub(crate) use text::put_string;

use quick::Irregular;

use crate::MessageType;

impl MessageType {
    /// Appends the JSON form of a message in binary form. What is wrong with the bytes leaves `out` as it was.
    pub fn to_json(&self, binary: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        let before = out.len();
        write::to_json(self, binary, out).or_else(|Irregular| {
            out.truncate(before);
            tree::to_json(self, binary, out)
        })
    }

    /// Appends the binary form of a message in JSON form. Fields that the schema does not know are passed over, as servers do:
    /// their client may be newer. What is wrong leaves `out` as it was.
    pub fn to_binary(&self, json: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        self.binary(json, true, out)
    }

    /// [`MessageType::to_binary`], but a field that the schema does not know is an error: for what people write.
    pub fn to_binary_strict(&self, json: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        self.binary(json, false, out)
    }

    fn binary(&self, json: &[u8], ignore_unknown: bool, out: &mut Vec<u8>) -> Result<(), Error> {
        let before = out.len();
        read::to_binary(self, json, ignore_unknown, out).or_else(|Irregular| {
            out.truncate(before);
            tree::to_binary(self, json, ignore_unknown, out)
        })
    }
}

#[cfg(test)]
mod tests;
