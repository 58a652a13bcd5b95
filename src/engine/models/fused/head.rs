//! An alignment head on a frozen model: where a word comes from, by the decoder's states on either side of it.
//!
//! e'_ij = v' tanh(W' [s_{i-1}; s_i; s_{i+1}; E y_i] + U' h_j), alpha'_i = softmax(e'_i). W', U' and v' alone are
//! learned, from the links of an aligner; a head with X' adds X' [E x_{j-1}; E x_j; E x_{j+1}] to U' h_j. (Peter et al.
//! 2017, Zenkel et al. 2019 and Garg et al. 2019 have the idea for other models.) In RNNencdec, whose decoder never
//! sees h_j, it is a probe. A Transformer has zeros for s_0; its s_i is what the last layer of its decoder gives.
//!
//! The row of y_i needs s_{i+1}: the step that predicts y_{i+1} gives it together with alpha_{i+1}
//! ([`StepOutput::head`]), and the last word of a translation has none.

use std::{path::Path, sync::Arc};

use super::rows::RowTable;
use super::sized;
use crate::error::{Error, Result};
use crate::models::checkpoint::{Array, Weights};
use crate::models::stepper::{StepOutput, StepRow, Stepper};
use crate::models::{config::Config, header::Shapes, need::Need, transformer::heads::HeadChanges};
use crate::nn::fused::elementwise::softmax;
use crate::nn::fused::{Onto, Packed, attention};

/// The head's file in a model folder; next to a one-file model, that file's name stands before it.
pub const HEAD_FILE: &str = "alignment.safetensors";

/// Source words, with a neighbour on either side.
pub const NEAR: usize = 3;

pub const SOURCE_TABLE: &str = "source_embedding";

/// Numbers of W' [..] + U' h_j.
pub const HEAD_WIDTH: usize = 256;

/// Sizes of a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeadSizes {
    pub state: usize,
    pub embedding: usize,
    /// Of h_j: 2n in RNNsearch, mostly n elsewhere.
    pub annotation: usize,
    /// m, of the embedding of a source word; 0: the head does not read it.
    pub source: usize,
}

impl HeadSizes {
    pub fn of(config: &Config, model: &Weights) -> Self {
        let annotation = (config.architecture.entry().annotation)(config);
        let source = model.shape(SOURCE_TABLE).ok().and_then(|shape| shape.get(1).copied()).unwrap_or(0);
        Self { state: config.hidden, embedding: config.embedding, annotation, source }
    }

    /// Numbers of [s_{i-1}; s_i; s_{i+1}; E y_i].
    pub fn query(self) -> usize {
        3 * self.state + self.embedding
    }

    pub fn shapes(self) -> Shapes {
        let mut shapes = vec![
            ("W".to_owned(), vec![HEAD_WIDTH, self.query()]),
            ("U".to_owned(), vec![HEAD_WIDTH, self.annotation]),
            ("v".to_owned(), vec![HEAD_WIDTH]),
            ("X".to_owned(), vec![HEAD_WIDTH, NEAR * self.source]),
        ];
        shapes.truncate(if self.source > 0 { 4 } else { 3 });
        shapes
    }
}

/// A head, packed.
#[derive(Debug)]
pub struct AlignmentHead {
    sizes: HeadSizes,
    w: Packed,
    u: Packed,
    v: Vec<f32>,
    embedding: RowTable,
    /// X' and the embeddings of source words.
    near: Option<(Packed, RowTable)>,
}

impl AlignmentHead {
    pub fn of_file(path: &Path, config: &Config, model: &Arc<Weights>) -> Result<Option<Self>> {
        if !path.exists() {
            return Ok(None);
        }
        Self::read(config, model, &|shapes| Weights::load(path, shapes)).map(Some)
    }

    /// Writes the head of a model to another file, its matrices in 8 bits ([`Weights::save_in_8_bits`]).
    pub fn shorten(from: &Path, to: &Path, config: &Config, model: &Arc<Weights>, bits: u32) -> Result<()> {
        let through =
            |shapes: &Shapes| Weights::load(from, shapes).and_then(|head| head.save_in_8_bits(to, bits).map(|()| head));
        Self::read(config, model, &through).map(drop)
    }

