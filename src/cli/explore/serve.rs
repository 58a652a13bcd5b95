//! `interlinear serve`: the explorer in a browser for those who are in the same room: the built site and models, on
//! this machine alone unless told otherwise.
//!
//! Everything that is served is read when it starts and named in a table: a request finds what stands there or nothing, so
//! that no path leads out of the folders, and nothing is written.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{collections::BTreeMap, fmt, thread::JoinHandle, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use clap::Args;
use flate2::{Compression, write::GzEncoder};
use percent_encoding::percent_decode_str;
use qrcode::{QrCode, render::unicode::Dense1x2};
use rayon::prelude::*;
use serde::de::{Deserializer as _, MapAccess, Visitor};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use crate::output;
use crate::output::LineOutput;
use engine::clock::Instant;
use engine::error::{Error, Result};
use engine::models::disk::{CARD_FILE, CONFIG_FILE, SOURCE_FILE, TARGET_FILE, WEIGHTS_FILE};
use engine::models::fused::head::HEAD_FILE;
use explorer::session::link::ShownLink;

/// The files of a model folder that the page reads.
const MODEL_FILES: [&str; 6] = [CONFIG_FILE, SOURCE_FILE, TARGET_FILE, CARD_FILE, HEAD_FILE, WEIGHTS_FILE];
/// So long a part of an answer may take to be sent.
const PATIENCE: Duration = Duration::from_secs(30);
const PART: usize = 1 << 18;
/// The longest head of a request, in bytes, and its most fields.
const MOST_HEAD: usize = 1 << 16;
const MOST_FIELDS: usize = 100;
/// Fewer bytes are sent as they are.
const LEAST_PACKED: usize = 1 << 12;
const MODELS: &str = "models.json";
const INDEX: &str = "index.html";
const OPENS: &str = "rnnsearch-en-fr";

/// As typed.
#[derive(Args, Clone, Debug)]
pub struct ServeArgs {
    /// The built site (by default dist here or what is installed beside the program)
    #[arg(value_name = "SITE")]
    site: Option<PathBuf>,
    /// A model folder, or a folder of them and of groups of them, to serve with the site's models; may be given several times
    #[arg(long, value_name = "MODELS")]
    dir: Vec<PathBuf>,
    /// Print an address that opens the mode for a class: the sentence, two columns, and nothing else to press by mistake
    #[arg(long)]
    class: bool,
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
    let served = Served::read(&site, &args.dir, &host::bundled::every())?;
    let (server, bound) = served.listen(SocketAddr::new(args.host, args.port), Limits::default())?;
    let shown = if args.class { ShownLink::class().text()? } else { String::new() };
    let address = format!("http://{}/{shown}", SocketAddr::new(seen_from_outside(bound.ip()), bound.port()));
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

/// The page opens the first model.
fn opening_first(installed: &[PathBuf]) -> Vec<PathBuf> {
    let mut models = installed.to_vec();
    models.sort_by_key(|folder| !folder.ends_with(OPENS));
    models
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

/// How much clients may ask of the server.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The time in which a whole request must arrive, counted from the answer before it.
    pub request: Duration,
    /// Connections at a time. When all are taken, the client with the most loses its oldest.
    pub connections: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { request: Duration::from_mins(1), connections: 512 }
    }
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

/// How the names of files end that packing makes no smaller.
const PACKED: [&str; 3] = [".br", ".gz", ".png"];

/// A file of some length packed with gzip, where that makes it smaller by a twentieth.
fn packed(bytes: &[u8]) -> Option<Vec<u8>> {
    if bytes.len() < LEAST_PACKED {
        return None;
    }
    let mut packer = GzEncoder::new(Vec::new(), Compression::default());
    let packed = packer.write_all(bytes).and_then(|()| packer.finish()).ok()?;
    (packed.len() * 20 <= bytes.len() * 19).then_some(packed)
}

/// What is served, by its path.
#[derive(Clone, Debug, Default)]
pub struct Served {
    files: BTreeMap<String, ServedFile>,
    /// What the page may load and run, as a field of each answer.
    policy: String,
}

impl Served {
    /// Reads a site, and models to serve with it; if there are none, the `installed` ones, as in packages.
    pub fn read(site: &Path, models: &[PathBuf], installed: &[PathBuf]) -> Result<Self> {
        let mut bytes = BTreeMap::new();
        collect(site, "", &mut bytes)?;
        let list = bytes.get(MODELS).filter(|_| bytes.contains_key(INDEX));
        let list = list.ok_or_else(|| Error::file(site, "is no built site; bash assets/web/build.sh makes one"))?;
        let list = serde_json::Deserializer::from_slice(list).deserialize_map(InOrder);
        let mut list =
            list.map_err(|error| Error::file(site.join(MODELS), format!("is no list of models ({error})")))?;
        let models = if list.is_empty() && models.is_empty() { opening_first(installed) } else { models.to_vec() };
        for model in chosen(&models)? {
            let name = format!("models/{}", model.file_name().unwrap_or_default().to_string_lossy());
            let mut files = Map::new();
            for file in MODEL_FILES {
                let path = model.join(file);
                if path.symlink_metadata().is_ok_and(|file| file.is_file()) {
                    let read = std::fs::read(&path).map_err(|error| Error::io(&path, &error))?;
                    files.insert(file.to_owned(), read.len().into());
                    bytes.insert(format!("{name}/{file}"), read);
                }
            }
            match list.iter_mut().find(|(other, _)| *other == name) {
                Some((_, of_site)) => *of_site = files.into(),
                None => list.push((name, files.into())),
            }
        }
        let list: Vec<String> = list.iter().map(|(name, files)| format!("{}:{files}", Value::from(&**name))).collect();
        bytes.insert(MODELS.to_owned(), format!("{{{}}}", list.join(",")).into_bytes());
        Ok(Self::of(bytes))
    }

