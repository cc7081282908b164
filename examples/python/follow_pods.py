#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints what happens to the pods of a namespace (by default of all), on the cluster of KUBECONFIG.

follow_pods.py [NAMESPACE]      until Ctrl-C
follow_pods.py --demo           makes, labels and deletes a pod, and ends
"""

import queue
import sys

import kubecxx


def name_of(pod):
    return "%s/%s" % (pod["metadata"]["namespace"], pod["metadata"]["name"])


def play(client, namespace):
    pods = client.resource("", "v1", "pods", namespace)
    client.create(pods, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "example"},
                         "spec": {"containers": [{"name": "main", "image": "example"}]}})
    client.patch(pods, "example", {"metadata": {"labels": {"seen": "yes"}}})
    client.delete(pods, "example")


def main():
    demo = "--demo" in sys.argv
    names = [argument for argument in sys.argv[1:] if argument != "--demo"]
    lines = queue.SimpleQueue()
    with kubecxx.Client() as client, \
            kubecxx.Informer(client, client.resource("", "v1", "pods", names[0] if names else "")) as informer, \
            informer.add_handler(  # called on threads of the library, one call at a time
                on_add=lambda pod, initial: lines.put("%s %s" % ("exists" if initial else "added", name_of(pod))),
                on_update=lambda before, now: lines.put("changed %s" % name_of(now)),
                on_delete=lambda key, last: lines.put("deleted %s" % key)):
        informer.start()
        informer.wait_for_sync(30)
        print("%d pods in the cache" % len(informer.list()))
        if demo:
            play(client, "default")
        try:
            line = ""
            while not (demo and line.startswith("deleted")):
                line = lines.get(timeout=30 if demo else None)
                print(line)
        except KeyboardInterrupt:
            pass


main()
