//! The instructions of [`arch`](crate::arch), compared with those of this machine.

use std::arch::x86_64 as real;

use crate::arch::x86_64 as model;
use crate::machine::{Answer, Arena, Kind, Lane, Node, Script, Vector, with};

/// Lanes of 32 bits, and of 16 in them, at which comparisons and saturation change.
const EDGES: [u32; 24] = [
    0,
    1,
    0x7F,
    0x80,
    0xFF,
    0x100,
    0x7FF,
    0x800,
    0x7FFF,
    0x8000,
    0xFFFF,
    0x1_0000,
    0x10_FFFF,
    0x7F_0080,
    0x80_007F,
    0xFF_FFFF,
    0xFF7F_FF80,
    0x0100_0000,
    0x7FFF_FFFF,
    0x8000_0000,
    0x8000_8000,
    0xFF00_00FF,
    0xFFFF_FF00,
    0xFFFF_FFFF,
];

/// Vectors such that every pair of bytes, and every pair of [`EDGES`], is in one lane of two vectors.
fn pairs<const N: usize>() -> impl Iterator<Item = ([u8; N], [u8; N])> {
    let edges = |first: usize| -> [u8; N] {
        std::array::from_fn(|i| EDGES[(first + i / 4) % EDGES.len()].to_le_bytes()[i % 4])
    };
    let of_edges = (0..EDGES.len() * EDGES.len())
        .map(move |pair| (edges(pair / EDGES.len()), edges(pair % EDGES.len())));
    let of_bytes = (0..=0xFF_u8).flat_map(|shift| {
        (0..256).step_by(N).map(move |base| {
            let a = std::array::from_fn(|i| (base + i) as u8);
            (a, a.map(|byte| byte.wrapping_mul(3).wrapping_add(shift)))
        })
    });
    of_bytes.chain(of_edges)
}

/// Compares instructions on vectors of `$n` bytes. `x` and `y` are two vectors of the model, `a` and `b` the same
/// ones of the machine.
macro_rules! compare {
    ($name:ident, $features:literal, $n:literal, $load:ident, $store:ident, |$a:ident, $b:ident|
     $($call:ident $(::<$with:literal>)? ($($argument:expr),*),)*) => {
        #[target_feature(enable = $features)]
        fn $name() {
            for (a, b) in pairs::<$n>() {
                with(|machine| machine.begin(&[]));
                $(
                    let found = {
                        #[allow(unused_variables)]
                        let [$a, $b] = [a, b].map(Vector::<$n>::constants);
                        model::$call $(::<$with>)? ($($argument),*).bytes()
                    };
                    let mut expected = [0; $n];
                    // SAFETY: there are as many bytes as are loaded and stored.
                    unsafe {
                        #[allow(unused_variables)]
                        let [$a, $b] = [a, b].map(|bytes| real::$load(bytes.as_ptr().cast()));
                        let result = real::$call $(::<$with>)? ($($argument),*);
                        real::$store(expected.as_mut_ptr().cast(), result);
                    }
                    assert_eq!(found, expected, stringify!($call));
                )*
            }
        }
    };
}

