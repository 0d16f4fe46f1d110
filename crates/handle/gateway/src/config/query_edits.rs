use super::model::Route;

/// Changes to a request's query, made in this order: remove, set, add. Names are compared as a server would read them:
/// percent-decoded, `+` as a space. What is not named stays as it is, byte by byte, in its place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueryEdits {
    /// Names that are taken out, decoded: those to remove and those to set.
    pub(super) out: Vec<Vec<u8>>,
    /// What is put behind the rest: `name=value`, encoded.
    pub(super) put: Vec<String>,
}

impl Route {
    /// What is changed in the query before it goes upstream.
    pub fn request_query(&self) -> &QueryEdits {
        &self.request_query
    }
}

impl QueryEdits {
    /// Whether there is nothing to change.
    pub fn is_empty(&self) -> bool {
        self.out.is_empty() && self.put.is_empty()
    }

    /// Changes the query of the target that begins at `start` of `target`. Costs a copy of the query.
    pub fn apply(&self, target: &mut Vec<u8>, start: usize) {
        let own = target.get(start..).unwrap_or_default();
        let path_end = start + own.iter().position(|&byte| byte == b'?').unwrap_or(own.len());
        let end = target.len();
        // The new one is written behind the old one, which is then taken out.
        let mut at = path_end;
        while at < end {
            // Behind the `?` or the `&`.
            let from = at + 1;
            let rest = target.get(from..end).unwrap_or_default();
            let to = from + rest.iter().position(|&byte| byte == b'&').unwrap_or(rest.len());
            if from <= to && self.keeps(target.get(from..to).unwrap_or_default()) {
                target.push(if target.len() == end { b'?' } else { b'&' });
                target.extend_from_within(from..to);
            }
            at = to;
        }
        for pair in &self.put {
            target.push(if target.len() == end { b'?' } else { b'&' });
            target.extend_from_slice(pair.as_bytes());
        }
        target.drain(path_end..end);
    }

    fn keeps(&self, pair: &[u8]) -> bool {
        let name = pair.split(|&byte| byte == b'=').next().unwrap_or_default();
        !self.out.iter().any(|out| decoded(name).eq(out.iter().copied()))
    }
}

/// The bytes that a server reads; what is no valid escape stands for itself.
fn decoded(name: &[u8]) -> impl Iterator<Item = u8> {
    let digit = |byte: Option<&u8>| byte.and_then(|byte| char::from(*byte).to_digit(16));
    let mut rest = name;
    std::iter::from_fn(move || {
        let (&first, behind) = rest.split_first()?;
        rest = behind;
        match (first, digit(behind.first()), digit(behind.get(1))) {
            (b'%', Some(high), Some(low)) => {
                rest = behind.get(2..).unwrap_or_default();
                Some((high * 16 + low) as u8)
            }
            (b'+', ..) => Some(b' '),
            _ => Some(first),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_named_stays_byte_by_byte() {
        for (out, put, before, after) in [
            (&["a"][..], &[][..], "/p?a=1", "/p"),
            (&["a"], &[], "/p?a=1&b=%41&&c&a&=x", "/p?b=%41&&c&=x"),
            (&["a"], &[], "/p?%61=1&A=2&ab=3", "/p?A=2&ab=3"),
            (&["a b"], &[], "/p?a+b=1&a%20b=2&a%2Bb=3&a%2bc", "/p?a%2Bb=3&a%2bc"),
            (&["a"], &["a=2"], "/p?x=1&a=1&y=2&a=3", "/p?x=1&y=2&a=2"),
            (&[], &["a=2", "b=%26"], "/p", "/p?a=2&b=%26"),
            (&[], &["a=2"], "/p?", "/p?&a=2"),
            (&["x"], &[], "/p?", "/p?"),
            (&["%"], &[], "/p?%=1&%2=2&%25=3", "/p?%2=2"),
            (&["a"], &[], "/p?b=a=1&b?a=2", "/p?b=a=1&b?a=2"),
        ] {
            let edits = QueryEdits {
                out: out.iter().map(|name| name.as_bytes().to_vec()).collect(),
                put: put.iter().map(|pair| (*pair).to_owned()).collect(),
            };
            let mut target = format!("kept?a=0{before}").into_bytes();
            edits.apply(&mut target, "kept?a=0".len());
            assert_eq!(String::from_utf8(target).unwrap(), format!("kept?a=0{after}"), "{out:?} {put:?}");
        }
    }
}
