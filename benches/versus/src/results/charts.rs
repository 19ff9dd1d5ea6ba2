//! The charts: panels of throughput on a logarithmic scale.

use std::error::Error;
use std::fs;
use std::io;
use std::iter::{Once, once};
use std::path::Path;

use plotters::coord::Shift;
use plotters::coord::combinators::BindKeyPoints;
use plotters::element::{Drawable, PointCollection};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters_backend::{BackendCoord, DrawingErrorKind};

use super::runs::{LevelRuns, Row};

pub(crate) struct Chart {
    /// The name of its file, without the level.
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    whats: &'static [&'static str],
    is_shown: fn(&Row) -> bool,
    /// The panel of a row.
    panel: fn(&Row) -> String,
    /// The tick of a row on the horizontal axis.
    tick: fn(&Row) -> String,
    /// Whether ticks have an order, so that lines may join the points.
    is_joined: bool,
    /// Panels side by side.
    columns: usize,
}

impl Chart {
    /// All rows of `whats`, a panel for each corpus, as points.
    const fn new(name: &'static str, title: &'static str, whats: &'static [&'static str]) -> Self {
        Self {
            name,
            title,
            whats,
            is_shown: |_| true,
            panel: |row| row.corpus.clone(),
            tick: |row| row.corpus.clone(),
            is_joined: false,
            columns: 2,
        }
    }
}

pub(crate) const VALIDATION: Chart = Chart {
    is_shown: |row| row.corpus != "mixed",
    tick: |row| row.size.clone(),
    is_joined: true,
    ..Chart::new("validation", "Validation by length of the message", &["validate"])
};

pub(crate) const STREAMING: Chart = Chart {
    tick: |row| bytes(&row.size),
    is_joined: true,
    columns: 3,
    ..Chart::new("streaming", "Decoding a stream by size of its chunks", &["decode"])
};

pub(crate) const DAMAGED: Chart = Chart {
    is_shown: |row| row.corpus != "ff",
    tick: |row| row.size.replace('-', " "),
    is_joined: true,
    ..Chart::new("damaged", "Repair with U+FFFD by density of errors", &["replace"])
};

pub(crate) const CONVERSIONS: Chart = Chart {
    is_shown: |row| row.size != "1460" && !row.size.contains('+'),
    panel: |row| format!("{}, {}", row.what, row.size),
    ..Chart::new(
        "conversions",
        "Conversions by script, of short and long texts",
        &["to-chars", "to-utf-16", "from-chars", "from-utf-16"],
    )
};

pub(crate) const LINES: Chart = Chart {
    panel: |row| match &*row.what {
        "lines" => "lines: Utf8LinesCodec".to_owned(),
        _ => "read-lines: Utf8Lines".to_owned(),
    },
    ..Chart::new("lines", "Lines by script", &["lines", "read-lines"])
};

pub(crate) const WEBSOCKET: Chart = Chart {
    is_shown: |row| matches!(&*row.corpus, "ascii" | "cyrillic" | "cjk"),
    panel: |row| format!("{}, {}", row.what, row.corpus),
    tick: |row| bytes(&row.size),
    is_joined: true,
    columns: 3,
    ..Chart::new(
        "websocket",
        "WebSocket messages by length, one or many per read",
        &["message", "burst"],
    )
};

fn bytes(size: &str) -> String {
    if size.ends_with('B') { size.to_owned() } else { format!("{size} B") }
}

const ALL: &[&Chart] = &[&VALIDATION, &STREAMING, &DAMAGED, &CONVERSIONS, &LINES, &WEBSOCKET];

pub(crate) fn file_name(chart: &str, level: &LevelRuns) -> String {
    format!("{chart}-{}.svg", level.name)
}

/// Draws all charts of a level.
pub(crate) fn draw(level: &LevelRuns, folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for chart in ALL {
        let panels = chart.panels(&level.rows_of(chart.whats));
        if !panels.is_empty() {
            let title = format!("{}: GB/s (logarithmic), {}", chart.title, level.name);
            let svg =
                chart.svg(&title, &panels).map_err(|error| io::Error::other(error.to_string()))?;
            fs::write(folder.join(file_name(chart.name, level)), svg)?;
        }
    }
    Ok(())
}

struct Panel {
    title: String,
    ticks: Vec<String>,
    points: Vec<Point>,
}

struct Point {
    contender: String,
    /// On the horizontal axis.
    tick: i32,
    gigabytes: f64,
}

/// The distance of two ticks on the horizontal axis.
const TICK: i32 = 100;

const OURS: &str = "utf8-codec";

const WIDTH: u32 = 880;
const PANEL_HEIGHT: u32 = 210;
const TITLE_HEIGHT: i32 = 36;
const LEGEND_HEIGHT: i32 = 22;
const MARGIN: i32 = 14;

