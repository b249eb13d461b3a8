//! What a program knows of its process, and the same program over the real system.

use crate::{failed, passed};
use sim_core::always;
use sim_core::control::{Control, Units, Until};
use sim_core::failure::Class;
use sim_core::lifecycle::Crash;
use sim_core::node::NodeSpec;
use sim_core::process::{Exit, Line, Process};
use std::cell::RefCell;
use std::rc::Rc;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::sleep;

/// The example of `sim-process`, whose `main` runs over the real system.
#[path = "../../../process/examples/upper.rs"]
#[allow(dead_code, unreachable_pub, reason = "a program of its own, with a main")]
mod upper;

#[test]
fn one_main_serves_both() {
    passed(|sim| {
        let spec = NodeSpec::new("upper").env("PORT", "7").drains();
        let upper = sim.node(spec, upper::run);
        sim.at(1.s(), Control::signal(&upper, sim_core::process::Signal::Terminate));
        sim.client("client", move |_| {
            let upper = upper.clone();
            async move {
                let mut stream = TcpStream::connect("upper:7").await.unwrap();
                stream.write_all(b"hello\n").await.unwrap();
                let mut reply = String::new();
                BufReader::new(&mut stream).read_line(&mut reply).await.unwrap();
                always!(reply == "HELLO\n", "{reply:?}");
                drop(stream);
                sleep(2.s()).await;
                always!(upper.exits(0) == [Exit::Code(0)], "{:?}", upper.exits(0));
                always!(upper.lines(0)[0].text == "ready", "{:?}", upper.lines(0));
            }
        });
    });
}

#[test]
fn arguments_environment_and_files_are_what_the_test_gave() {
    passed(|sim| {
        let spec = NodeSpec::new("tool")
            .args(["--level", "3"])
            .env("HOME", "/nowhere")
            .file("etc/tool.toml", b"level = 3".as_slice());
        let tool = sim.node(spec, |process| async move {
            always!(process.args() == ["tool", "--level", "3"], "{:?}", process.args());
            always!(process.var("HOME") == Some("/nowhere"), "{:?}", process.vars());
            always!(process.vars().len() == 1, "there are no others: {:?}", process.vars());
            let file = process.host().dir().unwrap().join("etc/tool.toml");
            always!(tokio::fs::read(&file).await.unwrap() == b"level = 3", "the file is there");
            tokio::fs::write(file.with_file_name("life"), b"x").await.unwrap();
            std::future::pending::<()>().await;
        });
        sim.at(1.s(), Control::restart(&tool, Crash::Power));
        let dir = |process: &Process| process.dir().unwrap();
        sim.client("client", move |process| {
            let (tool, own) = (tool.clone(), dir(&process));
            async move {
                sleep(2.s()).await;
                let theirs = own.with_file_name("tool");
                always!(theirs.join("etc/life").exists(), "files stay when a process ends");
                always!(!own.join("etc").exists(), "a host's files are its own");
                always!(tool.starts(0) == 2, "it was restarted");
            }
        });
    });
}

#[test]
fn input_is_fed_and_output_is_lines_of_the_trace() {
    let trace = passed(|sim| {
        let spec = NodeSpec::new("cat").stdin("one\ntwo");
        sim.node(spec, |process| async move {
            let mut text = String::new();
            process.stdin().read_to_string(&mut text).await.unwrap();
            process.stdout().write_all(text.as_bytes()).await.unwrap();
            process.stderr().write_all(b"done\n").await.unwrap();
        });
        let fed = sim.node("fed", |process| async move {
            let mut lines = BufReader::new(process.stdin()).lines();
            while let Some(line) = lines.next_line().await.unwrap() {
                process.stdout().write_all(format!("got {line}\n").as_bytes()).await.unwrap();
            }
        });
        sim.client("client", move |_| {
            let fed = fed.clone();
            async move {
                sleep(1.s()).await;
                fed.feed(0, b"a li");
                sleep(1.s()).await;
                always!(fed.lines(0).is_empty(), "half a line is none");
                fed.feed(0, b"ne\n");
                fed.end_stdin(0);
                sleep(1.s()).await;
                let line = Line { is_error: false, text: "got a line".to_owned() };
                always!(fed.lines(0) == [line], "{:?}", fed.lines(0));
                always!(fed.exits(0) == [Exit::Code(0)], "its input ended");
            }
        });
    });
    for line in
        ["cat          stdout one\n", "cat          stdout two\n", "cat          stderr done\n"]
    {
        assert!(trace.contains(line), "{line:?} is not in\n{trace}");
    }
}

