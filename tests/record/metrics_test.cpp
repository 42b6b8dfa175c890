#include "record/metrics.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "record/scratch.h"
#include "record/sealed_lines.h"

namespace eggroll {
namespace {

using nlohmann::ordered_json;

class MetricsTest : public ScratchTest {
 protected:
  void write_steps(uint64_t first, uint64_t end) {
    MetricsFile file(path_, first);
    for (uint64_t step = first; step < end; ++step) file.append({{"step", step}, {"loss", 8.0 / double(step + 1)}});
    file.flush();
    EXPECT_EQ(file.size(), std::filesystem::file_size(path_));
  }

  const std::filesystem::path path_ = folder_ / "metrics.jsonl";
};

TEST_F(MetricsTest, WritesOneObjectALine) {
  write_steps(0, 2);
  const std::string first = sealed_line({{"schema", 1}, {"step", 0}, {"loss", 8.0}});
  EXPECT_EQ(first.substr(0, first.find(",\"crc\"")), "{\"schema\":1,\"step\":0,\"loss\":8.0");
  EXPECT_EQ(read_file(path_), first + "\n" + sealed_line({{"step", 1}, {"loss", 4.0}}) + "\n");
  const auto lines = read_metrics(path_);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0], ordered_json({{"step", 0}, {"loss", 8.0}}));
  EXPECT_EQ(lines[1], ordered_json({{"step", 1}, {"loss", 4.0}}));
}

TEST_F(MetricsTest, AnotherSchemaIsRefused) {
  const std::string expected = path_.string() +
                               " has a schema that this eggroll does not read, expected 1 or none; use the eggroll "
                               "that wrote it";
  for (const ordered_json& schema : {ordered_json(2), ordered_json(1.5), ordered_json("1"), ordered_json()}) {
    write_plainly(path_, sealed_line({{"schema", schema}, {"step", 0}}) + "\n");
    EXPECT_EQ(message_of([&] { read_metrics(path_); }), expected) << schema;
    EXPECT_EQ(message_of([&] { MetricsFile(path_, 1); }), expected) << schema;
  }
}

// A run of version 0.2 goes on in the file that it began.
TEST_F(MetricsTest, AFileWithoutASchemaIsGoneOnWith) {
  const std::string old = sealed_line({{"step", 0}}) + "\n";
  write_plainly(path_, old);
  MetricsFile(path_, 1).append({{"step", 1}});
  EXPECT_EQ(read_file(path_), old + sealed_line({{"step", 1}}) + "\n");
}

TEST_F(MetricsTest, ResumingCutsBackToTheCheckpointsStep) {
  write_steps(0, 10);
  const std::string whole = read_file(path_);
  write_steps(6, 10);
  EXPECT_EQ(read_file(path_), whole);
  write_steps(0, 10);
  EXPECT_EQ(read_file(path_), whole);
}

// A stop rule ended the run after a step, so that step has a second line.
TEST_F(MetricsTest, TheLineOfAStopGoesWhereTheRunGoesOn) {
  const std::string kept = sealed_lines("{\"step\":0}\n{\"step\":1}\n");
  write_plainly(path_, kept + sealed_lines("{\"step\":1,\"final_bits_per_unit\":2}\n"));
  EXPECT_EQ(read_metrics(path_).size(), 3U);
  EXPECT_EQ(MetricsFile(path_, 2).size(), kept.size());
  EXPECT_EQ(read_file(path_), kept);
}

TEST_F(MetricsTest, AMissingLineIsNamed) {
  write_steps(0, 3);
  EXPECT_EQ(message_of([&] { MetricsFile(path_, 5); }),
            path_.string() +
                " lacks the line of step 3; restore the file from a copy or delete the run's folder to "
                "start over");
  EXPECT_EQ(read_metrics(path_).size(), 3U);
}

TEST_F(MetricsTest, ALineThatIsMissingOrDoubledIsNamed) {
  write_steps(0, 5);
  const std::string whole = read_file(path_);
  const size_t begin = whole.find("{\"step\":2");
  const size_t end = whole.find("{\"step\":3");
  write_plainly(path_, std::string(whole).erase(begin, end - begin));
  EXPECT_EQ(message_of([&] { MetricsFile(path_, 4); }).find(path_.string() + " lacks the line of step 2; "), 0U);
  write_plainly(path_, std::string(whole).insert(end, whole.substr(begin, end - begin)));
  EXPECT_EQ(message_of([&] { MetricsFile(path_, 4); }).find(path_.string() + " lacks the line of step 3; "), 0U);
}

TEST_F(MetricsTest, ADigitThatChangedIsNamed) {
  write_steps(0, 4);
  std::string text = read_file(path_);
  text[text.find("\"loss\":4.0") + 7] = '5';
  write_plainly(path_, text);
  const std::string expected =
      "line 2 of " + path_.string() +
      " is damaged: its checksum is not that of the line; restore the file from a copy or delete "
      "the run's folder to start over";
  EXPECT_EQ(message_of([&] { read_metrics(path_); }), expected);
  EXPECT_EQ(message_of([&] { MetricsFile(path_, 3); }), expected);
  std::vector<ordered_json> before;
  EXPECT_EQ(message_of([&] { read_metrics(path_, [&](ordered_json&& line) { before.push_back(line); }); }), expected);
  EXPECT_EQ(before.size(), 1U);
}

