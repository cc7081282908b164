#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that docs/guides/troubleshoot.md quotes messages that the library has.

Usage: messages_test.py ROOT

A code span with a space in it that is the first thing in a row of a table is a message. Words in capitals and "..." stand for
other text. Messages that come from an API server are listed below.
"""
import pathlib
import re
import sys

FROM_SERVER = {"is forbidden", "the server could not find the requested resource"}


def literals(root):
    """All string literals of the sources, those that follow each other joined."""
    text = ""
    for folder in ("src", "include"):
        for file in sorted((root / folder).rglob("*.?pp")):
            text += re.sub(r'"\s*\n\s*"', "", file.read_text())
    return text.replace('\\"', '"').replace("{}", "x").replace("{:.3f}", "x")


def main(root):
    page = root / "docs/guides/troubleshoot.md"
    sources = literals(root)
    checked, problems = 0, []
    for number, line in enumerate(page.read_text().splitlines(), 1):
        for message in re.findall(r"^\| `([^`]* [^`]*)`", line):
            for piece in re.split(r"\.\.\.|\b[A-Z]{2,}\b|\"x\"|\"y\"", message):
                piece = piece.strip(" :.,()")
                if " " not in piece or piece in FROM_SERVER:
                    continue
                checked += 1
                if piece not in sources:
                    problems.append(f"{page.relative_to(root)}:{number}: no source has the message: {piece}")
    if checked < 10:
        problems.append(f"{page.relative_to(root)}:1: only {checked} messages found; has the table changed its form?")
    print("\n".join(problems) or f"ok      {checked} messages")
    return 1 if problems else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(pathlib.Path(sys.argv[1])))
