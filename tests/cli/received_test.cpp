// Every command over a folder that somebody else made: it starts and loads nothing that the folder names, and writes
// nothing outside of it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "cli/eggroll_command.h"
#include "config/yaml.h"
#include "record/seal.h"
#include "train/run_folder.h"

namespace eggroll::test {
namespace {

class ReceivedTest : public CliTest {
 protected:
  ReceivedTest() {
    fs::create_directories(planted_);
    fs::copy_file(EGGROLL_ABI_PLUGINS "/leaves_mark/leaves_mark.eggplugin", planted_ / "leaves_mark.eggplugin");
    write_plainly(hook_, "#!/bin/sh\ntouch '" + mark_.string() + "'\necho '{\"a\": 1}'\n");
    fs::permissions(hook_, fs::perms::owner_all);
    fs::create_directories(outside_);
    write_plainly(outside_ / "kept", "kept\n");
    EXPECT_EQ(eggroll(tiny_run({"name=theirs", "results.dir=received", "train.steps=20"})).exit_code, 0);
    run_ = fs::directory_iterator(work_ / "received")->path();
    make_hostile_config();
  }

  // The hash does not depend on these keys, so that the run is the same.
  void make_hostile_config() const {
    const RunFolder folder{run_};
    ConfigNode config = read_config(folder);
    const auto put = [&](const char* key, const std::string& yaml) { *config.find(key) = parse_yaml(yaml, "a test"); };
    put("plugins.path", "['" + planted_.string() + "']");
    put("eval.hook", "['" + hook_.string() + "']");
    put("results.dir", "'" + outside_.string() + "'");
    put("results.sweeps", "'" + outside_.string() + "'");
    write_config(folder, config);
  }

  void add_overrides(const std::vector<std::string>& texts) const {
    nlohmann::ordered_json record = nlohmann::ordered_json::parse(read_file(run_ / "record.json"));
    for (const std::string& text : texts) record["overrides"].push_back(text);
    write_plainly(run_ / "record.json", sealed(record).dump(2) + "\n");
  }

  Arguments in_marked_environment(const Arguments& arguments) const {
    return command_with("EGGROLL_TEST_MARK=" + mark_.string(), arguments);
  }
  Result with_mark(const Arguments& arguments) const { return Process(work_, in_marked_environment(arguments)).wait(); }

  // Nothing was started, loaded or written where it should not be.
  void expect_harmless(const Result& result) const {
    EXPECT_EQ(result.signal, 0);
    EXPECT_FALSE(fs::exists(mark_)) << result.out << result.err;
    fs::remove(mark_);
    EXPECT_EQ(contents(outside_), (std::map<std::string, std::string>{{"kept", "kept\n"}})) << result.out << result.err;
  }

