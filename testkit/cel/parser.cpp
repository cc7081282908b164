// SPDX-License-Identifier: Apache-2.0
#include "testkit/cel/parser.hpp"

#include "testkit/cel/lexer.hpp"
#include "testkit/cel/macros.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <utility>

namespace kube::testkit::cel {

namespace {

constexpr std::size_t kLongestSource = 100'000;  // in code points
/// Maximum nesting of parentheses and other brackets.
constexpr int kDeepest = 250;
/// Maximum depth of the tree. Chains such as a + b + c are left-associative and deepen it, too.
constexpr int kDeepestTree = 251;

constexpr const char* kBeginnings =
    "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, "
    "BYTES, IDENTIFIER}";

struct SyntaxError {
  Issue issue;
};

class Parser {
 public:
  Parser(std::string_view source, std::vector<Issue>& issues) : tokens_(tokenize(source, issues)) {}

  ExprPtr run() {
    Node parsed = expression();
    if (peek().kind != TokenKind::kEnd) {
      fail(fmt::format("Syntax error: {} input '{}' expecting <EOF>",
                       ahead(1).kind == TokenKind::kEnd ? "extraneous" : "mismatched",
                       peek().text));
    }
    return std::move(parsed.expr);
  }

 private:
  /// A subtree and its depth.
  struct Node {
    ExprPtr expr;
    int depth = 1;
  };

  const Token& peek() const { return tokens_[at_]; }
  const Token& ahead(std::size_t count) const {
    return tokens_[std::min(at_ + count, tokens_.size() - 1)];
  }
  bool is(std::string_view symbol) const {
    return peek().kind == TokenKind::kSymbol && peek().text == symbol;
  }
  bool accept(std::string_view symbol) {
    if (!is(symbol)) return false;
    ++at_;
    return true;
  }
  [[noreturn]] void fail(std::string message) const {
    throw SyntaxError{{peek().at, std::move(message)}};
  }

  /// Consumes `symbol` or reports an issue. `wanted` is the expectation shown in the message.
  void expect(std::string_view symbol, std::string_view wanted = {}) {
    if (accept(symbol)) return;
    if (peek().kind == TokenKind::kEnd && symbol == ")") {
      fail("Syntax error: missing ')' at '<EOF>'");
    }
    fail(fmt::format("Syntax error: mismatched input '{}' expecting {}", peek().text,
                     wanted.empty() ? fmt::format("'{}'", symbol) : wanted));
  }

  static Node node(Expr::Kind kind, std::uint32_t at, std::string_view name = {}) {
    Node made{std::make_unique<Expr>()};
    made.expr->kind = kind;
    made.expr->at = at;
    made.expr->name = name;
    return made;
  }

  void set_target(Node& parent, Node child) {
    deepen(parent, child);
    parent.expr->target = std::move(child.expr);
  }
  void add(Node& parent, Node child) {
    deepen(parent, child);
    parent.expr->arguments.push_back(std::move(child.expr));
  }
  void deepen(Node& parent, const Node& child) const {
    parent.depth = std::max(parent.depth, child.depth + 1);
    if (parent.depth > kDeepestTree) {
      throw SyntaxError{{kNowhere, "max recursion depth exceeded"}};
    }
  }

  Node binary(const char* name, std::uint32_t at, Node left, Node right) {
    Node call = node(Expr::Kind::kCall, at, name);
    add(call, std::move(left));
    add(call, std::move(right));
    return call;
  }

  Node expression() {
    if (++depth_ > kDeepest) {
      throw SyntaxError{
          {kNowhere, fmt::format("expression recursion limit exceeded: {}", kDeepest)}};
    }
    Node condition = disjunction();
    const std::uint32_t at = peek().at;
    if (accept("?")) {
      Node call = node(Expr::Kind::kCall, at, "_?_:_");
      add(call, std::move(condition));
      add(call, disjunction());
      expect(":");
      add(call, expression());
      condition = std::move(call);
    }
    --depth_;
    return condition;
  }

  /// Parses `a || b || c` as one call with three arguments; `&&` likewise.
  Node chain(const char* name, std::string_view symbol, Node (Parser::*operand)()) {
    Node first = (this->*operand)();
    if (!is(symbol)) return first;
    Node call = node(Expr::Kind::kCall, peek().at, name);
    add(call, std::move(first));
    while (accept(symbol)) add(call, (this->*operand)());
    return call;
  }
  Node disjunction() { return chain("_||_", "||", &Parser::conjunction); }
  Node conjunction() { return chain("_&&_", "&&", &Parser::relation); }

  Node relation() {
    static constexpr std::pair<std::string_view, const char*> kOperators[] = {
        {"<", "_<_"},   {"<=", "_<=_"}, {">=", "_>=_"}, {">", "_>_"},
        {"==", "_==_"}, {"!=", "_!=_"}, {"in", "@in"}};
    return left_associative(kOperators, &Parser::sum);
  }
  Node sum() {
    static constexpr std::pair<std::string_view, const char*> kOperators[] = {{"+", "_+_"},
                                                                              {"-", "_-_"}};
    return left_associative(kOperators, &Parser::product);
  }
  Node product() {
    static constexpr std::pair<std::string_view, const char*> kOperators[] = {
        {"*", "_*_"}, {"/", "_/_"}, {"%", "_%_"}};
    return left_associative(kOperators, &Parser::unary);
  }

