//! A slow model of the dialects: tables of byte ranges from the specifications, and the output that a
//! prefix of a stream determines by them.

use utf8_codec::dialect::{Dialect, DialectDecoder, DialectEncoder};

use crate::lists::DIALECTS;

/// One stream's settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rules {
    pub(crate) dialect: Dialect,
    /// Unpaired surrogates are accepted (CESU-8, Modified UTF-8).
    pub(crate) unpaired: bool,
    /// Values above U+10FFFF are rejected (RFC 2279).
    pub(crate) limit: bool,
    /// Errors are reported at the first invalid byte.
    pub(crate) fatal: bool,
}

impl Rules {
    pub(crate) fn decoder(self) -> DialectDecoder {
        let mut decoder = DialectDecoder::new(self.dialect);
        if !self.fatal {
            decoder = decoder.with_whole_errors();
        }
        if self.unpaired {
            decoder = decoder.with_unpaired_surrogates();
        }
        if self.limit {
            decoder = decoder.with_rfc3629_limit();
        }
        decoder
    }

    pub(crate) fn encoder(self) -> DialectEncoder {
        let mut encoder = DialectEncoder::new(self.dialect);
        if self.unpaired {
            encoder = encoder.with_unpaired_surrogates();
        }
        if self.limit {
            encoder = encoder.with_rfc3629_limit();
        }
        encoder
    }
}

/// Every meaningful combination of settings.
pub(crate) fn all_rules() -> Vec<Rules> {
    let mut all = Vec::new();
    for fatal in [true, false] {
        let plain = |dialect| Rules { dialect, unpaired: false, limit: false, fatal };
        all.extend(DIALECTS.map(plain));
        all.push(Rules { unpaired: true, ..plain(Dialect::Cesu8) });
        all.push(Rules { unpaired: true, ..plain(Dialect::ModifiedUtf8) });
        all.push(Rules { limit: true, ..plain(Dialect::Rfc2279) });
    }
    all
}

/// One element of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Atom {
    CodePoint(u32),
    Error { at: usize, len: usize, at_the_end: bool },
}

/// The output that a prefix of a stream determines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) atoms: Vec<Atom>,
    pub(crate) held: usize,
}

/// The byte ranges of one sequence.
type Pattern = &'static [(u8, u8)];

const TAIL: (u8, u8) = (0x80, 0xBF);
const NUL: Pattern = &[(0x00, 0x00)];
const ASCII: Pattern = &[(0x01, 0x7F)];
const LONG_NUL: Pattern = &[(0xC0, 0xC0), (0x80, 0x80)];
const SHORT: [Pattern; 5] = [
    &[(0xC2, 0xDF), TAIL],
    &[(0xE0, 0xE0), (0xA0, 0xBF), TAIL],
    &[(0xE1, 0xEC), TAIL, TAIL],
    &[(0xED, 0xED), (0x80, 0x9F), TAIL],
    &[(0xEE, 0xEF), TAIL, TAIL],
];
const FOUR: [Pattern; 3] = [
    &[(0xF0, 0xF0), (0x90, 0xBF), TAIL, TAIL],
    &[(0xF1, 0xF3), TAIL, TAIL, TAIL],
    &[(0xF4, 0xF4), (0x80, 0x8F), TAIL, TAIL],
];
/// Above U+10FFFF.
const LARGE: [Pattern; 6] = [
    &[(0xF4, 0xF4), (0x90, 0xBF), TAIL, TAIL],
    &[(0xF5, 0xF7), TAIL, TAIL, TAIL],
    &[(0xF8, 0xF8), (0x88, 0xBF), TAIL, TAIL, TAIL],
    &[(0xF9, 0xFB), TAIL, TAIL, TAIL, TAIL],
    &[(0xFC, 0xFC), (0x84, 0xBF), TAIL, TAIL, TAIL, TAIL],
    &[(0xFD, 0xFD), TAIL, TAIL, TAIL, TAIL, TAIL],
];
const FIRST_HALF: Pattern = &[(0xED, 0xED), (0xA0, 0xAF), TAIL];
const SECOND_HALF: Pattern = &[(0xED, 0xED), (0xB0, 0xBF), TAIL];
const PAIR: Pattern = &[(0xED, 0xED), (0xA0, 0xAF), TAIL, (0xED, 0xED), (0xB0, 0xBF), TAIL];

/// Decodes `bytes`, a prefix of a stream or, if `ended`, all of it.
pub(crate) fn decode(rules: Rules, bytes: &[u8], ended: bool) -> Outcome {
    let mut outcome = Outcome::default();
    let mut at = 0;
    let mut after_first_half = false;
    let all = [false, true].map(|after_first_half| patterns(rules, after_first_half));
    while at < bytes.len() {
        let tail = &bytes[at..];
        let (good, refused) = &all[usize::from(after_first_half)];
        let fit = |patterns: &[Pattern]| {
            patterns.iter().map(|pattern| fitting(pattern, tail)).max().unwrap_or(0)
        };
        let whole = |patterns: &[Pattern]| {
            let fits = patterns.iter().filter(|pattern| fitting(pattern, tail) == pattern.len());
            fits.map(|pattern| pattern.len()).max()
        };
        let is_open =
            |pattern: &&Pattern| fitting(pattern, tail) == tail.len() && tail.len() < pattern.len();
        if !ended && good.iter().chain(refused).any(|pattern| is_open(&pattern)) {
            outcome.held = tail.len();
            break;
        }
        let longest = fit(good).max(fit(refused)).max(1);
        let (atom, len) = match (whole(good), whole(refused)) {
            (Some(len), _) => (Atom::CodePoint(value(&tail[..len])), len),
            (None, _) if rules.dialect == Dialect::Utf8b => {
                (Atom::CodePoint(0xDC00 + u32::from(tail[0])), 1)
            }
            (None, Some(len)) => (Atom::Error { at, len, at_the_end: false }, len),
            // Python's handler accepts complete surrogates; everything else is as in UTF-8.
            (None, None) if rules.dialect == Dialect::SurrogatePass => {
                let utf8 = [&SHORT[..], &FOUR].concat();
                let len = fit(&utf8).max(1);
                (Atom::Error { at, len, at_the_end: len == tail.len() && fit(&utf8) > 0 }, len)
            }
            (None, None) => {
                let begins = fit(good).max(fit(refused)) > 0;
                let at_the_end = begins && longest == tail.len();
                (Atom::Error { at, len: longest, at_the_end }, longest)
            }
        };
        after_first_half = matches!(atom, Atom::CodePoint(0xD800..=0xDBFF));
        outcome.atoms.push(atom);
        at += len;
    }
    outcome
}

