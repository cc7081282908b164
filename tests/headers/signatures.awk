# SPDX-License-Identifier: Apache-2.0
# Prints, as file:line: text, each public declaration in the given headers that names a type of a namespace `detail`: at
# namespace scope outside of `detail`, or in the public or protected part of a class. Bodies, initialisers, template
# heads, constraints and friends are skipped, because callers do not have to write them.

function trim(text) {
  gsub(/[ \t\n]+/, " ", text)
  sub(/^ /, "", text)
  sub(/ $/, "", text)
  return text
}

# Returns `text` without the parts between `from` (a regular expression that ends with the opening character) and the
# matching closing character.
function without(text, from, open, close_,   start, at, depth, c) {
  while (match(text, from)) {
    start = RSTART
    depth = 1
    for (at = RSTART + RLENGTH; at <= length(text) && depth > 0; ++at) {
      c = substr(text, at, 1)
      if (c == open) ++depth
      if (c == close_) --depth
    }
    text = substr(text, 1, start - 1) " " substr(text, at)
  }
  return text
}

# Returns the part of a declaration that concerns users: up to the initialiser of a variable or of the members.
function signature(text,   at, c, depth, closed) {
  text = without(text, "template *<", "<", ">")
  text = without(text, "requires *\\(", "(", ")")
  sub(/requires .*/, "", text)
  if (text ~ /^using /) return text
  depth = 0
  closed = 0
  for (at = 1; at <= length(text); ++at) {
    c = substr(text, at, 1)
    if (c == "(" || c == "<") ++depth
    if (c == ")" || (c == ">" && depth > 0)) --depth
    if (c == ")" && depth == 0) closed = 1
    if (depth == 0 && c == ":" && closed && substr(text, at + 1, 1) != ":") break
    if (depth == 0 && c == "=" && substr(text, 1, at) !~ /operator ?[=<>!+*\/-]*=$/) break
  }
  return substr(text, 1, at - 1)
}

function check(   shown) {
  if (hidden[level] || checked) return
  checked = 1
  shown = signature(trim(declaration))
  if (shown ~ /^friend (class|struct) / || shown ~ /^extern template /) return
  # The promise type of a coroutine is named only by compilers.
  if (shown ~ /^ *(class|struct) ([A-Za-z_<>]*::)?promise_type /) return
  if (shown ~ /(^|[^A-Za-z_])detail::/) {
    print FILENAME ":" begin ": " shown
    found = 1
  }
}

# Returns the declaration of a class from its keyword on.
function head(text) {
  text = without(text, "template *<", "<", ">")
  text = without(text, "requires *\\(", "(", ")")
  text = without(text, "alignas *\\(", "(", ")")
  return trim(text)
}

function push(what, is_hidden) {
  ++level
  kind[level] = what
  hidden[level] = is_hidden
  whole[level] = is_hidden
}

function start_over() {
  declaration = ""
  checked = 0
}

function open_brace(   text) {
  text = trim(declaration)
  if (text ~ /requires$/) {
    push("requires", 1)
  } else if (text ~ /^(inline )?namespace/) {
    push("scope", hidden[level] || text ~ /(^|[ :])detail$/)
    start_over()
  } else if (head(text) ~ /^(class|struct|union) [^(]*$/) {
    check()
    push("class", hidden[level])
    if (head(text) ~ /^class /) hidden[level] = 1
    start_over()
  } else if (text ~ /^enum /) {
    push("body", 1)
  } else {
    check()
    push("body", 1)
  }
}

function close_brace() {
  if (kind[level] == "scope") start_over()
  # The next token decides whether this ends the declaration.
  after = kind[level] == "scope" ? "" : kind[level]
  --level
}

FNR == 1 {
  level = 0
  kind[0] = "scope"
  hidden[0] = 0
  parentheses = 0
  comment = 0
  after = ""
  start_over()
}

/^[ \t]*#/ { next }

{
  line = $0
  gsub(/\\./, "", line)
  gsub(/"[^"]*"/, "\"\"", line)
  gsub(/'[^']'/, "' '", line)
  sub(/\/\/.*/, "", line)
  for (i = 1; i <= length(line) + 1; ++i) {
    c = i <= length(line) ? substr(line, i, 1) : "\n"
    if (after != "" && c !~ /[ \t\n]/) {
      if (after == "body" && c !~ /[;,{).]/) start_over()
      after = ""
    }
    if (parentheses > 0 || kind[level] == "body" || kind[level] == "requires") {
      if (kind[level] == "body" || kind[level] == "requires") {
        if (c == "{") push(kind[level], 1)
        else if (c == "}") close_brace()
        continue
      }
    }
    if (c == "(") ++parentheses
    if (c == ")") --parentheses
    if (parentheses == 0) {
      if (c == "{") { open_brace(); continue }
      if (c == "}") { close_brace(); continue }
      if (c == ";") { check(); start_over(); continue }
      if (c == ":" && trim(declaration) ~ /^(public|protected|private)$/) {
        hidden[level] = whole[level] || trim(declaration) == "private"
        start_over()
        continue
      }
    }
    if (declaration == "" && c ~ /[ \t\n]/) continue
    if (declaration == "") begin = FNR
    declaration = declaration c
  }
}

END { exit found }
