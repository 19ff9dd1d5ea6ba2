//! The instructions that the levels use, on the vectors of [`machine`](crate::machine).
//!
//! `instructions.rs` compares each with the real one.

/// The instructions of x86-64.
#[cfg(target_arch = "x86_64")]
pub mod x86_64 {
    #![allow(non_camel_case_types, clippy::missing_safety_doc, clippy::too_many_arguments)]

    use crate::machine::{Arena, Kind, Lane, Op, Vector, from_words, with};

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
        MinSigned: _mm_min_epi8 __m128i, _mm256_min_epi8 __m256i, _mm512_min_epi8 __m512i;
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

    /// Applies `f` to lanes of `S` bytes of two vectors. Lanes are in little-endian order.
    fn wide<const S: usize, const N: usize>(
        a: Vector<N>,
        b: Vector<N>,
        f: impl Fn(&mut Arena, [Lane; S], [Lane; S]) -> [Lane; S],
    ) -> Vector<N> {
        with(|machine| {
            let mut result = a;
            for at in (0..N).step_by(S) {
                let lane = |vector: &Vector<N>| std::array::from_fn(|i| vector.0[at + i]);
                let bytes = f(&mut machine.arena, lane(&a), lane(&b));
                result.0[at..at + S].copy_from_slice(&bytes);
            }
            result
        })
    }

    /// Shifts lanes of `S` bytes up by `by` bits, or down if it is negative.
    fn shifted<const S: usize, const N: usize>(a: Vector<N>, by: i32) -> Vector<N> {
        // Each byte has bits of two.
        let shifts = [by.rem_euclid(8), by.rem_euclid(8) - 8];
        let tables = with(|machine| shifts.map(|by| machine.arena.shift(by)));
        wide(a, a, |arena, x: [Lane; S], _| {
            std::array::from_fn(|i| {
                let mut sum = arena.constant(0);
                for (shift, table) in shifts.iter().zip(tables) {
                    let from = i as i32 + (shift - by) / 8;
                    if (0..S as i32).contains(&from) {
                        let part = arena.map(table, x[from as usize]);
                        sum = arena.apply(Op::Or, sum, part);
                    }
                }
                sum
            })
        })
    }

    fn any<const S: usize>(arena: &mut Arena, x: [Lane; S]) -> Lane {
        x.into_iter().reduce(|any, byte| arena.apply(Op::Or, any, byte)).unwrap()
    }

    /// All bits or none.
    fn all(is_set: bool) -> u8 {
        if is_set { 0xFF } else { 0 }
    }

    fn is_zero(byte: u8) -> u8 {
        all(byte == 0)
    }

    fn is_not_zero(byte: u8) -> u8 {
        all(byte != 0)
    }

    fn is_high(byte: u8) -> u8 {
        all(byte >= 0x80)
    }

    fn is_low(byte: u8) -> u8 {
        all(byte < 0x80)
    }

    fn equal<const S: usize, const N: usize>(a: Vector<N>, b: Vector<N>) -> Vector<N> {
        wide(a, b, |arena, x: [Lane; S], y| {
            let different = std::array::from_fn(|i| arena.apply(Op::Xor, x[i], y[i]));
            let different = any::<S>(arena, different);
            [arena.map_by(is_zero, different); S]
        })
    }

    /// Compares signed lanes.
    fn greater<const S: usize, const N: usize>(a: Vector<N>, b: Vector<N>) -> Vector<N> {
        wide(a, b, |arena, x: [Lane; S], y| {
            let mut greater = arena.constant(0);
            for i in 0..S {
                // The sign, as the greatest bit of an unsigned number.
                let flip = arena.constant(if i == S - 1 { 0x80 } else { 0 });
                let [x, y] = [x[i], y[i]].map(|byte| arena.apply(Op::Xor, byte, flip));
                let [less, same] = [Op::SubUnsigned, Op::Xor].map(|op| arena.apply(op, x, y));
                let (above, same) = (arena.map_by(is_not_zero, less), arena.map_by(is_zero, same));
                let below = arena.apply(Op::And, same, greater);
                greater = arena.apply(Op::Or, above, below);
            }
            [greater; S]
        })
    }

