// Sweeps as lists of points, without running any.
#include "experiment/sweep.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "eggroll/ops.h"
#include "experiment/check_points.h"
#include "experiment/outcome.h"
#include "experiment/own_folder.h"
#include "record/seal.h"
#include "record/stated_claims.h"
#include "system/files.h"

namespace eggroll::test {
namespace {

using ::testing::HasSubstr;

class SweepTest : public OwnFolderTest {
 protected:
  Sweep compose_grid(const std::string& grid, const std::vector<std::string>& more = {}) const {
    write_experiment("grid", "name: grid\nsweep: " + grid + "\n");
    return compose_sweep(search_, overrides("grid", more));
  }
};

TEST_F(SweepTest, SeedsChangeSlowest) {
  const Sweep sweep = compose_grid("{seeds: 2, product: [\"train.population=64,128\"]}");
  ASSERT_EQ(sweep.points.size(), 4U);
  EXPECT_EQ(sweep.points[1].seed, 0U);
  EXPECT_EQ(sweep.points[1].axes.dump(), R"({"train.population":"128"})");
  EXPECT_EQ(sweep.points[2].seed, 1U);
  EXPECT_EQ(sweep.points[2].config.at("seed").integer(), 1);
  EXPECT_EQ(sweep.points[2].config.at("train.population").integer(), 64);
  EXPECT_EQ(sweep.points[2].config.find("sweep"), nullptr);
  EXPECT_EQ(sweep.points[1].member_tokens(), uint64_t{250} * 128);
}

// The command line is never ignored.
TEST_F(SweepTest, TheCommandLineWinsOverAxesAndSeeds) {
  const std::string grid = "{seeds: 2, product: [\"train.population=64,128\", \"optimizer=sign_es,es_adamw\"]}";
  Sweep all = compose_grid(grid);
  write_sweep(all);
  const Sweep one = compose_grid(grid, {"train.population=128", "optimizer=es_sgd", "seed=7"});
  ASSERT_EQ(one.points.size(), 1U);
  EXPECT_EQ(one.points[0].seed, 7U);
  EXPECT_EQ(one.points[0].axes.dump(), R"({"train.population":"128","optimizer":"es_sgd"})");
  EXPECT_EQ(one.points[0].config.at("optimizer.name").text(), "es_sgd");
  EXPECT_EQ(one.points[0].config.at("train.population").integer(), 128);
  EXPECT_EQ(one.grid.said.size(), 3U);
  // A point of a narrowed sweep is the same point of the whole sweep.
  const Sweep known = compose_grid(grid, {"train.population=128", "optimizer=es_adamw", "seed=1"});
  ASSERT_EQ(known.points.size(), 1U);
  EXPECT_EQ(known.points[0].folder, all.points[7].folder);
}

TEST_F(SweepTest, FolderNamesAreSafeAndShort) {
  const std::string odd(200, 'x');
  const Sweep sweep = compose_grid("{points: [[\"dataset.path='a b/" + odd + "'\"]]}");
  const std::string& folder = sweep.points[0].folder;
  EXPECT_THAT(folder, testing::MatchesRegex("0000-[a-z_=,.A-Z0-9-]*-[0-9a-f]*"));
  EXPECT_EQ(folder.size(), 5 + 80 + 1 + 8U);
}

TEST_F(SweepTest, IndicesOutliveTheGrid) {
  Sweep first = compose_grid("{product: [\"train.population=64,128\"]}");
  write_sweep(first);
  Sweep second = compose_grid("{product: [\"train.population=32,128\"]}");
  EXPECT_EQ(second.points[0].index, 2U);
  EXPECT_TRUE(second.points[0].is_new);
  EXPECT_EQ(second.points[1].index, 1U);
  EXPECT_EQ(second.points[1].folder, first.points[1].folder);
  EXPECT_EQ(second.left_behind, 1U);
  write_sweep(second);
  write_sweep(second);
  EXPECT_EQ(compose_grid("{product: [\"train.population=32,64,128\"]}").left_behind, 0U);
}

TEST_F(SweepTest, WhatChangesNoWeightsMakesNoOtherPoints) {
  const std::string grid = "{product: [\"train.population=64,128\"]}";
  Sweep first = compose_grid(grid);
  write_sweep(first);
  for (const char* setting : {"backend.threads=1", "backend=reference", "checkpoint.every=7", "checkpoint.keep=5"}) {
    const Sweep again = compose_grid(grid, {setting});
    EXPECT_EQ(again.points[1].folder, first.points[1].folder) << setting;
    EXPECT_EQ(again.left_behind, 0U) << setting;
  }
  EXPECT_EQ(compose_grid(grid, {"eval.tokens=64"}).left_behind, 2U);
}

TEST_F(SweepTest, AnAxisOutsideTheHashMakesPointsOfItsOwn) {
  const std::string grid =
      "{product: [\"backend.threads=1,2\", {zip: [\"checkpoint.every=5,6\", \"noise.rank=1,1\"]}]}";
  Sweep sweep = compose_grid(grid);
  ASSERT_EQ(sweep.points.size(), 4U);
  EXPECT_EQ(sweep.repeated, 0U);
  write_sweep(sweep);
  const Sweep again = compose_grid(grid, {"backend=reference"});
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(again.points[i].folder, sweep.points[i].folder);
}

// The hash of a point changes, for example, if its data have moved.
TEST_F(SweepTest, PointsOfOtherHashesAreFoundByTheirFolders) {
  const std::string grid = "{product: [\"train.population=64,128\", \"backend.threads=1,2\"]}";
  Sweep sweep = compose_grid(grid);
  write_sweep(sweep);
  std::string lines;
  for (const std::string& line : lines_of(read_file(sweep.folder / "points.jsonl"))) {
    nlohmann::ordered_json point = nlohmann::ordered_json::parse(line);
    point.erase("crc");
    std::string hash = point.at("hash");
    std::reverse(hash.begin(), hash.end());
    point["hash"] = hash;
    lines += sealed_line(point) + "\n";
  }
  for (const SweepPoint& point : sweep.points) {
    std::filesystem::create_directories(sweep.folder_of(point).path);
    write_point(sweep, point);
  }
  write_plainly(sweep.folder / "points.jsonl", lines);
  for (const char* setting : {"monitor.every=0", "checkpoint.every=7"}) {
    const Sweep again = compose_grid(grid, {setting});
    for (size_t i = 0; i < 4; ++i) EXPECT_EQ(again.points[i].folder, sweep.points[i].folder) << setting;
    EXPECT_EQ(again.left_behind, 0U);
  }
}

TEST_F(SweepTest, ALineThatAPowerCutLeftIsWrittenAgain) {
  Sweep sweep = compose_grid("{product: [\"train.population=64,128\"]}");
  write_sweep(sweep);
  const std::filesystem::path file = sweep.folder / "points.jsonl";
  const std::string whole = read_file(file);
  write_plainly(file, whole.substr(0, whole.size() - 5));
  Sweep again = compose_grid("{product: [\"train.population=64,128\"]}");
  EXPECT_TRUE(again.points[1].is_new);
  write_sweep(again);
  EXPECT_EQ(read_file(file), whole);
}

TEST_F(SweepTest, DamageIsNamed) {
  Sweep sweep = compose_grid("{product: [\"train.population=64,128\"]}");
  write_sweep(sweep);
  const std::string lines = read_file(sweep.folder / "points.jsonl");
  // A line with a wrong hash, or a missing line, would make a point look new.
  const size_t digit = lines.find("\"hash\":\"") + 8;
  std::string changed = lines;
  changed[digit] = changed[digit] == '0' ? '1' : '0';
  // A line whose checksum was cut out is wrong too.
  const size_t seal = lines.find(",\"crc\"");
  const std::string cut = std::string(lines).replace(seal, lines.find('\n') - seal, "}");
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"{}\n", "it has no checksum"},
      {changed, "its checksum is not that of the line"},
      {cut, "it has no checksum"},
      {lines.substr(lines.find('\n') + 1), "expected point 0 and its folder"},
      {lines + lines, "expected point 2 and its folder"}};
  for (const auto& [damaged, reason] : cases) {
    write_plainly(sweep.folder / "points.jsonl", damaged);
    EXPECT_THAT(message_of([&] { compose_grid("{product: [\"train.population=64\"]}"); }),
                HasSubstr("points.jsonl is damaged: " + reason + "; restore it from a copy"));
  }
}

