//! What follows from marks that are clear, for all values of four adjacent bytes?

use std::collections::HashSet;

use crate::automaton::is_never;
use crate::grammar::{class, is_complete, is_fine};
use crate::machine::{Arena, Lane, Map, Node, Op};

/// A set of bytes.
pub type Bytes = [u64; 4];

pub const ALL: Bytes = [u64::MAX; 4];

pub fn set_of(is_in: impl Fn(u8) -> bool) -> Bytes {
    let mut set = [0; 4];
    for byte in (0..=0xFF).filter(|byte| is_in(*byte)) {
        set[usize::from(byte / 64)] |= 1 << (byte % 64);
    }
    set
}

pub fn contains(set: &Bytes, byte: u8) -> bool {
    set[usize::from(byte / 64)] >> (byte % 64) & 1 == 1
}

pub fn meet(a: Bytes, b: Bytes) -> Bytes {
    std::array::from_fn(|i| a[i] & b[i])
}

pub fn without(a: Bytes, b: Bytes) -> Bytes {
    std::array::from_fn(|i| a[i] & !b[i])
}

/// What can be concluded from a lane whose bit 7 is clear.
#[derive(Clone, Copy)]
pub enum Split {
    /// Nothing: it is constant. Contains bit 7.
    Constant(bool),
    /// Bit 7 of both is clear.
    Both(Lane, Lane),
    /// Bit 7 of this one is clear.
    Same(Lane),
    /// The function of one input byte.
    Input(usize, u32),
    /// An expression with several variables.
    Mark,
}

/// A set of lanes.
#[derive(Default)]
pub struct Lanes {
    /// The number of the set in which a lane is.
    pub sets: Vec<u32>,
    pub set: u32,
}

impl Lanes {
    pub fn clear(&mut self) {
        self.set += 1;
    }

    /// Returns whether it is new.
    pub fn insert(&mut self, lane: Lane) -> bool {
        let at = lane.0 as usize;
        if self.sets.len() <= at {
            self.sets.resize(at + 1000, 0);
        }
        std::mem::replace(&mut self.sets[at], self.set) != self.set
    }

    pub fn contains(&self, lane: Lane) -> bool {
        self.set > 0 && self.sets.get(lane.0 as usize) == Some(&self.set)
    }
}

/// What is remembered from path to path.
#[derive(Default)]
pub struct Memory {
    /// The bytes for which a table has bit 7 set.
    high: Map<u32, Bytes>,
    /// The numbers of expressions relative to their last variable.
    pub shapes: Map<Shape, u32>,
    pub shape_of: Map<Lane, u32>,
    pub sets: Map<Bytes, u32>,
    /// Claims and whether they hold.
    pub claims: Map<(Claim, [u32; 4], Vec<u32>), bool>,
    pub rising: Map<u32, (bool, bool, bool)>,
    pub splits: Vec<Option<Split>>,
    pub seen: Lanes,
}

#[derive(PartialEq, Eq, Hash)]
pub enum Shape {
    Constant(u8),
    Input(u32),
    Map(u32, u32),
    Two(Op, u32, u32, i32, i32),
}

/// What has to follow for four bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Claim {
    /// The last byte shows no error.
    Fine,
    /// No sequence continues after the last byte.
    Complete,
    /// If the mark (a shape) is set, then the last byte shows an error.
    Exact(u32),
    /// The mark is not set. Its last byte is this far before the last byte.
    Clear(u32, u32),
}

/// Whether `claim` holds for all `bytes` for which bit 7 of all `clear` is clear. `from` is the index of the
/// first byte.
///
/// Bytes that no part of an expression distinguishes are tried once.
pub fn follows(
    arena: &Arena,
    claim: Claim,
    bytes: [Bytes; 4],
    clear: &[Lane],
    mark: Option<Lane>,
    from: isize,
) -> bool {
    let mut uses: [Vec<(u32, bool)>; 4] = Default::default();
    for lane in clear.iter().chain(&mark) {
        collect_uses(arena, *lane, true, from, &mut uses);
    }
    let choices: [Vec<u8>; 4] = std::array::from_fn(|i| {
        let mut seen = HashSet::new();
        let is_new = |byte: &u8| {
            let mut signature = vec![claimed_class(i, *byte)];
            signature.extend(uses[i].iter().map(|(table, only_high)| {
                let value = arena.table_at(*table)[usize::from(*byte)];
                if *only_high { value >> 7 } else { value }
            }));
            contains(&bytes[i], *byte) && seen.insert(signature)
        };
        (0..=0xFF).filter(is_new).collect()
    });
    let is_clear = |lane: &Lane, window: &[u8; 4]| arena.value(*lane, from, window) & 0x80 == 0;
    for &a in &choices[0] {
        for &b in &choices[1] {
            for &c in &choices[2] {
                for &d in &choices[3] {
                    let window = [a, b, c, d];
                    let claimed = match claim {
                        Claim::Fine => is_fine(window),
                        Claim::Complete => is_complete([b, c, d]),
                        Claim::Exact(_) => {
                            !is_fine(window) || is_never(d) || is_clear(&mark.unwrap(), &window)
                        }
                        Claim::Clear(..) => is_clear(&mark.unwrap(), &window),
                    };
                    if !claimed && clear.iter().all(|lane| is_clear(lane, &window)) {
                        return false;
                    }
                }
            }
        }
    }
    true
}

