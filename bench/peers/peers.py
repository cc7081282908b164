#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the scenarios of several programs in turns, and writes medians, spreads, ratios and charts.

Called by run.sh, which builds the programs."""

import argparse
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

KUBECXX = "kubecxx"
CLIENT_GO = "client-go"
KUBE_RS = "kube-rs"

CURL = "curl"

SIZES = (1000, 100000)  # of further syncs
DELIVERY_PODS = 1000
IDLE = (50, 500, 1000)  # informers
SECONDS_TO_SETTLE = 3  # of a sample controller
SECONDS_TO_STREAM = 10  # until curl's watch ends; it takes no CPU after the initial events
ROOT = pathlib.Path(__file__).resolve().parents[2]


def ratio(part):
    """A goal: at most this fraction of client-go's number, or at least this multiple."""
    return ("ratio", part)


def most(value):
    """A goal: at most this value, regardless of the others."""
    return ("most", value)


# Scenario, number, what it is, unit, smaller is better, goal (or None).
ROWS = [
    ("sync", "settled", "memory of the cache, settled", "MB", True, ratio(1 / 5)),
    ("sync", "settled_freed", "... when told to give back all it can", "MB", True, None),
    ("sync", "peak", "memory of the cache, peak of the sync", "MB", True, ratio(1 / 5)),
    ("sync", "cpu", "CPU of the sync, per pod", "us", True, ratio(1 / 4)),
    ("sync", "wall", "time of the sync", "s", True, None),
    ("sync 1000", "settled", "1,000 pods: memory, settled", "MB", True, None),
    ("sync 1000", "cpu", "1,000 pods: CPU of the sync, per pod", "us", True, None),
    ("sync 100000", "settled", "100,000 pods: memory, settled", "MB", True, None),
    ("sync 100000", "peak", "100,000 pods: memory, peak of the sync", "MB", True, None),
    ("sync 100000", "cpu", "100,000 pods: CPU of the sync, per pod", "us", True, None),
    ("storm", "rate", "watch events per second and core", "1/s", False, ratio(11)),
    ("storm", "peak_mb", "memory during a storm of updates, peak", "MB", True, None),
    ("relist", "cpu", "CPU of a relist, per pod", "us", True, None),
    ("relist", "peak_mb", "memory during a relist, peak", "MB", True, None),
    ("reads", "find", "lister: get by key", "ns", True, None),
    ("reads", "select50", "lister: 50 pods by label", "us", True, ratio(1 / 50)),
    ("reads", "list", "lister: all pods", "us", True, None),
    ("json", "settled", "JSON: memory of the cache, settled", "MB", True, None),
    ("json", "peak", "JSON: memory of the cache, peak of the sync", "MB", True, None),
    ("json", "cpu", "JSON: CPU of the sync, per pod", "us", True, None),
    ("cluster", "cpu", "real API server: CPU of the sync, per pod", "us", True, ratio(1 / 5)),
    ("cluster", "to_curl", "... as a multiple of curl's", "x", True, most(1.3)),
    ("cluster", "settled", "... memory, settled", "MB", True, None),
    ("cluster list", "cpu", "real API server, LIST: CPU, per pod", "us", True, ratio(1 / 5)),
    ("cluster list", "to_curl", "... as a multiple of curl's", "x", True, most(1.3)),
    ("cluster json", "cpu", "real API server, JSON: CPU, per pod", "us", True, None),
    ("cluster json", "to_curl", "... as a multiple of curl's", "x", True, None),
    ("delivery", "median", "from the server's write to the handler, median", "us", True, ratio(1 / 2)),
    ("delivery", "p99", "... p99", "us", True, ratio(1 / 2)),
    ("delivery", "cpu", "... CPU per event", "us", True, None),
    ("delivery inline", "median", "... with Delivery::kInline, median", "us", True, None),
    ("delivery inline", "p99", "... p99", "us", True, None),
    ("delivery inline", "cpu", "... CPU per event", "us", True, None),
    ("delivery json", "median", "JSON: from the server's write, median", "us", True, None),
    ("delivery json", "p99", "... p99", "us", True, None),
    ("delivery json", "cpu", "... CPU per event", "us", True, None),
    ("latency", "median", "from a PATCH to the handler, median", "us", True, None),
    ("latency", "p99", "from a PATCH to the handler, p99", "us", True, None),
    ("idle 50", "settled", "50 idle informers: memory", "MB", True, most(8.5)),
    ("idle 50", "threads", "50 idle informers: threads", "", True, None),
    ("idle 50", "cpu", "50 idle informers: CPU in 10 s", "us", True, None),
    ("idle 50", "sleeps", "50 idle informers: wake-ups in 10 s", "", True, None),
    ("idle 500", "settled", "500 idle informers: memory", "MB", True, None),
    ("idle 500", "threads", "500 idle informers: threads", "", True, None),
    ("idle 1000", "settled", "1,000 idle informers: memory", "MB", True, most(30)),
    ("idle 1000", "threads", "1,000 idle informers: threads", "", True, most(8)),
    ("idle 1000", "cpu", "1,000 idle informers: CPU in 10 s", "us", True, None),
    ("idle 1000", "sleeps", "1,000 idle informers: wake-ups in 10 s", "", True, None),
    ("sample", "memory", "sample controller at rest: memory", "MB", True, most(7)),
    ("sample", "memory_tls", "sample controller at rest, TLS: memory", "MB", True, most(10.5)),
    ("sample", "size", "sample controller: stripped program", "MB", True, None),
]
CHARTS = [
    ("sync", "settled", "Memory of the pod cache (MB)"),
    ("sync", "cpu", "CPU of the initial sync, per pod (us)"),
    ("storm", "rate", "Watch events per second and core"),
    ("reads", "select50", "List 50 pods by label (us)"),
    ("cluster", "cpu", "CPU of the initial sync from a real API server, per pod (us)"),
    ("delivery", "median", "From the server's write to the handler, median (us)"),
    ("idle 50", "settled", "50 idle informers: memory (MB)"),
    ("idle 1000", "settled", "1,000 idle informers: memory (MB)"),
    ("sample", "memory_tls", "Sample controller at rest, TLS: memory (MB)"),
]
COLORS = {KUBECXX: "#2563eb", CLIENT_GO: "#9ca3af", KUBE_RS: "#d97706", CURL: "#d1d5db"}