TEST_F(SweepTest, AValueThatCannotStandNamesItsPoint) {
  EXPECT_THAT(message_of([&] { compose_grid("{product: [\"train.populaton=64,128\"]}"); }),
              HasSubstr("the point {\"train.populaton\":\"64\"}: command line 'train.populaton=64'"));
}

std::string claim_grid(const std::string& says) {
  return "{product: [\"train.population=64,128\"], claims: [{says: '" + says +
         "', compare: {axis: train.population, value: 64, with: 128}, expect: lower}]}";
}

// A record of the point, with the claims of its point.json.
void write_record_of(const Sweep& sweep, const SweepPoint& point, RunStatus status, uint64_t steps) {
  const RunFolder folder = sweep.folder_of(point);
  std::filesystem::create_directories(folder.path);
  write_point(sweep, point);
  RunRecord record;
  record.status = status;
  record.steps = steps;
  record.sweep = read_point(folder.path)->sweep;
  write_record(folder.record(), record);
}

TEST_F(SweepTest, ClaimsAreFixedOnceAPointHasBegun) {
  Sweep first = compose_grid(claim_grid("a"));
  write_sweep(first);
  Sweep second = compose_grid(claim_grid("b"));
  write_sweep(second);
  const std::filesystem::path file = second.folder / kStatedClaimsName;
  std::vector<StatedClaim> stated = read_stated_claims(file);
  ASSERT_EQ(stated.size(), 1U);  // nothing had begun
  EXPECT_EQ(stated[0].claim.at("says"), "b");
  EXPECT_EQ(stated[0].late.begun, 0U);
  EXPECT_EQ(stated[0].late.runs, 2U);

  write_record_of(second, second.points[0], RunStatus::kCompleted, 800);
  write_record_of(second, second.points[1], RunStatus::kRunning, 0);
  const std::string before = read_file(file);
  write_sweep(second);
  EXPECT_EQ(read_file(file), before);

  Sweep third = compose_grid(claim_grid("c"));
  write_sweep(third);
  EXPECT_THAT(read_file(file), testing::StartsWith(before));
  stated = read_stated_claims(file);
  ASSERT_EQ(stated.size(), 2U);
  EXPECT_EQ(stated[1].claim.at("says"), "c");
  EXPECT_EQ(stated[1].late.begun, 2U);
  EXPECT_EQ(stated[1].late.ended, 1U);
  EXPECT_EQ(stated[1].late.runs, 2U);
  const std::string after = read_file(file);
  write_sweep(second);
  EXPECT_EQ(read_file(file), after);

  // A point that has begun keeps its claims; one that failed before its first step takes the new ones.
  write_point(third, third.points[0]);
  EXPECT_EQ(read_point(third.folder_of(third.points[0]).path)->sweep.claims[0].at("says"), "b");
  write_record_of(second, second.points[0], RunStatus::kFailed, 0);
  write_point(third, third.points[0]);
  EXPECT_EQ(read_point(third.folder_of(third.points[0]).path)->sweep.claims[0].at("says"), "c");
}

