//! The instructions that the levels use, on the vectors of [`machine`](crate::machine).
//!
//! `instructions.rs` compares each with the real one.

/// The instructions of x86-64.
#[cfg(target_arch = "x86_64")]
pub mod x86_64 {
    #![allow(non_camel_case_types, clippy::missing_safety_doc, clippy::too_many_arguments)]

    use crate::machine::{Kind, Op, Vector, from_words};

    pub type __m128i = Vector<16>;
    pub type __m256i = Vector<32>;
    pub type __m512i = Vector<64>;

    /// Instructions on two vectors, lane by lane.
    macro_rules! lanewise {
        ($($op:ident: $($name:ident $type:ident),*;)*) => {$($(
            pub fn $name(a: $type, b: $type) -> $type {
                a.apply(Op::$op, b)
            }
        )*)*};
    }
    lanewise! {
        Or: _mm_or_si128 __m128i, _mm256_or_si256 __m256i, _mm512_or_si512 __m512i;
        And: _mm_and_si128 __m128i, _mm256_and_si256 __m256i, _mm512_and_si512 __m512i;
        Xor: _mm_xor_si128 __m128i, _mm256_xor_si256 __m256i, _mm512_xor_si512 __m512i;
        Add: _mm_add_epi8 __m128i, _mm256_add_epi8 __m256i, _mm512_add_epi8 __m512i;
        Sub: _mm512_sub_epi8 __m512i;
        AddSigned: _mm_adds_epi8 __m128i, _mm256_adds_epi8 __m256i, _mm512_adds_epi8 __m512i;
        SubUnsigned: _mm_subs_epu8 __m128i, _mm256_subs_epu8 __m256i, _mm512_subs_epu8 __m512i;
        Average: _mm_avg_epu8 __m128i, _mm256_avg_epu8 __m256i, _mm512_avg_epu8 __m512i;
        Max: _mm_max_epu8 __m128i, _mm256_max_epu8 __m256i, _mm512_max_epu8 __m512i;
        Min: _mm_min_epu8 __m128i, _mm256_min_epu8 __m256i, _mm512_min_epu8 __m512i;
    }

    pub fn _mm_set1_epi8(byte: i8) -> __m128i {
        Vector::constants([byte as u8; 16])
    }

    pub fn _mm256_set1_epi8(byte: i8) -> __m256i {
        Vector::constants([byte as u8; 32])
    }

    pub fn _mm512_set1_epi8(byte: i8) -> __m512i {
        Vector::constants([byte as u8; 64])
    }

    pub fn _mm512_setzero_si512() -> __m512i {
        Vector::constants([0; 64])
    }

    pub fn _mm_set_epi64x(high: i64, low: i64) -> __m128i {
        from_words(low as u64, high as u64)
    }

    pub unsafe fn _mm_loadu_si128(at: *const __m128i) -> __m128i {
        Vector::load(at.cast(), !0)
    }

    pub unsafe fn _mm256_loadu_si256(at: *const __m256i) -> __m256i {
        Vector::load(at.cast(), !0)
    }

    pub unsafe fn _mm512_loadu_si512(at: *const __m512i) -> __m512i {
        Vector::load(at.cast(), !0)
    }

    pub unsafe fn _mm512_maskz_loadu_epi8(mask: u64, at: *const i8) -> __m512i {
        Vector::load(at.cast(), mask)
    }

    pub unsafe fn _mm_storeu_si128(at: *mut __m128i, a: __m128i) {
        a.store(at.cast());
    }

    pub unsafe fn _mm256_storeu_si256(at: *mut __m256i, a: __m256i) {
        a.store(at.cast());
    }

    pub unsafe fn _mm512_storeu_si512(at: *mut __m512i, a: __m512i) {
        a.store(at.cast());
    }

    /// The bytes of `a` and, above, those of `b` in each part of 16 bytes, moved down by `BY`.
    fn align<const N: usize>(a: Vector<N>, b: Vector<N>, by: i32) -> Vector<N> {
        let by = usize::try_from(by).unwrap();
        assert!(by <= 16);
        Vector(std::array::from_fn(|i| {
            let (part, lane) = (i / 16 * 16, i % 16 + by);
            if lane < 16 { b.0[part + lane] } else { a.0[part + lane - 16] }
        }))
    }

    pub fn _mm_alignr_epi8<const BY: i32>(a: __m128i, b: __m128i) -> __m128i {
        align(a, b, BY)
    }

    pub fn _mm256_alignr_epi8<const BY: i32>(a: __m256i, b: __m256i) -> __m256i {
        align(a, b, BY)
    }

    fn shuffled(index: u8) -> Option<usize> {
        (index < 0x80).then_some(usize::from(index & 15))
    }

    pub fn _mm_shuffle_epi8(a: __m128i, indexes: __m128i) -> __m128i {
        indexes.select(&a.0, shuffled)
    }

