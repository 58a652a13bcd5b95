//! `interlinear serve`: what it gives, what it does not, and a class that comes at once.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};

use std::{net::IpAddr, time::Duration};

use interlinear::app::open_with::OpenWith;
use interlinear::cli::explore::serve::{Limits, Served, greediest};
use interlinear::session::{link::ShownLink, state::Session};
use sha2::{Digest as _, Sha256};

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
    write("dist/.git/config", b"secret");
    for own in ["training/checkpoint.safetensors", "training/log.jsonl", "lock", "train.toml", ".hidden"] {
        write(&format!("more/mine/{own}"), b"secret");
    }
    (folder, site)
}

fn served(site: &Path, models: &[PathBuf]) -> SocketAddr {
    let served = Served::read(site, models, &[]).expect("it is a site");
    served.listen((Ipv4Addr::LOCALHOST, 0).into(), Limits::default()).expect("a port is free").1
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
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "/models/../../secret.txt",
        "//etc/passwd",
        "/%2e%2e%2fsecret.txt",
        "/..%5csecret.txt",
        "/secret.txt%00",
        "/models/theirs/config.json",
        "/way.txt",
        "/nobody",
        "/models/",
        "/models/a",
        "/.git/config",
        "/models/mine/.hidden",
        "/models/mine/lock",
        "/models/mine/train.toml",
        "/models/mine/training/log.jsonl",
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
}

#[test]
fn what_a_browser_has_is_not_sent_again_and_head_sends_the_head() {
    let (_folder, site) = site();
    let address = served(&site, &[]);
    let get = |path: &str| asked(address, "GET", path, "");
    let (_, head, _) = get("/program.wasm");
    let tag = head.lines().find_map(|line| line.strip_prefix("etag: ")).expect("a tag").to_owned();
    for (known, status) in [
        (tag.clone(), 304),
        ("*".to_owned(), 304),
        (format!("\"other\", {tag}"), 304),
        (format!("W/{tag},\"x\""), 304),
        ("\"other\", \"x\"".to_owned(), 200),
        (tag.trim_matches('"').to_owned(), 200),
    ] {
        let found = asked(address, "GET", "/program.wasm", &format!("If-None-Match: {known}\r\n")).0;
        assert_eq!(found, status, "{known}");
    }
    for (path, status, length) in [("/program.wasm", 200, 3_000_000), ("/nobody", 404, 13)] {
        let (found, head, body) = asked(address, "HEAD", path, "");
        assert!(found == status && body.is_empty() && head.contains(&format!("content-length: {length}")), "{head}");
    }
    assert_eq!(get("/nobody").2, b"404 Not Found");
}

#[test]
fn the_sites_first_model_stays_first_and_groups_of_models_are_served_too() {
    let (folder, site) = site();
    site.put("models.json", "{\"models/z\": {}, \"models/a\": {\"config.json\": 2}}");
    for name in ["all/b/config.json", "all/group/c/config.json", "all/a/config.json", "all/.no/d/config.json"] {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, "{   }").expect("written");
    }
    let list = |models: &[PathBuf]| {
        let (_, _, body) = asked(served(&site, models), "GET", "/models.json", "");
        String::from_utf8(body).expect("text")
    };
    let file = |size: usize| format!("{{\"config.json\":{size}}}");
    let of_site = format!("{{\"models/z\":{{}},\"models/a\":{}", file(2));
    assert_eq!(list(&[]), format!("{of_site}}}"));
    let (all, own) = (folder.join("all"), folder.join("all/b"));
    let wanted = of_site.replace('2', "5")
        + &["b", "group/c"]
            .map(|name| name.rsplit('/').next().unwrap_or_default())
            .map(|name| format!(",\"models/{name}\":{}", file(5)))
            .concat();
    assert_eq!(list(&[all.clone(), own]), format!("{wanted}}}"), "the same folder twice is one model");
    std::fs::create_dir_all(folder.join("more/b")).expect("made");
    folder.put("more/b/config.json", "{}");
    let twice = Served::read(&site, &[all, folder.join("more")], &[]).map(drop).expect_err("two of a name").to_string();
    assert!(twice.contains("more/b: has the same name as ") && twice.contains("all/b; rename"), "{twice}");
}

#[test]
fn a_page_may_run_its_own_scripts_and_speak_to_its_own_site_alone() {
    use base64::Engine as _;
    let (_folder, site) = site();
    let real = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/web/index.html");
    let page = std::fs::read_to_string(real).expect("the page");
    site.put("index.html", &page);
    let mut stream = TcpStream::connect(served(&site, &[])).expect("it listens");
    stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("read");
    let policy = answer.lines().find_map(|line| line.strip_prefix("Content-Security-Policy: ")).expect("a policy");
    let script = page.split("<script type=\"module\">").nth(1).and_then(|rest| rest.split("</script>").next());
    let digest = Sha256::digest(script.expect("a script in the page"));
    let digest = base64::engine::general_purpose::STANDARD.encode(digest);
    for part in [
        "default-src 'self';",
        &format!("script-src 'self' 'wasm-unsafe-eval' 'sha256-{digest}';"),
        "worker-src 'self' blob:;",
        "connect-src 'self' blob:;",
        "frame-ancestors 'self'",
    ] {
        assert!(policy.contains(part), "{part}: {policy}");
    }
    assert_eq!(page.matches("<script").count(), policy.matches("sha256-").count());
}