// Records that are older than the file of claims still say what was claimed.
TEST_F(SweepTest, ClaimsThatRecordsCarryAreNotLate) {
  Sweep sweep = compose_grid(claim_grid("a"));
  write_sweep(sweep);
  write_record_of(sweep, sweep.points[0], RunStatus::kCompleted, 800);
  std::filesystem::remove(sweep.folder / kStatedClaimsName);
  write_sweep(sweep);
  EXPECT_EQ(read_stated_claims(sweep.folder / kStatedClaimsName).at(0).late.begun, 0U);
}

TEST_F(SweepTest, DamagedClaimsStopASweepInASentence) {
  Sweep sweep = compose_grid(claim_grid("a"));
  write_sweep(sweep);
  write_record_of(sweep, sweep.points[0], RunStatus::kCompleted, 800);
  write_plainly(sweep.folder / kStatedClaimsName, "{\"claim\": 3}\n");
  EXPECT_THAT(message_of([&] { write_sweep(sweep); }), HasSubstr("claims.jsonl is damaged"));
}

TEST_F(SweepTest, APointsFileTellsItsPlace) {
  Sweep sweep = compose_grid("{question: 'Why?', product: [\"train.population=64,128\"]}");
  write_sweep(sweep);
  EXPECT_FALSE(read_point(sweep.folder).has_value());
  const RunFolder folder = sweep.folder_of(sweep.points[1]);
  std::filesystem::create_directories(folder.path);
  write_point(sweep, sweep.points[1]);
  const std::optional<PointFile> point = read_point(folder.path);
  ASSERT_TRUE(point.has_value());
  EXPECT_EQ(point->sweep.point, 1U);
  EXPECT_EQ(point->sweep.question, "Why?");
  EXPECT_EQ(point->overrides, sweep.points[1].overrides);
  write_plainly(folder.point(), "{");
  EXPECT_THAT(message_of([&] { read_point(folder.path); }),
              AllOf(HasSubstr("point.json is not complete JSON"), HasSubstr("; run its sweep again")));
  write_plainly(folder.point(), sealed({{"sweep", 3}}).dump());
  EXPECT_THAT(message_of([&] { read_point(folder.path); }),
              AllOf(HasSubstr("point.json is damaged"), HasSubstr("; run its sweep again")));
  for (const char* unsealed : {"{\"sweep\": 3, \"overrides\": []}", "3"}) {
    write_plainly(folder.point(), unsealed);
    EXPECT_THAT(message_of([&] { read_point(folder.path); }),
                HasSubstr("point.json is damaged: it lacks its sha256; run its sweep again"));
  }
}