/// The accepted sequences, and the sequences that are rejected as a whole.
fn patterns(rules: Rules, after_first_half: bool) -> (Vec<Pattern>, Vec<Pattern>) {
    let mut good = vec![NUL, ASCII];
    let mut refused = Vec::new();
    good.extend(SHORT);
    match rules.dialect {
        Dialect::Rfc2279 => {
            good.extend(FOUR);
            if rules.limit { &mut refused } else { &mut good }.extend(LARGE);
        }
        Dialect::Cesu8 | Dialect::ModifiedUtf8 => {
            good.push(PAIR);
            if rules.unpaired { &mut good } else { &mut refused }.extend([FIRST_HALF, SECOND_HALF]);
            if rules.dialect == Dialect::ModifiedUtf8 {
                good[0] = LONG_NUL;
            }
        }
        Dialect::Wtf8 => {
            good.extend(FOUR);
            good.push(FIRST_HALF);
            if after_first_half { &mut refused } else { &mut good }.push(SECOND_HALF);
        }
        Dialect::Utf8b => good.extend(FOUR),
        Dialect::SurrogatePass => {
            good.extend(FOUR);
            good.extend([FIRST_HALF, SECOND_HALF]);
        }
        dialect => panic!("there is no model of {dialect}"),
    }
    if rules.fatal {
        refused.clear();
    }
    (good, refused)
}

/// The number of leading bytes that fit the pattern.
fn fitting(pattern: &[(u8, u8)], bytes: &[u8]) -> usize {
    let fits = |(byte, (low, high)): &(&u8, &(u8, u8))| (low..=high).contains(byte);
    bytes.iter().zip(pattern).take_while(fits).count()
}

/// The value of a sequence or of a pair.
fn value(sequence: &[u8]) -> u32 {
    match sequence {
        [first, second, third, rest @ ..] if *first == 0xED && rest.len() == 3 => {
            let half = |bytes: &[u8]| value(bytes) & 0x3FF;
            0x1_0000 + (half(&[*first, *second, *third]) << 10) + half(rest)
        }
        [byte] => (*byte).into(),
        [lead, tail @ ..] => {
            let marks = 7 - tail.len() as u32 - 1;
            let first = u32::from(*lead) & ((1 << marks) - 1);
            tail.iter().fold(first, |value, byte| value * 64 + u32::from(byte & 0x3F))
        }
        [] => unreachable!("a sequence has bytes"),
    }
}

/// The bytes of a code point in a dialect, or `None` if it has none.
pub(crate) fn encode(rules: Rules, code_point: u32) -> Option<Vec<u8>> {
    let is_surrogate = (0xD800..=0xDFFF).contains(&code_point);
    match rules.dialect {
        Dialect::ModifiedUtf8 if code_point == 0 => Some(vec![0xC0, 0x80]),
        Dialect::Cesu8 | Dialect::ModifiedUtf8 => {
            if is_surrogate && !rules.unpaired {
                return None;
            }
            let mut units = [0; 2];
            match char::from_u32(code_point) {
                Some(c) if code_point > 0xFFFF => {
                    let units = c.encode_utf16(&mut units);
                    Some(units.iter().flat_map(|&unit| plain(unit.into())).collect())
                }
                Some(_) => Some(plain(code_point)),
                None => is_surrogate.then(|| plain(code_point)),
            }
        }
        Dialect::Utf8b if (0xDC80..=0xDCFF).contains(&code_point) => {
            Some(vec![(code_point - 0xDC00) as u8])
        }
        Dialect::Rfc2279 if !rules.limit => (!is_surrogate).then(|| plain(code_point)),
        Dialect::Wtf8 | Dialect::SurrogatePass if is_surrogate => Some(plain(code_point)),
        _ => char::from_u32(code_point).map(|c| c.to_string().into_bytes()),
    }
}

/// The encoding by the table of RFC 2279.
fn plain(code_point: u32) -> Vec<u8> {
    let tail = |at: u32| 0x80 + (code_point >> (6 * at) & 0x3F) as u8;
    let tails = match code_point {
        0..=0x7F => return vec![code_point as u8],
        0x80..=0x7FF => 1,
        0x800..=0xFFFF => 2,
        0x1_0000..=0x1F_FFFF => 3,
        0x20_0000..=0x3FF_FFFF => 4,
        _ => 5,
    };
    let lead = (0xFF00_u16 >> (tails + 1)) as u8 | (code_point >> (6 * tails)) as u8;
    std::iter::once(lead).chain((0..tails).rev().map(tail)).collect()
}
