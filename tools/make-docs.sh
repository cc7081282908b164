#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the documentation: the pages as a site (mkdocs) and the reference of the public headers (doxygen). Needs both
# programs; `make docs` installs them. Fails if a link is broken or a public type has no comment. The site is
# build/docs/site/index.html.
#
# Usage: make-docs.sh   (in the top folder of the project)
set -eu

out=build/docs
rm -rf "$out"
mkdir -p "$out/pages" "$out/doxygen"

# The pages and all files that they link to, in the tree of the project.
python3 tests/docs/links_test.py .
{
  find . -name '*.md' -not -path './build*' -not -path './.*/*'
  python3 tests/docs/links_test.py --list .
  echo docs/site.css
} | while read -r file; do
  mkdir -p "$out/pages/$(dirname "$file")"
  cp "$file" "$out/pages/$file"
done
# Editors and forges do not show the comment with the license, mkdocs takes it for the first paragraph.
find "$out/pages" -name '*.md' -exec sed -i '1{/^<!-- SPDX/d}' {} +

mkdocs build --quiet 2>"$out/mkdocs.txt" || { cat "$out/mkdocs.txt" >&2; exit 1; }
# The reference is added below, so mkdocs cannot know it.
if grep -E 'WARNING|ERROR' "$out/mkdocs.txt" | grep -v "'api/index.html'" >&2; then exit 1; fi

doxygen docs/Doxyfile
mv "$out/doxygen/html" "$out/site/api"
if grep -rlE '(src|href)="https?://[^"]*\.(js|css)"' "$out/site" --include='*.html' >&2; then
  echo "make-docs.sh: these pages load something from the network" >&2
  exit 1
fi

warnings=$out/doxygen/warnings.txt
echo "$out/site/index.html: $(find "$out/site" -name '*.html' | wc -l) pages"
echo "warnings of doxygen: $(grep -c 'warning: ' "$warnings" || true) (see $warnings)"
python3 tests/docs/comments_test.py --list .
