//! The conversions of the vector levels: every pattern of a step, for all characters.
//!
//! A *pattern* is a list of classes: how many bytes of UTF-8 each character has. One run converts one text of a pattern on the
//! machine of expressions. Each query is answered as this text demands. Afterwards the checks show that
//!
//! - every text of the pattern has the same answers, so that it takes the same path;
//! - each unit or byte of the result is an expression that has the right value, whichever characters of these classes
//!   the text has.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use crate::claims::Memory;
use crate::machine::{Answer, Arena, Kind, Lane, MARGIN, Map, Node, Op, Script, with};
use crate::simd::{CONVERSIONS, Conversions, runs_here};
use crate::support::sum_of;

/// An encoding form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    Utf8,
    Utf16,
    Chars,
}

impl Form {
    /// The bytes of `c` in memory, and their number.
    fn bytes(self, c: char) -> ([u8; 4], usize) {
        let mut bytes = [0; 4];
        let len = match self {
            Self::Utf8 => c.encode_utf8(&mut bytes).len(),
            Self::Chars => {
                bytes = u32::from(c).to_le_bytes();
                4
            }
            Self::Utf16 => {
                let mut units = [0; 2];
                let len = c.encode_utf16(&mut units).len();
                bytes[..2].copy_from_slice(&units[0].to_le_bytes());
                bytes[2..].copy_from_slice(&units[1].to_le_bytes());
                2 * len
            }
        };
        (bytes, len)
    }

    /// The number of bytes of a character of `class`.
    fn len(self, class: usize) -> usize {
        match self {
            Self::Utf8 => class,
            Self::Utf16 => {
                if class == 4 {
                    4
                } else {
                    2
                }
            }
            Self::Chars => 4,
        }
    }

    /// The bytes in one item of a slice.
    fn item(self) -> usize {
        match self {
            Self::Utf8 => 1,
            Self::Utf16 => 2,
            Self::Chars => 4,
        }
    }
}

/// The characters of a class: those of `class` bytes in UTF-8.
fn chars_of(class: usize) -> impl Iterator<Item = char> {
    let (least, most) =
        [('\0', '\x7F'), ('\u{80}', '\u{7FF}'), ('\u{800}', '\u{FFFF}'), ('\u{10000}', char::MAX)]
            [class - 1];
    least..=most
}

/// What is converted into what.
#[derive(Clone, Copy)]
struct Direction {
    from: Form,
    to: Form,
}

const DIRECTIONS: [Direction; 4] = [
    Direction { from: Form::Utf8, to: Form::Utf16 },
    Direction { from: Form::Utf8, to: Form::Chars },
    Direction { from: Form::Utf16, to: Form::Utf8 },
    Direction { from: Form::Chars, to: Form::Utf8 },
];

/// Memory for a text, before and after which nothing is loaded.
struct Buffers {
    text: Vec<u32>,
    out: Vec<u32>,
}

const MOST: usize = 1024;

impl Buffers {
    fn new() -> Self {
        Self { text: vec![0; (MOST + 2 * MARGIN) / 4], out: vec![0; 4 * MOST] }
    }

    /// The bytes of the text.
    fn text(&mut self) -> &mut [u8] {
        // SAFETY: integers are bytes.
        let bytes = unsafe { self.text.align_to_mut::<u8>().1 };
        &mut bytes[MARGIN..][..MOST]
    }
}

/// Converts the first `len` bytes of the text. Returns the bytes read and written.
fn convert(
    level: &Conversions,
    direction: Direction,
    buffers: &mut Buffers,
    len: usize,
) -> (usize, usize) {
    let text = std::ptr::from_ref(&buffers.text()[..len]);
    // SAFETY: the text is not changed, and its memory is not that of the result. The memory of the result is initialised, and
    // each value that is written is a value of its type, because vectors write nothing, and others write characters. This
    // machine has the features: `runs_here`.
    unsafe {
        let out = &mut buffers.out[..];
        let (read, written) = match (direction.from, direction.to) {
            (Form::Utf8, Form::Utf16) => {
                (level.decode_utf16)(std::str::from_utf8(&*text).unwrap(), out.align_to_mut().1)
            }
            (Form::Utf8, Form::Chars) => {
                (level.decode_chars)(std::str::from_utf8(&*text).unwrap(), out.align_to_mut().1)
            }
            (Form::Utf16, _) => {
                (level.encode_utf16)((*text).align_to().1, out.align_to_mut().1, None)
            }
            _ => (level.encode_chars)((*text).align_to().1, out.align_to_mut().1),
        };
        (read * direction.from.item(), written * direction.to.item())
    }
}

