//! The function, called from SQL.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;

use datafusion::{
    arrow::{
        array::{
            ArrayRef, AsArray, BinaryArray, DictionaryArray, Int64Array, RecordBatch, StringArray,
            StringViewArray,
        },
        compute::concat_batches,
        datatypes::Int32Type,
    },
    datasource::MemTable,
    error::Result,
    prelude::{SessionConfig, SessionContext},
};
use serde_json::json;
use wiremend::schema::{FitOptions, Schema};
use wiremend_datafusion::MendJson;

/// What a query gives, as one batch.
fn ask(context: &SessionContext, query: &str) -> Result<RecordBatch> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build()?;
    runtime.block_on(async {
        let frame = context.sql(query).await?;
        let schema = Arc::new(frame.schema().as_arrow().clone());
        Ok(concat_batches(&schema, &frame.collect().await?)?)
    })
}

/// A table of answers, in as many partitions as there are columns of them.
fn answers(columns: Vec<ArrayRef>) -> SessionContext {
    let context = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(2));
    context.register_udf(MendJson::new().into());
    let mut start = 0;
    let batches: Vec<RecordBatch> = columns
        .into_iter()
        .map(|column| {
            let ids = Int64Array::from_iter_values((start..).take(column.len()));
            start += i64::try_from(column.len()).unwrap();
            let columns = [("id", Arc::new(ids) as ArrayRef, false), ("answer", column, true)];
            RecordBatch::try_from_iter_with_nullable(columns).unwrap()
        })
        .collect();
    let partitions = batches.iter().map(|batch| vec![batch.clone()]).collect();
    let table = MemTable::try_new(batches[0].schema(), partitions).unwrap();
    context.register_table("answers", Arc::new(table)).unwrap();
    context
}

const FIELDS: &str = "select get_field(m, 'json') as json, get_field(m, 'outcome') as outcome, get_field(m, 'risk') as risk
    from (select id, mend_json(answer) as m from answers) order by id";

fn texts(batch: &RecordBatch, name: &str) -> Vec<Option<String>> {
    let column = batch.column_by_name(name).unwrap();
    match column.as_string_opt::<i32>() {
        Some(texts) => texts.iter().map(|text| text.map(str::to_owned)).collect(),
        None => column.as_string_view().iter().map(|text| text.map(str::to_owned)).collect(),
    }
}

fn some<const N: usize>(texts: [&str; N]) -> Vec<Option<String>> {
    texts.iter().map(|text| (*text != "null").then(|| (*text).to_owned())).collect()
}

#[test]
fn each_row_is_mended_and_null_stays_null() {
    let first = StringArray::from(vec![Some("{city: 'Oslo'}"), None, Some("no JSON")]);
    let second = StringArray::from(vec![r#"{"a": 1.10}"#, r#"{"a": [1, 2"#]);
    let found = ask(&answers(vec![Arc::new(first), Arc::new(second)]), FIELDS).unwrap();
    let json = [r#"{"city": "Oslo"}"#, "null", "null", r#"{"a": 1.10}"#, r#"{"a": [1, 2]}"#];
    assert_eq!(texts(&found, "json"), some(json));
    assert_eq!(texts(&found, "outcome"), some(["repaired", "null", "none", "unchanged", "closed"]));
    assert_eq!(texts(&found, "risk"), some(["exact", "null", "null", "null", "guess"]));
}

#[test]
fn texts_have_any_width_and_dictionaries_are_texts() {
    let columns: [ArrayRef; 3] = [
        Arc::new(StringViewArray::from(vec!["{a: 1}", "{b: 2}"])),
        Arc::new(BinaryArray::from(vec![b"{a: 1}".as_slice(), b"{b: 2}"])),
        Arc::new(DictionaryArray::<Int32Type>::from_iter(["{a: 1}", "{b: 2}"])),
    ];
    for column in columns {
        let found = ask(&answers(vec![column]), FIELDS).unwrap();
        assert_eq!(texts(&found, "json"), some([r#"{"a": 1}"#, r#"{"b": 2}"#]));
    }
}

#[test]
fn a_constant_is_mended_once_and_repairs_can_be_unnested() {
    let context = answers(vec![Arc::new(StringArray::from(vec!["{}", "[]"]))]);
    let query = "select get_field(mend_json('{a: 1,}'), 'json') as json from answers";
    assert_eq!(texts(&ask(&context, query).unwrap(), "json"), some([r#"{"a": 1}"#; 2]));
    let query = "select get_field(r, 'kind') as kind from
        (select unnest(get_field(mend_json('{a: 1,}'), 'repairs')) as r) order by kind";
    let kinds = texts(&ask(&context, query).unwrap(), "kind");
    assert_eq!(kinds, some(["extra-comma", "unquoted-key"]));
}

#[test]
fn a_schema_has_a_function_of_its_own() {
    let answers = answers(vec![Arc::new(StringArray::from(vec!["{days: '3'}", "{days: 'few'}"]))]);
    let schema = json!({"type": "object", "properties": {"days": {"type": "integer"}}});
    let schema = Schema::compile(&schema).unwrap();
    answers.register_udf(MendJson::fitting("mend_trip", schema, FitOptions::new()).into());
    let found = ask(&answers, &FIELDS.replace("mend_json", "mend_trip")).unwrap();
    assert_eq!(texts(&found, "json"), some([r#"{"days": 3}"#, "null"]));
    assert_eq!(texts(&found, "outcome"), some(["repaired", "invalid"]));
}

#[test]
fn what_is_no_text_is_refused_before_it_runs() {
    let context = answers(vec![Arc::new(StringArray::from(vec!["{}"]))]);
    let error = ask(&context, "select mend_json(id) from answers").unwrap_err().to_string();
    assert!(error.contains("a column of strings or binary is needed, not of Int64"), "{error}");
    ask(&context, "select mend_json(answer, answer) from answers").unwrap_err();
}
