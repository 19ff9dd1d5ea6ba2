//! All paths of a level: which inputs take it, and what do they have in common?
//!
//! A path is a list of answers. Bit 7 of a lane that is clear bounds the input bytes that the lane depends on. At
//! the end of a path, these bounds must imply what the level returned.

use std::cell::{Cell, RefCell};
use std::panic;
use std::rc::Rc;
use std::sync::Once;

use crate::claims::{ALL, Bytes, Claim, Lanes, Memory, Split, follows, meet, set_of, without};
use crate::machine::{Answer, Arena, Kind, Lane, Node, Script, with};

/// One path.
#[derive(Default)]
struct Path {
    /// The answers to give, by their index, and how many there were.
    plan: Vec<(usize, usize)>,
    asked: usize,
    /// What each input byte can be.
    bytes: Vec<Bytes>,
    /// Lanes whose bit 7 is clear.
    clear: Lanes,
    /// Those with several variables, by the last one.
    marks: Vec<Vec<Lane>>,
    /// For each query whose answer is not `None`, lanes of which bit 7 of one at least is set.
    set: Vec<Vec<Lane>>,
    /// Chooses the answers after the plan, if they are random.
    seed: Option<u64>,
}

/// What was found out.
#[derive(Default, Debug, Clone, Copy)]
pub struct Counts {
    pub paths: u64,
    pub impossible: u64,
    pub queries: u64,
}

/// Which lanes are the first set lane, where a level uses its index. The code is the same for each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Firsts {
    Every,
    /// The first ones and the last.
    Edges,
    /// One, another for each query.
    One,
}

/// Explores the paths of one level.
pub struct Explorer {
    path: Rc<RefCell<Path>>,
    memory: Rc<RefCell<Memory>>,
    /// Which lane stands for all where they are not distinguished: the first, or the last.
    last_lane: bool,
    /// Which lanes are the first set lane where lanes are distinguished.
    pub firsts: Firsts,
    /// The number of bytes at the start of the input that are known to be fine.
    pub held: usize,
    pub counts: Counts,
}

/// What a level returned, for memory in which every byte is C3, whatever the answers were.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// All is well-formed.
    All,
    /// All but an incomplete sequence at the end is well-formed; the last bytes decide.
    AllButTail,
    /// No byte before this one shows an error; the bytes near it decide.
    Near(usize),
}

impl Explorer {
    pub fn new(last_lane: bool) -> Self {
        Self {
            path: Rc::default(),
            memory: Rc::default(),
            last_lane,
            firsts: Firsts::Every,
            held: 0,
            counts: Counts::default(),
        }
    }

    /// Runs all paths of `run` for `input`, or `random` paths. It returns what the level returned.
    pub fn explore(&mut self, input: &[u8], random: Option<u64>, run: &dyn Fn() -> Outcome) {
        {
            let memory = &mut *self.memory.borrow_mut();
            memory.shape_of.clear();
            memory.splits.clear();
        }
        *self.path.borrow_mut() = Path::default();
        let before = self.counts.paths;
        let mut seed = input.len() as u64 | 1;
        loop {
            self.path.borrow_mut().restart(input.len(), self.held);
            if random.is_some() {
                seed = seed.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
                self.path.borrow_mut().seed = Some(seed);
            }
            let script = Answers {
                path: self.path.clone(),
                memory: self.memory.clone(),
                last_lane: self.last_lane,
                firsts: self.firsts,
            };
            with(|machine| {
                machine.stored.clear();
                machine.script = Some(Box::new(script));
            });
            let outcome = quietly(run);
            let mut path = self.path.borrow_mut();
            let mut memory = self.memory.borrow_mut();
            with(|machine| {
                machine.script = None;
                let arena = &mut machine.arena;
                self.counts.paths += 1;
                self.counts.queries += path.asked as u64;
                if path.is_refuted(arena, &mut memory) {
                    self.counts.impossible += 1;
                    return;
                }
                let problem = match outcome {
                    Ok(outcome) => path.problem(arena, &mut memory, self.held, outcome),
                    Err(payload) => Some(match payload.downcast::<String>() {
                        Ok(message) => *message,
                        Err(_) => "it panics".to_owned(),
                    }),
                };
                let Some(problem) = problem else { return };
                if path.is_refuted_by_meaning(arena, &mut memory) {
                    self.counts.impossible += 1;
                    return;
                }
                panic!("{} bytes, answers {:?}: {problem}", input.len(), path.plan);
            });
            match random {
                Some(count) if self.counts.paths - before >= count => return,
                Some(_) => path.plan.clear(),
                None if !path.advance() => return,
                None => {}
            }
        }
    }
}

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Runs a level, which may panic on a path that no input takes, without a message.
fn quietly(run: &dyn Fn() -> Outcome) -> std::thread::Result<Outcome> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let default = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                default(info);
            }
        }));
    });
    QUIET.set(true);
    let outcome = panic::catch_unwind(panic::AssertUnwindSafe(run));
    QUIET.set(false);
    outcome
}

