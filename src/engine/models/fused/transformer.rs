//! The Transformer on the CPU; the equations are in `models/transformer/mod.rs`. Sentences lie one behind the other
//! without padding. K and V of a hypothesis' words stay in one store a layer; a hypothesis is a path of places in it,
//! so that rows may be dropped, repeated and reordered without a copy.

use std::{collections::BTreeMap, sync::Arc};

use super::sized;
use super::transformer_layers::{FusedDecoderLayer, FusedEncoderLayer, FusedNorm, LayerBuffers, silence};
use super::{PackedModel, readout::Buffers as ReadoutBuffers, readout::Readout, rows::RowTable};
use crate::error::{Error, Result};
use crate::models::stepper::{HeadRows, StepOutput, StepRow, Stepper};
use crate::models::transformer::heads::{HeadChanges, HeadKind};
use crate::models::transformer::sizes::{DecoderCell, Positions, TransformerSizes};
use crate::models::transformer::sizes::{position, too_long};
use crate::models::{checkpoint::Weights, config::Config, config::required, need::Need};
use crate::nn::fused::elementwise::{add, softmax};
use crate::nn::fused::integers::Rounding;
use crate::nn::fused::{heads, team};

/// Weights packed for decoding.
#[derive(Debug)]
pub struct PackedTransformer {
    config: Config,
    sizes: TransformerSizes,
    source_embedding: RowTable,
    target_embedding: RowTable,
    positions: Option<[Vec<f32>; 2]>,
    encoder: Vec<FusedEncoderLayer>,
    decoder: Vec<FusedDecoderLayer>,
    encoder_norm: Option<FusedNorm>,
    decoder_norm: Option<FusedNorm>,
    readout: Readout,
    rounding: Option<Rounding>,
}

pub fn pack_model(config: &Config, weights: &Arc<Weights>) -> Result<Arc<dyn PackedModel>> {
    let sizes = required(config.transformer(), "a transformer")?;
    let target_embedding = config.target_embedding();
    let output = if sizes.tied_output { target_embedding } else { "readout.W_o" };
    let (encoders, decoders) = (1..=sizes.encoder_layers, 1..=sizes.decoder_layers);
    let norm = |name: &str| sizes.norm_first.then(|| FusedNorm::new(weights, name, &sizes)).transpose();
    let by_table = sizes.positions == Positions::Table;
    let positions = ["source_positions", "target_positions"].map(|name| weights.numbers(name));
    let [source, target] = positions;
    Ok(Arc::new(PackedTransformer {
        config: config.clone(),
        source_embedding: RowTable::new(weights, "source_embedding")?,
        target_embedding: RowTable::new(weights, target_embedding)?,
        positions: by_table.then(|| Ok::<_, Error>([source?, target?])).transpose()?,
        encoder: encoders.map(|l| FusedEncoderLayer::new(weights, config, &sizes, l)).collect::<Result<_>>()?,
        decoder: decoders.map(|l| FusedDecoderLayer::new(weights, config, &sizes, l)).collect::<Result<_>>()?,
        encoder_norm: norm("encoder.norm")?,
        decoder_norm: norm("decoder.norm")?,
        readout: Readout::new(weights, output, Some("readout.b_o"))?,
        rounding: weights.rounding(output)?,
        sizes,
    }))
}

impl PackedModel for PackedTransformer {
    fn stepper(self: Arc<Self>, config: &Config, threads: usize) -> Box<dyn Stepper> {
        let sizes = config.transformer().unwrap_or(&self.sizes);
        let (layer, heads) = (sizes.alignment_layer - 1, sizes.alignment_heads.clone());
        Box::new(FusedTransformer::new(self, layer, heads, threads))
    }
}

