#include "record/run_files.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "record/run_lock.h"
#include "record/scratch.h"

namespace eggroll {
namespace {

namespace fs = std::filesystem;

class RunFilesTest : public ScratchTest {
 protected:
  RunFilesTest() { fs::create_directory(run_.path); }
  void write(const std::string& name, const std::string& text = "") const {
    fs::create_directories((run_.path / name).parent_path());
    write_plainly(run_.path / name, text);
  }

  const RunFolder run_{folder_ / "run"};
};

TEST_F(RunFilesTest, ARunHasAConfigurationAndALockOrARecord) {
  EXPECT_FALSE(is_run(run_));
  write("config.yaml", "model: x\n");
  EXPECT_FALSE(is_run(run_)) << "as many a folder has";
  write("lock");
  write("record.json", "{\"name\": \"a song\"}");
  EXPECT_FALSE(is_run(run_));
  write("record.json", R"({"schema": 2, "status": "completed", "config_hash": "0"})");
  EXPECT_TRUE(is_run(run_));
  write("record.json", "{");
  EXPECT_FALSE(is_run(run_));
  { const RunLock lock(run_.path); }
  EXPECT_TRUE(is_run(run_)) << "its record is damaged";
  fs::rename(run_.config(), folder_ / "elsewhere");
  EXPECT_FALSE(is_run(run_));
  fs::create_symlink(folder_ / "elsewhere", run_.config());
  EXPECT_FALSE(is_run(run_));
}

TEST_F(RunFilesTest, MetricsBeginWithAWholeLine) {
  EXPECT_FALSE(has_metrics(run_));
  write("metrics.jsonl");
  EXPECT_FALSE(has_metrics(run_));
  write("metrics.jsonl", "{\"step\":0");
  EXPECT_FALSE(has_metrics(run_));
  write("metrics.jsonl", "{\"step\":0}\n");
  EXPECT_TRUE(has_metrics(run_));
  fs::remove(run_.metrics());
  ASSERT_EQ(::mkfifo(run_.metrics().c_str(), 0600), 0);
  EXPECT_TRUE(has_metrics(run_)) << "nobody knows";
}

TEST_F(RunFilesTest, WhatNoRunWritesIsForeign) {
  for (const char* own : {"config.yaml",
                          ".config.yaml.tmp",
                          "record.json",
                          "metrics.jsonl",
                          "journal.bin",
                          "curve.png",
                          "curve.png.tmp",
                          "curve.gp",
                          "samples.txt",
                          "lock",
                          "labels.json",
                          "labels.lock",
                          "point.json",
                          "log.txt",
                          "held",
                          "checkpoints/step-00000010/model.safetensors",
                          "checkpoints/.tmp-20/.model.safetensors.tmp",
                          "initial/checkpoint.json",
                          ".tmp-initial/states.safetensors",
                          "evaluations/step-00000010-abc.json",
                          "evaluations/step-00000010-abc.json.77"}) {
    write(own);
  }
  EXPECT_EQ(foreign_entry(run_), std::nullopt);
  for (const char* foreign : {"notes.txt", "src/a.c", "report/findings.md", "checkpoints/mine.txt",
                              "checkpoints/step-00000010/mine.txt", "initial/sub/model.safetensors",
                              "evaluations/mine.json", "lock.d/x", "checkpoints/step-00000010/record.json"}) {
    write(foreign);
    const auto found = foreign_entry(run_);
    ASSERT_TRUE(found) << foreign;
    const fs::path below = found->lexically_relative(run_.path);
    EXPECT_TRUE(std::string(foreign).starts_with(below.string())) << below;
    fs::remove_all(*found);
  }
  fs::remove(run_.curve());
  fs::create_symlink(folder_, run_.curve());
  EXPECT_EQ(foreign_entry(run_), run_.curve()) << "a link is nobody's own";
  fs::remove(run_.curve());
  fs::create_directory(run_.curve());
  EXPECT_EQ(foreign_entry(run_), run_.curve());
}

}  // namespace
}  // namespace eggroll
