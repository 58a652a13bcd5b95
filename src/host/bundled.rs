//! Where models lie that are not named by a path: those that come with the program, and those of the user.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use engine::models::choice::{Installed, ModelSpec};
use engine::models::{MODELS, ModelEntry, disk};
use engine::models::{config::FORMAT, disk::CONFIG_FILE, disk::WEIGHTS_FILE};

const FOLDER: &str = "models";
const PROGRAM: &str = "interlinear";
const NAMED: &str = "INTERLINEAR_MODELS";
const SHARED: &str = "XDG_DATA_DIRS";
const USUALLY_SHARED: &str = "/usr/local/share:/usr/share";

const USUAL: &str = "rnnsearch-guided-en-fr";

const BUILT_IN: Option<&str> = match option_env!("INTERLINEAR_PACKAGED") {
    Some(_) => None,
    None => Some(env!("CARGO_MANIFEST_DIR")),
};

/// The bundled model folders in the order in which their papers were published, then by name.
pub fn models() -> Vec<PathBuf> {
    places().iter().map(|place| models_in(place)).find(|found| !found.is_empty()).unwrap_or_default()
}

/// Folders that may hold model folders, in the order in which they are looked at: those that the user names, beside the
/// executable or further up from it (`target/release/..`), where packages install them, the platform's folders for data,
/// the current folder, where the program was built.
pub fn places() -> Vec<PathBuf> {
    let named = std::env::var_os(NAMED).filter(|named| !named.is_empty());
    let mut places: Vec<PathBuf> = named.iter().flat_map(std::env::split_paths).collect();
    let executable = std::env::current_exe().and_then(|path| path.canonicalize()).ok();
    let above: Vec<&Path> = executable.iter().flat_map(|path| path.ancestors().skip(1).take(4)).collect();
    places.extend(above.iter().map(|folder| folder.join(FOLDER)));
    let prefix = above.get(1).map(|prefix| prefix.join("share"));
    places.extend(prefix.map(|share| share.join(PROGRAM).join(FOLDER)));
    places.extend(home());
    if cfg!(unix) {
        let shared = std::env::var_os(SHARED).filter(|shared| !shared.is_empty());
        let shared = shared.unwrap_or_else(|| USUALLY_SHARED.into());
        places.extend(std::env::split_paths(&shared).map(|share| share.join(PROGRAM).join(FOLDER)));
    }
    places.extend(std::env::current_dir().map(|here| here.join(FOLDER)));
    // The root lies two folders above this member.
    places.extend(BUILT_IN.and_then(|member| Path::new(member).ancestors().nth(2)).map(|root| root.join(FOLDER)));
    let mut seen = BTreeSet::new();
    places.retain(|place| place.is_absolute() && seen.insert(place.clone()));
    places
}

/// Where this user keeps models: in the platform's folder for the data of programs.
pub fn home() -> Option<PathBuf> {
    Some(directories::ProjectDirs::from("", "", PROGRAM)?.data_dir().join(FOLDER))
}

/// Every installed model that can be named, in the order in which names are looked for.
pub fn every() -> Vec<PathBuf> {
    every_in(&places())
}

fn every_in(places: &[PathBuf]) -> Vec<PathBuf> {
    let mut seen = BTreeSet::new();
    places.iter().flat_map(|place| models_in(place)).filter(|folder| seen.insert(name(folder))).collect()
}

/// The installed model of commands that are given none.
pub fn usual() -> Option<PathBuf> {
    named(USUAL).or_else(|| every().into_iter().next())
}

/// The model at a path, or the installed one of this name.
pub fn model_of(path: PathBuf) -> Result<ModelSpec, String> {
    let model = ModelSpec::from(path);
    Ok(ModelSpec { folder: found(model.folder, &places())?, ..model })
}

/// The installed model of this name, or the member of a group of models.
pub fn named(name: &str) -> Option<PathBuf> {
    named_in(Path::new(name), &places())
}

fn named_in(path: &Path, places: &[PathBuf]) -> Option<PathBuf> {
    let mut folders = places.iter().map(|place| place.join(path));
    let found = folders.find(|folder| folder.join(CONFIG_FILE).is_file());
    let wanted = name(path);
    let within = || places.iter().flat_map(|place| models_in(place)).find(|folder| name(folder) == wanted);
    found.or_else(within)
}