#[test]
fn exit_ends_a_process_at_once_from_any_task() {
    passed(|sim| {
        let after = Rc::new(RefCell::new(0));
        let seen = after.clone();
        let node = sim.node("node", move |process| {
            let after = after.clone();
            async move {
                tokio::task::spawn_local(async move {
                    sleep(1.s()).await;
                    process.exit(3);
                });
                tokio::task::spawn_local(async move {
                    loop {
                        sleep(400.ms()).await;
                        *after.borrow_mut() += 1;
                    }
                });
                std::future::pending::<()>().await;
            }
        });
        sim.client("client", move |_| {
            let (node, seen) = (node.clone(), seen.clone());
            async move {
                sleep(5.s()).await;
                always!(node.exits(0) == [Exit::Code(3)], "{:?}", node.exits(0));
                always!(*seen.borrow() == 2, "nothing runs after it: {}", seen.borrow());
            }
        });
    });
}

#[test]
fn what_a_program_returns_is_its_exit_code() {
    let trace = passed(|sim| {
        let ok = sim.node("ok", |_| async {});
        let bad = sim.node("bad", |_| async { Err::<(), _>("no such luck") });
        let code = sim.node("code", |_| async { 9 });
        sim.client("client", move |_| {
            let nodes = [ok.clone(), bad.clone(), code.clone()];
            async move {
                sleep(1.s()).await;
                let exits = nodes.map(|node| node.exits(0)[0]);
                always!(exits == [0, 1, 9].map(Exit::Code), "{exits:?}");
            }
        });
    });
    assert!(trace.contains("bad          stderr Error: \\\"no such luck\\\"\n"), "{trace}");
}

#[test]
pub(crate) fn a_crash_token_ends_at_a_crash_and_not_at_an_exit() {
    passed(|sim| {
        // A database of the test's own, which forgets with its process what was not committed.
        let tokens = Rc::new(RefCell::new(Vec::new()));
        let seen = tokens.clone();
        let node = sim.node("node", move |process| {
            seen.borrow_mut().push(process.crash_token());
            let life = seen.borrow().len();
            async move {
                sleep(if life == 2 { 1.s() } else { 1_000.s() }).await;
            }
        });
        sim.at(1.s(), Control::crash(&node, Crash::Kill).until(Until::After(1.s())));
        sim.client("client", move |_| {
            let tokens = tokens.clone();
            async move {
                let token = tokens.borrow()[0].clone();
                always!(!token.is_crashed(), "it lives");
                let begun = tokio::time::Instant::now();
                token.crashed().await;
                always!(begun.elapsed() == 1.s(), "{:?}", begun.elapsed());
                sleep(5.s()).await;
                let [first, second] = [0, 1].map(|life| tokens.borrow()[life].is_crashed());
                always!(first && !second, "an exit is no crash");
            }
        });
    });
}

/// In a process of its own, whose temporary folder cannot be.
#[test]
fn without_a_temporary_folder_a_run_with_files_is_inconclusive() {
    const NOWHERE: &str = "/dev/null/nowhere";
    if std::env::var_os("TMPDIR").is_none_or(|folder| folder != NOWHERE) {
        let name = "process::without_a_temporary_folder_a_run_with_files_is_inconclusive";
        let program = std::env::current_exe().unwrap();
        let mut child = std::process::Command::new(program);
        let output = child.args(["--exact", name]).env("TMPDIR", NOWHERE).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        return;
    }
    let failure = failed(|sim| {
        sim.node(NodeSpec::new("node").file("data", b"x".as_slice()), |_| async {});
    });
    assert_eq!(failure.class, Class::Inconclusive);
    let text = "the file \"data\" of node node cannot be written below /dev/null/nowhere: ";
    assert!(failure.message.starts_with(text), "{failure}");
    let failure = failed(|sim| {
        sim.node("node", |process| async move {
            process.dir().expect("the program has its folder");
        });
    });
    assert_eq!(failure.class, Class::Inconclusive, "{failure}");
    let text = "the folder of node node cannot be made below /dev/null/nowhere: ";
    assert!(failure.message.starts_with(text), "{failure}");
}
