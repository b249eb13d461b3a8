//! Tests of the forms of a trace: the schema is pinned line by line.

use super::page::embedded;
use super::{SCHEMA, VERSION, lines, page, text};
use crate::control::Units;
use crate::failure::{Class, Failure};
use crate::history::{Content, Ending, Event, History, Passage, Phase};
use crate::log::{LINES_MAX, LogLine};
use crate::run::{Input, Run, Target, run};
use crate::swarm::Dimension;
use expect_test::expect;
use serde_json::Value;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A text that breaks whoever escapes it wrongly.
const HOSTILE: &str = "\"</script><!--\u{2028}\u{0}\\ü\u{1f980}\n";

fn target() -> Target {
    Target::new("shown", |_| {})
}

/// A run that failed, with one event of each kind.
fn every_event() -> Run {
    let mut history = History::default();
    let events = [
        Event::Plan { dimension: "latency", value: 2, meaning: "100µs" },
        Event::Host { host: 0, name: "db" },
        Event::Host { host: 1, name: "client" },
        Event::Route { name: "front", hosts: vec![0, 1] },
        Event::Start { host: 0 },
        Event::Operation { id: 1, host: 1, text: "Put(\"k\")" },
        Event::Deliver {
            wire: 3,
            from: 1,
            to: 0,
            flags: 0x18,
            seq: 1,
            ack: 2,
            len: 3,
            content: Content::Bytes(b"a\0\""),
        },
        Event::Deliver {
            wire: 3,
            from: 0,
            to: 1,
            flags: 0x10,
            seq: 2,
            ack: 4,
            len: 300,
            content: Content::Digest(&[0xab; 32]),
        },
        Event::Datagram {
            from: 1,
            to: 0,
            sender: "10.0.0.2:9".parse().expect("an address"),
            receiver: "[fd00::1]:7".parse().expect("an address"),
            passage: Passage::Lost,
            len: 0,
            content: Content::Bytes(b""),
        },
        Event::KernelTimer { wire: 3 },
        Event::MachineTimer { host: 0 },
        Event::Output { host: 0, is_error: true, text: HOSTILE },
        Event::Control {
            phase: Phase::Begin,
            kind: "partition",
            hosts: vec![0],
            others: vec![1],
            text: "begin partition db | client until the end",
        },
        Event::Outcome { id: 1, ending: Ending::Indeterminate, text: "timed out" },
        Event::Finish { host: 1 },
        Event::Stop { host: 0, text: "killed" },
        Event::Note { text: "half" },
        Event::Failure { class: "correctness", text: "a reply is lost" },
    ];
    for (at, event) in events.into_iter().enumerate() {
        history.record(at as u64 * 1_000_000_007, event);
    }
    let mut failure = Failure::new(Class::Correctness, "a.rs:1", "a reply is lost");
    failure.details = vec!["one".to_owned(), HOSTILE.to_owned()];
    let mut run = Run::lost(failure);
    said().into_iter().for_each(|line| run.log.push(line));
    run.elapsed = Duration::from_nanos(17);
    run.plan.dimensions =
        vec![Dimension { name: "latency", value: 2, meaning: "100µs".to_owned() }];
    run.history = history;
    run
}

/// What was said in that run: something by a node, and something by the test.
fn said() -> [LogLine; 2] {
    [
        LogLine {
            after: 11,
            at: 10_500_000_000,
            host: Some(0),
            level: "WARN",
            target: "db::store".into(),
            spans: vec!["request{id=3}".to_owned(), "attempt".to_owned()],
            message: HOSTILE.to_owned(),
            fields: vec![("count", "2".to_owned())],
        },
        LogLine {
            after: 18,
            at: 17_000_000_119,
            host: None,
            level: "INFO",
            target: "test".into(),
            spans: Vec::new(),
            message: "the end".to_owned(),
            fields: Vec::new(),
        },
    ]
}

fn parsed(run: &Run) -> Vec<Value> {
    let lines = lines(&target(), run);
    assert!(lines.iter().all(|line| !line.contains('\n')));
    lines.iter().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect()
}