/// A query and its answer: the lanes whose bit 7 is set.
struct Query {
    kind: Kind,
    lanes: Vec<Lane>,
    set: u64,
}

/// Answers as one text demands.
struct Follow {
    text: Vec<u8>,
    queries: Rc<RefCell<Vec<Query>>>,
    /// The values that are known.
    values: Vec<Option<u8>>,
}

impl Follow {
    fn value(&mut self, arena: &Arena, lane: Lane) -> u8 {
        let number = lane.0 as usize;
        if let Some(Some(value)) = self.values.get(number) {
            return *value;
        }
        let value = match arena.node(lane) {
            Node::Constant(byte) => return byte,
            Node::Input(at, table) => {
                return arena.table_at(table)[usize::from(self.text[usize::from(at)])];
            }
            Node::Map(table, x) => arena.table_at(table)[usize::from(self.value(arena, x))],
            Node::Two(op, x, y) => op.apply(self.value(arena, x), self.value(arena, y)),
        };
        if self.values.len() <= number {
            self.values.resize(2 * number, None);
        }
        self.values[number] = Some(value);
        value
    }
}

impl Script for Follow {
    fn answer(&mut self, arena: &mut Arena, lanes: &[Lane], kind: Kind) -> Answer {
        let bits =
            lanes.iter().enumerate().map(|(i, lane)| u64::from(self.value(arena, *lane) >> 7) << i);
        let set = bits.sum();
        self.queries.borrow_mut().push(Query { kind, lanes: lanes.to_vec(), set });
        match kind {
            Kind::Any if set == 0 => Answer::None,
            Kind::Any => Answer::Some,
            Kind::Mask => Answer::Mask(set),
        }
    }
}

/// A character of a text.
#[derive(Clone, Copy)]
struct Place {
    class: usize,
    /// Its first byte in the text, and in the result.
    from: usize,
    to: usize,
}

/// The bytes of a character in the text, and in the result.
type Char = ([u8; 4], [u8; 4]);

/// What holds for all texts of a pattern.
struct Checker {
    direction: Direction,
    shapes: Memory,
    /// Claims and whether they hold.
    known: HashMap<Vec<u32>, bool>,
    /// The same, by the numbers of lanes.
    known_lanes: Map<[u64; 4], bool>,
    variables: Map<Lane, Rc<Vec<(usize, u32)>>>,
    /// By class, bits for bytes of the text, and a byte of the result: the characters that differ in them.
    distinct: HashMap<(usize, u8, usize), Rc<Vec<Char>>>,
    /// Of each class, the bytes in the text, and in the result.
    chars: [Vec<Char>; 4],
}

/// An expression as a program: each step has the results of those before.
struct Program {
    steps: Vec<Step>,
    results: Vec<usize>,
}

enum Step {
    Constant(u8),
    Input(usize, u32),
    Map(u32, usize),
    Two(Op, usize, usize),
}

impl Program {
    fn new(arena: &Arena, lanes: &[Lane], slot: impl Fn(usize) -> usize) -> Self {
        fn add(
            arena: &Arena,
            lane: Lane,
            slot: &dyn Fn(usize) -> usize,
            steps: &mut Vec<Step>,
            done: &mut HashMap<Lane, usize>,
        ) -> usize {
            if let Some(&at) = done.get(&lane) {
                return at;
            }
            let step = match arena.node(lane) {
                Node::Constant(byte) => Step::Constant(byte),
                Node::Input(at, table) => Step::Input(slot(at.into()), table),
                Node::Map(table, x) => Step::Map(table, add(arena, x, slot, steps, done)),
                Node::Two(op, x, y) => {
                    let x = add(arena, x, slot, steps, done);
                    Step::Two(op, x, add(arena, y, slot, steps, done))
                }
            };
            steps.push(step);
            done.insert(lane, steps.len() - 1);
            steps.len() - 1
        }
        let (mut steps, mut done) = (Vec::new(), HashMap::new());
        let results =
            lanes.iter().map(|lane| add(arena, *lane, &slot, &mut steps, &mut done)).collect();
        Self { steps, results }
    }

