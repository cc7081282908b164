# SPDX-License-Identifier: Apache-2.0
"""The C interface from Python: python_test.py LIBRARY, beside the server of KUBECONFIG (see with_server.cpp)."""

import gc
import multiprocessing
import os
import pathlib
import sys
import threading
import unittest

os.environ["KUBECXX_LIBRARY"] = sys.argv.pop(1)
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples" / "python"))
import kubecxx  # noqa: E402  (needs the path)

WAIT = 30


def config_map(name, **data):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


class Counter:
    """Counts calls of handlers, and is waited for."""

    def __init__(self):
        self.changed = threading.Condition()
        self.names = []

    def __call__(self, name):
        with self.changed:
            self.names.append(name)
            self.changed.notify_all()

    def wait(self, count):
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.names) >= count, WAIT), self.names


class PythonTest(unittest.TestCase):
    def setUp(self):
        self.client = kubecxx.Client()
        self.space = "p-" + self._testMethodName.replace("_", "-")[5:45].strip("-")
        namespaces = self.client.resource("", "v1", "namespaces")
        self.client.create(namespaces, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.space}})
        self.maps = self.client.resource("", "v1", "configmaps", self.space)
        self.seen = Counter()

    def tearDown(self):
        self.client.close()
        gc.collect()
        self.wait_for_release()

    def informer(self):
        return kubecxx.Informer(self.client, self.maps)

    def follow(self, informer):
        return informer.add_handler(on_add=lambda found, initial: self.seen(found["metadata"]["name"]))

    # CA-6
    def test_informer_follows_objects(self):
        deleted = Counter()
        updated = Counter()
        self.client.create(self.maps, config_map("a", key="1"))
        with self.informer() as informer, informer.add_handler(
                on_add=lambda found, initial: self.seen((found["metadata"]["name"], initial)),
                on_update=lambda before, now: updated((before["data"]["key"], now["data"]["key"])),
                on_delete=lambda key, last: deleted((key, last["data"]["key"]))):
            informer.start()
            informer.wait_for_sync(WAIT)
            self.assertEqual([found["metadata"]["name"] for found in informer.list(self.space)], ["a"])
            self.assertEqual(informer.get(self.space + "/a")["data"], {"key": "1"})
            self.client.patch(self.maps, "a", {"data": {"key": "2"}})
            updated.wait(1)
            self.client.delete(self.maps, "a")
            deleted.wait(1)
        self.assertEqual(self.seen.names, [("a", True)])
        self.assertEqual(updated.names, [("1", "2")])
        self.assertEqual(deleted.names, [(self.space + "/a", "2")])

    # CA-3, CA-6
    def test_errors_have_code_and_message(self):
        with self.assertRaisesRegex(kubecxx.Error, "nothing-here") as caught:
            self.client.get(self.maps, "nothing-here")
        self.assertEqual(caught.exception.code, kubecxx.NOT_FOUND)

    # CA-7: handles in reference cycles, freed by whichever thread the collector runs in: in handlers, too.
    def test_collector_frees_handles(self):
        for i in range(10):
            self.client.create(self.maps, config_map("m%d" % i))

        def collect(found, initial):
            self.seen(found["metadata"]["name"])
            gc.collect()

        rounds = 10
        for _ in range(rounds):
            cycle = {"informer": self.informer()}
            cycle["handler"] = cycle["informer"].add_handler(on_add=collect)
            cycle["informer"].start()
            cycle["itself"] = cycle
        self.seen.wait(1)
        del cycle
        gc.collect()

    # CA-2: what a handler frees goes as soon as it returns.
    def test_handler_frees_its_own_informer(self):
        informer = self.informer()
        handles = [informer]

        def free_all(found, initial):
            while handles:
                handles.pop().close()
            self.seen(found["metadata"]["name"])

        handles.append(informer.add_handler(on_add=free_all))
        self.client.create(self.maps, config_map("a"))
        self.client.create(self.maps, config_map("b"))
        informer.start()
        self.seen.wait(1)
        del informer
        self.wait_for_release()
        self.assertEqual(len(self.seen.names), 1)

    def wait_for_release(self):
        """Until all user data has been released: callbacks may still be under way."""
        deadline = threading.Event()
        timer = threading.Timer(WAIT, deadline.set)
        timer.start()
        while kubecxx._callbacks and not deadline.is_set():
            gc.collect()  # does nothing while another thread collects
            os.sched_yield()
        timer.cancel()
        self.assertFalse(deadline.is_set())

    # CA-7, LO-10: the child cannot use the handles of the parent, and may free them.
    def test_forked_child_frees_handles(self):
        context = multiprocessing.get_context("fork")
        with self.informer() as informer, self.follow(informer) as handler:
            informer.start()
            informer.wait_for_sync(WAIT)
            children = [context.Process(target=self.in_child, args=(informer, handler)) for _ in range(5)]
            for child in children:
                child.start()
            for child in children:
                child.join(WAIT)
                self.assertEqual(child.exitcode, 0)
            # The parent continues.
            self.client.create(self.maps, config_map("after"))
            self.seen.wait(1)
            self.assertEqual(informer.get(self.space + "/after")["metadata"]["name"], "after")

    def in_child(self, informer, handler):
        for call in (lambda: self.client.get(self.maps, "a"), lambda: informer.wait_for_sync(WAIT),
                     lambda: informer.list(), lambda: self.follow(informer), kubecxx.Client):
            try:
                call()
                os._exit(1)
            except kubecxx.Error as error:
                if error.code != kubecxx.FORKED:
                    os._exit(2)
        handler.close()
        informer.close()
        self.client.close()
        gc.collect()


if __name__ == "__main__":
    unittest.main()
