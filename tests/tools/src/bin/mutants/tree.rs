//! The span of each change, and sources that contain many changes side by side.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde_json::Value;
use syn::visit::{self, Visit};

use crate::programs::Location;
use crate::{Options, Result};

/// One change in a source file.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) name: String,
    file: String,
    /// The first and the last position: line and column, from 1, in characters.
    span: [(usize, usize); 2],
    replacement: String,
    /// The changed line, with single spaces.
    line: String,
}

/// Reads what `cargo mutants --list --json` printed.
pub(crate) fn read_list(path: &Path) -> Result<Vec<Change>> {
    let list: Vec<Value> = serde_json::from_str(&fs::read_to_string(path)?)?;
    list.iter()
        .map(|change| {
            let text = |key: &str| {
                change[key].as_str().map(String::from).ok_or_else(|| format!("no {key}: {change}"))
            };
            let number = |key: &str| {
                change["span"].pointer(key).and_then(Value::as_u64).ok_or(format!("no span{key}"))
            };
            Ok(Change {
                name: text("name")?,
                file: text("file")?,
                span: [
                    (number("/start/line")? as usize, number("/start/column")? as usize),
                    (number("/end/line")? as usize, number("/end/column")? as usize),
                ],
                replacement: text("replacement")?,
                line: changed_line(&text("diff")?)
                    .ok_or_else(|| format!("no changed line: {change}"))?,
            })
        })
        .collect()
}

/// Returns the changed line of a patch, with single spaces.
fn changed_line(diff: &str) -> Option<String> {
    let line = diff.lines().find(|line| line.contains(MARK))?;
    let words = line.strip_prefix('+')?.replace(MARK, " ");
    Some(words.split_ascii_whitespace().collect::<Vec<_>>().join(" "))
}

/// What `cargo mutants` puts after a replacement.
const MARK: &str = "/* ~ changed by cargo-mutants ~ */";

/// Returns the changes that `entries` list as equal. Fails if an entry for a file that has changes fits none.
pub(crate) fn equal<'a>(changes: &'a [Change], entries: &str) -> Result<Vec<&'a Change>> {
    let files: BTreeSet<&str> = changes.iter().map(|change| &*change.file).collect();
    let entry = |change: &Change| {
        let (_, what) = change.name.split_once(": ").unwrap_or_default();
        format!("{} | {what} | {}", change.file, change.line)
    };
    let listed: BTreeSet<&str> = entries.lines().filter(|line| line.starts_with("src/")).collect();
    let equal: Vec<&Change> =
        changes.iter().filter(|change| listed.contains(&*entry(change))).collect();
    let found: BTreeSet<String> = equal.iter().map(|change| entry(change)).collect();
    let is_stale = |line: &&&str| {
        !found.contains(**line) && line.split(" | ").next().is_some_and(|file| files.contains(file))
    };
    match listed.iter().find(is_stale) {
        Some(line) => Err(format!("this is no change any more: {line}").into()),
        None => Ok(equal),
    }
}

impl Change {
    /// Makes this change alone. Returns the file as it was.
    pub(crate) fn write(&self, root: &Path) -> Result<String> {
        let path = root.join(&self.file);
        let text = fs::read_to_string(&path)?;
        let bytes = self.bytes(&text);
        fs::write(
            path,
            format!("{} {} {}", &text[..bytes.start], self.replacement, &text[bytes.end..]),
        )?;
        Ok(text)
    }

    pub(crate) fn restore(&self, root: &Path, original: &str) -> Result<()> {
        Ok(fs::write(root.join(&self.file), original)?)
    }

    /// Returns the bytes that it replaces.
    fn bytes(&self, text: &str) -> Range<usize> {
        let [from, to] = self.span.map(|position| offset(text, position));
        from..to
    }
}

/// The sources, in which the body of each function occurs once for each of its changes in the batch. While the batch is
/// empty, all functions with changes note that they are reached.
pub(crate) struct Tree {
    root: PathBuf,
    changes: Vec<Change>,
    files: BTreeMap<String, Source>,
    /// The indexes of the changes that are compiled together.
    batch: BTreeSet<usize>,
    /// The first files of crates, and what they were.
    crates: Vec<(PathBuf, String)>,
}

struct Source {
    text: String,
    /// The bodies of functions that have changes.
    bodies: Vec<Body>,
    /// The lines of each change in what was written, from 1.
    lines: Vec<(Range<usize>, usize)>,
}

struct Body {
    /// What is between the braces.
    bytes: Range<usize>,
    /// A number that no other function has.
    function: usize,
    /// Indexes of changes, and the bytes that they replace.
    changes: Vec<(usize, Range<usize>)>,
}

