//! Files of strangers: every reader of the table on sound files, and on damaged copies of them, in a process of its own
//! whose memory and time are limited, so that growth is a failure as a panic is.
//!
//! `INTERLINEAR_INPUTS=1000000 cargo test --release --test readers` tries a million damaged files a reader.

mod damage;
mod table;

use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use table::{READERS, Reader};

/// Damaged inputs of each reader, unless the variable says otherwise.
const INPUTS: u64 = 1500;
const ASKED: &str = "INTERLINEAR_INPUTS";
/// Names the reader to the process that runs it.
const READER: &str = "INTERLINEAR_READER";
/// Where that process notes how far it is.
const PLACE: &str = "INTERLINEAR_PLACE";
/// Memory beyond what the process has at its start, bytes.
#[cfg(target_os = "linux")]
const MOST_MEMORY: u64 = 1 << 30;

fn corpus(reader: &Reader) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(reader.name);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("the corpus is readable").path()).collect();
    files.sort();
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    files.iter().map(|path| (name(path), std::fs::read(path).expect("the corpus is readable"))).collect()
}

fn inputs() -> u64 {
    std::env::var(ASKED).ok().and_then(|text| text.parse().ok()).unwrap_or(INPUTS)
}

fn read(reader: &Reader, folder: &Path, bytes: &[u8]) -> Result<(), String> {
    let path = folder.join("input");
    std::fs::write(&path, bytes).expect("a temporary file");
    let outcome = catch_unwind(|| (reader.read)(&path).map_err(|error| error.to_string()));
    for entry in std::fs::read_dir(folder).expect("a temporary folder").flatten() {
        std::fs::remove_file(entry.path()).expect("a temporary file");
    }
    outcome.unwrap_or_else(|_| panic!("the reader of `{}` panicked", reader.name))
}

#[test]
fn sound_files_are_read_and_the_others_told_in_a_sentence() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for reader in READERS {
        let files = corpus(reader);
        assert!(files.iter().any(|(name, _)| name.starts_with("sound")), "{} has no sound file", reader.name);
        for (name, bytes) in files {
            let told = read(reader, folder.path(), &bytes);
            assert_eq!(told.is_ok(), name.starts_with("sound"), "{}/{name}: {told:?}", reader.name);
        }
    }
}

#[test]
fn no_damaged_file_brings_a_reader_down() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at_once = std::thread::available_parallelism().map_or(1, usize::from);
    for readers in READERS.chunks(at_once) {
        let running: Vec<(&Reader, Child)> =
            readers.iter().map(|reader| (reader, start(reader, folder.path()))).collect();
        for (reader, child) in running {
            let done = child.wait_with_output().expect("it was started");
            let place = std::fs::read_to_string(folder.path().join(reader.name)).unwrap_or_default();
            assert!(done.status.success(), "{}", report(reader, &place, &String::from_utf8_lossy(&done.stderr)));
        }
    }
}

fn start(reader: &Reader, folder: &Path) -> Child {
    let program = std::env::current_exe().expect("a test is a program");
    let mut command = Command::new(program);
    command.args(["--exact", "one_reader", "--ignored", "--nocapture", "--test-threads", "1"]);
    command.env(READER, reader.name).env(PLACE, folder.join(reader.name));
    command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("a test can be run again")
}

fn report(reader: &Reader, place: &str, said: &str) -> String {
    let said: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).take(6).collect();
    let Ok(seed) = place.trim().parse() else { return format!("{} did not begin: {said:?}", reader.name) };
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{seed}", reader.name));
    let files: Vec<Vec<u8>> = corpus(reader).into_iter().map(|(_, bytes)| bytes).collect();
    std::fs::write(&path, damage::damaged(&files, seed)).expect("the target folder is ours");
    format!(
        "the reader of `{}` fell over input {seed}, which is now {}; mend it and keep a small form of the file in \
         tests/corpus/{}\n{}",
        reader.name,
        path.display(),
        reader.name,
        said.join("\n")
    )
}

#[test]
#[ignore = "started by another test, in a process of its own"]
fn one_reader() {
    let Ok(name) = std::env::var(READER) else { return };
    let reader = READERS.iter().find(|reader| reader.name == name).expect("a reader of the table");
    let place = PathBuf::from(std::env::var(PLACE).expect("set together with the reader"));
    let files: Vec<Vec<u8>> = corpus(reader).into_iter().map(|(_, bytes)| bytes).collect();
    let folder = tempfile::tempdir().expect("a temporary folder");
    limit();
    for seed in 0..inputs() {
        std::fs::write(&place, seed.to_string()).expect("a temporary file");
        let _ = read(reader, folder.path(), &damage::damaged(&files, seed));
    }
}

#[cfg(target_os = "linux")]
fn limit() {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux says how large a process is");
    let size =
        status.lines().find_map(|line| line.strip_prefix("VmSize:")).and_then(|size| size.split_whitespace().next());
    let kilobytes: u64 = size.and_then(|size| size.parse().ok()).expect("a number of kilobytes");
    let memory = 1024 * kilobytes + MOST_MEMORY;
    let seconds = 120 + inputs() / 100;
    for (resource, most) in [(Resource::As, memory), (Resource::Cpu, seconds)] {
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) }).expect("a limit may be lowered");
    }
}

#[cfg(not(target_os = "linux"))]
fn limit() {}
