#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares how the specs of foreign test suites end against two servers.

  compare_specs.py REAL OURS KNOWN
  compare_specs.py FOLDER           only shows the specs that fail

REAL and OURS are folders with a pair of files for each suite: SUITE.json, the report of Ginkgo, and SUITE.log, what the
test program printed. KNOWN lists the specs that pass only on the real server, as regular expressions for "SUITE | SPEC".
Specs that fail on the real server are not compared: they need what it has not here, such as nodes.
"""
import json
import pathlib
import re
import sys

import known

RAN = {'passed', 'failed', 'timedout', 'panicked', 'interrupted', 'aborted'}


def specs(folder, suite):
    """Returns whether each spec of a suite has passed, by name."""
    result = {}

    def add(name, passed):
        count = 1
        unique = name
        while unique in result:  # the entries of a table may have one name
            count += 1
            unique = f'{name} #{count}'
        result[unique] = passed

    report = pathlib.Path(folder, suite + '.json')
    if report.exists():
        for part in json.loads(report.read_text()):
            for spec in part['SpecReports'] or []:
                texts = (spec.get('ContainerHierarchyTexts') or []) + [spec['LeafNodeText']]
                # The setup of a suite counts only if it fails, because then nothing else has run.
                if spec['State'] in RAN and (spec['LeafNodeType'] == 'It' or spec['State'] != 'passed'):
                    add(' '.join(texts) if texts != [''] else spec['LeafNodeType'], spec['State'] == 'passed')
    log = pathlib.Path(folder, suite + '.log')
    if log.exists():
        # Tests beside Ginkgo. That of Ginkgo itself is counted by its specs, unless it has written no report.
        for line in log.read_text(errors='replace').splitlines():
            match = re.match(r' *--- (PASS|FAIL): (\S+)', line)
            if match and not (report.exists() and is_runner(log, match[2])):
                add(match[2], match[1] == 'PASS')
    return result


def is_runner(log, name):
    """Whether a Go test is the one that runs the specs of Ginkgo."""
    text = log.read_text(errors='replace')
    start = text.find(f'=== RUN   {name}\n')
    end = text.find('=== RUN', start + 1)
    return start >= 0 and 'Running Suite: ' in text[start:end if end > 0 else len(text)]


def suites_in(folder):
    return sorted({path.stem for path in pathlib.Path(folder).iterdir()})


def show(folder):
    for suite in suites_in(folder):
        result = specs(folder, suite)
        for name in result:
            if not result[name]:
                print(f'FAILS  {suite} | {name}')
        print(f'{suite}: {sum(result.values())} of {len(result)}')


def compare(real_folder, ours_folder, list_of_known):
    """Prints what differs and a table. Returns whether all differences are known."""
    found, rows = [], []
    for suite in suites_in(real_folder):
        real, ours = specs(real_folder, suite), specs(ours_folder, suite)
        passed = [name for name in real if real[name]]
        found += [f'{suite} | {name}' for name in passed if not ours.get(name)]
        rows.append((suite, len(passed), len(real), sum(ours.values()), len(ours)))
        for name in real:
            if not real[name]:
                print(f'FAILS ON THE REAL SERVER  {suite} | {name}' + ('' if ours.get(name) else ', and on ours'))
    fine = known.report(found, known.read(list_of_known))
    print('| suite | real | ours |\n|---|---|---|')
    for suite, real_passed, real_all, ours_passed, ours_all in rows:
        print(f'| {suite} | {real_passed} of {real_all} | {ours_passed} of {ours_all} |')
    if not any(row[1] for row in rows):
        sys.exit('compare_specs.py: nothing has passed on the real server')
    return fine


def main():
    if len(sys.argv) == 2:
        show(sys.argv[1])
    elif not compare(*sys.argv[1:]):
        sys.exit(1)


main()