impl PackedTransformer {
    /// e(w) sqrt(d) + position, added to nothing: one row an id, zeros where there is none.
    fn place(&self, side: usize, ids: &[Option<u32>], at: impl Iterator<Item = usize>, x: &mut Vec<f32>) -> Result<()> {
        let d = self.config.hidden;
        let table = if side == 0 { &self.source_embedding } else { &self.target_embedding };
        table.gather(d, ids.iter().copied(), x)?;
        if self.sizes.scale_embedding {
            let scale = (d as f64).sqrt() as f32;
            for x in x.iter_mut() {
                *x *= scale;
            }
        }
        // rows are mostly at the same few places
        let mut known: BTreeMap<usize, Vec<f32>> = BTreeMap::new();
        for (x, t) in x.chunks_exact_mut(d).zip(at) {
            match &self.positions {
                None => add(known.entry(t).or_insert_with(|| position(self.sizes.positions, t, d)), x),
                Some(tables) => {
                    let most = self.sizes.max_positions;
                    let row = tables[side].get(t * d..(t + 1) * d).ok_or_else(|| too_long(most))?;
                    add(row, x);
                }
            }
        }
        Ok(())
    }

    /// h_j of the words of all sentences; `seen` collects where all heads look, layer by layer.
    fn read(
        &self, threads: usize, (sources, changes): (&[&[u32]], &[HeadChanges]), sheet: &mut LayerBuffers,
        mut seen: Option<&mut Vec<Vec<Vec<f32>>>>,
    ) -> Result<Vec<f32>> {
        super::Sources::new(sources, self.config.source_vocabulary)?; // the checks of every model
        let ids: Vec<Option<u32>> = sources.iter().flat_map(|source| source.iter().map(|id| Some(*id))).collect();
        let mut x = Vec::new();
        self.place(0, &ids, sources.iter().flat_map(|source| 0..source.len()), &mut x)?;
        let lengths: Vec<usize> = sources.iter().map(|source| source.len()).collect();
        sheet.together.clone_from(&lengths);
        for (l, layer) in self.encoder.iter().enumerate() {
            let left_out: Vec<Vec<usize>> =
                changes.iter().map(|changes| changes.left_out_of(HeadKind::Source, l + 1).collect()).collect();
            let seen = seen.as_deref_mut().map(|seen| {
                seen.push(Vec::new());
                &mut seen[l]
            });
            layer.read(threads, &lengths, &left_out, &mut x, sheet, seen);
        }
        sheet.together.clear();
        if let Some(norm) = &self.encoder_norm {
            norm.apply(threads, &mut x);
        }
        Ok(x)
    }
}

#[derive(Debug)]
struct Memory {
    length: usize,
    ids: Vec<u32>,
    changes: HeadChanges,
    h: Vec<f32>,
    /// K and V of each decoder layer side by side, [t_x, 2d] each.
    keys: Vec<Vec<f32>>,
    at: Vec<usize>,
}

#[derive(Debug, Default)]
struct Buffers {
    x: Vec<f32>,
    /// What the alignment layer's cross-attention is added to, [rows, d].
    half: Vec<f32>,
    /// The weights of all its heads, [rows, heads, t_x], as they were found and as they are read.
    found: Vec<f32>,
    weights: Vec<f32>,
    energies: Vec<f32>,
    sheet: LayerBuffers,
    readout: ReadoutBuffers,
}

/// The Transformer as a [`Stepper`].
#[derive(Debug)]
pub struct FusedTransformer {
    model: Arc<PackedTransformer>,
    layer: usize,
    heads: Vec<usize>,
    threads: usize,
    sentences: Vec<Arc<Memory>>,
    t_x: usize,
    /// Of each layer what its words left: K and V, [2d], or the state of an SSRU, [d].
    stores: Vec<Vec<f32>>,
    written: usize,
    newest: usize,
    /// The words of each row of the last step, as rows of `stores`; of each sentence none, at first.
    paths: Vec<Vec<usize>>,
    growing: Vec<Vec<usize>>,
    first: bool,
    /// What the output layer read of the rows of the last step, [rows, d].
    states: Vec<f32>,
    /// Where all heads of each layer looked at the source, [rows, heads, t_x],
    looked: Vec<Vec<f32>>,
    /// and at the words before, [rows, heads, words].
    looked_back: Vec<Vec<f32>>,
    buffers: Buffers,
}

