// SPDX-License-Identifier: Apache-2.0

//! The initial sync and the rest of bench/informers, done with kube-rs: each run of the program is one of them, and
//! prints one "name value" per line. CPU times are those of the whole process, in us; memory is resident memory in MB
//! (of a million bytes). kube-rs speaks JSON only.
//!
//!     kube-rs sync|delivery|idle --url URL --pods N

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use futures::StreamExt;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{ApiResource, DynamicObject};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::runtime::{reflector, watcher, WatchStreamExt};
use kube::{Api, Client, Config, ResourceExt};

type Failure = Box<dyn std::error::Error>;

fn report(name: &str, value: f64) {
    println!("{name} {value}");
}

fn status(field: &str) -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with(field)).unwrap_or("");
    line.split_whitespace().nth(1).and_then(|n| n.parse().ok()).unwrap_or(0.0)
}

/// Memory in MB: VmRSS, or VmHWM for the peak.
fn memory(field: &str) -> f64 {
    status(field) * 1024.0 / 1e6
}

/// CPU time of this process in us. The kernel counts it in hundredths of a second.
fn cpu() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let behind_name = text.rsplit(')').next().unwrap_or("");
    let ticks: f64 = behind_name.split_whitespace().skip(11).take(2).filter_map(|n| n.parse::<f64>().ok()).sum();
    ticks * 1e4
}

/// The command-line arguments; each has a value or is a flag.
struct Options(Vec<String>);

impl Options {
    fn flag(&self, name: &str) -> bool {
        self.0.iter().any(|argument| argument == name)
    }

    fn value(&self, name: &str) -> String {
        let at = self.0.iter().position(|argument| argument == name);
        at.and_then(|at| self.0.get(at + 1)).cloned().unwrap_or_default()
    }

    fn number(&self, name: &str) -> Result<usize, Failure> {
        Ok(self.value(name).parse()?)
    }

    /// A client of a real cluster or of a server; the path selects what a replaying server sends.
    async fn client(&self, path: &str) -> Result<Client, Failure> {
        if self.flag("--kubeconfig") {
            let file = Kubeconfig::read_from(self.value("--kubeconfig"))?;
            let config = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await?;
            return Ok(Client::try_from(config)?);
        }
        let mut config = Config::new(format!("{}{path}", self.value("--url")).parse()?);
        config.auth_info.token = Some(String::from("bench").into());
        Ok(Client::try_from(config)?)
    }

    fn watcher(&self) -> watcher::Config {
        let config = watcher::Config::default();
        if self.flag("--list") { config } else { config.streaming_lists() }
    }
}

async fn sync(options: &Options) -> Result<(), Failure> {
    let pods = options.number("--pods")?;
    let (began, before) = (Instant::now(), cpu());
    let api: Api<Pod> = Api::all(options.client("").await?);
    let (reader, writer) = reflector::store();
    let changes = watcher(api, options.watcher()).default_backoff().reflect(writer).touched_objects();
    tokio::spawn(changes.for_each(|_| async {}));
    reader.wait_until_ready().await?;
    report("wall", began.elapsed().as_secs_f64());
    report("cpu", (cpu() - before) / pods as f64);
    let peak = memory("VmHWM");
    tokio::time::sleep(Duration::from_millis(1500)).await;
    report("settled", memory("VmRSS"));
    report("peak", peak);
    if reader.len() != pods {
        return Err(format!("{} of {pods} pods", reader.len()).into());
    }
    Ok(())
}

/// The time from the server's write of an event to its arrival after the cache; events are sent one at a time.
async fn delivery(options: &Options) -> Result<(), Failure> {
    const EVENTS: usize = 2200;
    const WARM_UP: usize = 200;
    let client = options.client(&format!("/stamped/{EVENTS}")).await?;
    let api: Api<Pod> = Api::all(client.clone());
    let (reader, writer) = reflector::store();
    let changes = watcher(api, options.watcher()).default_backoff().reflect(writer).touched_objects();
    let mut until = Vec::with_capacity(EVENTS);
    let measure = async {
        let mut changes = std::pin::pin!(changes);
        while until.len() < EVENTS {
            let object = changes.next().await.ok_or("the watch has ended")??;
            let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos() as i64;
            if let Some(stamp) = object.annotations().get("bench.kubecxx.dev/written") {
                until.push((now - stamp.parse::<i64>()?) as f64 / 1e3);
            }
        }
        Ok::<(), Failure>(())
    };
    let begin = async {
        reader.wait_until_ready().await?;
        tokio::time::sleep(Duration::from_millis(1500)).await;
        let before = cpu();
        client.request_text(http::Request::get("/go").body(Vec::new())?).await?;
        Ok::<f64, Failure>(before)
    };
    let (before, _) = futures::try_join!(begin, measure)?;
    report("cpu", (cpu() - before) / EVENTS as f64);
    until.drain(..WARM_UP);
    until.sort_by(f64::total_cmp);
    report("median", until[until.len() / 2]);
    report("p99", until[until.len() * 99 / 100]);
    Ok(())
}

async fn idle(options: &Options) -> Result<(), Failure> {
    let client = options.client("").await?;
    let kind = ApiResource::erase::<Pod>(&());
    let mut caches = Vec::new();
    for i in 0..options.number("--informers")? {
        let api: Api<DynamicObject> = Api::namespaced_with(client.clone(), &format!("empty-{i}"), &kind);
        let writer = reflector::store::Writer::new(kind.clone());
        caches.push(writer.as_reader());
        let changes = watcher(api, options.watcher()).default_backoff().reflect(writer).touched_objects();
        tokio::spawn(changes.for_each(|_| async {}));
    }
    for reader in &caches {
        reader.wait_until_ready().await?;
    }
    tokio::time::sleep(Duration::from_secs(3)).await;
    report("settled", memory("VmRSS"));
    report("threads", status("Threads"));
    let before = cpu();
    tokio::time::sleep(Duration::from_secs(10)).await;
    report("cpu", cpu() - before);
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let options = Options(std::env::args().skip(1).collect());
    match options.0.first().map(String::as_str) {
        Some("sync") => sync(&options).await,
        Some("delivery") => delivery(&options).await,
        Some("idle") => idle(&options).await,
        _ => Err("usage: kube-rs sync|delivery|idle --url URL --pods N".into()),
    }
}
