//! `interlinear bench` in its quick form, run as users run it.

use crate::cli::{json_of, reference, run_in};
use crate::folder::{Files as _, Folder};

#[test]
fn models_are_measured_and_recorded() {
    let folder = Folder::new();
    let models = ["rnnsearch", "rnnencdec"].map(|name| reference(name).to_str().expect("a plain path").to_owned());
    let quick = ["bench", "--quick", "--json", "out.json", "--model", &models[0], "--model", &models[1]];
    let outcome = run_in(&folder, &quick).quiet();
    let record = folder.text("out.json");
    let record = json_of(&record);
    let rows = record["models"].as_array().expect("rows");
    assert_eq!(rows.len(), models.len(), "{record}");
    for (row, column) in
        rows.iter().flat_map(|row| ["load ms", "first word ms", "sentence ms", "words/s"].map(|column| (row, column)))
    {
        assert!(row[column].as_f64().is_some_and(|figure| figure > 0.0), "{column} of {row}");
        assert!(outcome.stdout.contains(column), "{}", outcome.stdout);
    }
}