    /// Reads a head with X', or an older one without.
    pub fn read(config: &Config, model: &Arc<Weights>, read: &dyn Fn(&Shapes) -> Result<Weights>) -> Result<Self> {
        let mut sizes = HeadSizes::of(config, model);
        let head = match read(&sizes.shapes()) {
            Err(Error::Tensor { path, tensor, message }) if tensor == "X" => {
                sizes.source = 0;
                read(&sizes.shapes()).map_err(|_| Error::Tensor { path, tensor, message })?
            }
            read => read?,
        };
        Self::new(config, model, sizes, &head)
    }

    fn new(config: &Config, model: &Arc<Weights>, sizes: HeadSizes, head: &Weights) -> Result<Self> {
        let packed =
            |name: &str, width: usize| Ok::<_, Error>(Packed::compact(&head.numbers(name)?, HEAD_WIDTH, width));
        Ok(Self {
            sizes,
            w: packed("W", sizes.query())?,
            u: packed("U", sizes.annotation)?,
            v: head.numbers("v")?,
            embedding: RowTable::new(model, config.target_embedding())?,
            near: match sizes.source {
                0 => None,
                m => Some((packed("X", NEAR * m)?, RowTable::new(model, SOURCE_TABLE)?)),
            },
        })
    }

    /// U' h_j of every source word, and X' of it and its neighbours, [t_x, [`HEAD_WIDTH`]].
    fn keys(&self, h: &[Vec<f32>], source: &[u32], threads: usize) -> Result<Vec<f32>> {
        let mut keys = vec![0.0; h.len() * HEAD_WIDTH];
        self.u.apply_on(threads, h.len(), &h.concat(), self.sizes.annotation, &mut keys, HEAD_WIDTH, Onto::Zero);
        if let Some((x, table)) = &self.near {
            let (m, mut read) = (self.sizes.source, Vec::new());
            table.gather(m, near(source, h.len()), &mut read)?;
            x.apply_on(threads, h.len(), &read, NEAR * m, &mut keys, HEAD_WIDTH, Onto::C);
        }
        Ok(keys)
    }
}

/// Each source word between its neighbours; `None` beyond the ends.
pub fn near(source: &[u32], words: usize) -> impl Iterator<Item = Option<u32>> {
    (0..words).flat_map(move |j| (j..j + NEAR).map(move |at| source.get(at.checked_sub(1)?).copied()))
}

/// A model's stepper that also finds where the word read last comes from; all else is the model's.
pub struct HeadStepper {
    inner: Box<dyn Stepper>,
    head: Arc<AlignmentHead>,
    threads: usize,
    /// U' h_j of each sentence of the batch.
    keys: Vec<Vec<f32>>,
    /// s_{i-2} and s_{i-1} of the rows of the last step, side by side.
    states: Vec<f32>,
    /// s_{i-1} and s_i of those of the running one, as its last answer has them.
    running: Option<Vec<f32>>,
    first: bool,
    buffers: [Vec<f32>; 3],
}

impl HeadStepper {
    pub fn new(inner: Box<dyn Stepper>, head: Arc<AlignmentHead>, threads: usize) -> Self {
        let (keys, states, buffers) = (Vec::new(), Vec::new(), Default::default());
        Self { inner, head, threads, keys, states, running: None, first: true, buffers }
    }

    fn pass(&mut self) {
        if let Some(states) = self.running.take() {
            (self.states, self.first) = (states, false);
        }
    }

    /// Adds the keys of these sentences, from `sentence` on, and 0 and s_0 (or 0) of their rows, from `row` on.
    fn enter(&mut self, sentence: usize, sources: &[&[u32]], row: usize) -> Result<()> {
        let n = self.head.sizes.state;
        for (k, source) in sources.iter().enumerate() {
            let h = self.inner.encoded(sentence + k).ok_or_else(no_vectors)?;
            self.keys.push(self.head.keys(&h, source, self.threads)?);
            self.states.resize(self.states.len() + n, 0.0);
            match self.inner.states().and_then(|states| states.get((row + k) * n..(row + k + 1) * n)) {
                Some(s) => self.states.extend_from_slice(s),
                None => self.states.resize(self.states.len() + n, 0.0),
            }
        }
        Ok(())
    }

