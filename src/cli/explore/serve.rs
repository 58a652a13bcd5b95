//! Floor 13: `interlinear serve`: the explorer in a browser for those who are in the same room: the built site and models, on
//! this machine alone unless told otherwise.
//!
//! Everything that is served is read when it starts and named in a table: a request finds what stands there or nothing, so
//! that no path leads out of the folders, and nothing is written.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use oxhttp::Server;
use oxhttp::model::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG};
use oxhttp::model::{Body, Method, Request, Response, StatusCode};
use qrcode::QrCode;
use qrcode::render::unicode::Dense1x2;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use crate::cli::output::LineOutput;
use crate::error::{Error, Result};
use crate::models::folder::CONFIG_FILE;

/// Connections at a time; a browser opens up to six.
const MOST_CONNECTIONS: usize = 512;
/// How long a connection may say nothing.
const PATIENCE: Duration = Duration::from_secs(30);
/// The site's list of models.
const MODELS: &str = "models.json";
/// The first file of a site.
const INDEX: &str = "index.html";

/// As typed.
#[derive(Args, Clone, Debug)]
pub struct ServeArgs {
    /// The built site (by default dist here or what is installed beside the program)
    #[arg(value_name = "SITE")]
    site: Option<PathBuf>,
    /// A model folder, or a folder of them, to serve beside those of the site; may be given several times
    #[arg(long, value_name = "MODELS")]
    dir: Vec<PathBuf>,
    /// The port; 0: any that is free
    #[arg(long, default_value_t = 8080)]
    port: u16,
    /// The address to listen at; 0.0.0.0 lets everybody in the same network in
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    host: IpAddr,
}

/// Serves until it is ended.
///
/// # Errors
/// A site or a model that is not there, or a port that is taken.
pub fn run(low: &ServeArgs) -> anyhow::Result<()> {
    let site = match &low.site {
        Some(site) => site.clone(),
        None => installed()?,
    };
    let served = Served::read(&site, &low.dir)?;
    let (server, bound) = served.listen(SocketAddr::new(low.host, low.port))?;
    let address = format!("http://{}/", SocketAddr::new(seen_from_outside(bound.ip()), bound.port()));
    let mut output = LineOutput::stdout();
    output.line(&format!("The explorer is at {address} (Ctrl+C ends it)"))?;
    if let Ok(code) = QrCode::new(&address) {
        // a line of its own for each row of squares
        let code = code.render::<Dense1x2>().dark_color(Dense1x2::Light).light_color(Dense1x2::Dark).build();
        code.lines().try_for_each(|row| output.line(row))?;
    }
    if bound.ip().is_loopback() {
        output.line("It answers this machine alone; --host 0.0.0.0 lets everybody in the same network in.")?;
    }
    output.flush()?;
    Ok(server.join()?)
}

/// The site that is installed, or that was built here.
fn installed() -> Result<PathBuf> {
    let executable = std::env::current_exe().and_then(|path| path.canonicalize()).unwrap_or_default();
    let above = executable.ancestors().skip(1).take(4).map(Path::to_path_buf);
    let mut places = vec![PathBuf::from("dist")];
    places.extend(
        above.flat_map(|folder| [folder.join("web"), folder.join("dist"), folder.join("share/interlinear/web")]),
    );
    places.into_iter().find(|place| place.join(INDEX).is_file()).ok_or_else(|| {
        let message = "there is no built site here or beside the program; build it with `bash assets/web/build.sh` or name its folder: interlinear serve SITE";
        Error::Input(message.to_owned())
    })
}

/// The address by which others reach this machine: that of the way out of it, where it listens everywhere.
fn seen_from_outside(bound: IpAddr) -> IpAddr {
    if !bound.is_unspecified() {
        return bound;
    }
    // nothing is sent: only the way is asked for
    let way = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).and_then(|socket| {
        socket.connect((Ipv4Addr::new(192, 0, 2, 1), 9))?;
        socket.local_addr()
    });
    way.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |address| address.ip())
}

/// A file as it is sent.
#[derive(Clone, Copy, Debug)]
struct ServedFile {
    plain: &'static [u8],
    /// The same packed with Brotli and gzip, where it lies beside it.
    packed: [Option<&'static [u8]>; 2],
    kind: &'static str,
    digest: u64,
}

/// The names of the packings, and how their files end.
const PACKINGS: [(&str, &str); 2] = [("br", ".br"), ("gzip", ".gz")];

/// What is served, by its path.
#[derive(Clone, Debug, Default)]
pub struct Served {
    files: BTreeMap<String, ServedFile>,
}

impl Served {
    /// Reads a site, and models to serve with it.
    ///
    /// # Errors
    /// What cannot be read, and a folder that is no site or holds no model.
    pub fn read(site: &Path, models: &[PathBuf]) -> Result<Self> {
        let mut bytes = BTreeMap::new();
        collect(site, "", &mut bytes)?;
        let list = bytes.get(MODELS).filter(|_| bytes.contains_key(INDEX));
        let list = list.ok_or_else(|| Error::file(site, "is no built site; bash assets/web/build.sh makes one"))?;
        let list = serde_json::from_slice::<Map<String, Value>>(list);
        let mut list =
            list.map_err(|error| Error::file(site.join(MODELS), format!("is no list of models ({error})")))?;
        for folder in models {
            for model in models_of(folder)? {
                let name = format!("models/{}", model.file_name().unwrap_or_default().to_string_lossy());
                let mut files = BTreeMap::new();
                collect(&model, "", &mut files)?;
                list.insert(name.clone(), files.iter().map(|(file, bytes)| (file.clone(), bytes.len())).collect());
                bytes.extend(files.into_iter().map(|(file, bytes)| (format!("{name}/{file}"), bytes)));
            }
        }
        bytes.insert(MODELS.to_owned(), Value::Object(list).to_string().into_bytes());
        Ok(Self::of(bytes))
    }