    pub fn _mm256_shuffle_epi8(a: __m256i, indexes: __m256i) -> __m256i {
        let [low, high] = halves(indexes);
        join(low.select(&a.0[..16], shuffled), high.select(&a.0[16..], shuffled))
    }

    fn halves(a: __m256i) -> [__m128i; 2] {
        [Vector(std::array::from_fn(|i| a.0[i])), Vector(std::array::from_fn(|i| a.0[16 + i]))]
    }

    fn join(low: __m128i, high: __m128i) -> __m256i {
        Vector(std::array::from_fn(|i| if i < 16 { low.0[i] } else { high.0[i - 16] }))
    }

    pub fn _mm256_broadcastsi128_si256(a: __m128i) -> __m256i {
        join(a, a)
    }

    pub fn _mm256_permute2x128_si256<const WHICH: i32>(a: __m256i, b: __m256i) -> __m256i {
        let [[a, b], [c, d]] = [halves(a), halves(b)];
        let [low, high] = [WHICH & 15, WHICH >> 4].map(|which| match which {
            0 => a,
            1 => b,
            2 => c,
            3 => d,
            8 => Vector::constants([0; 16]),
            _ => panic!("{which} is not used"),
        });
        join(low, high)
    }

    pub fn _mm512_castsi256_si512(a: __m256i) -> __m512i {
        // The upper half is undefined. These constants make errors of the lower half visible.
        let undefined = Vector::<1>::constants([0xA5]).0[0];
        Vector(std::array::from_fn(|i| if i < 32 { a.0[i] } else { undefined }))
    }

    pub fn _mm512_castsi512_si256(a: __m512i) -> __m256i {
        Vector(std::array::from_fn(|i| a.0[i]))
    }

    pub fn _mm512_inserti64x4<const HALF: i32>(a: __m512i, b: __m256i) -> __m512i {
        Vector(std::array::from_fn(|i| if i / 32 == HALF as usize { b.0[i % 32] } else { a.0[i] }))
    }

    pub fn _mm512_permutexvar_epi8(indexes: __m512i, a: __m512i) -> __m512i {
        indexes.select(&a.0, |index| Some(usize::from(index & 63)))
    }

    pub fn _mm512_permutex2var_epi8(a: __m512i, indexes: __m512i, b: __m512i) -> __m512i {
        let both = [a.0, b.0].concat();
        indexes.select(&both, |index| Some(usize::from(index & 127)))
    }

    pub fn _mm512_maskz_mov_epi8(mask: u64, a: __m512i) -> __m512i {
        let zero = Vector::<1>::constants([0]).0[0];
        Vector(std::array::from_fn(|i| if mask >> i & 1 == 1 { a.0[i] } else { zero }))
    }

    /// For bits a, b and c, the bit `4 * a + 2 * b + c` of `table`.
    fn ternary<const N: usize>(a: Vector<N>, b: Vector<N>, c: Vector<N>, table: i32) -> Vector<N> {
        let not = |x: Vector<N>| x.map(|byte| !byte);
        let terms = (0..8).filter(|bits| table >> bits & 1 == 1).map(|bits| {
            let part = |x: Vector<N>, bit: i32| if bits & bit != 0 { x } else { not(x) };
            part(a, 4).apply(Op::And, part(b, 2)).apply(Op::And, part(c, 1))
        });
        match table {
            0xFE => a.apply(Op::Or, b).apply(Op::Or, c),
            0xF6 => a.apply(Op::Or, b.apply(Op::Xor, c)),
            0xF4 => a.apply(Op::Or, b.apply(Op::And, not(c))),
            _ => terms.fold(Vector::constants([0; N]), |sum, term| sum.apply(Op::Or, term)),
        }
    }

    pub fn _mm256_ternarylogic_epi64<const T: i32>(a: __m256i, b: __m256i, c: __m256i) -> __m256i {
        ternary(a, b, c, T)
    }

    pub fn _mm512_ternarylogic_epi64<const T: i32>(a: __m512i, b: __m512i, c: __m512i) -> __m512i {
        ternary(a, b, c, T)
    }

    pub fn _mm_movemask_epi8(a: __m128i) -> i32 {
        a.ask(Kind::Mask) as i32
    }

    pub fn _mm256_movemask_epi8(a: __m256i) -> i32 {
        a.ask(Kind::Mask) as i32
    }

    pub fn _mm512_movepi8_mask(a: __m512i) -> u64 {
        a.ask(Kind::Mask)
    }

    /// Used only to find out whether any bit is set.
    pub fn _mm512_test_epi8_mask(a: __m512i, b: __m512i) -> u64 {
        assert_eq!(b.bytes(), [0x80; 64]);
        a.ask(Kind::Any)
    }