    fn run(&self, arena: &Arena, inputs: &[u8], values: &mut Vec<u8>) {
        values.clear();
        for step in &self.steps {
            values.push(match *step {
                Step::Constant(byte) => byte,
                Step::Input(slot, table) => arena.table_at(table)[usize::from(inputs[slot])],
                Step::Map(table, x) => arena.table_at(table)[usize::from(values[x])],
                Step::Two(op, x, y) => op.apply(values[x], values[y]),
            });
        }
    }
}

impl Checker {
    fn new(direction: Direction) -> Self {
        let chars = [1, 2, 3, 4].map(|class| {
            chars_of(class).map(|c| (direction.from.bytes(c).0, direction.to.bytes(c).0)).collect()
        });
        Self {
            direction,
            shapes: Memory::default(),
            known: HashMap::new(),
            known_lanes: Map::default(),
            variables: Map::default(),
            distinct: HashMap::new(),
            chars,
        }
    }

    /// Forgets the numbers of lanes.
    fn begin(&mut self) {
        self.shapes.shape_of.clear();
        self.variables.clear();
        self.known_lanes.clear();
    }

    /// The input bytes in an expression, each with a table that is applied to it.
    fn variables(&mut self, arena: &Arena, lane: Lane) -> Rc<Vec<(usize, u32)>> {
        if let Some(found) = self.variables.get(&lane) {
            return found.clone();
        }
        let mut found = match arena.node(lane) {
            Node::Constant(_) => Vec::new(),
            Node::Input(at, table) => vec![(at.into(), table)],
            Node::Map(_, x) => self.variables(arena, x).to_vec(),
            Node::Two(_, x, y) => {
                [&self.variables(arena, x)[..], &self.variables(arena, y)[..]].concat()
            }
        };
        found.sort_unstable();
        found.dedup();
        let found = Rc::new(found);
        self.variables.insert(lane, found.clone());
        found
    }

    /// The characters of `class` that differ in the bytes `used` of the text, or in byte `result` of the result.
    fn distinct(&mut self, class: usize, used: u8, result: usize) -> Rc<Vec<Char>> {
        let all = &self.chars[class - 1];
        let distinct = self.distinct.entry((class, used, result)).or_insert_with(|| {
            let mut seen = Map::default();
            let is_new = |(bytes, of_result): &&Char| {
                let byte = |i: usize| if used >> i & 1 == 1 { bytes[i] } else { 0 };
                let used = u32::from_le_bytes([0, 1, 2, 3].map(byte));
                let result = of_result.get(result).copied().unwrap_or_default();
                seen.insert([u64::from(used), u64::from(result)], ()).is_none()
            };
            Rc::new(all.iter().filter(is_new).copied().collect())
        });
        distinct.clone()
    }

    /// Whether `holds` for the values of `lanes`, whichever characters the text has. Its other argument is the byte of the
    /// result that `result` selects: a character, and which of its bytes. Of characters that neither the lanes nor this
    /// byte distinguish, one is tried.
    ///
    /// `claim` identifies `holds`.
    fn holds_always(
        &mut self,
        arena: &Arena,
        places: &[Place],
        lanes: &[Lane],
        result: Option<(usize, usize)>,
        claim: u32,
        holds: impl Fn(&[u8], u8) -> bool,
    ) -> bool {
        let reaches = lanes.iter().filter_map(|lane| arena.reach(*lane));
        let reach = reaches.reduce(|(a, b), (c, d)| (a.min(c), b.max(d)));
        let mut key = [0_u64; 4];
        for (i, lane) in lanes.iter().enumerate() {
            key[i / 2 % 2] ^= u64::from(lane.0) << (32 * (i % 2));
        }
        let number =
            result.map_or(0, |(i, byte)| (places[i].from << 3 | places[i].class) << 2 | byte);
        key[2] = (number as u64) << 32 | (lanes.len() as u64) << 8 | u64::from(claim);
        if let Some((first, last)) = reach {
            // The part of the pattern on which the lanes depend.
            let (first, last) = (usize::from(first), usize::from(last));
            let mut i = places.partition_point(|place| place.from <= first) - 1;
            key[3] = 8 | (first - places[i].from) as u64;
            while i < places.len() && places[i].from <= last && key[3] < 1 << 60 {
                key[3] = key[3] << 3 | places[i].class as u64;
                i += 1;
            }
        }
        // Others have no such number.
        let is_short = lanes.len() <= 4 && key[3] < 1 << 60;
        if is_short && let Some(&holds) = self.known_lanes.get(&key) {
            return holds;
        }
        let holds = self.holds_for_all(arena, places, lanes, result, claim, holds);
        if is_short {
            self.known_lanes.insert(key, holds);
        }
        holds
    }

