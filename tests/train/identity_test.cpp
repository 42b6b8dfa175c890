// Which configurations name the same run. Folders whose data have moved are still found.
#include "train/identity.h"

#include <gmock/gmock.h>

#include <cstdlib>

#include "config/host_settings.h"
#include "config/override.h"
#include "config/yaml.h"
#include "system/files.h"
#include "train/small_run.h"

namespace eggroll::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

TEST(RunHash, IsOfWhatMayChangeWeightsOrFiguresAlone) {
  const std::string hash = run_hash(small_config());
  for (const char* other : {"backend=auto", "backend.threads=3", "checkpoint.every=1", "checkpoint.keep=7",
                            "monitor.every=2", "stop.tokens=9", "results.dir=x", "processes.update=rebuilt"}) {
    EXPECT_EQ(run_hash(small_config({other})), hash) << other;
    EXPECT_TRUE(is_outside_hash(parse_override(other).key)) << other;
  }
  for (const char* other :
       {"seed=1", "train.steps=7", "eval.tokens=64", "dataset.tokens=1000", "noise.rank=2", "model.width=16",
        "optimizer=es_sgd", "optimizer.average=0.9", "fitness=sign", "name=other"}) {
    EXPECT_NE(run_hash(small_config({other})), hash) << other;
    EXPECT_FALSE(is_outside_hash(parse_override(other).key)) << other;
  }
}

TEST(RunHash, IsTheSha256OfItsJson) {
  const ConfigNode config = parse_yaml("seed: 1\nbackend: {threads: 2}\ncheckpoint: {keep: 3}\nstop: {bits: 1}\n", "");
  EXPECT_EQ(run_hash(config), sha256_hex(R"({"seed":1})"));
}

TEST(RunHash, ARunThatBeganBeforeThereWasAWarmupGoesOn) {
  std::string text = to_yaml(small_config());
  const size_t key = text.find("warmup");
  ASSERT_NE(key, std::string::npos);
  const size_t line = text.rfind('\n', key);
  text.erase(line, text.find('\n', key) - line);
  const ConfigNode before = parse_yaml(text, "");
  ASSERT_EQ(before.find("eval.warmup"), nullptr);
  EXPECT_EQ(run_hash(before), run_hash(small_config()));
  EXPECT_NE(run_hash(before), run_hash(small_config({"eval.warmup=1"})));
  EXPECT_EQ(eggroll::Setup(before, built_plugins()).eval.warmup, 0U);
}

TEST(RunHash, ATextThatIsTakenWholeHasTheHashOfBefore) {
  const auto hash = [](const std::vector<std::string>& overrides) { return run_hash(repository_config(overrides)); };
  EXPECT_EQ(hash({}), hash({"~dataset.take"}));
  EXPECT_NE(hash({}), hash({"dataset.take=1000"}));
}

TEST(RunHash, IsNotOfTheTestSplit) {
  const ConfigNode whole = repository_config({"dataset.path=a.txt"});
  EXPECT_EQ(run_hash(repository_config({"dataset.path=a.txt", "dataset.test_path=b.txt"})), run_hash(whole));
  EXPECT_EQ(run_hash(repository_config({"dataset.path=a.txt", "~dataset.test_path"})), run_hash(whole));
}

TEST(Paths, AreTakenFromTheCurrentFolderAndFromHome) {
  const std::string here = fs::current_path().string();
  EXPECT_EQ(absolute_path("a/../b.txt"), here + "/b.txt");
  EXPECT_EQ(absolute_path("/a//b"), "/a/b");
  EXPECT_EQ(absolute_path(""), "");
  const char* const home = std::getenv("HOME");
  ASSERT_NE(home, nullptr);
  EXPECT_EQ(absolute_path("~/b.txt"), home + std::string("/b.txt"));
  EXPECT_EQ(absolute_path("~b"), here + "/~b");
  const ConfigNode config = with_absolute_paths(repository_config({"plugins.path=[p]", "dataset.test_path='t/*.txt'"}));
  EXPECT_EQ(config.at("dataset.test_path").text(), here + "/t/*.txt");
  EXPECT_EQ(config.at("plugins.path.0").text(), here + "/p");
  EXPECT_EQ(config.at("dataset.path").kind(), ConfigNode::Kind::kNull);
}

