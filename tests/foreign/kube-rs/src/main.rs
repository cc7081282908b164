// SPDX-License-Identifier: Apache-2.0
//! Runs what controllers written with kube-rs use against an API server: a reflector in both ways to get its initial
//! state, server-side apply with a conflict, and patches. Takes its configuration from KUBECONFIG.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::StreamExt;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::api::{Api, DeleteParams, ListParams, ObjectMeta, Patch, PatchParams, PostParams};
use kube::runtime::{reflector, watcher, WatchStreamExt};
use kube::{Client, ResourceExt};
use serde_json::json;

type Failure = Box<dyn std::error::Error>;

const OBJECTS: usize = 20;

fn config_map(name: &str, value: &str) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta {
            name: Some(name.to_string()),
            ..ObjectMeta::default()
        },
        data: Some(BTreeMap::from([("n".to_string(), value.to_string())])),
        ..ConfigMap::default()
    }
}

/// Creates a namespace for a check.
async fn space(client: &Client) -> Result<String, Failure> {
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let fresh = Namespace {
        metadata: ObjectMeta {
            generate_name: Some("foreign-".to_string()),
            ..ObjectMeta::default()
        },
        ..Namespace::default()
    };
    Ok(namespaces.create(&PostParams::default(), &fresh).await?.name_any())
}

/// Creates, changes and, if the number is even, deletes an object.
async fn write(maps: &Api<ConfigMap>, i: usize) -> Result<(), Failure> {
    let name = format!("map-{i}");
    let mut made = maps.create(&PostParams::default(), &config_map(&name, "1")).await?;
    made.data.get_or_insert_default().insert("more".to_string(), "yes".to_string());
    maps.replace(&name, &PostParams::default(), &made).await?;
    let patch = json!({"metadata": {"labels": {"app": "web"}}});
    maps.patch(&name, &PatchParams::default(), &Patch::Merge(&patch)).await?;
    if i % 2 == 0 {
        maps.delete(&name, &DeleteParams::default()).await?;
    }
    Ok(())
}

/// Checks that the store of a reflector finally equals a list.
async fn reflect(client: &Client, config: watcher::Config) -> Result<(), Failure> {
    let space = space(client).await?;
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), &space);
    for i in 0..OBJECTS / 2 {
        write(&maps, i).await?;
    }
    let (reader, writer) = reflector::store();
    let stream = reflector(writer, watcher(maps.clone(), config)).default_backoff();
    let running = tokio::spawn(stream.for_each(|_| futures::future::ready(())));
    let outcome = async {
        reader.wait_until_ready().await?;
        if reader.len() != OBJECTS / 4 {
            return Err(format!("{} objects at the start", reader.len()).into());
        }
        for i in OBJECTS / 2..OBJECTS {
            write(&maps, i).await?;
        }
        let listed = maps.list(&ListParams::default()).await?;
        for _ in 0..200 {
            let mut cached: Vec<ConfigMap> = reader.state().iter().map(|map| (**map).clone()).collect();
            cached.sort_by_key(ResourceExt::name_any);
            let mut wanted = listed.items.clone();
            wanted.sort_by_key(ResourceExt::name_any);
            if cached == wanted {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Err::<(), Failure>(format!("{} objects in the cache, {} in the list", reader.len(), listed.items.len()).into())
    }
    .await;
    running.abort();
    outcome
}

/// Applies with two managers: a conflict, then force.
async fn apply(client: &Client) -> Result<(), Failure> {
    let space = space(client).await?;
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), &space);
    maps.patch("shared", &PatchParams::apply("one"), &Patch::Apply(config_map("shared", "1"))).await?;
    match maps.patch("shared", &PatchParams::apply("two"), &Patch::Apply(config_map("shared", "2"))).await {
        Err(kube::Error::Api(status)) if status.code == 409 => {}
        other => return Err(format!("expected a conflict, got {other:?}").into()),
    }
    let forced = maps
        .patch("shared", &PatchParams::apply("two").force(), &Patch::Apply(config_map("shared", "2")))
        .await?;
    if forced.data != config_map("shared", "2").data {
        return Err(format!("applied by force: {:?}", forced.data).into());
    }
    let managers: Vec<_> = forced.managed_fields().iter().filter_map(|entry| entry.manager.clone()).collect();
    if managers != ["two"] {
        return Err(format!("managers are {managers:?}").into());
    }
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let client = Client::try_default().await?;
    let limit = Duration::from_secs(60);
    let mut failed = false;
    let mut report = |name: &str, outcome: Result<Result<(), Failure>, tokio::time::error::Elapsed>| match outcome {
        Ok(Ok(())) => println!("ok      {name}"),
        Ok(Err(error)) => {
            failed = true;
            println!("FAILED  {name}: {error}");
        }
        Err(_) => {
            failed = true;
            println!("FAILED  {name}: takes too long");
        }
    };
    let listing = reflect(&client, watcher::Config::default());
    report("reflector that lists", tokio::time::timeout(limit, listing).await);
    let paging = reflect(&client, watcher::Config::default().page_size(2));
    report("reflector that lists in pages", tokio::time::timeout(limit, paging).await);
    let streaming = reflect(&client, watcher::Config::default().streaming_lists());
    report("reflector with a streamed list", tokio::time::timeout(limit, streaming).await);
    report("server-side apply", tokio::time::timeout(limit, apply(&client)).await);
    if failed {
        return Err("some checks failed".into());
    }
    println!("all checks passed");
    Ok(())
}
