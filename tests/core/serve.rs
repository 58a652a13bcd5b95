//! `interlinear serve`: what it gives, what it does not, and a class that comes at once.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};

use interlinear::cli::explore::serve::Served;

use crate::folder::{Files as _, Folder};

fn site() -> (Folder, PathBuf) {
    let (folder, site) = Folder::and_path("dist");
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().expect("it lies in a folder")).expect("made");
        std::fs::write(path, bytes).expect("written");
    };
    let large: Vec<u8> = (0..3_000_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    write("secret.txt", b"secret");
    write("dist/index.html", b"<!doctype html>");
    write("dist/program.wasm", &large);
    write("dist/program.wasm.gz", b"packed");
    write("dist/models.json", b"{\"models/a\": {\"config.json\": 2}}");
    write("dist/models/a/config.json", b"{}");
    write("dist/a b.txt", b"spaced");
    write("dist/\u{e9}t\u{e9}.txt", b"summer");
    write("more/mine/config.json", b"{ }");
    write("private/config.json", b"secret");
    write("more/mine/model.safetensors", b"12345");
    (folder, site)
}

fn served(site: &Path, models: &[PathBuf]) -> SocketAddr {
    let served = Served::read(site, models).expect("it is a site");
    served.listen((Ipv4Addr::LOCALHOST, 0).into()).expect("a port is free").1
}

fn asked(address: SocketAddr, how: &str, path: &str, more: &str) -> (u16, String, Vec<u8>) {
    let mut stream = TcpStream::connect(address).expect("it listens");
    let host = if more.starts_with("Host: ") { "" } else { "Host: localhost:80\r\n" };
    write!(stream, "{how} {path} HTTP/1.1\r\n{host}Connection: close\r\n{more}\r\n").expect("sent");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("read");
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").expect("a head");
    let head = String::from_utf8_lossy(&answer[..end]).to_lowercase();
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
    (status, head, answer[end + 4..].to_vec())
}

#[test]
fn a_site_and_chosen_models_are_served_and_nothing_else() {
    let (folder, site) = site();
    #[cfg(unix)]
    for (from, to) in [("secret.txt", "dist/way.txt"), ("private", "more/theirs")] {
        std::os::unix::fs::symlink(folder.join(from), folder.join(to)).expect("linked");
    }
    let address = served(&site, &[folder.join("more")]);
    let get = |path: &str| asked(address, "GET", path, "");
    for (path, kind, bytes) in [
        ("/", "text/html; charset=utf-8", &b"<!doctype html>"[..]),
        ("/index.html?x=1", "text/html; charset=utf-8", b"<!doctype html>"),
        ("/models/a/config.json", "application/json", b"{}"),
        ("/models/mine/model.safetensors", "application/octet-stream", b"12345"),
        ("/a%20b.txt", "application/octet-stream", b"spaced"),
        ("/%C3%A9t%c3%a9.txt", "application/octet-stream", b"summer"),
    ] {
        let (status, head, body) = get(path);
        assert_eq!((status, body.as_slice()), (200, bytes), "{path}");
        assert!(
            head.contains(&format!("content-type: {kind}"))
                && head.contains(&format!("content-length: {}", bytes.len())),
            "{head}"
        );
    }
    let (_, _, list) = get("/models.json");
    let list: serde_json::Value = serde_json::from_slice(&list).expect("JSON");
    assert_eq!(
        list,
        serde_json::json!({"models/a": {"config.json": 2}, "models/mine": {"config.json": 3, "model.safetensors": 5}})
    );
    for path in [
        "/../secret.txt", "/%2e%2e/secret.txt", "/models/../../secret.txt", "//etc/passwd", "/%2e%2e%2fsecret.txt",
        "/..%5csecret.txt", "/secret.txt%00", "/models/theirs/config.json", "/way.txt", "/nobody", "/models/",
        "/models/a",
    ] {
        let (status, _, body) = get(path);
        assert!(status != 200 && !body.windows(6).any(|six| six == b"secret"), "{path}: {status}");
    }
    for how in ["POST", "PUT", "DELETE"] {
        assert_eq!(asked(address, how, "/", "Content-Length: 0\r\n").0, 405, "{how}");
    }
    let (status, head, body) = asked(address, "GET", "/program.wasm", "Accept-Encoding: br, gzip\r\n");
    assert_eq!((status, body.as_slice()), (200, &b"packed"[..]));
    assert!(head.contains("content-encoding: gzip") && head.contains("application/wasm"), "{head}");
    for none in ["gzip;q=0", "br, gzip ; q=0.0", "GZIP2", "identity"] {
        let (_, head, body) = asked(address, "GET", "/program.wasm", &format!("Accept-Encoding: {none}\r\n"));
        assert!(!head.contains("content-encoding") && body.len() == 3_000_000, "{none}: {head}");
    }
    for (host, status) in
        [("evil.example", 421), ("localhost.evil.example:8080", 421), ("127.0.0.1:8080", 200), ("[::1]", 200)]
    {
        assert_eq!(asked(address, "GET", "/", &format!("Host: {host}\r\n")).0, status, "{host}");
    }
    let (_, head, _) = get("/program.wasm");
    let tag = head.lines().find_map(|line| line.strip_prefix("etag: ")).expect("a tag").to_owned();
    assert_eq!(asked(address, "GET", "/program.wasm", &format!("If-None-Match: {tag}\r\n")).0, 304);
}

#[test]
fn what_is_no_site_and_no_model_is_told() {
    let (folder, site) = site();
    let told = |site: &Path, models: &[PathBuf]| Served::read(site, models).expect_err("it is none").to_string();
    assert!(told(&folder.join("more"), &[]).contains("is no built site; bash assets/web/build.sh"));
    assert!(told(&folder.join("nobody"), &[]).contains("does not exist"));
    assert!(told(&site, &[folder.join("dist")]).contains("holds no model"));
    site.put("models.json", "[");
    assert!(told(&site, &[]).contains("models.json") && told(&site, &[]).contains("is no list of models"));
    let (_other, site) = self::site();
    let taken = served(&site, &[]);
    let again = Served::read(&site, &[]).expect("a site").listen(taken);
    assert!(again.expect_err("it is taken").to_string().contains("name another --port"));
}

#[test]
fn a_class_of_forty_that_comes_at_once_gets_everything() {
    let (_folder, site) = site();
    let address = served(&site, &[]);
    let large = std::fs::read(site.join("program.wasm")).expect("it is there");
    std::thread::scope(|scope| {
        for _ in 0..40 {
            scope.spawn(|| {
                for _ in 0..3 {
                    assert_eq!(asked(address, "GET", "/", "").0, 200);
                    let (status, _, body) = asked(address, "GET", "/program.wasm", "");
                    assert!(status == 200 && body == large);
                }
            });
        }
    });
}

#[test]
fn clients_that_say_nothing_keep_nobody_out() {
    let (_folder, site) = site();
    let address = served(&site, &[]);
    let silent: Vec<TcpStream> = (0..600)
        .map(|_| {
            let mut stream = TcpStream::connect(address).expect("it listens");
            stream.write_all(b"G").expect("sent");
            stream
        })
        .collect();
    let began = std::time::Instant::now();
    assert_eq!(asked(address, "GET", "/", "").0, 200);
    assert!(began.elapsed() < std::time::Duration::from_secs(20));
    drop(silent);
}
