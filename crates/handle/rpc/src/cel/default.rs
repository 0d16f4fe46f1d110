//! Defaults that proto2 and editions declare; the pool's fields do not carry them, so they are read where they were written.

use buffa_descriptor::generated::descriptor::{DescriptorProto, FieldDescriptorProto};
use buffa_descriptor::{DescriptorPool, FieldDescriptor, FieldKind, MessageIndex, ScalarType, SingularKind};

use super::{Blob, Text, Value};

/// Looks declared defaults up. A search through one file: paid for unset fields with explicit presence only.
pub(super) struct Defaults;

impl Defaults {
    /// The declared default of `field` of the message `of`.
    pub(super) fn of(pool: &DescriptorPool, of: MessageIndex, field: &FieldDescriptor) -> Option<Value<'static>> {
        use buffa::editions::FieldPresence::Implicit;
        if field.presence() == Implicit {
            return None;
        }
        let FieldKind::Singular(kind) = field.kind() else { return None };
        let text = declared(pool, pool.message(of).full_name(), field)?.default_value.as_deref()?;
        match kind {
            SingularKind::Enum(index) => {
                pool.enumeration(index).value_by_name(text).map(|value| Value::Int(value.number().into()))
            }
            SingularKind::Message(_) => None,
            SingularKind::Scalar(scalar) => scalar_default(scalar, text),
        }
    }
}

fn scalar_default(scalar: ScalarType, text: &str) -> Option<Value<'static>> {
    Some(match scalar {
        ScalarType::Bool => Value::Bool(text == "true"),
        ScalarType::String => Value::String(Text::Shared(text.into())),
        ScalarType::Bytes => Value::Bytes(Blob::Shared(unescaped(text).into())),
        ScalarType::Double | ScalarType::Float => Value::Double(text.parse().ok()?),
        ScalarType::Uint32 | ScalarType::Uint64 | ScalarType::Fixed32 | ScalarType::Fixed64 => {
            Value::Uint(text.parse().ok()?)
        }
        _ => Value::Int(text.parse().ok()?),
    })
}

/// Bytes in the escapes of C, as descriptors carry them.
fn unescaped(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.bytes().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        match rest.next() {
            Some(b'n') => out.push(b'\n'),
            Some(b'r') => out.push(b'\r'),
            Some(b't') => out.push(b'\t'),
            Some(digit @ b'0'..=b'7') => {
                let mut number = u32::from(digit - b'0');
                for _ in 0..2 {
                    if let Some(digit) = rest.next_if(|next| matches!(next, b'0'..=b'7')) {
                        number = number * 8 + u32::from(digit - b'0');
                    }
                }
                out.push(u8::try_from(number & 0xff).unwrap_or_default());
            }
            Some(other) => out.push(other),
            None => {}
        }
    }
    out
}

/// The declaration of a field, in the file that declares its message.
fn declared<'p>(pool: &'p DescriptorPool, message: &str, field: &FieldDescriptor) -> Option<&'p FieldDescriptorProto> {
    let file = pool.file_containing_symbol(message)?;
    let package = file.package.as_deref().unwrap_or_default();
    let path = match package {
        "" => message,
        package => message.strip_prefix(package)?.strip_prefix('.')?,
    };
    let mut names = path.split('.');
    let first = names.next()?;
    let mut found: &DescriptorProto = file.message_type.iter().find(|each| each.name.as_deref() == Some(first))?;
    for name in names {
        found = found.nested_type.iter().find(|each| each.name.as_deref() == Some(name))?;
    }
    let number = i32::try_from(field.number()).ok()?;
    found.field.iter().find(|each| each.number == Some(number))
}
