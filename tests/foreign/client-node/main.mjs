// SPDX-License-Identifier: Apache-2.0
// Tries @kubernetes/client-node against the server of the kubeconfig that KUBECONFIG names: create, read, update, delete,
// lists in pages, watches, informers, all kinds of patches, server-side apply, and custom resources.
import * as k8s from '@kubernetes/client-node';
import assert from 'node:assert/strict';

const config = new k8s.KubeConfig();
config.loadFromDefault();
const core = config.makeApiClient(k8s.CoreV1Api);
const apps = config.makeApiClient(k8s.AppsV1Api);
const definitions = config.makeApiClient(k8s.ApiextensionsV1Api);
const custom = config.makeApiClient(k8s.CustomObjectsApi);
const objects = k8s.KubernetesObjectApi.makeApiClient(config);

const namespace = `client-node-${process.pid}`;
const group = `${namespace}.example.com`;
const configMap = (name, data, labels = {}) => ({ metadata: { name, labels }, data });

/** Fails unless the call is refused with this status code and reason. */
async function refused(code, reason, call) {
  await assert.rejects(call, (error) => {
    assert.equal(error.code, code);
    const body = typeof error.body === 'string' ? JSON.parse(error.body) : error.body;
    assert.equal(body.reason, reason);
    return true;
  });
}

/** Collects what it is called with; seen() resolves once a list of `count` entries is there. */
function recorder() {
  const entries = [];
  let wake = () => {};
  return {
    entries,
    add: (entry) => { entries.push(entry); wake(); },
    seen: async (count) => {
      while (entries.length < count) await new Promise((resolve) => { wake = resolve; });
      return entries;
    },
  };
}

