//! Throughput and memory over time, drawn as SVG.

use std::fmt::Write;

use crate::figures::Sample;

const WIDTH: f64 = 800.0;
const HEIGHT: f64 = 240.0;
const MARGIN: f64 = 60.0;

/// Charts, stacked.
pub(crate) fn svg(samples: &[Sample]) -> String {
    let end = samples.last().map_or(1.0, |last| last.at.as_secs_f64()).max(1e-3);
    let rates: Vec<_> = samples
        .windows(2)
        .map(|pair| {
            let seconds = (pair[1].at - pair[0].at).as_secs_f64().max(1e-6);
            (pair[1].at.as_secs_f64(), (pair[1].bytes - pair[0].bytes) as f64 / 1e6 / seconds)
        })
        .collect();
    let memory = |bytes: fn(&Sample) -> Option<u64>| -> Vec<_> {
        let megabytes = |sample| Some(bytes(sample)? as f64 / 1e6);
        samples.iter().filter_map(|s| Some((s.at.as_secs_f64(), megabytes(s)?))).collect()
    };
    let charts = [
        ("text delivered, MB/s", "#0b62a4", rates),
        ("memory, resident, MB", "#a4420b", memory(|sample| sample.resident)),
        ("memory, on the heap, MB", "#a4420b", memory(|sample| Some(sample.heap))),
    ];
    let each = HEIGHT + 2.0 * MARGIN;
    let (width, height) = (WIDTH + 2.0 * MARGIN, each * charts.len() as f64);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    for (number, (title, colour, points)) in charts.iter().enumerate() {
        chart(&mut out, number as f64 * each, title, colour, end, points);
    }
    out += "</svg>\n";
    out
}

fn chart(out: &mut String, top: f64, title: &str, colour: &str, end: f64, points: &[(f64, f64)]) {
    let highest = points.iter().map(|point| point.1).fold(0.0, f64::max).max(1e-3);
    let x = |seconds: f64| MARGIN + WIDTH * seconds / end;
    let y = |value: f64| top + MARGIN + HEIGHT * (1.0 - value / highest);
    let mut line = |text: std::fmt::Arguments<'_>| writeln!(out, "{text}").expect("a String");
    line(format_args!("<text x=\"{MARGIN}\" y=\"{}\" font-size=\"16\">{title}</text>", top + 40.0));
    for part in 0..=4 {
        let share = f64::from(part) / 4.0;
        let (value, seconds) = (highest * share, end * share);
        line(format_args!(
            "<path d=\"M{MARGIN} {0:.1}h{WIDTH}\" stroke=\"#ddd\"/><text x=\"{1}\" y=\"{2:.1}\" \
             text-anchor=\"end\">{value:.1}</text><text x=\"{3:.1}\" y=\"{4}\" \
             text-anchor=\"middle\">{seconds:.0} s</text>",
            y(value),
            MARGIN - 6.0,
            y(value) + 4.0,
            x(seconds),
            top + MARGIN + HEIGHT + 20.0,
        ));
    }
    let path: String =
        points.iter().map(|point| format!("{:.1},{:.1} ", x(point.0), y(point.1))).collect();
    line(format_args!(
        "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\" points=\"{}\"/>",
        path.trim_end()
    ));
}
