//! Floor 6: kernels of `kernels.cu` on tensors of an NVIDIA card. They are compiled when they are first used.

use candle_core::{Shape, Tensor};

use crate::error::Result;

/// How many threads a kernel has.
#[derive(Clone, Copy, Debug)]
pub enum Grid {
    /// One for each of so many numbers.
    Each(usize),
    /// A block of 256 for each row, with room for so many numbers that it shares.
    Rows {
        /// Blocks.
        rows: usize,
        /// Numbers.
        shared: usize,
    },
}

#[cfg(feature = "cuda")]
pub use with::{launch, works};
#[cfg(not(feature = "cuda"))]
pub use without::{launch, works};

#[cfg(not(feature = "cuda"))]
mod without {
    use super::{Grid, Result, Shape, Tensor};
    use crate::error::Error;

    pub fn launch(kernel: &str, _: &[Option<&Tensor>], _: &[usize], _: impl Into<Shape>, _: Grid) -> Result<Tensor> {
        Err(Error::Internal(format!("the kernel {kernel} is not in this build")))
    }

    pub fn works(_: &candle_core::Device) -> bool {
        false
    }
}

#[cfg(feature = "cuda")]
mod with {
    #![allow(unsafe_code, reason = "launches of kernels; each block says why it is sound")]

    use std::sync::OnceLock;

    use candle_core::backend::BackendStorage as _;
    use candle_core::cuda_backend::cudarc::driver::{DevicePtr as _, LaunchConfig, PushKernelArg as _};
    use candle_core::cuda_backend::cudarc::nvrtc;
    use candle_core::op::BackpropOp;
    use candle_core::{CudaDevice, CudaStorage, DType, Storage};

    use super::{Grid, Result, Shape, Tensor};
    use crate::error::Error;
    use crate::quiet::catch_quietly;

    const SOURCE: &str = include_str!("kernels.cu");
    const THREADS: u32 = 256;
    /// The kernel that adds to what is there.
    const ADDS: &str = "scatter";

    /// The kernels as the driver reads them, or why they could not be compiled.
    fn ptx() -> std::result::Result<&'static str, &'static str> {
        static PTX: OnceLock<std::result::Result<String, String>> = OnceLock::new();
        let compile = || match catch_quietly(|| nvrtc::compile_ptx(SOURCE)) {
            Ok(Ok(ptx)) => Ok(ptx.to_src()),
            Ok(Err(error)) => Err(format!("{error:?}")),
            Err(panic) => Err(panic),
        };
        PTX.get_or_init(compile).as_deref().map_err(String::as_str)
    }

    /// Whether the kernels can be had on this device: NVIDIA's run-time compiler may be missing.
    pub fn works(device: &candle_core::Device) -> bool {
        device.is_cuda() && ptx().is_ok()
    }

    /// A new tensor of that shape, written by a kernel that reads sizes and then tensors; a tensor that is `None` is a null
    /// pointer.
    pub fn launch(
        kernel: &'static str,
        inputs: &[Option<&Tensor>],
        sizes: &[usize],
        shape: impl Into<Shape>,
        grid: Grid,
    ) -> Result<Tensor> {
        let shape = shape.into();
        let inputs: Vec<Option<Tensor>> =
            inputs.iter().map(|input| input.map(Tensor::contiguous).transpose()).collect::<candle_core::Result<_>>()?;
        let Some(device) = inputs.iter().flatten().next().map(|tensor| tensor.device().clone()) else {
            return Err(Error::Internal(format!("the kernel {kernel} was given nothing")));
        };
        let card: &CudaDevice = device.as_cuda_device()?;
        let stream = card.cuda_stream();
        let ptx = ptx().map_err(|why| Error::Device(format!("the kernels do not compile here ({why})")))?;
        let function = card.get_or_load_custom_func(kernel, "interlinear", ptx)?;
        let held: Vec<_> = inputs.iter().map(|input| input.as_ref().map(Tensor::storage_and_layout)).collect();
        let mut pointers = Vec::with_capacity(held.len());
        for input in &held {
            let pointer = match input {
                None => 0,
                Some((storage, layout)) => {
                    let Storage::Cuda(storage) = &**storage else {
                        return Err(Error::Internal(format!(
                            "the kernel {kernel} was given a tensor of another device"
                        )));
                    };
                    let from = layout.start_offset();
                    match storage.dtype() {
                        DType::U32 => storage.as_cuda_slice::<u32>()?.slice(from..).device_ptr(&stream).0,
                        _ => storage.as_cuda_slice::<f32>()?.slice(from..).device_ptr(&stream).0,
                    }
                }
            };
            pointers.push(pointer);
        }
        let sizes: Vec<i32> = sizes.iter().map(|size| *size as i32).collect();
        let out = if kernel == ADDS {
            card.alloc_zeros::<f32>(shape.elem_count())?
        } else {
            // SAFETY: the kernel writes all of it.
            unsafe { card.alloc::<f32>(shape.elem_count())? }
        };
        let config = match grid {
            Grid::Each(count) => LaunchConfig {
                grid_dim: ((count as u32).div_ceil(THREADS).clamp(1, 1 << 20), 1, 1),
                block_dim: (THREADS, 1, 1),
                shared_mem_bytes: 0,
            },
            Grid::Rows { rows, shared } => LaunchConfig {
                grid_dim: (rows.max(1) as u32, 1, 1),
                block_dim: (THREADS, 1, 1),
                shared_mem_bytes: 4 * shared as u32,
            },
        };
        let mut builder = function.builder();
        sizes.iter().for_each(|size| {
            builder.arg(size);
        });
        pointers.iter().for_each(|pointer| {
            builder.arg(pointer);
        });
        builder.arg(&out);
        // SAFETY: the functions of `kernels.rs` give each kernel the sizes and shapes that its source reads; the tensors
        // are held until the launch is on the one stream of the device, on which they are freed too.
        unsafe { builder.launch(config) }.map_err(candle_core::Error::wrap)?;
        drop(held);
        let storage = Storage::Cuda(CudaStorage::wrap_cuda_slice(out, card.clone()));
        Ok(Tensor::from_storage(storage, shape, BackpropOp::none(), false))
    }
}
