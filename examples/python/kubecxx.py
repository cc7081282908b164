# SPDX-License-Identifier: Apache-2.0
"""A small binding of libkubecxx.so with ctypes: a client, informers and their handlers.

ctypes.CDLL gives up the interpreter's lock during each call, so callbacks can run while a call waits. Handles are freed
by close(), by `with`, or by the collector. KUBECXX_LIBRARY names the library if it is not installed.
"""

import ctypes
import json
import os
from ctypes import CFUNCTYPE, POINTER, Structure, byref, c_int, c_int32, c_int64, c_size_t, c_void_p

library = ctypes.CDLL(os.environ.get("KUBECXX_LIBRARY", "libkubecxx.so.0"))

OK, MISUSE, NOT_FOUND, FORKED = 0, 2, 11, 14
PATCH_MERGE = 1


class String(Structure):
    _fields_ = [("data", c_void_p), ("size", c_size_t)]

    def text(self):
        return ctypes.string_at(self.data, self.size).decode() if self.size else ""


def string(text):
    """A String that keeps the memory of its text."""
    data = text.encode()
    result = String(ctypes.cast(ctypes.c_char_p(data), c_void_p), len(data))
    result.keep = data
    return result


class Resource(Structure):
    _fields_ = [("size", c_size_t), ("group", String), ("version", String), ("resource", String), ("namespace", String)]


class ClientOptions(Structure):
    _fields_ = [("size", c_size_t), ("runtime", c_void_p), ("log", c_void_p)]


OnAdd = CFUNCTYPE(None, c_void_p, c_void_p, c_int)
OnUpdate = CFUNCTYPE(None, c_void_p, c_void_p, c_void_p)
OnDelete = CFUNCTYPE(None, c_void_p, String, c_void_p, c_int)
Release = CFUNCTYPE(None, c_void_p)


class HandlerOptions(Structure):
    _fields_ = [("size", c_size_t), ("on_add", OnAdd), ("on_update", OnUpdate), ("on_delete", OnDelete),
                ("user_data", c_void_p), ("release", Release), ("name", String), ("resync_ms", c_int64)]


for name, result, arguments in [
    ("version", ctypes.c_char_p, []),
    ("abi_version", c_int, []),
    ("error_message", String, []),
    ("config_load", c_int, [String, c_void_p, POINTER(c_void_p)]),
    ("config_namespace", String, [c_void_p]),
    ("client_new", c_int, [c_void_p, POINTER(ClientOptions), POINTER(c_void_p)]),
    ("client_get", c_int, [c_void_p, POINTER(Resource), String, c_void_p, POINTER(c_void_p)]),
    ("client_create", c_int, [c_void_p, POINTER(Resource), String, c_void_p, POINTER(c_void_p)]),
    ("client_patch", c_int, [c_void_p, POINTER(Resource), String, c_int, String, c_void_p, POINTER(c_void_p)]),
    ("client_delete", c_int, [c_void_p, POINTER(Resource), String, c_void_p]),
    ("informer_new", c_int, [c_void_p, POINTER(Resource), c_void_p, POINTER(c_void_p)]),
    ("informer_start", c_int, [c_void_p]),
    ("informer_wait_for_sync", c_int, [c_void_p, c_int64, c_void_p]),
    ("informer_get", c_int, [c_void_p, String, POINTER(c_void_p)]),
    ("informer_list", c_int, [c_void_p, String, String, POINTER(c_void_p)]),
    ("informer_add_handler", c_int, [c_void_p, POINTER(HandlerOptions), POINTER(c_void_p)]),
    ("handler_wait_for_sync", c_int, [c_void_p, c_int64, c_void_p]),
    ("object_json", String, [c_void_p]),
    ("list_size", c_size_t, [c_void_p]),
    ("list_item", c_void_p, [c_void_p, c_size_t]),
] + [(kind + "_free", None, [c_void_p]) for kind in ("config", "client", "informer", "handler", "object", "list")]:
    function = getattr(library, "kubecxx_" + name)
    function.restype, function.argtypes = result, arguments


