#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every relative link and anchor in the documentation leads somewhere.

Usage: links_test.py [--list] ROOT

Checks also that docs/index.md and mkdocs.yml name every page of docs and docs/guides. Looks at the Markdown files of the top folder and below docs, schema, testkit, tests, bench and examples. Prints each offence as
file:line: problem and then fails. With --list it prints the linked files that are not Markdown, for `make docs`.
"""
import pathlib
import re
import sys

LINK = re.compile(r"!?\[(?:[^\]\[]|\[[^\]]*\])*\]\(([^()\s]+(?:\([^()]*\))?)(?:\s+\"[^\"]*\")?\)")


def lines_of(page):
    """Yields (number, line) outside of code blocks, with code spans emptied."""
    fenced = False
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if re.match(r"\s*```", line):
            fenced = not fenced
        elif not fenced:
            yield number, line


def slug(heading):
    """The anchor of a heading, as GitHub makes it."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").strip().lower()
    text = re.sub(r"[^\w\- ]", "", text)
    return text.replace(" ", "-")


def anchors(page):
    found, counts = set(), {}
    for _, line in lines_of(page):
        heading = re.match(r"#{1,6}\s+(.*?)\s*#*$", line)
        if heading:
            name = slug(heading[1])
            count = counts.get(name, 0)
            counts[name] = count + 1
            found.add(name if count == 0 else f"{name}-{count}")
        found.update(re.findall(r'<a (?:id|name)="([^"]+)"', line))
    return found


def pages(root):
    yield from sorted(root.glob("*.md"))
    for folder in ("docs", "schema", "testkit", "tests", "bench", "examples"):
        yield from sorted((root / folder).rglob("*.md"))


def main(root, listing):
    problems, links, anchors_seen, linked = [], 0, 0, set()
    known = {}
    for page in pages(root):
        for number, line in lines_of(page):
            for target in LINK.findall(re.sub(r"`[^`]*`", "``", line)):
                if re.match(r"[a-z][a-z+.-]*:", target):
                    continue
                links += 1
                path, _, anchor = target.partition("#")
                place = (page.parent / path).resolve() if path else page.resolve()
                where = f"{page.relative_to(root)}:{number}"
                if not place.exists():
                    problems.append(f"{where}: the link leads nowhere: {target}")
                    continue
                if not place.is_relative_to(root):
                    problems.append(f"{where}: the link leads out of the project: {target}")
                    continue
                if place.suffix != ".md":
                    linked.add(place)
                if not anchor:
                    continue
                anchors_seen += 1
                if place.suffix != ".md":
                    problems.append(f"{where}: an anchor into what is not Markdown: {target}")
                    continue
                if place not in known:
                    known[place] = anchors(place)
                if anchor not in known[place]:
                    problems.append(f"{where}: there is no heading for the anchor: {target}")
    if listing:
        print("\n".join(str(place.relative_to(root)) for place in sorted(linked) if place.is_file()))
        return 0
    index, site = root / "docs/index.md", root / "mkdocs.yml"
    for page in sorted([*(root / "docs").glob("*.md"), *(root / "docs/guides").glob("*.md")]):
        name = page.relative_to(root / "docs").as_posix()
        if page != index and f"]({name}" not in index.read_text():
            problems.append(f"docs/index.md:1: no link to the page: {name}")
        if f" docs/{name}\n" not in site.read_text():
            problems.append(f"mkdocs.yml:1: the page is not in nav: docs/{name}")
    if links == 0 or anchors_seen == 0:
        problems.append("links_test.py: no link or no anchor found; have the pages changed their form?")
    print("\n".join(problems) or f"ok      {links} links, {anchors_seen} anchors")
    return 1 if problems else 0


if __name__ == "__main__":
    arguments = sys.argv[1:]
    listing = "--list" in arguments
    rest = [argument for argument in arguments if argument != "--list"]
    if len(rest) != 1:
        sys.exit(__doc__)
    sys.exit(main(pathlib.Path(rest[0]).resolve(), listing))
