fn main() {
    use interlinear::import::{self, *};
    let mut args = std::env::args().skip(1);
    let path: std::path::PathBuf = args.next().unwrap().into();
    let beside = Beside {
        source: args.next().filter(|a| a != "-").map(Into::into),
        target: args.next().filter(|a| a != "-").map(Into::into),
    };
    let start = std::time::Instant::now();
    let mut import = import::open(&path, &Options { beside, ..Options::default() }).unwrap();
    println!("{} {:#?}", import.facts.format, import.facts.told());
    let mut n = 0;
    for record in import.by_ref() {
        match record {
            Ok(r) => {
                n += 1;
                if n <= 2 {
                    println!(
                        "{} {:?} src {:?} out {:?}",
                        r.sentence,
                        r.id,
                        r.source.as_ref().map(|s| &s.text),
                        r.outputs
                            .iter()
                            .map(|o| (
                                &o.text,
                                o.log_p,
                                o.score,
                                o.token_log_p.len(),
                                o.alpha.as_ref().map(|a| (a.rows(), a.columns())),
                                o.tokens.len(),
                                o.links.as_ref().map(Vec::len)
                            ))
                            .collect::<Vec<_>>()
                    );
                }
            }
            Err(e) => println!("ERR {e}"),
        }
    }
    println!(
        "{n} records, {} warnings {:#?} {:?}",
        import.warnings().count(),
        import.warnings().kept().iter().take(5).collect::<Vec<_>>(),
        start.elapsed()
    );
}
