// Runs whose groups perturb values: the weights are those of one process, however many processes share the streams.
#include "processes/shared_run.h"

namespace eggroll::test {
namespace {

// Streams 0 to 6 of ten are of sites.
struct Sites {
  const char* name;
  const char* groups;
  // Bytes that process 0 of two, which has five streams of eight tokens, says of them, beside a header: sums of the
  // sites, then of each site votes, errors and what was perturbed.
  uint64_t bytes;
};

void PrintTo(const Sites& sites, std::ostream* out) { *out << sites.name; }

constexpr uint64_t kPlaces = 5 * 8;

constexpr Sites kSites[] = {
    {"Tables",
     "{sites: [{value: output, draws: complete}], share: 0.7}, "
     "{params: [embedding, \"layer*\", \"norm_out*\", head], share: 0.3}",
     16 + kPlaces * 16 * 2 + kPlaces},
    {"TablesAndTheHead",
     "{sites: [{value: output, draws: complete}], share: 0.7}, "
     "{params: [embedding, \"layer*\", \"norm_out*\"], share: 0.3}",
     16 + (16 * 8 + 8) * 8 + kPlaces * 16 * 2 + kPlaces},
    {"MatricesWithin",
     "{sites: [{value: layer0.forget, draws: 3, orthogonal: false, horizon: 2}, {value: layer0.candidate, draws: 4}], "
     "share: 0.7}, {params: [embedding, \"*gain\", head, \"logit*\"], share: 0.3}",
     2 * 16 + 2 * (2 * (8 * 8 + 8) + 8) * 8},
    {"All",
     "{sites: [{value: output, draws: 16}, {value: layer0.forget, draws: 3, orthogonal: false, horizon: 2}, "
     "{value: layer0.candidate, draws: 4}], share: 0.7}, "
     "{params: [embedding, \"*gain\"], share: 0.3}",
     3 * 16 + (16 * 8 + 8) * 8 + kPlaces * 16 * 2 + kPlaces + 2 * (2 * (8 * 8 + 8) + 8) * 8}};

class SharedSitesTest : public SharedRunTest, public ::testing::WithParamInterface<Sites> {
 protected:
  static Arguments with_sites(const std::string& groups, const Arguments& more) {
    return joined(
        {"run", "experiment=markov", "optimizer=es_adagrad", "model.width=8",
         "model.logit_tables=[{tokens: 1}, {tokens: 2, rows: 32}]", "dataset.tokens=999", "dataset.valid_tokens=99",
         "train.population=20", "train.members_per_stream=2", "train.tokens=8", "train.steps=40", "checkpoint.every=10",
         "eval.every=20", "eval.tokens=32", "fitness=zscore", "backend.threads=1", "perturb.groups=[" + groups + "]"},
        more);
  }
  static Arguments run(const Arguments& more = {}) { return with_sites(GetParam().groups, more); }

  // What a run of several processes ends with.
  nlohmann::json shared_record(int processes, const Arguments& arguments) const {
    nlohmann::json record = record_in(run_of(processes, "shared", arguments));
    fs::remove_all(work_ / "shared");
    return record;
  }
};

TEST_P(SharedSitesTest, WeightsDoNotDependOnTheProcesses) {
  const nlohmann::json alone = record_in(run_of(0, "one", run({"backend=reference"})));
  ASSERT_NE(alone.at("best").at("step"), 0);
  // auto: the backend for this processor, on two threads.
  for (const auto& [processes, update, backend] : {std::tuple{1, "rebuilt", "auto"},
                                                   {2, "auto", "reference"},
                                                   {2, "sharded", "auto"},
                                                   {3, "rebuilt", "auto"},
                                                   {3, "sharded", "reference"},
                                                   {10, "rebuilt", "auto"}}) {
    const nlohmann::json record = shared_record(
        processes,
        run({std::string("processes.update=") + update, std::string("backend=") + backend, "backend.threads=2"}));
    const std::string what = std::to_string(processes) + " " + update + " " + backend;
    for (const char* key : {"weights_sha256", "newest", "best", "final", "member_tokens", "unique_tokens"}) {
      EXPECT_EQ(record.at(key), alone.at(key)) << key << " of " << what;
    }
  }
}

TEST_P(SharedSitesTest, AStepSendsErrorsOfTablesAndVotesOfTheRest) {
  const nlohmann::json record = shared_record(2, run({"train.steps=1", "backend=reference"}));
  constexpr uint64_t kHeader = 48;
  constexpr uint64_t kDifferences = 5 * 8;  // of five pairs
  EXPECT_EQ(record.at("processes").at("bytes_per_step"), kHeader + kDifferences + GetParam().bytes);
  EXPECT_EQ(record.at("processes").at("update").at("method"), "rebuilt");
}

INSTANTIATE_TEST_SUITE_P(, SharedSitesTest, ::testing::ValuesIn(kSites),
                         [](const auto& sites) { return std::string(sites.param.name); });

class SitesOfAllKindsTest : public SharedSitesTest {};

TEST_F(SitesOfAllKindsTest, AKilledRunGoesOnWithOtherProcessesAndIsReplayedByOne) {
  const Arguments all = with_sites(kSites[3].groups, {"train.steps=200", "backend=reference"});
  const std::string digest = undisturbed(all);
  for (const int processes : {3, 1, 2}) {
    kill_on_the_way(processes, all);
  }
  good(run_shared(4, all));
  expect_completed(run_folder(), digest);
  EXPECT_THAT(good(eggroll({"replay", run_folder().string()})).out, HasSubstr(digest));
}

// A stream of sites runs once.
TEST_F(SitesOfAllKindsTest, MoreProcessesThanStreams) {
  const Result result =
      run_shared(3, with_sites(kSites[0].groups, {"train.members_per_stream=10", "backend=reference"}));
  EXPECT_NE(result.exit_code, 0);
  EXPECT_THAT(result.err,
              HasSubstr("3 processes share 2 streams, expected at most a process for each, because a stream "
                        "of sites runs once; start 2 or fewer"));
}

}  // namespace
}  // namespace eggroll::test