    fn holds_for_all(
        &mut self,
        arena: &Arena,
        places: &[Place],
        lanes: &[Lane],
        result: Option<(usize, usize)>,
        claim: u32,
        holds: impl Fn(&[u8], u8) -> bool,
    ) -> bool {
        let mut uses = Vec::new();
        for lane in lanes {
            uses.extend_from_slice(&self.variables(arena, *lane));
        }
        uses.sort_unstable();
        uses.dedup();
        // The characters on which the lanes depend.
        let char_at = |at: usize| places.partition_point(|place| place.from <= at) - 1;
        let mut chars: Vec<usize> =
            uses.iter().map(|(at, _)| char_at(*at)).chain(result.map(|(i, _)| i)).collect();
        chars.sort_unstable();
        chars.dedup();
        let Some(first) = chars.first().map(|i| places[*i].from) else {
            // All are constants.
            let values: Vec<_> = lanes.iter().map(|lane| arena.value(*lane, 0, &[])).collect();
            return holds(&values, 0);
        };

        let byte_of = |(i, byte): (usize, usize)| 4 * (places[i].from - first) + byte;
        let result_byte = result.map_or(0, |result| 1 + byte_of(result) as u32);
        let mut key = vec![claim, chars.len() as u32, result_byte];
        key.extend(
            chars.iter().flat_map(|i| [places[*i].class as u32, (places[*i].from - first) as u32]),
        );
        for lane in lanes {
            let last = arena.reach(*lane).map_or(0, |(_, last)| usize::from(last) - first);
            key.extend([self.shapes.shape(arena, *lane), last as u32]);
        }
        if let Some(&holds) = self.known.get(&key) {
            return holds;
        }

        let mut choices: Vec<Rc<Vec<Char>>> = Vec::new();
        for &i in &chars {
            let Place { class, from, .. } = places[i];
            let of_char = uses
                .iter()
                .filter(|(at, _)| (from..from + self.direction.from.len(class)).contains(at));
            let tables: Vec<_> = of_char.map(|(at, table)| (at - from, *table)).collect();
            let used = tables.iter().fold(0, |used, (at, _)| used | 1 << at);
            if let Some((whole, byte)) = result
                && whole == i
            {
                choices.push(self.distinct(class, used, byte));
                continue;
            }
            // By the values of the tables.
            assert!(tables.len() <= 16);
            let mut seen = Map::default();
            let is_new = |(bytes, _): &&Char| {
                let values = tables
                    .iter()
                    .map(|(at, table)| arena.table_at(*table)[usize::from(bytes[*at])]);
                let values = values.fold(0, |all, byte| all << 8 | u128::from(byte));
                seen.insert([values as u64, (values >> 64) as u64], ()).is_none()
            };
            let distinct = self.distinct(class, used, 4);
            choices.push(Rc::new(distinct.iter().filter(is_new).copied().collect()));
        }
        let slot = |at: usize| {
            let i = chars.binary_search(&char_at(at)).unwrap();
            4 * i + at - places[chars[i]].from
        };
        let program = Program::new(arena, lanes, slot);
        let target = result.map(|(i, byte)| (chars.binary_search(&i).unwrap(), byte));
        let mut counters = vec![0; chars.len()];
        let mut inputs: Vec<u8> = choices.iter().flat_map(|choices| choices[0].0).collect();
        let (mut values, mut results) = (Vec::new(), Vec::new());
        let all_hold = loop {
            program.run(arena, &inputs, &mut values);
            results.clear();
            results.extend(program.results.iter().map(|at| values[*at]));
            if !holds(&results, target.map_or(0, |(i, byte)| choices[i][counters[i]].1[byte])) {
                break false;
            }
            // The next combination.
            let Some(i) = (0..chars.len()).find(|i| counters[*i] + 1 < choices[*i].len()) else {
                break true;
            };
            for i in 0..i {
                counters[i] = 0;
                inputs[4 * i..4 * i + 4].copy_from_slice(&choices[i][0].0);
            }
            counters[i] += 1;
            inputs[4 * i..4 * i + 4].copy_from_slice(&choices[i][counters[i]].0);
        };
        self.known.insert(key, all_hold);
        all_hold
    }

