//! The page of a run, in a real browser: what it shows, and that it answers to mouse and keys.
//!
//! It needs Debian's packages `chromium` and `chromium-driver`; without them it says so and passes.
//! `.ci/page` installs them first. Screenshots go to the folder that it names.

#[path = "page/browser.rs"]
mod browser;

use browser::{Browser, Look};
use serde_json::Value;
use sim_core::log::LogFilter;
use sim_core::node::NodeSpec;
use sim_core::run::{Input, Run, run, run_logged};
use sim_core::{Sim, Target, trace};
use sim_tests::systems;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const WATCHDOG: Duration = Duration::from_secs(60);

const DESK: Look = Look { width: 1440, height: 900, scheme: "light" };
const PHONE: Look = Look { width: 390, height: 844, scheme: "light" };

/// Keys, as WebDriver names them.
const DOWN: &str = "\u{e015}";
const UP: &str = "\u{e013}";
const HOME: &str = "\u{e011}";
const ESCAPE: &str = "\u{e00c}";
const TAB: &str = "\u{e004}";

/// The browser, or one line on why there is none.
fn browser() -> Option<Browser> {
    let browser = Browser::start();
    if browser.is_none() {
        eprintln!("the page is not tested in a browser: there is no chromedriver; see .ci/page");
    }
    browser
}

/// Where pages and screenshots go.
fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("page");
    std::fs::create_dir_all(&folder).expect("cargo's folder for tests can be written to");
    folder
}

fn page_of(name: &str, target: &Target, run: &Run) -> PathBuf {
    let file = folder().join(name).with_extension("html");
    std::fs::write(&file, trace::page(target, run)).expect("the page is written");
    file
}

/// The pinned failure of a leader that writes after its lease, and its page.
fn failing() -> (Run, PathBuf) {
    let target = systems::all().into_iter().find(|target| target.name() == "sim_lease_planted");
    let target = target.expect("the planted lease");
    let file = "../regressions/sim_lease_planted/leader-that-was-cut-off-writes-late";
    let bytes = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(file));
    let input = Input::Bytes(bytes.expect("the pinned input"));
    let run = run_logged(&target, &input, WATCHDOG, &LogFilter::default());
    let file = page_of("failing", &target, &run);
    (run, file)
}

/// The text of the panel.
fn details(browser: &Browser) -> String {
    let text = browser.run("return document.getElementById('details').innerText");
    text.as_str().expect("text").to_owned()
}

/// The index of the event that is chosen.
fn chosen(browser: &Browser) -> u64 {
    let index = browser.run("return view.chosen");
    index.as_u64().expect("an event is chosen")
}

/// A point of the diagram, on the screen.
fn place(browser: &Browser, script: &str) -> [f64; 2] {
    let place = browser.run(&format!(
        "const box = canvas.getBoundingClientRect(); const [x, y] = {script}; \
         return [box.x + x, box.y + y]"
    ));
    [0, 1].map(|at| place[at].as_f64().expect("a number"))
}

/// How many events are shown.
fn shown(browser: &Browser) -> u64 {
    browser.run("return view.rows.length").as_u64().expect("a number")
}

fn shoot_all(browser: &Browser, name: &str, file: &Path) {
    for (size, look) in [("desk", DESK), ("phone", PHONE)] {
        for scheme in ["light", "dark"] {
            browser.open(file, Look { scheme, ..look });
            browser.shoot(&folder().join(format!("{name}-{size}-{scheme}.png")));
        }
    }
    eprintln!("screenshots of {name} are in {}", folder().display());
}

#[test]
fn the_failing_event_is_in_view_at_load_and_its_details_are_read() {
    let Some(browser) = browser() else { return };
    let (run, file) = failing();
    let failure = run.failure.clone().expect("it fails");
    browser.open(&file, DESK);
    assert_eq!(chosen(&browser), run.trace().len() as u64 - 1);
    let number = format!("event {}", run.history.len() - 1);
    assert!(details(&browser).contains(&number), "{}", details(&browser));
    assert!(details(&browser).contains(&failure.message), "{}", details(&browser));
    let y = browser.run("return yOfEvent(view, model.failure)").as_f64().expect("a number");
    assert!((46.0..900.0).contains(&y), "{y}");
    let class = browser.run("return document.getElementById('class').textContent");
    assert_eq!(class, failure.class.name());
    let loaded = browser.run("return performance.getEntriesByType('resource').length");
    assert_eq!(loaded, 0, "the page loads nothing");
    shoot_all(&browser, "failing", &file);
}

