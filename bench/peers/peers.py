#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the scenarios of several programs in turns, and writes medians, spreads, ratios and charts.

Called by run.sh, which builds the programs."""

import argparse
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

KUBECXX = "kubecxx"
CLIENT_GO = "client-go"
KUBE_RS = "kube-rs"

SIZES = (1000, 100000)  # of further syncs
SECONDS_TO_SETTLE = 3  # of a sample controller

# Scenario, number, what it is, unit, smaller is better, the part of client-go's that is the goal (or None).
ROWS = [
    ("sync", "settled", "memory of the cache, settled", "MB", True, 1 / 5),
    ("sync", "settled_freed", "... when told to give back all it can", "MB", True, None),
    ("sync", "peak", "memory of the cache, peak of the sync", "MB", True, 1 / 5),
    ("sync", "cpu", "CPU of the sync, per pod", "us", True, 1 / 4),
    ("sync", "wall", "time of the sync", "s", True, None),
    ("sync 1000", "settled", "1,000 pods: memory, settled", "MB", True, None),
    ("sync 1000", "cpu", "1,000 pods: CPU of the sync, per pod", "us", True, None),
    ("sync 100000", "settled", "100,000 pods: memory, settled", "MB", True, None),
    ("sync 100000", "peak", "100,000 pods: memory, peak of the sync", "MB", True, None),
    ("sync 100000", "cpu", "100,000 pods: CPU of the sync, per pod", "us", True, None),
    ("storm", "rate", "watch events per second and core", "1/s", False, 5),
    ("storm", "peak_mb", "memory during a storm of updates, peak", "MB", True, None),
    ("relist", "cpu", "CPU of a relist, per pod", "us", True, None),
    ("relist", "peak_mb", "memory during a relist, peak", "MB", True, None),
    ("reads", "find", "lister: get by key", "ns", True, None),
    ("reads", "select50", "lister: 50 pods by label", "us", True, 1 / 50),
    ("reads", "list", "lister: all pods", "us", True, None),
    ("json", "settled", "JSON: memory of the cache, settled", "MB", True, None),
    ("json", "peak", "JSON: memory of the cache, peak of the sync", "MB", True, None),
    ("json", "cpu", "JSON: CPU of the sync, per pod", "us", True, None),
    ("latency", "median", "from a PATCH to the handler, median", "us", True, None),
    ("latency", "p99", "from a PATCH to the handler, p99", "us", True, None),
    ("idle", "settled", "50 idle informers: memory", "MB", True, None),
    ("idle", "cpu", "50 idle informers: CPU in 10 s", "us", True, None),
    ("idle", "sleeps", "50 idle informers: wake-ups in 10 s", "", True, None),
    ("sample", "memory", "sample controller at rest: memory", "MB", True, 1 / 3),
    ("sample", "memory_tls", "sample controller at rest, TLS: memory", "MB", True, 1 / 3),
    ("sample", "size", "sample controller: stripped program", "MB", True, None),
]
CHARTS = [
    ("sync", "settled", "Memory of the pod cache (MB)"),
    ("sync", "cpu", "CPU of the initial sync, per pod (us)"),
    ("storm", "rate", "Watch events per second and core"),
    ("reads", "select50", "List 50 pods by label (us)"),
    ("idle", "settled", "50 idle informers: memory (MB)"),
    ("sample", "memory_tls", "Sample controller at rest, TLS: memory (MB)"),
]
COLORS = {KUBECXX: "#2563eb", CLIENT_GO: "#9ca3af", KUBE_RS: "#d97706"}


class Server:
    """A server of bench/informers that lives as long as this."""

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


def measure(command):
    """One run; the numbers that it prints, or none if it fails."""
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
    """Resident memory in MB of a sample controller that has nothing to do."""
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


def collect_samples(options, note):
    """The sample controllers, each stripped."""
    samples = {KUBECXX: options.build / "examples/sample_controller/sample_controller"}
    if options.go_sample:
        samples[CLIENT_GO] = options.go_sample
    server = options.build / "tools/kubecxx/kubecxx"
    crd = pathlib.Path(__file__).parent / "../../examples/sample_controller/crd.yaml"
    with tempfile.TemporaryDirectory() as folder:
        for program, path in samples.items():
            stripped = pathlib.Path(folder) / program
            shutil.copy(path, stripped)
            subprocess.run(["strip", stripped], check=True)
            for _ in range(options.rounds):
                note("sample", program, {
                    "memory": measure_sample(stripped, server, crd, []),
                    "memory_tls": measure_sample(stripped, server, crd, ["--tls"]),
                    "size": stripped.stat().st_size / 1e6,
                })


def collect(options):
    programs = {KUBECXX: options.build / "bench/informers/informers_bench"}
    server = options.build / "bench/informers/informers_server"
    for name, path in ((CLIENT_GO, options.client_go), (KUBE_RS, options.kube_rs)):
        if path:
            programs[name] = path
    results = {}  # (scenario, number, program) -> values of all rounds

    def note(scenario, program, numbers):
        for name, value in numbers.items():
            results.setdefault((scenario, name, program), []).append(value)
        shown = " ".join(f"{name} {value:.4g}" for name, value in numbers.items())
        print(f"  {scenario} {program}: {shown}", file=sys.stderr, flush=True)

    with Server(server, "replay", options.pods) as url:
        for number in range(options.rounds):
            print(f"round {number + 1} of {options.rounds}", file=sys.stderr)
            for scenario in ("sync", "storm", "relist", "reads"):
                for program in (KUBECXX, CLIENT_GO):
                    if program in programs:
                        note(scenario, program, measure(
                            [programs[program], scenario, f"--pods={options.pods}", f"--url={url}"]))
    for size in SIZES:
        with Server(server, "replay", size) as url:
            for _ in range(options.rounds):
                for program in (KUBECXX, CLIENT_GO):
                    if program in programs:
                        note(f"sync {size}", program, measure(
                            [programs[program], "sync", f"--pods={size}", f"--url={url}"]))
    collect_samples(options, note)
    with Server(server, "serve", options.json_pods // 2) as url:
        for number in range(options.rounds):
            print(f"round {number + 1} of {options.rounds}, API server", file=sys.stderr)
            for program, path in programs.items():
                where = ["--url", url, "--pods", options.json_pods]
                as_json = [] if program == KUBE_RS else ["--json"]
                note("json", program, measure([path, "sync", *where, *as_json]))
                note("idle", program, measure([path, "idle", *where]))
                if program != KUBE_RS:
                    small = ["--small"] if program == KUBECXX else []
                    note("latency", program, measure([path, "latency", *where, *small]))
    return programs, results


def number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def write_table(options, programs, results):
    names = list(programs)
    lines = [options.facts.read_text().rstrip(), ""]
    lines.append(f"{options.pods} pods (JSON: {options.json_pods}); median of {options.rounds} rounds in turns, "
                 "and the spread (largest - smallest) in % of it")
    lines.append("")
    head = f"{'':<44}{'':<5}" + "".join(f"{name:>16}" for name in names)
    lines.append(head + f"{'to client-go':>14}{'goal':>8}")
    for scenario, name, what, unit, smaller, goal in ROWS:
        cells, medians = "", {}
        for program in names:
            values = results.get((scenario, name, program))
            if not values:
                cells += f"{'-':>16}"
                continue
            medians[program] = statistics.median(values)
            spread = (max(values) - min(values)) / medians[program] * 100 if medians[program] else 0
            cells += f"{number(medians[program]) + f' ±{spread:.0f}%':>16}"
        if not medians:
            continue
        ratio, verdict = "", ""
        if KUBECXX in medians and medians.get(CLIENT_GO):
            factor = medians[KUBECXX] / medians[CLIENT_GO]
            if smaller:
                ratio = f"1/{1 / factor:.1f}" if 0 < factor < 1 else f"{factor:.2f}"
            else:
                ratio = f"{factor:.1f} x"
            if goal:
                target = f"1/{1 / goal:.0f}" if goal < 1 else f"{goal:.0f} x"
                met = factor <= goal if smaller else factor >= goal
                verdict = target + ("" if met else " NOT")
        lines.append(f"{what:<44}{unit:<5}{cells}{ratio:>14}{verdict:>8}")
    text = "\n".join(lines) + "\n"
    (options.results / "peers.txt").write_text(text)
    print(text)


def write_charts(options, programs, results):
    """Horizontal bars, one group for each chart, each on a scale of its own."""
    width, bar, left = 720, 22, 110
    y, parts = 16, []
    for scenario, name, title in CHARTS:
        medians = {
            program: statistics.median(results[scenario, name, program])
            for program in programs if results.get((scenario, name, program))
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
    options = parser.parse_args()
    programs, results = collect(options)
    write_table(options, programs, results)
    write_charts(options, programs, results)


if __name__ == "__main__":
    main()