    fn of(mut bytes: BTreeMap<String, Vec<u8>>) -> Self {
        for (_, end) in PACKINGS {
            bytes.remove(&format!("{MODELS}{end}"));
        }
        // over a school's network time is spent on the way, so what nobody has packed is packed here
        let is_plain = |name: &&String| {
            !PACKED.iter().any(|end| name.ends_with(end)) && !bytes.contains_key(&format!("{name}.gz"))
        };
        let plain: Vec<String> = bytes.keys().filter(is_plain).cloned().collect();
        let packed = plain.par_iter().filter_map(|name| Some((format!("{name}.gz"), packed(&bytes[name])?)));
        let packed: Vec<(String, Vec<u8>)> = packed.collect();
        bytes.extend(packed);
        // kept as long as the program runs: a class that comes at once is sent the same bytes
        let kept: BTreeMap<String, &'static [u8]> =
            bytes.into_iter().map(|(name, bytes)| (name, &*Vec::leak(bytes))).collect();
        let file = |(name, plain): (&String, &&'static [u8])| {
            let packed = PACKINGS.map(|(_, end)| kept.get(&format!("{name}{end}")).copied());
            let digest = Sha256::digest(plain).first_chunk().map_or(0, |first| u64::from_be_bytes(*first));
            (name.clone(), ServedFile { plain, packed, kind: kind(name), digest })
        };
        let policy = policy(kept.get(INDEX).copied().unwrap_or_default());
        Self { files: kept.iter().map(file).collect(), policy }
    }