#[test]
fn a_click_chooses_what_is_there() {
    let Some(browser) = browser() else { return };
    browser.open(&failing().1, DESK);
    let place = |script: &str| place(&browser, script);
    let row = browser.run("return view.rows[nearestRow(view, 300)]");
    let [x, y] = place("[view.textLeft + 40, yOf(view, positionOf(view, nearestRow(view, 300)))]");
    browser.click(x, y);
    assert_eq!(browser.run("return view.chosen"), row);
    // The middle of an arrow chooses the segment, not what happened in the row.
    browser.run(
        "window.longest = view.arrows.findIndex((arrow, i) => { const [top, end] = endsOf(view, i); \
         return top > 60 && end < view.height - 20 && end - top > 30 && arrow.from !== arrow.to; })",
    );
    let arrow = browser.run("return view.arrows[longest].index");
    let [x, y] = place(
        "(() => { const [top, end] = endsOf(view, longest); const arrow = view.arrows[longest]; \
         const [from, to] = [arrow.from, arrow.to].map((one) => view.places.get(one)); \
         return [from + (to - from) * 0.6, top + (end - top) * 0.6]; })()",
    );
    browser.click(x, y);
    assert_eq!(browser.run("return view.chosen"), arrow);
    // The plan, which is open where there is room, folds by a click.
    let [x, y] = {
        let place = browser.run(
            "const box = document.querySelector('#plan summary').getBoundingClientRect(); \
             return [box.x + 20, box.y + 10]",
        );
        [0, 1].map(|at| place[at].as_f64().expect("a number"))
    };
    browser.click(x, y);
    assert_eq!(browser.run("return document.getElementById('plan').open"), false);
}

#[test]
fn filters_show_what_passes_and_escape_clears_them() {
    let Some(browser) = browser() else { return };
    browser.open(&failing().1, DESK);
    let all = shown(&browser);
    browser.press(&["/", "o", "u", "t", "c", "o", "m", "e"]);
    let outcomes = shown(&browser);
    assert!(outcomes > 1 && outcomes < all, "{outcomes} of {all}");
    let kinds = browser.run("return [...new Set(view.rows.map((i) => model.events[i].event))]");
    assert_eq!(kinds, serde_json::json!(["outcome", "failure"]));
    browser.press(&[ESCAPE]);
    assert_eq!(shown(&browser), all);

    let pick = "const list = document.getElementById('connection'); list.value = '0'; \
                list.dispatchEvent(new Event('change'))";
    browser.run(pick);
    let others = "return view.rows.filter((i) => (model.events[i].connection ?? 0) !== 0).length";
    assert_eq!(browser.run(others), 0);
    assert!(shown(&browser) < all);
    browser.press(&[ESCAPE]);

    browser.run("document.querySelector('#nodes input').click()");
    assert!(shown(&browser) < all);
    assert_eq!(browser.run("return view.lanes.includes(0)"), false);
    browser.run("document.querySelector('#nodes input').click()");
    browser.run("document.getElementById('timers').click()");
    let timers = "return view.rows.filter((i) => model.events[i].event.endsWith('timer')).length";
    assert_eq!(browser.run(timers), 0);
}

/// What the leader said before it stood still is found by its text, and read.
#[test]
fn what_a_node_says_is_filtered_and_read() {
    let Some(browser) = browser() else { return };
    let (run, file) = failing();
    browser.open(&file, DESK);
    let said = browser.run("return model.events.filter((one) => one.event === 'log').length");
    assert_eq!(said, run.log.len());
    browser.press(&["/", "l", "e", "a", "d", "s"]);
    let kinds = browser.run("return [...new Set(view.rows.map((i) => model.events[i].event))]");
    assert_eq!(kinds, serde_json::json!(["log", "failure"]));
    let [x, y] = place(&browser, "[view.textLeft + 40, yOf(view, positionOf(view, 0))]");
    browser.click(x, y);
    let text = details(&browser);
    for part in ["Log · leader-", "said by tracing", "level", "INFO", "token", "leads"] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    browser.shoot(&folder().join("failing-log.png"));
    browser.press(&[ESCAPE]);
    let all = shown(&browser);
    browser.run("document.getElementById('log').click()");
    assert_eq!(shown(&browser), all - run.log.len() as u64);
}