    /// Queries [s_{i-1}; s_i; s_{i+1}; E y_i] of the rows, and the states that the next step needs.
    fn queries(&mut self, rows: &[StepRow]) -> Result<()> {
        let HeadSizes { state: n, embedding: m, .. } = self.head.sizes;
        let none = || Error::Internal("a head was asked for rows without states".to_owned());
        let now = self.inner.states().ok_or_else(none)?;
        let [queries, embedded, _] = &mut self.buffers;
        self.head.embedding.gather(m, rows.iter().map(|row| row.y_prev), embedded)?;
        queries.clear();
        let mut states = Vec::with_capacity(rows.len() * 2 * n);
        for (r, row) in rows.iter().enumerate() {
            let parent = if self.first { row.sentence } else { row.parent };
            let before = self.states.get(parent * 2 * n..(parent + 1) * 2 * n).ok_or_else(none)?;
            let s = now.get(r * n..(r + 1) * n).ok_or_else(none)?;
            queries.extend_from_slice(before);
            queries.extend_from_slice(s);
            queries.extend_from_slice(&embedded[r * m..(r + 1) * m]);
            states.extend_from_slice(&before[n..]);
            states.extend_from_slice(s);
        }
        self.running = Some(states);
        Ok(())
    }

    fn show(&mut self, rows: &[StepRow], output: &mut StepOutput) -> Result<()> {
        self.queries(rows)?;
        let [queries, _, asked] = &mut self.buffers;
        let width = self.head.sizes.query();
        let asked = sized(asked, rows.len() * HEAD_WIDTH);
        self.head.w.apply_on(self.threads, rows.len(), queries, width, asked, HEAD_WIDTH, Onto::Zero);
        if output.alpha.is_empty() {
            output.t_x = self.keys.iter().map(|keys| keys.len() / HEAD_WIDTH).max().unwrap_or(0);
        }
        output.head.clear();
        output.head.resize(rows.len() * output.t_x, 0.0);
        for (r, row) in rows.iter().enumerate().filter(|(_, row)| row.y_prev.is_some()) {
            let keys = &self.keys[row.sentence];
            let e = &mut output.head[r * output.t_x..r * output.t_x + keys.len() / HEAD_WIDTH];
            attention::energies(&asked[r * HEAD_WIDTH..(r + 1) * HEAD_WIDTH], keys, &self.head.v, e);
            softmax(e);
        }
        Ok(())
    }
}

impl Stepper for HeadStepper {
    fn inner(&self) -> Option<&dyn Stepper> {
        Some(&*self.inner)
    }

    fn begin(&mut self, sources: &[&[u32]]) -> Result<()> {
        self.begin_changed(sources, &[])
    }

    fn begin_changed(&mut self, sources: &[&[u32]], changes: &[HeadChanges]) -> Result<()> {
        self.inner.begin_changed(sources, changes)?;
        self.keys.clear();
        self.states.clear();
        (self.running, self.first) = (None, true);
        self.enter(0, sources, 0)
    }

    fn has_alignment_head(&self) -> bool {
        true
    }

    fn align(&mut self, rows: &[StepRow], output: &mut StepOutput) -> Result<()> {
        self.pass();
        self.inner.align(rows, output)
    }

    fn predict(&mut self, rows: &[StepRow], need: &Need<'_>, output: &mut StepOutput) -> Result<()> {
        self.inner.predict(rows, need, output)?;
        self.show(rows, output)
    }

    fn joins(&self) -> bool {
        self.inner.joins()
    }

    fn join(&mut self, kept: &[usize], sources: &[&[u32]]) -> Result<()> {
        self.pass();
        let rows = self.states.len() / (2 * self.head.sizes.state);
        self.inner.join(kept, sources)?;
        self.keys = kept.iter().map(|&sentence| std::mem::take(&mut self.keys[sentence])).collect();
        self.first = false;
        self.enter(kept.len(), sources, rows)
    }
}

pub fn no_vectors() -> Error {
    let message = "an alignment head needs a model that leaves a vector of each source word and a state of each step; this \
                   one has one vector of the whole sentence";
    Error::Input(message.to_owned())
}

pub fn weights_of(sizes: HeadSizes, flat: &[f32]) -> Weights {
    let (mut weights, mut rest) = (Weights::new(), flat);
    for (name, shape) in sizes.shapes() {
        let (data, more) = rest.split_at(shape.iter().product::<usize>().min(rest.len()));
        weights.insert(name, Array { shape, data: data.to_vec() });
        rest = more;
    }
    weights
}