impl FusedTransformer {
    pub fn new(model: Arc<PackedTransformer>, layer: usize, heads: Vec<usize>, threads: usize) -> Self {
        let stores = vec![Vec::new(); model.sizes.decoder_layers];
        let looked = stores.clone();
        Self {
            model,
            layer,
            heads,
            threads: threads.max(1),
            sentences: Vec::new(),
            t_x: 0,
            stores,
            written: 0,
            newest: 0,
            paths: Vec::new(),
            growing: Vec::new(),
            first: true,
            states: Vec::new(),
            looked_back: looked.clone(),
            looked,
            buffers: Buffers::default(),
        }
    }

    fn width(&self) -> usize {
        self.model.decoder[0].width()
    }

    fn encode(&mut self, sources: &[&[u32]], changes: &[HeadChanges]) -> Result<Vec<Arc<Memory>>> {
        let model = Arc::clone(&self.model);
        let (d, layers) = (model.config.hidden, model.decoder.len());
        let changes = model.sizes.changes_for(changes, sources)?;
        let x = model.read(self.threads, (sources, &changes), &mut self.buffers.sheet, None)?;
        let lengths: Vec<usize> = sources.iter().map(|source| source.len()).collect();
        let mut keys = vec![Vec::new(); layers];
        for (layer, keys) in model.decoder.iter().zip(&mut keys) {
            keys.resize(x.len() * 2, 0.0);
            layer.cross.keys_and_values(self.threads, &x, keys, &lengths);
        }
        let mut from = 0;
        let memory = |(n, source): (usize, &&[u32])| {
            let length = source.len();
            let rows = from..from + length;
            from += length;
            let of = |all: &Vec<f32>, width: usize| all[rows.start * width..rows.end * width].to_vec();
            let keys = keys.iter().map(|keys| of(keys, 2 * d)).collect();
            let (ids, changes) = (source.to_vec(), changes.get(n).cloned().unwrap_or_default());
            Arc::new(Memory { length, ids, changes, h: of(&x, d), keys, at: (0..length).map(|j| j * 2 * d).collect() })
        };
        Ok(sources.iter().enumerate().map(memory).collect())
    }

    fn grow(&mut self, rows: &[StepRow]) -> Result<()> {
        self.written += std::mem::take(&mut self.newest);
        self.growing.clear();
        for (r, row) in rows.iter().enumerate() {
            let from = if self.first { row.sentence } else { row.parent };
            let Some(path) = self.paths.get(from) else {
                return Err(Error::Internal(format!("row {from} of the step before does not exist")));
            };
            let mut path = path.clone();
            path.push(self.written + r);
            self.growing.push(path);
        }
        let size = (self.written + rows.len()) * self.width();
        self.stores.iter_mut().for_each(|store| store.resize(size, 0.0));
        Ok(())
    }

    fn look_back(&mut self, layer: usize, rows: &[StepRow], x: &mut [f32], sheet: &mut LayerBuffers) {
        let mut left_out = Vec::new();
        if self.sentences.iter().any(|memory| !memory.changes.left_out.is_empty()) {
            let of =
                |row: &StepRow| self.sentences[row.sentence].changes.left_out_of(HeadKind::Target, layer + 1).collect();
            left_out.extend(rows.iter().map(of));
        }
        let (store, looked) = (&mut self.stores[layer], &mut self.looked_back[layer]);
        let paths = (self.growing.as_slice(), left_out.as_slice());
        self.model.decoder[layer].look_back(self.threads, paths, (store, looked), x, sheet);
    }

