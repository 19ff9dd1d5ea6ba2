//! The public items of the crate are those listed in `tests/surface.txt`.

use std::io::{self, Write};
use std::process::Command;

#[test]
fn public_items_equal_the_list() {
    let output = Command::new(env!("CARGO_BIN_EXE_surface")).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    if said.starts_with("SKIPPED: ") {
        // Past the capture of the test harness: a test that checks nothing has to say so.
        writeln!(io::stderr(), "{}", said.trim_end()).unwrap();
    }
}
