// eggroll ls, and short names of runs.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/eggroll_command.h"
#include "record/record.h"

namespace eggroll::test {
namespace {

using nlohmann::ordered_json;

class RunsTest : public CliTest {
 protected:
  // Leaves in each folder the files of a run that died at its beginning.
  static void leave_config_and_lock(const fs::path& run) {
    for (const fs::path& path : paths_in(run)) {
      if (path.filename() != "config.yaml" && path.filename() != "lock") fs::remove_all(path);
    }
  }
  void begin(const Arguments& more) const { ASSERT_EQ(eggroll(tiny_run(more)).exit_code, 0); }
  // Lists with these words; each run's `key`.
  std::vector<std::string> listed(const Arguments& words, const char* key) const {
    std::vector<std::string> values;
    for (const ordered_json& run : ordered_json::parse(good(eggroll(joined({"ls", "--json"}, words))).out))
      values.push_back(run.at(key));
    return values;
  }
};

TEST_F(RunsTest, LsListsRunsAndFiltersThem) {
  EXPECT_EQ(eggroll({"ls"}).out, "no runs yet\n");
  begin({"seed=0"});
  begin({"seed=1", "model.width=32"});
  EXPECT_NE(eggroll(tiny_run({"seed=2", "plugins.path=[nowhere]"})).exit_code, 0);
  const std::vector<std::string> folders = listed({}, "folder");
  ASSERT_EQ(folders.size(), 2U);
  const fs::path wide = listed({"model.width=32"}, "folder").at(0);
  const RunRecord record = read_record(work_ / wide / "record.json");
  EXPECT_EQ(record.seed, 1U);
  EXPECT_EQ(listed({"model.width=3.2e1", "status=completed"}, "hash"), std::vector<std::string>{record.config_hash});
  EXPECT_EQ(listed({"results", "seed=0", "model.width=32"}, "hash"), std::vector<std::string>{});
  EXPECT_EQ(listed({"model.name=gru"}, "hash").size(), 2U);
  EXPECT_EQ(listed({"hash=" + record.config_hash.substr(0, 6)}, "hash").size(), 1U);
  EXPECT_EQ(listed({wide.string()}, "hash").size(), 1U);
  refuses({"ls", "model=gru"}, {"'model' has keys below it", "such as model.name"});
  refuses({"ls", "status=compleated"}, {"status is 'compleated'", "completed"});
  const std::string table = eggroll({"ls", "seed=1"}).out;
  EXPECT_THAT(table, AllOf(HasSubstr("hash "), HasSubstr(record.config_hash.substr(0, 8)), HasSubstr("completed"),
                           HasSubstr(fmt::format("{:.4f}/token", record.final->bits_per_unit)),
                           HasSubstr(wide.filename().string())));
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 2);
  EXPECT_EQ(eggroll({"ls", "status=failed"}).out, "no such run\n");
  refuses({"ls", "model.widht=32"}, {"no run has a key 'model.widht'"});
  refuses({"ls", "results", "other"}, {"two folders were given, 'results' and 'other'"});
  refuses({"ls", "nowhere"}, {"'nowhere' does not exist"});
}

TEST_F(RunsTest, ARunIsNamedByItsFoldersNameOrTheBeginningOfItsHash) {
  begin({"seed=0"});
  begin({"seed=1"});
  const fs::path folder = listed({"seed=1"}, "folder").at(0);
  const std::string hash = listed({"seed=1"}, "hash").at(0);
  for (const std::string& name :
       {folder.string(), "runs/" + folder.filename().string(), folder.filename().string(), hash, hash.substr(0, 8)}) {
    const Result result = good(eggroll({"eval", name, "--json"}));
    EXPECT_EQ(ordered_json::parse(result.out).at("run").get<std::string>(), folder.filename().string());
  }
  EXPECT_THAT(eggroll({"resume", hash.substr(0, 8)}).out, HasSubstr("finished already"));
  refuses({"eval", hash.substr(0, 3)}, {"is no run", "eggroll ls lists them"});
  // With a copy of the run the hash is ambiguous, but the name of the copy is not.
  fs::create_directories(work_ / "results" / "copies");
  fs::copy(work_ / folder, work_ / "results" / "copies" / "mine", fs::copy_options::recursive);
  refuses({"eval", hash.substr(0, 8)},
          {"may mean any of 2 runs", "results/copies/mine", folder.string(), "name more of it"});
  EXPECT_EQ(eggroll({"eval", "mine"}).exit_code, 0);
  // A damaged record has no hash, and hides no other run.
  write_plainly(work_ / "results" / "copies" / "mine" / "record.json", "{");
  EXPECT_EQ(eggroll({"eval", hash.substr(0, 8)}).exit_code, 0);
  const Result partial = eggroll({"ls"});
  EXPECT_EQ(partial.exit_code, 1) << "the list is not whole";
  EXPECT_EQ(std::count(partial.out.begin(), partial.out.end(), '\n'), 3);
}

TEST_F(RunsTest, ARunThatWasKilledIsInterrupted) {
  const auto status = [&](const Arguments& words) { return listed(words, "status"); };
  Process process(work_, command(tiny_run({"train.steps=1000000"})));
  ASSERT_TRUE(process.wait_until([&] { return lines_in(run_folder()) > 2; }));
  EXPECT_EQ(status({"status=running"}), std::vector<std::string>{"running"});
  EXPECT_EQ(status({"status=interrupted"}), std::vector<std::string>{});
  process.signal(SIGKILL);
  process.wait();
  EXPECT_EQ(record_in(run_folder()).at("status"), "running") << "it had no time to write another";
  EXPECT_EQ(status({"status=running"}), std::vector<std::string>{});
  EXPECT_EQ(status({"status=interrupted"}), std::vector<std::string>{"interrupted"});
  EXPECT_THAT(eggroll({"ls"}).out, HasSubstr(" interrupted "));
}

// Its process died before it wrote a record.
TEST_F(RunsTest, ARunWithoutARecordIsListedAndRemoved) {
  begin({"name=early"});
  begin({"name=late", "seed=1"});
  const fs::path folder = work_ / listed({"name=early"}, "folder").at(0);
  const std::string hash = listed({"name=early"}, "hash").at(0);
  leave_config_and_lock(folder);
  EXPECT_EQ(listed({"status=interrupted", "name=early"}, "hash"), std::vector<std::string>{hash});
  EXPECT_EQ(listed({}, "name").size(), 2U);
  const Result table = eggroll({"ls", "name=early"});
  EXPECT_THAT(table.out,
              AllOf(HasSubstr(hash.substr(0, 8) + " interrupted     0       - -    "), HasSubstr(" runs/early-")));
  refuses({"report", folder.string()}, {"found no record of a run to report on"});
  EXPECT_EQ(eggroll({"resume", hash.substr(0, 8)}).exit_code, 0);
  EXPECT_EQ(listed({"name=early"}, "status"), std::vector<std::string>{"completed"});

  fs::remove(folder / "record.json");
  refuses({"rm", folder.string()}, {"record.json", "--force"});  // its steps are there
  fs::remove(folder / "metrics.jsonl");
  write_plainly(folder / "config.yaml", "#");
  EXPECT_EQ(eggroll({"ls"}).exit_code, 1);
  EXPECT_THAT(eggroll({"ls"}).err, HasSubstr("config.yaml"));
  EXPECT_EQ(eggroll({"rm", "--force", folder.string()}).exit_code, 0);
  EXPECT_FALSE(is_there(folder));
}

TEST_F(RunsTest, ARunThatDiedEarlyIsRemovedByItsHash) {
  begin({"name=early"});
  const std::string hash = listed({}, "hash").at(0);
  const fs::path folder = run_folder();
  fs::remove(folder / "record.json");
  fs::remove(folder / "metrics.jsonl");
  EXPECT_EQ(eggroll({"rm", hash.substr(0, 8)}).exit_code, 0);
  EXPECT_FALSE(is_there(folder));
}

TEST_F(RunsTest, TagsAndANoteAreKeptBesideTheRecord) {
  begin({"seed=0", "name=tagged"});
  begin({"seed=1"});
  const std::string run = listed({"seed=0"}, "hash").at(0).substr(0, 6);
  EXPECT_EQ(eggroll({"tag", run}).out, "\n");
  EXPECT_EQ(eggroll({"tag", run, "baseline", "best-of.3", "baseline"}).out, "baseline\nbest-of.3\n");
  EXPECT_EQ(eggroll({"note", run, "the first that learns"}).out, "the first that learns\n");
  EXPECT_EQ(listed({"tag=baseline"}, "note"), std::vector<std::string>{"the first that learns"});
  EXPECT_EQ(listed({"tag=other"}, "note"), std::vector<std::string>{});
  EXPECT_THAT(eggroll({"ls"}).out, HasSubstr(" [baseline, best-of.3]\n"));
  EXPECT_EQ(eggroll({"tag", run, "--remove", "baseline"}).out, "best-of.3\n");
  EXPECT_EQ(eggroll({"note", run, ""}).out, "\n");
  refuses({"tag", run, "--remove", "baseline"}, {"has no tag 'baseline'", "best-of.3"});
  refuses({"tag", run, "two words"}, {"the tag is 'two words'", "1 to 40 letters"});
  refuses({"note", run, "a\033[31mred"}, {"without control characters"});
  refuses({"note", run, "\xff"}, {"broken UTF-8"});
  std::vector<std::unique_ptr<Process>> several;
  for (const char* tag : {"a", "b", "c", "d"}) {
    several.push_back(std::make_unique<Process>(work_, command({"tag", run, tag})));
  }
  for (const auto& process : several) EXPECT_EQ(process->wait().exit_code, 0);
  EXPECT_EQ(listed({"tag=a", "tag=b", "tag=c", "tag=d"}, "hash").size(), 1U);
  // The run stays the same.
  EXPECT_EQ(eggroll(tiny_run({"seed=0", "name=tagged", "train.steps=40"})).exit_code, 0);
  EXPECT_EQ(listed({}, "name").size(), 2U);
  write_plainly(work_ / listed({"seed=0"}, "folder").at(0) / "labels.json", "{\"tags\": [\"x\"], \"note\": \"\"}");
  const Result damaged = eggroll({"ls"});
  EXPECT_EQ(damaged.exit_code, 1);
  EXPECT_THAT(damaged.err, AllOf(HasSubstr("labels.json is damaged"), HasSubstr("restore it from a copy")));
  EXPECT_EQ(std::count(damaged.out.begin(), damaged.out.end(), '\n'), 3);
}

TEST_F(RunsTest, RmRemovesWhatNothingRefersTo) {
  begin({"name=source"});
  begin({"name=alone", "seed=1"});
  const auto folder_named = [&](const std::string& name) { return fs::path(listed({"name=" + name}, "folder").at(0)); };
  const std::string source = folder_named("source").filename();
  const std::string alone = folder_named("alone").filename();
  ASSERT_EQ(eggroll({"fork", source + "@40", "train.steps=60", "name=fork"}).exit_code, 0);
  refuses({"rm", alone, source}, {source + " is not removed", "which began with it", "--force"});
  EXPECT_EQ(listed({}, "name").size(), 3U) << "nothing is removed by half";
  EXPECT_THAT(eggroll({"rm", alone}).out, AllOf(HasSubstr("removed "), HasSubstr(alone)));
  EXPECT_EQ(listed({}, "name").size(), 2U);
  refuses({"rm", alone}, {"is no run"});
  ASSERT_EQ(eggroll({"report", "results/runs"}).exit_code, 0);
  const std::string fork = folder_named("fork").filename();
  refuses({"rm", fork}, {"the report in ", "results/runs/report"});
  fs::create_directory_symlink(runs() / fork, work_ / "link");
  refuses({"rm", "--force", "link"}, {"is a link"});
  write_plainly(runs() / fork / "record.json", "{");
  refuses({"rm", fork}, {"record.json", "--force"});
  refuses({"rm", source}, {"which began with it"});
  EXPECT_EQ(eggroll({"rm", "--force", "results/runs/" + source + "/", source}).exit_code, 0);
  EXPECT_FALSE(is_there(runs() / source));
  // The fork keeps what it began with.
  EXPECT_THAT(eggroll({"replay", fork}).out, HasSubstr("replayed 60 steps"));
  EXPECT_EQ(eggroll({"rm", fork, "--force"}).exit_code, 0);
  EXPECT_EQ(entries_in(runs()), 1U) << "the report is left";
}

TEST_F(RunsTest, RmLeavesARunAtWorkAndAPointOfASweep) {
  Process process(work_, command(tiny_run({"train.steps=1000000"})));
  ASSERT_TRUE(process.wait_until([&] { return lines_in(run_folder()) > 2; }));
  const std::string run = run_folder().filename();
  refuses({"rm", "--force", run_folder().string()}, {"is in use by pid"});
  process.signal(SIGKILL);
  process.wait();
  EXPECT_EQ(eggroll({"rm", run_folder().string()}).exit_code, 0);
  good(eggroll(tiny_sweep()));
  const fs::path points = work_ / "results" / "sweeps" / "swept" / "points";
  const fs::path point = fs::directory_iterator(points)->path();
  refuses({"rm", point.string()}, {"is not removed", "the sweep in ", "--force"});
}

// Many programs have a config.yaml.
TEST_F(RunsTest, AFolderThatIsNoRunIsLeftAlone) {
  const fs::path project = work_ / "project";
  fs::create_directories(project / "src");
  write_plainly(project / "src" / "a.c", "code");
  write_plainly(project / "config.yaml", "model: x");
  for (const Arguments& arguments : std::vector<Arguments>{{"rm", "project"},
                                                           {"rm", "--force", "project"},
                                                           {"tag", "project", "a"},
                                                           {"note", "project", "a"},
                                                           {"resume", "project"},
                                                           {"eval", "project"}}) {
    refuses(arguments, {"project is no run", "lock that a run has held"});
  }
  EXPECT_EQ(entries_in(project), 2U);
}

TEST_F(RunsTest, RmRefusesAFolderThatHoldsMore) {
  begin({});
  const fs::path run = run_folder();
  for (const fs::path& mine : {run / "src" / "a.c", run / "checkpoints" / "notes.txt", run / "plot.png"}) {
    fs::create_directories(mine.parent_path());
    write_plainly(mine, "mine");
    const fs::path below = mine.lexically_relative(run);
    const std::string named = *below.begin() == "src" ? "src" : below.string();
    refuses({"rm", "--force", run.string()},
            {"is not removed, because it holds " + named + ",", "nothing was removed"});
    EXPECT_EQ(read_file(mine), "mine");
    fs::remove_all(named == "src" ? mine.parent_path() : mine);
  }
  write_plainly(work_ / "precious", "precious");
  fs::remove(run / "curve.gp");
  fs::create_symlink(work_ / "precious", run / "curve.gp");
  refuses({"rm", "--force", run.string()}, {"it holds curve.gp"});
  fs::remove(run / "curve.gp");
  EXPECT_EQ(eggroll({"rm", run.string()}).exit_code, 0);
  EXPECT_EQ(read_file(work_ / "precious"), "precious");
  EXPECT_EQ(entries_in(runs()), 0U);
}

// The lock file is of a machine whose locks this one does not see, and the metrics have just grown.
TEST_F(RunsTest, ARunThatAnotherMachineRunsIsLeftAlone) {
  begin({});
  const fs::path run = run_folder();
  write_plainly(run / "lock", "pid 7 on host elsewhere, crc fe65893b\n");
  nlohmann::ordered_json record = ordered_json::parse(read_file(run / "record.json"));
  fs::last_write_time(run / "metrics.jsonl", fs::file_time_type::clock::now());
  for (const Arguments& arguments :
       std::vector<Arguments>{{"rm", "--force", run.string()}, {"resume", run.string()}, tiny_run()}) {
    fs::remove(run / "record.json");  // it has not ended
    refuses(arguments, {"is in use by pid 7 on host elsewhere"});
    write_plainly(run / "record.json", record.dump());
  }
  fs::last_write_time(run / "metrics.jsonl", fs::file_time_type::clock::now() - std::chrono::minutes(6));
  EXPECT_EQ(eggroll({"rm", run.string()}).exit_code, 0);
}

TEST_F(RunsTest, RmSweepsUpWhatAnotherHasLeft) {
  begin({"name=first"});
  begin({"name=second", "seed=1"});
  const fs::path first = work_ / listed({"name=first"}, "folder").at(0);
  const fs::path second = work_ / listed({"name=second"}, "folder").at(0);
  const fs::path left = runs() / (".tmp-rm-" + first.filename().string());
  fs::rename(first, left);
  fs::remove(left / "lock");
  fs::remove(left / "config.yaml");
  fs::create_directory(runs() / ".tmp-rm-mine");
  write_plainly(runs() / ".tmp-rm-mine" / "notes.txt", "mine");
  EXPECT_EQ(listed({}, "name").size(), 1U);
  EXPECT_EQ(eggroll({"rm", second.string()}).exit_code, 0);
  EXPECT_EQ(entries_in(runs()), 1U);
  EXPECT_TRUE(is_there(runs() / ".tmp-rm-mine" / "notes.txt"));
}

// Each rename is one moment, so that a run that begins meanwhile finds the old folder whole or none.
TEST_F(RunsTest, ARunThatBeginsWhileItIsRemovedIsWhole) {
  begin({});
  const fs::path run = run_folder();
  // Many files keep rm at work for a while.
  fs::create_directory(run / "evaluations");
  for (int i = 0; i < 5000; ++i) write_plainly(run / "evaluations" / fmt::format("step-{}.json", i), "");
  Process removing(work_, command({"rm", run.string()}));
  ASSERT_TRUE(removing.wait_until([&] { return !is_there(run); }));
  good(eggroll(tiny_run()));
  good(removing.wait());
  EXPECT_EQ(record_in(run_folder()).at("status"), "completed");
  EXPECT_EQ(entries_in(runs()), 1U);
}

// A folder that nobody can read may hold a run that began with this one.
TEST_F(RunsTest, RmNeedsToReadAllOfTheResults) {
  begin({});
  const fs::path run = run_folder();
  fs::create_directory(work_ / "results" / "a");
  fs::permissions(work_ / "results" / "a", fs::perms::none);
  const auto without_rights = [&](const Arguments& arguments) {
    const Arguments setpriv = {"/usr/bin/setpriv", "--bounding-set=-dac_override,-dac_read_search"};
    return Process(work_, joined(::geteuid() == 0 ? setpriv : Arguments(), command(arguments))).wait();
  };
  if (without_rights({"--version"}).exit_code != 0) GTEST_SKIP() << "setpriv cannot take root's rights away here";
  expect_one_sentence(without_rights({"rm", run.string()}),
                      {"the folder results/a cannot be read", "nobody knows what refers to the run", "--force"});
  EXPECT_TRUE(is_there(run));
  EXPECT_EQ(without_rights({"tag", run.string(), "kept"}).exit_code, 0);
  // Who only reads needs no right to write.
  fs::permissions(run, fs::perms::owner_read | fs::perms::owner_exec);
  fs::permissions(run / "labels.lock", fs::perms::owner_read);
  EXPECT_EQ(without_rights({"tag", run.string()}).out, "kept\n");
  EXPECT_EQ(without_rights({"note", run.string()}).out, "\n");
  const Result measured = without_rights({"eval", run.string()});
  EXPECT_THAT(measured.out, HasSubstr("bits per token on the run's held-out part"));
  EXPECT_THAT(measured.err, HasSubstr("evaluations"));
  fs::permissions(run, fs::perms::owner_all);
  EXPECT_EQ(without_rights({"rm", "--force", run.string()}).exit_code, 0);
  fs::permissions(work_ / "results" / "a", fs::perms::owner_all);
}

TEST_F(RunsTest, NamesOfFoldersAndTextsOfRecordsAreShownWithoutControls) {
  begin({});
  RunRecord record = read_record(run_folder() / "record.json");
  record.config_hash = "\033]0;a";
  record.final->unit = "to\033[31mken";
  record.started_utc = "2026\n\033[2J";
  const fs::path odd = runs() / "a\033[31m\neggroll: fake\xc2\x9b";
  fs::copy(run_folder(), odd, fs::copy_options::recursive);
  write_record(odd / "record.json", record);
  for (const Arguments& arguments : std::vector<Arguments>{{"ls"},
                                                           {"ls", "--json"},
                                                           {"resume", odd.string()},
                                                           {"compare", odd.string(), odd.string()},
                                                           {"rm", "--force", odd.string()}}) {
    const Result result = eggroll(arguments);
    EXPECT_NE(result.out, "");
    for (const char* control : {"\033", "\neggroll: fake", "\xc2\x9b"}) {
      EXPECT_THAT(result.out + result.err, Not(HasSubstr(control))) << arguments[0];
    }
  }
  EXPECT_FALSE(is_there(odd));
}

TEST_F(RunsTest, ARunThatDiedBeforeItsFirstLineIsKnown) {
  begin({"name=early"});
  const std::string hash = listed({}, "hash").at(0);
  const fs::path folder = run_folder();
  const std::string digest = record_in(folder).at("weights_sha256");
  leave_config_and_lock(folder);
  write_plainly(folder / "metrics.jsonl", "");
  EXPECT_EQ(listed({"status=interrupted"}, "hash"), std::vector<std::string>{hash});
  EXPECT_EQ(eggroll({"resume", folder.filename().string()}).exit_code, 0);
  expect_completed(folder, digest);
}

TEST_F(RunsTest, OddFilesBesideRunsStopNoCommand) {
  begin({});
  const std::string hash = record_in(run_folder()).at("config_hash");
  for (const char* text : {"", "- 1\n", "3\n"}) {
    fs::create_directories(work_ / "results" / "x");
    write_plainly(work_ / "results" / "x" / "config.yaml", text);
    for (const char* lock : {"", "pid 7 on host x\n"}) {
      write_plainly(work_ / "results" / "x" / "lock", lock);
      const Result list = eggroll({"ls"});
      EXPECT_EQ(list.exit_code, *lock == '\0' ? 0 : 1);
      EXPECT_EQ(std::count(list.out.begin(), list.out.end(), '\n'), 2) << list.out;
      EXPECT_THAT(list.err, *lock == '\0' ? HasSubstr("") : HasSubstr("config.yaml"));
      EXPECT_THAT(list.err, Not(HasSubstr("report this as a bug")));
      EXPECT_EQ(eggroll({"replay", hash.substr(0, 8)}).exit_code, 0);
    }
  }
}

}  // namespace
}  // namespace eggroll::test