#[test]
fn every_control_is_reached_by_keys_and_arrows_move_the_choice() {
    let Some(browser) = browser() else { return };
    browser.open(&failing().1, DESK);
    let mut reached = Vec::new();
    browser.run("document.body.focus()");
    for _ in 0..60 {
        browser.press(&[TAB]);
        let id = browser.run("return document.activeElement.id || document.activeElement.name");
        reached.push(id.as_str().unwrap_or_default().to_owned());
    }
    let wanted = [
        "text",
        "connection",
        "axis",
        "arrows",
        "timers",
        "log",
        "in",
        "out",
        "fit",
        "failure",
        "diagram",
    ];
    for id in wanted {
        assert!(reached.iter().any(|one| one == id), "{id} is not among {reached:?}");
    }
    browser.run("canvas.focus()");
    let ring = browser.run("return getComputedStyle(canvas).outlineStyle");
    assert_eq!(ring, "solid", "the focus is seen");
    browser.press(&[HOME]);
    let first = chosen(&browser);
    assert_eq!(browser.run("return view.rows[0]"), first);
    browser.press(&[DOWN, DOWN, UP]);
    assert_eq!(browser.run("return view.rows[1]"), chosen(&browser));
    let number = browser.run("return model.events[view.chosen].number");
    assert!(details(&browser).contains(&format!("event {number}")), "{}", details(&browser));
    browser.press(&["f"]);
    assert_eq!(browser.run("return model.failure"), chosen(&browser));
    browser.press(&["+"]);
    assert!(browser.run("return view.scale").as_f64().expect("a number") > 20.0);
}

#[test]
fn both_axes_and_both_kinds_of_arrows_are_drawn() {
    let Some(browser) = browser() else { return };
    browser.open(&failing().1, DESK);
    let ink = "render(); const data = context.getImageData(0, 60, canvas.width, 600).data; \
               let sum = 0; for (let i = 0; i < data.length; i += 4) sum += data[i + 3] ? 1 : 0; \
               return sum";
    let counts: Vec<Value> = ["event", "time", "messages"]
        .iter()
        .map(|value| {
            browser.run(&format!("document.querySelector('[value={value}]').click()"));
            let count = browser.run(ink);
            browser.shoot(&folder().join(format!("failing-{value}.png")));
            count
        })
        .collect();
    assert!(counts.iter().all(|count| count.as_u64().expect("a number") > 1000), "{counts:?}");
    assert_ne!(counts[1], counts[2], "messages are not drawn as segments");
}

/// Clients that ask servers for more than ten thousand events, then a failure.
fn large(sim: &mut Sim) {
    for name in ["one", "two", "three"] {
        sim.node(NodeSpec::new(name), |_| async {
            let listener = TcpListener::bind("0.0.0.0:7").await.expect("the port is free");
            while let Ok((mut stream, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let mut bytes = [0; 64];
                    while let Ok(count @ 1..) = stream.read(&mut bytes).await {
                        stream.write_all(&bytes[..count]).await.expect("the client reads");
                    }
                });
            }
        });
    }
    for (client, server) in [("a", "one:7"), ("b", "two:7"), ("c", "three:7")] {
        sim.client(client, move |_| async move {
            let mut stream = TcpStream::connect(server).await.expect("the server listens");
            let mut bytes = [0; 64];
            for number in 0..1_700_u32 {
                let request = number.to_string();
                stream.write_all(request.as_bytes()).await.expect("the server reads");
                let count = stream.read(&mut bytes).await.expect("the server answers");
                sim_core::always!(count > 0, "an answer");
            }
            sim_core::always!(client != "c", "the last of many");
        });
    }
}

/// The times are printed; what is asserted is only that it is not slow beyond all reason.
#[test]
fn ten_thousand_events_are_drawn_in_time() {
    let Some(browser) = browser() else { return };
    let target = Target::new("large", large);
    let run = run(&target, &Input::Bytes(Vec::new()), WATCHDOG);
    assert!(run.history.len() > 10_000, "{} events", run.history.len());
    let file = page_of("large", &target, &run);
    browser.open(&file, DESK);
    assert_eq!(chosen(&browser), run.history.len() - 1);
    browser.shoot(&folder().join("large.png"));
    let zoom = |factor: f64| {
        let times = browser.run(&format!(
            "const times = []; for (let i = 0; i < 40; i += 1) {{ zoom({factor}, 400); \
             const start = performance.now(); render(); \
             context.getImageData(0, 0, 1, 1); times.push(performance.now() - start); }} \
             return times.sort((one, other) => one - other)"
        ));
        let times = times.as_array().expect("times").iter().map(|time| time.as_f64().unwrap());
        times.collect::<Vec<f64>>()
    };
    for axis in ["event", "time"] {
        browser
            .run(&format!("document.querySelector('[value={axis}]').click(); fit(); zoom(0.001)"));
        let (into, out) = (zoom(1.2), zoom(1.0 / 1.2));
        let worst = into[39].max(out[39]);
        eprintln!(
            "{} events, axis by {axis}: a frame of a zoom takes {:.1} ms in the median, {worst:.1} \
             at most",
            run.history.len(),
            into[20].max(out[20])
        );
        assert!(worst < 1_000.0, "{worst} ms");
    }
    browser.run("document.querySelector('[value=event]').click(); view.scale = 0.08; render()");
    browser.shoot(&folder().join("large-whole.png"));
}
