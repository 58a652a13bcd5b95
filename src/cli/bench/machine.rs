//! Floor 10: the machine: what it is, and how fast it reads and multiplies at best.

use std::process::Command;

use serde_json::{Value, json};

use crate::cli::args::physical_cores;
use crate::cli::bench::report::{Column, Report};
use crate::cli::bench::setup::Setup;
use crate::nn::fused::{Level, level, peak};

const COLUMNS: &[Column] = &[
    Column::number("threads", "threads", 9, 0),
    Column::number("memory_gb_per_s", "memory GB/s", 11, 1),
    Column::number("cache_gb_per_s", "cache GB/s", 10, 0),
    Column::number("f32_gflops", "f32 GFLOP/s", 11, 0),
    Column::number("bf16_gflops", "bf16 GFLOP/s", 12, 0),
];

/// The machine and its rates on one thread and on as many as the other sections use.
pub fn run(setup: &Setup, report: &mut Report<'_>) -> anyhow::Result<Value> {
    let level = match level() {
        Level::Base => "the least that the target guarantees",
        Level::Avx2 => "AVX2 and FMA",
        Level::Avx512 => "AVX-512",
    };
    let bf16 = peak::multiply_adds_bf16(1).is_some();
    let with_bf16 = if bf16 { ", with products in bf16" } else { "" };
    let (cpu, cores) = (processor(), physical_cores());
    report.line(&format!("{cpu}, {cores} cores, {level}{with_bf16}"))?;
    report.head(COLUMNS)?;
    let mut rows = Vec::new();
    for threads in setup.threads() {
        let rates = setup.rates(threads)?;
        let values = [rates.memory_gb_per_s, rates.cache_gb_per_s, rates.f32_gflops].map(Value::from);
        let row = [&[json!(threads)], &values[..], &[json!(rates.bf16_gflops)]].concat();
        rows.push(report.row(&row, Value::Null)?);
    }
    Ok(json!({"cpu": cpu, "cores": cores, "level": level, "bf16": bf16, "rates": rows}))
}

/// The processor's name for itself.
fn processor() -> String {
    let told = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = told.lines().find(|line| line.starts_with("model name")).and_then(|line| line.split_once(':'));
    let name = line.map(|(_, name)| name.trim().to_owned()).filter(|name| !name.is_empty());
    name.or_else(sysctl).unwrap_or_else(|| format!("a processor ({})", std::env::consts::ARCH))
}

/// The same where the system is macOS.
fn sysctl() -> Option<String> {
    if !cfg!(target_os = "macos") {
        return None;
    }
    let told = Command::new("sysctl").args(["-n", "machdep.cpu.brand_string"]).output().ok()?;
    let name = String::from_utf8_lossy(&told.stdout).trim().to_owned();
    (!name.is_empty()).then_some(name)
}