impl Tree {
    /// Returns the tree of the changes that can be compiled together, and the changes that must be compiled alone.
    pub(crate) fn new(options: &Options, changes: Vec<Change>) -> Result<(Self, Vec<Change>)> {
        let root = &options.tree;
        let crates =
            ["src/lib.rs".into()].into_iter().chain(options.includes_sources.iter().cloned());
        let crates = crates.map(|path| Ok((path.clone(), fs::read_to_string(root.join(path))?)));
        let crates = crates.collect::<Result<_>>()?;
        let mut files: BTreeMap<String, Source> = BTreeMap::new();
        let (mut together, mut alone) = (Vec::new(), Vec::new());
        let mut functions = 0;
        for change in changes {
            if !files.contains_key(&change.file) {
                let text = fs::read_to_string(root.join(&change.file))?;
                let bodies = bodies(&text)?.into_iter().map(|bytes| {
                    functions += 1;
                    Body { bytes, function: functions - 1, changes: Vec::new() }
                });
                let bodies = bodies.collect();
                files.insert(change.file.clone(), Source { text, bodies, lines: Vec::new() });
            }
            let source = files.get_mut(&change.file).expect("it was just added");
            let bytes = change.bytes(&source.text);
            let holds =
                |body: &&mut Body| body.bytes.start <= bytes.start && bytes.end <= body.bytes.end;
            match source.bodies.iter_mut().find(holds) {
                Some(body) => {
                    body.changes.push((together.len(), bytes));
                    together.push(change);
                }
                None => alone.push(change),
            }
        }
        let batch = BTreeSet::new();
        Ok((Self { root: root.into(), changes: together, files, batch, crates }, alone))
    }

    fn bodies(&self) -> impl Iterator<Item = &Body> {
        self.files.values().flat_map(|source| &source.bodies)
    }

    /// Returns all changes.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Change> {
        self.changes.iter()
    }

    /// Begins a batch. Returns whether there are such changes.
    pub(crate) fn begin(&mut self, batch: Range<usize>) -> bool {
        self.batch = batch.filter(|index| *index < self.changes.len()).collect();
        !self.batch.is_empty()
    }

    /// Returns the changes of the batch, with their numbers and those of their functions.
    pub(crate) fn changes(&self) -> impl Iterator<Item = (u32, usize, &Change)> {
        self.bodies().flat_map(move |body| {
            let batch = body.changes.iter().filter(|(index, _)| self.batch.contains(index));
            batch.map(|(index, _)| (number(*index), body.function, &self.changes[*index]))
        })
    }

    /// Removes the changes in lines that do not compile, and returns them.
    pub(crate) fn remove(&mut self, errors: &[Vec<Location>]) -> Result<Vec<&Change>> {
        let mut removed = BTreeSet::new();
        for locations in errors {
            let found = locations.iter().find_map(|location| {
                let lines = &self.files.get(&location.file)?.lines;
                lines
                    .iter()
                    .find(|(lines, _)| lines.contains(&location.line))
                    .map(|(_, index)| *index)
            });
            removed
                .insert(found.ok_or_else(|| {
                    format!("an error that no change explains, at {locations:?}")
                })?);
        }
        self.batch.retain(|index| !removed.contains(index));
        Ok(removed.into_iter().map(|index| &self.changes[index]).collect())
    }

    /// Writes the sources.
    pub(crate) fn write(&mut self) -> Result<()> {
        let module = MODULE.replace("FUNCTIONS", &self.functions().to_string());
        let wrap = |text: &str| format!("{ATTRIBUTES}{text}{module}");
        for (path, text) in &self.crates {
            put(&self.root.join(path), &wrap(text))?;
        }
        for (file, source) in &mut self.files {
            let mut text = source.write(&self.changes, &self.batch)?;
            // Inlined into each other, the copies would multiply. Only kernels depend on it, for their instruction sets.
            if !file.starts_with("src/kernel/") {
                text = text.replace("#[inline(always)]", "#[inline(never)]");
            }
            let is_crate = self.crates.iter().any(|(path, _)| path == Path::new(file));
            put(&self.root.join(file), if is_crate { wrap(&text) } else { text }.as_str())?;
        }
        Ok(())
    }

    /// Writes the sources as they were.
    pub(crate) fn restore(&self) -> Result<()> {
        for (file, source) in &self.files {
            put(&self.root.join(file), &source.text)?;
        }
        self.crates.iter().try_for_each(|(path, text)| put(&self.root.join(path), text))
    }

    /// Returns the number of functions.
    fn functions(&self) -> usize {
        self.bodies().count()
    }
}

