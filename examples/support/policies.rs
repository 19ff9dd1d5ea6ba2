//! The command-line names of BOM policies and error modes.

use utf8_codec::{BomPolicy, ErrorMode};

pub(crate) static BOM_POLICIES: [(&str, BomPolicy); 4] = [
    ("keep", BomPolicy::Keep),
    ("strip", BomPolicy::Strip),
    ("require", BomPolicy::Require),
    ("forbid", BomPolicy::Forbid),
];

pub(crate) static ERROR_MODES: [(&str, ErrorMode); 6] = [
    ("replacement", ErrorMode::Replacement),
    ("skip", ErrorMode::Skip),
    ("escape", ErrorMode::Escape),
    ("latin1", ErrorMode::Latin1),
    ("windows1252", ErrorMode::Windows1252),
    ("fatal", ErrorMode::Fatal),
];
