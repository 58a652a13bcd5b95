//! A value of candle's graph that was computed outside it, whose gradient is computed by hand.

use candle_core::{CpuStorage, CudaStorage, CustomOp3, Layout, MetalStorage, Shape, Storage, Tensor};

use engine::error::{Error, Result};

/// The gradients of what a node was made from.
pub type NodeGradients = [Option<Tensor>; 3];
type Backward = Box<dyn Fn(&Tensor) -> Result<NodeGradients> + Send + Sync>;

struct ByHand {
    value: Tensor,
    backward: Backward,
}

/// `value` as a node made from `from`; `backward` gives their gradients from its own.
pub fn by_hand(
    value: &Tensor, from: [&Tensor; 3], backward: impl Fn(&Tensor) -> Result<NodeGradients> + Send + Sync + 'static,
) -> Result<Tensor> {
    // a card copies storage as it is, from its beginning
    let begins = value.is_contiguous() && value.layout().start_offset() == 0;
    let value = if begins { value.clone() } else { value.force_contiguous()? };
    Ok(from[0].apply_op3(from[1], from[2], ByHand { value, backward: Box::new(backward) })?)
}

fn refused<T>() -> candle_core::Result<T> {
    Err(candle_core::Error::Msg("a node by hand is on another device than what it was made from".to_owned()))
}

impl CustomOp3 for ByHand {
    fn name(&self) -> &'static str {
        "by hand"
    }

    fn cpu_fwd(
        &self, _: &CpuStorage, _: &Layout, _: &CpuStorage, _: &Layout, _: &CpuStorage, _: &Layout,
    ) -> candle_core::Result<(CpuStorage, Shape)> {
        let (storage, layout) = self.value.storage_and_layout();
        match &*storage {
            Storage::Cpu(CpuStorage::F32(all)) => {
                let from = layout.start_offset();
                let own = all[from..from + layout.shape().elem_count()].to_vec();
                Ok((CpuStorage::F32(own), layout.shape().clone()))
            }
            _ => refused(),
        }
    }

    fn cuda_fwd(
        &self, _: &CudaStorage, _: &Layout, _: &CudaStorage, _: &Layout, _: &CudaStorage, _: &Layout,
    ) -> candle_core::Result<(CudaStorage, Shape)> {
        use candle_core::backend::BackendStorage as _;
        let (storage, layout) = self.value.storage_and_layout();
        match &*storage {
            Storage::Cuda(own) => Ok((own.try_clone(layout)?, layout.shape().clone())),
            _ => refused(),
        }
    }

    fn metal_fwd(
        &self, _: &MetalStorage, _: &Layout, _: &MetalStorage, _: &Layout, _: &MetalStorage, _: &Layout,
    ) -> candle_core::Result<(MetalStorage, Shape)> {
        use candle_core::backend::BackendStorage as _;
        let (storage, layout) = self.value.storage_and_layout();
        match &*storage {
            Storage::Metal(own) => Ok((own.try_clone(layout)?, layout.shape().clone())),
            _ => refused(),
        }
    }

    fn bwd(
        &self, _: &Tensor, _: &Tensor, _: &Tensor, _: &Tensor, gradient: &Tensor,
    ) -> candle_core::Result<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
        let [first, second, third] = (self.backward)(gradient).map_err(candle_core::Error::wrap)?;
        Ok((first, second, third))
    }
}

/// Several tensors in one row of numbers: a node is made from three at most, and is one.
pub fn flat(all: &[&Tensor]) -> Result<Tensor> {
    let all: Vec<Tensor> =
        all.iter().map(|tensor| tensor.contiguous()?.flatten_all()).collect::<candle_core::Result<_>>()?;
    Ok(Tensor::cat(&all, 0)?)
}

/// The tensors of a row that [`flat`] made.
pub fn pieces<const N: usize>(all: &Tensor, shapes: &[[usize; 3]; N]) -> Result<[Tensor; N]> {
    let mut from = 0;
    let mut found = Vec::with_capacity(N);
    for shape in shapes {
        let count = shape.iter().product();
        found.push(all.narrow(0, from, count)?.reshape(shape.as_slice())?);
        from += count;
    }
    found.try_into().map_err(|_| Error::Internal("a row has other pieces than shapes".to_owned()))
}