/// A change here is a change of the schema: [`VERSION`] and the manual change with it.
#[test]
fn the_schema_is_pinned() {
    expect![[r#"
        {"schema":"sim-trace","version":2,"target":"shown","hash":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","events":18,"said":2,"left_out":0,"elapsed":17,"plan":[{"dimension":"latency","value":2,"meaning":"100µs"}],"hosts":["db","client"],"failure":{"class":"correctness","bug":"4324717d","origin":"a.rs:1","message":"a reply is lost","details":["one","\"</script><!-- \u0000\\ü🦀\n"]}}
        {"index":0,"at":0,"event":"plan","dimension":"latency","value":2,"meaning":"100µs","subject":"plan","text":"latency=100µs"}
        {"index":1,"at":1000000007,"event":"host","node":0,"subject":"db","text":"host number=0"}
        {"index":2,"at":2000000014,"event":"host","node":1,"subject":"client","text":"host number=1"}
        {"index":3,"at":3000000021,"event":"route","route":"front","nodes":[0,1],"subject":"front","text":"route to=db,client"}
        {"index":4,"at":4000000028,"event":"start","node":0,"subject":"db","text":"start"}
        {"index":5,"at":5000000035,"event":"operation","node":1,"id":1,"operation":"Put(\"k\")","subject":"client","text":"operation id=1 Put(\"k\")"}
        {"index":6,"at":6000000042,"event":"deliver","node":0,"from":1,"sent":null,"connection":3,"flags":"RST","seq":1,"ack":2,"len":3,"bytes":"a\\x00\\\"","subject":"db","text":"deliver from=client connection=3 RST seq=1 ack=2 len=3 \"a\\x00\\\"\""}
        {"index":7,"at":7000000049,"event":"deliver","node":1,"from":0,"sent":null,"connection":3,"flags":"ACK","seq":2,"ack":4,"len":300,"sha256":"abababababababababababababababababababababababababababababababab","subject":"client","text":"deliver from=db connection=3 ACK seq=2 ack=4 len=300 sha256=abababab"}
        {"index":8,"at":8000000056,"event":"datagram","node":0,"from":1,"sent":null,"passage":"lost","sender":"10.0.0.2:9","receiver":"[fd00::1]:7","len":0,"bytes":"","subject":"db","text":"datagram lost from=client 10.0.0.2:9 > [fd00::1]:7 len=0"}
        {"index":9,"at":9000000063,"event":"kernel_timer","connection":3,"subject":"kernel","text":"timer connection=3"}
        {"index":10,"at":10000000070,"event":"machine_timer","node":0,"subject":"db","text":"timer"}
        {"at":10500000000,"event":"log","node":0,"level":"WARN","target":"db::store","spans":["request{id=3}","attempt"],"message":"\"</script><!-- \u0000\\ü🦀\n","fields":{"count":"2"},"subject":"db","text":"WARN request{id=3}:attempt: \"</script><!-- \u0000\\ü🦀\n count=2"}
        {"index":11,"at":11000000077,"event":"output","node":0,"stream":"stderr","line":"\"</script><!-- \u0000\\ü🦀\n","subject":"db","text":"stderr \\\"</script><!--\\u{2028}\\0\\\\ü🦀\\n"}
        {"index":12,"at":12000000084,"event":"control","phase":"begin","kind":"partition","nodes":[0],"others":[1],"subject":"control","text":"begin partition db | client until the end"}
        {"index":13,"at":13000000091,"event":"outcome","id":1,"ending":"indeterminate","outcome":"timed out","subject":"workload","text":"outcome id=1 indeterminate timed out"}
        {"index":14,"at":14000000098,"event":"finish","node":1,"subject":"client","text":"finish"}
        {"index":15,"at":15000000105,"event":"stop","node":0,"how":"killed","subject":"db","text":"stop killed"}
        {"index":16,"at":16000000112,"event":"note","note":"half","subject":"test","text":"note half"}
        {"index":17,"at":17000000119,"event":"failure","class":"correctness","message":"a reply is lost","subject":"failure","text":"correctness: a reply is lost"}
        {"at":17000000119,"event":"log","level":"INFO","target":"test","spans":[],"message":"the end","fields":{},"subject":"test","text":"INFO the end"}"#]].assert_eq(&lines(&target(), &every_event()).join("\n"));
}

#[test]
fn every_line_reads_back_as_json() {
    let lines = parsed(&every_event());
    let header = &lines[0];
    assert_eq!(header["schema"], SCHEMA);
    assert_eq!(header["version"], VERSION);
    assert_eq!(header["failure"]["details"][1], HOSTILE);
    let texts: Vec<&str> = lines.iter().filter_map(|line| line["line"].as_str()).collect();
    assert_eq!(texts, [HOSTILE]);
    let indexes: Vec<u64> = lines[1..].iter().filter_map(|line| line["index"].as_u64()).collect();
    assert_eq!(indexes, (0..18).collect::<Vec<_>>());
    let said: Vec<&Value> = lines.iter().filter(|line| line["event"] == "log").collect();
    assert_eq!(said.len() as u64, header["said"].as_u64().expect("a number"));
    assert_eq!(said[0]["message"], HOSTILE);
    assert_eq!(lines[12]["event"], "log", "where it was said: after eleven events");
}