    fn sum<const S: usize>(arena: &mut Arena, x: [Lane; S], y: [Lane; S]) -> [Lane; S] {
        let mut carry = arena.constant(0);
        std::array::from_fn(|i| {
            let first = arena.apply(Op::Carry, x[i], y[i]);
            let both = arena.apply(Op::Add, x[i], y[i]);
            let second = arena.apply(Op::Carry, both, carry);
            let byte = arena.apply(Op::Add, both, carry);
            carry = arena.apply(Op::Or, first, second);
            byte
        })
    }

    fn add<const S: usize, const N: usize>(a: Vector<N>, b: Vector<N>) -> Vector<N> {
        wide(a, b, sum::<S>)
    }

    /// Bytes of `yes` where bit 7 of `mask` is set, of `no` elsewhere.
    fn blend<const N: usize>(no: Vector<N>, yes: Vector<N>, mask: Vector<N>) -> Vector<N> {
        let by = |f| with(|machine| Vector(mask.0.map(|lane| machine.arena.map_by(f, lane))));
        yes.apply(Op::And, by(is_high)).apply(Op::Or, no.apply(Op::And, by(is_low)))
    }

    /// Whether no bit is set in both.
    fn is_disjoint<const N: usize>(a: Vector<N>, b: Vector<N>) -> i32 {
        let set = with(|machine| {
            let both = |i| machine.arena.apply(Op::And, a.0[i], b.0[i]);
            let both: [Lane; N] = std::array::from_fn(both);
            Vector(both.map(|lane| machine.arena.map_by(is_not_zero, lane)))
        });
        i32::from(set.ask(Kind::Any) == 0)
    }

    /// In each part of 16 bytes, the lanes of `S` bytes of `a`, then those of `b`, narrowed by `f`.
    fn pack<const S: usize, const N: usize>(
        a: Vector<N>,
        b: Vector<N>,
        f: impl Fn(&mut Arena, [Lane; S]) -> Vec<Lane>,
    ) -> Vector<N> {
        with(|machine| {
            let parts =
                (0..N).step_by(16).flat_map(|part| [&a.0[part..part + 16], &b.0[part..part + 16]]);
            let lanes = parts.flat_map(|part| part.chunks(S));
            let bytes: Vec<_> =
                lanes.flat_map(|lane| f(&mut machine.arena, lane.try_into().unwrap())).collect();
            Vector(bytes.try_into().unwrap())
        })
    }

    /// Signed lanes of 16 bits as unsigned bytes, saturated.
    fn pack_unsigned_16<const N: usize>(a: Vector<N>, b: Vector<N>) -> Vector<N> {
        pack(a, b, |arena, [low, high]| vec![saturated(arena, low, [high], high)])
    }

    /// Signed lanes of 32 bits as unsigned ones of 16 bits, saturated.
    fn pack_unsigned_32<const N: usize>(a: Vector<N>, b: Vector<N>) -> Vector<N> {
        pack(a, b, |arena, [a, b, c, d]| {
            [a, b].map(|byte| saturated(arena, byte, [c, d], d)).to_vec()
        })
    }

    /// `byte`, or FF if one of `high` is not zero, or 0 if bit 7 of `sign` is set.
    fn saturated<const S: usize>(
        arena: &mut Arena,
        byte: Lane,
        high: [Lane; S],
        sign: Lane,
    ) -> Lane {
        let high = any(arena, high);
        let (large, positive) = (arena.map_by(is_not_zero, high), arena.map_by(is_low, sign));
        let byte = arena.apply(Op::Or, byte, large);
        arena.apply(Op::And, byte, positive)
    }

    /// Signed lanes of 16 bits as signed bytes, saturated.
    fn pack_signed_16<const N: usize>(a: Vector<N>, b: Vector<N>) -> Vector<N> {
        pack(a, b, |arena, [low, high]| {
            let sign = arena.map_by(is_high, low);
            let different = arena.apply(Op::Xor, high, sign);
            let fits = arena.map_by(is_zero, different);
            let exceeds = arena.map_by(is_zero, fits);
            let extreme = arena.map_by(|byte| if byte >= 0x80 { 0x80 } else { 0x7F }, high);
            let [low, extreme] =
                [[low, fits], [extreme, exceeds]].map(|[x, y]| arena.apply(Op::And, x, y));
            vec![arena.apply(Op::Or, low, extreme)]
        })
    }

