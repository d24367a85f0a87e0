//! Lines of the table, and the same as JSON.

use std::fmt::Write;

use crate::gpu::Gpu;

pub(crate) struct Report {
    gpu: String,
    is_small: bool,
    section: &'static str,
    lines: Vec<Line>,
    /// GB/s of the copy kernel.
    pub(crate) copy: f64,
    /// Gv/s of bare writes of 16 + 4 bytes.
    pub(crate) write: f64,
}

struct Line {
    section: &'static str,
    case: String,
    values: Vec<(&'static str, f64)>,
}

impl Report {
    pub(crate) fn new(gpu: &Gpu) -> Self {
        println!("{}{}", gpu.name, if gpu.is_small { " (small sizes)" } else { "" });
        Self {
            gpu: gpu.name.clone(),
            is_small: gpu.is_small,
            section: "",
            lines: Vec::new(),
            copy: f64::NAN,
            write: f64::NAN,
        }
    }

    pub(crate) fn section(&mut self, name: &'static str) {
        self.section = name;
        println!("\n{name}");
    }

    /// Figures of one case, each with its unit as its name.
    pub(crate) fn line(&mut self, case: impl Into<String>, values: &[(&'static str, f64)]) {
        let case = case.into();
        let mut text = format!("  {case:<64}");
        for (unit, value) in values {
            let _ = write!(text, "{:>10} {unit:<12}", number(*value));
        }
        println!("{}", text.trim_end());
        self.lines.push(Line { section: self.section, case, values: values.to_vec() });
    }

    /// A case that makes vertices in `seconds`, with `bytes` read and written for each.
    pub(crate) fn vertices(&mut self, case: impl Into<String>, vertices: f64, bytes: f64, seconds: f64) {
        self.vertices_and(case, vertices, bytes, seconds, &[]);
    }

    /// The same, with further figures.
    pub(crate) fn vertices_and(
        &mut self,
        case: impl Into<String>,
        vertices: f64,
        bytes: f64,
        seconds: f64,
        further: &[(&'static str, f64)],
    ) {
        let rate = vertices / seconds * 1e-9;
        let gigabytes = vertices * bytes / seconds * 1e-9;
        let mut values = vec![
            ("ms", seconds * 1e3),
            ("Gv/s", rate),
            ("GB/s", gigabytes),
            ("% of copy", 100.0 * gigabytes / self.copy),
            ("% of write", 100.0 * rate / self.write),
        ];
        values.extend_from_slice(further);
        self.line(case, &values);
    }

    pub(crate) fn json(&self) -> String {
        let mut text =
            format!("{{\n  \"adapter\": {:?},\n  \"small\": {},\n  \"cases\": [", self.gpu, self.is_small);
        for (at, line) in self.lines.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            let _ = write!(text, "{comma}\n    {{\"section\": {:?}, \"case\": {:?}", line.section, line.case);
            for (unit, value) in &line.values {
                let _ = write!(text, ", {unit:?}: {value}");
            }
            text.push('}');
        }
        text.push_str("\n  ]\n}\n");
        text
    }
}

fn number(value: f64) -> String {
    match value.abs() {
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        v if v >= 0.1 => format!("{value:.3}"),
        _ => format!("{value:.4}"),
    }
}
