//! The device that models run on, chosen at run time among those compiled in. Where CUDA's libraries are missing, the
//! driver's wrapper panics; that panic is caught here and becomes an error.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::quiet::catch_quietly;

/// What the user asked for: `auto`, `cpu`, `cuda`, `cuda:1` or `metal`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum DeviceChoice {
    #[default]
    Auto,
    Cpu,
    Cuda(usize),
    Metal,
}

impl FromStr for DeviceChoice {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.trim().to_ascii_lowercase().as_str() {
            "auto" => Ok(Self::Auto),
            "cpu" => Ok(Self::Cpu),
            "cuda" => Ok(Self::Cuda(0)),
            "metal" => Ok(Self::Metal),
            other => {
                other.strip_prefix("cuda:").and_then(|number| number.parse().ok()).map(Self::Cuda).ok_or_else(|| {
                    Error::Input(format!(
                        "the device \"{text}\" is unknown; choose auto, cpu, cuda, cuda:1 (a card's number) or metal"
                    ))
                })
            }
        }
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Cpu => f.write_str("cpu"),
            Self::Cuda(0) => f.write_str("cuda"),
            Self::Cuda(number) => write!(f, "cuda:{number}"),
            Self::Metal => f.write_str("metal"),
        }
    }
}

/// A device that works.
#[derive(Clone, Debug)]
pub struct Device {
    pub candle: candle_core::Device,
    pub name: String,
    pub notice: Option<String>,
}

impl Device {
    pub fn cpu() -> Self {
        Self { candle: candle_core::Device::Cpu, name: DeviceChoice::Cpu.to_string(), notice: None }
    }

    pub fn is_cpu(&self) -> bool {
        self.candle.is_cpu()
    }
}

/// The choices that this build can offer, best first; `auto` and `cpu` are always among them.
pub fn available() -> Vec<DeviceChoice> {
    let mut choices = vec![DeviceChoice::Auto];
    if cfg!(feature = "cuda") {
        choices.push(DeviceChoice::Cuda(0));
    }
    if cfg!(feature = "metal") {
        choices.push(DeviceChoice::Metal);
    }
    choices.push(DeviceChoice::Cpu);
    choices
}

/// Tries out a device; `auto` falls back to the processor with a `notice`.
pub fn pick(choice: DeviceChoice) -> Result<Device> {
    match choice {
        DeviceChoice::Auto => Ok(best()),
        DeviceChoice::Cpu => Ok(Device::cpu()),
        DeviceChoice::Cuda(number) => {
            compiled_in(cfg!(feature = "cuda"), "CUDA", "cuda")?;
            try_out(choice, || cuda::open(number))
        }
        DeviceChoice::Metal => {
            compiled_in(cfg!(feature = "metal"), "Metal", "metal")?;
            try_out(choice, || candle_core::Device::new_metal(0))
        }
    }
}

fn best() -> Device {
    let mut notice = None;
    for choice in available() {
        if matches!(choice, DeviceChoice::Auto | DeviceChoice::Cpu) {
            continue;
        }
        match pick(choice) {
            Ok(device) => return device,
            Err(error) => notice = Some(format!("Running on the processor, because {error}")),
        }
    }
    Device { notice, ..Device::cpu() }
}

fn compiled_in(compiled: bool, name: &str, feature: &str) -> Result<()> {
    if compiled {
        return Ok(());
    }
    Err(Error::Device(format!(
        "this build of Interlinear has no {name} support; choose cpu or auto, or build it with `--features {feature}`"
    )))
}

fn try_out(choice: DeviceChoice, open: impl FnOnce() -> candle_core::Result<candle_core::Device>) -> Result<Device> {
    let tried = catch_quietly(|| {
        let candle = open()?;
        let x = candle_core::Tensor::ones((2, 2), candle_core::DType::F32, &candle)?;
        x.matmul(&x)?.sum_all()?.to_scalar::<f32>().map(|sum| (candle, sum))
    });
    let why = match tried {
        Ok(Ok((candle, sum))) if (sum - 8.0).abs() < 1e-3 => {
            return Ok(Device { candle, name: choice.to_string(), notice: None });
        }
        Ok(Ok(_)) => "it computes wrong numbers".to_owned(),
        Ok(Err(error)) => first_line(&error.to_string()),
        Err(panic) => first_line(&panic),
    };
    Err(Error::Device(format!(
        "the device \"{choice}\" does not work here ({why}); check its driver, or choose cpu or auto"
    )))
}

