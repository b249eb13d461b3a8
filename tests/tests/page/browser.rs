//! A headless Chromium, driven by the protocol of WebDriver (W3C) over loopback.
//!
//! It knows nothing of the pages. The browser ends with the value.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A browser with one window.
pub(crate) struct Browser {
    driver: Child,
    port: u16,
    session: String,
}

/// How a window looks.
#[derive(Clone, Copy)]
pub(crate) struct Look {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) scheme: &'static str,
}

impl Browser {
    /// Starts one; `None` where there is no chromedriver.
    pub(crate) fn start() -> Option<Browser> {
        let mut command = Command::new("chromedriver");
        command.arg("--port=0").stdin(Stdio::null()).stdout(Stdio::piped());
        let mut driver = command.stderr(Stdio::null()).spawn().ok()?;
        let stdout = driver.stdout.take().expect("it is piped");
        let mut lines = BufReader::new(stdout).lines().map_while(Result::ok);
        let port = lines.find_map(|line| {
            let (_, rest) = line.split_once("started successfully on port ")?;
            rest.trim_end_matches('.').parse().ok()
        });
        let port = port.expect("chromedriver says its port");
        let mut browser = Browser { driver, port, session: String::new() };
        let arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"];
        let options = json!({ "args": arguments });
        let wanted = json!({ "alwaysMatch": { "goog:chromeOptions": options } });
        let session = browser.call("POST", "/session", &json!({ "capabilities": wanted }));
        browser.session = session["sessionId"].as_str().expect("a session").to_owned();
        Some(browser)
    }

    /// Opens a file and shows it in a window of this look.
    pub(crate) fn open(&self, file: &Path, look: Look) {
        let Look { width, height, scheme } = look;
        let screen = json!({
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500,
        });
        self.devtools("Emulation.setDeviceMetricsOverride", &screen);
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.devtools("Emulation.setEmulatedMedia", &json!({ "features": features }));
        self.post("/url", &json!({ "url": format!("file://{}", file.display()) }));
    }

    /// Runs a script in the page and gives what it returns.
    pub(crate) fn run(&self, script: &str) -> Value {
        self.post("/execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// Presses keys one after the other, where the focus is.
    pub(crate) fn press(&self, keys: &[&str]) {
        let presses = |key: &&str| {
            let [down, up] = ["keyDown", "keyUp"].map(|act| json!({ "type": act, "value": key }));
            [down, up]
        };
        let actions: Vec<Value> = keys.iter().flat_map(presses).collect();
        let keyboard = json!({ "type": "key", "id": "keyboard", "actions": actions });
        self.post("/actions", &json!({ "actions": [keyboard] }));
    }

    /// Clicks at a point of the window.
    pub(crate) fn click(&self, x: f64, y: f64) {
        let (x, y) = (x.round(), y.round());
        let actions = json!([
            { "type": "pointerMove", "duration": 0, "x": x, "y": y },
            { "type": "pointerDown", "button": 0 },
            { "type": "pointerUp", "button": 0 },
        ]);
        let mouse = json!({ "type": "pointer", "id": "mouse", "actions": actions });
        self.post("/actions", &json!({ "actions": [mouse] }));
    }

    /// Writes what the window shows to a file, as PNG.
    pub(crate) fn shoot(&self, file: &Path) {
        let shot = self.call("GET", &self.path("/screenshot"), &Value::Null);
        let shot = shot.as_str().expect("an image");
        std::fs::write(file, base64(shot)).expect("the image is written");
    }

    fn devtools(&self, command: &str, parameters: &Value) {
        self.post("/goog/cdp/execute", &json!({ "cmd": command, "params": parameters }));
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        self.call("POST", &self.path(path), body)
    }

    fn path(&self, rest: &str) -> String {
        format!("/session/{}{rest}", self.session)
    }

    /// Makes a call and gives its value.
    fn call(&self, method: &str, path: &str, body: &Value) -> Value {
        let body = if method == "POST" { body.to_string() } else { String::new() };
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("the driver listens");
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.port,
            body.len()
        );
        stream.write_all(request.as_bytes()).expect("the driver reads");
        let mut reader = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            reader.read_line(&mut head).expect("the driver answers");
        }
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse())
        });
        // The driver keeps the connection open, whatever it is asked for.
        let mut reply = vec![0; length.expect("a length").expect("a number")];
        reader.read_exact(&mut reply).expect("the whole answer");
        let mut body: Value = serde_json::from_slice(&reply).expect("the body is JSON");
        assert!(head.starts_with("HTTP/1.1 200"), "{method} {path}: {}", body["value"]["message"]);
        body["value"].take()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.call("DELETE", &self.path(""), &Value::Null);
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// Decodes base64 (RFC 4648, section 4).
fn base64(text: &str) -> Vec<u8> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let digits: Vec<u8> = text.bytes().filter(|byte| *byte != b'=').map(digit).collect();
    let decode = |group: &[u8]| {
        let joined = group.iter().fold(0_u32, |sum, digit| sum << 6 | u32::from(*digit));
        let bytes = (joined << (6 * (4 - group.len()))).to_be_bytes();
        bytes[1..group.len()].to_vec()
    };
    digits.chunks(4).flat_map(decode).collect()
}
