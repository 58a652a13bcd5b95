//! Where a process computes: threads, device, kernels.

use engine::nn::device::{Device, DeviceChoice};
use engine::{error::Result, models::Kernels, nn::device};

/// Where to compute.
#[derive(Clone, Debug)]
pub struct Runtime {
    pub threads: usize,
    pub device: Device,
    pub engine: Kernels,
}

impl Runtime {
    /// Finds the device, which may have a notice.
    pub fn new(device: DeviceChoice, threads: Option<usize>, engine: Kernels) -> Result<Self> {
        let device = device::pick(device)?;
        let threads = threads.unwrap_or_else(physical_cores);
        // Only the first pool of a process counts.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
        let engine = if device.is_cpu() { engine } else { Kernels::Plain };
        Ok(Self { threads, device, engine })
    }
}

/// Physical cores that this process may use; two threads of one core share the units that matter here.
pub fn physical_cores() -> usize {
    // regards both the processors that are allowed and a quota
    let most = std::thread::available_parallelism().map_or(1, usize::from);
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let siblings =
        |cpu| std::fs::read_to_string(format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")).ok();
    allowed(&status).and_then(|allowed| cores(&allowed, siblings)).unwrap_or(most).clamp(1, most)
}

fn allowed(status: &str) -> Option<Vec<usize>> {
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    let mut cpus = Vec::new();
    for part in list.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        cpus.extend(first.parse::<usize>().ok()?..=last.parse::<usize>().ok()?);
    }
    Some(cpus)
}

fn cores(cpus: &[usize], siblings: impl Fn(usize) -> Option<String>) -> Option<usize> {
    let mut cores = cpus.iter().map(|cpu| siblings(*cpu)).collect::<Option<Vec<_>>>()?;
    cores.sort();
    cores.dedup();
    Some(cores.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn under_taskset_the_cores_of_the_allowed_processors_count() {
        // four cores of two threads each: processor i shares a core with i + 4
        let siblings = |cpu: usize| (cpu < 8).then(|| format!("{},{}", cpu % 4, cpu % 4 + 4));
        for (list, expect) in [("0,2", 2), ("0,4", 1), ("4-7", 4), ("0-7", 4), ("1,5-6", 2)] {
            let status = format!("Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t{list}\n");
            assert_eq!(allowed(&status).and_then(|cpus| cores(&cpus, siblings)), Some(expect), "{list}");
        }
        assert_eq!(allowed("Name:\tx\n"), None);
        assert_eq!(cores(&[0, 9], siblings), None, "a processor that nothing is known of");
    }
}
