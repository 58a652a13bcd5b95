//! `interlinear models`: what is installed.

use clap::Args;

use crate::args::TableFormat;
use crate::columns;
use crate::columns::{TextTable, figure};
use crate::output::LineOutput;
use engine::error::Error;
use engine::models::choice::Installed;
use engine::text::cells::{CellTable, TableCell};
use explorer::app::catalogue::purpose;
use host::bundled;

/// As typed.
#[derive(Args, Clone, Debug)]
#[command(
    after_long_help = "Each command takes these names as --model. BLEU is sacreBLEU on Tatoeba's test, beam 5, as the card of a bundled
model states it; MB are those of its weights. The first place that holds a name counts:
INTERLINEAR_MODELS, the program's folder, your own models, those of the system, the current folder."
)]
pub struct ModelsArgs {
    /// What to write
    #[arg(long, value_enum, default_value_t)]
    format: TableFormat,
}

/// Lists the models.
pub fn run(args: &ModelsArgs) -> anyhow::Result<()> {
    let models = bundled::installed(&bundled::every());
    if models.is_empty() {
        return Err(Error::Input(format!("no model is installed. {}", bundled::how_to_get())).into());
    }
    let head = ["name", "languages", "paper", "bleu", "mb"];
    let rows: Vec<Row> = models.iter().map(row).collect();
    let mut output = LineOutput::stdout();
    if args.format == TableFormat::Text {
        let mut table = TextTable::new(["name", "languages", "paper", "BLEU", "MB"]);
        let cells = |([name, languages, paper], [bleu, megabytes]): &Row| {
            [name.clone(), languages.clone(), paper.clone(), figure(*bleu, 1), figure(*megabytes, 1)]
        };
        rows.iter().for_each(|row| table.row(cells(row)));
        output.text(&table.text())?;
    } else {
        let cells = |(texts, numbers): Row| -> Vec<TableCell> {
            texts.into_iter().map(TableCell::Text).chain(numbers.map(TableCell::Number)).collect()
        };
        let table = CellTable { head: head.to_vec(), rows: rows.into_iter().map(cells).collect() };
        columns::print(args.format, &table, &mut output)?;
    }
    output.finish()
}

type Row = ([String; 3], [Option<f64>; 2]);

fn row(model: &Installed) -> Row {
    let name = model.folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (source, target) = &model.languages;
    let rounded = |number: f64| (number * 10.0).round() / 10.0;
    let bleu = purpose(&name).and_then(|purpose| purpose.bleu).map(|bleu| rounded(bleu.into()));
    let megabytes = (model.bytes > 0).then(|| rounded(model.bytes as f64 / 1e6));
    ([name, format!("{source}-{target}"), model.paper.clone()], [bleu, megabytes])
}
