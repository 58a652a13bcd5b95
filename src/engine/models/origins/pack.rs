//! Files by their names, of a folder or of a zip package. Nothing is unpacked to the disk, so that no name in a
//! package leads anywhere; what an entry takes is bound by the bytes of the package.

use std::io::{BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::{cell::RefCell, fs::File};

use zip::{ZipArchive, read::ZipFile};

use crate::error::{Error, Result};
use crate::models::disk;

const MOST_ENTRIES: usize = 4096;
/// How many times the bytes of a package a file of it may take: weights hardly grow smaller by packing.
pub const MOST_GROWTH: u64 = 8;
/// A file may take so many bytes more.
pub const ALWAYS: u64 = 16 << 20;

type OpenZip = ZipArchive<BufReader<File>>;

/// A folder, or a package that is read as one.
#[derive(Debug)]
pub struct FilePack {
    pub path: PathBuf,
    zip: Option<RefCell<OpenZip>>,
    root: String,
    most: u64,
}

impl FilePack {
    pub fn folder(path: &Path) -> Self {
        Self { path: path.into(), zip: None, root: String::new(), most: u64::MAX }
    }

    pub fn zip(path: &Path, mark: &str) -> Result<Self> {
        let (file, length) = disk::open(path)?;
        let archive = ZipArchive::new(BufReader::new(file))
            .map_err(|error| Error::file(path, format!("is no zip package ({error}); copy or download it again")))?;
        if archive.len() > MOST_ENTRIES {
            let message = format!("has {} entries; packages of at most {MOST_ENTRIES} are read", archive.len());
            return Err(Error::file(path, message));
        }
        let is_root = |root: &str| root.is_empty() || root.ends_with('/') && root.matches('/').count() == 1;
        let names = archive.file_names().filter_map(|name| Some(name.ok()?.into_owned()));
        let root = names.filter_map(|name| Some(name.strip_suffix(mark)?.to_owned())).find(|root| is_root(root));
        let Some(root) = root else { return Err(Error::file(path, format!("has no {mark} in it"))) };
        let most = length.saturating_mul(MOST_GROWTH).saturating_add(ALWAYS);
        Ok(Self { path: path.into(), zip: Some(RefCell::new(archive)), root, most })
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    pub fn has(&self, name: &str) -> bool {
        match &self.zip {
            Some(zip) => zip.borrow().index_for_name(&format!("{}{name}", self.root)).is_some(),
            None => self.path(name).is_file(),
        }
    }

    pub fn start(&self, name: &str, count: usize) -> Result<Vec<u8>> {
        let path = self.path(name);
        let mut bytes = Vec::new();
        let read = match &self.zip {
            None => disk::open(&path)?.0.take(count as u64).read_to_end(&mut bytes),
            Some(zip) => self.entry(&mut zip.borrow_mut(), name)?.take(count as u64).read_to_end(&mut bytes),
        };
        read.map_err(|error| Error::io(&path, &error))?;
        Ok(bytes)
    }

    /// Links are not followed.
    fn entry<'a>(&self, zip: &'a mut OpenZip, name: &str) -> Result<ZipFile<'a, BufReader<File>>> {
        let path = self.path(name);
        let entry = zip.by_name(&format!("{}{name}", self.root));
        let entry = entry.map_err(|error| Error::file(&path, format!("could not be unpacked ({error})")))?;
        if entry.is_symlink() {
            return Err(Error::file(&path, "is a link in the package, which is not followed"));
        }
        Ok(entry)
    }

    pub fn read(&self, name: &str, limit: u64) -> Result<Vec<u8>> {
        let path = self.path(name);
        let Some(zip) = &self.zip else { return disk::read(&path, limit) };
        let limit = limit.min(self.most);
        let mut zip = zip.borrow_mut();
        let entry = self.entry(&mut zip, name)?;
        let (said, mut bytes) = (entry.size(), Vec::new());
        if said <= limit {
            let read = entry.take(limit.saturating_add(1)).read_to_end(&mut bytes);
            read.map_err(|error| {
                Error::file(&path, format!("could not be unpacked ({error}); copy the package again"))
            })?;
        }
        if said.max(bytes.len() as u64) > limit {
            return Err(Error::file(&path, format!("takes more than the {limit} bytes that it may have here")));
        }
        Ok(bytes)
    }
}