    /// Energies (of masked words too) and weights of all heads of a layer's cross-attention, [rows, heads, t_x].
    fn weigh(
        &self, layer: usize, rows: &[StepRow], x: &[f32], sheet: &mut LayerBuffers, weights: &mut [f32], e: &mut [f32],
    ) {
        let cross = &self.model.decoder[layer].cross;
        let (d, count, t_x) = (self.model.config.hidden, self.model.sizes.heads, self.t_x);
        let q = cross.queries(self.threads, x, sheet);
        let wide = count * t_x;
        let mut both: Vec<(&mut [f32], &mut [f32])> =
            weights.chunks_exact_mut(wide).zip(e.chunks_exact_mut(wide)).collect();
        team::each(self.threads.min(rows.len()), &mut both, &|r, (weights, e)| {
            let memory = &self.sentences[rows[r].sentence];
            let t = memory.length;
            heads::energies(&q[r * d..(r + 1) * d], &memory.keys[layer], &memory.at, count, cross.scale(), e);
            // from rows of t to rows of t_x, the last first
            for h in (0..count).rev() {
                let own = &mut weights[h * t_x..h * t_x + t];
                own.copy_from_slice(&e[h * t..(h + 1) * t]);
                softmax_without(own, &memory.changes.masked);
                weights[h * t_x + t..(h + 1) * t_x].fill(0.0);
                e.copy_within(h * t..(h + 1) * t, h * t_x);
                e[h * t_x + t..(h + 1) * t_x].fill(0.0);
            }
        });
    }

    /// The rest of a layer from the weights of its cross-attention, x [rows, d] in place.
    fn finish(&self, layer: usize, rows: &[StepRow], weights: &[f32], x: &mut [f32], sheet: &mut LayerBuffers) {
        let (d, count, t_x) = (self.model.config.hidden, self.model.sizes.heads, self.t_x);
        let part = &self.model.decoder[layer];
        let c = sized(&mut sheet.c, rows.len() * d);
        team::chunks(self.threads.min(rows.len()), c, d, &|r, c| {
            let memory = &self.sentences[rows[r].sentence];
            let own = &weights[r * count * t_x..(r + 1) * count * t_x];
            let t = memory.length;
            let mut packed = Vec::with_capacity(count * t);
            own.chunks_exact(t_x).for_each(|head| packed.extend_from_slice(&head[..t]));
            heads::mix(&packed, &memory.keys[layer], &memory.at, d, count, c);
            let left_out: Vec<usize> = memory.changes.left_out_of(HeadKind::Cross, layer + 1).collect();
            silence(c, count, &left_out);
        });
        part.cross.add(self.threads, rows.len(), x, sheet);
        part.feed.apply(self.threads, rows.len(), x, sheet);
    }

    fn run(&mut self, layers: std::ops::Range<usize>, rows: &[StepRow], x: &mut [f32], buffers: &mut Buffers) {
        let Buffers { weights, energies, sheet, .. } = buffers;
        let wide = rows.len() * self.model.sizes.heads * self.t_x;
        for layer in layers {
            let (weights, energies) = (sized(weights, wide), sized(energies, wide));
            self.look_back(layer, rows, x, sheet);
            self.weigh(layer, rows, x, sheet, weights, energies);
            self.looked[layer].clear();
            self.looked[layer].extend_from_slice(weights);
            self.finish(layer, rows, weights, x, sheet);
        }
    }

    /// alpha, the mean of the heads that are the alignment, and the energies where it is one head.
    fn show(&self, rows: usize, weights: &[f32], energies: &[f32], output: &mut StepOutput) {
        let (count, t_x) = (self.model.sizes.heads, self.t_x);
        let chosen = &self.heads;
        for r in 0..rows {
            let head = |h: usize| (r * count + h - 1) * t_x..(r * count + h) * t_x;
            mean(chosen.iter().map(|h| &weights[head(*h)]), &mut output.alpha[r * t_x..(r + 1) * t_x]);
            let e = &mut output.energies[r * t_x..(r + 1) * t_x];
            match chosen.as_slice() {
                [h] => e.copy_from_slice(&energies[head(*h)]),
                // the mean of several heads is the softmax of no energies
                _ => e.fill(f32::NAN),
            }
        }
    }

