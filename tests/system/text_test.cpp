#include "system/text.h"

#include <gtest/gtest.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <random>

namespace eggroll::test {
namespace {

constexpr int kTexts = 20000;

// Texts of few characters, so that much of them is alike.
class Texts {
 public:
  std::string make(const std::string& characters, size_t longest) {
    std::string text;
    for (size_t left = random_() % (longest + 1); left > 0; --left) text += characters[random_() % characters.size()];
    return text;
  }
  uint64_t draw() { return random_(); }

 private:
  std::mt19937_64 random_{20261122};
};

TEST(RealOf, ReadsDecimalNumbersAlone) {
  EXPECT_EQ(real_of("0.1"), 0.1);
  EXPECT_EQ(real_of("-1.5e3"), -1500.0);
  EXPECT_EQ(real_of(".5"), 0.5);
  EXPECT_EQ(real_of("1e22"), 1e22);
  EXPECT_EQ(real_of("5e-324"), 5e-324);
  EXPECT_TRUE(std::signbit(real_of("-0.0").value()));
  for (const char* text :
       {"", " 1", "1 ", "+1", "0x10", "inf", "nan", "1e", "1,5", "1e999", "-1e999", "1e-999", "e5"}) {
    EXPECT_FALSE(real_of(text)) << text;
  }
}

TEST(RealOf, ReadsAsTheStandardLibraryWhereItCan) {
  Texts texts;
  for (int i = 0; i < kTexts; ++i) {
    std::string text = texts.make("01259.eE-+", 9);
    if (i % 3 == 0) text += "e" + std::to_string(static_cast<int>(texts.draw() % 800) - 400);
    double expected = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), expected);
    const bool is_real = error == std::errc() && end == text.data() + text.size();
    ASSERT_EQ(real_of(text), is_real ? std::optional(expected) : std::nullopt) << text;
  }
}

TEST(IsBefore, OrdersNamesByTheirNumbers) {
  EXPECT_TRUE(is_before("run-9", "run-10"));
  EXPECT_FALSE(is_before("run-10", "run-9"));
  EXPECT_TRUE(is_before("a", "b"));
  EXPECT_TRUE(is_before("a", "a1"));
  EXPECT_FALSE(is_before("a1", "a1"));
}

TEST(IsBefore, OrdersAsTheSystemWhereItCan) {
  Texts texts;
  for (int i = 0; i < kTexts; ++i) {
    const std::string a = texts.make("0012a-", 6);
    const std::string b = a.substr(0, texts.draw() % (a.size() + 1)) + texts.make("0012a-", 6);
    ASSERT_EQ(is_before(a, b), ::strverscmp(a.c_str(), b.c_str()) < 0) << a << " " << b;
    ASSERT_EQ(is_before(b, a), ::strverscmp(b.c_str(), a.c_str()) < 0) << b << " " << a;
  }
}

TEST(OneLine, IsPrintableAndOfBoundedLength) {
  EXPECT_EQ(one_line("caf\xc3\xa9 \"x\"", 100), "caf\xc3\xa9 \"x\"");
  EXPECT_EQ(one_line("a\nb\r\tc", 100), "a b  c");
  EXPECT_EQ(one_line(std::string_view("a\0\x1b[31m\x7f", 8), 100), "a\ufffd\ufffd[31m\ufffd");
  EXPECT_EQ(one_line("\xc2\x9b"
                     "31m",
                     100),
            "\ufffd31m");
  EXPECT_EQ(one_line("\xff", 100), "\ufffd");
  EXPECT_EQ(one_line(std::string(1'000'000, 'x'), 3), "xxx...");
  EXPECT_EQ(one_line("xx\xc3\xa9", 3), "xx\ufffd...");
}

TEST(MiddleCut, KeepsBothEnds) {
  EXPECT_EQ(middle_cut("layer0", 6), "layer0");
  EXPECT_EQ(middle_cut("context_tables", 9), "con...les");
  EXPECT_EQ(middle_cut("context_tables", 10), "cont...les");
  EXPECT_EQ(middle_cut("context_tables", 4), "c...");
  EXPECT_EQ(middle_cut("context_tables", 2), "..");
  EXPECT_EQ(middle_cut("context_tables", 0), "");
  EXPECT_EQ(middle_cut("\u00e4\u00f6\u00fc\u00e4\u00f6", 5), "\u00e4\u00f6\u00fc\u00e4\u00f6");
  EXPECT_EQ(middle_cut("\u00e4\u00f6\u00fc\u00e4\u00f6\u00fc", 5), "\u00e4...\u00fc");
  EXPECT_EQ(middle_cut("\xff\xc3tail", 5), "\xff...l");
  EXPECT_EQ(middle_cut("", 5), "");
}

TEST(Escaped, KeepsTextAndShowsWhatATerminalWouldObey) {
  const std::string text = "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\xa5\x9a\n\t\\ \"x\"";
  EXPECT_EQ(escaped(text), text);
  EXPECT_EQ(escaped(std::string_view("a\0\x1b[31m\r\x7f", 9)), "a\\x00\\x1b[31m\\x0d\\x7f");
  EXPECT_EQ(escaped("\xc2\x9b"
                    "31m"),
            "\\xc2\\x9b31m");
  // A character that is cut short, one without a beginning, one that is too long, half of a surrogate pair, and one
  // beyond the last character.
  EXPECT_EQ(escaped("\xc3"), "\\xc3");
  EXPECT_EQ(escaped("\xe2\x82 "), "\\xe2\\x82 ");
  EXPECT_EQ(escaped("\xa9\xff"), "\\xa9\\xff");
  EXPECT_EQ(escaped("\xc0\x9b\xe0\x82\x9b\xf0\x82\x82\x9b"), "\\xc0\\x9b\\xe0\\x82\\x9b\\xf0\\x82\\x82\\x9b");
  EXPECT_EQ(escaped("\xed\xa0\x80\xf4\x90\x80\x80"), "\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80");
}

TEST(Shown, IsOneLineThatNoTerminalObeys) {
  EXPECT_EQ(shown("count-0123 \xc3\xa9"), "count-0123 \xc3\xa9");
  EXPECT_EQ(shown("a\033[31m\neggroll: b\tc\x7f\xc2\x9b\xff"), "a\\x1b[31m\\x0aeggroll: b\\x09c\\x7f\\xc2\\x9b\\xff");
  EXPECT_EQ(shown(shown("\n\xff")), shown("\n\xff"));
}

}  // namespace
}  // namespace eggroll::test
