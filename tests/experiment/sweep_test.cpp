// Sweeps as lists of points, without running any.
#include "experiment/sweep.h"

#include <gmock/gmock.h>

#include "record/files.h"
#include "record/scratch.h"

namespace eggroll::test {
namespace {

using ::testing::HasSubstr;

class SweepTest : public ScratchTest {
 protected:
  SweepTest() {
    std::filesystem::create_directories(folder_ / "configs");
    std::filesystem::create_directories(folder_ / "experiments");
    search_.config_dirs = {folder_ / "configs", EGGROLL_SOURCE_DIR "/configs"};
  }
  Sweep compose_grid(const std::string& grid) const {
    write_plainly(folder_ / "experiments" / "grid.yaml", "name: grid\nsweep: " + grid + "\n");
    return compose_sweep(search_, {"experiment=grid", "results.sweeps=" + (folder_ / "sweeps").string()});
  }

  ConfigSearch search_;
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
  EXPECT_EQ(sweep.points[1].member_tokens(), uint64_t{800} * 128 * 32);
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
  write_plainly(sweep.folder / "points.jsonl", "{}\n");
  EXPECT_THAT(message_of([&] { compose_grid("{product: [\"train.population=64\"]}"); }),
              HasSubstr("points.jsonl is damaged, expected a point on each line"));
}

TEST_F(SweepTest, AValueThatCannotStandNamesItsPoint) {
  EXPECT_THAT(message_of([&] { compose_grid("{product: [\"train.populaton=64,128\"]}"); }),
              HasSubstr("the point {\"train.populaton\":\"64\"}: command line 'train.populaton=64'"));
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
  EXPECT_THAT(message_of([&] { read_point(folder.path); }), HasSubstr("point.json is damaged; run its sweep again"));
}

}  // namespace
}  // namespace eggroll::test
