// results/records.schema.json agrees with the records that the host writes and reads.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <set>

#include "record/record_samples.h"
#include "record/scratch.h"
#include "record/seal.h"
#include "system/files.h"

namespace eggroll {
namespace {

using nlohmann::ordered_json;
using ::testing::HasSubstr;
using Place = ordered_json::json_pointer;

std::set<std::string> keys_of(const ordered_json& object) {
  std::set<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.insert(key);
  return keys;
}

const ordered_json& schema() {
  static const ordered_json schema = ordered_json::parse(read_file(EGGROLL_SOURCE_DIR "/results/records.schema.json"));
  return schema;
}

// What the schema says of the record's object at this place, and of all objects in it: its keys, and that a record
// without one of them is read where the schema does not require it.
void expect_keys(const ordered_json& record, const Place& place, const ordered_json& said) {
  if (said.contains("$ref"))
    return expect_keys(record, place, schema().at(Place(said["$ref"].get<std::string>().substr(1))));
  if (said.contains("anyOf")) return expect_keys(record, place, said["anyOf"][0]);
  if (said.contains("items")) return expect_keys(record, place / 0, said["items"]);
  if (!said.contains("properties")) return;
  EXPECT_EQ(keys_of(record.at(place)), keys_of(said["properties"])) << place.to_string();
  EXPECT_EQ(said["additionalProperties"], false) << place.to_string();
  const auto required = said["required"].get<std::set<std::string>>();
  for (const auto& [key, value] : said["properties"].items()) {
    ordered_json without = record;
    without.at(place).erase(key);
    const bool is_seal = place.empty() && key == "sha256";
    const std::string refusal = message_of([&] { record_from_json(is_seal ? without : sealed(without), "it"); });
    EXPECT_EQ(!refusal.empty(), required.contains(key)) << (place / key).to_string() << ": " << refusal;
    expect_keys(record, place / key, value);
  }
}

TEST(SchemaKeysTest, AreThoseOfARecord) { expect_keys(sealed(record_to_json(full_record())), Place(), schema()); }

class SchemaTest : public ScratchTest {
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

// Changes that make the record of a completed run faulty.
std::vector<std::pair<const char*, ordered_json>> faults() {
  return {{"/final/bytes", 0},
          {"/baselines/kneser_ney/five", 3.1},
          {"/baselines/kneser_ney", ordered_json::object()},
          {"/overlap/16", 1.5},
          {"/overlap/0", 0.5},
          {"/counting_seconds", -1},
          {"/checkpoint_bytes", -1},
          {"/schema", 1},
          {"/schema", 3},
          {"/sha256", "abc"},
          {"/newest", nullptr},  // though completed
          {"/status", "done"},
          {"/status", "failed"},   // without an error
          {"/status", "running"},  // with an end
          {"/error", "but it completed"},
          {"/status", "stopped"},  // for no reason
          {"/stopped_because", "but it completed"},
          {"/failure", record_to_json(crashed_record())["failure"]},
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
          {"/environment/spec_hash", "12"},
          {"/summary/held_out/step/0", -1},
          {"/summary/training/bits/0", "x"},
          {"/summary/update_rate", {1, 2, 3}},
          {"/summary/update_rate_of_voted", nullptr},
          {"/summary/step_seconds", {1, 2, 3, 4}},
          {"/summary/late/changed", nullptr},
          {"/summary/hook", ordered_json::object()},
          {"/summary/hook/score", "x"},
          {"/summary/hook/a b", 1},
          {"/average", nullptr},
          {"/average/newest", nullptr},  // though completed
          {"/average/final", nullptr}};
}

TEST_F(SchemaTest, AcceptsOurRecordsAndNoOthers) {
  std::filesystem::create_directory(folder_ / "good");
  RunRecord ended = averaged_record();
  ended.summary = summarized_record().summary;
  size_t written = 0;
  for (const RunRecord& record : {completed_record(), failed_record(), crashed_record(), stopped_record(), ended}) {
    write_record(folder_ / "good" / fmt::format("{}.json", written++), record);
  }
  const int code = validate(folder_ / "good");
  if (code == 2) GTEST_SKIP() << faults_;
  EXPECT_EQ(code, 0) << faults_;

  const ordered_json whole = record_to_json(ended);
  std::vector<std::filesystem::path> bad;
  std::filesystem::create_directory(folder_ / "bad");
  for (const auto& [place, value] : faults()) {
    ordered_json json = sealed(whole);
    json[Place(place)] = value;
    bad.push_back(folder_ / "bad" / (std::to_string(bad.size()) + ".json"));
    write_plainly(bad.back(), json.dump());
  }
  EXPECT_EQ(validate(folder_ / "bad"), 1);
  for (const std::filesystem::path& path : bad) {
    EXPECT_THAT(faults_, HasSubstr(path.string() + ": ")) << read_file(path);
  }
}

}  // namespace
}  // namespace eggroll
