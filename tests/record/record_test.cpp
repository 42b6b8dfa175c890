#include "record/record.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "eggroll/plugin.h"
#include "record/record_samples.h"
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

TEST_F(RecordTest, NamesTheBaselinesThatThereAreAndTheBestCount) {
  EXPECT_EQ(baselines_line(completed_record().baselines),
            "on the same data: unigram 4.800, bigram 3.500, PPMd 2.500, Kneser-Ney of 5 bytes 2.250");
  EXPECT_EQ(baselines_line({4.8, 3.5, 3.25}), "on the same data: unigram 4.800, bigram 3.500, gzip 3.250");
}

TEST_F(RecordTest, ReadsOneThatLacksWhatOlderVersionsDidNotWrite) {
  RunRecord older = completed_record();
  older.baselines = {4.8, 3.5, std::nullopt};
  older.counting_seconds.reset();
  older.overlap.clear();
  older.plan.reset();
  older.memory_bytes.reset();
  older.parameters.reset();
  older.checkpoint_bytes.reset();
  ordered_json json = record_to_json(older);
  for (const char* key : {"xz", "ppmd", "kneser_ney"}) EXPECT_EQ(json["baselines"].erase(key), 1U);
  for (const char* key : {"counting_seconds", "overlap", "plan", "memory_bytes"}) EXPECT_EQ(json.erase(key), 1U);
  for (const char* key : {"parameters", "checkpoint_bytes"}) EXPECT_FALSE(json.contains(key));
  const RunRecord read = record_from_json(sealed(json), "a record");
  EXPECT_EQ(read.baselines.unigram, 4.8);
  EXPECT_EQ(read.plan, std::nullopt);
  EXPECT_EQ(record_to_json(read), record_to_json(older));
}

TEST_F(RecordTest, RefusesNumbersByWhatIsNoCountOfBytes) {
  for (const char* key : {"five", "0", "-1", "5x", "", "99999999999"}) {
    ordered_json json = record_to_json(completed_record());
    json["overlap"][key] = 0.5;
    EXPECT_THAT(
        message_of([&] { record_from_json(sealed(json), "a record"); }),
        HasSubstr(fmt::format("a record is damaged: overlap: a count of bytes is expected, but a key is '{}'", key)));
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
                  HasSubstr(fmt::format("is damaged: {}: a whole number in range is expected, but it is {}", key,
                                        value.dump())));
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
  EXPECT_EQ(read.parameters, 5'000'000'000U);
}

// The average's numbers stand beside those of the weights. A record without them is of a run without an average, or
// older than averages.
TEST_F(RecordTest, KeepsTheNumbersOfTheAverage) {
  write_record(path_, averaged_record());
  const RunRecord read = read_record(path_);
  EXPECT_EQ(read.average->newest->bits_per_unit, 4.0999999999999996);
  EXPECT_EQ(read.average->final->bits_per_unit, 4.0);
  EXPECT_EQ(read.average->final->bytes, 120000U);
  EXPECT_EQ(read.final->bits_per_unit, 4.125);
  RunRecord running = averaged_record();
  running.average = AverageRecord{};
  write_record(path_, running);
  EXPECT_EQ(record_to_json(read_record(path_)).at("average"), ordered_json({{"newest", nullptr}, {"final", nullptr}}));
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
                " is damaged: summary.training: the columns are not equally long; restore it from a copy or run its "
                "configuration again");
  EXPECT_THAT(message("/summary/held_out/bits/1", "x"),
              HasSubstr(" is damaged: summary.held_out.bits: type must be number, but is string; "));
  for (const char* place :
       {"/summary", "/summary/held_out", "/summary/late", "/summary/update_rate/2", "/summary/monitor/step",
        "/summary/steps_total_seconds", "/summary/hook", "/summary/hook/score"}) {
    EXPECT_THAT(message(place, "x"), HasSubstr(path_.string() + " is damaged: ")) << place;
  }
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
                " is damaged: threads: a whole number in range is expected, but it is \"two\"; restore it from a copy "
                "or run its configuration again");
  json["status"] = "done";
  EXPECT_THAT(message(sealed(json).dump()),
              HasSubstr(" is damaged: status: one of running, completed, interrupted, failed, stopped is expected, but "
                        "it is \"done\"; restore it"));
  json = record_to_json(completed_record());
  json["plugins"][1].erase("file");
  EXPECT_THAT(message(sealed(json).dump()), HasSubstr(" is damaged: plugins: key 'file' not found; restore it"));
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

TEST_F(RecordTest, RefusesNumbersThatJsonCannotHold) {
  RunRecord record = completed_record();
  record.best->bits_per_unit = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(message_of([&] { write_record(path_, record); }),
            "bits_per_unit of the record is nan, expected a finite number; report this as a bug");
  EXPECT_FALSE(std::filesystem::exists(path_));
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
