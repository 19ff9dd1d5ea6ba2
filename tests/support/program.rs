//! The examples as processes: starts them, feeds them, and waits for them.

#![allow(dead_code, unreachable_pub, reason = "each test binary uses its own part")]

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);

/// An example, by its name.
pub struct Program(pub &'static str);

/// The exit status and output of a process.
pub struct Outcome {
    pub status: i32,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl Outcome {
    pub fn text(&self) -> &str {
        str::from_utf8(&self.stdout).unwrap()
    }
}

impl Program {
    /// Returns a command for the example, which is next to the tests: `target/<profile>/examples`.
    pub fn command(&self) -> Command {
        let test = std::env::current_exe().unwrap();
        let file = format!("{}{}", self.0, std::env::consts::EXE_SUFFIX);
        let program = test.parent().unwrap().with_file_name("examples").join(file);
        let how = "`cargo test` builds it, `cargo build --example` too";
        assert!(program.exists(), "{} does not exist: {how}", program.display());
        Command::new(program)
    }

    /// Starts it with piped input and output. The caller takes the pipes, or [`finish`] drains them.
    pub fn start<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Child {
        self.command()
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    pub fn run<S: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
        stdin: &[u8],
    ) -> Outcome {
        let mut child = self.start(arguments);
        let (mut pipe, stdin) = (child.stdin.take().unwrap(), stdin.to_vec());
        // The process may exit before it has read everything.
        thread::spawn(move || pipe.write_all(&stdin));
        finish(child)
    }

    /// The address that it prints.
    pub fn address(&self, announcing: impl Read) -> String {
        let mut announced = String::new();
        BufReader::new(announcing).read_line(&mut announced).unwrap();
        let address = announced.trim_end().rsplit_once("listening on ");
        address.unwrap_or_else(|| panic!("{} said {announced:?}", self.0)).1.to_owned()
    }

    /// A path for the files of this program's tests.
    pub fn path(&self, name: &str) -> PathBuf {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(self.0);
        fs::create_dir_all(&directory).unwrap();
        directory.join(name)
    }

    /// Writes a file with these bytes and returns its path.
    pub fn file(&self, name: &str, bytes: &[u8]) -> String {
        let path = self.path(name);
        fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

/// Waits for it to end; kills it if it hangs.
pub fn finish(mut child: Child) -> Outcome {
    let stdout = child.stdout.take().map(drain);
    let stderr = child.stderr.take().map(drain);
    let status = wait(&mut child);
    let all = |pipe: Option<JoinHandle<Vec<u8>>>| pipe.map_or(Vec::new(), |p| p.join().unwrap());
    let stderr = String::from_utf8(all(stderr)).unwrap();
    assert!(!stderr.contains("panicked"), "{stderr}");
    Outcome { status, stdout: all(stdout), stderr }
}

fn wait(child: &mut Child) -> i32 {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code().expect("ended by a signal");
        }
        if Instant::now() > deadline {
            child.kill().unwrap();
            panic!("the example hangs");
        }
        thread::sleep(Duration::from_millis(2));
    }
}

pub fn drain(mut pipe: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).unwrap();
        bytes
    })
}

/// Its peak memory so far.
#[cfg(target_os = "linux")]
pub fn peak_kilobytes(child: &Child) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    peak.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Reproducible bytes, many of which are nearly UTF-8.
pub fn noise(len: usize) -> Vec<u8> {
    const SOME: &[u8] = b"\x80\x8F\x90\x9F\xA0\xBF\xC0\xC3\xE0\xE2\xED\xEF\xF0\xF4\xFF\n a";
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as usize
    };
    (0..len).map(|_| SOME[next() % SOME.len()]).collect()
}
