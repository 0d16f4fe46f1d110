use leat_message::Fields;
use leat_rpc_wire::{Metadata, binary_value};

/// The metadata of a request: a view of its fields, as they arrived. Costs nothing to make; nothing is decoded unless asked.
#[derive(Clone, Copy, Debug)]
pub struct CallMetadata<'a> {
    fields: Fields<'a>,
}

impl<'a> CallMetadata<'a> {
    /// The metadata in these fields.
    pub fn new(fields: Fields<'a>) -> Self {
        Self { fields }
    }

    /// The first value of this name, in any case, as it was sent: Base64 where the name ends in `-bin`.
    pub fn get(&self, name: &str) -> Option<&'a [u8]> {
        self.fields.get_named(name.as_bytes())
    }

    /// All values of this name, as they were sent.
    pub fn values<'n>(&self, name: &'n str) -> impl Iterator<Item = &'a [u8]> + use<'a, 'n> {
        let same = move |found: &[u8]| found.eq_ignore_ascii_case(name.as_bytes());
        self.fields.iter().filter(move |(_, found, _)| same(found)).map(|(_, _, value)| value)
    }

    /// All fields in order, as (name, value). On HTTP/1 names are in the case that they were sent in.
    pub fn iter(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
        self.fields.iter().map(|(_, name, value)| (name, value))
    }

    /// All bytes that a `-bin` name carries, decoded: values that were joined by commas are taken apart. What is not Base64
    /// is left out. Allocates.
    pub fn binary(&self, name: &str) -> Vec<Vec<u8>> {
        let parts = self.values(name).flat_map(|value| value.split(|&byte| byte == b','));
        parts.filter_map(|part| binary_value::decode(part.trim_ascii())).collect()
    }

    /// A copy, with the values of `-bin` names decoded.
    pub fn to_owned(&self) -> Metadata {
        let mut metadata = Metadata::new();
        for (name, value) in self.iter() {
            let Ok(name) = std::str::from_utf8(name) else { continue };
            if Metadata::is_binary(name) {
                let parts = value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
                parts.filter_map(binary_value::decode).for_each(|value| metadata.push(name, &value));
            } else {
                metadata.push(name, value);
            }
        }
        metadata
    }
}
