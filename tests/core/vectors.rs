//! Vectors of words and phrases: where they come from, principal components, neighbours, t-SNE.

mod cli;
mod page;

use interlinear::analysis::map::{METHODS, Method};
use interlinear::analysis::{map, tsne};
use interlinear::analysis::{neighbours::Space, pca::Pca, tsne::TsneOptions};
use interlinear::models::representations::{PhraseVector, VocabularySide};
use interlinear::models::{Kernels, Model, representations};
use interlinear::{error::Error, nn::device::Device, ticket::CancellationToken};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::{cli::reference, counted, forever};

fn numbers(count: usize, seed: u64) -> Vec<f32> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    (0..count).map(|_| random.random::<f32>() - 0.5).collect()
}

fn groups(groups: usize, each: usize, dimension: usize) -> Vec<f32> {
    let mut rows = numbers(groups * each * dimension, 3);
    for (at, row) in rows.chunks_exact_mut(dimension).enumerate() {
        row[at / each] += 10.0;
    }
    rows
}

fn on_one_thread<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread").install(work)
}

#[test]
fn principal_components_of_known_rows() {
    // Along (3, 4) / 5 the rows lie at -5, 0, 5, across it at -1, 2, -1, all around the mean (1, 2).
    let rows: Vec<f32> = [(-5.0_f32, -1.0_f32), (0.0, 2.0), (5.0, -1.0)]
        .iter()
        .flat_map(|(along, across)| [1.0 + 0.6 * along + 0.8 * across, 2.0 + 0.8 * along - 0.6 * across])
        .collect();
    let pca = Pca::fit(&rows, 2, 2, &forever()).expect("nothing stops it");
    let close = |found: &[f32], expected: &[f32]| {
        assert!(found.iter().zip(expected).all(|(f, e)| (f - e).abs() < 1e-5), "{found:?}, not {expected:?}");
    };
    close(&pca.mean, &[1.0, 2.0]);
    close(&pca.axes[0], &[0.6, 0.8]);
    close(&pca.axes[1], &[0.8, -0.6]);
    close(&pca.variances, &[50.0 / 3.0, 2.0]);
    close(&[pca.total, pca.explained(0), pca.explained(7)], &[56.0 / 3.0, 50.0 / 56.0, 0.0]);
    close(&pca.project(&rows), &[-5.0, -1.0, 0.0, 2.0, 5.0, -1.0]);
}

#[test]
fn principal_components_answer_to_the_covariance() {
    for (count, dimension) in [(200, 30), (5, 40), (40, 1), (3000, 12)] {
        let rows = numbers(count * dimension, 7);
        let pca = Pca::fit(&rows, dimension, 2, &forever()).expect("nothing stops it");
        assert_eq!(pca.axes.len(), dimension.min(2));
        for (axis, lambda) in pca.axes.iter().zip(&pca.variances) {
            let mut image = vec![0.0_f64; dimension];
            for row in rows.chunks_exact(dimension) {
                let centred: Vec<f64> = row.iter().zip(&pca.mean).map(|(x, m)| f64::from(x - m)).collect();
                let along: f64 = centred.iter().zip(axis).map(|(x, a)| x * f64::from(*a)).sum();
                image.iter_mut().zip(&centred).for_each(|(sum, x)| *sum += along * x / count as f64);
            }
            for (image, a) in image.iter().zip(axis) {
                let rest = (image - f64::from(lambda * a)).abs();
                assert!(rest < 1e-5 * f64::from(pca.variances[0]), "{count} x {dimension}: {rest}");
            }
        }
        let greatest = |axis: &Vec<f32>| axis.iter().copied().max_by(|a, b| a.abs().total_cmp(&b.abs()));
        assert!(pca.axes.iter().filter_map(greatest).all(|x| x > 0.0), "signs are fixed");
    }
}

#[test]
fn rows_that_are_all_the_same_have_no_components() {
    let pca = Pca::fit(&[2.0; 12], 3, 2, &forever()).expect("nothing stops it");
    assert_eq!((pca.total, pca.explained(0)), (0.0, 0.0));
    assert!(pca.project(&[2.0; 3]).iter().all(|x| x.abs() < 1e-6));
}