  template <std::size_t N>
  Node left_associative(const std::pair<std::string_view, const char*> (&operators)[N],
                        Node (Parser::*operand)()) {
    Node left = (this->*operand)();
    for (bool found = true; found;) {
      found = false;
      for (const auto& [symbol, name] : operators) {
        if (!is(symbol)) continue;
        const std::uint32_t at = tokens_[at_++].at;
        left = binary(name, at, std::move(left), (this->*operand)());
        found = true;
        break;
      }
    }
    return left;
  }

  Node unary() {
    if (!is("!") && !is("-")) return member(primary());
    const std::string symbol{peek().text};
    if (symbol == "-" &&
        (ahead(1).kind == TokenKind::kInt || ahead(1).kind == TokenKind::kDouble)) {
      ++at_;
      return member(number(true));
    }
    const std::uint32_t at = peek().at;
    std::size_t count = 0;
    while (accept(symbol)) ++count;
    Node operand = member(primary());
    if (count % 2 == 0) return operand;
    Node call = node(Expr::Kind::kCall, at, symbol == "!" ? "!_" : "-_");
    add(call, std::move(operand));
    return call;
  }

  Node member(Node base) {
    for (;;) {
      const std::uint32_t at = peek().at;
      if (accept(".")) {
        base = select(std::move(base), at);
      } else if (accept("[")) {
        const bool optional = accept("?");
        Node call = node(Expr::Kind::kCall, at, optional ? "_[?_]" : "_[_]");
        add(call, std::move(base));
        add(call, expression());
        expect("]");
        base = std::move(call);
      } else {
        return base;
      }
    }
  }

  /// Parses the selection after a '.' at offset `at`.
  Node select(Node base, std::uint32_t at) {
    if (accept("?")) {
      Node field = node(Expr::Kind::kLiteral, peek().at);
      field.expr->literal = Val::text(field_name());
      Node call = node(Expr::Kind::kCall, at, "_?._");
      add(call, std::move(base));
      add(call, std::move(field));
      return call;
    }
    const bool plain = peek().kind == TokenKind::kIdentifier;
    const std::string name = field_name();
    if (plain && is("(")) {
      Node call = node(Expr::Kind::kCall, peek().at, name);
      set_target(call, std::move(base));
      arguments(call);
      return expanded(std::move(call));
    }
    Node field = node(Expr::Kind::kSelect, at, name);
    set_target(field, std::move(base));
    return field;
  }

  std::string field_name() {
    const Token& token = peek();
    if (token.kind == TokenKind::kEscapedIdentifier) {
      fail("unsupported syntax: '`'");
    }
    if (token.kind != TokenKind::kIdentifier) {
      fail(fmt::format("Syntax error: no viable alternative at input '.{}'",
                       token.kind == TokenKind::kEnd ? "" : token.text));
    }
    ++at_;
    return std::string{token.text};
  }

  void arguments(Node& call) {
    expect("(");
    if (accept(")")) return;
    do {
      add(call, expression());
    } while (accept(","));
    expect(")");
  }

  Node expanded(Node call) {
    Issue issue;
    call.expr = expand_macro(std::move(call.expr), issue);
    if (call.expr == nullptr) throw SyntaxError{std::move(issue)};
    return call;
  }

  Node primary() {
    const Token& token = peek();
    switch (token.kind) {
      case TokenKind::kInt:
      case TokenKind::kUint:
      case TokenKind::kDouble:
        return number(false);
      case TokenKind::kString:
      case TokenKind::kBytes:
        return text();
      case TokenKind::kIdentifier:
        return identifier();
      case TokenKind::kSymbol:
        return symbol();
      default:
        unexpected();
    }
  }

  [[noreturn]] void unexpected() const {
    fail(fmt::format(
        "Syntax error: {} input '{}' expecting {}",
        peek().kind != TokenKind::kEnd && begins(ahead(1)) ? "extraneous" : "mismatched",
        peek().text, kBeginnings));
  }

  /// Returns whether `token` can begin an expression.
  static bool begins(const Token& token) {
    if (token.kind == TokenKind::kEnd || token.kind == TokenKind::kEscapedIdentifier) return false;
    if (token.kind != TokenKind::kSymbol) return true;
    static constexpr std::string_view kFirst[] = {"[", "{",    "(",     ".",   "-",
                                                  "!", "true", "false", "null"};
    return std::ranges::find(kFirst, token.text) != std::end(kFirst);
  }

