// tools/lint in a repository of its own: its findings, and the files that it checks.
#include "support/repository.h"

namespace eggroll::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kFinding = "modernize-use-nullptr";

class LintTest : public RepositoryTest {
 protected:
  // The first commit has a finding, the second has none.
  LintTest() {
    for (const char* file : {"tools/lint", ".clang-format", ".clang-tidy", ".cmake-format.yaml"}) {
      fs::create_directories((folder_ / file).parent_path());
      fs::copy_file(fs::path(EGGROLL_SOURCE_DIR) / file, folder_ / file);
    }
    fs::create_directories(folder_ / "core");
    write_plainly(folder_ / ".gitignore", "build/\n");
    write_plainly(folder_ / "CMakePresets.json",
                  R"({"version": 6, "configurePresets": [{"name": "lint", "generator": "Ninja",
                      "binaryDir": "${sourceDir}/build/lint",
                      "cacheVariables": {"CMAKE_CXX_COMPILER": "clang++", "CMAKE_EXPORT_COMPILE_COMMANDS": "ON"}}]})");
    write_plainly(folder_ / "CMakeLists.txt",
                  "cmake_minimum_required(VERSION 3.25)\nproject(Scratch CXX)\nfile(GLOB sources core/*.cpp)\n"
                  "add_library(scratch ${sources})\nadd_custom_target(eggroll_commit)\n");
    write_plainly(folder_ / "core/old.cpp", "int* old_pointer() { return 0; }\n");
    git({"init", "--quiet", "--initial-branch=main"});
    commit();
    write_plainly(folder_ / "core/clean.cpp", "#include \"clean.h\"\n\nint clean() { return 1; }\n");
    write_plainly(folder_ / "core/clean.h", "int clean();\n");
    commit();
  }

  void SetUp() override {
    for (const char* tool : {"clang-tidy", "clang-format"}) {
      const Result found = run("/usr/bin/env", {tool, "--version"});
      if (found.out.find("version 14.") == std::string::npos) GTEST_SKIP() << tool << " 14 is not here";
    }
  }

  Result lint(const Arguments& arguments = {}) { return run(folder_ / "tools" / "lint", arguments); }

  // Lint fails, and its output holds these fragments, such as the place of the finding.
  void expect_found(const Arguments& arguments, const std::vector<std::string>& fragments) {
    const Result result = lint(arguments);
    EXPECT_EQ(result.exit_code, 1) << result.out << result.err;
    for (const std::string& fragment : fragments) EXPECT_THAT(result.out + result.err, HasSubstr(fragment));
  }
};

TEST_F(LintTest, ChangedFilesAreCheckedAndOthersOnRequest) {
  const Result changed = lint();
  EXPECT_EQ(changed.exit_code, 0) << changed.out << changed.err;
  EXPECT_THAT(changed.out, HasSubstr("lint: clang-format, 2 files"));
  EXPECT_THAT(changed.out, HasSubstr("lint: clang-tidy, 1 files"));
  EXPECT_THAT(changed.out, HasSubstr("lint: headers by themselves, 1 files"));
  expect_found({"--all"}, {"core/old.cpp:1:", kFinding, "lint: clang-tidy, 2 files"});
}

TEST_F(LintTest, AFileThatIsNotFormattedIsFound) {
  write_plainly(folder_ / "core/new.cpp", "int  f();\n");
  expect_found({}, {"core/new.cpp:1:", "code should be clang-formatted"});
}

TEST_F(LintTest, ACMakeFileThatIsNotFormattedIsFound) {
  if (run("/usr/bin/env", {"cmake-format", "--version"}).exit_code != 0) GTEST_SKIP() << "cmake-format is not here";
  write_plainly(folder_ / "core/new.cmake", "set( name   value )\n");
  expect_found({}, {"lint: cmake-format, 1 files", "core/new.cmake"});
  write_plainly(folder_ / "core/new.cmake", "set(name value)\n");
  EXPECT_EQ(lint().exit_code, 0);
}

TEST_F(LintTest, AFindingOfClangTidyIsFound) {
  write_plainly(folder_ / "core/clean.cpp", "int* g() { return 0; }\n");
  expect_found({}, {"core/clean.cpp:1:", kFinding});
}

TEST_F(LintTest, AHeaderThatNeedsAnotherIsFound) {
  write_plainly(folder_ / "core/needy.h", "inline std::string needy() { return {}; }\n");
  for (const Arguments& arguments : {Arguments{}, Arguments{"--all"}}) {
    expect_found(arguments, {"core/needy.h:1:", "undeclared identifier 'std'"});
  }
}

TEST_F(LintTest, OnABranchAllSinceMainIsChecked) {
  git({"checkout", "--quiet", "-b", "branch"});
  write_plainly(folder_ / "core/clean.cpp", "int* g() { return 0; }\n");
  commit();
  write_plainly(folder_ / "core/clean.h", "int clean_too();\n");
  commit();
  expect_found({}, {"core/clean.cpp:1:", kFinding});
  EXPECT_THAT(lint().out, Not(HasSubstr("old.cpp")));
}

TEST_F(LintTest, RefusesWhatItDoesNotKnow) {
  const Result result = lint({"--some"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err, "tools/lint: '--some' is not known, expected --all or nothing\n");
}

}  // namespace
}  // namespace eggroll::test