/// A card that is legible on a light and on a dark page.
const CARD: RGBColor = RGBColor(0xF4, 0xF5, 0xF7);
const INK: RGBColor = RGBColor(0x1F, 0x23, 0x28);
const GRID: RGBColor = RGBColor(0xD6, 0xD9, 0xDE);

impl Chart {
    fn panels(&self, rows: &[&Row]) -> Vec<Panel> {
        let mut panels: Vec<Panel> = Vec::new();
        for row in rows.iter().filter(|row| (self.is_shown)(row)) {
            let (title, tick) = ((self.panel)(row), (self.tick)(row));
            if panels.iter().all(|panel| panel.title != title) {
                panels.push(Panel { title: title.clone(), ticks: Vec::new(), points: Vec::new() });
            }
            let panel = panels.iter_mut().find(|panel| panel.title == title).expect("added above");
            panel.ticks.push(tick);
            let tick = TICK * (panel.ticks.len() as i32 - 1);
            let point = |contender: &str, ratio| Point {
                contender: contender.to_owned(),
                tick,
                gigabytes: row.gigabytes / ratio,
            };
            panel.points.extend(row.peers().map(|peer| point(&peer.name, peer.ratio)));
            panel.points.push(point(OURS, 1.0));
        }
        panels
    }

    fn svg(&self, title: &str, panels: &[Panel]) -> Result<String, Box<dyn Error>> {
        let names = contenders(panels);
        let mut svg = String::new();
        {
            let (rows, legend_rows) = (panels.len().div_ceil(self.columns), legend(&names).1);
            let head = TITLE_HEIGHT + LEGEND_HEIGHT * legend_rows;
            let height = head as u32 + rows as u32 * PANEL_HEIGHT + MARGIN as u32;
            let root = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
            root.fill(&CARD)?;
            let style =
                TextStyle::from(("sans-serif", 17).into_font().style(FontStyle::Bold)).color(&INK);
            root.draw(&Text::new(title.to_owned(), (MARGIN, MARGIN), style))?;
            draw_legend(&root, &names)?;
            let scale = Scale::of(panels);
            let areas =
                root.margin(head, MARGIN, MARGIN / 2, MARGIN).split_evenly((rows, self.columns));
            for (panel, area) in panels.iter().zip(&areas) {
                self.draw_panel(panel, area, &scale, &names)?;
            }
            root.present()?;
        }
        Ok(svg)
    }

    fn draw_panel(
        &self,
        panel: &Panel,
        area: &DrawingArea<SVGBackend<'_>, Shift>,
        scale: &Scale,
        names: &[String],
    ) -> Result<(), Box<dyn Error>> {
        let end = TICK * panel.ticks.len() as i32;
        let horizontal =
            (-TICK / 2..end - TICK / 2).with_key_points((0..end).step_by(TICK as usize).collect());
        let vertical = (scale.low..scale.high).log_scale().with_key_points(scale.ticks.clone());
        let mut chart = ChartBuilder::on(area)
            .margin_right(8)
            .caption(
                &panel.title,
                ("sans-serif", 14).into_font().style(FontStyle::Bold).color(&INK),
            )
            .x_label_area_size(24)
            .y_label_area_size(36)
            .build_cartesian_2d(horizontal, vertical)?;
        chart
            .configure_mesh()
            .axis_style(GRID)
            .bold_line_style(GRID)
            .light_line_style(TRANSPARENT)
            .label_style(("sans-serif", 12).into_font().color(&INK))
            .x_label_formatter(&|at| panel.ticks[(at / TICK) as usize].clone())
            .y_label_formatter(&|at| format!("{at}"))
            .draw()?;
        // Ours last, on top.
        for (number, name) in names.iter().enumerate().rev() {
            let look = Look::of(name);
            // Points that are not joined stand side by side.
            let shift = if self.is_joined { 0 } else { side_by_side(number, names.len()) };
            let points: Vec<_> = panel
                .points
                .iter()
                .filter(|point| point.contender == *name)
                .map(|point| (point.tick + shift, point.gigabytes))
                .collect();
            if self.is_joined {
                chart.draw_series(LineSeries::new(points.iter().copied(), look.line()))?;
            }
            chart.draw_series(points.into_iter().map(|at| Marker { at, look }))?;
        }
        Ok(())
    }
}

/// The place of one of `count` points beside a tick.
fn side_by_side(number: usize, count: usize) -> i32 {
    let (number, count) = (number as i32, count as i32);
    (2 * number + 1 - count) * TICK * 3 / 10 / count
}

/// All contenders, ours first.
fn contenders(panels: &[Panel]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for point in panels.iter().flat_map(|panel| &panel.points) {
        if !names.contains(&point.contender) {
            names.push(point.contender.clone());
        }
    }
    names.sort_by_key(|name| name != OURS);
    names
}

/// The vertical axis, the same for all panels.
struct Scale {
    low: f64,
    high: f64,
    ticks: Vec<f64>,
}