  Node symbol() {
    const std::uint32_t at = peek().at;
    if (accept("(")) {
      Node inner = expression();
      expect(")");
      return inner;
    }
    if (accept("[")) return list(at);
    if (accept("{")) return map(at);
    if (is(".") && ahead(1).kind == TokenKind::kIdentifier) {
      ++at_;
      return identifier();
    }
    Node constant = node(Expr::Kind::kLiteral, at);
    if (accept("true")) {
      constant.expr->literal = true;
    } else if (accept("false")) {
      constant.expr->literal = false;
    } else if (!accept("null")) {
      unexpected();
    }
    return constant;
  }

  Node identifier() {
    const Token token = tokens_[at_++];
    if (is_reserved(token.text)) {
      throw SyntaxError{{token.at, fmt::format("reserved identifier: {}", token.text)}};
    }
    if (is("(")) {
      Node call = node(Expr::Kind::kCall, peek().at, token.text);
      arguments(call);
      return expanded(std::move(call));
    }
    if (const std::size_t brace = type_name_end(); brace != 0) return message(token, brace);
    return node(Expr::Kind::kIdent, token.at, token.text);
  }

  /// Returns the index of the '{' in `pkg.Type{`, or 0 if the input is not such a name. There is no
  /// ambiguity, because a map cannot follow an identifier.
  std::size_t type_name_end() const {
    std::size_t i = at_;
    while (tokens_[i].text == "." && tokens_[i].kind == TokenKind::kSymbol &&
           tokens_[i + 1].kind == TokenKind::kIdentifier) {
      i += 2;
    }
    return tokens_[i].kind == TokenKind::kSymbol && tokens_[i].text == "{" ? i : 0;
  }

  Node message(const Token& first, std::size_t brace) {
    std::string name{first.text};
    for (; at_ < brace; ++at_) name += tokens_[at_].text;
    Node made = node(Expr::Kind::kStruct, peek().at, name);
    expect("{");
    while (!is("}")) {
      made.expr->optional.push_back(accept("?"));
      Val key = Val::text(field_name());
      Node field = node(Expr::Kind::kLiteral, peek().at);  // issues point to the colon
      field.expr->literal = std::move(key);
      add(made, std::move(field));
      expect(":");
      add(made, expression());
      if (!accept(",")) break;
    }
    expect("}");
    return made;
  }

  Node list(std::uint32_t at) {
    Node made = node(Expr::Kind::kList, at);
    while (!is("]")) {
      made.expr->optional.push_back(accept("?"));
      add(made, expression());
      if (!accept(",")) break;
    }
    expect("]", "{']', ','}");
    return made;
  }

  Node map(std::uint32_t at) {
    Node made = node(Expr::Kind::kMap, at);
    while (!is("}")) {
      made.expr->optional.push_back(accept("?"));
      add(made, expression());
      expect(":");
      add(made, expression());
      if (!accept(",")) break;
    }
    expect("}", "{'}', ','}");
    return made;
  }

  Node text() {
    const Token token = tokens_[at_++];
    Node made = node(Expr::Kind::kLiteral, token.at);
    const bool is_bytes = token.kind == TokenKind::kBytes;
    std::string content;
    if (!unquote(token.text, is_bytes, content)) {
      throw SyntaxError{
          {token.at, fmt::format("Syntax error: token recognition error at: '{}'", token.text)}};
    }
    made.expr->literal = is_bytes ? Val::bytes(std::move(content)) : Val::text(std::move(content));
    return made;
  }

  Node number(bool negative) {
    const Token token = tokens_[at_++];
    Node made = node(Expr::Kind::kLiteral, token.at);
    std::string digits{token.text};
    if (token.kind == TokenKind::kDouble) {
      const double value = std::strtod(digits.c_str(), nullptr);
      made.expr->literal = negative ? -value : value;
      return made;
    }
    const bool is_unsigned = token.kind == TokenKind::kUint;
    if (is_unsigned) digits.pop_back();
    const bool hex = digits.starts_with("0x");
    std::uint64_t magnitude = 0;
    const char* begin = digits.data() + (hex ? 2 : 0);
    const auto [end, error] =
        std::from_chars(begin, digits.data() + digits.size(), magnitude, hex ? 16 : 10);
    const std::uint64_t most = std::uint64_t{INT64_MAX} + (negative ? 1 : 0);
    if (error != std::errc{} || (!is_unsigned && magnitude > most)) {
      throw SyntaxError{{token.at, is_unsigned ? "invalid uint literal" : "invalid int literal"}};
    }
    if (is_unsigned) {
      made.expr->literal = magnitude;
    } else {
      made.expr->literal = static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude);
    }
    return made;
  }

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

ExprPtr parse(std::string_view source, std::vector<Issue>& issues) {
  const std::size_t size = code_points(source);
  if (size > kLongestSource) {
    issues.push_back(
        {kNowhere, fmt::format("expression code point size exceeds limit: size: {}, limit {}", size,
                               kLongestSource)});
    return nullptr;
  }
  try {
    ExprPtr parsed = Parser{source, issues}.run();
    return issues.empty() ? std::move(parsed) : nullptr;
  } catch (SyntaxError& error) {
    issues.push_back(std::move(error.issue));
    return nullptr;
  }
}

}  // namespace kube::testkit::cel