fn found(path: PathBuf, places: &[PathBuf]) -> Result<PathBuf, String> {
    let mut components = path.components();
    let is_name = matches!((components.next(), components.next()), (Some(Component::Normal(_)), None));
    if path.exists() {
        return Ok(path);
    }
    if is_name {
        return named_in(&path, places).ok_or_else(|| missing(&path, places));
    }
    let installed = path.file_name().and_then(|name| self::name(&named_in(Path::new(name), places)?));
    installed.map_or(Ok(path.clone()), |name| {
        Err(format!("{} does not exist; a model of this name is installed, so write {name}", path.display()))
    })
}

fn missing(path: &Path, places: &[PathBuf]) -> String {
    let mut known: Vec<String> = every_in(places).iter().filter_map(|folder| name(folder)).collect();
    known.sort();
    let typed = path.to_string_lossy();
    let nearest = known.iter().map(|name| (edits(name, &typed), name)).min();
    let nearest = nearest.filter(|(edits, name)| edits * 4 <= name.chars().count());
    let there_are = match (nearest, known.as_slice()) {
        (Some((_, name)), _) => format!("; did you mean {name}?"),
        (None, []) => ".".to_owned(),
        (None, known) => format!("; there are {}.", known.join(", ")),
    };
    format!("{typed} does not exist here or among the installed models{there_are} {}", how_to_get())
}

/// The fewest letters to put in, to leave out or to replace that make one word the other.
fn edits(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, letter) in one.chars().enumerate() {
        let mut corner = std::mem::replace(&mut row[0], i + 1);
        for j in 0..other.len() {
            let replaced = corner + usize::from(letter != other[j]);
            corner = row[j + 1];
            row[j + 1] = replaced.min(corner + 1).min(row[j] + 1);
        }
    }
    row[other.len()]
}

fn name(folder: &Path) -> Option<String> {
    Some(folder.file_name()?.to_string_lossy().into_owned())
}

/// How models get where they are found.
pub fn how_to_get() -> String {
    let home = home().map_or_else(String::new, |home| format!("copy it into {}, or ", home.display()));
    format!(
        "A model is a folder: {home}name the folder that holds it in {NAMED}; models come with the program's source and packages"
    )
}

fn models_in(folder: &Path) -> Vec<PathBuf> {
    let ranked = |path: PathBuf| (rank(&path), path);
    let mut folders: Vec<(Option<usize>, PathBuf)> = inside(folder).into_iter().map(ranked).collect();
    folders.sort();
    let is_group = |(rank, path): &&(Option<usize>, PathBuf)| rank.is_none() && !path.join(CONFIG_FILE).exists();
    let groups = folders.iter().filter(is_group).flat_map(|(_, group)| {
        let mut grouped: Vec<PathBuf> = inside(group).into_iter().filter(|path| rank(path).is_some()).collect();
        grouped.sort();
        grouped
    });
    let grouped: Vec<PathBuf> = groups.collect();
    folders.into_iter().filter_map(|(rank, path)| rank.map(|_| path)).chain(grouped).collect()
}

/// What lies directly in a folder; nothing where it cannot be read.
fn inside(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect()
}

/// The models in these folders, with what their configurations say.
pub fn installed(folders: &[PathBuf]) -> Vec<Installed> {
    let of = |folder: &PathBuf| {
        let config = config(folder).unwrap_or_default();
        let tag = |key: &str| config[key].as_str().unwrap_or_default().to_owned();
        let entry = MODELS.iter().find(|entry| config["architecture"] == entry.name);
        let aligns = entry.is_some_and(|entry| entry.input_delay.is_some());
        Installed {
            folder: folder.clone(),
            languages: (tag("source_language"), tag("target_language")),
            paper: entry.map(ModelEntry::paper).unwrap_or_default(),
            state: config["hidden"].as_u64().filter(|_| aligns).unwrap_or_default(),
            bytes: std::fs::metadata(folder.join(WEIGHTS_FILE)).map_or(0, |weights| weights.len()),
        }
    };
    folders.iter().map(of).collect()
}

/// What the window shows at its first start: the first model, which is that of the oldest paper, and beside it the
/// largest with an alignment that translates between the same languages.
pub fn opening(models: &[PathBuf]) -> Vec<PathBuf> {
    let installed = installed(models);
    let Some(first) = installed.first() else { return Vec::new() };
    let is_beside = |other: &&Installed| other.languages == first.languages && other.state > first.state;
    // of equally large ones the first
    let best = installed.iter().rev().filter(is_beside).max_by_key(|other| other.state);
    std::iter::once(first).chain(best).map(|model| model.folder.clone()).collect()
}

/// The place of a folder's architecture in [`MODELS`], whose order is that of the papers.
fn rank(folder: &Path) -> Option<usize> {
    let config = config(folder)?;
    let place = MODELS.iter().position(|entry| config["architecture"] == entry.name);
    (config["format"] == FORMAT).then(|| place.unwrap_or(MODELS.len()))
}