impl Scale {
    fn of(panels: &[Panel]) -> Self {
        let all = || panels.iter().flat_map(|panel| &panel.points).map(|point| point.gigabytes);
        let low = all().fold(f64::INFINITY, f64::min) / 1.2;
        let high = all().fold(0.0, f64::max) * 1.2;
        let steps: &[u8] = if high / low > 50.0 { &[1, 3] } else { &[1, 2, 5] };
        let tick = |step, exponent| format!("{step}e{exponent}").parse().expect("a number");
        let ticks =
            (-4..=4).flat_map(|exponent| steps.iter().map(move |step| tick(step, exponent)));
        Self { low, high, ticks: ticks.filter(|tick| (low..=high).contains(tick)).collect() }
    }
}

/// The colour and the marker of a contender, the same in all charts.
#[derive(Clone, Copy)]
struct Look {
    colour: RGBColor,
    shape: Shape,
    is_ours: bool,
}

#[derive(Clone, Copy)]
enum Shape {
    Disc,
    Ring,
    Square,
    Triangle,
    Cross,
}

impl Look {
    fn of(name: &str) -> Self {
        // The colours of Okabe and Ito, which most people with a colour deficiency can tell apart.
        let (colour, shape) = match name {
            OURS => (RGBColor(0x00, 0x72, 0xB2), Shape::Disc),
            "std" => (RGBColor(0x55, 0x55, 0x55), Shape::Square),
            "simdutf" | "utf8-zero" | "fastwebsockets" | "FramedRead" => {
                (RGBColor(0x00, 0x9E, 0x73), Shape::Ring)
            }
            "simdutf8" | "utf-8" | "tokio-websockets" => {
                (RGBColor(0xE6, 0x9F, 0x00), Shape::Triangle)
            }
            "encoding_rs" | "tokio-tungstenite" => (RGBColor(0xD5, 0x5E, 0x00), Shape::Cross),
            _ => (RGBColor(0xB0, 0x55, 0x8C), Shape::Square),
        };
        Self { colour, shape, is_ours: name == OURS }
    }

    fn line(self) -> ShapeStyle {
        self.colour.stroke_width(if self.is_ours { 3 } else { 1 })
    }
}

/// A contender's marker at a point of the chart or of the drawing.
struct Marker<C> {
    at: C,
    look: Look,
}

impl<'a, C> PointCollection<'a, C> for &'a Marker<C> {
    type Point = &'a C;
    type IntoIter = Once<&'a C>;

    fn point_iter(self) -> Once<&'a C> {
        once(&self.at)
    }
}

impl<C, B: DrawingBackend> Drawable<B> for Marker<C> {
    fn draw<I: Iterator<Item = BackendCoord>>(
        &self,
        mut at: I,
        backend: &mut B,
        _: (u32, u32),
    ) -> Result<(), DrawingErrorKind<B::ErrorType>> {
        let Some((x, y)) = at.next() else { return Ok(()) };
        let (colour, thin) = (self.look.colour, self.look.colour.stroke_width(2));
        match self.look.shape {
            Shape::Disc => backend.draw_circle((x, y), 5, &colour, true),
            Shape::Ring => {
                backend.draw_circle((x, y), 4, &CARD, true)?;
                backend.draw_circle((x, y), 4, &thin, false)
            }
            Shape::Square => backend.draw_rect((x - 4, y - 4), (x + 4, y + 4), &colour, true),
            Shape::Triangle => {
                backend.fill_polygon([(x, y - 5), (x - 5, y + 4), (x + 5, y + 4)], &colour)
            }
            Shape::Cross => {
                backend.draw_line((x - 4, y - 4), (x + 4, y + 4), &thin)?;
                backend.draw_line((x - 4, y + 4), (x + 4, y - 4), &thin)
            }
        }
    }
}

/// The place of each name, and the number of rows.
fn legend(names: &[String]) -> (Vec<(i32, i32)>, i32) {
    let (mut x, mut row) = (MARGIN, 0);
    let places = names.iter().map(|name| {
        let width = 40 + 8 * name.len() as i32;
        if x + width > WIDTH as i32 {
            (x, row) = (MARGIN, row + 1);
        }
        let place = (x, TITLE_HEIGHT + row * LEGEND_HEIGHT + LEGEND_HEIGHT / 2);
        x += width;
        place
    });
    let places = places.collect();
    (places, row + 1)
}

fn draw_legend(
    root: &DrawingArea<SVGBackend<'_>, Shift>,
    names: &[String],
) -> Result<(), Box<dyn Error>> {
    let anchor = Pos::new(HPos::Left, VPos::Center);
    let style = TextStyle::from(("sans-serif", 14)).color(&INK).pos(anchor);
    for (name, (x, y)) in names.iter().zip(legend(names).0) {
        let look = Look::of(name);
        root.draw(&PathElement::new([(x, y), (x + 20, y)], look.line()))?;
        root.draw(&Marker { at: (x + 10, y), look })?;
        root.draw(&Text::new(name.clone(), (x + 26, y), style.clone()))?;
    }
    Ok(())
}
