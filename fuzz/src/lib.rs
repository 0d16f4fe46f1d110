//! What the targets share: how an input is cut.

/// Splits an input into its control byte and the bytes for the parser.
pub fn control(data: &[u8]) -> Option<(u8, &[u8])> {
    data.split_first().map(|(&control, bytes)| (control, bytes))
}

/// Lengths of the prefixes that a parser sees one after the other, ending with the whole: the upper bits of `control`
/// choose the step, from byte by byte to everything at once.
pub fn prefixes(control: u8, len: usize) -> impl Iterator<Item = usize> {
    let step = match control >> 5 {
        // Byte by byte is quadratic work for long inputs.
        0 if len <= 1024 => 1,
        0 | 1 => 61,
        2 => 2,
        3 => 7,
        4 => 64,
        5 => 63,
        6 => len / 2 + 1,
        _ => len.max(1),
    };
    let step = step.max(len / 512).max(1);
    (step..len).step_by(step).chain([len])
}
