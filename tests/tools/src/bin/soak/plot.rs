//! Throughput and memory over time, drawn as SVG.

use std::error::Error;

use plotters::prelude::*;

use crate::figures::Sample;

const WIDTH: u32 = 900;
const HEIGHT: u32 = 300;

/// Seconds, and a value at that time.
type Points = Vec<(f64, f64)>;

/// Charts, stacked.
pub(crate) fn svg(samples: &[Sample]) -> Result<String, Box<dyn Error + Send + Sync>> {
    let charts = [
        ("text delivered, MB/s", BLUE, rates(samples)),
        ("memory, resident, MB", RED, memory(samples, |sample| sample.resident)),
        ("memory, on the heap, MB", RED, memory(samples, |sample| Some(sample.heap))),
    ];
    let end = samples.last().map_or(1.0, |last| last.at.as_secs_f64()).max(1e-3);
    let mut svg = String::new();
    {
        let size = (WIDTH, HEIGHT * charts.len() as u32);
        let root = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        root.fill(&WHITE)?;
        for ((title, colour, points), area) in charts.into_iter().zip(root.split_evenly((3, 1))) {
            let highest = points.iter().map(|point| point.1).fold(0.0, f64::max).max(1e-3);
            let mut chart = ChartBuilder::on(&area)
                .caption(title, ("sans-serif", 16))
                .margin(16)
                .x_label_area_size(28)
                .y_label_area_size(56)
                .build_cartesian_2d(0.0..end, 0.0..highest)?;
            let mut mesh = chart.configure_mesh();
            mesh.light_line_style(TRANSPARENT).x_label_formatter(&|at| format!("{at} s")).draw()?;
            chart.draw_series(LineSeries::new(points, colour.stroke_width(2)))?;
        }
        root.present()?;
    }
    Ok(svg)
}

fn rates(samples: &[Sample]) -> Points {
    let rate = |pair: &[Sample]| {
        let seconds = (pair[1].at - pair[0].at).as_secs_f64().max(1e-6);
        (pair[1].at.as_secs_f64(), (pair[1].bytes - pair[0].bytes) as f64 / 1e6 / seconds)
    };
    samples.windows(2).map(rate).collect()
}

fn memory(samples: &[Sample], bytes: fn(&Sample) -> Option<u64>) -> Points {
    let megabytes = |sample| Some(bytes(sample)? as f64 / 1e6);
    samples.iter().filter_map(|s| Some((s.at.as_secs_f64(), megabytes(s)?))).collect()
}