  const fs::path planted_ = folder_ / "planted";
  const fs::path hook_ = folder_ / "hook";
  const fs::path mark_ = folder_ / "mark";  // exists if something planted has run
  const fs::path outside_ = folder_ / "outside";
  fs::path run_;
};

// The mark appears if the user asks for the same.
TEST_F(ReceivedTest, WhatIsPlantedWorks) {
  EXPECT_EQ(with_mark({"sample", run_.string(), "--plugins", planted_.string()}).exit_code, 0);
  EXPECT_TRUE(fs::exists(mark_));
  fs::remove(mark_);
  EXPECT_EQ(with_mark({"fork", run_.string() + "@10", "eval.hook=['" + hook_.string() + "']"}).exit_code, 0);
  EXPECT_TRUE(fs::exists(mark_));
}

TEST_F(ReceivedTest, AForkTakesNothingOfTheMachineFromTheRecord) {
  const std::string path = "[" + planted_.string() + "]";
  const std::string hook = "[" + hook_.string() + "]";
  const std::vector<std::string> texts = {"plugins.path=" + path,
                                          " plugins.path=" + path,
                                          "\tplugins.path=" + path,
                                          "plugins.path =" + path,
                                          "plugins={path: " + path + "}",
                                          "plugins ={path: " + path + "}",
                                          "+ plugins.path.0=" + planted_.string(),
                                          "++ plugins.path=" + path,
                                          "++plugins={path: " + path + "}",
                                          "eval.hook=" + hook,
                                          " eval.hook=" + hook,
                                          "++eval.hook=" + hook,
                                          "results.dir=" + outside_.string(),
                                          "\t++ results.dir=" + outside_.string(),
                                          "results={dir: " + outside_.string() + "}",
                                          "processes.name=leaves_mark"};
  const std::string whole = read_file(run_ / "record.json");
  for (size_t i = 0; i < texts.size(); ++i) {
    SCOPED_TRACE(texts[i]);
    add_overrides({texts[i]});
    const Result result = good(with_mark({"fork", run_.string() + "@10", fmt::format("name=fork{}", i)}));
    EXPECT_THAT(result.out, HasSubstr("is left behind, because it is of your machine; name it to keep it\n"));
    expect_harmless(result);
    write_plainly(run_ / "record.json", whole);
  }
}

// A map may hold what counts beside what does not.
TEST_F(ReceivedTest, AForkRefusesAMapThatHoldsWhatIsOfTheMachine) {
  const std::string whole = read_file(run_ / "record.json");
  for (const std::string& text : {"eval={hook: [" + hook_.string() + "]}", "++eval={hook: [" + hook_.string() + "]}",
                                  " ++ eval={every: 10, hook: [" + hook_.string() + "]}"}) {
    SCOPED_TRACE(text);
    add_overrides({text});
    const Result result = with_mark({"fork", run_.string() + "@10"});
    expect_one_sentence(result, {"the record of the run in ", "sets one of eval.hook, ", hook_.string(),
                                 "come from your own settings alone; give all of the run's: eggroll run init.from="});
    expect_harmless(result);
    write_plainly(run_ / "record.json", whole);
  }
  add_overrides({"eval={every: 10}"});
  const Result result = good(with_mark({"fork", run_.string() + "@10"}));
  expect_harmless(result);
}

TEST_F(ReceivedTest, ResumeStartsAHookOnlyWhereItIsAllowed) {
  const Result refused = with_mark({"resume", run_.string()});
  expect_one_sentence(refused, {"/config.yaml names a program to start, eval.hook: ", hook_.string(),
                                "look at it, and give --hook to start it"});
  expect_harmless(refused);
  EXPECT_EQ(with_mark({"resume", run_.string(), "--hook"}).exit_code, 0);
}

TEST_F(ReceivedTest, ThePageHasARowForEveryCommand) {
  std::string rows;
  for (const std::string& line : lines_of(read_file(EGGROLL_SOURCE_DIR "/docs/received.md"))) {
    if (line.starts_with("| `")) rows += line.substr(0, line.find('|', 1)) + "\n";
  }
  size_t commands = 0;
  for (const std::string& line : lines_of(Process(work_, {EGGROLL_BIN_DIR "/eggroll", "complete", ""}).wait().out)) {
    const std::string name = line.substr(0, line.find('\t'));
    if (name.empty() || name[0] == '-') continue;
    ++commands;
    EXPECT_THAT(rows, HasSubstr("`" + name + "`"));
  }
  EXPECT_GT(commands, 20U);
}

class ReceivedWalk : public ReceivedTest {
 protected:
  // Every command that takes a run or a folder of results. Those of docs/received.md that take neither read the user's
  // own configuration.
  std::vector<Arguments> commands() const {
    const std::string run = run_.string();
    const std::string results = run_.parent_path().string();
    const std::string out = (work_ / "out").string();
    return {{"resume", run},
            {"fork", run + "@10", "name=fork"},
            tiny_run({"name=begun", "init.from=" + run + "@10"}),
            {"replay", run},
            {"sample", run, "--count", "3"},
            {"eval", run},
            {"ls", results},
            {"compare", run, run},
            {"tag", run, "good"},
            {"note", run, "a note"},
            {"report", results},
            {"report", results, "--out", out},
            {"export", results, "--csv", out + ".csv", "--tensorboard", out},
            {"config", "experiment=count"},
            {"plugins"},
            {"rm", run, "--force"}};
  }

  void walk() const {
    for (const Arguments& arguments : commands()) {
      SCOPED_TRACE(fmt::format("{}", fmt::join(arguments, " ")));
      expect_harmless(with_mark(arguments));
      if (arguments.front() == "export") expect_served();
    }
  }