compare!(
    compare_16,
    "sse4.1",
    16,
    _mm_loadu_si128,
    _mm_storeu_si128,
    |a, b| _mm_or_si128(a, b),
    _mm_and_si128(a, b),
    _mm_xor_si128(a, b),
    _mm_add_epi8(a, b),
    _mm_adds_epi8(a, b),
    _mm_subs_epu8(a, b),
    _mm_avg_epu8(a, b),
    _mm_max_epu8(a, b),
    _mm_min_epu8(a, b),
    _mm_min_epi8(a, b),
    _mm_shuffle_epi8(a, b),
    _mm_alignr_epi8::<15>(a, b),
    _mm_alignr_epi8::<14>(a, b),
    _mm_alignr_epi8::<13>(a, b),
    _mm_set1_epi8(-128),
    _mm_set_epi64x(0x0102_0304_0506_0708, 0x7172_7374_7576_7778),
    _mm_set1_epi16(0x0180),
    _mm_set1_epi32(0x0102_0380),
    _mm_setzero_si128(),
    _mm_add_epi16(a, b),
    _mm_blendv_epi8(a, b, b),
    _mm_blendv_epi8(a, b, a),
    _mm_cmpeq_epi8(a, b),
    _mm_cmpeq_epi16(a, b),
    _mm_cmpgt_epi8(a, b),
    _mm_cmpgt_epi32(a, b),
    _mm_packs_epi16(a, b),
    _mm_packus_epi16(a, b),
    _mm_packus_epi32(a, b),
    _mm_unpacklo_epi8(a, b),
    _mm_unpackhi_epi8(a, b),
    _mm_unpacklo_epi16(a, b),
    _mm_unpackhi_epi16(a, b),
    _mm_slli_epi16::<2>(a),
    _mm_slli_epi16::<4>(a),
    _mm_slli_epi16::<6>(a),
    _mm_slli_epi16::<8>(a),
    _mm_srli_epi16::<2>(a),
    _mm_srli_epi16::<4>(a),
    _mm_srli_epi16::<6>(a),
    _mm_srli_epi16::<8>(a),
    _mm_srli_epi16::<12>(a),
    _mm_slli_epi32::<8>(a),
    _mm_slli_epi32::<16>(a),
    _mm_slli_epi32::<24>(a),
    _mm_srli_epi32::<6>(a),
    _mm_srli_epi32::<12>(a),
    _mm_srli_epi32::<18>(a),
);

/// Compares multiplications of small bytes. Model and machine must agree only where no sum is too large.
#[target_feature(enable = "sse4.1")]
fn compare_products() {
    for (a, b) in pairs::<16>() {
        with(|machine| machine.begin(&[]));
        let bytes = std::array::from_fn(|i| if i % 2 == 0 { a[i] } else { b[i] & 0x7F });
        let factors = std::array::from_fn(|i| if i % 2 == 0 { b[i] & 0x3F } else { 0x40 });
        let powers: [u8; 16] =
            std::array::from_fn(|i| if i % 2 == 0 { 1 << (b[i / 4 * 4] % 8) } else { 0 });
        let [x, y, z] = [bytes, factors, powers].map(Vector::<16>::constants);
        let found = [model::_mm_maddubs_epi16(x, y), model::_mm_madd_epi16(x, z)];
        let mut expected = [[0; 16]; 2];
        // SAFETY: there are as many bytes as are loaded and stored.
        unsafe {
            let [x, y, z] =
                [bytes, factors, powers].map(|bytes| real::_mm_loadu_si128(bytes.as_ptr().cast()));
            let [sums, products] = &mut expected;
            real::_mm_storeu_si128(sums.as_mut_ptr().cast(), real::_mm_maddubs_epi16(x, y));
            real::_mm_storeu_si128(products.as_mut_ptr().cast(), real::_mm_madd_epi16(x, z));
        }
        assert_eq!(found.map(|vector| vector.bytes()), expected);
    }
}

