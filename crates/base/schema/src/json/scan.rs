//! JSON's own bytes ([RFC 8259](https://www.rfc-editor.org/rfc/rfc8259)): one token after the other, from text that is UTF-8.

use super::quick::{Irregular, Quick};

/// Where one is in the text.
pub(super) struct Scan<'j> {
    text: &'j str,
    at: usize,
}

/// A string as it stands between its quotes.
#[derive(Clone, Copy)]
pub(super) struct Raw<'j> {
    pub(super) text: &'j str,
    escaped: bool,
}

impl Raw<'_> {
    /// Whether it stands for itself.
    #[inline]
    pub(super) fn is_plain(&self) -> bool {
        !self.escaped
    }
}

/// A value that has nothing inside.
pub(super) enum Token<'j> {
    Null,
    Bool(bool),
    Number(&'j str),
    String(Raw<'j>),
}

impl<'j> Scan<'j> {
    pub(super) fn new(text: &'j str) -> Self {
        Self { text, at: 0 }
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    #[inline]
    fn blanks(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    #[inline]
    fn take(&mut self, byte: u8) -> Quick<()> {
        self.blanks();
        if self.peek() != Some(byte) {
            return Err(Irregular);
        }
        self.at += 1;
        Ok(())
    }

    /// Nothing but blanks comes behind.
    pub(super) fn end(&mut self) -> Quick<()> {
        self.blanks();
        if self.at == self.text.len() { Ok(()) } else { Err(Irregular) }
    }

    /// The beginning of an object or an array.
    #[inline]
    pub(super) fn open(&mut self, bracket: u8) -> Quick<()> {
        self.take(bracket)
    }

    /// Whether there is another member; its comma, or the closing bracket, is read.
    #[inline]
    pub(super) fn more(&mut self, bracket: u8, first: bool) -> Quick<bool> {
        self.blanks();
        match self.peek() {
            Some(byte) if byte == bracket => {
                self.at += 1;
                Ok(false)
            }
            Some(b',') if !first => {
                self.at += 1;
                self.blanks();
                // A comma before the end is none of JSON's.
                if self.peek() == Some(bracket) { Err(Irregular) } else { Ok(true) }
            }
            Some(_) if first => Ok(true),
            _ => Err(Irregular),
        }
    }

    #[inline]
    pub(super) fn colon(&mut self) -> Quick<()> {
        self.take(b':')
    }

    /// Whether null comes next. Nothing is read but blanks.
    #[inline]
    pub(super) fn null_follows(&mut self) -> bool {
        self.blanks();
        self.peek() == Some(b'n') && self.rest().starts_with("null")
    }

    /// Passes over the null that follows.
    pub(super) fn take_null(&mut self) {
        self.at += 4;
    }

    fn rest(&self) -> &'j str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// A string. Control characters in it are refused.
    #[inline]
    pub(super) fn string(&mut self) -> Quick<Raw<'j>> {
        self.take(b'"')?;
        let bytes = self.text.as_bytes();
        let (start, mut end, mut escaped) = (self.at, self.at, false);
        loop {
            match bytes.get(end) {
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    end += 2;
                }
                Some(0x20..) => end += 1,
                _ => return Err(Irregular),
            }
        }
        let text = self.text.get(start..end).ok_or(Irregular)?;
        self.at = end + 1;
        Ok(Raw { text, escaped })
    }

    pub(super) fn bool(&mut self) -> Quick<bool> {
        match self.token()? {
            Token::Bool(value) => Ok(value),
            _ => Err(Irregular),
        }
    }

    /// A value that has nothing inside.
    #[inline]
    pub(super) fn token(&mut self) -> Quick<Token<'j>> {
        self.blanks();
        match self.peek().ok_or(Irregular)? {
            b'"' => self.string().map(Token::String),
            b'-' | b'0'..=b'9' => self.number().map(Token::Number),
            b't' => self.word("true", Token::Bool(true)),
            b'f' => self.word("false", Token::Bool(false)),
            b'n' => self.word("null", Token::Null),
            _ => Err(Irregular),
        }
    }

    fn word(&mut self, word: &str, token: Token<'j>) -> Quick<Token<'j>> {
        if !self.rest().starts_with(word) {
            return Err(Irregular);
        }
        self.at += word.len();
        Ok(token)
    }

    fn number(&mut self) -> Quick<&'j str> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        let zero = self.peek() == Some(b'0');
        let whole = self.digits()?;
        if zero && whole > 1 {
            return Err(Irregular);
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        self.text.get(start..self.at).ok_or(Irregular)
    }

    /// One digit or more.
    fn digits(&mut self) -> Quick<usize> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        if self.at == start { Err(Irregular) } else { Ok(self.at - start) }
    }

    /// Any value, as text for somebody who reads it: escapes in it are not looked at.
    pub(super) fn value(&mut self, depth: u32) -> Quick<&'j str> {
        self.blanks();
        let start = self.at;
        self.pass(depth, false)?;
        self.text.get(start..self.at).ok_or(Irregular)
    }

    /// Passes over a value that nobody reads. One with escapes is irregular, since they may be wrong.
    pub(super) fn skip(&mut self, depth: u32) -> Quick<()> {
        self.pass(depth, true)
    }

    fn pass(&mut self, depth: u32, plain: bool) -> Quick<()> {
        self.blanks();
        let close = match self.peek() {
            Some(b'{') => b'}',
            Some(b'[') => b']',
            _ => {
                return match self.token()? {
                    Token::String(raw) if plain && !raw.is_plain() => Err(Irregular),
                    _ => Ok(()),
                };
            }
        };
        let depth = depth.checked_sub(1).ok_or(Irregular)?;
        self.at += 1;
        let mut first = true;
        while self.more(close, first)? {
            first = false;
            if close == b'}' {
                let key = self.string()?;
                if plain && !key.is_plain() {
                    return Err(Irregular);
                }
                self.colon()?;
            }
            self.pass(depth, plain)?;
        }
        Ok(())
    }
}
