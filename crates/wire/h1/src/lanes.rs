//! Classifies many bytes at once. The only file with `unsafe`: the vector instructions, and the call into code that was
//! compiled for them.
#![allow(unsafe_code)]

use crate::class::Class;

/// Bytes that one mask covers.
pub(crate) const LANES: usize = 64;

/// A way to classify [`LANES`] bytes.
pub(crate) trait Lanes {
    /// Bit `i` is set if `bytes[at + i]` is not in `class`, or lies behind the end of `bytes`.
    fn outside(class: &'static Class, bytes: &[u8], at: usize) -> u64;
}

/// Work that is compiled once for each kind of lanes.
pub(crate) trait Job {
    type Output;

    /// To be marked `#[inline(always)]`, like everything in it that uses lanes.
    fn run<L: Lanes>(self) -> Self::Output;
}

/// Runs `job` with the best lanes of this machine.
#[inline]
pub(crate) fn run<J: Job>(job: J) -> J::Output {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi1") && is_x86_feature_detected!("bmi2") {
        // SAFETY: the three features that the function is compiled for were detected.
        return unsafe { x86::run(job) };
    }
    job.run::<Portable>()
}

/// Plain Rust, a byte at a time from a table.
pub(crate) struct Portable;

impl Lanes for Portable {
    #[inline(always)]
    fn outside(class: &'static Class, bytes: &[u8], at: usize) -> u64 {
        let rest = bytes.get(at..).unwrap_or_default();
        let mut mask = behind(rest.len());
        for (i, &byte) in rest.iter().take(LANES).enumerate() {
            mask |= u64::from(!class.has(byte)) << i;
        }
        mask
    }
}

