#include "record/metrics.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "record/scratch.h"

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
  EXPECT_EQ(read_file(path_), "{\"step\":0,\"loss\":8.0}\n{\"step\":1,\"loss\":4.0}\n");
  const auto lines = read_metrics(path_);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[1], ordered_json({{"step", 1}, {"loss", 4.0}}));
}

TEST_F(MetricsTest, ResumingCutsBackToTheCheckpointsStep) {
  write_steps(0, 10);
  const std::string whole = read_file(path_);
  write_steps(6, 10);
  EXPECT_EQ(read_file(path_), whole);
  write_steps(0, 10);
  EXPECT_EQ(read_file(path_), whole);
}

TEST_F(MetricsTest, SeveralLinesOfOneStepStayOrGoTogether) {
  const std::string kept = "{\"step\":0}\n{\"step\":1}\n{\"step\":1,\"held_out\":2}\n";
  write_plainly(path_, kept + "{\"step\":2}\n{\"step\":2,\"held_out\":1}\n");
  EXPECT_EQ(MetricsFile(path_, 2).size(), kept.size());
  EXPECT_EQ(read_file(path_), kept);
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
  write_plainly(path_, whole + "{\"step\":3}\nnot JSON\n" + std::string(20, '\0'));
  EXPECT_EQ(MetricsFile(path_, 3).size(), whole.size());
  EXPECT_EQ(read_file(path_), whole);
}

TEST_F(MetricsTest, DamageInTheMiddleNamesTheLine) {
  for (const std::string damage : {"not JSON", "[1]", "{\"loss\":1}", "{\"step\":-1}", "{\"step\":\"1\"}", ""}) {
    write_plainly(path_, "{\"step\":0}\n" + damage + "\n{\"step\":2}\n");
    const std::string expected = "line 2 of " + path_.string() +
                                 " is damaged: expected a JSON object with a whole number \"step\"; restore the file "
                                 "from a copy or delete the run's folder to start over";
    EXPECT_EQ(message_of([&] { read_metrics(path_); }), expected) << damage;
    EXPECT_EQ(message_of([&] { MetricsFile(path_, 3); }), expected) << damage;
  }
}

}  // namespace
}  // namespace eggroll
