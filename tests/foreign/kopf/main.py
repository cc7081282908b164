# SPDX-License-Identifier: Apache-2.0
"""Runs the operator of gadgets.py against the server of the kubeconfig that KUBECONFIG names, and checks what it does."""
import base64
import json
import os
import pathlib
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import yaml

HERE = pathlib.Path(__file__).parent
LIMIT = 60  # seconds for each check


class NotReady(Exception):
    """A real server answers so about a new kind, for a moment."""


class Server:
    """Sends requests past kopf, with the credentials of the kubeconfig's current context."""

    def __init__(self, path):
        config = yaml.safe_load(path.read_text())
        context = self._named(config, 'contexts', config['current-context'])['context']
        cluster = self._named(config, 'clusters', context['cluster'])['cluster']
        user = self._named(config, 'users', context['user'])['user']
        with tempfile.TemporaryDirectory() as folder:
            def file(holder, key):
                if key + '-data' in holder:
                    copy = pathlib.Path(folder, key)
                    copy.write_bytes(base64.b64decode(holder[key + '-data']))
                    return copy
                return path.parent / holder[key]

            self.tls = ssl.create_default_context(cafile=file(cluster, 'certificate-authority'))
            if 'client-key' in user or 'client-key-data' in user:
                self.tls.load_cert_chain(file(user, 'client-certificate'), file(user, 'client-key'))
        self.address = cluster['server']
        self.headers = {'Authorization': 'Bearer ' + user['token']} if 'token' in user else {}

    @staticmethod
    def _named(config, key, name):
        return next(entry for entry in config[key] if entry['name'] == name)

    def send(self, method, path, body=None):
        """Returns the answer, or None if there is no such object or kind."""
        headers = dict(self.headers)
        headers['Content-Type'] = 'application/merge-patch+json' if method == 'PATCH' else 'application/json'
        request = urllib.request.Request(
            self.address + path, method=method, headers=headers, data=body and json.dumps(body).encode())
        try:
            with urllib.request.urlopen(request, context=self.tls, timeout=LIMIT) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return None
            if error.code == 429:
                raise NotReady(path) from error
            raise AssertionError(f'{method} {path}: {error.code} {error.read().decode()}') from error

    def until(self, what, path, condition):
        """Reads until the condition holds, and returns what was read then."""
        deadline = time.monotonic() + LIMIT
        while True:
            try:
                found = self.send('GET', path)
                if condition(found):
                    return found
            except NotReady:
                found = 'not ready'
            if time.monotonic() > deadline:
                raise AssertionError(f'{what}: not within {LIMIT} s; last seen: {json.dumps(found)}')
            time.sleep(0.1)


def absolute(path, folder):
    """Writes a kubeconfig whose paths are absolute, as kopf takes relative ones from its working folder; returns it."""
    config = yaml.safe_load(path.read_text())
    for holder in [entry['cluster'] for entry in config['clusters']] + [entry['user'] for entry in config['users']]:
        for key in ('certificate-authority', 'client-certificate', 'client-key'):
            if key in holder:
                holder[key] = str((path.parent / holder[key]).absolute())
    result = pathlib.Path(folder, 'kubeconfig')
    result.write_text(yaml.safe_dump(config))
    return result


def definition(group):
    schema = {'type': 'object', 'properties': {
        'spec': {'type': 'object', 'properties': {'size': {'type': 'integer'}}},
        'status': {'type': 'object', 'x-kubernetes-preserve-unknown-fields': True}}}
    return {
        'apiVersion': 'apiextensions.k8s.io/v1', 'kind': 'CustomResourceDefinition',
        'metadata': {'name': f'gadgets.{group}'},
        'spec': {'group': group, 'scope': 'Namespaced', 'names': {'plural': 'gadgets', 'kind': 'Gadget'},
                 'versions': [{'name': 'v1', 'served': True, 'storage': True, 'subresources': {'status': {}},
                               'schema': {'openAPIV3Schema': schema}}]}}


