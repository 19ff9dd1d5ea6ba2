//! Shuffles that move the bytes that count to the front, by which of them count.

/// By the set bits of an index: which of eight lanes of 16 bits count.
pub(super) static UNITS: [[u8; 16]; 256] = {
    let mut table = [NOTHING; 256];
    let mut index = 0;
    while index < 256 {
        let (mut lane, mut len) = (0, 0);
        while lane < 8 {
            len = push(&mut table[index], len, 2 * lane, 2 * (index >> lane & 1));
            lane += 1;
        }
        index += 1;
    }
    table
};

/// By the set bits of an index: of which of eight lanes of 16 bits only the first byte counts.
pub(super) static ONE_OR_TWO: [[u8; 16]; 256] = {
    let mut table = [NOTHING; 256];
    let mut index = 0;
    while index < 256 {
        let (mut lane, mut len) = (0, 0);
        while lane < 8 {
            len = push(&mut table[index], len, 2 * lane, 2 - (index >> lane & 1));
            lane += 1;
        }
        index += 1;
    }
    table
};

/// By two bits for each of four lanes of 32 bits: three bytes count, one less for each bit.
pub(super) static ONE_TO_THREE: [[u8; 16]; 256] = {
    let mut table = [NOTHING; 256];
    let mut index = 0;
    while index < 256 {
        let (mut lane, mut len) = (0, 0);
        while lane < 4 {
            let bits = index >> (2 * lane) & 3;
            len = push(&mut table[index], len, 4 * lane, 3 - (bits & 1) - (bits >> 1));
            lane += 1;
        }
        index += 1;
    }
    table
};

/// By two bits for each of four lanes of 32 bits, a number: one byte counts, and as many more.
pub(super) static ONE_TO_FOUR: [[u8; 16]; 256] = {
    let mut table = [NOTHING; 256];
    let mut index = 0;
    while index < 256 {
        let (mut lane, mut len) = (0, 0);
        while lane < 4 {
            len = push(&mut table[index], len, 4 * lane, 1 + (index >> (2 * lane) & 3));
            lane += 1;
        }
        index += 1;
    }
    table
};

/// Indexes that pick nothing.
const NOTHING: [u8; 16] = [0x80; 16];

/// Appends `count` indexes from `first` on to the `len` that are there; returns how many there are then.
const fn push(indexes: &mut [u8; 16], len: usize, first: usize, count: usize) -> usize {
    let mut i = 0;
    while i < count {
        indexes[len + i] = (first + i) as u8;
        i += 1;
    }
    len + count
}
