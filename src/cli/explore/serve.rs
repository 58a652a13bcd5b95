//! `interlinear serve`: the explorer in a browser for those who are in the same room: the built site and models, on
//! this machine alone unless told otherwise.
//!
//! Everything that is served is read when it starts and named in a table: a request finds what stands there or nothing, so
//! that no path leads out of the folders, and nothing is written.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{collections::BTreeMap, thread::JoinHandle, time::Duration};

use clap::Args;
use percent_encoding::percent_decode_str;
use qrcode::{QrCode, render::unicode::Dense1x2};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use crate::output;
use crate::output::LineOutput;
use engine::error::{Error, Result};
use engine::{clock::Instant, models::disk::CONFIG_FILE};

const MOST_CONNECTIONS: usize = 512;
const PATIENCE: Duration = Duration::from_secs(30);
const PART: usize = 1 << 18;
/// The longest head of a request, in bytes, and its most fields.
const MOST_HEAD: usize = 1 << 16;
const MOST_FIELDS: usize = 100;
const MODELS: &str = "models.json";
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
pub fn run(args: &ServeArgs) -> anyhow::Result<()> {
    let site = match &args.site {
        Some(site) => site.clone(),
        None => installed()?,
    };
    let served = Served::read(&site, &args.dir)?;
    let (server, bound) = served.listen(SocketAddr::new(args.host, args.port))?;
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
    server.join().map_err(|_| Error::Internal("the server has ended".to_owned()).into())
}

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
    packed: [Option<&'static [u8]>; 2],
    kind: &'static str,
    digest: u64,
}

const PACKINGS: [(&str, &str); 2] = [("br", ".br"), ("gzip", ".gz")];

/// What is served, by its path.
#[derive(Clone, Debug, Default)]
pub struct Served {
    files: BTreeMap<String, ServedFile>,
}

impl Served {
    /// Reads a site, and models to serve with it.
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
    pub fn listen(self, address: SocketAddr) -> Result<(JoinHandle<()>, SocketAddr)> {
        let failed = |error: std::io::Error| {
            Error::Input(format!("{address} cannot be listened at ({error}); name another --port or --host"))
        };
        let listener = TcpListener::bind(address).map_err(failed)?;
        let bound = listener.local_addr().map_err(failed)?;
        let (served, connections) = (Arc::new(self), Arc::<Connections>::default());
        let accept = move || {
            for (number, stream) in listener.incoming().enumerate() {
                let Some(stream) = stream.ok().filter(|stream| connections.admit(number, stream)) else { continue };
                let (served, open) = (Arc::clone(&served), Arc::clone(&connections));
                let talk = move || {
                    // A connection that breaks off is the client's affair.
                    let _ = served.talk(stream);
                    open.lock().remove(&number);
                };
                if std::thread::Builder::new().name("interlinear-client".to_owned()).spawn(talk).is_err() {
                    connections.lock().remove(&number);
                }
            }
        };
        let thread = std::thread::Builder::new().name("interlinear-serve".to_owned()).spawn(accept);
        Ok((thread.map_err(failed)?, bound))
    }

    fn talk(&self, mut stream: TcpStream) -> std::io::Result<()> {
        stream.set_write_timeout(Some(PATIENCE))?;
        let (mut read, mut is_last) = (Vec::new(), false);
        while !is_last {
            let began = Instant::now();
            let (answer, used) = loop {
                let mut fields = [httparse::EMPTY_HEADER; MOST_FIELDS];
                let mut request = httparse::Request::new(&mut fields);
                match request.parse(&read) {
                    Ok(httparse::Status::Complete(used)) => break (self.answer(&request), used),
                    Ok(httparse::Status::Partial) if more(&mut stream, &mut read, began)? => {}
                    Ok(httparse::Status::Partial) => return Ok(()),
                    Err(_) => break (Answer { is_last: true, ..Answer::plain("400 Bad Request") }, read.len()),
                }
            };
            read.drain(..used);
            is_last = answer.is_last;
            let ending = if is_last { "close" } else { "keep-alive" };
            let head = format!("Connection: {ending}\r\nX-Content-Type-Options: nosniff\r\n{}", answer.fields);
            stream.write_all(format!("HTTP/1.1 {}\r\n{head}\r\n", answer.status).as_bytes())?;
            answer.body.chunks(PART).try_for_each(|part| send(&mut stream, part))?;
        }
        Ok(())
    }