#[test]
fn neighbours_are_ordered_by_cosine() {
    let space = Space::new(2, vec![1.0, 0.0, 10.0, 10.0, 0.0, 0.0, 0.0, -3.0, -1.0, 0.0, 2.0, 2.0]);
    assert_eq!(space.len(), 6);
    let found = |near: Vec<interlinear::analysis::neighbours::Neighbour>| -> Vec<(usize, i32)> {
        near.iter().map(|near| (near.index, (near.cosine * 1000.0).round() as i32)).collect()
    };
    // Two rows of one direction are ordered by their numbers; the row of zeros is nobody's neighbour.
    assert_eq!(found(space.nearest_to(0, 9)), [(1, 707), (5, 707), (3, 0), (4, -1000)]);
    assert_eq!(found(space.nearest_to(0, 1)), [(1, 707)]);
    assert_eq!(found(space.nearest(&[0.0, -0.1], 2)), [(3, 1000), (0, 0)]);
    for none in [space.nearest_to(2, 3), space.nearest_to(0, 0), space.nearest_to(99, 3), space.nearest(&[1.0], 3)] {
        assert!(none.is_empty());
    }
    assert!(Space::new(0, vec![1.0]).is_empty());
}

#[test]
fn every_method_lays_out_and_stops_when_it_is_no_longer_wanted() {
    let rows = groups(3, 12, 6);
    for entry in METHODS {
        assert_eq!((Method::from_name(entry.name), entry.method.entry().name), (Some(entry.method), entry.name));
        let options = TsneOptions { epochs: 300, ..TsneOptions::default() };
        let lay = |ticket: &CancellationToken, hear: &mut (dyn FnMut(f32, &[f32]) + Send)| {
            on_one_thread(|| map::layout(&rows, 6, entry.method, &options, ticket, hear))
        };
        let mut last = 0.0;
        let layout = lay(&forever(), &mut |share, _| {
            assert!((last..=1.0).contains(&share));
            last = share;
        })
        .expect("nothing stops it");
        assert_eq!(layout.places.len(), 36, "{}", entry.name);
        for (at, place) in layout.places.iter().enumerate() {
            let apart = |other: &usize| (0..2).map(|d| (place[d] - layout.places[*other][d]).powi(2)).sum::<f32>();
            let nearest = (0..36).filter(|other| *other != at).min_by(|a, b| apart(a).total_cmp(&apart(b)));
            assert_eq!(nearest.map(|other| other / 12), Some(at / 12), "{}: a point is among its group", entry.name);
        }
        let again = lay(&forever(), &mut |_, _| {}).expect("nothing stops it");
        assert_eq!(again, layout, "{} gives the same map again", entry.name);

        let (counter, ticket) = counted();
        counter.cancel();
        assert!(matches!(lay(&ticket, &mut |_, _| {}), Err(Error::Stale)), "{}", entry.name);
    }
}

#[test]
fn tsne_can_be_stopped_at_any_step_and_started_from_a_seed() {
    let rows = groups(2, 10, 4);
    let options = TsneOptions { epochs: 80, seed: Some(5), ..TsneOptions::default() };
    let (counter, ticket) = counted();
    let mut heard = 0;
    let stopped = tsne::embed(&rows, 4, &options, &ticket, &mut |progress| {
        if !progress.points.is_empty() {
            heard += 1;
            assert_eq!(progress.points.len(), 40);
        }
        if heard == 10 {
            counter.cancel();
        }
    });
    assert!(matches!(stopped, Err(Error::Stale)));
    assert_eq!(heard, 10, "not one step more");

    let embed = |seed| {
        let options = TsneOptions { seed, ..options };
        on_one_thread(|| tsne::embed(&rows, 4, &options, &forever(), &mut |_| {})).expect("nothing stops it")
    };
    assert_eq!(embed(Some(5)), embed(Some(5)));
    assert_ne!(embed(Some(5)), embed(Some(6)));
}