def check(server, group, namespace, operator):
    gadgets = f'/apis/{group}/v1/namespaces/{namespace}/gadgets'
    one = gadgets + '/one'
    finalizer = f'{group}/finalizer'

    def status(name):
        return lambda gadget: gadget and name in gadget.get('status', {})

    server.send('POST', gadgets, {'apiVersion': f'{group}/v1', 'kind': 'Gadget',
                                  'metadata': {'name': 'one'}, 'spec': {'size': 1}})
    made = server.until('create handler', one, status('created'))
    assert made['status']['created'] == {'size': 1}, made
    assert made['status']['phase'] == 'Created', made
    assert made['metadata']['finalizers'] == [finalizer], made
    assert made['metadata']['generation'] == 1, made
    assert 'kopf.zalando.org/last-handled-configuration' in made['metadata']['annotations'], made
    print('ok      create, after one failure')

    server.send('PATCH', one, {'spec': {'size': 5}})
    resized = server.until('update handler', one, status('resized/spec.size'))
    assert resized['status']['resized/spec.size'] == {'from': 1, 'to': 5}, resized
    assert resized['status']['phase'] == 'Resized', resized
    assert resized['metadata']['generation'] == 2, resized
    print('ok      update')

    server.send('PATCH', one, {'metadata': {'labels': {'colour': 'red'}}})
    server.until('field handler', one, lambda gadget: gadget['status'].get('colour') == 'red')
    print('ok      one field')

    server.send('DELETE', one)
    server.until('finalizer', one, lambda gadget: gadget is None)
    events = f'/api/v1/namespaces/{namespace}/events'
    server.until('event', events, lambda found: any(
        event['reason'] == 'Farewell' and event['involvedObject']['uid'] == made['metadata']['uid']
        for event in found['items']))
    print('ok      delete, with a finalizer and an event')

    # An operator that is not there does not let objects go; one that comes back catches up.
    server.send('POST', gadgets, {'apiVersion': f'{group}/v1', 'kind': 'Gadget',
                                  'metadata': {'name': 'two'}, 'spec': {'size': 2}})
    server.until('second gadget', gadgets + '/two', status('created'))
    operator.stop()
    server.send('DELETE', gadgets + '/two')
    held = server.send('GET', gadgets + '/two')
    assert held and held['metadata']['deletionTimestamp'] and held['metadata']['finalizers'] == [finalizer], held
    operator.start()
    server.until('finalizer after a restart', gadgets + '/two', lambda gadget: gadget is None)
    print('ok      a restart')


class Operator:
    def __init__(self, kubeconfig, group, namespace, log):
        self.command = [sys.executable, '-m', 'kopf', 'run', '--standalone', '-n', namespace, str(HERE / 'gadgets.py')]
        self.environment = dict(os.environ, KUBECONFIG=str(kubeconfig), GADGET_GROUP=group, PYTHONDONTWRITEBYTECODE='1')
        self.log = log
        self.process = None

    def start(self):
        self.process = subprocess.Popen(self.command, env=self.environment, stdout=self.log, stderr=self.log)

    def stop(self):
        self.process.terminate()
        code = self.process.wait(LIMIT)
        assert code in (0, -15), f'the operator exits with {code}'

    def end(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def main():
    kubeconfig = pathlib.Path(os.environ['KUBECONFIG'])
    server = Server(kubeconfig)
    namespace = f'kopf-{os.getpid()}'
    group = f'{namespace}.example.com'
    crd = f'/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gadgets.{group}'
    server.send('POST', '/api/v1/namespaces', {'metadata': {'name': namespace}})
    server.send('POST', crd.rpartition('/')[0], definition(group))
    with tempfile.TemporaryFile('w+') as log, tempfile.TemporaryDirectory() as folder:
        operator = Operator(absolute(kubeconfig, folder), group, namespace, log)
        try:
            server.until('new kind', f'/apis/{group}/v1/namespaces/{namespace}/gadgets', lambda found: found is not None)
            operator.start()
            check(server, group, namespace, operator)
        except AssertionError as error:
            log.seek(0)
            print(f'FAILED  {error}\nThe operator said:\n{log.read()}')
            return 1
        finally:
            operator.end()
            server.send('DELETE', crd)
            server.send('DELETE', f'/api/v1/namespaces/{namespace}')
    print('all checks passed')
    return 0


sys.exit(main())