    /// In each part of 16 bytes, the lanes of `S` bytes of `a` from `from` on, each followed by that of `b`.
    fn unpack<const S: usize, const N: usize>(
        a: Vector<N>,
        b: Vector<N>,
        from: usize,
    ) -> Vector<N> {
        Vector(std::array::from_fn(|i| {
            let (part, pair, byte) = (i / 16 * 16, i % 16 / (2 * S), i % S);
            let of = if (i / S).is_multiple_of(2) { a } else { b };
            of.0[part + from + pair * S + byte]
        }))
    }

    /// Unsigned bytes times signed constants, added in pairs. No sum exceeds 16 bits, and no constant is negative.
    pub fn _mm_maddubs_epi16(a: __m128i, b: __m128i) -> __m128i {
        let factors = b.bytes();
        let scaled = |byte: usize| -> __m128i {
            Vector(std::array::from_fn(|i| {
                let factor = factors[i / 2 * 2 + byte];
                assert!(factor < 0x80);
                with(|machine| {
                    let product = |x: u8| (u16::from(x) * u16::from(factor)).to_le_bytes()[i % 2];
                    let table = machine.arena.table(std::array::from_fn(|x| product(x as u8)));
                    machine.arena.map(table, a.0[i / 2 * 2 + byte])
                })
            }))
        };
        let greatest = with(|machine| a.0.map(|lane| u16::from(machine.arena.bits(lane))));
        for i in (0..16).step_by(2) {
            let [x, y] = [i, i + 1].map(|i| greatest[i] * u16::from(factors[i]));
            assert!(x + y <= i16::MAX as u16);
        }
        add::<2, 16>(scaled(0), scaled(1))
    }

    /// Lanes of 16 bits times constants, added in pairs. No lane is negative, and all constants are powers of two.
    pub fn _mm_madd_epi16(a: __m128i, b: __m128i) -> __m128i {
        let factors = b.bytes();
        let scaled = |half: usize| -> __m128i {
            let parts = (0..16).step_by(4).flat_map(|i| {
                let at = i + 2 * half;
                let factor = u16::from_le_bytes([factors[at], factors[at + 1]]);
                assert!(factor.is_power_of_two() && factor < 0x8000);
                let zero = Vector::<1>::constants([0]).0[0];
                let lane = Vector::<4>([a.0[at], a.0[at + 1], zero, zero]);
                with(|machine| assert!(machine.arena.bits(a.0[at + 1]) < 0x80));
                shifted::<4, 4>(lane, factor.trailing_zeros() as i32).0
            });
            Vector(parts.collect::<Vec<_>>().try_into().unwrap())
        };
        add::<4, 16>(scaled(0), scaled(1))
    }

    /// Instructions that call a function on vectors of 16 and of 32 bytes.
    macro_rules! both_widths {
        ($($name:ident, $name_32:ident ($($argument:ident),*) $(-> $result:ty)? = $call:expr;)*) => {$(
            pub fn $name($($argument: __m128i),*) -> both_widths!(@ __m128i $(, $result)?) {
                $call
            }
            pub fn $name_32($($argument: __m256i),*) -> both_widths!(@ __m256i $(, $result)?) {
                $call
            }
        )*};
        (@ $type:ty) => { $type };
        (@ $type:ty, $result:ty) => { $result };
    }
    both_widths! {
        _mm_add_epi16, _mm256_add_epi16 (a, b) = add::<2, _>(a, b);
        _mm_blendv_epi8, _mm256_blendv_epi8 (no, yes, mask) = blend(no, yes, mask);
        _mm_cmpeq_epi8, _mm256_cmpeq_epi8 (a, b) = equal::<1, _>(a, b);
        _mm_cmpeq_epi16, _mm256_cmpeq_epi16 (a, b) = equal::<2, _>(a, b);
        _mm_cmpgt_epi8, _mm256_cmpgt_epi8 (a, b) = greater::<1, _>(a, b);
        _mm_cmpgt_epi32, _mm256_cmpgt_epi32 (a, b) = greater::<4, _>(a, b);
        _mm_packs_epi16, _mm256_packs_epi16 (a, b) = pack_signed_16(a, b);
        _mm_packus_epi16, _mm256_packus_epi16 (a, b) = pack_unsigned_16(a, b);
        _mm_packus_epi32, _mm256_packus_epi32 (a, b) = pack_unsigned_32(a, b);
        _mm_testz_si128, _mm256_testz_si256 (a, b) -> i32 = is_disjoint(a, b);
        _mm_unpacklo_epi8, _mm256_unpacklo_epi8 (a, b) = unpack::<1, _>(a, b, 0);
        _mm_unpackhi_epi8, _mm256_unpackhi_epi8 (a, b) = unpack::<1, _>(a, b, 8);
        _mm_unpacklo_epi16, _mm256_unpacklo_epi16 (a, b) = unpack::<2, _>(a, b, 0);
        _mm_unpackhi_epi16, _mm256_unpackhi_epi16 (a, b) = unpack::<2, _>(a, b, 8);
    }