    /// Whether every text has the answer of `query`.
    fn has_one_answer(&mut self, arena: &Arena, places: &[Place], query: &Query) -> bool {
        let bit = |i: usize| query.set >> i & 1 == 1;
        if query.kind == Kind::Mask || query.set == 0 {
            return query.lanes.iter().enumerate().all(|(i, lane)| {
                let set = bit(i);
                let mut parts = vec![*lane];
                if !set {
                    // Bit 7 of an *or* is clear if that of each part is.
                    parts.clear();
                    alternatives(arena, *lane, &mut parts);
                }
                parts.iter().all(|lane| {
                    self.holds_always(arena, places, &[*lane], None, u32::from(set), |values, _| {
                        (values[0] >= 0x80) == set
                    })
                })
            });
        }
        // For some character, one of the expressions that depend on it alone is not zero.
        let mut parts = Vec::new();
        for lane in &query.lanes {
            match arena.node(*lane) {
                Node::Map(table, x)
                    if arena.table_at(table)[1..].iter().all(|byte| *byte >= 0x80) =>
                {
                    alternatives(arena, x, &mut parts);
                }
                // All bits are set, or none.
                _ => parts.push(*lane),
            }
        }
        let char_at = |at: u16| places.partition_point(|place| place.from <= usize::from(at)) - 1;
        let char_of = |lane: &Lane| {
            let (first, last) =
                arena.reach(*lane).map(|(first, last)| (char_at(first), char_at(last)))?;
            (first == last).then_some(first)
        };
        let mut chars: Vec<_> = parts.iter().filter_map(char_of).collect();
        chars.sort_by_key(|i| (4 - places[*i].class, *i));
        chars.dedup();
        chars.iter().any(|&i| {
            let lanes: Vec<_> =
                parts.iter().copied().filter(|lane| char_of(lane) == Some(i)).collect();
            self.holds_always(arena, places, &lanes, None, 2, |values, _| {
                values.iter().any(|value| *value != 0)
            })
        })
    }
}

/// Collects the expressions of which `lane` is the *or*.
fn alternatives(arena: &Arena, lane: Lane, parts: &mut Vec<Lane>) {
    match arena.node(lane) {
        Node::Two(Op::Or, x, y) => {
            alternatives(arena, x, parts);
            alternatives(arena, y, parts);
        }
        _ => parts.push(lane),
    }
}

/// What a conversion did: the bytes that vectors wrote, and the queries.
struct Trace {
    stored: Vec<(usize, Lane)>,
    queries: Vec<Query>,
}

/// Converts the first `len` bytes of the text. Returns what was done, and the bytes read and written.
fn trace(
    level: &Conversions,
    direction: Direction,
    buffers: &mut Buffers,
    len: usize,
) -> (Trace, (usize, usize)) {
    let queries = Rc::new(RefCell::new(Vec::new()));
    let text = buffers.text()[..len].to_vec();
    let script = Follow { text, queries: queries.clone(), values: Vec::new() };
    with(|machine| {
        machine.stored.clear();
        machine.script = Some(Box::new(script));
    });
    let counts = convert(level, direction, buffers, len);
    let stored = with(|machine| {
        machine.script = None;
        std::mem::take(&mut machine.stored)
    });
    (Trace { stored, queries: queries.take() }, counts)
}

