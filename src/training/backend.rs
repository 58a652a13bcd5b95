//! What computes loss and gradient and moves the weights: the fused engine on the CPU,
//! candle's autograd over the readable models on any other device, hand-written gradients of few large nodes on an NVIDIA card.

use crate::fused::{BatchLoss, Fused, StepOptions};
use crate::{layout::ParameterLayout, minibatch::Minibatch, optimizer::Optimizer};
use engine::error::Result;

pub use crate::optimizer::OptimizerMemory;

/// The loss of a batch, and the norm of its gradient.
pub type Updated = (BatchLoss, f32);

/// Weights that learn.
pub trait Engine {
    fn update(&mut self, batch: Minibatch<'_>, options: StepOptions, rate: f32, update: u64) -> Result<Updated>;
    fn measure(&mut self, batch: Minibatch<'_>) -> Result<BatchLoss>;
    fn weights(&self) -> Result<Vec<f32>>;
    fn memory(&self) -> Result<OptimizerMemory>;
    fn restore(&mut self, weights: Vec<f32>, memory: Option<OptimizerMemory>) -> Result<()>;
    fn layout(&self) -> &ParameterLayout;
}

/// The CPU's engine.
#[derive(Debug)]
pub struct FusedEngine {
    fused: Fused,
    flat: Vec<f32>,
    optimizer: Optimizer,
}

impl FusedEngine {
    pub fn new(fused: Fused, flat: Vec<f32>, optimizer: Optimizer) -> Self {
        Self { fused, flat, optimizer }
    }

    /// Bytes of weights, gradients, the optimizer's memories and all buffers, as the last update left them.
    pub fn bytes(&self) -> usize {
        let OptimizerMemory { first, second } = &self.optimizer.memory;
        let numbers = self.flat.len() + first.len() + second.len();
        self.fused.bytes() + 4 * numbers
    }
}

impl Engine for FusedEngine {
    fn update(&mut self, batch: Minibatch<'_>, options: StepOptions, rate: f32, update: u64) -> Result<Updated> {
        let loss = self.fused.step(&self.flat, batch, Some(options));
        let norm = self.fused.update(&mut self.flat, &mut self.optimizer, rate, update);
        Ok((loss, norm))
    }

    fn measure(&mut self, batch: Minibatch<'_>) -> Result<BatchLoss> {
        Ok(self.fused.step(&self.flat, batch, None))
    }

    fn weights(&self) -> Result<Vec<f32>> {
        Ok(self.flat.clone())
    }

    fn memory(&self) -> Result<OptimizerMemory> {
        Ok(self.optimizer.memory.clone())
    }

    fn restore(&mut self, weights: Vec<f32>, memory: Option<OptimizerMemory>) -> Result<()> {
        self.flat = weights;
        self.optimizer.memory = memory.unwrap_or_else(|| std::mem::take(&mut self.optimizer.memory));
        Ok(())
    }

    fn layout(&self) -> &ParameterLayout {
        self.fused.layout()
    }
}
