//! Shuffles that move the needed bytes to the front. The index of a table encodes which bytes are needed.

/// By eight bits: which of eight lanes of 16 bits are needed.
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

/// By eight bits: of which of eight lanes of 16 bits only the first byte is needed.
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

/// By two bits for each of four lanes of 32 bits: three bytes are needed, less one for each set bit.
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

/// By a number of two bits for each of four lanes of 32 bits: one byte is needed, and that many more.
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

/// Indexes that select no byte.
const NOTHING: [u8; 16] = [0x80; 16];

/// Appends `count` indexes from `first` on to the first `len`. Returns the new length.
const fn push(indexes: &mut [u8; 16], len: usize, first: usize, count: usize) -> usize {
    let mut i = 0;
    while i < count {
        indexes[len + i] = (first + i) as u8;
        i += 1;
    }
    len + count
}
