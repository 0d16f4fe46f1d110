//! Texts that a regular expression matches.

use regex_syntax::hir::{Class, Hir, HirKind};

use super::Draws;

/// Longest text that is made, in bytes.
const TEXT_BYTES_MAX: usize = 4_096;
/// How often more than its least a repetition is drawn that has no end, at first; it doubles where texts are too short.
const MORE: u32 = 2;
/// How often a text is drawn until one has the right length.
const TRIES: u32 = 8;
/// What people read, of a class that has it, before other characters.
const PLAIN: [(char, char); 3] = [('0', '9'), ('A', 'Z'), ('a', 'z')];
const PRINTABLE: [(char, char); 1] = [(' ', '~')];

/// A text that the pattern matches, with so many characters; `None` where it has none, or none was found. Assertions other than
/// of the ends are not looked at.
pub(super) fn text(pattern: &str, (least, most): (u64, u64), draws: &mut Draws) -> Option<String> {
    let hir = regex_syntax::parse(pattern).ok()?;
    for attempt in 0..TRIES {
        let mut out = String::new();
        write(&hir, MORE << attempt, draws, &mut out)?;
        if (least..=most).contains(&(out.chars().count() as u64)) {
            return Some(out);
        }
    }
    None
}

fn write(hir: &Hir, more: u32, draws: &mut Draws, out: &mut String) -> Option<()> {
    if out.len() > TEXT_BYTES_MAX {
        return None;
    }
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => out.push_str(std::str::from_utf8(&literal.0).ok()?),
        HirKind::Class(class) => out.push(of_class(class, draws)?),
        HirKind::Repetition(repetition) => {
            let most = repetition.min.saturating_add(more).min(repetition.max.unwrap_or(u32::MAX));
            for _ in 0..draws.between(repetition.min.into(), most.into()) {
                write(&repetition.sub, more, draws, out)?;
            }
        }
        HirKind::Capture(capture) => write(&capture.sub, more, draws, out)?,
        HirKind::Concat(parts) => parts.iter().try_for_each(|part| write(part, more, draws, out))?,
        HirKind::Alternation(choices) => write(choices.get(draws.index(choices.len()))?, more, draws, out)?,
    }
    Some(())
}

/// A character of a class: a letter or a digit, if it has some, or else one that is printable.
fn of_class(class: &Class, draws: &mut Draws) -> Option<char> {
    let ranges: Vec<(char, char)> = match class {
        Class::Unicode(class) => class.ranges().iter().map(|range| (range.start(), range.end())).collect(),
        Class::Bytes(class) => {
            class.ranges().iter().map(|range| (char::from(range.start()), char::from(range.end()))).collect()
        }
    };
    let wanted = [&PLAIN[..], &PRINTABLE];
    let liked = wanted.iter().map(|wanted| common(&ranges, wanted)).find(|liked| !liked.is_empty());
    let liked = liked.unwrap_or(ranges);
    let (start, end) = *liked.get(draws.index(liked.len()))?;
    // Only surrogates are no characters, and no range of a class is about them alone.
    char::from_u32(draws.between(i64::from(u32::from(start)), i64::from(u32::from(end))) as u32).or(Some(start))
}

/// What is in both.
fn common(ranges: &[(char, char)], wanted: &[(char, char)]) -> Vec<(char, char)> {
    let both =
        wanted.iter().flat_map(|wanted| ranges.iter().map(|range| (range.0.max(wanted.0), range.1.min(wanted.1))));
    both.filter(|(start, end)| start <= end).collect()
}