#[test]
fn what_the_network_delivers_says_when_it_was_sent() {
    let target = Target::new("shown", |sim| {
        sim.set_latency(3.ms());
        sim.node("server", |_| async {
            let listener = TcpListener::bind("0.0.0.0:7").await.expect("the port is free");
            let (mut stream, _) = listener.accept().await.expect("a client");
            let byte = stream.read_u8().await.expect("a byte");
            stream.write_u8(byte).await.expect("the client reads");
        });
        sim.client("client", |_| async {
            let mut stream = TcpStream::connect("server:7").await.expect("it listens");
            stream.write_u8(7).await.expect("it reads");
            stream.read_u8().await.expect("it answers");
        });
    });
    let lines = parsed(&run(&target, &Input::Bytes(Vec::new()), Duration::from_secs(60)));
    let delivered: Vec<_> = lines.iter().filter(|line| line["event"] == "deliver").collect();
    assert!(delivered.len() >= 4, "{delivered:?}");
    for line in delivered {
        let [at, sent] = ["at", "sent"].map(|name| line[name].as_u64().expect("a number"));
        // Two events are a nanosecond apart, so one may be that much later.
        assert!((3_000_000..3_000_010).contains(&(at - sent)), "{line}");
    }
}

#[test]
fn the_header_has_what_is_not_calm_and_how_much_of_the_log_is_left_out() {
    let mut run = every_event();
    let calm = Dimension { name: "pieces", value: 0, meaning: "whole".to_owned() };
    run.plan.dimensions.push(calm);
    let line = said()[1].clone();
    (0..LINES_MAX).for_each(|_| run.log.push(line.clone()));
    let header = &parsed(&run)[0];
    assert_eq!(header["plan"].as_array().map(Vec::len), Some(1));
    assert_eq!((header["left_out"].as_u64(), header["said"].as_u64()), (Some(2), Some(65_536)));
}

#[test]
fn output_says_of_which_stream_it_is() {
    let mut history = History::default();
    for is_error in [false, true] {
        history.record(0, Event::Output { host: 0, is_error, text: "said" });
    }
    let mut run = every_event();
    run.history = history;
    let streams: Vec<Value> = parsed(&run).iter().map(|line| line["stream"].clone()).collect();
    assert_eq!(streams.iter().filter_map(Value::as_str).collect::<Vec<_>>(), ["stdout", "stderr"]);
}

#[test]
fn a_trace_as_text_says_first_whose_it_is() {
    let target = Target::new("shown", |sim| sim.note("here"));
    let run = run(&target, &Input::Bytes(Vec::new()), Duration::from_secs(60));
    let text = text(&target, &run, "seed-7");
    let heading = format!("sim: trace of seed-7: target=shown lines={}", run.trace().len());
    assert_eq!(text.split_once('\n'), Some((&*heading, &*run.trace().to_string())));
}

#[test]
fn the_title_of_a_page_is_text() {
    let page = page(&Target::new("a<b&c", |_| {}), &every_event());
    assert!(page.contains("<title>a&lt;b&amp;c: correctness</title>"));
}

/// What a run says can end neither the element that holds it nor the page.
#[test]
fn the_page_holds_the_lines_whatever_they_say() {
    let run = every_event();
    let page = page(&target(), &run);
    let (_, rest) = page.split_once("id=\"run\">").expect("the element of the run");
    let (data, rest) = rest.split_once("</script>").expect("its end");
    assert!(!data.contains(['<', '>', '&', '\u{2028}']));
    assert_eq!(serde_json::from_str::<Vec<Value>>(data).expect("JSON"), parsed(&run));
    assert!(rest.trim_start().starts_with("<script>"));
    assert!(page.contains("<title>shown: correctness</title>"));
    for place in ["the style goes here", "the script goes here", "the run goes here"] {
        assert!(!page.contains(place), "{place}");
    }
}

#[test]
fn the_page_asks_for_nothing_from_elsewhere() {
    let page = page(&target(), &every_event());
    assert!(page.contains("default-src 'none'"));
    for word in ["http:", "https:", "src=", "url(", "@import", "fetch(", "XMLHttpRequest"] {
        assert!(!page.contains(word), "{word}");
    }
}

#[test]
fn escapes_of_html_read_back() {
    let text = serde_json::to_string(HOSTILE).expect("a text");
    let back: String = serde_json::from_str(&embedded(&text)).expect("JSON");
    assert_eq!(back, HOSTILE);
}