/// Converts texts of `pattern`, followed by ASCII up to `len` bytes, and checks the path, and the result of the
/// characters of the pattern.
fn check(
    level: &Conversions,
    checker: &mut Checker,
    buffers: &mut Buffers,
    pattern: &[usize],
    len: usize,
) {
    let direction = checker.direction;
    let Direction { from, to } = direction;
    let (mut places, mut at) = (Vec::with_capacity(len), (0, 0));
    for class in pattern.iter().copied().chain(std::iter::repeat(1)) {
        if at.0 >= len {
            break;
        }
        places.push(Place { class, from: at.0, to: at.1 });
        at = (at.0 + from.len(class), at.1 + to.len(class));
    }
    // The least characters, and others.
    let traces = [false, true].map(|others| {
        let text = buffers.text();
        for (i, place) in places.iter().enumerate() {
            let all = &checker.chars[place.class - 1];
            let (bytes, _) = all[if others { all.len() - 1 - i % 64 } else { 0 }];
            let len = from.len(place.class);
            text[place.from..][..len].copy_from_slice(&bytes[..len]);
        }
        buffers.out.fill(0);
        let (trace, counts) = trace(level, direction, buffers, at.0);
        assert_eq!(counts, at, "{}: {pattern:?}", level.name);
        // Vectors write nothing to memory.
        let end = places.get(pattern.len()).map_or(at.1, |place| place.to);
        let is_written = buffers.out[..end / 4].iter().any(|word| *word != 0);
        assert!(!is_written, "{}: not by a vector: {pattern:?}", level.name);
        trace
    });
    let [Trace { stored, queries }, other] = traces;
    // Their answers are the same if the checks below hold.
    let same = |(a, b): (&Query, &Query)| a.lanes == b.lanes;
    assert!(
        stored == other.stored && queries.iter().zip(&other.queries).all(same),
        "{}: a byte that no query reads decides: {pattern:?}",
        level.name
    );
    let start = buffers.out.as_ptr().addr();
    let mut out = vec![None; at.1];
    for (address, lane) in stored {
        if let Some(byte) = address.checked_sub(start).and_then(|at| out.get_mut(at)) {
            *byte = Some(lane);
        }
    }
    with(|machine| {
        let arena = &machine.arena;
        for query in &queries {
            assert!(checker.has_one_answer(arena, &places, query), "{}: {pattern:?}", level.name);
        }
        for i in 0..pattern.len().min(places.len()) {
            let Place { class, to: at, .. } = places[i];
            for byte in 0..to.len(class) {
                let Some(lane) = out[at + byte] else {
                    panic!("{}: no vector has byte {at}: {pattern:?}", level.name);
                };
                let is_right = |values: &[u8], expected| values[0] == expected;
                assert!(
                    checker.holds_always(arena, &places, &[lane], Some((i, byte)), 3, is_right),
                    "{}: byte {byte} of character {i} of {pattern:?}",
                    level.name
                );
            }
        }
    });
}

/// The patterns of a step: all of characters of the first `classes` that fill `len` bytes after `start`, the last one perhaps
/// beyond, each followed by `end`.
struct Steps {
    level: usize,
    direction: usize,
    start: Vec<usize>,
    classes: usize,
    len: usize,
    end: Vec<usize>,
}

thread_local! {
    /// What the patterns before have shown, of each direction.
    static CHECKERS: [RefCell<Checker>; 4] =
        DIRECTIONS.map(|direction| RefCell::new(Checker::new(direction)));
}

impl Steps {
    /// Checks the patterns. Returns their number.
    fn check(&self) -> u64 {
        let (level, direction) = (&CONVERSIONS[self.level], DIRECTIONS[self.direction]);
        CHECKERS.with(|checkers| {
            let checker = &mut *checkers[self.direction].borrow_mut();
            checker.begin();
            let mut buffers = Buffers::new();
            with(|machine| machine.begin(buffers.text()));
            // The last steps of a text use the stack: these are after the pattern. Items can be a stride of ASCII.
            let len = match direction.from {
                Form::Utf8 => 6 * level.block,
                from => 5 * level.block / 2 * from.item(),
            };
            let mut checked = 0;
            let start = &mut self.start.clone();
            self.patterns(direction.from, start, self.len, &mut |pattern| {
                check(level, checker, &mut buffers, &[pattern, &self.end].concat(), len);
                checked += 1;
            });
            checked
        })
    }

    /// Calls `visit` with every pattern that has `left` bytes more than `pattern`.
    fn patterns(
        &self,
        from: Form,
        pattern: &mut Vec<usize>,
        left: usize,
        visit: &mut dyn FnMut(&[usize]),
    ) {
        if left == 0 {
            return visit(pattern);
        }
        for class in 1..=self.classes {
            pattern.push(class);
            self.patterns(from, pattern, left.saturating_sub(from.len(class)), visit);
            pattern.pop();
        }
    }
}

