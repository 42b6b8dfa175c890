// The table: a row a layer with its worst figures, colour where it is asked for, the first verdicts.
#include "monitor/display.h"

#include <gmock/gmock.h>

#include "support/words.h"

namespace eggroll::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

MonitorReport small_report() {
  MonitorReport report;
  report.step = 40;
  report.values = {{"embedded", "embed", 0, {0.0, 20.0, 5.5, 0.01, 0.02}, 0.0},
                   {"layer0.forget", "add", 1, {0.0, 20.0, 4.25, 0.61, 0.0}, 0.0},
                   {"layer0.next", "gru_mix", 2, {0.0, 20.0, 6.0, 0.0, 0.125}, 0.0}};
  report.heads = {{"layer0.mixed", 0, {1.5, 0.25}}, {"layer0.mixed", 1, {0.5, 0.75}}};
  report.tensors = {{"layer0.forget.w", true, {0.0, 16.5, 6.0, 0.0, 0.0}, 0.5, 1.0, VoteSignal{1.25, 3.0}},
                    {"layer0.norm1.gain", true, {0.0, 2.0, 1.0, 0.125, 0.0}, 0.0625, 1.0, VoteSignal{1.0, 0.0}}};
  return report;
}

std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream stream(line);
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

TEST(Display, ARowALayerWithItsWorstFigures) {
  const std::vector<std::string> lines = lines_of(monitor_table(small_report(), false, 80));
  ASSERT_EQ(lines.size(), 6U);
  EXPECT_EQ(lines[0], "monitor, step 40");
  EXPECT_EQ(words_of(lines[3]),
            (std::vector<std::string>{"embedded", "5.50", "1.0", "%", "2.0", "%", "-", "-", "-", "-", "-"}));
  EXPECT_EQ(words_of(lines[4]), (std::vector<std::string>{"layer0", "4.25", "61.0", "%", "12.5", "%", "75.0", "%",
                                                          "16.50", "12.5", "%", "6.2", "%", "1.250"}));
  EXPECT_EQ(lines[5], "nothing amiss");
}

TEST(Display, RowsFitTheWidthAndNamesAreWholeWhereThereIsRoom) {
  MonitorReport report = small_report();
  report.values[0].name = "a_layer_with_a_long_name";
  const auto characters = [](const std::string& line) {
    return std::count_if(line.begin(), line.end(),
                         [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
  };
  const std::vector<std::string> narrow = lines_of(monitor_table(report, false, 79));
  for (const std::string& line : narrow) EXPECT_LE(characters(line), 79) << line;
  EXPECT_THAT(narrow[3], HasSubstr("a_laye...g_name   5.50"));
  for (const size_t width : {size_t{120}, std::string::npos}) {
    EXPECT_THAT(monitor_table(report, false, width), HasSubstr("\na_layer_with_a_long_name   5.50"));
  }
  EXPECT_THAT(monitor_table(report, false, 10), HasSubstr("\na_lay...name   5.50"));
}

TEST(Display, ColourWhereItIsAskedForAlone) {
  MonitorReport report = small_report();
  report.verdicts = {"layer0.forget: 61 % of values at ±127"};
  const std::string plain = monitor_table(report, false, 80);
  EXPECT_THAT(plain, Not(HasSubstr("\033")));
  EXPECT_THAT(plain, HasSubstr("\n! layer0.forget: 61 % of values at ±127\n"));
  std::string coloured = monitor_table(report, true, 80);
  EXPECT_THAT(coloured, HasSubstr("\033[31m"));
  for (size_t at; (at = coloured.find('\033')) != std::string::npos;) {
    coloured.erase(at, coloured.find('m', at) - at + 1);
  }
  EXPECT_EQ(coloured, plain);
}

TEST(Display, TheFirstVerdictsAndHowManyMore) {
  MonitorReport report = small_report();
  report.verdicts.assign(15, "votes are noise");
  const std::vector<std::string> lines = lines_of(monitor_table(report, false, 80));
  EXPECT_EQ(std::count(lines.begin(), lines.end(), "! votes are noise"), 12);
  EXPECT_EQ(lines.back(), "! 3 more verdicts in metrics.jsonl");
}

}  // namespace
}  // namespace eggroll::test