    /// Whether no bit is set in either.
    pub fn _kortestz_mask64_u8(a: u64, b: u64) -> u8 {
        u8::from(a | b == 0)
    }

    pub fn _bzhi_u64(a: u64, count: u32) -> u64 {
        if count & 0xFF < 64 { a & ((1 << (count & 0xFF)) - 1) } else { a }
    }

    /// Instructions of the conversions, which are compiled with the levels but not run.
    macro_rules! not_run {
        ($(fn $name:ident $(<const $N:ident>)? ($($type:ty),*) -> $result:ty;)*) => {$(
            pub fn $name $(<const $N: i32>)? ($(_: $type),*) -> $result {
                unreachable!(stringify!($name))
            }
        )*};
    }
    not_run! {
        fn _mm256_add_epi16(__m256i, __m256i) -> __m256i;
        fn _mm256_blendv_epi8(__m256i, __m256i, __m256i) -> __m256i;
        fn _mm256_castsi256_si128(__m256i) -> __m128i;
        fn _mm256_cmpeq_epi16(__m256i, __m256i) -> __m256i;
        fn _mm256_cmpeq_epi8(__m256i, __m256i) -> __m256i;
        fn _mm256_cmpgt_epi32(__m256i, __m256i) -> __m256i;
        fn _mm256_cmpgt_epi8(__m256i, __m256i) -> __m256i;
        fn _mm256_cvtepu8_epi16(__m128i) -> __m256i;
        fn _mm256_extracti128_si256<const N>(__m256i) -> __m128i;
        fn _mm256_packs_epi16(__m256i, __m256i) -> __m256i;
        fn _mm256_packus_epi32(__m256i, __m256i) -> __m256i;
        fn _mm256_permute4x64_epi64<const N>(__m256i) -> __m256i;
        fn _mm256_set1_epi16(i16) -> __m256i;
        fn _mm256_set1_epi32(i32) -> __m256i;
        fn _mm256_slli_epi16<const N>(__m256i) -> __m256i;
        fn _mm256_slli_epi32<const N>(__m256i) -> __m256i;
        fn _mm256_srli_epi16<const N>(__m256i) -> __m256i;
        fn _mm256_srli_epi32<const N>(__m256i) -> __m256i;
        fn _mm256_testz_si256(__m256i, __m256i) -> i32;
        fn _mm256_unpackhi_epi16(__m256i, __m256i) -> __m256i;
        fn _mm256_unpackhi_epi8(__m256i, __m256i) -> __m256i;
        fn _mm256_unpacklo_epi16(__m256i, __m256i) -> __m256i;
        fn _mm256_unpacklo_epi8(__m256i, __m256i) -> __m256i;
        fn _mm512_cmpge_epu8_mask(__m512i, __m512i) -> u64;
        fn _mm512_movm_epi8(u64) -> __m512i;
        fn _mm_add_epi16(__m128i, __m128i) -> __m128i;
        fn _mm_add_epi32(__m128i, __m128i) -> __m128i;
        fn _mm_blendv_epi8(__m128i, __m128i, __m128i) -> __m128i;
        fn _mm_cmpeq_epi16(__m128i, __m128i) -> __m128i;
        fn _mm_cmpeq_epi8(__m128i, __m128i) -> __m128i;
        fn _mm_cmpgt_epi32(__m128i, __m128i) -> __m128i;
        fn _mm_cmpgt_epi8(__m128i, __m128i) -> __m128i;
        fn _mm_madd_epi16(__m128i, __m128i) -> __m128i;
        fn _mm_maddubs_epi16(__m128i, __m128i) -> __m128i;
        fn _mm_packs_epi16(__m128i, __m128i) -> __m128i;
        fn _mm_packus_epi16(__m128i, __m128i) -> __m128i;
        fn _mm_packus_epi32(__m128i, __m128i) -> __m128i;
        fn _mm_set1_epi16(i16) -> __m128i;
        fn _mm_set1_epi32(i32) -> __m128i;
        fn _mm_setr_epi8(i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8) -> __m128i;
        fn _mm_setzero_si128() -> __m128i;
        fn _mm_slli_epi16<const N>(__m128i) -> __m128i;
        fn _mm_slli_epi32<const N>(__m128i) -> __m128i;
        fn _mm_srli_epi16<const N>(__m128i) -> __m128i;
        fn _mm_srli_epi32<const N>(__m128i) -> __m128i;
        fn _mm_sub_epi32(__m128i, __m128i) -> __m128i;
        fn _mm_testz_si128(__m128i, __m128i) -> i32;
        fn _mm_unpackhi_epi16(__m128i, __m128i) -> __m128i;
        fn _mm_unpackhi_epi8(__m128i, __m128i) -> __m128i;
        fn _mm_unpacklo_epi16(__m128i, __m128i) -> __m128i;
        fn _mm_unpacklo_epi8(__m128i, __m128i) -> __m128i;
    }
}
