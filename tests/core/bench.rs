//! `interlinear bench` in its quick form, run as users run it.

use serde_json::Value;

use crate::cli::{reference, run_in};
use crate::folder::{Files as _, Folder};

#[test]
fn models_are_measured_and_recorded() {
    let folder = Folder::new();
    let models = ["rnnsearch", "rnnencdec"].map(|name| reference(name).to_str().expect("a plain path").to_owned());
    let quick = ["bench", "--quick", "--json", "out.json", "--model", &models[0], "--model", &models[1]];
    let outcome = run_in(&folder, &quick, b"");
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{}", outcome.stdout);
    let record = folder.text("out.json");
    let record: Value = serde_json::from_str(&record).expect("JSON");
    let rows = record["models"].as_array().expect("rows");
    assert_eq!(rows.len(), models.len(), "{record}");
    for (row, column) in
        rows.iter().flat_map(|row| ["load ms", "first word ms", "sentence ms", "words/s"].map(|column| (row, column)))
    {
        assert!(row[column].as_f64().is_some_and(|figure| figure > 0.0), "{column} of {row}");
        assert!(outcome.stdout.contains(column), "{}", outcome.stdout);
    }
}