// Also in a file without a schema, as version 0.2 began it, and where no line has one.
TEST_F(MetricsTest, ALineThatLostItsChecksumIsNamed) {
  write_steps(0, 3);
  const auto expect_named = [&](const std::string& text, size_t line) {
    write_plainly(path_, text);
    const std::string expected =
        "line " + std::to_string(line) + " of " + path_.string() +
        " is damaged: it has no checksum; restore the file from a copy or delete the run's folder to start over";
    EXPECT_EQ(message_of([&] { read_metrics(path_); }), expected);
    EXPECT_EQ(message_of([&] { MetricsFile(path_, 3); }), expected);
  };
  const std::string whole = read_file(path_);
  for (const size_t line : {size_t{1}, size_t{2}, size_t{3}}) {
    std::string text = whole;
    size_t begin = 0;
    for (size_t i = 1; i < line; ++i) begin = text.find('\n', begin) + 1;
    const size_t seal = text.find(",\"crc\"", begin);
    text.replace(seal, text.find('\n', seal) - seal, "}");
    expect_named(text, line);
  }
  const std::string lines = "{\"step\":0}\n{\"step\":1}\n{\"step\":2}\n";
  expect_named(lines, 1);
  expect_named("{\"step\":0}\n" + sealed_lines("{\"step\":1}\n{\"step\":2}\n"), 1);
  write_plainly(path_, sealed_lines(lines));
  EXPECT_EQ(read_metrics(path_).size(), 3U);
}

TEST_F(MetricsTest, AnEvaluationIsReadAsItWasPut) {
  Evaluation evaluation{7, 4.0999999999999996, 31, "byte", 120};
  ordered_json line{{"step", 7}};
  put_evaluation(line, kHeldOutKeys, evaluation);
  EXPECT_EQ(evaluation_in(line, kFinalKeys, "byte"), std::nullopt);
  const auto read = evaluation_in(line, kHeldOutKeys, "byte");
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->step, 7U);
  EXPECT_EQ(read->bits_per_unit, 4.0999999999999996);
  EXPECT_EQ(read->tokens, 31U);
  EXPECT_EQ(read->bytes, 120U);
}

TEST_F(MetricsTest, AnyCutOfTheTailIsReadAndResumedFrom) {
  write_steps(0, 4);
  const std::string whole = read_file(path_);
  const size_t checkpointed = whole.find("{\"step\":2");
  for (size_t size = 0; size <= whole.size(); ++size) {
    write_plainly(path_, whole.substr(0, size));
    const std::string left = whole.substr(0, size);
    EXPECT_EQ(read_metrics(path_).size(), static_cast<size_t>(std::count(left.begin(), left.end(), '\n')));
    if (size < checkpointed) continue;
    write_steps(2, 4);
    EXPECT_EQ(read_file(path_), whole) << "cut at byte " << size;
  }
}

TEST_F(MetricsTest, ATailOfGarbageAfterTheCheckpointGoes) {
  write_steps(0, 3);
  const std::string whole = read_file(path_);
  write_plainly(path_, whole + sealed_line({{"step", 3}}) + "\nnot JSON\n" + std::string(20, '\0'));
  EXPECT_EQ(MetricsFile(path_, 3).size(), whole.size());
  EXPECT_EQ(read_file(path_), whole);
}

TEST_F(MetricsTest, DamageInTheMiddleNamesTheLine) {
  for (const std::string damage : {"not JSON", "[1]", "{\"loss\":1}", "{\"step\":-1}", "{\"step\":\"1\"}", ""}) {
    write_plainly(path_, sealed_lines("{\"step\":0}\n" + damage + "\n{\"step\":2}\n"));
    const std::string expected = "line 2 of " + path_.string() +
                                 " is damaged: expected a JSON object with a whole number \"step\"; restore the file "
                                 "from a copy or delete the run's folder to start over";
    EXPECT_EQ(message_of([&] { read_metrics(path_); }), expected) << damage;
    EXPECT_EQ(message_of([&] { MetricsFile(path_, 3); }), expected) << damage;
  }
}

TEST_F(MetricsTest, TheLastLineGetsAMember) {
  write_steps(0, 1);
  add_to_last_line(path_, "hook", {{"a", 0.5}});
  EXPECT_EQ(read_file(path_), sealed_line({{"schema", 1}, {"step", 0}, {"loss", 8.0}, {"hook", {{"a", 0.5}}}}) + "\n");
  write_steps(1, 3);
  const std::string before = read_file(path_).substr(0, read_file(path_).find("{\"step\":2"));
  add_to_last_line(path_, "hook", ordered_json::object());
  EXPECT_EQ(read_file(path_),
            before + sealed_line({{"step", 2}, {"loss", 8.0 / 3.0}, {"hook", ordered_json::object()}}) + "\n");
  for (const char* damaged : {"", "\n", "{\"step\":\n"}) {
    write_plainly(path_, damaged);
    EXPECT_EQ(message_of([&] { add_to_last_line(path_, "hook", 1); }),
              "the last line of " + path_.string() +
                  " is damaged; restore the file from a copy or delete the run's folder to start over");
  }
}

}  // namespace
}  // namespace eggroll