impl Path {
    /// Begins a path. The first `held` bytes are in well-formed text.
    fn restart(&mut self, len: usize, held: usize) {
        let plan = std::mem::take(&mut self.plan);
        let mut clear = std::mem::take(&mut self.clear);
        clear.clear();
        let (mut bytes, marks) = (vec![ALL; len], vec![Vec::new(); len]);
        bytes[..held].fill(set_of(|byte| !matches!(byte, 0xC0 | 0xC1 | 0xF5..)));
        *self = Self { plan, bytes, marks, clear, ..Self::default() };
    }

    /// Moves to the next path. Returns whether there is one.
    fn advance(&mut self) -> bool {
        assert_eq!(self.asked, self.plan.len(), "the same answers lead to the same queries");
        while let Some((at, count)) = self.plan.pop() {
            if at + 1 < count {
                self.plan.push((at + 1, count));
                return true;
            }
        }
        false
    }

    /// Notes that bit 7 of `lane` is clear.
    fn note_clear(&mut self, arena: &mut Arena, memory: &mut Memory, lane: Lane) {
        let mut stack = vec![lane];
        while let Some(lane) = stack.pop() {
            if !self.clear.insert(lane) {
                continue;
            }
            match memory.split(arena, lane) {
                Split::Constant(bit) => assert!(!bit, "a constant"),
                Split::Both(a, b) => stack.extend([a, b]),
                Split::Same(a) => stack.push(a),
                Split::Input(at, table) => {
                    self.bytes[at] = without(self.bytes[at], memory.high(arena, table));
                }
                Split::Mark => {
                    let (first, last) = arena.reach(lane).unwrap();
                    assert!(last - first <= 3, "a mark depends on bytes {first} to {last}");
                    self.marks[usize::from(last)].push(lane);
                }
            }
        }
    }

    /// The parts of `lanes` of which bit 7 can be set.
    fn parts(&self, arena: &mut Arena, memory: &mut Memory, lanes: &[Lane]) -> Vec<Lane> {
        memory.seen.clear();
        let mut stack = lanes.to_vec();
        let mut parts = Vec::new();
        while let Some(lane) = stack.pop() {
            if self.clear.contains(lane) || !memory.seen.insert(lane) {
                continue;
            }
            match memory.split(arena, lane) {
                Split::Constant(false) => {}
                Split::Constant(true) => parts.push(lane),
                Split::Both(a, b) => stack.extend([a, b]),
                Split::Same(a) => stack.push(a),
                Split::Input(at, table) => {
                    if meet(self.bytes[at], memory.high(arena, table)) != [0; 4] {
                        parts.push(lane);
                    }
                }
                Split::Mark => parts.push(lane),
            }
        }
        parts
    }

    /// Whether a query had an answer that later answers contradict.
    fn is_refuted(&mut self, arena: &mut Arena, memory: &mut Memory) -> bool {
        let set = std::mem::take(&mut self.set);
        let refuted = set.iter().any(|lanes| self.parts(arena, memory, lanes).is_empty());
        self.set = set;
        refuted || self.bytes.contains(&[0; 4])
    }

    /// Like [`is_refuted`](Self::is_refuted), by the meaning of the marks.
    fn is_refuted_by_meaning(&mut self, arena: &mut Arena, memory: &mut Memory) -> bool {
        let set = std::mem::take(&mut self.set);
        set.iter().any(|lanes| {
            self.parts(arena, memory, lanes).into_iter().all(|lane| {
                // A later byte can show it, too.
                let Some((_, last)) = arena.reach(lane) else { return false };
                let window = usize::from(last)..self.bytes.len().min(usize::from(last) + 3);
                let shape = memory.shape(arena, lane);
                window.into_iter().any(|at| {
                    let claim = Claim::Clear(shape, (at - usize::from(last)) as u32);
                    let is_inside = at < usize::from(arena.reach(lane).unwrap().0) + 4;
                    is_inside && self.holds(arena, memory, claim, at, Some(lane))
                })
            })
        })
    }

    /// Why the outcome does not follow from the answers, if the first `held` bytes are fine.
    fn problem(
        &self,
        arena: &Arena,
        memory: &mut Memory,
        held: usize,
        outcome: Outcome,
    ) -> Option<String> {
        let len = self.bytes.len();
        let fine = match outcome {
            Outcome::All | Outcome::AllButTail => len,
            Outcome::Near(at) => at,
        };
        let not_fine = (held..fine).find(|at| !self.holds(arena, memory, Claim::Fine, *at, None));
        if let Some(at) = not_fine {
            return Some(format!("{outcome:?}, but byte {at} can show an error"));
        }
        if outcome == Outcome::All && !self.holds(arena, memory, Claim::Complete, len - 1, None) {
            return Some("the last sequence can be incomplete".to_owned());
        }
        None
    }

