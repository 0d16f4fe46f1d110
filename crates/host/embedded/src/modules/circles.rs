//! Modules that import each other in a circle.

use std::collections::{HashMap, HashSet};

/// The modules that stand in a circle, and those between two circles, by what each module imports. Takes a pass over all imports
/// for each of both directions.
pub(super) fn circular(imports: &HashMap<String, Vec<String>>) -> HashSet<String> {
    let mut parents: HashMap<&str, Vec<&str>> = HashMap::new();
    let mut children: HashMap<&str, Vec<&str>> = HashMap::new();
    for (from, to) in imports {
        for to in to.iter().filter(|to| imports.contains_key(*to)) {
            children.entry(from).or_default().push(to);
            parents.entry(to).or_default().push(from);
        }
    }
    let mut left: HashSet<&str> = imports.keys().map(String::as_str).collect();
    peel(&mut left, &children, &parents);
    peel(&mut left, &parents, &children);
    left.into_iter().map(str::to_owned).collect()
}

/// Takes away, one after the other, what leads to nothing that is left.
fn peel<'a>(
    left: &mut HashSet<&'a str>,
    leads: &HashMap<&'a str, Vec<&'a str>>,
    back: &HashMap<&'a str, Vec<&'a str>>,
) {
    let none = Vec::new();
    let of = |edges: &HashMap<&'a str, Vec<&'a str>>, at: &str| edges.get(at).unwrap_or(&none).clone();
    let mut open: HashMap<&str, usize> = HashMap::new();
    let mut free: Vec<&str> = Vec::new();
    for at in left.iter() {
        let count = of(leads, at).iter().filter(|to| left.contains(**to)).count();
        open.insert(at, count);
        if count == 0 {
            free.push(at);
        }
    }
    while let Some(at) = free.pop() {
        left.remove(at);
        for from in of(back, at) {
            let Some(count) = open.get_mut(from).filter(|count| **count > 0) else { continue };
            *count -= 1;
            if *count == 0 && left.contains(from) {
                free.push(from);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circles_are_found_and_what_only_leads_to_them_is_none() {
        for (edges, wanted) in [
            (&["a>b", "b>c", "a>c", "c>", "a>node:fs"][..], &[][..]),
            (&["a>a"], &["a"]),
            (&["main>a", "a>b", "b>a", "b>leaf", "leaf>", "a>a", "a>b"], &["a", "b"]),
            (&["main>a", "a>main"], &["a", "main"]),
            (&["a>b", "b>a", "b>c", "c>d", "d>e", "e>d", "f>a", "e>g", "g>"], &["a", "b", "c", "d", "e"]),
        ] {
            let mut imports: HashMap<String, Vec<String>> = HashMap::new();
            for (from, to) in edges.iter().filter_map(|edge| edge.split_once('>')) {
                let of = imports.entry(from.to_owned()).or_default();
                of.extend((!to.is_empty()).then(|| to.to_owned()));
            }
            let mut found: Vec<String> = circular(&imports).into_iter().collect();
            found.sort();
            assert_eq!(found, wanted, "{edges:?}");
        }
    }
}