  void expect_served() const {
    Process server(work_, in_marked_environment({"serve", run_.parent_path().string(), "--port", "0"}));
    EXPECT_TRUE(server.wait_until([&] { return server.out().find("http://127.0.0.1:") != std::string::npos; }));
    server.signal(SIGTERM);
    Result result = server.wait();
    result.signal = 0;
    expect_harmless(result);
  }
};

TEST_F(ReceivedWalk, NoCommandStartsLoadsOrWritesWhatTheFolderNames) {
  add_overrides({" plugins.path=[" + planted_.string() + "]", "+ eval.hook.0=" + hook_.string(),
                 "\tresults.dir=" + outside_.string(), "results.sweeps=" + outside_.string()});
  walk();
}

// A run that has not ended, so that resume and the others would go on with it.
TEST_F(ReceivedWalk, LinksLeadNowhere) {
  nlohmann::ordered_json record = nlohmann::ordered_json::parse(read_file(run_ / "record.json"));
  for (const char* key : {"metrics_file", "curve_file", "samples_file"}) record[key] = "../../outside/kept";
  record["status"] = "interrupted";
  for (const char* key : {"final", "weights_sha256"}) record[key] = nullptr;
  write_plainly(run_ / "record.json", sealed(record).dump(2) + "\n");
  const RunFolder folder{run_};
  ConfigNode config = read_config(folder);
  *config.find("eval.hook") = ConfigNode();  // resume refuses a hook before all else
  write_config(folder, config);
  for (const char* name : {"evaluations", "report", "initial", ".tmp-initial"}) {
    fs::create_directory_symlink(outside_, run_ / name);
  }
  fs::create_directory_symlink(outside_, run_.parent_path() / "report");
  for (const char* name : {"samples.txt", "curve.png", "curve.gp", "curve.png.tmp", ".samples.txt.tmp", "labels.json",
                           ".labels.json.tmp", "labels.lock", "log.txt", "point.json", ".record.json.tmp"}) {
    fs::remove(run_ / name);
    fs::create_symlink(outside_ / "kept", run_ / name);
  }
  walk();
}

TEST_F(ReceivedWalk, AFolderOfCheckpointsMayBeALink) {
  fs::remove_all(run_ / "checkpoints");
  fs::create_directory_symlink(outside_, run_ / "checkpoints");
  fs::remove(run_ / "lock");
  fs::create_symlink(outside_ / "kept", run_ / "lock");
  walk();
}

// The names of points are plain names, and neither points nor the folders around them lead elsewhere.
TEST_F(ReceivedWalk, ASweepWritesInItsFolderAlone) {
  write_own("two", "defaults:\n  - count\n  - _self_\nname: two\nsweep:\n  product: [\"model.width=16,24\"]\n");
  Arguments sweep = tiny_run({"--config-dir", (folder_ / "configs").string()});
  std::erase(sweep, "model.width=16");
  sweep[0] = "sweep";
  sweep[1] = "experiment=two";
  ASSERT_EQ(with_mark(sweep).exit_code, 0);
  const fs::path folder = work_ / "results" / "sweeps" / "two";
  const fs::path whole = folder_ / "whole";
  fs::rename(folder, whole);
  const auto refused = [&](const std::string& what, const std::function<void()>& change) {
    SCOPED_TRACE(what);
    fs::remove_all(folder);
    fs::copy(whole, folder, fs::copy_options::recursive);
    change();
    const Result result = with_mark(sweep);
    expect_one_sentence(result, {});
    expect_harmless(result);
  };
  refused("a stray plugin", [&] {
    const fs::path copies = fs::directory_iterator(folder / "plugins")->path();
    fs::copy_file(planted_ / "leaves_mark.eggplugin", copies / "leaves_mark.eggplugin");
  });
  refused("a link to plugins", [&] {
    const fs::path copies = fs::directory_iterator(folder / "plugins")->path();
    fs::rename(copies, folder_ / "moved");
    fs::copy_file(planted_ / "leaves_mark.eggplugin", folder_ / "moved" / "leaves_mark.eggplugin");
    fs::create_directory_symlink(folder_ / "moved", copies);
  });
  refused("a link to points", [&] {
    fs::remove_all(folder / "points");
    fs::create_directory_symlink(outside_, folder / "points");
  });
  refused("a link to a point", [&] {
    const fs::path point = fs::directory_iterator(folder / "points")->path();
    fs::remove_all(point);
    fs::create_directory_symlink(outside_, point);
  });
  refused("a path as a point's name", [&] {
    std::string lines;
    for (const std::string& text : lines_of(read_file(folder / "points.jsonl"))) {
      nlohmann::ordered_json line = nlohmann::ordered_json::parse(text);
      line.erase("crc");
      line["folder"] = "../../../../../outside/" + line["folder"].get<std::string>();
      lines += sealed_line(line) + "\n";
    }
    write_plainly(folder / "points.jsonl", lines);
  });
}

}  // namespace
}  // namespace eggroll::test