// A mean over points of two op sets would belong to neither set.
TEST_F(SweepTest, WhatAnotherOpSetMadeIsNotDone) {
  Sweep sweep = compose_grid("{product: [\"train.population=64,128\"]}");
  write_sweep(sweep);
  const SweepPoint& point = sweep.points[0];
  const RunFolder folder = sweep.folder_of(point);
  const auto end_with = [&](RunStatus status, const std::string& spec_hash) {
    write_record_of(sweep, point, status, 800);
    RunRecord record = read_record(folder.record());
    record.environment.spec_hash = spec_hash;
    write_record(folder.record(), record);
  };
  const std::string own = hex64(EGG_SPEC_HASH);
  const std::string refusal = "the run in " + folder.path.string() +
                              " has ended, and was made with another op set or noise (its hash is 0123456789abcdef, "
                              "today's " +
                              own +
                              "), so that it is not taken as done; remove that folder to run it again, or give "
                              "another name or another folder of results";
  end_with(RunStatus::kCompleted, own);
  EXPECT_EQ(standing_of(sweep, point).state, PointState::kDone);
  end_with(RunStatus::kCompleted, "0123456789abcdef");
  EXPECT_EQ(message_of([&] { standing_of(sweep, point); }), refusal);
  // This holds even if the settings cannot be opened today, so that program and rule are not known.
  const std::vector<PointCheck> checks(2, PointCheck{"it cannot run", "", 0, "", "", {}});
  EXPECT_EQ(message_of([&] { require_reusable(sweep, checks); }), refusal);
  // A point that has not ended does not count.
  end_with(RunStatus::kFailed, "0123456789abcdef");
  EXPECT_EQ(standing_of(sweep, point).state, PointState::kFailed);
  EXPECT_EQ(require_reusable(sweep, checks), "");
}

}  // namespace
}  // namespace eggroll::test
