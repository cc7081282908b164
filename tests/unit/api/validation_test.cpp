// SPDX-License-Identifier: Apache-2.0
#include "kube/api/validation.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

namespace kube::validation {
namespace {

std::string repeat(char c, std::size_t count) { return std::string(count, c); }

TEST(Dns1123Label, AcceptsLowerCaseLettersDigitsAndInnerDashes) {
  for (const std::string_view text : {"a", "0", "ab", "a1", "1a", "a-b", "a--b", "0-0", "web-0"}) {
    EXPECT_EQ(dns1123_label_problem(text), "") << text;
    EXPECT_TRUE(is_dns1123_label(text)) << text;
  }
  EXPECT_TRUE(is_dns1123_label(repeat('a', 63)));
}

TEST(Dns1123Label, RejectsEverythingElse) {
  for (const std::string_view text : {"", "-", "a-", "-a", "A", "a_b", "a b", " a", "a ", "a\n",
                                      "\xC3\xA4", "a/b", "a.b", ".", "a."}) {
    EXPECT_NE(dns1123_label_problem(text), "") << text;
    EXPECT_FALSE(is_dns1123_label(text)) << text;
  }
  EXPECT_FALSE(is_dns1123_label(repeat('a', 64)));
  EXPECT_FALSE(is_dns1123_label(std::string_view("a\0", 2)));
}

TEST(Dns1123Label, ExplainsTheProblem) {
  EXPECT_EQ(dns1123_label_problem(""), "must not be empty");
  EXPECT_EQ(dns1123_label_problem(repeat('a', 64)), "must be no more than 63 bytes");
  EXPECT_EQ(dns1123_label_problem("a.b"), "must not contain dots");
  EXPECT_EQ(dns1123_label_problem("A"),
            "must have only lower-case letters, digits and '-', with a letter or digit at both "
            "ends");
}

TEST(Dns1123Subdomain, AcceptsLabelsJoinedByDots) {
  for (const std::string_view text : {"a", "a.b", "0.1", "k8s.io", "my-app.v1.example.com"}) {
    EXPECT_EQ(dns1123_subdomain_problem(text), "") << text;
    EXPECT_TRUE(is_dns1123_subdomain(text)) << text;
  }
  EXPECT_TRUE(is_dns1123_subdomain(repeat('a', 253)));
}

TEST(Dns1123Subdomain, RejectsEmptyOrMisshapenLabels) {
  for (const std::string_view text :
       {"", ".", "a.", ".a", "a..b", "a.-b", "a-.b", "A.b", "a_b.c", "a b.c", "a.b\n"}) {
    EXPECT_NE(dns1123_subdomain_problem(text), "") << text;
    EXPECT_FALSE(is_dns1123_subdomain(text)) << text;
  }
  EXPECT_FALSE(is_dns1123_subdomain(repeat('a', 254)));
}

TEST(Dns1035Label, StartsWithALetter) {
  EXPECT_TRUE(is_dns1035_label("a"));
  EXPECT_TRUE(is_dns1035_label("a1-2"));
  EXPECT_TRUE(is_dns1035_label(repeat('a', 63)));
  for (const std::string_view text : {"", "1", "1a", "-a", "a-", "A", "a.b"}) {
    EXPECT_FALSE(is_dns1035_label(text)) << text;
  }
  EXPECT_FALSE(is_dns1035_label(repeat('a', 64)));
}

TEST(QualifiedName, AcceptsNamesWithAndWithoutPrefix) {
  for (const std::string_view text :
       {"a", "A", "0", "tier", "pod-template-hash", "3rd", "a_b.c-D", "k8s.io/name",
        "app.kubernetes.io/part-of", "10.0/24", "a/Z"}) {
    EXPECT_EQ(qualified_name_problem(text), "") << text;
    EXPECT_TRUE(is_qualified_name(text)) << text;
  }
  EXPECT_TRUE(is_qualified_name(repeat('a', 63)));
  EXPECT_TRUE(is_qualified_name(repeat('a', 253) + "/" + repeat('b', 63)));
}

TEST(QualifiedName, RejectsBadPrefixesAndNames) {
  for (const std::string_view text :
       {"",   "/",   "a/",   "/a",  "a/b/c",  "-a",    "a-",  "_a",  "a_",  ".a",
        "a.", "a b", "a/b ", "A/b", "a..b/c", "a_b/c", "-/a", "a%b", "a=b", "a\xC3\xA4"}) {
    EXPECT_NE(qualified_name_problem(text), "") << text;
    EXPECT_FALSE(is_qualified_name(text)) << text;
  }
  EXPECT_FALSE(is_qualified_name(repeat('a', 64)));
  EXPECT_FALSE(is_qualified_name("a/" + repeat('b', 64)));
  EXPECT_FALSE(is_qualified_name(repeat('a', 254) + "/b"));
}

TEST(QualifiedName, ExplainsWhichPartIsWrong) {
  EXPECT_EQ(qualified_name_problem("/a"), "must have a prefix before the '/'");
  EXPECT_EQ(qualified_name_problem("A/a"), "must have a DNS subdomain as its prefix");
  EXPECT_EQ(qualified_name_problem("a/b/c"), "must not contain more than one '/'");
  EXPECT_EQ(qualified_name_problem("a/"), "must have a name part that is not empty");
}

TEST(LabelValue, MayBeEmpty) {
  EXPECT_EQ(label_value_problem(""), "");
  EXPECT_TRUE(is_label_value(""));
}

TEST(LabelValue, AcceptsWhatNamesAccept) {
  for (const std::string_view text : {"a", "A", "0", "a-b_c.D", "1.2.3", "v1.28.0"}) {
    EXPECT_TRUE(is_label_value(text)) << text;
  }
  EXPECT_TRUE(is_label_value(repeat('a', 63)));
}

TEST(LabelValue, RejectsEverythingElse) {
  for (const std::string_view text :
       {" ", "a b", "-a", "a-", ".", "_", "a/b", "a,b", "a=b", "a\n", "\xC3\xA4"}) {
    EXPECT_NE(label_value_problem(text), "") << text;
    EXPECT_FALSE(is_label_value(text)) << text;
  }
  EXPECT_FALSE(is_label_value(repeat('a', 64)));
}

TEST(Validation, LongTextsAreHarmless) {
  for (const char c : {'a', '-', '.', '/', '\0'}) {
    const std::string text = repeat(c, 10'000'000);
    EXPECT_FALSE(is_dns1123_label(text));
    EXPECT_FALSE(is_dns1123_subdomain(text));
    EXPECT_FALSE(is_dns1035_label(text));
    EXPECT_FALSE(is_qualified_name(text));
    EXPECT_FALSE(is_label_value(text));
  }
}

TEST(Quoted, ShowsPrintableTextAsItIs) {
  EXPECT_EQ(detail::quoted(""), R"("")");
  EXPECT_EQ(detail::quoted("a=b, c"), R"("a=b, c")");
}

TEST(Quoted, EscapesOtherBytes) {
  EXPECT_EQ(detail::quoted("a\nb"), R"("a\x0ab")");
  EXPECT_EQ(detail::quoted("\xFF\x7F"), R"("\xff\x7f")");
  EXPECT_EQ(detail::quoted(std::string_view("\0", 1)), R"("\x00")");
}

TEST(Quoted, CutsLongText) {
  EXPECT_EQ(detail::quoted(repeat('a', 80)), '"' + repeat('a', 80) + '"');
  EXPECT_EQ(detail::quoted(repeat('a', 81)), '"' + repeat('a', 80) + "...\"");
}

}  // namespace
}  // namespace kube::validation
