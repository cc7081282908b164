# SPDX-License-Identifier: Apache-2.0
"""Lists of differences that are meant: regular expressions, each paragraph with its reason above it."""
import pathlib
import re
import sys


def read(path):
    """Returns the regular expressions of a list; one without a reason above it is an error."""
    known, reason = [], False
    for line in pathlib.Path(path).read_text().splitlines():
        if not line:
            reason = False
        elif line.startswith('#'):
            reason = True
        elif not reason:
            sys.exit(f'{path}: no reason is given for {line}')
        else:
            known.append(line)
    return known


def report(found, known):
    """Prints the differences that are not known, and those that are known but were not found."""
    patterns = [(text, re.compile(text)) for text in known]
    used, unknown = set(), []
    for difference in found:
        matching = [text for text, pattern in patterns if pattern.fullmatch(difference)]
        used.update(matching)
        if not matching:
            unknown.append(difference)
    for difference in unknown:
        print(f'DIFFERENT  {difference}')
    stale = [text for text in known if text not in used]
    for text in stale:
        print(f'STALE      this difference did not come up; remove it from the list: {text}')
    return not unknown and not stale