class Error(Exception):
    def __init__(self, code):
        super().__init__(library.kubecxx_error_message().text())
        self.code = code


def check(code):
    if code != OK:
        raise Error(code)


def document(pointer):
    return json.loads(library.kubecxx_object_json(pointer).text())


class Handle:
    """Owns a handle of the library."""

    def __init__(self, kind, make, *arguments):
        self._free = getattr(library, "kubecxx_" + kind + "_free")
        self._pointer = c_void_p()
        check(make(*arguments, byref(self._pointer)))

    def close(self):
        pointer, self._pointer = getattr(self, "_pointer", None), None
        if pointer:
            self._free(pointer)

    __del__ = close

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()


class Client(Handle):
    def __init__(self, kubeconfig=""):
        with Handle("config", library.kubecxx_config_load, string(kubeconfig), None) as config:
            self.namespace = library.kubecxx_config_namespace(config._pointer).text()
            super().__init__("client", library.kubecxx_client_new, config._pointer, None)

    def resource(self, group, version, plural, namespace=""):
        result = Resource(ctypes.sizeof(Resource))
        result.keep = (group.encode(), version.encode(), plural.encode(), namespace.encode())
        texts = [ctypes.cast(ctypes.c_char_p(text), c_void_p) for text in result.keep]
        for field, text, data in zip(("group", "version", "resource", "namespace"), texts, result.keep):
            setattr(result, field, String(text, len(data)))
        return result

    def get(self, resource, name):
        with Handle("object", library.kubecxx_client_get, self._pointer, byref(resource), string(name), None) as found:
            return document(found._pointer)

    def create(self, resource, value):
        check(library.kubecxx_client_create(self._pointer, byref(resource), string(json.dumps(value)), None, None))

    def patch(self, resource, name, change):
        check(library.kubecxx_client_patch(self._pointer, byref(resource), string(name), PATCH_MERGE,
                                           string(json.dumps(change)), None, None))

    def delete(self, resource, name):
        check(library.kubecxx_client_delete(self._pointer, byref(resource), string(name), None))


# Keeps callbacks of handlers alive until the library releases them.
_callbacks = {}


@Release
def _release(user_data):
    _callbacks.pop(user_data, None)


class Informer(Handle):
    def __init__(self, client, resource):
        super().__init__("informer", library.kubecxx_informer_new, client._pointer, byref(resource), None)

    def start(self):
        check(library.kubecxx_informer_start(self._pointer))

    def wait_for_sync(self, seconds):
        check(library.kubecxx_informer_wait_for_sync(self._pointer, int(seconds * 1000), None))

    def get(self, key):
        with Handle("object", library.kubecxx_informer_get, self._pointer, string(key)) as found:
            return document(found._pointer)

    def list(self, namespace="", selector=""):
        with Handle("list", library.kubecxx_informer_list, self._pointer, string(namespace), string(selector)) as found:
            size = library.kubecxx_list_size(found._pointer)
            return [document(library.kubecxx_list_item(found._pointer, i)) for i in range(size)]

    def add_handler(self, on_add=None, on_update=None, on_delete=None):
        """on_add(object, in_initial_list), on_update(before, now), on_delete(key, last)."""
        options = HandlerOptions(ctypes.sizeof(HandlerOptions))
        options.on_add = OnAdd(lambda _, now, initial: on_add(document(now), bool(initial)) if on_add else None)
        options.on_update = OnUpdate(lambda _, old, now: on_update(document(old), document(now)) if on_update else None)
        options.on_delete = OnDelete(
            lambda _, key, last, known: on_delete(key.text(), last and document(last)) if on_delete else None)
        options.user_data = id(options)
        options.release = _release
        _callbacks[id(options)] = options
        try:
            return Handle("handler", library.kubecxx_informer_add_handler, self._pointer, byref(options))
        except Error:
            del _callbacks[id(options)]
            raise