/// The patterns of a level, in a direction.
fn steps_of(level: usize, direction: usize) -> Vec<Steps> {
    let from = DIRECTIONS[direction].from;
    let mut all = Vec::new();
    let mut add = |start, classes, len, end| {
        all.push(Steps { level, direction, start, classes, len, end });
    };
    match (from, CONVERSIONS[level].block) {
        (Form::Utf8, 16) => {
            // After eight characters of three bytes, and after sixteen.
            for (ascii, threes) in [(0, 8), (16, 8), (0, 16), (16, 16)] {
                add([vec![1; ascii], vec![3; threes]].concat(), 4, 8, vec![]);
            }
            // A first step, and one after a block that ends inside a character.
            add(vec![], 4, 16, vec![]);
            for (class, inside) in cuts() {
                let start = [vec![1; 16 - inside], vec![class]].concat();
                add(start, 4, 16 + inside - class, vec![]);
            }
        }
        // A group of eight bytes in one of two steps. The characters before and after it are of one class.
        (Form::Utf8, _) => {
            // After many characters of three bytes: eight at a time, to UTF-16 from the first on.
            for threes in [8, 16, 18, 26] {
                add(vec![3; threes], 4, 8, vec![]);
            }
            for at in (0..8).map(|group| 8 * group) {
                for others in 1..=4 {
                    for (class, inside) in cuts().filter(|(_, inside)| *inside <= at) {
                        let before = at - inside;
                        let ascii = vec![1; before % others];
                        let start = [vec![others; before / others], ascii, vec![class]].concat();
                        add(start, 4, 8 + inside - class, vec![others; 64 / others]);
                    }
                }
            }
        }
        (_, 16) => {
            add(vec![], 4, 8 * from.item(), vec![]);
            // Two steps at once, after a step of two-byte characters: every pattern of one of them, with characters of one class in
            // the other. Then one character of any class at each index.
            for others in 1..=2 {
                for at in [0, 8] {
                    let start = [vec![2; 8], vec![others; at]].concat();
                    add(start, 2, 8 * from.item(), vec![others; 8 - at]);
                }
                for at in 0..16 {
                    add([vec![2; 8], vec![others; at]].concat(), 4, from.item(), vec![]);
                }
            }
        }
        // A group of four items in a step, and one of eight if all have one or two bytes.
        (_, _) => {
            for others in 1..=4 {
                let items = from.len(others) / from.item();
                for at in [0, 4, 8, 12] {
                    add(vec![others; at / items], 4, 4 * from.item(), vec![others; 16 / items]);
                }
            }
            for others in 1..=2 {
                for at in [0, 8] {
                    add(vec![others; at], 2, 8 * from.item(), vec![others; 8]);
                }
            }
        }
    }
    all
}

/// Characters at the end of a block: the class, and how many bytes are in the block. Most are cut.
fn cuts() -> impl Iterator<Item = (usize, usize)> {
    (1..=4).flat_map(|class| (1..=class).map(move |inside| (class, inside)))
}

/// Checks the patterns of each level.
fn check_patterns(direction: usize) {
    for (level, conversions) in CONVERSIONS.iter().enumerate() {
        if !runs_here(conversions.name) {
            continue;
        }
        let patterns = sum_of(&steps_of(level, direction), Steps::check);
        let Direction { from, to } = DIRECTIONS[direction];
        println!("{}: {from:?} to {to:?}: {patterns} patterns", conversions.name);
    }
}

#[test]
#[ignore = "a minute in release mode"]
fn every_pattern_of_a_step_becomes_utf16_exactly() {
    check_patterns(0);
}

#[test]
#[ignore = "a minute in release mode"]
fn every_pattern_of_a_step_becomes_chars_exactly() {
    check_patterns(1);
}

#[test]
#[ignore = "a minute in release mode"]
fn every_pattern_of_utf16_becomes_text_exactly() {
    check_patterns(2);
}

#[test]
#[ignore = "a minute in release mode"]
fn every_pattern_of_chars_becomes_text_exactly() {
    check_patterns(3);
}

#[test]
fn short_ascii_becomes_utf16_exactly() {
    let mut checker = Checker::new(DIRECTIONS[0]);
    for level in CONVERSIONS.iter().filter(|level| runs_here(level.name)) {
        for len in level.block..=4 * level.block {
            let mut buffers = Buffers::new();
            checker.begin();
            with(|machine| machine.begin(buffers.text()));
            check(level, &mut checker, &mut buffers, &vec![1; len], len);
        }
    }
}
