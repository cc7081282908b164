#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what the same steps print against two servers, or with what they printed before.

  compare.py REAL OURS KNOWN        folders with a file for each step; a list of differences that are meant
  compare.py --golden FILE OURS     FILE holds what is expected; with KUBECXX_UPDATE_GOLDEN=1 it is written
  --replace TEXT=WORD               what differs from run to run by design

A difference is a line that only one server prints, written as "STEP | real: LINE" or "STEP | ours: LINE".
"""
import argparse
import difflib
import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import known  # noqa: E402

# What chance and the clock decide.
NORMAL = [(re.compile(pattern), word) for pattern, word in [
    (r'[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}', 'UID'),
    (r'\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| [+-]\d{4}( UTC)?)?', 'TIME'),
    (r'\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}', 'TIME'),
    (r'^[EIW]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ ', 'LOG '),
    (r'(resourceVersion\\?"?: ?)\\?"?\d+\\?"?', r'\1VERSION'),
    (r'(Resource Version: +)\d+', r'\1VERSION'),
    (r'\b127\.0\.0\.1:\d+', 'SERVER'),
    (r'\b10\.\d+\.\d+\.\d+\b', 'IP'),
    (r'\S*/(LIVE|MERGED)-\d+', r'\1'),  # the folders of kubectl diff
    (r'(?<![\w.=-])(\d+[dhms]){1,2}(?![\w-])', 'AGE'),
    (r'(?<=\S) {2,}', '  '),  # columns are as wide as their widest cell
    (r' +$', ''),
]]


def answers(folder, replacements):
    """Returns the lines of each step, by its name, in the order of the steps."""
    result = {}
    for path in sorted(pathlib.Path(folder).iterdir()):
        lines = []
        for line in path.read_text().splitlines():
            for text, word in replacements:
                line = line.replace(text, word)
            for pattern, word in NORMAL:
                line = pattern.sub(word, line)
            lines.append(line)
        name = path.name.split('-', 1)[1]
        if name in result:
            sys.exit(f'compare.py: two steps have the name {name}')
        if lines[0] == 'exit 124':
            sys.exit(f'compare.py: {name} did not end in time')
        result[name] = lines
    return result


def differences(real, ours, names):
    for step in real:
        for line in difflib.ndiff(real[step], ours.get(step, ['(not run)'])):
            if line[0] in '-+':
                yield f'{step} | {names[line[0]]}: {line[2:]}'
    for step in ours.keys() - real.keys():
        yield f'{step} | only run against one'


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('arguments', nargs='+')
    parser.add_argument('--golden')
    parser.add_argument('--replace', action='append', default=[])
    options = parser.parse_args()
    replacements = [tuple(text.split('=', 1)) for text in options.replace]
    if options.golden:
        golden = pathlib.Path(options.golden)
        ours = answers(options.arguments[0], replacements)
        text = ''.join('== ' + step + '\n' + ''.join(line + '\n' for line in lines) for step, lines in ours.items())
        if os.environ.get('KUBECXX_UPDATE_GOLDEN'):
            golden.write_text('# SPDX-License-Identifier: Apache-2.0\n' + text)
        expected, step = {}, None
        for line in golden.read_text().splitlines()[1:]:
            if line.startswith('== '):
                step = line[3:]
                expected[step] = []
            else:
                expected[step].append(line)
        fine = known.report(list(differences(expected, ours, {'-': 'expected', '+': 'ours'})), [])
    else:
        real, ours = (answers(folder, replacements) for folder in options.arguments[:2])
        found = list(differences(real, ours, {'-': 'real', '+': 'ours'}))
        fine = known.report(found, known.read(options.arguments[2]))
        print(f'{len(real)} steps, {len(found)} lines differ')
    sys.exit(0 if fine else 1)


main()