/// Compares the instructions that narrow or widen a vector, or find out whether two have a bit in common.
#[target_feature(enable = "avx2")]
fn compare_conversions() {
    for (a, b) in pairs::<32>() {
        with(|machine| {
            machine.begin(&[]);
            machine.script = Some(Box::new(Constants));
        });
        let [x, y] = [a, b].map(Vector::<32>::constants);
        let parts = [model::_mm256_castsi256_si128(x), model::_mm256_extracti128_si256::<1>(x)];
        let wide =
            [model::_mm256_cvtepu8_epi16(parts[1]), model::_mm256_broadcastsi128_si256(parts[1])];
        let mut expected = ([[0; 16]; 2], [[0; 32]; 2]);
        // SAFETY: there are as many bytes as are loaded and stored.
        unsafe {
            let [x_real, y_real] =
                [a, b].map(|bytes| real::_mm256_loadu_si256(bytes.as_ptr().cast()));
            let ([low, high], wide) = &mut expected;
            let back = real::_mm256_extracti128_si256::<1>(x_real);
            real::_mm_storeu_si128(low.as_mut_ptr().cast(), real::_mm256_castsi256_si128(x_real));
            real::_mm_storeu_si128(high.as_mut_ptr().cast(), back);
            let wide_real =
                [real::_mm256_cvtepu8_epi16(back), real::_mm256_broadcastsi128_si256(back)];
            for (wide, real) in wide.iter_mut().zip(wide_real) {
                real::_mm256_storeu_si256(wide.as_mut_ptr().cast(), real);
            }
            assert_eq!(model::_mm256_testz_si256(x, y), real::_mm256_testz_si256(x_real, y_real));
            let front = model::_mm256_castsi256_si128(y);
            let front_real = real::_mm256_castsi256_si128(y_real);
            assert_eq!(
                model::_mm_testz_si128(parts[1], front),
                real::_mm_testz_si128(back, front_real)
            );
        }
        assert_eq!((parts.map(|part| part.bytes()), wide.map(|vector| vector.bytes())), expected);
    }
}

compare!(
    compare_32,
    "avx2",
    32,
    _mm256_loadu_si256,
    _mm256_storeu_si256,
    |a, b| _mm256_or_si256(a, b),
    _mm256_and_si256(a, b),
    _mm256_xor_si256(a, b),
    _mm256_add_epi8(a, b),
    _mm256_adds_epi8(a, b),
    _mm256_subs_epu8(a, b),
    _mm256_avg_epu8(a, b),
    _mm256_max_epu8(a, b),
    _mm256_min_epu8(a, b),
    _mm256_min_epi8(a, b),
    _mm256_shuffle_epi8(a, b),
    _mm256_alignr_epi8::<15>(a, b),
    _mm256_alignr_epi8::<14>(a, b),
    _mm256_alignr_epi8::<13>(a, b),
    _mm256_permute2x128_si256::<0x21>(a, b),
    _mm256_permute2x128_si256::<0x08>(a, b),
    _mm256_set1_epi8(-128),
    _mm256_set1_epi16(0x0180),
    _mm256_set1_epi32(0x0102_0380),
    _mm256_permute4x64_epi64::<0b11_01_10_00>(a),
    _mm256_add_epi16(a, b),
    _mm256_blendv_epi8(a, b, b),
    _mm256_blendv_epi8(a, b, a),
    _mm256_cmpeq_epi8(a, b),
    _mm256_cmpeq_epi16(a, b),
    _mm256_cmpgt_epi8(a, b),
    _mm256_cmpgt_epi32(a, b),
    _mm256_packs_epi16(a, b),
    _mm256_packus_epi32(a, b),
    _mm256_unpacklo_epi8(a, b),
    _mm256_unpackhi_epi8(a, b),
    _mm256_unpacklo_epi16(a, b),
    _mm256_unpackhi_epi16(a, b),
    _mm256_slli_epi16::<2>(a),
    _mm256_slli_epi16::<4>(a),
    _mm256_slli_epi16::<6>(a),
    _mm256_slli_epi16::<8>(a),
    _mm256_srli_epi16::<2>(a),
    _mm256_srli_epi16::<4>(a),
    _mm256_srli_epi16::<6>(a),
    _mm256_srli_epi16::<8>(a),
    _mm256_srli_epi16::<12>(a),
    _mm256_slli_epi32::<8>(a),
    _mm256_slli_epi32::<16>(a),
    _mm256_slli_epi32::<24>(a),
    _mm256_srli_epi32::<6>(a),
    _mm256_srli_epi32::<12>(a),
    _mm256_srli_epi32::<18>(a),
);

