//! The text that is sent: random, of mixed scripts, with ill-formed sequences.

/// SplitMix64: small, and random enough for choices.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// An independent generator.
    pub(crate) fn fork(&mut self) -> Self {
        Self(self.next())
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, which is not 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// True once in `times` times, on average.
    pub(crate) fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// The maximum length of the pieces that a message is sent in.
    pub(crate) fn longest_piece(&mut self) -> usize {
        self.choose(&[1, 3, 20, 300, 5000])
    }

    fn choose<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// A summary of a stream so far, sent or received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Account {
    pub(crate) chars: u64,
    pub(crate) errors: u64,
    /// A checksum of all text and of all errors with their offsets, in order (FNV-1a).
    checksum: u64,
}

impl Account {
    pub(crate) const NOTHING: Self = Self { chars: 0, errors: 0, checksum: 0xCBF2_9CE4_8422_2325 };

    pub(crate) fn add_text(&mut self, text: &str) {
        self.chars += text.chars().count() as u64;
        self.add(text.as_bytes());
    }

    pub(crate) fn add_error(&mut self, offset: u64, bytes: &[u8]) {
        self.errors += 1;
        // A byte that no text has keeps errors and text apart.
        self.add(&[0xFF]);
        self.add(&offset.to_le_bytes());
        self.add(bytes);
    }

    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.checksum = (self.checksum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
        }
    }
}

/// A message as it goes over the wire. Its last character is a newline, its only one.
#[derive(Debug, Default)]
pub(crate) struct Message {
    pub(crate) bytes: Vec<u8>,
    pub(crate) ill_formed: u64,
}

impl Message {
    /// Makes a message at `offset` of the stream, and adds to `account` what the receiver must decode;
    /// if `repaired`, with U+FFFD for each ill-formed part.
    pub(crate) fn random(
        random: &mut Random,
        offset: u64,
        repaired: bool,
        account: &mut Account,
    ) -> Self {
        // Most messages are short.
        let parts = if random.one_in(20) { 1 + random.below(200) } else { 1 + random.below(6) };
        let mut message = Self::default();
        for _ in 0..parts {
            let text = random.choose(TEXTS);
            message.bytes.extend_from_slice(text.as_bytes());
            account.add_text(text);
            if random.one_in(8) {
                for subpart in random.choose(ILL_FORMED) {
                    let at = offset + message.bytes.len() as u64;
                    message.bytes.extend_from_slice(subpart);
                    message.ill_formed += 1;
                    if repaired {
                        account.add_text("\u{FFFD}");
                    } else {
                        account.add_error(at, subpart);
                    }
                }
            }
        }
        message.bytes.push(b'\n');
        account.add_text("\n");
        message
    }
}

/// None begins with a continuation byte, so none completes a truncated sequence before it.
const TEXTS: &[&str] = &[
    "plain text, and more of it; ",
    "né à Zürich ",
    "Съешь ещё этих мягких булок ",
    "色は匂へど散りぬるを",
    "키스의 고유조건은 ",
    "نص حكيم له سر قاطع ",
    "ऋषियों को सताने वाले ",
    "👩‍👩‍👧‍👦🏳️‍🌈",
    "𝒜𝒷𝒸\u{10FFFF}",
    "\u{FEFF}",
    "\0",
    "x",
];

/// Ill-formed sequences, as their maximal subparts.
const ILL_FORMED: &[&[&[u8]]] = &[
    &[b"\xFF"],
    &[b"\xFE"],
    &[b"\x80"],
    &[b"\xC0", b"\xAF"],
    &[b"\xC3"],
    &[b"\xE0", b"\x80", b"\xAF"],
    &[b"\xE2\x82"],
    &[b"\xED", b"\xA0", b"\x80"],
    &[b"\xF0\x9F\x98"],
    &[b"\xF0", b"\x80", b"\x80", b"\x80"],
    &[b"\xF4", b"\x90", b"\x80", b"\x80"],
    &[b"\xF5", b"\x80"],
];

/// Incomplete characters, for streams that end inside one.
pub(crate) const HALVES: &[&[u8]] = &[b"\xC3", b"\xE2", b"\xE2\x82", b"\xF0\x9F", b"\xF0\x9F\x98"];