#[test]
fn too_few_points_are_refused_and_perplexity_is_lowered() {
    for (count, method, sentence) in [(1, Method::Pca, "at least 2 points"), (3, Method::Tsne, "at least 4 points")] {
        let rows = numbers(count * 5, 1);
        let refused = map::layout(&rows, 5, method, &TsneOptions::default(), &forever(), &mut |_, _| {});
        let error = refused.expect_err("too few").to_string();
        assert!(error.contains(sentence), "{error}");
    }
    for (perplexity, points, expected) in
        [(30.0, 1000, 30.0), (30.0, 10, 3.0), (0.0, 10, 1.0), (f32::NAN, 10, 3.0), (30.0, 4, 1.0)]
    {
        assert_eq!(tsne::lowered(perplexity, points), expected);
    }
    // As few as there may be, and all of them in one place.
    for rows in [numbers(4 * 3, 2), vec![1.0; 12]] {
        let layout = map::layout(&rows, 3, Method::Tsne, &TsneOptions::default(), &forever(), &mut |_, _| {});
        assert!(layout.expect("four are enough").places.iter().flatten().all(|x| x.is_finite()));
    }
}

#[test]
fn both_engines_have_the_same_annotations_and_phrases() {
    for (name, expected) in [
        ("rnnsearch", PhraseVector::MeanAnnotation),
        ("rnnencdec", PhraseVector::Context),
        ("luong-global-general", PhraseVector::MeanAnnotation),
        ("luong-local-p-dot", PhraseVector::MeanAnnotation),
        ("luong-none", PhraseVector::MeanAnnotation),
    ] {
        let model = Model::load(reference(name), &Device::cpu()).expect("the fixture is sound");
        let sources: Vec<Vec<u32>> = [&[2, 3, 4, 0][..], &[5, 0], &[6, 2, 0]].map(<[u32]>::to_vec).to_vec();
        let sources: Vec<&[u32]> = sources.iter().map(Vec::as_slice).collect();
        let of = |engine| {
            let mut stepper = model.stepper(engine, 1).expect("a stepper");
            let read = representations::phrases(name, &mut *stepper, &sources, Some(0), &mut |_| Ok(())).expect("read");
            let rows: Vec<Vec<f32>> = read.rows.chunks_exact(read.dimension).map(<[f32]>::to_vec).collect();
            stepper.begin(&sources).expect("read");
            let h: Vec<_> = (0..sources.len()).map(|sentence| stepper.annotations(sentence)).collect();
            (read.vector, rows, h)
        };
        let (kind, fused, h) = of(Kernels::Fused);
        let (other, plain, h_plain) = of(Kernels::Plain);
        assert_eq!((kind, other), (expected, expected));
        let close = |a: &[f32], b: &[f32]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-5);
        assert!(fused.iter().zip(&plain).all(|(a, b)| close(a, b)), "{name}");
        assert_eq!(h.iter().map(Option::is_some).collect::<Vec<_>>(), vec![kind == PhraseVector::MeanAnnotation; 3]);
        for ((h, h_plain), source) in h.iter().zip(&h_plain).zip(&sources) {
            let (Some(h), Some(h_plain)) = (h, h_plain) else { continue };
            let wide = if name == "rnnsearch" { 2 } else { 1 } * model.config.hidden;
            assert_eq!((h.len(), h_plain.len(), h[0].len()), (source.len(), source.len(), wide), "{name}");
            assert!(h.iter().zip(h_plain).all(|(a, b)| close(a, b)), "{name}");
        }
        if let Some(h) = &h[1] {
            assert!(close(&h[0], &fused[1]), "the mean over one word, `</s>` left aside, is its annotation");
        }
        // Alone or in a batch, a phrase is the same.
        let mut alone = model.stepper(Kernels::Fused, 1).expect("a stepper");
        let single = representations::phrases(name, &mut *alone, &sources[1..2], Some(0), &mut |_| Ok(()));
        assert!(close(&single.expect("read").rows, &fused[1]), "{name}");
        let stopped = representations::phrases(name, &mut *alone, &sources, Some(0), &mut |_| Err(Error::Stale));
        assert!(matches!(stopped, Err(Error::Stale)));
        for side in [VocabularySide::Source, VocabularySide::Target] {
            let table = representations::embedding(&model, side).expect("every model has both");
            let words = representations::words(&model, side, 3).expect("every model has both");
            assert_eq!((words.ids.as_slice(), words.dimension), (&[1, 2, 3][..], model.config.embedding));
            assert_eq!(words.rows, table.data[words.dimension..4 * words.dimension], "{}", side.name());
        }
    }
}