impl Source {
    /// Returns the text with the changes of a batch.
    fn write(&mut self, changes: &[Change], batch: &BTreeSet<usize>) -> Result<String> {
        let mut text = String::new();
        let mut end = 0;
        self.lines.clear();
        for body in &self.bodies {
            let chosen: Vec<_> =
                body.changes.iter().filter(|(index, _)| batch.contains(index)).collect();
            if body.changes.is_empty() || chosen.is_empty() && !batch.is_empty() {
                continue;
            }
            let original = &self.text[body.bytes.clone()];
            text.push_str(&self.text[end..body.bytes.start]);
            write!(text, "\nmatch crate::__changes::chosen({}) {{\n", body.function)?;
            let mut line = text.lines().count() + 1;
            for (index, bytes) in chosen {
                let before = &self.text[body.bytes.start..bytes.start];
                let after = &self.text[bytes.end..body.bytes.end];
                let replacement = &changes[*index].replacement;
                let arm = format!("{} => {{ {before} {replacement} {after}\n}}\n", number(*index));
                let lines = arm.lines().count();
                self.lines.push((line..line + lines, *index));
                line += lines;
                text.push_str(&arm);
            }
            write!(text, "_ => {{ {original}\n}}\n}}\n")?;
            end = body.bytes.end;
        }
        text.push_str(&self.text[end..]);
        Ok(text)
    }
}

/// What chooses a change; 0 chooses none.
fn number(index: usize) -> u32 {
    u32::try_from(index + 1).expect("there are fewer than 2^32 changes")
}

/// Writes a file unless it has this text, because a new one is compiled again.
fn put(path: &Path, text: &str) -> Result<()> {
    if fs::read_to_string(path)? != text {
        fs::write(path, text)?;
    }
    Ok(())
}

/// Returns the offset of a line and a column.
fn offset(text: &str, (line, column): (usize, usize)) -> usize {
    let start: usize = text.split_inclusive('\n').take(line - 1).map(str::len).sum();
    start + text[start..].chars().take(column - 1).map(char::len_utf8).sum::<usize>()
}

/// Returns what is between the braces of each function that is in no other function and whose copies have one type.
fn bodies(text: &str) -> Result<Vec<Range<usize>>> {
    let mut found = Bodies::default();
    found.visit_file(&syn::parse_file(text)?);
    Ok(found.bodies)
}

#[derive(Default)]
struct Bodies {
    bodies: Vec<Range<usize>>,
}

impl Bodies {
    fn add(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let mut opaque = Opaque(false);
        opaque.visit_return_type(&signature.output);
        if !opaque.0 {
            let braces = block.brace_token.span;
            self.bodies.push(braces.open().byte_range().end..braces.close().byte_range().start);
        }
    }
}

impl<'ast> Visit<'ast> for Bodies {
    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.add(&function.sig, &function.block);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.add(&function.sig, &function.block);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        if let Some(block) = &function.default {
            self.add(&function.sig, block);
        }
    }
}

/// Whether a type mentions `impl Trait`: each copy of the body would have a type of its own.
struct Opaque(bool);

impl<'ast> Visit<'ast> for Opaque {
    fn visit_type_impl_trait(&mut self, opaque: &'ast syn::TypeImplTrait) {
        self.0 = true;
        visit::visit_type_impl_trait(self, opaque);
    }
}

/// On the first line of a crate, so that the numbers of the others stay.
const ATTRIBUTES: &str =
    "#![feature(core_intrinsics, const_eval_select)] #![allow(internal_features)] ";

/// What the changed crate contains besides. It reads the environment before `main`, so that hot loops only load a number.
const MODULE: &str = r#"
#[doc(hidden)]
#[allow(unsafe_code)]
pub mod __changes {
    extern crate std;
    use std::{env, fs, string::String};

    static mut CHOSEN: u32 = 0;
    static mut RECORDS: bool = false;
    static mut REACHED: [bool; FUNCTIONS] = [false; FUNCTIONS];

    #[inline(always)]
    pub const fn chosen(function: usize) -> u32 {
        std::intrinsics::const_eval_select((function,), none, look)
    }

    const fn none(_: usize) -> u32 {
        0
    }

    #[inline(always)]
    fn look(function: usize) -> u32 {
        unsafe {
            if RECORDS {
                REACHED[function] = true;
            }
            CHOSEN
        }
    }

    unsafe extern "C" {
        safe fn atexit(function: extern "C" fn()) -> i32;
    }

    #[used]
    #[unsafe(link_section = ".init_array")]
    static START: extern "C" fn() = start;

    extern "C" fn start() {
        unsafe {
            CHOSEN = env::var("CHANGE").map_or(0, |number| number.parse().unwrap());
            RECORDS = env::var_os("CHANGES_REACHED").is_some();
            if RECORDS {
                atexit(end);
            }
        }
    }

    extern "C" fn end() {
        let reached = unsafe { (&raw const REACHED).read() };
        let path = env::var_os("CHANGES_REACHED").unwrap();
        // Another crate of the same program may have written it.
        let others = fs::read(&path).unwrap_or_default();
        let is_reached = |function: usize| reached[function] || others.get(function) == Some(&b'1');
        let text: String = (0..FUNCTIONS).map(|function| if is_reached(function) { '1' } else { '0' }).collect();
        fs::write(path, text).unwrap();
    }
}
"#;
