/// The parts of a path such as `customer.name`, `items.0.sku`, `labels["x.y"]` or `[shop.v1.extra].note`. Brackets keep
/// what is in them together: the full name of an extension (kept with its brackets), or in quotes a key of a map.
///
/// # Errors
/// What is wrong with it, for people.
pub(crate) fn parts(path: &str) -> Result<Vec<String>, &'static str> {
    let mut parts = Vec::new();
    let mut rest = path;
    loop {
        if let Some(inner) = rest.strip_prefix("[\"").or_else(|| rest.strip_prefix("['")) {
            let quote = rest.get(1..2).unwrap_or_default();
            let end = inner.find(&format!("{quote}]")).ok_or("a key in brackets without its end")?;
            let (key, behind) = inner.split_at(end);
            parts.push(key.to_owned());
            rest = behind.get(2..).unwrap_or_default();
        } else if rest.starts_with('[') {
            let end = rest.find(']').ok_or("a `[` without its `]`")?;
            let (name, behind) = rest.split_at(end + 1);
            parts.push(name.to_owned());
            rest = behind;
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            let (name, behind) = rest.split_at(end);
            if name.is_empty() {
                return Err("an empty name");
            }
            parts.push(name.to_owned());
            rest = behind;
        }
        match rest.strip_prefix('.') {
            Some(behind) => rest = behind,
            None if rest.is_empty() => return Ok(parts),
            None if rest.starts_with('[') => {}
            None => return Err("something behind a `]` that is no `.`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn paths_come_apart() {
        for (path, wanted) in [
            ("id", &["id"][..]),
            ("customer.name", &["customer", "name"]),
            ("items.0.sku", &["items", "0", "sku"]),
            (r#"labels["x.y"].z"#, &["labels", "x.y", "z"]),
            ("labels['a']", &["labels", "a"]),
            ("[shop.v1.extra].note", &["[shop.v1.extra]", "note"]),
        ] {
            assert_eq!(parts(path).unwrap(), wanted, "{path}");
        }
        for path in ["", ".", "a.", "a..b", "[a", "a[\"b", "a[b]c"] {
            assert!(parts(path).is_err(), "{path}");
        }
    }
}