const checks = {
  'create, read, replace, delete': async () => {
    const made = await core.createNamespacedConfigMap({ namespace, body: configMap('plain', { a: '1' }) });
    assert.equal(made.data.a, '1');
    assert.ok(made.metadata.creationTimestamp instanceof Date);
    await refused(409, 'AlreadyExists', core.createNamespacedConfigMap({ namespace, body: configMap('plain') }));
    const read = await core.readNamespacedConfigMap({ name: 'plain', namespace });
    assert.equal(read.metadata.uid, made.metadata.uid);
    const replaced = await core.replaceNamespacedConfigMap({
      name: 'plain', namespace, body: { ...read, data: { a: '2' } } });
    assert.notEqual(replaced.metadata.resourceVersion, made.metadata.resourceVersion);
    await refused(409, 'Conflict', core.replaceNamespacedConfigMap({ name: 'plain', namespace, body: read }));
    assert.equal((await core.deleteNamespacedConfigMap({ name: 'plain', namespace })).status, 'Success');
    await refused(404, 'NotFound', core.readNamespacedConfigMap({ name: 'plain', namespace }));
    await refused(422, 'Invalid', core.createNamespacedConfigMap({ namespace, body: configMap('Not_A_Name') }));
  },

  'lists in pages and by selector': async () => {
    for (let i = 0; i < 7; i++) {
      await core.createNamespacedConfigMap({ namespace, body: configMap(`page-${i}`, {}, { odd: `${i % 2 === 1}` }) });
    }
    const names = [];
    const sizes = [];
    let _continue;
    do {
      const page = await core.listNamespacedConfigMap({ namespace, limit: 3, _continue });
      names.push(...page.items.map((item) => item.metadata.name));
      sizes.push([page.items.length, page.metadata.remainingItemCount]);
      _continue = page.metadata._continue;
    } while (_continue);
    assert.deepEqual(names, [0, 1, 2, 3, 4, 5, 6].map((i) => `page-${i}`));
    assert.deepEqual(sizes, [[3, 4], [3, 1], [1, undefined]]);
    const odd = await core.listNamespacedConfigMap({ namespace, labelSelector: 'odd=true' });
    assert.equal(odd.items.length, 3);
    const one = await core.listNamespacedConfigMap({ namespace, fieldSelector: 'metadata.name=page-4' });
    assert.equal(one.items.length, 1);
    await core.deleteCollectionNamespacedConfigMap({ namespace, labelSelector: 'odd=true' });
    assert.equal((await core.listNamespacedConfigMap({ namespace })).items.length, 4);
  },

  'patches of all kinds': async () => {
    const patch = (body, type) => apps.patchNamespacedDeployment(
      { name: 'web', namespace, body }, k8s.setHeaderOptions('Content-Type', type));
    const labels = { app: 'web' };
    await apps.createNamespacedDeployment({ namespace, body: {
      metadata: { name: 'web' },
      spec: { selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'nginx:1.29' }] } } } } });
    const json = await patch([{ op: 'replace', path: '/spec/replicas', value: 3 }], k8s.PatchStrategy.JsonPatch);
    assert.equal(json.spec.replicas, 3);
    const merged = await patch({ metadata: { annotations: { note: 'x' } } }, k8s.PatchStrategy.MergePatch);
    assert.equal(merged.metadata.annotations.note, 'x');
    const sidecar = { spec: { template: { spec: { containers: [{ name: 'side', image: 'side:1' }] } } } };
    const strategic = await patch(sidecar, k8s.PatchStrategy.StrategicMergePatch);
    assert.deepEqual(strategic.spec.template.spec.containers.map((c) => c.name).sort(), ['side', 'web']);
    await refused(422, 'Invalid', patch([{ op: 'test', path: '/spec/replicas', value: 9 }], k8s.PatchStrategy.JsonPatch));
    const scale = await apps.readNamespacedDeploymentScale({ name: 'web', namespace });
    scale.spec.replicas = 5;
    await apps.replaceNamespacedDeploymentScale({ name: 'web', namespace, body: scale });
    assert.equal((await apps.readNamespacedDeployment({ name: 'web', namespace })).spec.replicas, 5);
  },

  'server-side apply with a conflict': async () => {
    const apply = (value, manager, force) => objects.patch(
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'applied', namespace }, data: { a: value } },
      undefined, undefined, manager, force, k8s.PatchStrategy.ServerSideApply);
    const first = await apply('1', 'one', false);
    assert.deepEqual(first.metadata.managedFields.map((f) => [f.manager, f.operation]), [['one', 'Apply']]);
    await refused(409, 'Conflict', apply('2', 'two', false));
    const forced = await apply('2', 'two', true);
    assert.equal(forced.data.a, '2');
    assert.ok(forced.metadata.managedFields.some((f) => f.manager === 'two'));
  },

  'a watch sees each change once': async () => {
    const events = recorder();
    const { metadata } = await core.listNamespacedSecret({ namespace });
    const watch = await new k8s.Watch(config).watch(`/api/v1/namespaces/${namespace}/secrets`,
      { resourceVersion: metadata.resourceVersion }, (type, object) => events.add([type, object.metadata.name]), () => {});
    await core.createNamespacedSecret({ namespace, body: { metadata: { name: 's' }, stringData: { p: 'x' } } });
    const made = await core.readNamespacedSecret({ name: 's', namespace });
    assert.equal(made.data.p, 'eA==');
    await core.replaceNamespacedSecret({ name: 's', namespace, body: { ...made, data: { p: 'eQ==' } } });
    await core.deleteNamespacedSecret({ name: 's', namespace });
    assert.deepEqual(await events.seen(3), [['ADDED', 's'], ['MODIFIED', 's'], ['DELETED', 's']]);
    watch.abort();
  },

  'an informer keeps up': async () => {
    const events = recorder();
    const list = () => core.listNamespacedService({ namespace });
    const service = (name) => ({ metadata: { name }, spec: { ports: [{ port: 80 }] } });
    await core.createNamespacedService({ namespace, body: service('before') });
    const informer = k8s.makeInformer(config, `/api/v1/namespaces/${namespace}/services`, list);
    for (const verb of ['add', 'update', 'delete']) {
      informer.on(verb, (object) => events.add(`${verb} ${object.metadata.name}`));
    }
    await informer.start();
    await events.seen(1);
    await core.createNamespacedService({ namespace, body: service('after') });
    await events.seen(2);
    await core.deleteNamespacedService({ name: 'before', namespace });
    assert.deepEqual(await events.seen(3), ['add before', 'add after', 'delete before']);
    assert.deepEqual(informer.list().map((object) => object.metadata.name), ['after']);
    await informer.stop();
  },

  'custom resources': async () => {
    const schema = { type: 'object', properties: { spec: { type: 'object', properties: {
      size: { type: 'integer', minimum: 1 }, mode: { type: 'string', _default: 'safe' } } },
      status: { type: 'object', x_kubernetes_preserve_unknown_fields: true } } };
    const name = `gears.${group}`;
    await definitions.createCustomResourceDefinition({ body: { metadata: { name }, spec: {
      group, scope: 'Namespaced', names: { plural: 'gears', singular: 'gear', kind: 'Gear' },
      versions: [{ name: 'v1', served: true, storage: true, subresources: { status: {} }, schema: { openAPIV3Schema: schema } }],
    } } });
    let found;
    do {
      found = await definitions.readCustomResourceDefinition({ name });
    } while (!found.status?.conditions?.some((c) => c.type === 'Established' && c.status === 'True'));
    const kind = { group, version: 'v1', namespace, plural: 'gears' };
    const gear = (size) => ({ apiVersion: `${group}/v1`, kind: 'Gear', metadata: { name: 'one' }, spec: { size } });
    // A real server serves a kind a moment after it says so.
    while (!await custom.listNamespacedCustomObject(kind)
      .catch((error) => { if (![404, 429].includes(error.code)) throw error; })) { /* again */ }
    const made = await custom.createNamespacedCustomObject({ ...kind, body: gear(2) });
    assert.deepEqual(made.spec, { size: 2, mode: 'safe' });
    assert.equal(made.metadata.generation, 1);
    await refused(422, 'Invalid', custom.replaceNamespacedCustomObject({ ...kind, name: 'one',
      body: { ...made, spec: { size: 0 } } }));
    const status = await custom.replaceNamespacedCustomObjectStatus({ ...kind, name: 'one',
      body: { ...made, spec: { size: 9 }, status: { ready: true } } });
    assert.deepEqual([status.spec.size, status.status.ready, status.metadata.generation], [2, true, 1]);
    assert.equal((await custom.listNamespacedCustomObject(kind)).items.length, 1);
    await custom.deleteNamespacedCustomObject({ ...kind, name: 'one' });
    await definitions.deleteCustomResourceDefinition({ name });
  },

  'delete waits for finalizers': async () => {
    const body = configMap('held', {});
    body.metadata.finalizers = ['example.test/hold'];
    await core.createNamespacedConfigMap({ namespace, body });
    await core.deleteNamespacedConfigMap({ name: 'held', namespace });
    const held = await core.readNamespacedConfigMap({ name: 'held', namespace });
    assert.ok(held.metadata.deletionTimestamp instanceof Date);
    await core.replaceNamespacedConfigMap({ name: 'held', namespace,
      body: { ...held, metadata: { ...held.metadata, finalizers: [] } } });
    await refused(404, 'NotFound', core.readNamespacedConfigMap({ name: 'held', namespace }));
  },
};

await core.createNamespace({ body: { metadata: { name: namespace } } });
let failures = 0;
for (const [name, check] of Object.entries(checks)) {
  let timer;
  try {
    const limit = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error('no result within a minute')), 60_000);
    });
    await Promise.race([check(), limit]);
    console.log(`ok      ${name}`);
  } catch (error) {
    failures++;
    console.log(`FAILED  ${name}: ${error.stack ?? error}`);
  }
  clearTimeout(timer);
}
await core.deleteNamespace({ name: namespace });
console.log(failures ? `${failures} checks failed` : 'all checks passed');
process.exit(failures ? 1 : 0);