/// The class of a byte of four for the claims: the last byte is the fourth.
pub fn claimed_class(i: usize, byte: u8) -> u8 {
    match i {
        0 => u8::from(byte >= 0xF0),
        1 => u8::from(byte >= 0xE0) + u8::from(byte >= 0xF0),
        _ => class(byte),
    }
}

/// Collects the functions of single bytes in an expression, and whether only bit 7 of them matters.
pub fn collect_uses(
    arena: &Arena,
    lane: Lane,
    only_high: bool,
    from: isize,
    uses: &mut [Vec<(u32, bool)>; 4],
) {
    match arena.node(lane) {
        Node::Constant(_) => {}
        Node::Input(at, table) => {
            let uses = &mut uses[(at as isize - from) as usize];
            if !uses.contains(&(table, only_high)) {
                uses.push((table, only_high));
            }
        }
        Node::Map(_, x) => collect_uses(arena, x, false, from, uses),
        Node::Two(op, x, y) => {
            let bitwise = matches!(op, Op::Or | Op::And | Op::Xor | Op::Max | Op::Min);
            collect_uses(arena, x, only_high && bitwise, from, uses);
            collect_uses(arena, y, only_high && bitwise, from, uses);
        }
    }
}

impl Memory {
    pub fn high(&mut self, arena: &Arena, table: u32) -> Bytes {
        let table_of = |byte: u8| arena.table_at(table)[usize::from(byte)] >= 0x80;
        *self.high.entry(table).or_insert_with(|| set_of(table_of))
    }

    pub fn set_number(&mut self, set: Bytes) -> u32 {
        let next = self.sets.len() as u32;
        *self.sets.entry(set).or_insert(next)
    }

    pub fn shape(&mut self, arena: &Arena, lane: Lane) -> u32 {
        if let Some(&shape) = self.shape_of.get(&lane) {
            return shape;
        }
        let last = |lane: Lane| arena.reach(lane).map_or(0, |(_, last)| i32::from(last));
        let shape = match arena.node(lane) {
            Node::Constant(byte) => Shape::Constant(byte),
            Node::Input(_, table) => Shape::Input(table),
            Node::Map(table, x) => Shape::Map(table, self.shape(arena, x)),
            Node::Two(op, x, y) => {
                let (below_x, below_y) = (last(lane) - last(x), last(lane) - last(y));
                Shape::Two(op, self.shape(arena, x), self.shape(arena, y), below_x, below_y)
            }
        };
        let next = self.shapes.len() as u32;
        let shape = *self.shapes.entry(shape).or_insert(next);
        self.shape_of.insert(lane, shape);
        shape
    }

    /// Whether bit 7 of a table is that of its argument; whether it stays set for larger arguments; and for
    /// smaller ones.
    pub fn rising(&mut self, arena: &Arena, table: u32) -> (bool, bool, bool) {
        *self.rising.entry(table).or_insert_with(|| {
            let bits = arena.table_at(table).map(|byte| byte >= 0x80);
            let same = (0..=0xFF).all(|byte: u8| bits[usize::from(byte)] == (byte >= 0x80));
            (same, bits.is_sorted(), bits.iter().rev().is_sorted())
        })
    }

    pub fn split(&mut self, arena: &mut Arena, lane: Lane) -> Split {
        let at = lane.0 as usize;
        if let Some(Some(split)) = self.splits.get(at) {
            return *split;
        }
        let split = self.split_anew(arena, lane);
        if self.splits.len() <= at {
            self.splits.resize(at + 1000, None);
        }
        self.splits[at] = Some(split);
        split
    }

    pub fn split_anew(&mut self, arena: &mut Arena, lane: Lane) -> Split {
        match arena.node(lane) {
            Node::Constant(byte) => Split::Constant(byte >= 0x80),
            Node::Input(at, table) => Split::Input(at.into(), table),
            // Bit 7 of a maximum is that of one or the other.
            Node::Two(Op::Or | Op::Max, a, b) => Split::Both(a, b),
            Node::Two(..) => Split::Mark,
            Node::Map(table, x) => {
                let (same, rising, falling) = self.rising(arena, table);
                match arena.node(x) {
                    _ if same => Split::Same(x),
                    Node::Two(op, a, b) if op == Op::Max && rising || op == Op::Min && falling => {
                        Split::Both(arena.map(table, a), arena.map(table, b))
                    }
                    _ => Split::Mark,
                }
            }
        }
    }
}