class Server:
    """A server of bench/informers; stopped with this object."""

    def __init__(self, *command):
        self.process = subprocess.Popen(
            [str(part) for part in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.url = self.process.stdout.readline().strip()
        if not self.url:
            raise SystemExit(f"peers.py: {command[0]} does not start")

    def __enter__(self):
        return self.url

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()


class Cluster:
    """etcd and a real API server over TLS with this many pods; stopped with this object."""

    def __init__(self, server, pods):
        self.script = ROOT / "tests/cluster/cluster.sh"
        self.work = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.work.name)
        started = subprocess.run([self.script, "start", self.folder], stdout=subprocess.DEVNULL)
        if started.returncode != 0:
            self.work.cleanup()
            raise OSError(f"{self.script.name} start has failed with code {started.returncode}")
        self.ports = dict(line.split("=") for line in (self.folder / "ports").read_text().split())
        self.kubeconfig = self.folder / "kubeconfig"
        try:
            self.fill(server, pods)
        except BaseException:
            self.__exit__()
            raise

    def fill(self, server, pods):
        """Writes the pods to etcd as the API server stores them: a POST would drop their status."""
        url = f"http://127.0.0.1:{self.ports['etcd_port']}/v3/kv/txn"
        with subprocess.Popen([server, "etcd", str(pods)], stdout=subprocess.PIPE) as printing:
            for transaction in printing.stdout:
                with urllib.request.urlopen(url, data=transaction) as answer:
                    answer.read()
        if printing.returncode != 0:
            raise OSError(f"{server} etcd has failed")

    def curl(self, media, pods, streamed=False):
        """The CPU time of curl, per pod, for all pods, listed or streamed; the body is discarded."""
        query = "resourceVersion=0"
        if streamed:
            query = ("watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&"
                     f"allowWatchBookmarks=true&timeoutSeconds={SECONDS_TO_STREAM}")
        reading = subprocess.Popen([
            "curl", "--silent", "--fail", "--output", "/dev/null", "--cacert", self.folder / "ca.crt",
            "--cert", self.folder / "admin.crt", "--key", self.folder / "admin.key",
            "--header", f"Accept: {media}",
            f"https://127.0.0.1:{self.ports['port']}/api/v1/pods?{query}"])
        _, status, usage = os.wait4(reading.pid, 0)
        reading.returncode = os.waitstatus_to_exitcode(status)
        if reading.returncode != 0:
            raise OSError(f"curl has failed with code {reading.returncode}")
        return {"cpu": (usage.ru_utime + usage.ru_stime) * 1e6 / pods, "to_curl": 1}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run([self.script, "stop", self.folder], check=True)
        self.work.cleanup()


def measure(command):
    """Runs a program once; returns the numbers that it prints, or none if it fails."""
    words = [str(word) for word in command]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=900)
    except subprocess.TimeoutExpired:
        print(f"  gave up: {' '.join(words)}", file=sys.stderr)
        return {}
    if done.returncode != 0:
        print(f"  failed: {' '.join(words)}: {done.stderr.strip()}", file=sys.stderr)
        return {}
    numbers = {}
    for line in done.stdout.splitlines():
        name, value = line.split()
        numbers[name] = float(value)
    if "cpu" in numbers and words[1] == "storm":
        numbers["rate"] = 1e6 / numbers["cpu"]
    if "select" in numbers:
        numbers["select50"] = numbers["select"] / numbers["selected"] * 50
    return numbers


