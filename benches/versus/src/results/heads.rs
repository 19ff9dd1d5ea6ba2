//! The table against development heads, from runs of `benches/heads`.

use std::fmt::Write;

use super::runs::{LevelRuns, Role, Row};
use super::tables::{cells, columns, count_lost, line, lowest_ratio, ratio};
use crate::support::report::figure;

const ABOUT: &str = "\
# Development heads

This page is generated; [README.md](README.md) describes how.

The functions of `utf8-simd` beside the development heads of simdutf (C++) and simdutf8, which no release contains yet. Ratios are a peer's time \
divided by ours: above 1 we are faster, below 1 the ratio is **bold**. The rows with the lowest ratios are first. GB/s are of input; the size is the \
length in UTF-8. Texts of up to 8 KiB fit in the L1 cache together. After `+24`, an input begins 24 bytes after a multiple of 64.

`locate` finds the error near the start, in the middle or near the end of 8 KiB. `replace-from-utf-16` replaces unpaired surrogates, one in 16, \
64 or 1000 units of a text of 64 KiB in UTF-8. `to` and `from` are conversions from and to UTF-8; `utf-32` is in numbers, of which each is tested, \
and `chars` are `char`s, of which simdutf tests each. The named level is forced in all three; in AVX2, simdutf8 locates no errors.
";

/// The whole page.
pub(crate) fn page(levels: &[LevelRuns]) -> String {
    let mut page = format!("{ABOUT}\n");
    for (key, value) in &levels[0].about {
        line(&mut page, format_args!("- {key}: {value}"));
    }
    for level in levels {
        let mut rows: Vec<&Row> = level.rows.iter().collect();
        rows.sort_by(|a, b| lowest_ratio(a).total_cmp(&lowest_ratio(b)));
        let lost = count_lost(rows.iter().copied()).unwrap_or_default();
        line(&mut page, format_args!("\n## {}: {lost} rows lost\n", level.name));
        let median = rows.get(rows.len() / 2).map_or(f64::NAN, |row| lowest_ratio(row));
        let runs = level.runs;
        line(
            &mut page,
            format_args!(
                "Medians of {runs} runs. The median of the ratios is {}.\n",
                figure(median)
            ),
        );
        let columns = columns(&rows);
        let names = columns.iter().map(|(name, _): &(&str, Role)| (*name).to_owned());
        let head =
            ["what", "text", "size", "ours, GB/s"].map(str::to_owned).into_iter().chain(names);
        cells(&mut page, &head.collect::<Vec<_>>());
        writeln!(page, "| --- | --- | --- | ---: |{}", " ---: |".repeat(columns.len()))
            .expect("a String");
        for row in rows {
            let first =
                [row.what.clone(), row.corpus.clone(), row.size.clone(), figure(row.gigabytes)];
            let ratios = columns.iter().map(|(name, _)| ratio(row, name));
            cells(&mut page, &first.into_iter().chain(ratios).collect::<Vec<_>>());
        }
    }
    page
}