    /// Whether a claim about the byte at index `last` and the three before it follows from the answers so far.
    fn holds(
        &self,
        arena: &Arena,
        memory: &mut Memory,
        claim: Claim,
        last: usize,
        mark: Option<Lane>,
    ) -> bool {
        let bytes: [Bytes; 4] = std::array::from_fn(|i| match (last + i).checked_sub(3) {
            Some(at) => self.bytes[at],
            None => [1, 0, 0, 0],
        });
        let sets = bytes.map(|set| memory.set_number(set));
        let mut shapes: Vec<_> =
            self.marks[last].iter().map(|lane| memory.shape(arena, *lane)).collect();
        shapes.sort_unstable();
        shapes.dedup();
        let key = (claim, sets, shapes);
        if let Some(&holds) = memory.claims.get(&key) {
            return holds;
        }
        let holds = follows(arena, claim, bytes, &self.marks[last], mark, last as isize - 3);
        memory.claims.insert(key, holds);
        holds
    }
}

/// Gives the answers of a path.
struct Answers {
    path: Rc<RefCell<Path>>,
    memory: Rc<RefCell<Memory>>,
    last_lane: bool,
    firsts: Firsts,
}

impl Script for Answers {
    fn answer(&mut self, arena: &mut Arena, lanes: &[Lane], kind: Kind) -> Answer {
        let path = &mut *self.path.borrow_mut();
        let memory = &mut *self.memory.borrow_mut();
        let parts = path.parts(arena, memory, lanes);
        let is_mark = |lane: &Lane, arena: &Arena| {
            !matches!(arena.node(*lane), Node::Constant(_) | Node::Input(..))
        };
        // Every mark that is asked for is exact.
        let marks: Vec<_> = parts.iter().copied().filter(|lane| is_mark(lane, arena)).collect();
        for mark in &marks {
            let (first, last) = arena.reach(*mark).unwrap();
            assert!(last - first <= 3, "a mark depends on bytes {first} to {last}");
            let claim = Claim::Exact(memory.shape(arena, *mark));
            assert!(
                path.holds(arena, memory, claim, last.into(), Some(*mark)),
                "a mark at byte {last} is set without an error"
            );
        }
        // The first lane that can be set, and whether one must be.
        let must = lanes
            .iter()
            .position(|lane| matches!(arena.node(*lane), Node::Constant(byte) if byte >= 0x80));
        let mut answers = Vec::new();
        if must.is_none() {
            answers.push(Answer::None);
        }
        if !parts.is_empty() {
            let can = |lane: usize, path: &Path, arena: &mut Arena, memory: &mut Memory| {
                !path.parts(arena, memory, &lanes[lane..=lane]).is_empty()
            };
            let end = must.map_or(lanes.len(), |lane| lane + 1);
            // Over several blocks, or by range only, a level asks whether there is any.
            let is_local = |lane: &Lane| arena.reach(*lane).is_none_or(|(a, b)| b - a <= 3);
            let distinct = kind == Kind::Mask && !marks.is_empty() && lanes.iter().all(is_local);
            let firsts = (0..end).filter(|lane| can(*lane, path, arena, memory));
            match kind {
                Kind::Mask if distinct && self.firsts == Firsts::Edges => {
                    let firsts: Vec<_> = firsts.collect();
                    let edges = [0, 1, 2, 3, 4, firsts.len() - 1];
                    let edges = edges.iter().filter_map(|i| firsts.get(*i));
                    answers.extend(edges.map(|lane| Answer::First(*lane)));
                    answers.dedup();
                }
                Kind::Mask if distinct && self.firsts == Firsts::One => {
                    let firsts: Vec<_> = firsts.collect();
                    answers.push(Answer::First(firsts[path.asked % firsts.len()]));
                }
                Kind::Any => answers.push(Answer::Some),
                Kind::Mask if distinct => answers.extend(firsts.map(Answer::First)),
                Kind::Mask if self.last_lane => {
                    answers.push(Answer::Representative(lanes.len() - 1));
                }
                Kind::Mask => answers.push(Answer::Representative(0)),
            }
        }
        let asked = path.asked;
        path.asked += 1;
        if asked == path.plan.len() {
            let at = path.seed.as_mut().map_or(0, |seed| {
                *seed = seed.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
                (*seed >> 33) as usize % answers.len()
            });
            path.plan.push((at, answers.len()));
        }
        let (at, count) = path.plan[asked];
        assert_eq!(count, answers.len(), "the same answers lead to the same queries");
        let answer = answers[at];
        let clear = match answer {
            Answer::None => lanes.len(),
            Answer::First(lane) => lane,
            Answer::Some | Answer::Representative(_) | Answer::Mask(_) => 0,
        };
        for lane in &lanes[..clear] {
            path.note_clear(arena, memory, *lane);
        }
        match answer {
            Answer::None => {}
            Answer::First(lane) => path.set.push(vec![lanes[lane]]),
            Answer::Some | Answer::Representative(_) | Answer::Mask(_) => path.set.push(parts),
        }
        answer
    }
}
