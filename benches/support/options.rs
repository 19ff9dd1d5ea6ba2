//! The command line.

use std::process::exit;

use utf8_codec::__kernel::Kernel;

/// How long each contender is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Effort {
    /// Samples of each contender; 0 runs it once, for its answer.
    pub(crate) rounds: usize,
    /// Nanoseconds that a sample takes at the least.
    pub(crate) sample: u64,
}

impl Effort {
    pub(crate) const FULL: Self = Self { rounds: 41, sample: 1_000_000 };
    pub(crate) const QUICK: Self = Self { rounds: 7, sample: 300_000 };
    pub(crate) const ONCE: Self = Self { rounds: 0, sample: 0 };
}

/// How the result is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    Text,
    Markdown,
    Json,
    /// That all is well, and nothing else.
    Nothing,
}

#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) effort: Effort,
    pub(crate) output: Output,
    pub(crate) kernel: Option<Kernel>,
    /// Whether nobody is measured but us.
    pub(crate) alone: bool,
    /// Parts of names of rows; a row is measured if it has one of them, or if there are none.
    pub(crate) filters: Vec<String>,
}

const HELP: &str = "\
Arguments: [OPTIONS] [FILTER]...

  FILTER         measure the rows that have this in their name, what/corpus/size
  --quick        fewer and shorter samples
  --kernel NAME  run on this kernel, and only what can be told which one to take
  --alone        without peers and floors, for a profiler
  --json         print JSON
  --markdown     print Markdown
";

impl Options {
    /// Reads the command line, and ends the program where it makes no sense.
    pub(crate) fn parse(effort: Effort) -> Self {
        let output = if effort == Effort::ONCE { Output::Nothing } else { Output::Text };
        let (kernel, filters) = (None, Vec::new());
        let mut options = Self { effort, output, kernel, alone: false, filters };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            match &*argument {
                "--bench" => {}
                "--quick" => options.effort = Effort::QUICK,
                "--alone" => options.alone = true,
                "--json" => options.output = Output::Json,
                "--markdown" => options.output = Output::Markdown,
                "--kernel" => options.kernel = Some(find_kernel(arguments.next())),
                "--help" | "-h" => {
                    print!("{HELP}");
                    exit(0);
                }
                option if option.starts_with('-') => refuse(&format!("{option} is no option")),
                _ => options.filters.push(argument),
            }
        }
        options
    }
}

fn find_kernel(name: Option<String>) -> Kernel {
    let name = name.unwrap_or_default();
    Kernel::available().find(|kernel| kernel.name() == name).unwrap_or_else(|| {
        let names: Vec<_> = Kernel::available().map(Kernel::name).collect();
        refuse(&format!("--kernel takes one of: {}", names.join(", ")))
    })
}

fn refuse(why: &str) -> ! {
    eprint!("{why}\n\n{HELP}");
    exit(2)
}
