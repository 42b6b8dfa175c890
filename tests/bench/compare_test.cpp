// tools/bench_compare in a repository of its own, whose eggroll_bench is a script that reports the times it is given.
#include "support/repository.h"

namespace eggroll::test {
namespace {

using ::testing::HasSubstr;

class CompareTest : public RepositoryTest {
 protected:
  CompareTest() {
    fs::create_directories(folder_ / "tools");
    fs::create_directories(folder_ / "configs");
    fs::create_directories(folder_ / "experiments");
    fs::copy_file(EGGROLL_SOURCE_DIR "/tools/bench_compare", script_);
    write_plainly(folder_ / "configs" / "config.yaml", "");
    write_plainly(folder_ / "experiments" / "plain.yaml", "");
    write_plainly(folder_ / ".gitignore", "build/\n");
    write_plainly(folder_ / "CMakeLists.txt",
                  "cmake_minimum_required(VERSION 3.25)\nproject(Scratch NONE)\n"
                  "configure_file(tools/bench/eggroll_bench bin/eggroll_bench COPYONLY)\n");
    git({"init", "--quiet"});
    commit();
    fs::create_directories(folder_ / "tools" / "bench");
    write_plainly(folder_ / "tools" / "bench" / "CMakeLists.txt", "");
    take(100.0);
    commit();
  }

  // Makes the working tree's benchmark take this number of milliseconds.
  void take(double milliseconds) {
    const fs::path path = folder_ / "tools" / "bench" / "eggroll_bench";
    write_plainly(
        path,
        "#!/bin/sh\nfor word in \"$@\"; do case $word in --benchmark_out=*) out=${word#*=} ;; esac; done\n"
        "[ -f configs/config.yaml ] && [ -f experiments/plain.yaml ] || exit 3\n"
        "basename \"$PWD\" >>" +
            order_.string() +
            "\n"
            "echo '{\"benchmarks\": [{\"name\": \"step/x/manual_time\", \"time_unit\": \"ms\", \"real_time\": " +
            std::to_string(milliseconds) + "}]}' >\"$out\"\n");
    fs::permissions(path, fs::perms::owner_all);
  }

  Result compare(const Arguments& arguments) { return run(script_, arguments); }

  // The tool ends with exit code 2 and one line on stderr.
  void expect_refused(const Arguments& arguments, const std::string& sentence) {
    const Result result = compare(arguments);
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_EQ(result.err, "bench_compare: " + sentence + "\n");
  }

  const fs::path order_ = folder_ / "build" / "order";
  const fs::path script_ = folder_ / "tools" / "bench_compare";
};

TEST_F(CompareTest, RefusesWhatItCannotCompare) {
  expect_refused({"HEAD", "--limit", "-1"}, "--limit is -1.0, expected a percentage of 0 or more");
  expect_refused({"HEAD", "--limit", "much"},
                 "argument --limit: invalid float value: 'much'; see tools/bench_compare --help");
  expect_refused({"HEAD", "--rounds", "0"}, "--rounds is 0, expected 1 or more");
  expect_refused({"HEAD", "--quick"}, "unrecognized arguments: --quick; see tools/bench_compare --help");
  expect_refused({"nowhere"}, "'nowhere' is no commit here, expected one that git rev-parse knows");
  expect_refused({"HEAD~1"}, "HEAD~1 has no eggroll_bench, expected a commit that has tools/bench; choose a later one");
}

TEST_F(CompareTest, SaysWhichBenchmarkIsSlowerThanTheLimit) {
  take(120.0);
  const Result slower = compare({"HEAD", "--rounds", "2"});
  EXPECT_EQ(slower.exit_code, 1) << slower.err;
  EXPECT_EQ(slower.err, "bench_compare: slower than HEAD by more than 5 %: step/x\n");
  EXPECT_THAT(slower.out, HasSubstr("step/x     100.000  120.000  1.200  1.200  1.200\n"));

  const Result allowed = compare({"HEAD", "--rounds", "1", "--limit", "25"});
  EXPECT_EQ(allowed.exit_code, 0) << allowed.err;
  EXPECT_THAT(allowed.out, HasSubstr("no benchmark is slower than HEAD by more than 25 %\n"));

  take(90.0);
  EXPECT_EQ(compare({"HEAD", "--rounds", "1"}).exit_code, 0);
}

TEST_F(CompareTest, TakesTheParentWhereNoBaseIsNamed) {
  expect_refused({}, "HEAD~1 has no eggroll_bench, expected a commit that has tools/bench; choose a later one");
  take(120.0);
  commit();
  const Result slower = compare({"--rounds", "1"});
  EXPECT_EQ(slower.exit_code, 1) << slower.err;
  EXPECT_EQ(slower.err, "bench_compare: slower than HEAD~1 by more than 5 %: step/x\n");
}

TEST_F(CompareTest, RoundsBeginWithEachSideInTurn) {
  EXPECT_EQ(compare({"HEAD", "--rounds", "3"}).exit_code, 0);
  const std::string tree = folder_.filename().string();
  std::vector<bool> is_tree;
  std::istringstream order(read_file(order_));
  for (std::string line; std::getline(order, line);) is_tree.push_back(line == tree);
  EXPECT_EQ(is_tree, (std::vector<bool>{false, true, true, false, false, true}));
}

// The base is built once, and its checkout is removed afterwards.
TEST_F(CompareTest, KeepsTheBuildAndNotTheCheckout) {
  EXPECT_EQ(compare({"HEAD", "--rounds", "1"}).exit_code, 0);
  EXPECT_FALSE(fs::exists(folder_ / ".git" / "worktrees"));
  const fs::path builds = folder_ / "build" / "bench_compare";
  EXPECT_EQ(entries_in(builds), 2U);  // the commit's and the working tree's
  for (const auto& entry : fs::directory_iterator(builds)) {
    if (entry.path().filename() != "tree") write_plainly(entry.path() / "bin" / "eggroll_bench", "#!/bin/sh\nexit 4\n");
  }
  const Result second = compare({"HEAD", "--rounds", "1"});
  EXPECT_EQ(second.exit_code, 2);
  EXPECT_THAT(second.err, HasSubstr("bin/eggroll_bench failed"));
}

TEST_F(CompareTest, AFailingBuildIsRefused) {
  write_plainly(folder_ / "CMakeLists.txt", "message(FATAL_ERROR \"broken on purpose\")\n");
  const Result result = compare({"HEAD", "--rounds", "1"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("broken on purpose"));
  EXPECT_THAT(result.err, HasSubstr("build/bench_compare/tree failed"));
}

}  // namespace
}  // namespace eggroll::test
