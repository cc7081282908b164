#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Follows docs/getting-started.md line by line: writes its files, runs its commands, waits for the output that it shows.

Usage: getting_started_test.py ROOT BUILD WORK CXX

ROOT is the top folder of the project, BUILD a build tree, WORK a folder for the test. The command `make install` installs
BUILD instead of building another one. Comments in the page say what a block is:
    <!-- test: file NAME -->      the content of a file
    <!-- test: terminal NAME -->  a command that runs on in a terminal of its own
    <!-- test: expect NAME -->    lines that this terminal shows; without NAME, those of the last command, which is
                                  repeated until it shows them
"""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

DEADLINE = 60  # seconds, for one line of output


def fail(message, log=""):
    print(f"FAILED  {message}\n{log}")
    sys.exit(1)


def blocks(page):
    """Yields (line, language, mark, text) of each fenced block; mark is the text of the comment above it."""
    mark, fence, text, start = "", None, [], 0
    for number, line in enumerate(page.splitlines(), 1):
        if fence is None:
            comment = re.fullmatch(r"<!-- test: (.*) -->", line)
            if comment:
                mark = comment[1]
            elif line.startswith("```"):
                fence, text, start = line[3:], [], number
            elif line:
                mark = ""
        elif line == "```":
            yield start, fence, mark, "\n".join(text) + "\n"
            mark, fence = "", None
        else:
            text.append(line)


class Terminal:
    def __init__(self, command, env, folder, log):
        self.log = log
        self.seen = 0  # characters of the log that earlier blocks have shown
        with open(log, "w") as output:
            self.process = subprocess.Popen(["sh", "-ec", "exec env " + command], env=env, cwd=folder, stdout=output,
                                            stderr=subprocess.STDOUT)

    def wait_for(self, line, where):
        end = time.monotonic() + DEADLINE
        while True:
            text = self.log.read_text()
            at = text.find(line, self.seen)
            if at >= 0:
                self.seen = at + len(line)
                return
            if self.process.poll() is not None or time.monotonic() > end:
                fail(f"{where}: not shown: {line}", text)
            time.sleep(0.02)

    def end(self, name):
        self.process.send_signal(signal.SIGINT)
        if self.process.wait(DEADLINE) != 0:
            fail(f"{name} ends with status {self.process.returncode} after Ctrl-C", self.log.read_text())


class Shell:
    """Runs commands one after the other. The folder is kept from one to the next."""

    def __init__(self, env, folder, work):
        self.env, self.folder, self.work = env, folder, work
        self.commands, self.where, self.output = "", "", ""

    def run(self, commands, where):
        self.commands, self.where = commands, where
        kept = self.work / "folder"
        done = subprocess.run(["sh", "-ec", f'{commands}pwd >"{kept}"'], env=self.env, cwd=self.folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.output = done.stdout
        if done.returncode != 0:
            fail(f"{where}: status {done.returncode}: {commands}", self.output[-4000:])
        self.folder = pathlib.Path(kept.read_text().strip())

    def wait_for(self, line, where):
        end = time.monotonic() + DEADLINE
        while line not in self.output:
            if time.monotonic() > end:
                fail(f"{where}: not shown: {line}", self.output)
            time.sleep(0.05)
            self.run(self.commands, self.where)


def main(root, build, work, cxx):
    page = root / "docs/getting-started.md"
    shutil.rmtree(work, ignore_errors=True)
    (work / "bin").mkdir(parents=True)
    make = work / "bin/make"
    make.write_text('#!/bin/sh\n[ "$1" = install ] || exit 2\n'
                    f'exec cmake --install "{build}" --prefix "${{2#PREFIX=}}"\n')
    make.chmod(0o755)
    env = {**os.environ, "HOME": str(work), "CXX": cxx, "PATH": f"{work}/bin:{os.environ['PATH']}"}
    env.pop("KUBECONFIG", None)
    shell, terminals, counts = Shell(env, root, work), {}, {"file": 0, "sh": 0, "terminal": 0, "expect": 0}
    try:
        for line, language, mark, text in blocks(page.read_text()):
            where = f"{page}:{line}"
            kind, _, name = mark.partition(" ")
            counts[kind or language] = counts.get(kind or language, 0) + 1
            if kind == "file":
                if text not in (root / "examples/getting_started" / name).read_text():
                    fail(f"{where}: {name} differs from examples/getting_started/{name}")
                (shell.folder / name).write_text(text)
            elif kind == "terminal":
                terminals[name] = Terminal(text.strip(), env, shell.folder, work / f"{name}.log")
            elif kind == "expect":
                for wanted in text.splitlines():
                    (terminals[name] if name else shell).wait_for(wanted, where)
            elif language == "sh":
                shell.run(text, where)
            else:
                fail(f"{where}: a block of {language} that this test does not understand")
        for name in reversed(list(terminals)):
            terminals.pop(name).end(name)
    finally:
        for terminal in terminals.values():
            terminal.process.kill()
    if min(counts.values()) == 0:
        fail(f"{page}: a kind of block is missing: {counts}")
    shutil.rmtree(work)
    print(f"ok      {page.name}: {counts}")


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3]), sys.argv[4])
