use leat_rpc_wire::Coding;
use leat_rpc_wire::compression::ALL_NAMES;

/// Codings that there are besides identity.
const CODINGS_MAX: usize = 4;

/// How the replies of a program are compressed, which sends them as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compressing {
    /// In the order in which they are preferred.
    codings: [Option<Coding>; CODINGS_MAX],
    bytes_min: usize,
}

impl Compressing {
    /// By the first of `codings` that a client takes; messages of fewer than `bytes_min` bytes stay as they are, as do those that
    /// would not get shorter. `None`: none of the codings changes anything.
    pub fn new(codings: impl IntoIterator<Item = Coding>, bytes_min: usize) -> Option<Self> {
        let mut kept = [None; CODINGS_MAX];
        for coding in codings.into_iter().filter(|&coding| coding != Coding::Identity) {
            if kept.contains(&Some(coding)) {
                continue;
            }
            // There are no more codings than places.
            let Some(place) = kept.iter_mut().find(|place| place.is_none()) else { break };
            *place = Some(coding);
        }
        kept[0].map(|_| Self { codings: kept, bytes_min })
    }

    /// The same by the names of codings.
    ///
    /// # Errors
    /// A name that is none of ours, as a sentence.
    pub fn by_names<'n>(names: impl IntoIterator<Item = &'n str>, bytes_min: usize) -> Result<Option<Self>, String> {
        let coding = |name: &str| {
            let known = Coding::from_name(name.as_bytes()).filter(|_| !name.is_empty());
            known.ok_or_else(|| format!("`{}` is no coding of these: {ALL_NAMES}", name.escape_debug()))
        };
        Ok(Self::new(names.into_iter().map(coding).collect::<Result<Vec<_>, _>>()?, bytes_min))
    }

    /// What replies to a client are compressed by that takes `accepted`.
    pub(super) fn coding(&self, accepted: &[Coding]) -> Option<Coding> {
        self.codings.iter().flatten().copied().find(|coding| accepted.contains(coding))
    }

    /// Whether a message is compressed for those who take that.
    pub(super) fn is_worth(&self, message: &[u8]) -> bool {
        message.len() >= self.bytes_min
    }
}

/// A message compressed, unless that makes it no shorter.
pub(super) fn shorter(coding: Coding, message: &[u8]) -> Option<Vec<u8>> {
    let mut compressed = Vec::new();
    coding.compress(message, &mut compressed);
    (compressed.len() < message.len()).then_some(compressed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_coding_that_both_take_is_used() {
        let (gzip, br, zstd) = (Coding::Gzip, Coding::Br, Coding::Zstd);
        for (ours, theirs, expected) in [
            (&[gzip, br][..], &[gzip, br][..], Some(gzip)),
            (&[br, gzip], &[gzip, br], Some(br)),
            (&[gzip, br], &[br, zstd], Some(br)),
            (&[gzip], &[br], None),
            (&[Coding::Identity, zstd], &[zstd], Some(zstd)),
            (&[gzip, gzip, gzip, gzip, br], &[br], Some(br)),
        ] {
            let compressing = Compressing::new(ours.iter().copied(), 10).unwrap();
            assert_eq!(compressing.coding(theirs), expected, "{ours:?} {theirs:?}");
            assert!(compressing.is_worth(&[0; 10]) && !compressing.is_worth(&[0; 9]));
        }
        assert_eq!(Compressing::by_names(["br", "gzip"], 7), Ok(Compressing::new([br, gzip], 7)));
        assert!(Compressing::by_names(["gzip", "snappy"], 7).unwrap_err().contains("`snappy`"));
        assert_eq!(Compressing::new([], 0), None);
        assert_eq!(Compressing::new([Coding::Identity], 0), None);
    }

    #[test]
    fn what_gets_no_shorter_stays() {
        assert_eq!(shorter(Coding::Gzip, b"abc"), None);
        assert!(shorter(Coding::Gzip, &[b'a'; 1000]).unwrap().len() < 100);
    }
}
