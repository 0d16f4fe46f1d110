//! Classifies many bytes at once. The only file with `unsafe`: the vector instructions, and the call into code that was
//! compiled for them.
#![allow(unsafe_code)]

use crate::class::Class;

/// Bytes that one mask covers.
pub(crate) const LANES: usize = 64;

/// A way to classify [`LANES`] bytes.
pub(crate) trait Lanes {
    /// One mask for each class: bit `i` is set if `bytes[at + i]` is not a member, or lies behind the end of `bytes`.
    fn outside<const N: usize>(classes: [&'static Class; N], bytes: &[u8], at: usize) -> [u64; N];
}

/// Work that is compiled once for each kind of lanes.
pub(crate) trait Job {
    type Output;

    /// To be marked `#[inline(always)]`, like everything in it that uses lanes.
    fn run<L: Lanes>(self) -> Self::Output;
}

/// Runs `job` with the best lanes of this machine.
#[inline(always)]
pub(crate) fn run<J: Job>(job: J) -> J::Output {
    #[cfg(target_arch = "x86_64")]
    {
        if x86::has_avx512() {
            // SAFETY: the features that the function is compiled for were detected.
            return unsafe { x86::run_avx512(job) };
        }
        if x86::has_avx2() {
            // SAFETY: as above.
            return unsafe { x86::run_avx2(job) };
        }
    }
    job.run::<Portable>()
}

/// Plain Rust, a byte at a time from a table. (Words of eight bytes were no faster: names need the table anyway.)
pub(crate) struct Portable;

impl Lanes for Portable {
    #[inline(always)]
    fn outside<const N: usize>(classes: [&'static Class; N], bytes: &[u8], at: usize) -> [u64; N] {
        let rest = bytes.get(at..).unwrap_or_default();
        let mut masks = [behind(rest.len()); N];
        for (mask, class) in masks.iter_mut().zip(classes) {
            for (i, &byte) in rest.iter().take(LANES).enumerate() {
                *mask |= u64::from(!class.has(byte)) << i;
            }
        }
        masks
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
        __m128i, __m256i, _mm_loadu_si128, _mm256_and_si256, _mm256_broadcastsi128_si256, _mm256_cmpeq_epi8,
        _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_set1_epi8, _mm256_setzero_si256, _mm256_shuffle_epi8,
        _mm256_srli_epi16, _mm512_and_si512, _mm512_broadcast_i32x4, _mm512_maskz_loadu_epi8, _mm512_movepi8_mask,
        _mm512_set1_epi8, _mm512_shuffle_epi8, _mm512_srli_epi16, _mm512_test_epi8_mask,
    };

    use super::{Job, LANES, Lanes, Portable, behind};
    use crate::class::Class;

    /// The bit of each high nibble in a row of a class; no bit for bytes of 0x80 and above.
    const BITS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 0, 0, 0, 0, 0, 0, 0, 0];

    #[inline]
    pub(super) fn has_avx512() -> bool {
        is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("bmi2")
    }

    #[inline]
    pub(super) fn has_avx2() -> bool {
        is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2")
    }

    #[target_feature(enable = "avx512f,avx512bw,bmi2")]
    pub(super) fn run_avx512<J: Job>(job: J) -> J::Output {
        job.run::<Avx512>()
    }

    #[target_feature(enable = "avx2,bmi2")]
    pub(super) fn run_avx2<J: Job>(job: J) -> J::Output {
        job.run::<Avx2>()
    }

    /// 64 bytes at once. Named only in [`run_avx512`].
    struct Avx512;

    impl Lanes for Avx512 {
        #[inline(always)]
        fn outside<const N: usize>(classes: [&'static Class; N], bytes: &[u8], at: usize) -> [u64; N] {
            let left = bytes.len().saturating_sub(at);
            let behind = behind(left);
            // SAFETY: the features were detected, since only `run_avx512` names this type. Of the input, the instruction
            // reads the bytes in its mask, which are those within `bytes`; `at` is clamped so that the pointer is, too.
            // `rows` and `BITS` have the 16 bytes that are loaded from them.
            unsafe {
                let start = bytes.as_ptr().add(at.min(bytes.len()));
                let input = _mm512_maskz_loadu_epi8(!behind, start.cast());
                let nibble = _mm512_set1_epi8(15);
                let low = _mm512_and_si512(input, nibble);
                let high = _mm512_and_si512(_mm512_srli_epi16::<4>(input), nibble);
                let bits = _mm512_broadcast_i32x4(_mm_loadu_si128(BITS.as_ptr().cast::<__m128i>()));
                let bit = _mm512_shuffle_epi8(bits, high);
                let mut masks = [behind; N];
                // No closure here: it would not be compiled for the vector unit.
                for i in 0..N {
                    let class = classes[i];
                    // A member's bit in the row that its low nibble names is the one that its high nibble names.
                    let rows = _mm512_broadcast_i32x4(_mm_loadu_si128(class.rows.as_ptr().cast::<__m128i>()));
                    let members = _mm512_test_epi8_mask(_mm512_shuffle_epi8(rows, low), bit);
                    let members = if class.high { members | _mm512_movepi8_mask(input) } else { members };
                    masks[i] |= !members;
                }
                masks
            }
        }
    }

    /// Twice 32 bytes. Named only in [`run_avx2`].
    struct Avx2;

    impl Lanes for Avx2 {
        #[inline(always)]
        fn outside<const N: usize>(classes: [&'static Class; N], bytes: &[u8], at: usize) -> [u64; N] {
            let len = bytes.len();
            let left = len.saturating_sub(at);
            // SAFETY: AVX2 was detected, since only `run_avx2` names this type. Every load lies within `bytes`: see each
            // branch.
            unsafe {
                if left >= LANES {
                    // `at + 64 <= len`.
                    join(half(classes, bytes, at), half(classes, bytes, at + 32), 32)
                } else if len >= LANES {
                    // The last 64 bytes, from `len - 64` on. Those before `at` are shifted out.
                    join(half(classes, bytes, len - 64), half(classes, bytes, len - 32), 32)
                        .map(|all| (all >> ((LANES - left) & 63)) | behind(left))
                } else if len >= 32 {
                    // The first and the last 32 bytes, which may overlap. Those before `at` are shifted out.
                    join(half(classes, bytes, 0), half(classes, bytes, len - 32), len - 32)
                        .map(|all| (all >> (at & 63)) | behind(left))
                } else {
                    Portable::outside(classes, bytes, at)
                }
            }
        }
    }

    /// Puts the second masks `offset` bits behind the first ones.
    #[inline(always)]
    fn join<const N: usize>(mut front: [u64; N], back: [u64; N], offset: usize) -> [u64; N] {
        for i in 0..N {
            front[i] |= back[i] << (offset & 63);
        }
        front
    }

    /// Masks of 32 bits.
    ///
    /// # Safety
    /// AVX2 was detected, and 32 bytes from `at` lie within `bytes`.
    #[inline(always)]
    unsafe fn half<const N: usize>(classes: [&'static Class; N], bytes: &[u8], at: usize) -> [u64; N] {
        debug_assert!(at + 32 <= bytes.len());
        // SAFETY: the caller's promise; `rows` and `BITS` have the 16 bytes that are loaded from them.
        unsafe {
            let input = _mm256_loadu_si256(bytes.as_ptr().add(at).cast::<__m256i>());
            let nibble = _mm256_set1_epi8(15);
            let low = _mm256_and_si256(input, nibble);
            let high = _mm256_and_si256(_mm256_srli_epi16::<4>(input), nibble);
            let bits = _mm256_broadcastsi128_si256(_mm_loadu_si128(BITS.as_ptr().cast::<__m128i>()));
            let bit = _mm256_shuffle_epi8(bits, high);
            let mut masks = [0; N];
            // No closure here: it would not be compiled for the vector unit.
            for i in 0..N {
                let class = classes[i];
                // A member's bit in the row that its low nibble names is the one that its high nibble names.
                let rows = _mm256_broadcastsi128_si256(_mm_loadu_si128(class.rows.as_ptr().cast::<__m128i>()));
                let hit = _mm256_and_si256(_mm256_shuffle_epi8(rows, low), bit);
                let mut outside = _mm256_movemask_epi8(_mm256_cmpeq_epi8(hit, _mm256_setzero_si256())) as u32;
                if class.high {
                    outside &= !(_mm256_movemask_epi8(input) as u32);
                }
                masks[i] = u64::from(outside);
            }
            masks
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
            (0..=self.1.len()).map(|at| L::outside([self.0], self.1, at)[0]).collect()
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
        assert_eq!(All(class, bytes).run::<Portable>(), expected, "{bytes:?}");
        #[cfg(target_arch = "x86_64")]
        {
            if x86::has_avx2() {
                // SAFETY: detected.
                assert_eq!(unsafe { x86::run_avx2(All(class, bytes)) }, expected, "{bytes:?}");
            }
            if x86::has_avx512() {
                // SAFETY: detected.
                assert_eq!(unsafe { x86::run_avx512(All(class, bytes)) }, expected, "{bytes:?}");
            }
        }
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
                for position in [0, 1, 31, 32, 33, 63, 64, 65, 69] {
                    let mut bytes = vec![b'a'; 70];
                    bytes[position] = byte;
                    agree(class, &bytes);
                }
            }
        }
    }
}