// A run in results/ on a text of the test's own.
class IdentityTest : public ScratchTest {
 protected:
  ConfigNode config(const fs::path& text, const std::vector<std::string>& more = {}) const {
    return with_absolute_paths(
        repository_config(joined(joined(kSmall, {"dataset.path=" + text.string(),
                                                 "results.dir=" + (folder_ / "results").string(), "train.steps=4"}),
                                 more)));
  }
  fs::path text(const std::string& name, const std::string& words) const {
    fs::create_directories((folder_ / name).parent_path());
    std::string all;
    while (all.size() < 2000) all += words;
    write_plainly(folder_ / name, all);
    return folder_ / name;
  }
  static RunRecord run(const ConfigNode& config, const fs::path& folder, const TrainHooks& hooks = {}) {
    fs::create_directories(folder);
    write_atomically(RunFolder{folder}.config(), to_yaml(config));
    return run_in(folder, config, hooks);
  }
};

TEST_F(IdentityTest, ARunIsFoundWhereverItsDataLie) {
  const ConfigNode first = config(text("a/train.bin", "one and two. "));
  const fs::path folder = run_folder_of(first);
  EXPECT_THAT(folder.string(), HasSubstr("run-" + run_hash(first).substr(0, 12)));
  run(first, folder);
  EXPECT_EQ(run_folder_of(config(folder_ / "a" / "." / "train.bin", {"backend.threads=2"})), folder);
  EXPECT_EQ(run_folder_of(config(text("b/train.bin", "one and two. "))), folder);
  // Another text under the same name, and another setting, make another run.
  EXPECT_NE(run_folder_of(config(text("c/train.bin", "three and four. "))), folder);
  EXPECT_NE(run_folder_of(config(folder_ / "b" / "train.bin", {"train.steps=5"})), folder);
  EXPECT_NE(run_folder_of(config(folder_ / "b" / "train.bin", {"name=other"})), folder);
  // A damaged configuration names no run, and does not stop another run from beginning.
  write_plainly(RunFolder{folder}.config(), "{");
  EXPECT_NE(run_folder_of(config(folder_ / "b" / "train.bin")), folder);
}

// The hash that it was begun with stays in its name, its journal, its checkpoints and its record.
TEST_F(IdentityTest, AFolderWhoseDataHaveMovedGoesOn) {
  const ConfigNode begun = config(text("a/train.bin", "one and two. "));
  const std::string former = run_hash(begun);
  const fs::path folder = run_folder_of(begun);
  const std::string weights = *run(begun, folder_ / "undisturbed").weights_sha256;

  std::atomic<bool> stop{false};
  TrainHooks hooks;
  hooks.stop = &stop;
  hooks.progress = [&](const Progress& progress) { stop = progress.done.step == 2; };
  EXPECT_EQ(run(begun, folder, hooks).status, RunStatus::kInterrupted);
  EXPECT_EQ(load_checkpoint(*latest_checkpoint(folder)).identity.config_hash, former);

  fs::rename(folder_ / "a", folder_ / "b");
  const fs::path data = folder_ / "b" / "train.bin";
  const ConfigNode now = config(data, {"backend=auto", "backend.threads=2", "checkpoint.every=3"});
  EXPECT_EQ(run_folder_of(now), folder);
  for (int launch = 0; launch < 2; ++launch) {  // the second launch finds the configuration that the first has left
    stop = false;
    hooks.progress = [&](const Progress& progress) { stop = launch == 0 && progress.done.step == 3; };
    const RunRecord record = run(now, folder, hooks);
    EXPECT_EQ(record.status, launch == 0 ? RunStatus::kInterrupted : RunStatus::kCompleted);
    EXPECT_EQ(record.config_hash, former);
    EXPECT_EQ(record.weights_sha256 == weights, launch == 1);
  }
  EXPECT_EQ(run_folder_of(now), folder);
  // Other settings in the same folder are refused.
  EXPECT_THAT(message_of([&] { run(config(data, {"noise.rank=2"}), folder); }), HasSubstr("another configuration"));
}

}  // namespace
}  // namespace eggroll::test
