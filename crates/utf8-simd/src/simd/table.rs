//! Tables that are computed at compile time.

/// An array whose entries are computed from their indexes. (A function cannot call a closure at compile time.)
macro_rules! table {
    ($len:literal, |$index:ident| $entry:expr) => {{
        let mut table = {
            let $index = 0;
            [$entry; $len]
        };
        let mut $index = 1;
        while $index < $len {
            table[$index] = $entry;
            $index += 1;
        }
        table
    }};
}
pub(crate) use table;