/// A card ready for training until dropped: it keeps freed memory, since a step makes thousands of tensors, and may
/// round factors to TF32, for all that the program does on it.
#[derive(Debug)]
pub struct TrainingDevice(candle_core::Device);

impl TrainingDevice {
    pub fn begin(device: &candle_core::Device, rounds_products: bool) -> Self {
        candle_core::cuda::set_gemm_reduced_precision_f32(rounds_products);
        cuda::keep_memory(device, u64::MAX);
        Self(device.clone())
    }
}

impl Drop for TrainingDevice {
    fn drop(&mut self) {
        candle_core::cuda::set_gemm_reduced_precision_f32(false);
        cuda::keep_memory(&self.0, 0);
    }
}

#[cfg(not(feature = "cuda"))]
mod cuda {
    use candle_core::Device;

    pub fn open(number: usize) -> candle_core::Result<Device> {
        Device::new_cuda(number)
    }

    pub fn keep_memory(_: &Device, _: u64) {}
}

#[cfg(feature = "cuda")]
mod cuda {
    #![allow(unsafe_code, reason = "two settings of the driver; each block says why it is sound")]

    use candle_core::Device;
    use candle_core::cuda_backend::cudarc::driver::{result, sys};

    /// One stream for all threads; candle's own choice, one a thread, would need events to keep their work in order.
    pub fn open(number: usize) -> candle_core::Result<Device> {
        let device = Device::new_cuda_with_stream(number)?;
        // SAFETY: candle refuses to mix devices, so a tensor of this one is made, used and freed on its one stream only.
        unsafe { device.as_cuda_device()?.disable_event_tracking() };
        Ok(device)
    }

    /// Freed memory up to so many bytes stays with the program. A card without pools allocates each tensor by itself.
    pub fn keep_memory(device: &Device, most: u64) {
        let candle_core::DeviceLocation::Cuda { gpu_id } = device.location() else { return };
        let attribute = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
        // SAFETY: the device is open, and the attribute is a number of 64 bits, which outlives the call.
        let set = || unsafe {
            let pool = result::device::get_default_mem_pool(result::device::get(gpu_id as i32)?)?;
            result::mem_pool::set_attribute(pool, attribute, (&raw const most).cast_mut().cast())
        };
        let _: Result<(), _> = set();
    }
}

fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    // the driver's wrapper lists thirty names of files behind it
    line.split(" - searched for").next().unwrap_or(line).trim().trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_read_and_written() {
        for (text, choice) in [
            ("auto", Some(DeviceChoice::Auto)),
            ("CPU", Some(DeviceChoice::Cpu)),
            ("cuda", Some(DeviceChoice::Cuda(0))),
            ("cuda:3", Some(DeviceChoice::Cuda(3))),
            ("metal", Some(DeviceChoice::Metal)),
            ("cuda:", None),
            ("gpu", None),
            ("", None),
        ] {
            let read: Option<DeviceChoice> = text.parse().ok();
            assert_eq!(read, choice, "{text}");
            if let Some(choice) = choice {
                assert_eq!(choice.to_string().parse::<DeviceChoice>().ok(), Some(choice));
            }
        }
    }

    #[test]
    fn what_is_not_there_is_a_sentence_and_auto_always_works() {
        assert!(pick(DeviceChoice::Auto).is_ok());
        assert!(pick(DeviceChoice::Cpu).is_ok_and(|device| device.is_cpu() && device.notice.is_none()));
        if !cfg!(feature = "cuda") {
            let Err(error) = pick(DeviceChoice::Cuda(0)) else { panic!("there is no CUDA in this build") };
            assert!(error.is_users() && error.to_string().contains("--features cuda"), "{error}");
        }
    }

    #[test]
    fn a_panic_while_opening_becomes_a_sentence() {
        let Err(error) = try_out(DeviceChoice::Cuda(0), || {
            panic!("Unable to dynamically load the \"cuda\" library - searched for \"a\", \"b\".\nmore")
        }) else {
            panic!("it panicked")
        };
        assert!(error.to_string().contains("Unable to dynamically load the \"cuda\" library)"), "{error}");
    }
}
