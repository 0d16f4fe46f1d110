//! Strings and bytes that are borrowed from a message or a program, or shared when an expression made them.

use std::ops::Deref;
use std::rc::Rc;

/// A string of CEL: borrowed where it stands in a message or an expression, counted when it was computed.
#[derive(Clone, Debug)]
pub enum Text<'a> {
    /// Of a message, a literal, or what the caller lent.
    Borrowed(&'a str),
    /// Computed.
    Shared(Rc<str>),
}

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Text::Borrowed(text) => text,
            Text::Shared(text) => text,
        }
    }
}

impl<'a> From<&'a str> for Text<'a> {
    fn from(text: &'a str) -> Self {
        Text::Borrowed(text)
    }
}

impl From<String> for Text<'_> {
    fn from(text: String) -> Self {
        Text::Shared(text.into())
    }
}

/// Bytes of CEL, borrowed or counted as [`Text`] is.
#[derive(Clone, Debug)]
pub enum Blob<'a> {
    /// Of a message, a literal, or what the caller lent.
    Borrowed(&'a [u8]),
    /// Computed.
    Shared(Rc<[u8]>),
}

impl Deref for Blob<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Blob::Borrowed(bytes) => bytes,
            Blob::Shared(bytes) => bytes,
        }
    }
}

impl<'a> From<&'a [u8]> for Blob<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Blob::Borrowed(bytes)
    }
}

impl From<Vec<u8>> for Blob<'_> {
    fn from(bytes: Vec<u8>) -> Self {
        Blob::Shared(bytes.into())
    }
}
