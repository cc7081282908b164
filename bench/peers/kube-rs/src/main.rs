// SPDX-License-Identifier: Apache-2.0

//! The initial sync and the rest of bench/informers, done with kube-rs: each run of the program is one of them, and
//! prints one "name value" per line. CPU times are those of the whole process, in us; memory is resident memory in MB
//! (of a million bytes). kube-rs speaks JSON only.
//!
//!     kube-rs sync|idle --url URL --pods N

use std::time::{Duration, Instant};

use futures::StreamExt;
use k8s_openapi::api::core::v1::Pod;
use kube::runtime::{reflector, watcher, WatchStreamExt};
use kube::{Api, Client, Config};

type Failure = Box<dyn std::error::Error>;

fn report(name: &str, value: f64) {
    println!("{name} {value}");
}

fn status(field: &str) -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with(field)).unwrap_or("");
    let kilobytes: f64 = line.split_whitespace().nth(1).and_then(|n| n.parse().ok()).unwrap_or(0.0);
    kilobytes * 1024.0 / 1e6
}

/// CPU time of this process in us. The kernel counts it in hundredths of a second.
fn cpu() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let behind_name = text.rsplit(')').next().unwrap_or("");
    let ticks: f64 = behind_name.split_whitespace().skip(11).take(2).filter_map(|n| n.parse::<f64>().ok()).sum();
    ticks * 1e4
}

fn client(url: &str) -> Result<Client, Failure> {
    let mut config = Config::new(url.parse()?);
    config.auth_info.token = Some(String::from("bench").into());
    Ok(Client::try_from(config)?)
}

/// A cache of all pods, or of those in a namespace, that is kept up to date by a task.
fn cache(client: &Client, namespace: Option<&str>) -> reflector::Store<Pod> {
    let api: Api<Pod> = match namespace {
        Some(name) => Api::namespaced(client.clone(), name),
        None => Api::all(client.clone()),
    };
    let (reader, writer) = reflector::store();
    let changes = watcher(api, watcher::Config::default().streaming_lists())
        .default_backoff()
        .reflect(writer)
        .touched_objects();
    tokio::spawn(changes.for_each(|_| async {}));
    reader
}

async fn sync(url: &str, pods: usize) -> Result<(), Failure> {
    let (began, before) = (Instant::now(), cpu());
    let reader = cache(&client(url)?, None);
    reader.wait_until_ready().await?;
    report("wall", began.elapsed().as_secs_f64());
    report("cpu", (cpu() - before) / pods as f64);
    let peak = status("VmHWM");
    tokio::time::sleep(Duration::from_millis(1500)).await;
    report("settled", status("VmRSS"));
    report("peak", peak);
    if reader.len() != pods {
        return Err(format!("{} of {pods} pods", reader.len()).into());
    }
    Ok(())
}

async fn idle(url: &str) -> Result<(), Failure> {
    let client = client(url)?;
    let caches: Vec<_> = (0..50).map(|i| cache(&client, Some(&format!("empty-{i}")))).collect();
    for reader in &caches {
        reader.wait_until_ready().await?;
    }
    tokio::time::sleep(Duration::from_secs(3)).await;
    report("settled", status("VmRSS"));
    let before = cpu();
    tokio::time::sleep(Duration::from_secs(10)).await;
    report("cpu", cpu() - before);
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().collect();
    let value = |name: &str| {
        arguments.iter().position(|a| a == name).and_then(|at| arguments.get(at + 1)).cloned().unwrap_or_default()
    };
    match arguments.get(1).map(String::as_str) {
        Some("sync") => sync(&value("--url"), value("--pods").parse()?).await,
        Some("idle") => idle(&value("--url")).await,
        _ => Err("usage: kube-rs sync|idle --url URL --pods N".into()),
    }
}
