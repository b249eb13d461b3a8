use sim_core::run::*;
use std::time::*;
fn main() {
    let t = sim_tests::systems::echo::target();
    let r = run(&t, &Input::Bytes(vec![]), Duration::from_secs(10));
    println!("{:?} steps {} {}", r.failure, r.steps, r.hash);
    print!("{}", r.history.trace());
    let r = run(&t, &Input::Seed(3), Duration::from_secs(10));
    println!("{:?} steps {} {} tape {} B", r.failure, r.steps, r.hash, r.tape.to_bytes().len());
    for l in r.history.trace().last(30) {
        println!("{l}")
    }
    for t in sim_tests::systems::all() {
        let t0 = Instant::now();
        let (mut f, mut steps, mut bytes, mut bad) = (0, 0, 0, 0);
        for s in 0..1000 {
            let r = run(&t, &Input::Seed(s), Duration::from_secs(10));
            let b = r.tape.to_bytes();
            bytes += b.len();
            steps += r.steps;
            if let Some(x) = &r.failure {
                if f < 5 {
                    println!("{s}: {x}");
                    for d in &x.details {
                        println!("  {d}")
                    }
                }
                f += 1;
            }
            if s % 10 == 0 {
                let r2 = run(&t, &Input::Bytes(b), Duration::from_secs(10));
                if r2.hash != r.hash {
                    bad += 1;
                    println!("{:?}", r.history.divergence(&r2.history));
                }
            }
        }
        println!(
            "{} failures {f} steps {steps} bytes {bytes} bad {bad} {:?}",
            t.name(),
            t0.elapsed()
        );
    }
}