compare!(
    compare_64,
    "avx512f,avx512bw,avx512vbmi",
    64,
    _mm512_loadu_si512,
    _mm512_storeu_si512,
    |a, b| _mm512_or_si512(a, b),
    _mm512_and_si512(a, b),
    _mm512_xor_si512(a, b),
    _mm512_add_epi8(a, b),
    _mm512_sub_epi8(a, b),
    _mm512_adds_epi8(a, b),
    _mm512_avg_epu8(a, b),
    _mm512_max_epu8(a, b),
    _mm512_min_epu8(a, b),
    _mm512_min_epi8(a, b),
    _mm512_subs_epu8(a, b),
    _mm512_permutexvar_epi8(a, b),
    _mm512_permutex2var_epi8(a, b, a),
    _mm512_permutex2var_epi8(b, a, b),
    _mm512_maskz_mov_epi8(0x8000_0000_F00F_0001, a),
    _mm512_setzero_si512(),
    _mm512_set1_epi8(-128),
);

/// Compares an instruction on three vectors, with all bits.
macro_rules! compare_ternary {
    ($name:ident, $n:literal, $call:ident, $load:ident, $store:ident: $($table:literal),*) => {
        #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
        fn $name() {
            let bytes = [0b1111_0000, 0b1100_1100, 0b1010_1010];
            $(
                with(|machine| machine.begin(&[]));
                let [x, y, z] = bytes.map(|byte| Vector::<$n>::constants([byte; $n]));
                let mut expected = [0; $n];
                // SAFETY: there are as many bytes as are loaded and stored.
                unsafe {
                    let [a, b, c] = bytes.map(|byte| real::$load([byte; $n].as_ptr().cast()));
                    let result = real::$call::<$table>(a, b, c);
                    real::$store(expected.as_mut_ptr().cast(), result);
                }
                assert_eq!(model::$call::<$table>(x, y, z).bytes(), expected);
            )*
        }
    };
}
compare_ternary!(ternary_32, 32, _mm256_ternarylogic_epi64, _mm256_loadu_si256, _mm256_storeu_si256:
    0xFE, 0xF6, 0x56, 0xF4, 0x12);
compare_ternary!(ternary_64, 64, _mm512_ternarylogic_epi64, _mm512_loadu_si512, _mm512_storeu_si512:
    0xFE, 0xF6, 0x56, 0xF4, 0x12);

/// Compares the instruction that replaces half of a vector.
#[target_feature(enable = "avx512f")]
fn compare_halves() {
    for (a, b) in pairs::<64>() {
        with(|machine| machine.begin(&[]));
        let [x, y] = [a, b].map(Vector::<64>::constants);
        let half = model::_mm512_castsi512_si256(y);
        let found =
            [model::_mm512_inserti64x4::<0>(x, half), model::_mm512_inserti64x4::<1>(x, half)];
        let mut expected = [[0; 64]; 2];
        // SAFETY: there are as many bytes as are loaded and stored.
        unsafe {
            let [a, b] = [a, b].map(|bytes| real::_mm512_loadu_si512(bytes.as_ptr().cast()));
            let half = real::_mm512_castsi512_si256(b);
            let [low, high] = &mut expected;
            let with_low = real::_mm512_inserti64x4::<0>(a, half);
            real::_mm512_storeu_si512(low.as_mut_ptr().cast(), with_low);
            let with_high = real::_mm512_inserti64x4::<1>(a, half);
            real::_mm512_storeu_si512(high.as_mut_ptr().cast(), with_high);
        }
        assert_eq!(found.map(|vector| vector.bytes()), expected);
    }
}

/// Answers with the first lane that is set.
struct Constants;