    fn tidy(&mut self) {
        let width = self.width();
        let mut kept: Vec<usize> = self.paths.iter().flatten().copied().collect();
        kept.sort_unstable();
        kept.dedup();
        if kept.len() * 2 > self.written {
            return;
        }
        for store in &mut self.stores {
            for (to, from) in kept.iter().enumerate() {
                store.copy_within(from * width..(from + 1) * width, to * width);
            }
            // the room stays, for the sentences that enter will need it: fresh memory costs as much as attention does
            store.truncate(kept.len() * width);
        }
        let place = |at: &mut usize| *at = kept.partition_point(|kept| kept < at);
        self.paths.iter_mut().flatten().for_each(place);
        self.written = kept.len();
    }
}

fn softmax_without(e: &mut [f32], masked: &[usize]) {
    for j in masked {
        e[*j] = f32::MIN;
    }
    softmax(e);
    for j in masked {
        e[*j] = 0.0;
    }
}

fn mean<'a>(rows: impl Iterator<Item = &'a [f32]> + Clone, out: &mut [f32]) {
    let count = rows.clone().count();
    out.fill(0.0);
    rows.for_each(|row| add(row, out));
    if count > 1 {
        for x in out {
            *x /= count as f32;
        }
    }
}

impl Stepper for FusedTransformer {
    fn begin(&mut self, sources: &[&[u32]]) -> Result<()> {
        self.begin_changed(sources, &[])
    }

    fn has_heads(&self) -> bool {
        true
    }

    fn begin_changed(&mut self, sources: &[&[u32]], changes: &[HeadChanges]) -> Result<()> {
        self.sentences = self.encode(sources, changes)?;
        self.t_x = self.sentences.iter().map(|memory| memory.length).max().unwrap_or(0);
        self.stores.iter_mut().for_each(Vec::clear);
        (self.written, self.newest) = (0, 0);
        self.paths = vec![Vec::new(); sources.len()];
        self.first = true;
        self.states.clear();
        Ok(())
    }

    fn align(&mut self, rows: &[StepRow], output: &mut StepOutput) -> Result<()> {
        let model = Arc::clone(&self.model);
        super::prepare(output, rows.len(), model.config.target_vocabulary, Some(self.t_x));
        super::check_rows(rows, self.sentences.len())?;
        self.grow(rows)?;
        let mut buffers = std::mem::take(&mut self.buffers);
        let mut x = std::mem::take(&mut buffers.x);
        let words: Vec<Option<u32>> = rows.iter().map(|row| row.y_prev.or(model.sizes.start)).collect();
        let placed = model.place(1, &words, self.growing.iter().map(|path| path.len() - 1), &mut x);
        if placed.is_ok() {
            let at = self.layer;
            self.run(0..at, rows, &mut x, &mut buffers);
            let Buffers { half, found, energies, sheet, .. } = &mut buffers;
            let wide = rows.len() * model.sizes.heads * self.t_x;
            let (found, energies) = (sized(found, wide), sized(energies, wide));
            self.look_back(at, rows, &mut x, sheet);
            self.weigh(at, rows, &x, sheet, found, energies);
            self.show(rows.len(), found, energies, output);
            half.clone_from(&x);
        }
        buffers.x = x;
        self.buffers = buffers;
        placed
    }

