#include "record/record.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <set>

#include "eggroll/plugin.h"
#include "record/scratch.h"
#include "record/seal.h"
#include "system/files.h"

namespace eggroll {
namespace {

using nlohmann::ordered_json;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

class RecordTest : public ScratchTest {
 protected:
  const std::filesystem::path path_ = folder_ / "record.json";
};

RunRecord completed_record() {
  RunRecord record;
  record.name = "shakespeare";
  record.status = RunStatus::kCompleted;
  record.started_utc = "2025-01-31T10:00:00Z";
  record.ended_utc = "2025-01-31T10:05:00Z";
  record.wall_seconds = 299.5;
  record.resumes = 1;
  record.config_hash = std::string(64, 'c');
  record.config = {{"seed", 3}, {"model", {{"name", "gru"}, {"layers", 1}}}};
  record.overrides = {"seed=3"};
  record.command_line = {"eggroll", "run", "seed=3"};
  record.environment = capture_environment();
  record.environment.host_commit = "0123456789ab-dirty";
  record.plugins = {
      {"backend", "reference", "1.0.0", "GNU 12", std::string(64, 'b'), "reference.eggplugin", "highest score, 1"},
      {"model", "gru", "1.0.0", "GNU 12", std::string(64, 'd'), "gru.eggplugin", std::nullopt},
      {"optimizer", "sign_es", "1.0.0", "GNU 12", std::string(64, 'e'), "sign_es.eggplugin", std::nullopt}};
  record.program_hash = std::string(16, '1');
  record.rule_hash = std::string(16, '2');
  record.device = "cpu";
  record.plan = "scalar, 2 threads";
  record.memory_bytes = 5'000'000'000;
  record.threads = 2;
  record.seed = std::numeric_limits<uint64_t>::max();
  record.dataset = DatasetRecord{
      "text", std::string(64, 'f'), "byte", {{"train", 1000}, {"held_out", 100}}, {{"path", "shakespeare.txt"}}};
  record.baselines = {4.8, 3.5, std::nullopt, std::nullopt, 2.5, {{1, 3.5}, {5, 2.25}, {7, 2.5}}};
  record.counting_seconds = 0.25;
  record.overlap = {{32, 0.0625}, {64, 0.0}};
  record.parameters = 24832;
  record.checkpoint_bytes = 130'000;
  record.steps = 800;
  record.member_tokens = 26'000'000;
  record.unique_tokens = 1'600'000;
  record.newest = Evaluation{800, 4.2, 32768, "byte"};
  record.best = Evaluation{700, 4.0999999999999996, 32768, "byte"};
  record.final = Evaluation{800, 4.125, 90000, "byte", 120000};
  record.weights_sha256 = std::string(64, '0');
  record.metrics_file = "metrics.jsonl";
  record.curve_file = "curve.png";
  return record;
}

// A run that failed before it had read its dataset.
RunRecord failed_record() {
  RunRecord record;
  record.name = "text";
  record.status = RunStatus::kFailed;
  record.error = "cannot read a.txt: No such file or directory; check the path";
  record.started_utc = "2025-01-31T10:00:00Z";
  record.ended_utc = "2025-01-31T10:00:00Z";
  record.config_hash = std::string(64, 'c');
  record.environment = capture_environment();
  record.environment.host_commit = "unknown";
  return record;
}

// The record of a sweep's point whose process died.
RunRecord crashed_record() {
  RunRecord record = failed_record();
  record.error = "the process ended by SIGSEGV";
  record.failure = Failure{Failure::Kind::kSignal, "SIGSEGV", {"backend avx2", "step 1/10"}};
  SweepRecord sweep{"widths", 3, {{"model.width", "32"}, {"size", {{"train.tokens", "8"}}}}, "How wide?", {}};
  sweep.claims.push_back({{"axis", "model.width"}});
  record.sweep = sweep;
  return record;
}

// A record with a summary whose numbers need all their digits.
RunRecord summarized_record() {
  RunRecord record = completed_record();
  RunMetrics metrics;
  metrics.lines = 3;
  metrics.last_step = 800;
  metrics.held_out = {{0, 0.0, 0.0, 8.0}, {800, 26e6, 0.1 + 0.2, 1.0 / 3.0}};
  metrics.training = {{800, 26e6, 1e-17, 4.0999999999999996}};
  metrics.update_rate = Phases{1.0, 0.1, 5e-324, 0.30000000000000004};
  metrics.update_rate_of_voted = Phases{1.0, 0.2, 0.1, 0.7000000000000001};
  metrics.step_seconds = Quantiles{0.01, 0.011, 1.7976931348623157e308};
  metrics.steps_total_seconds = 299.4;
  metrics.late = {{"changed", 0.1}, {"a.b/c", -0.0}};
  metrics.monitor = MonitorSummary{700, NamedShare{"head", 0.4}, std::nullopt, std::nullopt, 40.5, {"a verdict"}};
  metrics.hook = {{"score", 0.1 + 0.7}, {"_b", -5e-324}};
  record.summary = metrics;
  return record;
}

RunRecord averaged_record() {
  RunRecord record = completed_record();
  record.average =
      AverageRecord{Evaluation{800, 4.0999999999999996, 32768, "byte"}, Evaluation{800, 4.0, 90000, "byte", 120000}};
  return record;
}

RunRecord stopped_record() {
  RunRecord record = completed_record();
  record.status = RunStatus::kStopped;
  record.stopped_because = "stop.tokens is 10 and 16 member tokens were read";
  return record;
}

TEST_F(RecordTest, NamesTheBaselinesThatThereAreAndTheBestCount) {
  EXPECT_EQ(baselines_line(completed_record().baselines),
            "on the same data: unigram 4.800, bigram 3.500, PPMd 2.500, Kneser-Ney of 5 bytes 2.250");
  EXPECT_EQ(baselines_line({4.8, 3.5, 3.25}), "on the same data: unigram 4.800, bigram 3.500, gzip 3.250");
}

TEST_F(RecordTest, ReadsOneOfBeforeThereWereCountsAndOverlap) {
  ordered_json json = record_to_json(completed_record());
  for (const char* key : {"xz", "ppmd", "kneser_ney"}) json["baselines"].erase(key);
  for (const char* key : {"counting_seconds", "overlap", "checkpoint_bytes"}) json.erase(key);
  const RunRecord read = record_from_json(sealed(json), "a record");
  EXPECT_EQ(read.baselines.unigram, 4.8);
  EXPECT_TRUE(read.baselines.kneser_ney.empty());
  EXPECT_EQ(read.counting_seconds, std::nullopt);
  EXPECT_TRUE(read.overlap.empty());
  EXPECT_EQ(read.checkpoint_bytes, std::nullopt);
}

TEST_F(RecordTest, RefusesFiguresByWhatIsNoCountOfBytes) {
  for (const char* key : {"five", "0", "-1", "5x", "", "99999999999"}) {
    ordered_json json = record_to_json(completed_record());
    json["overlap"][key] = 0.5;
    EXPECT_THAT(
        message_of([&] { record_from_json(sealed(json), "a record"); }),
        HasSubstr(fmt::format("a record is damaged: overlap has the key '{}', expected a count of bytes", key)));
  }
}

TEST_F(RecordTest, CautionsWhereTheHeldOutPartStandsInTheTrainingPart) {
  EXPECT_EQ(overlap_caution({}), std::nullopt);
  EXPECT_EQ(overlap_caution({{32, 0.9}, {64, 0.02}}), std::nullopt);
  EXPECT_THAT(overlap_caution({{64, 0.471}}).value_or(""),
              HasSubstr("47.1 % of the held-out part's windows of 64 bytes occur in the training part"));
}

TEST_F(RecordTest, RefusesNumbersThatAreNotWhole) {
  for (const char* key : {"steps", "seed", "threads", "resumes", "member_tokens"}) {
    for (const ordered_json& value : {ordered_json(1e50), ordered_json(-1), ordered_json(1.5)}) {
      ordered_json json = record_to_json(completed_record());
      json[key] = value;
      write_plainly(path_, sealed(json).dump());
      EXPECT_THAT(message_of([&] { read_record(path_); }),
                  HasSubstr("is damaged: a whole number in range is expected, but it is " + value.dump()));
    }
  }
}

TEST_F(RecordTest, ReadsWhatItWrote) {
  for (const RunRecord& record : {completed_record(), failed_record(), crashed_record(), stopped_record(),
                                  summarized_record(), averaged_record()}) {
    write_record(path_, record);
    EXPECT_EQ(record_to_json(read_record(path_)), record_to_json(record));
  }
  write_record(path_, completed_record());
  const RunRecord read = read_record(path_);
  EXPECT_EQ(read.status, RunStatus::kCompleted);
  EXPECT_EQ(read.seed, std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(read.best->bits_per_unit, 4.0999999999999996);
  EXPECT_EQ(read.best->bytes, std::nullopt);
  EXPECT_EQ(record_to_json(read)["best"].size(), 4U);
  EXPECT_EQ(read.newest->bits_per_unit, 4.2);
  EXPECT_EQ(read.final->bytes, 120000U);
  EXPECT_EQ(read.plugins.at(0).chosen_because, "highest score, 1");
  EXPECT_EQ(read.plugins.at(1).chosen_because, std::nullopt);
  EXPECT_EQ(read.baselines.gzip, std::nullopt);
  EXPECT_EQ(read.baselines.xz, std::nullopt);
  EXPECT_EQ(read.baselines.ppmd, 2.5);
  EXPECT_EQ(read.baselines.kneser_ney, completed_record().baselines.kneser_ney);
  EXPECT_EQ(read.counting_seconds, 0.25);
  EXPECT_EQ(read.overlap, completed_record().overlap);
  EXPECT_EQ(read.checkpoint_bytes, 130'000U);
  EXPECT_EQ(read.environment.cpu.features, completed_record().environment.cpu.features);
  EXPECT_EQ(read.config["model"]["layers"], 1);
  EXPECT_EQ(read.device, "cpu");
  EXPECT_EQ(read.plan, "scalar, 2 threads");
  EXPECT_EQ(read.memory_bytes, 5'000'000'000U);
}

// The average's figures stand beside those of the weights. A record without them is of a run without an average, or
// older than averages.
TEST_F(RecordTest, KeepsTheFiguresOfTheAverage) {
  write_record(path_, averaged_record());
  const RunRecord read = read_record(path_);
  ASSERT_TRUE(read.average && read.average->newest && read.average->final);
  EXPECT_EQ(read.average->newest->bits_per_unit, 4.0999999999999996);
  EXPECT_EQ(read.average->final->bits_per_unit, 4.0);
  EXPECT_EQ(read.average->final->bytes, 120000U);
  EXPECT_EQ(read.final->bits_per_unit, 4.125);
  RunRecord running = averaged_record();
  running.average = AverageRecord{};
  write_record(path_, running);
  EXPECT_TRUE(read_record(path_).average.has_value());
  EXPECT_FALSE(read_record(path_).average->final.has_value());
  write_record(path_, completed_record());
  EXPECT_FALSE(read_record(path_).average.has_value());
  EXPECT_FALSE(record_to_json(completed_record()).contains("average"));
}

TEST_F(RecordTest, ASummaryIsOneLineAndKeepsEveryBit) {
  write_record(path_, summarized_record());
  const std::string text = read_file(path_);
  EXPECT_THAT(text, HasSubstr(",\n  \"summary\": {\"lines\":3,"));
  EXPECT_THAT(text, testing::EndsWith("}\n}\n"));
  EXPECT_THAT(text, Not(HasSubstr("verdicts\": [\n")));
  const RunMetrics read = *read_record(path_).summary;
  const RunMetrics written = *summarized_record().summary;
  for (size_t i = 0; i < 2; ++i) EXPECT_EQ(read.held_out.at(i), written.held_out[i]);
  EXPECT_EQ(read.training.at(0), written.training[0]);
  EXPECT_EQ(read.update_rate->end, 5e-324);
  EXPECT_EQ(read.update_rate_of_voted->late, 0.7000000000000001);
  EXPECT_EQ(read.step_seconds->p95, 1.7976931348623157e308);
  EXPECT_TRUE(std::signbit(*read.late_mean("a.b/c")));
  EXPECT_EQ(read.threshold, std::nullopt);
  EXPECT_EQ(read.monitor->most_saturated_value->share, 0.4);
  EXPECT_EQ(read.monitor->verdicts, written.monitor->verdicts);
  EXPECT_EQ(read.hook, written.hook);
}

TEST_F(RecordTest, RefusesASummaryThatIsDamaged) {
  const ordered_json whole = record_to_json(summarized_record());
  const auto message = [&](const char* place, const ordered_json& value) {
    ordered_json json = whole;
    json[ordered_json::json_pointer(place)] = value;
    write_plainly(path_, sealed(json).dump());
    return message_of([&] { read_record(path_); });
  };
  EXPECT_EQ(message("/summary/training/bits", {1.0, 2.0}),
            path_.string() +
                " is damaged: the columns of a curve in its summary are not equally long; restore it from a copy");
  for (const char* place :
       {"/summary", "/summary/held_out", "/summary/late", "/summary/update_rate/2", "/summary/monitor/step",
        "/summary/steps_total_seconds", "/summary/hook", "/summary/hook/score"}) {
    EXPECT_THAT(message(place, "x"), HasSubstr(path_.string() + " is damaged: ")) << place;
  }
}

TEST_F(RecordTest, ReadsARecordOfBeforeThereWerePlans) {
  ordered_json json = record_to_json(completed_record());
  json.erase("plan");
  json.erase("memory_bytes");
  write_plainly(path_, sealed(json).dump());
  const RunRecord read = read_record(path_);
  EXPECT_EQ(read.device, "cpu");
  EXPECT_EQ(read.plan, std::nullopt);
  EXPECT_EQ(read.memory_bytes, std::nullopt);
}

TEST_F(RecordTest, OlderRecordsDoNotSayHowManyParametersTheModelHas) {
  RunRecord record = completed_record();
  record.parameters.reset();
  write_record(path_, record);
  EXPECT_EQ(read_record(path_).parameters, std::nullopt);
  record.parameters = 5'000'000'000;
  write_record(path_, record);
  EXPECT_EQ(read_record(path_).parameters, 5'000'000'000U);
}

TEST_F(RecordTest, BytesThatAreNoUtf8DoNotLoseTheRecord) {
  RunRecord record = completed_record();
  record.command_line = {"eggroll", "text=\xff.txt"};
  write_record(path_, record);
  EXPECT_EQ(read_record(path_).command_line.at(1), "text=\xef\xbf\xbd.txt");
}

TEST_F(RecordTest, RefusesWhatItCannotRead) {
  const auto message = [&](const std::string& text) {
    write_plainly(path_, text);
    return message_of([&] { read_record(path_); });
  };
  const std::string no_record =
      path_.string() + " is no record: expected a JSON object with a \"schema\"; give the path of a run's record.json";
  EXPECT_EQ(message(""), no_record);
  EXPECT_EQ(message("{\"schema\": 1"), no_record);
  EXPECT_EQ(message("{\"name\": 1}"), no_record);
  for (const char* schema : {"1", "3"}) {
    EXPECT_EQ(
        message(std::string("{\"schema\": ") + schema + "}"),
        path_.string() + " has schema " + schema + ", this eggroll reads schema 2; use the eggroll that wrote it");
  }
  EXPECT_EQ(message(sealed({{"schema", 2}}).dump()), path_.string() +
                                                         " is damaged: key 'name' not found; restore it from a copy or "
                                                         "run its configuration again");
  ordered_json json = record_to_json(completed_record());
  json["threads"] = "two";
  EXPECT_EQ(message(sealed(json).dump()),
            path_.string() +
                " is damaged: a whole number in range is expected, but it is \"two\"; restore it from a copy "
                "or run its configuration again");
  json["status"] = "done";
  EXPECT_EQ(
      message(sealed(json).dump()),
      path_.string() +
          " has the status 'done', expected one of: running, completed, interrupted, failed, stopped; correct it or "
          "restore the record from a copy");
}

TEST_F(RecordTest, RefusesAFlippedBit) {
  write_record(path_, completed_record());
  const std::string whole = read_file(path_);
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string flipped = whole;
    flipped[i] = static_cast<char>(flipped[i] ^ (1 << i % 7));
    write_plainly(path_, flipped);
    const std::string text = message_of(
        [&] { EXPECT_EQ(record_to_json(read_record(path_)), record_to_json(completed_record())) << "byte " << i; });
    EXPECT_TRUE(text.empty() || text.find(path_.string()) == 0) << text;
  }
  ordered_json without = record_to_json(completed_record());
  write_plainly(path_, without.dump());
  EXPECT_EQ(message_of([&] { read_record(path_); }),
            path_.string() +
                " is damaged or was changed: it lacks its sha256; restore it from a copy or run its "
                "configuration again");
}

TEST_F(RecordTest, RefusesFiguresThatJsonCannotHold) {
  RunRecord record = completed_record();
  record.best->bits_per_unit = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(message_of([&] { write_record(path_, record); }),
            "bits_per_unit of the record is nan, expected a finite number; report this as a bug");
  EXPECT_FALSE(std::filesystem::exists(path_));
}

class SchemaTest : public RecordTest {
 protected:
  // Runs validate_record.py on everything in a folder; returns its exit code. Its output is in faults_.
  int validate(const std::filesystem::path& folder) {
    const std::string command = std::string("python3 '") + EGGROLL_SOURCE_DIR + "/tests/record/validate_record.py' '" +
                                folder.string() + "'/* 2> '" + output_.string() + "'";
    const int status = std::system(command.c_str());
    faults_ = read_file(output_);
    return WEXITSTATUS(status);
  }

  const std::filesystem::path output_ = folder_ / "faults.txt";
  std::string faults_;
};

TEST_F(SchemaTest, AcceptsOurRecordsAndNoOthers) {
  std::filesystem::create_directory(folder_ / "good");
  write_record(folder_ / "good" / "completed.json", completed_record());
  write_record(folder_ / "good" / "failed.json", failed_record());
  write_record(folder_ / "good" / "crashed.json", crashed_record());
  write_record(folder_ / "good" / "stopped.json", stopped_record());
  write_record(folder_ / "good" / "summarized.json", summarized_record());
  write_record(folder_ / "good" / "averaged.json", averaged_record());
  const int code = validate(folder_ / "good");
  if (code == 2) GTEST_SKIP() << faults_;
  EXPECT_EQ(code, 0) << faults_;

  const ordered_json completed = sealed(record_to_json(completed_record()));
  const std::vector<std::pair<std::string, ordered_json>> faults = {
      {"/extra", 1},
      {"/environment/extra", 1},
      {"/best/extra", 1},
      {"/final/bytes", 0},
      {"/plugins/0/extra", 1},
      {"/baselines/trigram", 3.1},
      {"/baselines/kneser_ney/five", 3.1},
      {"/baselines/kneser_ney", ordered_json::object()},
      {"/overlap/16", 1.5},
      {"/overlap/0", 0.5},
      {"/counting_seconds", -1},
      {"/checkpoint_bytes", -1},
      {"/dataset/extra", 1},
      {"/schema", 1},
      {"/schema", 3},
      {"/sha256", "abc"},
      {"/newest/extra", 1},
      {"/newest", nullptr},  // though completed
      {"/status", "done"},
      {"/status", "failed"},   // without an error
      {"/status", "running"},  // with an end
      {"/error", "but it completed"},
      {"/status", "stopped"},  // for no reason
      {"/stopped_because", "but it completed"},
      {"/failure", record_to_json(crashed_record())["failure"]},
      {"/sweep", {{"name", "widths"}}},
      {"/final", nullptr},  // though completed
      {"/weights_sha256", "abc"},
      {"/wall_seconds", -1},
      {"/plan", "two\nlines"},
      {"/memory_bytes", 0},
      {"/parameters", -1},
      {"/steps", 1.5},
      {"/started_utc", "yesterday"},
      {"/plugins/0/chosen_because", nullptr},
      {"/plugins/1/chosen_because", "models are not chosen"},
      {"/files/metrics", "/tmp/metrics.jsonl"},
      {"/environment/spec_hash", "12"}};
  std::vector<std::filesystem::path> bad;
  std::filesystem::create_directory(folder_ / "bad");
  const auto add = [&](const ordered_json& json) {
    bad.push_back(folder_ / "bad" / (std::to_string(bad.size()) + ".json"));
    write_plainly(bad.back(), json.dump());
  };
  for (const auto& [place, value] : faults) {
    ordered_json json = completed;
    json[ordered_json::json_pointer(place)] = value;
    add(json);
  }
  const std::set<std::string> newer = {"counting_seconds", "overlap", "parameters", "checkpoint_bytes"};
  for (const auto& [key, value] : completed.items()) {
    if (newer.contains(key)) continue;  // older records lack it
    ordered_json json = completed;
    json.erase(key);
    add(json);
  }
  const ordered_json summarized = sealed(record_to_json(summarized_record()));
  for (const auto& [place, value] :
       std::vector<std::pair<std::string, ordered_json>>{{"/summary/extra", 1},
                                                         {"/summary/held_out/extra", 1},
                                                         {"/summary/held_out/step/0", -1},
                                                         {"/summary/training/bits/0", "x"},
                                                         {"/summary/update_rate", {1, 2, 3}},
                                                         {"/summary/update_rate_of_voted", nullptr},
                                                         {"/summary/step_seconds", {1, 2, 3, 4}},
                                                         {"/summary/late/changed", nullptr},
                                                         {"/summary/monitor/most_saturated_value", {{"name", "head"}}},
                                                         {"/summary/hook", ordered_json::object()},
                                                         {"/summary/hook/score", "x"},
                                                         {"/summary/hook/a b", 1},
                                                         {"/summary/monitor/extra", 1}}) {
    ordered_json json = summarized;
    json[ordered_json::json_pointer(place)] = value;
    add(json);
  }
  const ordered_json averaged = sealed(record_to_json(averaged_record()));
  for (const auto& [place, value] :
       std::vector<std::pair<std::string, ordered_json>>{{"/average", nullptr},
                                                         {"/average/extra", 1},
                                                         {"/average/newest", nullptr},  // though completed
                                                         {"/average/final", nullptr},
                                                         {"/average/final/extra", 1},
                                                         {"/average", {{"final", averaged["average"]["final"]}}}}) {
    ordered_json json = averaged;
    json[ordered_json::json_pointer(place)] = value;
    add(json);
  }
  for (const auto& [key, value] : summarized["summary"].items()) {
    if (key == "hook" || key == "update_rate_of_voted") continue;  // a run without a hook and an older one have none
    ordered_json json = summarized;
    json["summary"].erase(key);
    add(json);
  }
  EXPECT_EQ(validate(folder_ / "bad"), 1);
  for (const std::filesystem::path& path : bad) {
    EXPECT_THAT(faults_, HasSubstr(path.string() + ": ")) << read_file(path);
  }
}

TEST(EnvironmentTest, SaysWhatThisBuildAndMachineAre) {
  const Environment environment = capture_environment();
  EXPECT_THAT(environment.host_version, MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
  EXPECT_NE(environment.host_commit, "");
  EXPECT_NE(environment.compiler, "");
  EXPECT_EQ(environment.abi, std::to_string(EGG_ABI_MAJOR) + "." + std::to_string(EGG_ABI_MINOR));
  EXPECT_EQ(environment.spec_hash, hex64(EGG_SPEC_HASH));
  EXPECT_EQ(hex64(0x1f), "000000000000001f");
  EXPECT_NE(environment.system.find(' '), std::string::npos);
  EXPECT_GE(environment.cpu.cores, 1U);
  EXPECT_THAT(utc_now(), MatchesRegex("20[0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9]:[0-9][0-9]Z"));
}

}  // namespace
}  // namespace eggroll
