//! Text by script: random code points in words and lines, the same in every run.

use std::ops::{Range, RangeInclusive};

/// SplitMix64.
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number from `range`, each equally likely.
    pub(crate) fn range(&mut self, range: RangeInclusive<usize>) -> usize {
        let width = range.end() - range.start() + 1;
        range.start() + (self.next() >> 32) as usize % width
    }

    /// True once in `times` times, on average.
    pub(crate) fn one_in(&mut self, times: usize) -> bool {
        self.range(1..=times) == 1
    }

    /// A character between two others, without surrogates.
    fn char(&mut self, range: RangeInclusive<char>) -> char {
        let code = self.range(*range.start() as usize..=*range.end() as usize);
        char::from_u32(code as u32).expect("a range without surrogates")
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.range(0..=from.len() - 1)]
    }
}

/// The script of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Corpus {
    /// One byte each.
    Ascii,
    /// Latin letters, one in seven with a diacritic: one and two bytes.
    Latin,
    /// Two bytes each, ASCII between the words.
    Cyrillic,
    /// Two bytes each, ASCII between the words.
    Arabic,
    /// Han, kana and hangul: three bytes each.
    Cjk,
    /// Four bytes each, with variation selectors (three) and spaces.
    Emoji,
    /// Markup and JSON around runs of the other scripts.
    Mixed,
}

impl Corpus {
    pub(crate) const SCRIPTS: [Self; 6] =
        [Self::Ascii, Self::Latin, Self::Cyrillic, Self::Arabic, Self::Cjk, Self::Emoji];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Ascii => "ascii",
            Self::Latin => "latin",
            Self::Cyrillic => "cyrillic",
            Self::Arabic => "arabic",
            Self::Cjk => "cjk",
            Self::Emoji => "emoji",
            Self::Mixed => "mixed",
        }
    }

    /// The length of the longest character, in bytes.
    pub(crate) const fn width(self) -> usize {
        match self {
            Self::Ascii => 1,
            Self::Latin | Self::Cyrillic | Self::Arabic => 2,
            Self::Cjk => 3,
            Self::Emoji | Self::Mixed => 4,
        }
    }

    /// A text of exactly `len` bytes, in lines of some ten words.
    pub(crate) fn text(self, len: usize, seed: u64) -> String {
        let mut rng = Rng::new(seed ^ (self as u64) << 32);
        let mut text = String::with_capacity(len + 256);
        while text.len() < len {
            self.push_word(&mut rng, &mut text);
            self.push_space(&mut rng, &mut text);
        }
        let boundary = (0..=len).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        text.truncate(boundary);
        text.extend(std::iter::repeat_n('x', len - boundary));
        text
    }

    fn push_word(self, rng: &mut Rng, text: &mut String) {
        let letters = match self {
            Self::Cjk => 4..=16,
            Self::Mixed => return push_markup(rng, text),
            _ => 2..=9,
        };
        for _ in 0..rng.range(letters) {
            text.push(self.letter(rng));
            if self == Self::Emoji && rng.one_in(16) {
                text.push('\u{FE0F}');
            }
        }
    }

    fn letter(self, rng: &mut Rng) -> char {
        match self {
            Self::Latin if rng.one_in(7) => rng.char('\u{E0}'..='\u{17F}'),
            Self::Ascii | Self::Latin | Self::Mixed => rng.char('a'..='z'),
            Self::Cyrillic => rng.char('\u{410}'..='\u{44F}'),
            Self::Arabic => rng.char('\u{621}'..='\u{64A}'),
            Self::Cjk => match rng.range(0..=9) {
                0..=5 => rng.char('\u{4E00}'..='\u{9FA5}'),
                6 | 7 => rng.char('\u{3041}'..='\u{3096}'),
                8 => rng.char('\u{30A1}'..='\u{30FA}'),
                _ => rng.char('\u{AC00}'..='\u{D7A3}'),
            },
            Self::Emoji => match rng.range(0..=2) {
                0 => rng.char('\u{1F300}'..='\u{1F5FF}'),
                1 => rng.char('\u{1F600}'..='\u{1F64F}'),
                _ => rng.char('\u{1F900}'..='\u{1F9FF}'),
            },
        }
    }

    fn push_space(self, rng: &mut Rng, text: &mut String) {
        if rng.one_in(10) {
            return text.push('\n');
        }
        let comma = rng.one_in(8);
        text.push_str(match self {
            Self::Mixed => "",
            Self::Cjk if comma => "\u{3002}",
            Self::Cjk => "\u{3001}",
            Self::Arabic if comma => "\u{60C} ",
            _ if comma => ", ",
            _ => " ",
        });
    }
}

fn push_markup(rng: &mut Rng, text: &mut String) {
    text.push_str(rng.pick(&[
        "\",\"title\":\"",
        "</p>\n<p class=\"lead\">",
        "\"},{\"id\":\"",
        ",\"created_at\":\"2001-02-03T04:05:06Z\",\"user\":{\"name\":\"",
        "</a></li>\n    <li class=\"link\"><a href=\"#\" title=\"",
        "\n        \"text\": \"",
        "<span>",
    ]));
    let script = rng.pick(&[
        Corpus::Ascii,
        Corpus::Ascii,
        Corpus::Ascii,
        Corpus::Ascii,
        Corpus::Latin,
        Corpus::Latin,
        Corpus::Cyrillic,
        Corpus::Cjk,
        Corpus::Emoji,
    ]);
    for _ in 0..rng.range(1..=10) {
        script.push_word(rng, text);
        script.push_space(rng, text);
    }
}

/// Distinct messages, one after another in one buffer, placed as by an allocator and a few bytes of
/// framing: not aligned, and at different offsets in a cache line.
pub(crate) struct Pool {
    bytes: Vec<u8>,
    messages: Vec<Range<usize>>,
}

impl Pool {
    /// Messages with lengths drawn from `lengths`, about `total` bytes in all and at least one message.
    pub(crate) fn new(corpus: Corpus, lengths: RangeInclusive<usize>, total: usize) -> Self {
        Self::at(FIRST_MESSAGE, corpus, lengths, total)
    }

    /// The same. The first message is `offset` bytes after a multiple of 64.
    pub(crate) fn at(
        offset: usize,
        corpus: Corpus,
        lengths: RangeInclusive<usize>,
        total: usize,
    ) -> Self {
        let mut rng = Rng::new(7 + *lengths.end() as u64);
        let (mut bytes, mut messages) = (Vec::<u8>::with_capacity(2 * total + 128), Vec::new());
        let start = bytes.as_ptr().align_offset(CACHE_LINE) + offset;
        bytes.resize(start, 0);
        let mut sum = 0;
        while sum < total {
            let text = corpus.text(rng.range(lengths.clone()), messages.len() as u64);
            sum += text.len();
            messages.push(bytes.len()..bytes.len() + text.len());
            bytes.extend_from_slice(text.as_bytes());
            bytes.resize(bytes.len() + rng.range(0..=15), 0);
        }
        Self { bytes, messages }
    }

    pub(crate) fn messages(&self) -> Vec<&[u8]> {
        self.messages.iter().map(|range| &self.bytes[range.clone()]).collect()
    }
}

const CACHE_LINE: usize = 64;

/// The offset of the first message in a cache line: after an allocator's own 16 bytes.
const FIRST_MESSAGE: usize = 16;
