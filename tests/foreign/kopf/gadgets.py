# SPDX-License-Identifier: Apache-2.0
"""An operator written with kopf: says in the status of gadgets what it has seen of them."""
import os

import kopf

GROUP = os.environ['GADGET_GROUP']
tried = set()


@kopf.on.startup()
def configure(settings, **_):
    settings.persistence.finalizer = f'{GROUP}/finalizer'
    settings.execution.max_workers = 2


@kopf.on.create(GROUP, 'v1', 'gadgets')
def created(uid, spec, patch, **_):
    # Fails once, so that kopf has to keep its progress in the object and to try again.
    if uid not in tried:
        tried.add(uid)
        raise kopf.TemporaryError('not at once', delay=0.1)
    patch.status['phase'] = 'Created'
    return {'size': spec['size']}


@kopf.on.update(GROUP, 'v1', 'gadgets', field='spec.size')
def resized(old, new, patch, **_):
    patch.status['phase'] = 'Resized'
    return {'from': old, 'to': new}


@kopf.on.field(GROUP, 'v1', 'gadgets', field='metadata.labels.colour')
def painted(new, patch, **_):
    patch.status['colour'] = new


@kopf.on.delete(GROUP, 'v1', 'gadgets')
def deleted(body, **_):
    kopf.info(body, reason='Farewell', message='the gadget goes')
