//! Floor 7: the table as Parquet, which programs for tables of data read: typed columns, with nothing where there is none.

use std::collections::BTreeSet;
use std::io::{Error as IoError, Result as IoResult, Write};
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, FloatType, Int32Type};
use parquet::errors::{ParquetError, Result as Written};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;

use crate::corpus::query::column::TableColumn;
use crate::corpus::store::corpus::CorpusTable;

/// Sentences of a group of rows.
const GROUP: usize = 50_000;

/// A column of the table.
enum Part {
    Number,
    Text(Box<dyn Fn(usize) -> Option<String>>),
    Figure(TableColumn),
}

/// Writes the rows with these columns of numbers.
pub fn parquet(file: &mut dyn Write, rows: &[u32], columns: &[TableColumn], corpus: &CorpusTable) -> IoResult<()> {
    let parts = parts(columns, corpus);
    let other = |error: ParquetError| IoError::other(error.to_string());
    let schema = Arc::new(schema(&parts).map_err(other)?);
    let properties = Arc::new(WriterProperties::builder().set_compression(Compression::SNAPPY).build());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, properties).map_err(other)?;
    for rows in rows.chunks(GROUP) {
        let mut group = writer.next_row_group().map_err(other)?;
        for (_, part) in &parts {
            write_part(&mut group, part, rows, corpus).map_err(other)?;
        }
        group.close().map_err(other)?;
        writer.flush()?;
        file.write_all(&std::mem::take(writer.inner_mut()))?;
    }
    file.write_all(&writer.into_inner().map_err(other)?)
}

/// The columns, each with a name of its own.
fn parts(columns: &[TableColumn], corpus: &CorpusTable) -> Vec<(String, Part)> {
    let mut parts: Vec<(String, Part)> = vec![("number".to_owned(), Part::Number)];
    let systems = corpus.systems.iter().map(|column| column.system.name.clone());
    let names = ["source".to_owned()].into_iter().chain(corpus.reference_names()).chain(systems);
    for (name, texts) in names.zip(corpus.texts().cloned()) {
        parts.push((name, Part::Text(Box::new(move |at| texts.get(at).map(str::to_owned)))));
    }
    let figures = columns.iter().filter(|column| **column != TableColumn::Number);
    parts.extend(figures.map(|column| (column.name(corpus), Part::Figure(*column))));
    let judgements = Arc::clone(&corpus.judgements);
    let tags = move |at: usize| {
        let by = judgements.get(&at)?;
        let tags: BTreeSet<&str> = by.values().flat_map(|one| &one.tags).map(String::as_str).collect();
        (!tags.is_empty()).then(|| tags.into_iter().collect::<Vec<_>>().join(", "))
    };
    parts.push(("tags".to_owned(), Part::Text(Box::new(tags))));
    let judgements = Arc::clone(&corpus.judgements);
    let notes = move |at: usize| {
        let notes = judgements.get(&at)?.values().map(|one| one.note.as_str()).filter(|note| !note.is_empty());
        let notes: Vec<&str> = notes.collect();
        (!notes.is_empty()).then(|| notes.join(" / "))
    };
    parts.push(("notes".to_owned(), Part::Text(Box::new(notes))));
    let mut seen = BTreeSet::new();
    for (name, _) in &mut parts {
        while !seen.insert(name.clone()) {
            name.push('\'');
        }
    }
    parts
}

fn schema(parts: &[(String, Part)]) -> Written<Type> {
    let field = |(name, part): &(String, Part)| {
        let (kind, repetition, logical) = match part {
            Part::Number => (Physical::INT32, Repetition::REQUIRED, None),
            Part::Text(_) => (Physical::BYTE_ARRAY, Repetition::OPTIONAL, Some(LogicalType::String)),
            Part::Figure(_) => (Physical::FLOAT, Repetition::OPTIONAL, None),
        };
        let field = Type::primitive_type_builder(name, kind).with_repetition(repetition).with_logical_type(logical);
        field.build().map(Arc::new)
    };
    let fields = parts.iter().map(field).collect::<Written<Vec<_>>>()?;
    Type::group_type_builder("sentences").with_fields(fields).build()
}

fn write_part(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    part: &Part,
    rows: &[u32],
    corpus: &CorpusTable,
) -> Written<()> {
    match part {
        Part::Number => {
            let numbers: Vec<i32> = rows.iter().map(|at| *at as i32 + 1).collect();
            column::<Int32Type>(group, &numbers, None)
        }
        Part::Text(of) => {
            let texts: Vec<Option<String>> = rows.iter().map(|at| of(*at as usize)).collect();
            let there: Vec<i16> = texts.iter().map(|text| i16::from(text.is_some())).collect();
            let texts: Vec<ByteArray> = texts.iter().flatten().map(|text| ByteArray::from(text.as_str())).collect();
            column::<ByteArrayType>(group, &texts, Some(&there))
        }
        Part::Figure(of) => {
            let all: Vec<f32> = rows.iter().map(|at| of.value(corpus, *at as usize)).collect();
            let there: Vec<i16> = all.iter().map(|number| i16::from(!number.is_nan())).collect();
            let numbers: Vec<f32> = all.into_iter().filter(|number| !number.is_nan()).collect();
            column::<FloatType>(group, &numbers, Some(&there))
        }
    }
}

fn column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    values: &[T::T],
    there: Option<&[i16]>,
) -> Written<()> {
    let Some(mut column) = group.next_column()? else { return Ok(()) };
    column.typed::<T>().write_batch(values, there, None)?;
    column.close()
}
