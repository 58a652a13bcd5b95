//! Kernels of `kernels.cu` on tensors of an NVIDIA card. They are compiled when they are first used.

use candle_core::Tensor;

/// What a kernel is given: a tensor and how many numbers it must have.
#[derive(Clone, Copy, Debug)]
pub enum Given<'a> {
    /// Numbers; `None` is a null pointer.
    Numbers(Option<&'a Tensor>, usize),
    Ids(&'a Tensor, usize),
}

impl<'a> Given<'a> {
    /// Numbers that are there.
    pub fn numbers(tensor: &'a Tensor, count: usize) -> Self {
        Self::Numbers(Some(tensor), count)
    }
}

/// How many threads a kernel has.
#[derive(Clone, Copy, Debug)]
pub enum LaunchGrid {
    /// One for each of so many numbers.
    Each(usize),
    /// A block of 256 for each row, with room for so many numbers that it shares.
    Rows { rows: usize, shared: usize },
}

#[cfg(feature = "cuda")]
pub use with::{launch, ready};
#[cfg(not(feature = "cuda"))]
pub use without::{launch, ready};

#[cfg(not(feature = "cuda"))]
mod without {
    use candle_core::{Device, Shape, Tensor};

    use super::{Given, LaunchGrid};
    use engine::error::{Error, Result};

    /// Refuses: there is no kernel in this build.
    pub fn launch(kernel: &str, _: &[Given<'_>], _: &[usize], _: impl Into<Shape>, _: LaunchGrid) -> Result<Tensor> {
        Err(Error::Internal(format!("the kernel {kernel} is not in this build")))
    }

    /// Why there are no kernels.
    pub fn ready(_: &Device) -> std::result::Result<(), String> {
        Err("they are for NVIDIA's cards".to_owned())
    }
}

#[cfg(feature = "cuda")]
mod with {
    #![allow(unsafe_code, reason = "launches of kernels; each block says why it is sound")]

    use std::sync::OnceLock;

    use candle_core::cuda_backend::cudarc::driver::{DevicePtr as _, LaunchConfig, PushKernelArg as _};
    use candle_core::{CudaDevice, CudaStorage, DType, Device, Shape, Storage, Tensor};
    use candle_core::{cuda_backend::cudarc::nvrtc, op::BackpropOp};

    use super::{Given, LaunchGrid};
    use engine::error::{Error, Result};
    use engine::quiet::catch_quietly;

    const SOURCE: &str = include_str!("kernels.cu");
    const ADDS: &str = "scatter";
    const THREADS: u32 = 256;
    /// Numbers that a block shares at most beside those that the kernels name: 48 KiB in all.
    const SHARED: usize = 12_000;

    fn ptx() -> std::result::Result<&'static str, &'static str> {
        static PTX: OnceLock<std::result::Result<String, String>> = OnceLock::new();
        let compile = || match catch_quietly(|| nvrtc::compile_ptx(SOURCE)) {
            Ok(Ok(ptx)) => Ok(ptx.to_src()),
            Ok(Err(error)) => Err(format!("{error:?}")),
            Err(panic) => Err(panic),
        };
        PTX.get_or_init(compile).as_deref().map_err(String::as_str)
    }

    /// Whether the kernels can be had on this device, or why not: NVIDIA's run-time compiler may be missing, or newer
    /// than the driver.
    pub fn ready(device: &Device) -> std::result::Result<(), String> {
        let card = device.as_cuda_device().map_err(|_| "they are for NVIDIA's cards".to_owned())?;
        let first = |text: &str| text.lines().next().unwrap_or_default().to_owned();
        let ptx = ptx().map_err(first)?;
        card.get_or_load_custom_func(ADDS, "interlinear", ptx).map(drop).map_err(|error| first(&error.to_string()))
    }

    /// A new tensor of that shape, written by a kernel that reads sizes and then what it is given.
    pub fn launch(
        kernel: &'static str, given: &[Given<'_>], sizes: &[usize], shape: impl Into<Shape>, grid: LaunchGrid,
    ) -> Result<Tensor> {
        let shape = shape.into();
        let wrong = || Error::Internal(format!("the kernel {kernel} was given another tensor or size than it reads"));
        let inputs: Vec<Option<Tensor>> =
            given.iter().map(|given| checked(*given).ok_or_else(wrong)?).collect::<Result<_>>()?;
        let device = inputs.iter().flatten().next().map(|tensor| tensor.device().clone()).ok_or_else(wrong)?;
        let card: &CudaDevice = device.as_cuda_device()?;
        let stream = card.cuda_stream();
        let ptx = ptx().map_err(|why| Error::Device(format!("the kernels do not compile here ({why})")))?;
        let function = card.get_or_load_custom_func(kernel, "interlinear", ptx)?;
        let held: Vec<_> = inputs.iter().map(|input| input.as_ref().map(Tensor::storage_and_layout)).collect();
        let mut pointers = Vec::with_capacity(held.len());
        for input in &held {
            pointers.push(match input {
                None => 0,
                Some((storage, layout)) => {
                    let Storage::Cuda(storage) = &**storage else { return Err(wrong()) };
                    let from = layout.start_offset();
                    match layout.shape().elem_count() {
                        0 => 0,
                        _ if is_ids(storage) => storage.as_cuda_slice::<u32>()?.slice(from..).device_ptr(&stream).0,
                        _ => storage.as_cuda_slice::<f32>()?.slice(from..).device_ptr(&stream).0,
                    }
                }
            });
        }
        let sizes: Vec<i32> =
            sizes.iter().map(|size| i32::try_from(*size).map_err(|_| wrong())).collect::<Result<_>>()?;
        let mut out = if kernel == ADDS {
            card.alloc_zeros::<f32>(shape.elem_count())?
        } else {
            // SAFETY: the kernel writes all of it.
            unsafe { card.alloc::<f32>(shape.elem_count())? }
        };
        let (blocks, shared) = match grid {
            LaunchGrid::Each(count) => (count.div_ceil(THREADS as usize).min(1 << 20), 0),
            LaunchGrid::Rows { rows, shared } => (rows, shared),
        };
        if shared > SHARED {
            let message = format!("a source of {shared} words is too long for the card; lower `data.max_length`");
            return Err(Error::Device(message));
        }
        let config = LaunchConfig {
            grid_dim: (u32::try_from(blocks).map_err(|_| wrong())?, 1, 1),
            block_dim: (THREADS, 1, 1),
            shared_mem_bytes: 4 * shared as u32,
        };
        if blocks > 0 {
            let mut builder = function.builder();
            for size in &sizes {
                builder.arg(size);
            }
            for pointer in &pointers {
                builder.arg(pointer);
            }
            builder.arg(&mut out);
            // SAFETY: the functions of `kernels.rs` say for each kernel how many numbers of which kind its source reads at
            // those sizes, `checked` has compared them, and ids beyond the rows are skipped there. The tensors are held until
            // the launch is on the one stream of the device, on which they are freed too.
            unsafe { builder.launch(config) }.map_err(candle_core::Error::wrap)?;
        }
        drop(held);
        let storage = Storage::Cuda(CudaStorage::wrap_cuda_slice(out, card.clone()));
        Ok(Tensor::from_storage(storage, shape, BackpropOp::none(), false))
    }

    fn is_ids(storage: &CudaStorage) -> bool {
        use candle_core::backend::BackendStorage as _;
        storage.dtype() == DType::U32
    }

    fn checked(given: Given<'_>) -> Option<Result<Option<Tensor>>> {
        let (tensor, count, dtype) = match given {
            Given::Numbers(None, _) => return Some(Ok(None)),
            Given::Numbers(Some(tensor), count) => (tensor, count, DType::F32),
            Given::Ids(tensor, count) => (tensor, count, DType::U32),
        };
        let fits = tensor.elem_count() == count && tensor.dtype() == dtype && tensor.device().is_cuda();
        fits.then(|| Ok(Some(tensor.contiguous()?)))
    }
}
