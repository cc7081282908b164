#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the public headers document what they declare.

Usage: comments_test.py [--list] ROOT

Reads include and testkit/include. Every public type, alias and concept needs a `///` comment; the test prints those without
one as file:line: problem and fails. It also counts the functions, constants and fields that need a comment and have none;
--list prints them. These need none, because name and type say it all:

- members that the language or the standard library defines: destructors, operators, begin(), size(), value_type and so on;
  overridden functions;
- constructors with at most one parameter: copies, moves and conversions;
- accessors: const functions without parameters that return something; predicates (is_..., has_...) of one thing;
- overloads of a documented function, and fields of types that are not options: the comment of the type covers them.

Namespaces called detail are not public. The headers are read with a small parser that relies on their clang-format style.
"""
import pathlib
import re
import sys

STANDARD = set(
    """begin end cbegin cend rbegin rend size empty clear front back push_back emplace_back pop_back insert erase find contains
    at data reserve resize swap get reset what count value_type key_type mapped_type size_type difference_type reference
    const_reference pointer const_pointer iterator const_iterator iterator_category iterator_concept promise_type
    is_transparent await_ready await_suspend await_resume get_return_object""".split())
ALIAS = re.compile(r"(?:using|concept)\s+(\w+)\s*=|typedef\s+.*?\(?\*?(\w+)\)?\s*(?:\(.*\))?$", re.S)
TYPE = re.compile(r"(class|struct|union|enum class|enum)\s+(?:alignas\(\w+\)\s*)?([\w:]+)(.*)$", re.S)


class Source:
    """A header with strings, plain comments and preprocessor lines blanked out, and the lines of its `///` comments."""

    def __init__(self, text):
        self.above, self.beside = set(), set()  # lines that are a comment; lines that end in one
        out, i, line, bare = [], 0, 1, True
        while i < len(text):
            char = text[i]
            end = i + 1
            if text.startswith("//", i):
                end = text.find("\n", i)
                if text.startswith("///", i):
                    (self.above if bare and text[i + 3 : i + 4] != "<" else self.beside).add(line)
            elif text.startswith("/*", i):
                end = text.find("*/", i) + 2
                if text.startswith("/**", i):
                    beside = text.startswith("/**<", i)
                    (self.beside if beside else self.above).update(range(line, line + text.count("\n", i, end) + 1))
            elif char == "#" and bare:
                end = re.compile(r"(?:\\\n|[^\n])*").match(text, i).end()
            elif char == "'" and i and text[i - 1].isalnum():
                pass  # a digit separator
            elif char in "\"'":
                while text[end] != char:
                    end += 2 if text[end] == "\\" else 1
                end += 1
            else:
                bare = char == "\n" or (bare and char == " ")
                out.append(char)
                line += char == "\n"
                i = end
                continue
            piece = text[i:end]
            out.append(re.sub(r"[^\n]", " " if piece[0] in "/#" else "S", piece))
            line += piece.count("\n")
            bare = bare and piece[0] in "/#"
            i = end
        self.code = "".join(out)

    def line(self, position):
        return self.code.count("\n", 0, position) + 1

    def has_comment(self, first, last):
        return first - 1 in self.above or bool(self.beside & {first, last})


def end_of_block(code, position):
    """The position after the brace that closes the one at `position`."""
    depth = 0
    while True:
        depth += {"{": 1, "}": -1}.get(code[position], 0)
        position += 1
        if depth == 0:
            return position


def flat(text):
    """The declaration without the content of its parentheses and template arguments, and without operator symbols."""
    text = re.sub(r"operator\s*(\(\)|[^\s\w(]+)", "operator", text)
    out, depth = [], 0
    for i, char in enumerate(text):
        opens = char == "(" or (char == "<" and re.search(r"(\w|template )$", text[:i]) is not None)
        closes = char == ")" or (char == ">" and depth > 0 and text[i - 1] not in "-=")
        depth -= closes
        if depth == 0:
            out.append(char)
        depth += opens
    return "".join(out)


def declarations(source, begin, end):
    """Yields (text before the body, first and last line, body or None) for each declaration between two positions."""
    code, start, depth, i = source.code, None, 0, begin
    while i < end:
        char = code[i]
        if start is None:
            if not char.isspace() and char != ";":
                start = i
        if start is not None:
            label = start == i and re.compile(r"(public|private|protected)\s*:(?!:)").match(code, i)
            if label:
                yield label[1] + ":", 0, 0, None
                start, i = None, label.end()
                continue
            depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(char, 0)
            text = code[start:i]
            if char == ";" and depth == 0:
                yield text, source.line(start), source.line(i), None
                start = None
            elif char == "{":
                after = end_of_block(code, i)
                in_head = re.search(r"requires(\([^()]*\))?\s*$", text) is not None
                initial = depth or in_head or not code[i - 1].isspace() or "=" in flat(text)
                if text == "":
                    start = None  # the body after a requires-expression
                elif not initial:
                    yield text, source.line(start), source.line(i), (i + 1, after - 1)
                    start = None
                i = after
                continue
        i += 1


def without_template(text):
    """The declaration without attributes, template<...> and requires(...) before it."""
    text = re.sub(r"\[\[[^\]]*\]\]", " ", text).strip()
    while match := re.match(r"template\s*<", text):
        depth, i = 0, match.end() - 1
        while True:
            depth += {"<": 1, ">": -1}.get(text[i], 0) if text[i - 1 : i + 1] != "->" else 0
            i += 1
            if depth == 0:
                break
        text = text[i:].strip()
        if requires := re.match(r"requires\s*", text):
            depth, i = 0, requires.end()
            while depth or text[i] == "(":
                depth += {"(": 1, ")": -1}.get(text[i], 0)
                i += 1
            text = text[i:].strip()
            kind = re.search(r"\b(class|struct) \w+", text)
            if kind and "(" not in flat(text):
                text = text[kind.start() :]
    return text


def name_and_parameters(text):
    """Of a function: its name and what is between its parentheses. None for a field or constant."""
    plain = flat(re.sub(r"\b(alignas|noexcept|explicit|requires|decltype)\([^()]*\)", "", text))
    if re.search(r"\boperator\b[^()]*\(\)", plain):
        return "operator", ""
    match = re.search(r"(~?\w+)\(\)", plain)
    if match is None or "=" in plain[: match.start()]:
        return None
    begin = re.search(rf"(?<!\w){re.escape(match[1])}\s*\(", text).end()
    depth, i = 1, begin
    while depth:
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        i += 1
    return match[1], text[begin : i - 1].strip()


class Report:
    """Public types and members, and those without a comment."""

    def __init__(self):
        self.types, self.missing_types = 0, []
        self.members, self.missing_members = 0, []

    def type(self, place, name, commented):
        self.types += 1
        if not commented:
            self.missing_types.append(f"{place}: no comment above the type {name}")

    def member(self, place, name, commented):
        self.members += 1
        if not commented:
            self.missing_members.append(f"{place}: no comment above {name}")

    def scan(self, source, path, begin, end, owner="", hidden=False):
        """Adds the declarations between two positions. `owner` is the enclosing type with "::", empty in a namespace."""
        documented = set()  # functions with a comment, whose overloads need none
        for text, first, last, body in declarations(source, begin, end):
            if first == 0:
                hidden = text != "public:"
                continue
            plain = without_template(text)
            if match := re.match(r"(?:inline )?namespace\s*([\w:]*)|extern\s+S+", plain):
                names = (match[1] or "").split("::")
                if body and "detail" not in names and names[0] != "std":
                    self.scan(source, path, *body)
                continue
            if hidden or re.match(r"friend\b|static_assert\b|using namespace\b|extern template\b|\w+$", plain):
                continue
            place, commented = f"{path}:{first}", source.has_comment(first, last)
            if body and (kind := TYPE.match(re.sub(r"^typedef ", "", plain))):
                if kind[2].startswith(("TypeOf", "std::")):
                    continue  # specialisations, which only describe a type to other code
                self.type(place, owner + kind[2], commented or kind[2] in STANDARD)
                if not kind[1].startswith("enum"):
                    self.scan(source, path, *body, kind[2] + "::", kind[1] == "class")
            elif alias := ALIAS.match(plain):
                name = alias[1] or alias[2]
                if owner == "":
                    self.type(place, name, commented)
                elif name not in STANDARD:
                    self.member(place, owner + name, commented)
            elif re.match(r"using\b|(class|struct|enum)\b[^(]*$", plain):
                continue  # inherited members and forward declarations
            elif (function := name_and_parameters(plain)) is None:
                name = re.split(r"\s*[={\[]", plain)[0].split()[-1]
                if "::" in name or name in STANDARD:
                    continue  # the definition of a static member; the size of a C struct
                if commented or owner == "" or owner.lower().endswith("options::") or plain.startswith("static"):
                    self.member(place, owner + name, commented)
            else:
                name, parameters = function
                if commented:
                    documented.add(name)
                if commented or not (name in documented or self.explains_itself(plain, name, parameters, owner)):
                    self.member(place, f"{owner}{name}()", commented)

    @staticmethod
    def explains_itself(plain, name, parameters, owner):
        if name in STANDARD or name == "operator" or name.startswith("~") or name.endswith("_free"):
            return True
        if re.search(r"\boverride\b|=\s*(default|delete)\s*$", plain):
            return True
        if owner == name + "::" or re.match(r"(inline |constexpr )*bool (is|has)_", plain):
            return "," not in flat(parameters)
        return parameters == "" and re.search(r"\)\s*const\b", plain) and not plain.startswith("void ")


def main(root, listing):
    report = Report()
    for folder in ("include", "testkit/include"):
        for path in sorted([*(root / folder).rglob("*.hpp"), *(root / folder).rglob("*.h")]):
            source = Source(path.read_text())
            report.scan(source, path.relative_to(root), 0, len(source.code))
    problems = report.missing_types
    if report.types < 300 or report.members < 1000:
        problems.append("comments_test.py:1: too few declarations found; have the headers changed their form?")
    if listing:
        print("\n".join(report.missing_members))
    for problem in problems:
        print(problem)
    print(f"{'failed' if problems else 'ok':7} public types without a comment: {len(report.missing_types)} of {report.types};"
          f" members: {len(report.missing_members)} of {report.members}")
    return 1 if problems else 0


if __name__ == "__main__":
    arguments = sys.argv[1:]
    rest = [argument for argument in arguments if argument != "--list"]
    if len(rest) != 1:
        sys.exit(__doc__)
    sys.exit(main(pathlib.Path(rest[0]).resolve(), "--list" in arguments))