fn config(folder: &Path) -> Option<serde_json::Value> {
    serde_json::from_slice(&disk::read(&folder.join(CONFIG_FILE), disk::CONFIG_LIMIT).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_looked_for_where_models_lie_and_a_path_is_left_as_it_is() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let places = ["first", "second"].map(|name| folder.path().join(name));
        for model in ["first/other", "second/mine", "second/other"] {
            let model = folder.path().join(model);
            std::fs::create_dir_all(&model).expect("created");
            std::fs::write(model.join(CONFIG_FILE), "{\"format\": \"interlinear\"}").expect("written");
        }
        let found = |name: &str| found(name.into(), &places);
        assert_eq!(found("mine"), Ok(places[1].join("mine")));
        assert_eq!(found("mine/"), Ok(places[1].join("mine")));
        assert_eq!(found("other"), Ok(places[0].join("other")), "the first place has it");
        for path in ["./yours", "second/yours", "../yours", "/yours", "."] {
            assert_eq!(found(path), Ok(path.into()), "a path, or a folder that is here");
        }
        for (typed, said) in [
            ("yours", "yours does not exist here or among the installed models; there are mine, other. "),
            ("ohter", "ohter does not exist here or among the installed models; there are mine, other. "),
            ("othe", "othe does not exist here or among the installed models; did you mean other? A "),
            ("models/mine", "models/mine does not exist; a model of this name is installed, so write mine"),
        ] {
            let missing = found(typed).expect_err("nobody has it");
            assert!(missing.starts_with(said), "{missing}");
            assert!(missing.contains(NAMED) != typed.contains('/') && !missing.contains("first"), "{missing}");
        }
        assert_eq!(["", "mine", "mein", "nine", "mines"].map(|word| edits("mine", word)), [4, 0, 2, 1, 1]);
    }

    #[test]
    fn only_folders_of_our_own_format_count_and_papers_come_in_their_order() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (name, config) in [
            ("a", "{\"format\": \"interlinear\", \"architecture\": \"luong\"}"),
            ("b", "{\"format\": \"interlinear\", \"architecture\": \"luong\"}"),
            ("c", "{\"format\": \"interlinear\", \"architecture\": \"rnnsearch\", \"hidden\": 3}"),
            ("d", "{\"format\": \"interlinear\", \"architecture\": \"rnnencdec\", \"hidden\": 4}"),
            ("e", "{\"format\": \"interlinear\"}"),
            ("other", "{\"format\": \"gguf\"}"),
            ("nothing", "{\"model_type\": \"bert\"}"),
            ("broken", "{"),
            ("group/late", "{\"format\": \"interlinear\", \"architecture\": \"rnnsearch\"}"),
            ("group/early", "{\"format\": \"interlinear\", \"architecture\": \"rnnsearch\"}"),
            ("broken/inside", "{\"format\": \"interlinear\", \"architecture\": \"rnnsearch\"}"),
        ] {
            std::fs::create_dir_all(folder.path().join(name)).expect("created");
            std::fs::write(folder.path().join(name).join(CONFIG_FILE), config).expect("written");
        }
        std::fs::create_dir(folder.path().join("empty")).expect("created");
        let folders = |names: &[&str]| -> Vec<PathBuf> { names.iter().map(|name| folder.path().join(name)).collect() };
        let models = models_in(folder.path());
        assert_eq!(models, folders(&["d", "c", "a", "b", "e", "group/early", "group/late"]), "a group comes last");
        assert_eq!(found("late".into(), &[folder.path().to_path_buf()]), Ok(folder.path().join("group/late")));
        assert_eq!(opening(&models), folders(&["d", "c"]), "the oldest paper's beside the largest that aligns");
        assert_eq!(opening(&models[2..]), folders(&["a"]));
        assert!(opening(&[]).is_empty());
        let known = |model: Installed| (name(&model.folder).unwrap_or_default(), model.paper, model.state);
        let known: Vec<_> = installed(&folders(&["d", "c", "a", "e"])).into_iter().map(known).collect();
        let papers = [
            ("d", "Cho et al. 2014", 0),
            ("c", "Bahdanau et al. 2015", 3),
            ("a", "Luong et al. 2015", 0),
            ("e", "", 0),
        ];
        assert_eq!(known, papers.map(|(name, paper, state)| (name.to_owned(), paper.to_owned(), state)));
        assert!(models_in(&folder.path().join("nowhere")).is_empty());
    }
}
