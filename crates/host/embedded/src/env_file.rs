//! Files of environment variables, in the syntax that Node.js reads with `--env-file`.

/// The names and values of a file, in its order; a name that stands twice has its last value last.
///
/// `NAME=value`, `export NAME=value`, comments from `#` on, and values in `"`, `'` or a backtick, which may hold `#`, spaces
/// and several lines; in `"` the two characters `\n` are a new line. Lines without `=` are passed over.
pub fn parse(text: &str) -> Vec<(String, String)> {
    let text = text.replace('\r', "");
    let mut rest = text.as_str();
    let mut found = Vec::new();
    loop {
        rest = rest.trim_start();
        if rest.is_empty() {
            return found;
        }
        let line = line_of(rest);
        let Some(equals) = line.find('=').filter(|_| !rest.starts_with('#')) else {
            rest = after_line(rest);
            continue;
        };
        let (name, value) = (line.get(..equals).unwrap_or_default(), rest.get(equals + 1..).unwrap_or_default());
        let name = name.trim();
        let name = name.strip_prefix("export ").unwrap_or(name).trim();
        let (value, behind) = value_of(value);
        rest = behind;
        if !name.is_empty() {
            found.push((name.to_owned(), value));
        }
    }
}

/// A value, and what stands behind its line.
fn value_of(text: &str) -> (String, &str) {
    // Spaces, not new lines: an empty value ends with its line.
    let begun = text.trim_start_matches([' ', '\t']);
    if let Some(quote @ ('"' | '\'' | '`')) = begun.chars().next()
        && let Some(inside) = begun.get(1..)
        && let Some(end) = inside.find(quote)
    {
        let value = inside.get(..end).unwrap_or_default();
        let value = if quote == '"' { value.replace("\\n", "\n") } else { value.to_owned() };
        return (value, after_line(inside.get(end + 1..).unwrap_or_default()));
    }
    let line = line_of(begun);
    let value = line.split('#').next().unwrap_or_default().trim();
    (value.to_owned(), after_line(begun))
}

fn line_of(text: &str) -> &str {
    text.split('\n').next().unwrap_or_default()
}

fn after_line(text: &str) -> &str {
    text.split_once('\n').map_or("", |(_, rest)| rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_syntax_is_nodes() {
        let table: [(&str, &[(&str, &str)]); 14] = [
            ("A=1\nB = two words \n", &[("A", "1"), ("B", "two words")]),
            ("# comment\n\nA=1 # behind\n", &[("A", "1")]),
            ("A=\"one # not a comment\" # one\n", &[("A", "one # not a comment")]),
            ("A='it is \"so\"'\n", &[("A", "it is \"so\"")]),
            ("A=`'x' \"y\"`\n", &[("A", "'x' \"y\"")]),
            ("A=\"first\nsecond\"\nB=2", &[("A", "first\nsecond"), ("B", "2")]),
            ("A=\"first\\nsecond\"\nB='first\\nsecond'", &[("A", "first\nsecond"), ("B", "first\\nsecond")]),
            ("export A=1\nexport   B=2", &[("A", "1"), ("B", "2")]),
            ("A=\nB=2", &[("A", ""), ("B", "2")]),
            ("A=\"\"", &[("A", "")]),
            ("A=1\r\nB=2\r\n", &[("A", "1"), ("B", "2")]),
            ("no equals sign\nA=a=b", &[("A", "a=b")]),
            ("A=\"never closed\nB=2", &[("A", "\"never closed"), ("B", "2")]),
            ("A=1\nA=2", &[("A", "1"), ("A", "2")]),
        ];
        for (text, expected) in table {
            let found = parse(text);
            let found: Vec<(&str, &str)> = found.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            assert_eq!(found, expected, "{text:?}");
        }
    }
}
