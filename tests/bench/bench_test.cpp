// eggroll_bench on a tiny step and a small op: the JSON holds what it promises, and refusals are sentences.
#include <fmt/format.h>

#include <cmath>

#include "cli/eggroll_command.h"
#include "eggroll/op_signature.h"
#include "record/environment.h"

namespace eggroll::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class BenchTest : public ScratchTest {
 protected:
  Result bench(const Arguments& arguments) const {
    Arguments all = {EGGROLL_BIN_DIR "/eggroll_bench", "--config-dir", EGGROLL_SOURCE_DIR "/configs"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return Process(folder_, all).wait();
  }

  // The report of a run, which must succeed.
  nlohmann::json report_of(Arguments arguments) const {
    arguments.insert(arguments.end(), {"--benchmark_min_time=0.01", "--benchmark_out=out.json"});
    const Result result = bench(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
    return nlohmann::json::parse(read_file(folder_ / "out.json"));
  }
};

TEST_F(BenchTest, AStepReportsItsRatesSharesAndMemory) {
  const nlohmann::json report = report_of(
      {"--step", "1x16/pop8/tokens4", "--benchmark_filter=^step/reference/1x16/pop8/tokens4/", "backend.threads=1"});
  const nlohmann::json& context = report.at("context");
  EXPECT_EQ(context.at("threads"), "1");
  EXPECT_EQ(context.at("overrides"), "backend.threads=1");
  EXPECT_EQ(context.at("spec_hash"), hex64(EGG_SPEC_HASH));
  EXPECT_EQ(context.at("commit"), capture_environment().host_commit);
  EXPECT_EQ(context.at("cpu"), capture_environment().cpu.model);

  ASSERT_EQ(report.at("benchmarks").size(), 1U);
  const nlohmann::json& run = report.at("benchmarks").at(0);
  EXPECT_EQ(run.at("time_unit"), "ms");
  const auto counter = [&](const char* name) {
    const double value = run.at(name);
    EXPECT_TRUE(std::isfinite(value)) << name;
    return value;
  };
  const double seconds = counter("real_time") / 1e3;
  // The gates have four square products, the MLP has two that are four times as wide, and the head has one.
  const double macs = 4 * 16 * 16 + 2 * 16 * 64 + 256 * 16;
  const double member_tokens = 8 * 4;
  EXPECT_NEAR(counter("GMAC/s") * seconds * 1e9 / (macs * member_tokens), 1.0, 1e-3);
  EXPECT_NEAR(counter("member_tokens/s") * seconds / member_tokens, 1.0, 1e-3);
  EXPECT_NEAR(counter("ns_per_member_token") * member_tokens / seconds / 1e9, 1.0, 1e-3);
  EXPECT_GT(counter("peak_GMAC/s"), counter("GMAC/s"));
  EXPECT_NEAR(counter("peak_ratio") * counter("peak_GMAC/s") / counter("GMAC/s"), 1.0, 1e-9);
  EXPECT_THAT(run.at("label").get<std::string>(),
              AllOf(StartsWith("peak of "), HasSubstr("; " + capture_environment().cpu.model + ": scalar, 1 thread")));

  // Noise and forward pass together are the evaluation, one of the step's two calls.
  const double evaluation = counter("noise_share") + counter("forward_share");
  EXPECT_GT(evaluation, 0.0);
  EXPECT_LT(evaluation, 1.0);
  EXPECT_GT(counter("votes_share"), 0.0);
  EXPECT_GT(counter("votes_share") + counter("rule_share"), 0.0);
  EXPECT_GT(counter("evaluation_64_streams"), 0.0);
  EXPECT_GT(counter("evaluation_many_streams"), 0.0);
  EXPECT_GT(counter("memory_before_MiB"), 0.0);
  EXPECT_GE(counter("memory_MiB"), counter("memory_before_MiB"));
}

// As in a run, the votes on tables are masked, so both calls of update get the step's tokens.
TEST_F(BenchTest, AStepMayReadTables) {
  const nlohmann::json report = report_of({"--step", "1x16/pop8/tokens4/tables", "backend.threads=1",
                                           "--benchmark_filter=^step/reference/1x16/pop8/tokens4/tables/"});
  ASSERT_EQ(report.at("benchmarks").size(), 1U);
  const nlohmann::json& run = report.at("benchmarks").at(0);
  EXPECT_EQ(run.at("name"), "step/reference/1x16/pop8/tokens4/tables/manual_time");
  EXPECT_GT(run.at("votes_share"), 0.0);
}

// The backend's calls sleep for known times. A sleep is never shorter than that, but may be longer on a busy machine.
TEST_F(BenchTest, SharesAreWhatTheBackendsCallsTake) {
  fs::create_directories(folder_ / "configs" / "backend");
  write_plainly(folder_ / "configs" / "backend" / "sleepy.yaml", "name: sleepy\nthreads: 0\n");
  const nlohmann::json report = report_of(
      {"--step", "1x16/pop64/tokens32", "--benchmark_filter=^step/sleepy/1x16/", "plugins.path=[\"" SLEEPY_DIR "\"]"});
  ASSERT_EQ(report.at("benchmarks").size(), 1U);
  const nlohmann::json& run = report.at("benchmarks").at(0);
  const double milliseconds = run.at("real_time");
  EXPECT_GE(milliseconds, 100.0);
  constexpr double kTolerance = 0.1;
  EXPECT_NEAR(run.at("noise_share"), 0.20, kTolerance);
  EXPECT_NEAR(run.at("forward_share"), 0.32, kTolerance);
  EXPECT_NEAR(run.at("votes_share"), 0.30, kTolerance);
  EXPECT_NEAR(run.at("rule_share"), 0.18, kTolerance);
  double sum = 0.0;
  for (const char* share : {"noise_share", "forward_share", "votes_share", "rule_share"})
    sum += run.at(share).get<double>();
  EXPECT_NEAR(sum, 1.0, kTolerance);
  // 64 * 32 tokens at 0.01 ms each, as a share of the step's 100 ms.
  EXPECT_NEAR(run.at("evaluation_64_streams"), 0.2048, kTolerance);
  EXPECT_NEAR(run.at("evaluation_many_streams"), 0.2048, kTolerance);
}

TEST_F(BenchTest, TheHostsWorkIsCountedPerPair) {
  const nlohmann::json report = report_of({"--benchmark_filter=^host/.*/pairs16384/"});
  std::vector<std::string> names;
  for (const nlohmann::json& run : report.at("benchmarks")) {
    names.push_back(run.at("name"));
    EXPECT_NEAR(run.at("ns_per_pair").get<double>(), 1e3 * run.at("real_time").get<double>() / 16384, 1e-6)
        << names.back();
    EXPECT_GT(run.at("ns_per_pair"), 0.0) << names.back();
  }
  EXPECT_THAT(names,
              testing::UnorderedElementsAre("host/pack/pairs16384/manual_time", "host/unpack/pairs16384/manual_time",
                                            "host/spread/pairs16384/manual_time", "host/voters/pairs16384/manual_time",
                                            "host/journal/pairs16384/manual_time"));
}

TEST_F(BenchTest, OpsReportMultiplyAddsOrElements) {
  const nlohmann::json report = report_of({"--benchmark_filter=^op/reference/.*/64/"});
  std::vector<std::string> names;
  for (const nlohmann::json& run : report.at("benchmarks")) {
    const std::string name = run.at("name");
    names.push_back(name.substr(0, name.rfind('/')));
    const bool linear = name.find("/linear/") != std::string::npos;
    EXPECT_EQ(run.contains("ns_per_element"), !linear) << name;
    EXPECT_EQ(run.contains("GMAC/s") && run.contains("peak_ratio"), linear) << name;
  }
  // All ops but store: by itself, store makes no value to measure.
  std::vector<std::string> expected = {"op/reference/embed_index/64"};
  for (const OpSignature& op : kOpSignatures) {
    if (op.name != std::string("store")) expected.push_back(fmt::format("op/reference/{}/64", op.name));
  }
  EXPECT_THAT(names, testing::UnorderedElementsAreArray(expected));
}

TEST_F(BenchTest, ABenchmarkThatCannotRunFailsTheCommand) {
  const Result result = bench({"--step", "1x16/pop7/tokens4", "--benchmark_filter=pop7/"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, HasSubstr("train.population is 7, expected an even number"));
}

TEST_F(BenchTest, RefusalsAreSentences) {
  const auto refusal = [&](const Arguments& arguments) {
    const Result result = bench(arguments);
    EXPECT_EQ(result.exit_code, 1);
    return result.err;
  };
  EXPECT_EQ(refusal({"--step", "6x256"}),
            "eggroll_bench: '6x256' is no step, expected LAYERSxWIDTH/popMEMBERS/tokensTOKENS[/tables] as in "
            "6x256/pop2048/tokens32\n");
  EXPECT_THAT(refusal({"backend.threds=1"}), StartsWith("eggroll_bench: command line 'backend.threds=1'"));
  EXPECT_EQ(refusal({"--bogus"}),
            "eggroll_bench: The following argument was not expected: --bogus (see eggroll_bench --help)\n");
  EXPECT_THAT(refusal({"--benchmark_filter=nothing/like/this"}),
              HasSubstr("eggroll_bench: no benchmark was run, expected a --benchmark_filter that matches one"));
}

}  // namespace
}  // namespace eggroll::test