    fn answer(&self, request: &httparse::Request<'_, '_>) -> Answer {
        let field = |name: &str| {
            let found = request.headers.iter().find(|field| field.name.eq_ignore_ascii_case(name))?;
            std::str::from_utf8(found.value).ok()
        };
        let closes =
            request.version == Some(0) || field("connection").is_some_and(|how| how.eq_ignore_ascii_case("close"));
        // What follows with a body is not read.
        let is_last = closes || field("content-length").is_some() || field("transfer-encoding").is_some();
        let plain = |status| Answer { is_last, ..Answer::plain(status) };
        if !field("host").is_none_or(is_own_name) {
            return plain("421 Misdirected Request");
        }
        let method = request.method.unwrap_or_default();
        if !["GET", "HEAD"].contains(&method) {
            return plain("405 Method Not Allowed");
        }
        let path =
            request.path.unwrap_or_default().split(['?', '#']).next().unwrap_or_default().trim_start_matches('/');
        // What is not in the table is not there, whatever it is decoded to.
        let path = percent_decode_str(if path.is_empty() { INDEX } else { path }).decode_utf8();
        let Some(file) = path.ok().and_then(|path| self.files.get(path.as_ref())) else {
            return plain("404 Not Found");
        };
        let accepted = field("accept-encoding").unwrap_or_default();
        let mut packed = PACKINGS.iter().zip(file.packed).filter_map(|((name, _), bytes)| Some((*name, bytes?)));
        let packed = packed.find(|(name, _)| accepts(accepted, name));
        let (bytes, tag) = packed.map_or((file.plain, "plain"), |(name, bytes)| (bytes, name));
        let tag = format!("\"{:x}-{tag}\"", file.digest);
        let encoding = packed.map_or_else(String::new, |(name, _)| format!("Content-Encoding: {name}\r\n"));
        let kind = file.kind;
        let fields = format!(
            "{encoding}Content-Type: {kind}\r\nCache-Control: no-cache\r\nVary: Accept-Encoding\r\nETag: {tag}\r\n"
        );
        if field("if-none-match") == Some(&tag) {
            return Answer { status: "304 Not Modified", body: b"", fields, is_last };
        }
        let fields = format!("{fields}Content-Length: {}\r\n", bytes.len());
        Answer { status: "200 OK", body: if method == "HEAD" { b"" } else { bytes }, fields, is_last }
    }
}

struct Answer {
    status: &'static str,
    fields: String,
    body: &'static [u8],
    is_last: bool,
}

impl Answer {
    fn plain(status: &'static str) -> Self {
        Self { status, fields: "Content-Length: 0\r\n".to_owned(), body: b"", is_last: false }
    }
}

#[derive(Default)]
struct Connections(Mutex<BTreeMap<usize, TcpStream>>);

impl Connections {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<usize, TcpStream>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn admit(&self, number: usize, stream: &TcpStream) -> bool {
        let Ok(stream) = stream.try_clone() else { return false };
        let mut open = self.lock();
        if open.len() >= MOST_CONNECTIONS
            && let Some((_, oldest)) = open.pop_first()
        {
            // It may have closed by itself.
            let _ = oldest.shutdown(Shutdown::Both);
        }
        open.insert(number, stream);
        true
    }
}

/// Reads on in the head of a request; false where the client has gone or is too slow.
fn more(stream: &mut TcpStream, read: &mut Vec<u8>, began: Instant) -> std::io::Result<bool> {
    let Some(left) = PATIENCE.checked_sub(began.elapsed()).filter(|left| !left.is_zero()) else { return Ok(false) };
    stream.set_read_timeout(Some(left))?;
    let mut part = [0; 4096];
    let count = stream.read(&mut part)?;
    read.extend_from_slice(&part[..count]);
    Ok(count > 0 && read.len() <= MOST_HEAD)
}

fn send(stream: &mut TcpStream, mut part: &[u8]) -> std::io::Result<()> {
    let began = Instant::now();
    while !part.is_empty() {
        let count = stream.write(part)?;
        if count == 0 || began.elapsed() > PATIENCE {
            return Err(ErrorKind::TimedOut.into());
        }
        part = &part[count..];
    }
    Ok(())
}

fn accepts(encodings: &str, name: &str) -> bool {
    encodings.split(',').any(|one| {
        let mut parts = one.split(';').map(str::trim);
        let is_named = parts.next() == Some(name);
        let weight = parts.find_map(|part| part.strip_prefix("q=")).map_or(Ok(1.0), str::parse::<f32>);
        is_named && weight.is_ok_and(|weight| weight > 0.0)
    })
}

fn is_own_name(host: &str) -> bool {
    let name = host.rsplit_once(':').filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
    let name = name.map_or(host, |(name, _)| name).to_ascii_lowercase();
    let address = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(&name);
    let own = gethostname::gethostname().to_string_lossy().to_ascii_lowercase();
    address.parse::<IpAddr>().is_ok() || name == "localhost" || name == own || name == format!("{own}.local")
}

fn collect(folder: &Path, before: &str, found: &mut BTreeMap<String, Vec<u8>>) -> Result<()> {
    let failed = |error: std::io::Error| Error::io(folder, &error);
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(failed)?);
        let name = format!("{before}{}", entry.file_name().to_string_lossy());
        if kind.is_dir() {
            collect(&path, &format!("{name}/"), found)?;
        } else if kind.is_file() {
            let bytes = std::fs::read(&path).map_err(|error| Error::io(&path, &error))?;
            found.insert(name, bytes);
        }
    }
    Ok(())
}

fn models_of(folder: &Path) -> Result<Vec<PathBuf>> {
    let is_model = |folder: &PathBuf| folder.join(CONFIG_FILE).is_file();
    let own = folder.canonicalize().map_err(|error| Error::io(folder, &error))?;
    if is_model(&own) {
        return Ok(vec![own]);
    }
    let entries = std::fs::read_dir(&own).map_err(|error| Error::io(folder, &error))?;
    let mut models: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(is_model).collect();
    models.retain(|model| {
        let is_link = model.is_symlink();
        if is_link {
            output::notify(&format!("{} is a link to another folder; it is not served", model.display()));
        }
        !is_link
    });
    models.sort();
    if models.is_empty() {
        return Err(Error::file(folder, format!("holds no model, which is a folder with {CONFIG_FILE}")));
    }
    Ok(models)
}

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
