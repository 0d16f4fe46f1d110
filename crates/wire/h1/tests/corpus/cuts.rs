//! Ways to cut the same bytes.

/// Longer inputs (those of the limits) are cut in pieces of [`PIECE`], and in two at [`SAMPLE`] places.
const EVERY_CUT_MAX: usize = 2_048;
const PIECE: usize = 97;
const SAMPLE: usize = 32;

/// Calls `check` for the pieces as they stand, joined, byte by byte, and cut in two everywhere, until it says false.
pub(crate) fn each(pieces: &[Vec<u8>], mut check: impl FnMut(&str, &[&[u8]]) -> bool) {
    let as_given: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
    let joined = pieces.concat();
    let small: Vec<&[u8]> = joined.chunks(if joined.len() <= EVERY_CUT_MAX { 1 } else { PIECE }).collect();
    let _ = check("as given", &as_given) && check("joined", &[&joined]) && check("in small pieces", &small) && {
        let step = if joined.len() <= EVERY_CUT_MAX { 1 } else { joined.len() / SAMPLE };
        (1..joined.len()).step_by(step).all(|at| {
            let (front, back) = joined.split_at(at);
            check(&format!("cut at {at}"), &[front, back])
        })
    };
}