#[test]
fn a_site_without_models_serves_the_installed_ones_packed() {
    let folder = Folder::new();
    let site = folder.join("web");
    let numbers: Vec<u8> = (0..100_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 28) as u8).collect();
    std::fs::create_dir_all(&site).expect("made");
    std::fs::write(site.join("index.html"), "<!doctype html>").expect("written");
    std::fs::write(site.join("models.json"), "{}").expect("written");
    let installed = ["a-first", "rnnsearch-en-fr"].map(|name| folder.join("models").join(name));
    for model in &installed {
        std::fs::create_dir_all(model).expect("made");
        std::fs::write(model.join("config.json"), "{}").expect("written");
        std::fs::write(model.join("model.safetensors"), &numbers).expect("written");
    }
    let read = Served::read(&site, &[], &installed).expect("it is a site");
    let address = read.listen((Ipv4Addr::LOCALHOST, 0).into(), Limits::default()).expect("a port is free").1;
    let (_, _, list) = asked(address, "GET", "/models.json", "");
    let list = String::from_utf8(list).expect("text");
    assert!(list.starts_with("{\"models/rnnsearch-en-fr\"") && list.contains("a-first"), "{list}");
    let path = "/models/a-first/model.safetensors";
    let (_, head, body) = asked(address, "GET", path, "Accept-Encoding: gzip, deflate\r\n");
    assert!(head.contains("content-encoding: gzip") && body.len() < numbers.len() * 3 / 4, "{head}");
    let mut unpacked = Vec::new();
    flate2::read::GzDecoder::new(&body[..]).read_to_end(&mut unpacked).expect("it is packed");
    assert!(unpacked == numbers);
    assert!(asked(address, "GET", path, "").2 == numbers, "who knows no packing gets it as it is");
}

#[test]
fn a_request_that_does_not_end_is_given_up() {
    let (_folder, site) = site();
    let limits = Limits { request: Duration::from_millis(100), connections: 1 };
    let read = Served::read(&site, &[], &[]).expect("it is a site");
    let address = read.listen((Ipv4Addr::LOCALHOST, 0).into(), limits).expect("a port is free").1;
    let mut slow = TcpStream::connect(address).expect("it listens");
    slow.set_read_timeout(Some(Duration::from_millis(5))).expect("set");
    slow.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nx: ").expect("sent");
    let began = std::time::Instant::now();
    let is_open = |slow: &mut TcpStream| match slow.read(&mut [0]) {
        Err(error) => matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut),
        Ok(count) => count > 0,
    };
    // each byte comes soon, the end never
    while slow.write_all(b"x").is_ok() && is_open(&mut slow) {
        assert!(began.elapsed() < Duration::from_secs(20));
    }
    assert_eq!(asked(address, "GET", "/", "").0, 200);
}

#[test]
fn who_takes_all_connections_loses_the_own_ones() {
    for (clients, gone) in [
        (&[][..], None),
        (&[1], Some(0)),
        (&[1, 2, 2, 3], Some(1)),
        (&[1, 2, 1, 2, 2, 3], Some(1)),
        (&[1, 2, 3], Some(0)),
    ] {
        let clients: Vec<IpAddr> = clients.iter().map(|last| Ipv4Addr::new(10, 0, 0, *last).into()).collect();
        assert_eq!(greediest(&clients), gone, "{clients:?}");
    }
}

#[test]
fn the_address_for_a_class_opens_its_mode_with_what_is_shown() {
    let link = ShownLink::class().text().expect("text");
    assert!(link.starts_with("#v1.") && link.len() < 60, "{link}");
    let (models, before) = (vec![PathBuf::from("models/a")], Session::default().app().document.source().to_owned());
    let with = OpenWith {
        bundled: models.iter().cloned().map(Into::into).collect(),
        opening: models.clone(),
        link: Some(link),
        ..OpenWith::default()
    };
    let session = Session::start(None, &with);
    assert!(session.app().view.layout.class);
    let columns: Vec<&Path> =
        session.app().document.originals().map(|column| &*column.system.members[0].folder).collect();
    assert_eq!((columns, session.app().document.source()), (vec![&*models[0]], &*before));
}

#[test]
fn what_is_no_site_and_no_model_is_told() {
    let (folder, site) = site();
    let told = |site: &Path, models: &[PathBuf]| {
        Served::read(site, models, &[]).map(drop).expect_err("it is none").to_string()
    };
    assert!(told(&folder.join("more"), &[]).contains("is no built site; bash assets/web/build.sh"));
    assert!(told(&folder.join("nobody"), &[]).contains("does not exist"));
    std::fs::create_dir_all(folder.join("empty/.hidden")).expect("made");
    assert!(told(&site, &[folder.join("empty")]).contains("holds no model"));
    site.put("models.json", "[");
    assert!(told(&site, &[]).contains("models.json") && told(&site, &[]).contains("is no list of models"));
    let (_other, site) = self::site();
    let taken = served(&site, &[]);
    let again = Served::read(&site, &[], &[]).expect("a site").listen(taken, Limits::default());
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
