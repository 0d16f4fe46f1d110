/// The word among `words` that `found` is probably meant to be: one or two slips away, the same but for case, hyphens and
/// a plural s, or how the word starts.
pub fn nearest<'w>(found: &str, words: impl IntoIterator<Item = &'w str>) -> Option<&'w str> {
    let plain = simplify(found);
    let slips_max = match plain.len() {
        0..=2 => 0,
        3..=5 => 1,
        _ => 2,
    };
    let rate = |word: &str| {
        let known = simplify(word);
        let slips = slips(&plain, &known);
        // In a short word the first letter is what people get right.
        let close = slips <= slips_max && (slips_max > 1 || plain.first() == known.first());
        let start = plain.len() > 3 && known.starts_with(&plain);
        if close { Some(slips) } else { start.then_some(100 + known.len()) }
    };
    words.into_iter().filter_map(|word| Some((rate(word)?, word))).min_by_key(|(rate, _)| *rate).map(|(_, word)| word)
}

fn simplify(word: &str) -> Vec<char> {
    let mut letters: Vec<char> =
        word.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).take(40).collect();
    if letters.len() > 3 && letters.last() == Some(&'s') {
        letters.pop();
    }
    letters
}

/// Letters to insert, delete, replace or swap with their neighbour (optimal string alignment).
fn slips(one: &[char], two: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=two.len()).collect();
    for (i, a) in one.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in two.iter().enumerate() {
            let replace = last.get(j).copied().unwrap_or(0) + usize::from(a != b);
            let delete = last.get(j + 1).copied().unwrap_or(0) + 1;
            let insert = row.get(j).copied().unwrap_or(0) + 1;
            let mut best = replace.min(delete).min(insert);
            if i > 0 && j > 0 && one.get(i - 1) == Some(b) && two.get(j - 1) == Some(a) {
                best = best.min(before.get(j - 1).copied().unwrap_or(0) + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_find_their_word_and_strangers_none() {
        let words = ["address", "http2", "tls", "proxy_protocol", "profile"];
        for (found, wanted) in [
            ("adress", Some("address")),
            ("addres", Some("address")),
            ("Address", Some("address")),
            ("proxy-protocol", Some("proxy_protocol")),
            ("proxyProtocol", Some("proxy_protocol")),
            ("htpt2", Some("http2")),
            ("tsl", Some("tls")),
            ("prof", Some("profile")),
            ("als", None),
            ("colour", None),
            ("", None),
            ("x", None),
        ] {
            assert_eq!(nearest(found, words), wanted, "{found}");
        }
    }
}