impl Script for Constants {
    fn answer(&mut self, arena: &mut Arena, lanes: &[Lane], _: Kind) -> Answer {
        let is_set = |lane: &Lane| matches!(arena.node(*lane), Node::Constant(0x80..));
        lanes.iter().position(is_set).map_or(Answer::None, Answer::First)
    }
}

/// Compares the instructions that return masks. Those of the model return the lowest bit only.
#[target_feature(enable = "avx2,avx512f,avx512bw,bmi2")]
fn compare_masks() {
    let lowest = |mask: u64| mask & mask.wrapping_neg();
    for lane in 0..=64 {
        let mut bytes = [0x7F_u8; 64];
        if lane < 64 {
            bytes[lane..].fill(0x80);
        }
        with(|machine| {
            machine.begin(&[]);
            machine.script = Some(Box::new(Constants));
        });
        let x = Vector::<64>::constants(bytes);
        let first = Vector::<16>(std::array::from_fn(|i| x.0[i]));
        let high = Vector::constants([0x80; 64]);
        // SAFETY: there are 64 bytes.
        let a = unsafe { real::_mm512_loadu_si512(bytes.as_ptr().cast()) };
        let half = real::_mm512_castsi512_si256(a);
        let part = real::_mm512_castsi512_si128(a);
        let top = real::_mm512_set1_epi8(-128);
        for (found, expected) in [
            (model::_mm512_movepi8_mask(x), real::_mm512_movepi8_mask(a)),
            (model::_mm512_test_epi8_mask(x, high), real::_mm512_test_epi8_mask(a, top)),
            (
                model::_mm256_movemask_epi8(model::_mm512_castsi512_si256(x)) as u32 as u64,
                real::_mm256_movemask_epi8(half) as u32 as u64,
            ),
            (model::_mm_movemask_epi8(first) as u64, real::_mm_movemask_epi8(part) as u64),
        ] {
            assert_eq!(found, lowest(expected), "{lane}");
        }
        for count in 0..300 {
            let mask = 0x0123_4567_89AB_CDEF << (lane % 64);
            assert_eq!(model::_bzhi_u64(mask, count), real::_bzhi_u64(mask, count));
        }
        let mask = if lane < 64 { 1 << lane } else { 0 };
        assert_eq!(model::_kortestz_mask64_u8(mask, 0), real::_kortestz_mask64_u8(mask, 0));
        assert_eq!(model::_kortestz_mask64_u8(0, mask), real::_kortestz_mask64_u8(0, mask));
    }
}

/// Assumption 1, as far as this machine can show it.
#[test]
fn the_instructions_are_those_of_this_machine() {
    let (mut compared, mut skipped) = (0, 0);
    let mut compare = |has: bool, compare: unsafe fn()| {
        if !has {
            skipped += 1;
            return;
        }
        // SAFETY: the machine has the features.
        unsafe { compare() };
        compared += 1;
    };
    let avx2 = is_x86_feature_detected!("avx2");
    let avx512 = ["avx512f", "avx512bw", "avx512vl", "avx512vbmi", "bmi2"];
    let detected = [
        is_x86_feature_detected!("avx512f"),
        is_x86_feature_detected!("avx512bw"),
        is_x86_feature_detected!("avx512vl"),
        is_x86_feature_detected!("avx512vbmi"),
        is_x86_feature_detected!("bmi2"),
    ];
    let has_avx512 = avx2 && detected == [true; 5];
    let sse41 = is_x86_feature_detected!("sse4.1");
    for with_sse41 in [compare_16 as unsafe fn(), compare_products] {
        compare(sse41, with_sse41);
    }
    for with_avx2 in [compare_32 as unsafe fn(), compare_conversions] {
        compare(avx2, with_avx2);
    }
    for with_avx512 in
        [compare_64 as unsafe fn(), compare_halves, ternary_32, ternary_64, compare_masks]
    {
        compare(has_avx512, with_avx512);
    }
    println!("{compared} groups compared, {skipped} skipped: this machine lacks one of {avx512:?}");
}