def measure_sample(program, server, crd, flags):
    """Resident memory in MB of an idle sample controller."""
    with tempfile.TemporaryDirectory() as folder:
        config = pathlib.Path(folder) / "config"
        serving = subprocess.Popen([server, "serve", "--load", crd, "--kubeconfig-out", config, *(flags or ["--no-tls"])],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            for _ in range(100):
                if config.exists():
                    break
                time.sleep(0.1)
            else:
                raise SystemExit(f"peers.py: {server} does not start")
            running = subprocess.Popen([program, f"--kubeconfig={config}"],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                time.sleep(SECONDS_TO_SETTLE)
                if running.poll() is not None:
                    raise SystemExit(f"peers.py: {program} has ended")
                status = pathlib.Path(f"/proc/{running.pid}/status").read_text()
            finally:
                running.kill()
                running.wait()
        finally:
            serving.kill()
            serving.wait()
    kilobytes = next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:"))
    return int(kilobytes) * 1024 / 1e6


class Run:
    """The programs, where their servers are, and the numbers of all rounds so far."""

    def __init__(self, options):
        self.options = options
        self.programs = {KUBECXX: options.build / "bench/informers/informers_bench"}
        for name, path in ((CLIENT_GO, options.client_go), (KUBE_RS, options.kube_rs)):
            if path:
                self.programs[name] = path
        self.server = options.build / "bench/informers/informers_server"
        self.results = {}  # (scenario, number, program) -> values of all rounds
        self.remarks = []

    def note(self, scenario, program, numbers):
        for name, value in numbers.items():
            self.results.setdefault((scenario, name, program), []).append(value)
        shown = " ".join(f"{name} {value:.4g}" for name, value in numbers.items())
        print(f"  {scenario} {program}: {shown}", file=sys.stderr, flush=True)

    def rounds(self, what):
        for number in range(self.options.rounds):
            print(f"{what}, round {number + 1} of {self.options.rounds}", file=sys.stderr)
            yield number

    def having(self, *names):
        """The programs that exist."""
        return [(name, self.programs[name]) for name in names if name in self.programs]

    def replayed(self):
        pods = self.options.pods
        with Server(self.server, "replay", pods) as url:
            for _ in self.rounds(f"replay of {pods} pods"):
                for scenario in ("sync", "storm", "relist", "reads"):
                    for program, path in self.having(KUBECXX, CLIENT_GO):
                        self.note(scenario, program, measure([path, scenario, f"--pods={pods}", f"--url={url}"]))

    def sizes(self):
        for size in SIZES:
            with Server(self.server, "replay", size) as url:
                for _ in self.rounds(f"replay of {size} pods"):
                    for program, path in self.having(KUBECXX, CLIENT_GO):
                        self.note(f"sync {size}", program,
                                  measure([path, "sync", f"--pods={size}", f"--url={url}"]))

    def delivery(self):
        with Server(self.server, "replay", DELIVERY_PODS) as url:
            for _ in self.rounds("delivery of single events"):
                for program, path in self.having(KUBECXX, CLIENT_GO):
                    self.note("delivery", program, measure([path, "delivery", "--url", url]))
                for program, path in self.having(KUBECXX):
                    self.note("delivery inline", program, measure([path, "delivery", "--url", url, "--inline"]))
                for program, path in self.having(KUBECXX, CLIENT_GO, KUBE_RS):
                    self.note("delivery json", program,
                              measure([path, "delivery", "--url", url, *json_flag(program)]))

    def samples(self):
        """The sample controllers, each stripped."""
        samples = {KUBECXX: self.options.build / "examples/sample_controller/sample_controller"}
        if self.options.go_sample:
            samples[CLIENT_GO] = self.options.go_sample
        server = self.options.build / "tools/kubecxx/kubecxx"
        crd = ROOT / "examples/sample_controller/crd.yaml"
        with tempfile.TemporaryDirectory() as folder:
            for program, path in samples.items():
                stripped = pathlib.Path(folder) / program
                shutil.copy(path, stripped)
                subprocess.run(["strip", stripped], check=True)
                samples[program] = stripped
            for _ in self.rounds("sample controllers"):
                for program, path in samples.items():
                    self.note("sample", program, {
                        "memory": measure_sample(path, server, crd, []),
                        "memory_tls": measure_sample(path, server, crd, ["--tls"]),
                        "size": path.stat().st_size / 1e6,
                    })

    def served(self):
        pods = self.options.json_pods
        with Server(self.server, "serve", pods // 2) as url:
            where = ["--url", url, "--pods", pods]
            for _ in self.rounds("in-process API server"):
                for program, path in self.having(KUBECXX, CLIENT_GO, KUBE_RS):
                    self.note("json", program, measure([path, "sync", *where, *json_flag(program)]))
                for program, path in self.having(KUBECXX, CLIENT_GO):
                    small = ["--small"] if program == KUBECXX else []
                    self.note("latency", program, measure([path, "latency", *where, *small]))

    def idle(self):
        with Server(self.server, "serve", 1) as url:
            for _ in self.rounds("idle informers"):
                for informers in IDLE:
                    for program, path in self.having(KUBECXX, CLIENT_GO, KUBE_RS):
                        self.note(f"idle {informers}", program,
                                  measure([path, "idle", "--url", url, "--informers", informers]))

    def cluster(self):
        try:
            with Cluster(self.server, self.options.pods) as cluster:
                self.synced_from(cluster)
        except OSError as error:
            self.remarks.append(f"real API server: not measured, {error}")

    def synced_from(self, cluster):
        pods = self.options.pods
        protobuf = "application/vnd.kubernetes.protobuf"
        cluster.curl(protobuf, pods)  # for the server to get warm
        # kube-rs supports only JSON; its numbers are compared with the JSON numbers of the others.
        for _ in self.rounds(f"real API server, {pods} pods"):
            for scenario, media, names, flags in (
                    ("cluster", protobuf, (KUBECXX, CLIENT_GO), []),
                    ("cluster list", protobuf, (KUBECXX, CLIENT_GO), ["--list"]),
                    ("cluster json", "application/json", (KUBECXX, CLIENT_GO, KUBE_RS), ["--json"])):
                floor = cluster.curl(media, pods, streamed=scenario != "cluster list")
                self.note(scenario, CURL, floor)
                for program, path in self.having(*names):
                    numbers = measure([path, "sync", "--kubeconfig", cluster.kubeconfig, "--pods", pods,
                                       *(flags if program != KUBE_RS else [])])
                    if "cpu" in numbers:
                        numbers["to_curl"] = numbers["cpu"] / floor["cpu"]
                    self.note(scenario, program, numbers)
        self.programs[CURL] = "curl"


PARTS = ("replayed", "sizes", "delivery", "samples", "served", "idle", "cluster")


def json_flag(program):
    """The flag for JSON; kube-rs needs none, because it supports nothing else."""
    return [] if program == KUBE_RS else ["--json"]


def collect(options):
    run = Run(options)
    for part in options.only.split(",") if options.only else PARTS:
        getattr(run, part)()
    return run


def number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def compare(medians, smaller, goal):
    """How kubecxx compares with client-go, and the goal with "NOT" if it is missed."""
    if KUBECXX not in medians:
        return "", ""
    factor = medians[KUBECXX] / medians[CLIENT_GO] if medians.get(CLIENT_GO) else None
    shown = ""
    if factor is not None:
        shown = f"{factor:.1f} x"
        if smaller:
            shown = f"1/{1 / factor:.1f}" if 0 < factor < 1 else f"{factor:.2f}"
    if goal is None:
        return shown, ""
    kind, value = goal
    if kind == "most":
        return shown, f"{value:g}" + ("" if medians[KUBECXX] <= value else " NOT")
    if factor is None:
        return shown, ""
    target = f"1/{1 / value:.0f}" if value < 1 else f"{value:.0f} x"
    return shown, target + ("" if (factor <= value if smaller else factor >= value) else " NOT")


def write_table(options, run):
    names = list(run.programs)
    lines = [options.facts.read_text().rstrip(), ""]
    lines.append(f"{options.pods} pods (JSON: {options.json_pods}); median of {options.rounds} rounds in turns, "
                 "and the spread (largest - smallest) in % of it")
    lines += run.remarks
    lines.append("")
    head = f"{'':<47}{'':<5}" + "".join(f"{name:>16}" for name in names)
    lines.append(head + f"{'to client-go':>14}{'goal':>10}")
    for scenario, name, what, unit, smaller, goal in ROWS:
        cells, medians = "", {}
        for program in names:
            values = run.results.get((scenario, name, program))
            if not values:
                cells += f"{'-':>16}"
                continue
            medians[program] = statistics.median(values)
            spread = (max(values) - min(values)) / medians[program] * 100 if medians[program] else 0
            cells += f"{number(medians[program]) + f' ±{spread:.0f}%':>16}"
        if not medians:
            continue
        compared, verdict = compare(medians, smaller, goal)
        lines.append(f"{what:<47}{unit:<5}{cells}{compared:>14}{verdict:>10}")
    text = "\n".join(lines) + "\n"
    (options.results / "peers.txt").write_text(text)
    print(text)


def write_charts(options, run):
    """Horizontal bars, one group for each chart, each on a scale of its own."""
    width, bar, left = 720, 22, 110
    y, parts = 16, []
    for scenario, name, title in CHARTS:
        medians = {
            program: statistics.median(run.results[scenario, name, program])
            for program in run.programs if run.results.get((scenario, name, program))
        }
        if len(medians) < 2:
            continue
        most = max(medians.values())
        parts.append(f'<text x="8" y="{y + 6}" class="title">{title}</text>')
        y += 16
        for program, value in medians.items():
            length = max(2, (width - left - 110) * value / most)
            parts.append(f'<text x="{left - 8}" y="{y + 15}" text-anchor="end">{program}</text>')
            parts.append(f'<rect x="{left}" y="{y + 2}" width="{length:.0f}" height="{bar - 6}" '
                         f'fill="{COLORS[program]}"/>')
            parts.append(f'<text x="{left + length + 6:.0f}" y="{y + 15}">{number(value)}</text>')
            y += bar
        y += 20
    style = ("text{font:12px sans-serif;fill:#374151}.title{font-weight:bold}"
             "@media(prefers-color-scheme:dark){text{fill:#e5e7eb}}")
    (options.results / "peers.svg").write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{y}" role="img" '
        f'aria-label="kubecxx beside other clients">\n<!-- SPDX-License-Identifier: Apache-2.0 -->\n'
        f"<style>{style}</style>\n" + "\n".join(parts) + "\n</svg>\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True, help="folder of a release build")
    parser.add_argument("--results", type=pathlib.Path, required=True, help="folder for the table and the charts")
    parser.add_argument("--facts", type=pathlib.Path, required=True, help="file with facts on the machine")
    parser.add_argument("--client-go", type=pathlib.Path, help="the program with client-go")
    parser.add_argument("--go-sample", type=pathlib.Path, help="the sample controller with client-go")
    parser.add_argument("--kube-rs", type=pathlib.Path, help="the program with kube-rs")
    parser.add_argument("--pods", type=int, default=20000)
    parser.add_argument("--json-pods", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", help=f"some of {','.join(PARTS)}")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the servers end as well
    run = collect(options)
    write_table(options, run)
    write_charts(options, run)


if __name__ == "__main__":
    main()
