//! A machine whose bytes are expressions: what does a level compute, and on which input bytes does it depend?
//!
//! A lane of a vector is an expression over the bytes of one input of fixed length and alignment. Loads from the
//! input yield variables; loads from other memory (tables) yield constants. Expressions are stored once, so
//! two lanes are equal if and only if their numbers are.
//!
//! Where the level asks whether bit 7 of any lane is set, a [`Script`] answers, and records
//! the answer. All scripts together are all paths of the level for all inputs of this length and alignment.

use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A function of one byte.
pub type Table = [u8; 256];

/// The number of an expression.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Lane(pub u32);

/// An operation on two bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    Or,
    And,
    Xor,
    Add,
    Sub,
    /// The saturating sum of signed bytes.
    AddSigned,
    /// The saturating difference of unsigned bytes.
    SubUnsigned,
    /// The rounded average.
    Average,
    Max,
    Min,
    MinSigned,
    /// 1 if the sum of two bytes exceeds a byte, else 0.
    Carry,
}

impl Op {
    pub fn apply(self, a: u8, b: u8) -> u8 {
        match self {
            Self::Or => a | b,
            Self::And => a & b,
            Self::Xor => a ^ b,
            Self::Add => a.wrapping_add(b),
            Self::Sub => a.wrapping_sub(b),
            Self::AddSigned => (a as i8).saturating_add(b as i8) as u8,
            Self::SubUnsigned => a.saturating_sub(b),
            Self::Average => (u16::from(a) + u16::from(b)).div_ceil(2) as u8,
            Self::Max => a.max(b),
            Self::Min => a.min(b),
            Self::MinSigned => (a as i8).min(b as i8) as u8,
            Self::Carry => u8::from(a.checked_add(b).is_none()),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Node {
    Constant(u8),
    /// A function of the input byte at an index.
    Input(u16, u32),
    /// A function of an expression with several variables.
    Map(u32, Lane),
    /// Both operands have variables, and not one and the same.
    Two(Op, Lane, Lane),
}

/// A fast hash for small keys.
#[derive(Default)]
pub struct Hash(u64);

impl Hasher for Hash {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 29
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, n: u8) {
        self.write_u64(n.into());
    }

    fn write_u16(&mut self, n: u16) {
        self.write_u64(n.into());
    }

    fn write_u32(&mut self, n: u32) {
        self.write_u64(n.into());
    }

    fn write_usize(&mut self, n: usize) {
        self.write_u64(n as u64);
    }

    fn write_isize(&mut self, n: isize) {
        self.write_u64(n as u64);
    }

    fn write_u64(&mut self, n: u64) {
        self.0 = (self.0.rotate_left(5) ^ n).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

pub type Map<K, V> = HashMap<K, V, BuildHasherDefault<Hash>>;

/// All expressions.
#[derive(Default)]
pub struct Arena {
    nodes: Vec<Node>,
    /// The first and last variable of each node.
    reach: Vec<Option<(u16, u16)>>,
    /// The bits of each node that can be set.
    bits: Vec<u8>,
    numbers: Map<Node, Lane>,
    tables: Vec<Table>,
    table_numbers: Map<Table, u32>,
    /// Tables that are needed often: those of functions, by their address, and those of shifts.
    functions: Map<usize, u32>,
    shifts: Map<isize, u32>,
    /// Results of operations on tables.
    both: Map<(Op, u32, u32), u32>,
    with_constant: Map<(Op, u32, u8, bool), u32>,
    composed: Map<(u32, u32), u32>,
    /// Results of operations on lanes.
    done: Map<(Op, Lane, Lane), Lane>,
}

/// The number of the identity among the tables.
const IDENTITY: u32 = 0;

impl Arena {
    fn new() -> Self {
        let mut arena = Self::default();
        arena.table(std::array::from_fn(|byte| byte as u8));
        arena
    }

    /// Forgets all expressions, but keeps the numbers of tables.
    fn clear(&mut self) {
        self.nodes.clear();
        self.reach.clear();
        self.bits.clear();
        self.numbers.clear();
        self.done.clear();
    }

    pub fn node(&self, lane: Lane) -> Node {
        self.nodes[lane.0 as usize]
    }

    /// The indexes of the first and the last input byte on which `lane` depends.
    pub fn reach(&self, lane: Lane) -> Option<(u16, u16)> {
        self.reach[lane.0 as usize]
    }

    /// The bits of `lane` that can be set.
    pub fn bits(&self, lane: Lane) -> u8 {
        self.bits[lane.0 as usize]
    }

    pub fn table_at(&self, number: u32) -> &Table {
        &self.tables[number as usize]
    }

    pub fn table(&mut self, table: Table) -> u32 {
        if let Some(&number) = self.table_numbers.get(&table) {
            return number;
        }
        let number = self.tables.len() as u32;
        self.tables.push(table);
        self.table_numbers.insert(table, number);
        number
    }

    /// `f` of `lane`.
    pub fn map_by(&mut self, f: fn(u8) -> u8, lane: Lane) -> Lane {
        let table = match self.functions.get(&(f as usize)) {
            Some(&table) => table,
            None => {
                let table = self.table(std::array::from_fn(|byte| f(byte as u8)));
                self.functions.insert(f as usize, table);
                table
            }
        };
        self.map(table, lane)
    }

    /// The table of a shift up by `by` bits, or down if it is negative.
    pub fn shift(&mut self, by: i32) -> u32 {
        if let Some(&table) = self.shifts.get(&(by as isize)) {
            return table;
        }
        let table = self.table(std::array::from_fn(|byte| match by {
            0.. => (byte << by) as u8,
            _ => (byte >> -by) as u8,
        }));
        self.shifts.insert(by as isize, table);
        table
    }

    fn number(&mut self, node: Node) -> Lane {
        if let Some(&lane) = self.numbers.get(&node) {
            return lane;
        }
        let reach = match node {
            Node::Constant(_) => None,
            Node::Input(at, _) => Some((at, at)),
            Node::Map(_, x) => self.reach(x),
            Node::Two(_, x, y) => match (self.reach(x), self.reach(y)) {
                (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
                (one, other) => one.or(other),
            },
        };
        let all = |values: &mut dyn Iterator<Item = u8>| values.fold(0, |all, byte| all | byte);
        let bits = match node {
            Node::Constant(byte) => byte,
            Node::Input(_, table) => all(&mut self.tables[table as usize].iter().copied()),
            Node::Map(table, x) => {
                let possible = (0..=0xFF).filter(|byte| byte & !self.bits(x) == 0);
                all(&mut possible.map(|byte: u8| self.tables[table as usize][usize::from(byte)]))
            }
            Node::Two(Op::Or | Op::Xor, x, y) => self.bits(x) | self.bits(y),
            Node::Two(Op::And, x, y) => self.bits(x) & self.bits(y),
            Node::Two(Op::Carry, ..) => 1,
            Node::Two(..) => 0xFF,
        };
        let lane = Lane(self.nodes.len() as u32);
        self.nodes.push(node);
        self.reach.push(reach);
        self.bits.push(bits);
        self.numbers.insert(node, lane);
        lane
    }

    pub fn constant(&mut self, byte: u8) -> Lane {
        self.number(Node::Constant(byte))
    }

    pub fn input(&mut self, at: usize) -> Lane {
        self.number(Node::Input(at as u16, IDENTITY))
    }

    fn input_by(&mut self, at: u16, table: u32) -> Lane {
        let bytes = self.tables[table as usize];
        if bytes.iter().all(|byte| *byte == bytes[0]) {
            return self.constant(bytes[0]);
        }
        self.number(Node::Input(at, table))
    }

    /// `table` of `lane`.
    pub fn map(&mut self, table: u32, lane: Lane) -> Lane {
        if table == IDENTITY {
            return lane;
        }
        match self.node(lane) {
            Node::Constant(byte) => {
                let byte = self.tables[table as usize][usize::from(byte)];
                self.constant(byte)
            }
            Node::Input(at, inner) => {
                let table = self.compose(table, inner);
                self.input_by(at, table)
            }
            Node::Map(inner, lane) => {
                let table = self.compose(table, inner);
                self.map(table, lane)
            }
            Node::Two(..) => self.number(Node::Map(table, lane)),
        }
    }

    fn compose(&mut self, outer: u32, inner: u32) -> u32 {
        if let Some(&table) = self.composed.get(&(outer, inner)) {
            return table;
        }
        let [f, g] = [outer, inner].map(|table| self.tables[table as usize]);
        let table = self.table(std::array::from_fn(|byte| f[usize::from(g[byte])]));
        self.composed.insert((outer, inner), table);
        table
    }

    pub fn apply(&mut self, op: Op, x: Lane, y: Lane) -> Lane {
        if let Some(&lane) = self.done.get(&(op, x, y)) {
            return lane;
        }
        let lane = match (self.node(x), self.node(y)) {
            (Node::Constant(a), Node::Constant(b)) => self.constant(op.apply(a, b)),
            (_, Node::Constant(b)) if op == Op::And && self.bits(x) & b == 0 => self.constant(0),
            (_, Node::Constant(b)) if op == Op::And && self.bits(x) & !b == 0 => x,
            _ if op == Op::Add && self.bits(x) & self.bits(y) == 0 => self.apply(Op::Or, x, y),
            _ if op == Op::Carry && self.bits(x).checked_add(self.bits(y)).is_some() => {
                self.constant(0)
            }
            // Leaves no part of which all selected bits are clear: an expression depends on no byte in vain.
            (Node::Two(Op::Or, p, q), Node::Constant(_)) if op == Op::And => {
                let (p, q) = (self.apply(op, p, y), self.apply(op, q, y));
                self.apply(Op::Or, p, q)
            }
            (Node::Constant(_), Node::Two(Op::Or, ..)) if op == Op::And => self.apply(op, y, x),
            (_, Node::Constant(b)) => {
                let table = self.table_with(op, b, false);
                self.map(table, x)
            }
            (Node::Constant(a), _) => {
                let table = self.table_with(op, a, true);
                self.map(table, y)
            }
            (Node::Input(i, f), Node::Input(j, g)) if i == j => {
                let table = match self.both.get(&(op, f, g)) {
                    Some(&table) => table,
                    None => {
                        let (a, b) = (self.tables[f as usize], self.tables[g as usize]);
                        let table = self.table(std::array::from_fn(|i| op.apply(a[i], b[i])));
                        self.both.insert((op, f, g), table);
                        table
                    }
                };
                self.input_by(i, table)
            }
            _ if x == y && matches!(op, Op::Or | Op::And | Op::Max | Op::Min | Op::Average) => x,
            // These are commutative.
            _ if y < x && !matches!(op, Op::Sub | Op::SubUnsigned) => {
                self.number(Node::Two(op, y, x))
            }
            _ => self.number(Node::Two(op, x, y)),
        };
        self.done.insert((op, x, y), lane);
        lane
    }

    fn table_with(&mut self, op: Op, constant: u8, constant_first: bool) -> u32 {
        let key = (op, IDENTITY, constant, constant_first);
        if let Some(&table) = self.with_constant.get(&key) {
            return table;
        }
        let table = self.table(std::array::from_fn(|byte| match constant_first {
            true => op.apply(constant, byte as u8),
            false => op.apply(byte as u8, constant),
        }));
        self.with_constant.insert(key, table);
        table
    }

    /// The value of `lane`, if `bytes[i]` is the input byte at index `from + i`.
    pub fn value(&self, lane: Lane, from: isize, bytes: &[u8]) -> u8 {
        match self.node(lane) {
            Node::Constant(byte) => byte,
            Node::Input(at, table) => {
                let byte = bytes[(at as isize - from) as usize];
                self.tables[table as usize][usize::from(byte)]
            }
            Node::Map(table, x) => {
                self.tables[table as usize][usize::from(self.value(x, from, bytes))]
            }
            Node::Two(op, x, y) => op.apply(self.value(x, from, bytes), self.value(y, from, bytes)),
        }
    }
}

/// An answer to a query.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// Bit 7 of no lane is set.
    None,
    /// Bit 7 of this lane is set, and of no lane before it.
    First(usize),
    /// Bit 7 of some lane is set; which one is not distinguished.
    Some,
    /// The same; this one stands for all.
    Representative(usize),
    /// Bit 7 of these lanes is set, and of no others.
    Mask(u64),
}

/// Answers queries.
pub trait Script {
    /// Chooses one of the possible answers.
    fn answer(&mut self, arena: &mut Arena, lanes: &[Lane], kind: Kind) -> Answer;
}

/// Which answers a query has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Whether any bit is set.
    Any,
    /// A mask with a bit per lane. A level can use the first set bit.
    Mask,
}

/// The input, and what has been done with it.
pub struct Machine {
    pub arena: Arena,
    /// The address of the input, and its length.
    input: (usize, usize),
    pub script: Option<Box<dyn Script>>,
    /// The bytes written: address and lane.
    pub stored: Vec<(usize, Lane)>,
    /// What the next vectors made from two words contain, in place of their bytes.
    pub words: Option<Vec<Lane>>,
    /// What the next vectors made from one word repeat, in place of its bytes.
    pub word: Option<[Lane; 4]>,
    /// The bytes of the last vector made from two words.
    pub seen_words: Option<[u8; 16]>,
}

/// No load may be closer than this to the input without being in it.
pub const MARGIN: usize = 1024;

thread_local! {
    static MACHINE: RefCell<Machine> = RefCell::new(Machine {
        arena: Arena::new(),
        input: (0, 0),
        script: None,
        stored: Vec::new(),
        words: None,
        word: None,
        seen_words: None,
    });
}

/// Calls `use_it` with the machine of this thread.
pub fn with<R>(use_it: impl FnOnce(&mut Machine) -> R) -> R {
    MACHINE.with(|machine| use_it(&mut machine.borrow_mut()))
}

impl Machine {
    /// Forgets all expressions. Loads from `input` yield variables from now on.
    pub fn begin(&mut self, input: &[u8]) {
        self.arena.clear();
        self.stored.clear();
        self.words = None;
        self.word = None;
        self.input = (input.as_ptr().addr(), input.len());
    }

    /// The lane of the byte at `address`.
    fn load(&mut self, at: *const u8) -> Lane {
        let (start, len) = self.input;
        let address = at.addr();
        if (start..start + len).contains(&address) {
            return self.arena.input(address - start);
        }
        assert!(
            !(start - MARGIN..start + len + MARGIN).contains(&address),
            "a load at index {} of an input of {len} bytes",
            address as isize - start as isize
        );
        // SAFETY: the level loads from its input, which is excluded, and from its static tables.
        self.arena.constant(unsafe { at.read() })
    }
}

/// The lanes of a vector of `N` bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Vector<const N: usize>(pub [Lane; N]);

impl<const N: usize> Vector<N> {
    pub fn load(at: *const u8, mask: u64) -> Self {
        with(|machine| {
            Self(std::array::from_fn(|i| match mask >> i & 1 {
                0 => machine.arena.constant(0),
                _ => machine.load(at.wrapping_add(i)),
            }))
        })
    }

    pub fn store(self, at: *mut u8) {
        with(|machine| {
            machine
                .stored
                .extend(self.0.iter().enumerate().map(|(i, lane)| (at.addr() + i, *lane)));
        });
    }

    pub fn constants(bytes: [u8; N]) -> Self {
        with(|machine| Self(bytes.map(|byte| machine.arena.constant(byte))))
    }

    pub fn apply(self, op: Op, other: Self) -> Self {
        with(|machine| {
            Self(std::array::from_fn(|i| machine.arena.apply(op, self.0[i], other.0[i])))
        })
    }

    pub fn map(self, f: impl Fn(u8) -> u8) -> Self {
        with(|machine| {
            let table = machine.arena.table(std::array::from_fn(|byte| f(byte as u8)));
            Self(self.0.map(|lane| machine.arena.map(table, lane)))
        })
    }

    pub fn bytes(self) -> [u8; N] {
        with(|machine| self.0.map(|lane| constant_of(&machine.arena, lane)))
    }

    /// The lanes of `table` that `self` selects by `index`. Lanes that depend on the input select constants.
    pub fn select(self, table: &[Lane], index: impl Fn(u8) -> Option<usize>) -> Self {
        with(|machine| {
            let arena = &mut machine.arena;
            let zero = arena.constant(0);
            let mut function = None;
            Self(self.0.map(|lane| {
                if let Node::Constant(byte) = arena.node(lane) {
                    return index(byte).map_or(zero, |i| table[i]);
                }
                let function = *function.get_or_insert_with(|| {
                    let bytes = std::array::from_fn(|byte| {
                        index(byte as u8).map_or(0, |i| constant_of(arena, table[i]))
                    });
                    arena.table(bytes)
                });
                arena.map(function, lane)
            }))
        })
    }

    /// Asks which lanes have bit 7 set. Returns a mask: 0, or one whose first bit is the answer. For
    /// [`Kind::Any`], all bits.
    pub fn ask(self, kind: Kind) -> u64 {
        let mut script = with(|machine| machine.script.take()).expect("there is a script");
        let answer = with(|machine| script.answer(&mut machine.arena, &self.0, kind));
        with(|machine| machine.script = Some(script));
        match answer {
            Answer::None => 0,
            Answer::First(lane) | Answer::Representative(lane) => 1 << lane,
            Answer::Some => u64::MAX >> (64 - N),
            Answer::Mask(mask) => mask,
        }
    }
}

fn constant_of(arena: &Arena, lane: Lane) -> u8 {
    match arena.node(lane) {
        Node::Constant(byte) => byte,
        node => panic!("{node:?} depends on the input"),
    }
}

/// A vector of 16 bytes from two words.
pub fn from_words(low: u64, high: u64) -> Vector<16> {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&low.to_le_bytes());
    bytes[8..].copy_from_slice(&high.to_le_bytes());
    with(|machine| {
        machine.seen_words = Some(bytes);
        match &machine.words {
            Some(lanes) => Vector(lanes[..].try_into().unwrap()),
            None => Vector(bytes.map(|byte| machine.arena.constant(byte))),
        }
    })
}