    /// Begins to serve at an address; the one that was bound comes back.
    pub fn listen(self, address: SocketAddr, limits: Limits) -> Result<(JoinHandle<()>, SocketAddr)> {
        let failed = |error: std::io::Error| {
            Error::Input(format!("{address} cannot be listened at ({error}); name another --port or --host"))
        };
        let listener = TcpListener::bind(address).map_err(failed)?;
        let bound = listener.local_addr().map_err(failed)?;
        let (served, connections) = (Arc::new(self), Arc::<Connections>::default());
        let accept = move || {
            for (number, stream) in listener.incoming().enumerate() {
                let Some(stream) = stream.ok().filter(|stream| connections.admit(number, stream, limits)) else {
                    continue;
                };
                let (served, open) = (Arc::clone(&served), Arc::clone(&connections));
                let talk = move || {
                    // A connection that breaks off is the client's affair.
                    let _ = served.talk(stream, limits);
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

    fn talk(&self, mut stream: TcpStream, limits: Limits) -> std::io::Result<()> {
        stream.set_write_timeout(Some(PATIENCE))?;
        let (mut read, mut is_last) = (Vec::new(), false);
        while !is_last {
            let until = Instant::now() + limits.request;
            let (answer, used) = loop {
                let mut fields = [httparse::EMPTY_HEADER; MOST_FIELDS];
                let mut request = httparse::Request::new(&mut fields);
                match request.parse(&read) {
                    Ok(httparse::Status::Complete(used)) => break (self.answer(&request), used),
                    Ok(httparse::Status::Partial) if more(&mut stream, &mut read, until)? => {}
                    Ok(httparse::Status::Partial) => return Ok(()),
                    Err(_) => break (Answer { is_last: true, ..Answer::plain("400 Bad Request") }, read.len()),
                }
            };
            read.drain(..used);
            is_last = answer.is_last;
            let ending = if is_last { "close" } else { "keep-alive" };
            let policy = &self.policy;
            let head = format!(
                "Connection: {ending}\r\nX-Content-Type-Options: nosniff\r\nContent-Security-Policy: {policy}\r\n{}",
                answer.fields
            );
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
        let method = request.method.unwrap_or_default();
        let without_body = |answer| if method == "HEAD" { Answer { body: b"", ..answer } } else { answer };
        let plain = |status| without_body(Answer { is_last, ..Answer::plain(status) });
        if !field("host").is_none_or(is_own_name) {
            return plain("421 Misdirected Request");
        }
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
        if field("if-none-match").is_some_and(|known| names(known, &tag)) {
            return Answer { status: "304 Not Modified", body: b"", fields, is_last };
        }
        let fields = format!("{fields}Content-Length: {}\r\n", bytes.len());
        without_body(Answer { status: "200 OK", body: bytes, fields, is_last })
    }
}

struct Answer {
    status: &'static str,
    fields: String,
    body: &'static [u8],
    is_last: bool,
}

impl Answer {
    /// The status alone, also as its text.
    fn plain(status: &'static str) -> Self {
        let fields = format!("Content-Type: text/plain\r\nContent-Length: {}\r\n", status.len());
        Self { status, fields, body: status.as_bytes(), is_last: false }
    }
}

#[derive(Default)]
struct Connections(Mutex<BTreeMap<usize, (IpAddr, TcpStream)>>);

impl Connections {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<usize, (IpAddr, TcpStream)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn admit(&self, number: usize, stream: &TcpStream, limits: Limits) -> bool {
        let (Ok(stream), Ok(client)) = (stream.try_clone(), stream.peer_addr()) else { return false };
        let mut open = self.lock();
        let is_full = open.len() >= limits.connections;
        let clients: Vec<IpAddr> = open.values().filter(|_| is_full).map(|(client, _)| *client).collect();
        if let Some(key) = greediest(&clients).and_then(|at| open.keys().nth(at).copied())
            && let Some((_, oldest)) = open.remove(&key)
        {
            // It may have closed by itself.
            let _ = oldest.shutdown(Shutdown::Both);
        }
        open.insert(number, (client.ip(), stream));
        true
    }
}

/// The first connection of the client with the most. So who takes all of them shuts out nobody else, and a class behind one
/// address may have many.
pub fn greediest(clients: &[IpAddr]) -> Option<usize> {
    let mut counts = BTreeMap::<IpAddr, usize>::new();
    clients.iter().for_each(|client| *counts.entry(*client).or_default() += 1);
    let most = counts.values().max()?;
    clients.iter().position(|client| counts[client] == *most)
}

/// Keeps the order of the keys: the page opens the first model.
struct InOrder;

impl<'de> Visitor<'de> for InOrder {
    type Value = Vec<(String, Value)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("models with their files")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Self::Value, A::Error> {
        std::iter::from_fn(|| map.next_entry().transpose()).collect()
    }
}

/// Only files of this site, with the scripts that stand in the page itself by their digests; `blob:` is what the page
/// makes for its worker and its downloads.
fn policy(page: &[u8]) -> String {
    let page = String::from_utf8_lossy(page).replace("\r\n", "\n");
    let scripts = page.split("<script").skip(1).filter_map(|script| script.split_once('>'));
    let inline = scripts.filter(|(head, _)| !head.contains("src=")).map(|(_, script)| {
        let text = script.split("</script>").next().unwrap_or_default();
        format!(" 'sha256-{}'", STANDARD.encode(Sha256::digest(text)))
    });
    let inline: String = inline.collect();
    format!(
        "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'{inline}; style-src 'self' 'unsafe-inline'; \
         img-src 'self' blob: data:; worker-src 'self' blob:; connect-src 'self' blob:; object-src 'none'; \
         base-uri 'self'; form-action 'none'; frame-ancestors 'self'"
    )
}

/// Reads on in the head of a request; false where the client has gone or is too slow.
fn more(stream: &mut TcpStream, read: &mut Vec<u8>, until: Instant) -> std::io::Result<bool> {
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Ok(false);
    }
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

/// Whether `If-None-Match` names the tag.
fn names(known: &str, tag: &str) -> bool {
    known.split(',').map(str::trim).any(|one| one == "*" || one.strip_prefix("W/").unwrap_or(one) == tag)
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
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        if kind.is_dir() {
            collect(&path, &format!("{name}/"), found)?;
        } else if kind.is_file() {
            let bytes = std::fs::read(&path).map_err(|error| Error::io(&path, &error))?;
            found.insert(name, bytes);
        }
    }
    Ok(())
}

/// The models of all folders. Error: two have the same name.
fn chosen(folders: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut chosen: Vec<PathBuf> = Vec::new();
    for model in folders.iter().map(|folder| models_of(folder)).collect::<Result<Vec<_>>>()?.into_iter().flatten() {
        match chosen.iter().find(|other| other.file_name() == model.file_name()) {
            Some(other) if *other == model => {}
            Some(other) => {
                let message = format!("has the same name as {}; rename one of the two folders", other.display());
                return Err(Error::file(model, message));
            }
            None => chosen.push(model),
        }
    }
    Ok(chosen)
}

/// The folder itself, or the models in it and in its groups.
fn models_of(folder: &Path) -> Result<Vec<PathBuf>> {
    let is_model = |folder: &Path| folder.join(CONFIG_FILE).is_file();
    let own = folder.canonicalize().map_err(|error| Error::io(folder, &error))?;
    if is_model(&own) {
        return Ok(vec![own]);
    }
    let mut models = Vec::new();
    for entry in folders_in(&own).map_err(|error| Error::io(folder, &error))? {
        if is_model(&entry) {
            models.push(entry);
        } else if !entry.is_symlink() {
            // what may not be read is no group
            models.extend(folders_in(&entry).unwrap_or_default().into_iter().filter(|model| is_model(model)));
        }
    }
    models.retain(|model| {
        let is_link = model.is_symlink();
        if is_link {
            output::notify(&format!("{} is a link to another folder; it is not served", model.display()));
        }
        !is_link
    });
    if models.is_empty() {
        return Err(Error::file(folder, format!("holds no model, which is a folder with {CONFIG_FILE}")));
    }
    Ok(models)
}

fn folders_in(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder)?.filter_map(|entry| Some(entry.ok()?.path()));
    let is_shown = |path: &PathBuf| !path.file_name().unwrap_or_default().to_string_lossy().starts_with('.');
    let mut folders: Vec<PathBuf> = entries.filter(|path| is_shown(path) && path.is_dir()).collect();
    folders.sort();
    Ok(folders)
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