    const UP: i32 = 1;
    const DOWN: i32 = -1;

    /// Shifts of lanes by a constant.
    macro_rules! shifts {
        ($($name:ident $type:ty, $size:literal, $direction:ident;)*) => {$(
            pub fn $name<const BY: i32>(a: $type) -> $type {
                shifted::<$size, _>(a, $direction * BY)
            }
        )*};
    }
    shifts! {
        _mm_slli_epi16 __m128i, 2, UP;
        _mm_slli_epi32 __m128i, 4, UP;
        _mm_srli_epi16 __m128i, 2, DOWN;
        _mm_srli_epi32 __m128i, 4, DOWN;
        _mm256_slli_epi16 __m256i, 2, UP;
        _mm256_slli_epi32 __m256i, 4, UP;
        _mm256_srli_epi16 __m256i, 2, DOWN;
        _mm256_srli_epi32 __m256i, 4, DOWN;
    }

    /// The same lane of `S` bytes everywhere.
    fn splat<const S: usize, const N: usize>(lane: [u8; S]) -> Vector<N> {
        Vector::constants(std::array::from_fn(|i| lane[i % S]))
    }

    pub fn _mm_set1_epi16(lane: i16) -> __m128i {
        splat(lane.to_le_bytes())
    }

    /// The same word everywhere, or what it stands for.
    fn splat_word<const N: usize>(word: i32) -> Vector<N> {
        match with(|machine| machine.word) {
            Some(lanes) => Vector(std::array::from_fn(|i| lanes[i % 4])),
            None => splat(word.to_le_bytes()),
        }
    }

    pub fn _mm_set1_epi32(lane: i32) -> __m128i {
        splat_word(lane)
    }

    pub fn _mm256_set1_epi16(lane: i16) -> __m256i {
        splat(lane.to_le_bytes())
    }

    pub fn _mm256_set1_epi32(lane: i32) -> __m256i {
        splat_word(lane)
    }

    pub fn _mm512_set1_epi32(lane: i32) -> __m512i {
        splat_word(lane)
    }

    pub fn _mm_setzero_si128() -> __m128i {
        splat([0])
    }

    pub fn _mm256_castsi256_si128(a: __m256i) -> __m128i {
        halves(a)[0]
    }

    pub fn _mm256_extracti128_si256<const HALF: i32>(a: __m256i) -> __m128i {
        halves(a)[HALF as usize]
    }

    pub fn _mm256_permute4x64_epi64<const WHICH: i32>(a: __m256i) -> __m256i {
        Vector(std::array::from_fn(|i| a.0[(WHICH as usize >> (i / 8 * 2) & 3) * 8 + i % 8]))
    }

    pub fn _mm256_cvtepu8_epi16(a: __m128i) -> __m256i {
        let zero = splat([0]);
        join(unpack::<1, 16>(a, zero, 0), unpack::<1, 16>(a, zero, 8))
    }

    /// Instructions that are compiled with the levels but not run.
    macro_rules! not_run {
        ($(fn $name:ident $(<const $N:ident>)? ($($type:ty),*) -> $result:ty;)*) => {$(
            pub fn $name $(<const $N: i32>)? ($(_: $type),*) -> $result {
                unreachable!(stringify!($name))
            }
        )*};
    }
    not_run! {
        fn _mm512_cmpge_epu8_mask(__m512i, __m512i) -> u64;
        fn _mm512_movm_epi8(u64) -> __m512i;
        fn _mm256_sad_epu8(__m256i, __m256i) -> __m256i;
        fn _mm_add_epi32(__m128i, __m128i) -> __m128i;
        fn _mm_add_epi64(__m128i, __m128i) -> __m128i;
        fn _mm_cvtsi128_si64(__m128i) -> i64;
        fn _mm_extract_epi64<const N>(__m128i) -> i64;
        fn _mm_sad_epu8(__m128i, __m128i) -> __m128i;
        fn _mm_setr_epi8(i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8) -> __m128i;
        fn _mm_sub_epi32(__m128i, __m128i) -> __m128i;
    }
}