    fn of(mut bytes: BTreeMap<String, Vec<u8>>) -> Self {
        for (_, end) in PACKINGS {
            bytes.remove(&format!("{MODELS}{end}"));
        }
        // kept as long as the program runs: a class that comes at once is sent the same bytes
        let kept: BTreeMap<String, &'static [u8]> =
            bytes.into_iter().map(|(name, bytes)| (name, &*Vec::leak(bytes))).collect();
        let file = |(name, plain): (&String, &&'static [u8])| {
            let packed = PACKINGS.map(|(_, end)| kept.get(&format!("{name}{end}")).copied());
            let digest = Sha256::digest(plain).first_chunk().map_or(0, |first| u64::from_be_bytes(*first));
            (name.clone(), ServedFile { plain, packed, kind: kind(name), digest })
        };
        Self { files: kept.iter().map(file).collect() }
    }

    /// Begins to serve at an address; the one that was bound comes back.
    ///
    /// # Errors
    /// An address that cannot be had.
    pub fn listen(self, address: SocketAddr) -> Result<(oxhttp::ListeningServer, SocketAddr)> {
        let failed = |error: &std::io::Error| {
            Error::Input(format!("{address} cannot be listened at ({error}); name another --port or --host"))
        };
        // which port is free is known only once it was had
        let bound =
            TcpListener::bind(address).and_then(|listener| listener.local_addr()).map_err(|error| failed(&error))?;
        let server = Server::new(move |request| self.answer(request)).bind(bound);
        let server = server.with_global_timeout(PATIENCE).with_max_concurrent_connections(MOST_CONNECTIONS);
        Ok((server.spawn().map_err(|error| failed(&error))?, bound))
    }

    fn answer(&self, request: &Request<Body>) -> Response<Body> {
        let is_read = [Method::GET, Method::HEAD].contains(request.method());
        let path = request.uri().path().trim_start_matches('/');
        let path = if path.is_empty() { INDEX } else { path };
        let found = self.files.get(path).filter(|_| is_read);
        let mut answer = Response::builder().header("X-Content-Type-Options", "nosniff");
        let Some(file) = found else {
            let status = if is_read { StatusCode::NOT_FOUND } else { StatusCode::METHOD_NOT_ALLOWED };
            return done(answer.status(status), Body::empty());
        };
        let accepted =
            request.headers().get("accept-encoding").and_then(|value| value.to_str().ok()).unwrap_or_default();
        let accepts =
            |name: &str| accepted.split(',').any(|one| one.split(';').next().is_some_and(|one| one.trim() == name));
        let packed = PACKINGS
            .iter()
            .zip(file.packed)
            .find_map(|((name, _), bytes)| Some((*name, bytes?)).filter(|_| accepts(name)));
        let (bytes, tag) = match packed {
            Some((name, bytes)) => {
                answer = answer.header(CONTENT_ENCODING, name);
                (bytes, name)
            }
            None => (file.plain, "plain"),
        };
        let tag = format!("\"{:x}-{tag}\"", file.digest);
        let is_known = request.headers().get("if-none-match").is_some_and(|known| known.as_bytes() == tag.as_bytes());
        answer = answer
            .header(CONTENT_TYPE, file.kind)
            .header(CACHE_CONTROL, "no-cache")
            .header("Vary", "Accept-Encoding")
            .header(ETAG, tag);
        if is_known {
            return done(answer.status(StatusCode::NOT_MODIFIED), Body::empty());
        }
        done(answer, if request.method() == Method::HEAD { Body::empty() } else { Body::from(bytes) })
    }
}

fn done(answer: oxhttp::model::response::Builder, body: Body) -> Response<Body> {
    // the headers are ours, so they are sound
    answer.body(body).unwrap_or_default()
}

/// Every plain file of a folder with its path inside; links lead elsewhere and are left out.
fn collect(folder: &Path, before: &str, found: &mut BTreeMap<String, Vec<u8>>) -> Result<()> {
    let failed = |path: &Path, error: &std::io::Error| Error::io(path, error);
    for entry in std::fs::read_dir(folder).map_err(|error| failed(folder, &error))? {
        let entry = entry.map_err(|error| failed(folder, &error))?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(|error| failed(folder, &error))?);
        let name = format!("{before}{}", entry.file_name().to_string_lossy());
        if kind.is_dir() {
            collect(&path, &format!("{name}/"), found)?;
        } else if kind.is_file() {
            let bytes = std::fs::read(&path).map_err(|error| failed(&path, &error))?;
            found.insert(name, bytes);
        }
    }
    Ok(())
}

/// The folder itself where it is a model, else the models in it.
fn models_of(folder: &Path) -> Result<Vec<PathBuf>> {
    let is_model = |folder: &PathBuf| folder.join(CONFIG_FILE).is_file();
    let own = folder.canonicalize().map_err(|error| Error::io(folder, &error))?;
    if is_model(&own) {
        return Ok(vec![own]);
    }
    let entries = std::fs::read_dir(&own).map_err(|error| Error::io(folder, &error))?;
    let mut models: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(is_model).collect();
    models.sort();
    if models.is_empty() {
        return Err(Error::file(folder, format!("holds no model, which is a folder with {CONFIG_FILE}")));
    }
    Ok(models)
}

/// What a browser is told that a file is.
fn kind(name: &str) -> &'static str {
    match Path::new(name).extension().and_then(|end| end.to_str()).unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "json" => "application/json",
        "webmanifest" => "application/manifest+json",
        "wasm" => "application/wasm",
        "png" => "image/png",
        _ => "application/octet-stream",
    }
}