/// Bits behind the end of an input that has `len` more bytes.
#[inline(always)]
fn behind(len: usize) -> u64 {
    if len < LANES { u64::MAX << len } else { 0 }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        __m256i, _mm_loadu_si128, _mm256_and_si256, _mm256_broadcastsi128_si256, _mm256_cmpeq_epi8, _mm256_loadu_si256,
        _mm256_movemask_epi8, _mm256_set1_epi8, _mm256_setr_epi8, _mm256_setzero_si256, _mm256_shuffle_epi8,
        _mm256_srli_epi16,
    };

    use super::{Job, LANES, Lanes, behind};
    use crate::class::Class;

    #[target_feature(enable = "avx2,bmi1,bmi2")]
    pub(super) fn run<J: Job>(job: J) -> J::Output {
        job.run::<Avx2>()
    }

    /// Made only inside of [`run`].
    pub(crate) struct Avx2;

    impl Lanes for Avx2 {
        #[inline(always)]
        fn outside(class: &'static Class, bytes: &[u8], at: usize) -> u64 {
            let len = bytes.len();
            let left = len.saturating_sub(at);
            // SAFETY: only `run` names this type, and it is entered only where AVX2 was detected. Every load lies within
            // `bytes`: see each branch.
            unsafe {
                if left >= LANES {
                    // `at + 64 <= len`.
                    pair(class, bytes, at, at + 32)
                } else if len >= LANES {
                    // The last 64 bytes: `len - 64 + 64 <= len`. Those before `at` are shifted out.
                    let skip = LANES - left;
                    (pair(class, bytes, len - 64, len - 32) >> (skip & 63)) | behind(left)
                } else if at == 0 && len >= 32 {
                    // The first and the last 32 bytes, which may overlap: `32 <= len`.
                    let front = half(class, bytes, 0);
                    let back = half(class, bytes, len - 32);
                    u64::from(front) | (u64::from(back) << (len - 32)) | behind(len)
                } else {
                    short(class, bytes, at)
                }
            }
        }
    }

    /// A short head, or the tail of one.
    #[inline(never)]
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    fn short(class: &'static Class, bytes: &[u8], at: usize) -> u64 {
        super::Portable::outside(class, bytes, at)
    }

    /// # Safety
    /// 32 bytes from `low` and 32 bytes from `high` lie within `bytes`.
    #[inline(always)]
    unsafe fn pair(class: &'static Class, bytes: &[u8], low: usize, high: usize) -> u64 {
        // SAFETY: passed on to the caller.
        unsafe { u64::from(half(class, bytes, low)) | (u64::from(half(class, bytes, high)) << 32) }
    }

    /// # Safety
    /// 32 bytes from `at` lie within `bytes`.
    #[inline(always)]
    unsafe fn half(class: &'static Class, bytes: &[u8], at: usize) -> u32 {
        debug_assert!(at + 32 <= bytes.len());
        // SAFETY: the caller's promise makes the load one within `bytes`; `rows` has the 16 bytes that are loaded from it.
        unsafe {
            let input = _mm256_loadu_si256(bytes.as_ptr().add(at).cast::<__m256i>());
            let rows = _mm256_broadcastsi128_si256(_mm_loadu_si128(class.rows.as_ptr().cast()));
            classify(rows, class.high, input)
        }
    }

    /// Bit `i` of the result is set if byte `i` of `input` is not a member. A member's bit in its row (chosen by the low
    /// nibble) is the one that its high nibble names.
    #[inline(always)]
    unsafe fn classify(rows: __m256i, high: bool, input: __m256i) -> u32 {
        // SAFETY: only reached where AVX2 was detected.
        unsafe {
            let bits = _mm256_setr_epi8(
                1, 2, 4, 8, 16, 32, 64, -128, 0, 0, 0, 0, 0, 0, 0, 0, //
                1, 2, 4, 8, 16, 32, 64, -128, 0, 0, 0, 0, 0, 0, 0, 0,
            );
            let nibble = _mm256_set1_epi8(15);
            let row = _mm256_shuffle_epi8(rows, _mm256_and_si256(input, nibble));
            let bit = _mm256_shuffle_epi8(bits, _mm256_and_si256(_mm256_srli_epi16::<4>(input), nibble));
            let outside = _mm256_cmpeq_epi8(_mm256_and_si256(row, bit), _mm256_setzero_si256());
            let mask = _mm256_movemask_epi8(outside) as u32;
            if high { mask & !(_mm256_movemask_epi8(input) as u32) } else { mask }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class::{REG_NAME, TARGET, TOKEN, URI, VALUE};

    struct All<'a>(&'static Class, &'a [u8]);

    impl Job for All<'_> {
        type Output = Vec<u64>;

        #[inline(always)]
        fn run<L: Lanes>(self) -> Vec<u64> {
            (0..=self.1.len()).map(|at| L::outside(self.0, self.1, at)).collect()
        }
    }

    fn naive(class: &'static Class, bytes: &[u8], at: usize) -> u64 {
        (0..LANES).fold(0, |mask, i| {
            let outside = bytes.get(at + i).is_none_or(|&byte| !class.has(byte));
            mask | (u64::from(outside) << i)
        })
    }

    fn agree(class: &'static Class, bytes: &[u8]) {
        let expected: Vec<u64> = (0..=bytes.len()).map(|at| naive(class, bytes, at)).collect();
        assert_eq!(run(All(class, bytes)), expected, "{bytes:?}");
        assert_eq!(All(class, bytes).run::<Portable>(), expected, "{bytes:?}");
    }

    #[test]
    fn every_byte_at_every_position_of_every_length_is_classified_as_by_the_table() {
        for class in [&TOKEN, &VALUE, &TARGET, &URI, &REG_NAME] {
            for len in 0..=130 {
                let mut bytes = vec![b'a'; len];
                agree(class, &bytes);
                // Every byte value somewhere in each length, every position with an outsider.
                for (position, byte) in bytes.iter_mut().enumerate() {
                    *byte = (position * 7 + len) as u8;
                }
                agree(class, &bytes);
            }
            for byte in 0..=255u8 {
                for position in 0..70 {
                    let mut bytes = vec![b'a'; 70];
                    bytes[position] = byte;
                    assert_eq!(run(All(class, &bytes))[0], naive(class, &bytes, 0), "{byte} at {position}");
                }
            }
        }
    }
}
