//! A measure in one line: how many words of an output begin with a capital letter.

use interlinear::corpus::measures::table::{CorpusMeasure, MeasureSubject, Of, measure_all};
use interlinear::{analysis::bleu::BleuSettings, corpus::store::output::SystemOutput};

const CAPITALS: CorpusMeasure = CorpusMeasure {
    name: "capitals",
    title: "capitals",
    about: "Words of the output that begin with a capital letter",
    digits: 0,
    of: Of::Subject(|subject| {
        let words = subject.output?.text.split_whitespace();
        Some(words.filter(|word| word.starts_with(char::is_uppercase)).count() as f32)
    }),
};

#[test]
fn a_measure_of_one_line_is_measured_and_nothing_to_measure_is_no_number() {
    let output = SystemOutput { text: "Tom lives in Rome .".to_owned(), ..SystemOutput::default() };
    let subject = MeasureSubject::new(&output, &[], BleuSettings::default());
    assert_eq!(measure_all(&[CAPITALS], &subject), [2.0]);
    assert!(measure_all(&[CAPITALS], &MeasureSubject { output: None, ..subject })[0].is_nan());
}