    fn predict(&mut self, rows: &[StepRow], need: &Need<'_>, output: &mut StepOutput) -> Result<()> {
        output.check_aligned(rows, Some(self.t_x))?;
        let model = Arc::clone(&self.model);
        let (at, t_x, count) = (self.layer, self.t_x, model.sizes.heads);
        let mut buffers = std::mem::take(&mut self.buffers);
        let mut x = std::mem::take(&mut buffers.x);
        x.clone_from(&buffers.half);
        let mut weights = std::mem::take(&mut buffers.weights);
        weights.clear();
        weights.extend_from_slice(&buffers.found[..rows.len() * count * t_x]);
        let mut own = vec![0.0; t_x];
        for (weights, alpha) in weights.chunks_exact_mut(count * t_x).zip(output.alpha.chunks_exact(t_x)) {
            let chosen = &self.heads;
            mean(chosen.iter().map(|h| &weights[(h - 1) * t_x..h * t_x]), &mut own);
            if own != alpha {
                for h in chosen {
                    weights[(h - 1) * t_x..h * t_x].copy_from_slice(alpha);
                }
            }
        }
        self.finish(at, rows, &weights, &mut x, &mut buffers.sheet);
        self.looked[at].clone_from(&weights);
        buffers.weights = weights;
        self.run(at + 1..model.decoder.len(), rows, &mut x, &mut buffers);
        if let Some(norm) = &model.decoder_norm {
            norm.apply(self.threads, &mut x);
        }
        self.states.clone_from(&x);
        if let Some(rounding) = model.rounding {
            rounding.round_trip(&mut x, model.config.hidden);
        }
        let answered = model.readout.answer(self.threads, &x, need, &mut buffers.readout, output);
        buffers.x = x;
        self.buffers = buffers;
        // the next step goes on from here, also where the same step is asked for again
        self.paths.clone_from(&self.growing);
        self.newest = rows.len();
        self.first = false;
        answered
    }

    fn most(&self) -> usize {
        self.model.sizes.most()
    }

    fn joins(&self) -> bool {
        true
    }

    fn join(&mut self, kept: &[usize], sources: &[&[u32]]) -> Result<()> {
        let new = self.encode(sources, &[])?;
        let before = std::mem::take(&mut self.sentences);
        let stay = kept.iter().map(|&sentence| before.get(sentence).cloned());
        let Some(mut sentences) = stay.collect::<Option<Vec<_>>>() else {
            return Err(Error::Internal(format!("a batch of {} was to keep other sentences", before.len())));
        };
        self.paths.extend(new.iter().map(|_| Vec::new()));
        sentences.extend(new);
        self.t_x = sentences.iter().map(|memory| memory.length).max().unwrap_or(0);
        self.sentences = sentences;
        self.first = false;
        self.written += std::mem::take(&mut self.newest);
        self.tidy();
        Ok(())
    }

    fn states(&self) -> Option<&[f32]> {
        (!self.first).then_some(self.states.as_slice())
    }

    fn heads(&self, kind: HeadKind) -> Option<HeadRows<'_>> {
        let heads = self.model.sizes.heads;
        let words = self.paths.iter().map(Vec::len).max().unwrap_or(0);
        match kind {
            HeadKind::Cross => Some(HeadRows { layers: &self.looked, heads, t_x: self.t_x }),
            HeadKind::Target if self.model.sizes.cell == DecoderCell::SelfAttention => {
                Some(HeadRows { layers: &self.looked_back, heads, t_x: words })
            }
            HeadKind::Source | HeadKind::Target => None,
        }
    }

    fn source_heads(&self, sentence: usize) -> Result<Option<Vec<Vec<Vec<f32>>>>> {
        let Some(memory) = self.sentences.get(sentence) else { return Ok(None) };
        let batch = ([memory.ids.as_slice()], [memory.changes.clone()]);
        let mut seen = Vec::new();
        self.model.read(self.threads, (&batch.0, &batch.1), &mut LayerBuffers::default(), Some(&mut seen))?;
        // of each layer a row for each word, the heads side by side
        let head = |(layer, h): (&Vec<Vec<f32>>, usize)| {
            layer.iter().map(|word| word[h * memory.length..(h + 1) * memory.length].to_vec()).collect()
        };
        let heads = self.model.sizes.heads;
        Ok(Some(seen.iter().flat_map(|layer| (0..heads).map(move |h| (layer, h))).map(head).collect()))
    }

    fn annotations(&self, sentence: usize) -> Option<Vec<Vec<f32>>> {
        let memory = self.sentences.get(sentence)?;
        Some(memory.h.chunks_exact(self.model.config.hidden).map(<[f32]>::to_vec).collect())
    }
}
