// Files of an unfinished run that were damaged, swapped or written by a newer eggroll. The command refuses with one
// sentence and leaves the record as it was; the cure in the sentence leads to the weights of an undisturbed run.
#include <regex>

#include "cli/eggroll_command.h"
#include "record/sealed_lines.h"
#include "train/journal.h"

namespace eggroll::test {
namespace {

class DamageTest : public CliTest {
 protected:
  static Arguments run_arguments(const Arguments& more = {}) {
    Arguments all = tiny_run({"train.steps=120", "checkpoint.keep=3"});
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  // Kills a run when it has three checkpoints; what it left is kept aside.
  DamageTest() : digest_(undisturbed(run_arguments())) {
    kill_with_checkpoints(run_arguments());
    run_ = run_folder();
    folder_name_ = "results/runs/" + run_.filename().string();
    fs::copy(run_, kept_, fs::copy_options::recursive);
  }

  void kill_with_checkpoints(const Arguments& arguments) const {
    Process process(work_, command(arguments));
    process.wait_until([&] { return !run_folder().empty() && checkpoints_in(run_folder()).size() >= 3; });
    process.signal(SIGKILL);
    EXPECT_EQ(process.wait().signal, SIGKILL);
  }

  static std::vector<fs::path> checkpoints_in(const fs::path& run) {
    std::vector<fs::path> found;
    if (!fs::exists(run / "checkpoints")) return found;
    for (const auto& entry : fs::directory_iterator(run / "checkpoints")) {
      if (entry.path().filename().string().starts_with("step-")) found.push_back(entry.path());
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  void restore() const {
    fs::remove_all(run_);
    fs::copy(kept_, run_, fs::copy_options::recursive);
  }

  // Each command refuses with one sentence that holds the fragments, and changes nothing.
  void expect_refused(const std::vector<Arguments>& commands, const std::vector<std::string>& fragments) const {
    const std::string record = read_file(run_ / "record.json");
    const std::string metrics = read_file(run_ / "metrics.jsonl");
    for (const Arguments& arguments : commands) {
      SCOPED_TRACE(arguments.front());
      expect_one_sentence(eggroll(arguments), fragments);
      EXPECT_EQ(read_file(run_ / "record.json"), record);
      EXPECT_EQ(read_file(run_ / "metrics.jsonl"), metrics);
    }
  }

  void expect_goes_on() const {
    const Result result = eggroll(run_arguments());
    EXPECT_EQ(result.exit_code, 0) << result.err;
    expect_completed(run_, digest_);
  }

  static void replace(const fs::path& path, const std::string& from, const std::string& to) {
    std::string text = read_file(path);
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    write_plainly(path, text.replace(at, from.size(), to));
  }

  std::vector<Arguments> run_and_resume() const { return {run_arguments(), {"resume", folder_name_}}; }
  // The commands that read a checkpoint.
  std::vector<Arguments> all_commands() const {
    return {run_arguments(), {"resume", folder_name_}, {"sample", folder_name_}};
  }

  const fs::path kept_ = folder_ / "kept";
  std::string digest_;
  fs::path run_;
  std::string folder_name_;
};

TEST_F(DamageTest, ACheckpointThatIsDamaged) {
  struct Damage {
    const char* name;
    std::function<void(const fs::path&)> spoil;
    std::string reason;
  };
  const std::vector<Damage> damages = {
      {"truncated", [](const fs::path& c) { fs::resize_file(c / "model.safetensors", 1000); },
       "model.safetensors has 1000 bytes, expected "},
      {"flipped",
       [](const fs::path& c) {
         std::string bytes = read_file(c / "optimizer.safetensors");
         bytes.back() = static_cast<char>(bytes.back() ^ 1);
         write_plainly(c / "optimizer.safetensors", bytes);
       },
       "the sha256 of optimizer.safetensors is not the one in checkpoint.json"},
      {"missing", [](const fs::path& c) { fs::remove(c / "states.safetensors"); }, "states.safetensors is missing"},
      {"no JSON", [](const fs::path& c) { fs::resize_file(c / "checkpoint.json", 20); },
       "checkpoint.json is not a JSON object"},
      {"a key is missing", [](const fs::path& c) { replace(c / "checkpoint.json", "\"counters\"", "\"counted\""); },
       "the sha256 in checkpoint.json is not that of its contents"},
  };
  for (const Damage& damage : damages) {
    SCOPED_TRACE(damage.name);
    restore();
    const fs::path newest = checkpoints_in(run_).back();
    damage.spoil(newest);
    expect_refused(all_commands(),
                   {"checkpoint " + folder_name_ + "/checkpoints/" + newest.filename().string() + " is damaged",
                    damage.reason, "delete that folder and run again"});
    fs::remove_all(newest);
    expect_goes_on();
  }
}

TEST_F(DamageTest, ACheckpointOfANewerEggroll) {
  const fs::path newest = checkpoints_in(run_).back();
  replace(newest / "checkpoint.json", "\"format\": 3", "\"format\": 4");
  expect_refused(all_commands(), {newest.filename().string() + " has checkpoint format 4", "reads format 3",
                                  "use the eggroll that wrote it"});
  replace(newest / "checkpoint.json", "\"format\": 4", "\"format\": 3");
  expect_goes_on();
}

TEST_F(DamageTest, ACheckpointOfAnotherRun) {
  const std::vector<std::pair<Arguments, std::string>> others = {
      {{"seed=1"}, "another configuration"},
      {{"model.width=12"}, "another model program"},
      {{"optimizer.residual=0"}, "another update rule"},
  };
  const fs::path elsewhere = work_ / "elsewhere";
  for (const auto& [changes, what] : others) {
    SCOPED_TRACE(what);
    Arguments arguments = tiny_run({"train.steps=130", "results.dir=elsewhere"});
    arguments.insert(arguments.end(), changes.begin(), changes.end());
    ASSERT_EQ(eggroll(arguments).exit_code, 0);
    const fs::path foreign = checkpoints_in(fs::directory_iterator(elsewhere)->path()).back();
    restore();
    const fs::path newest = run_ / "checkpoints" / foreign.filename();
    fs::copy(foreign, newest, fs::copy_options::recursive);
    fs::remove_all(elsewhere);
    expect_refused(all_commands(), {"checkpoint " + folder_name_ + "/checkpoints/" + newest.filename().string() +
                                        " was made with " + what,
                                    "or start over in another folder"});
    fs::remove_all(newest);
    expect_goes_on();
  }
}

TEST_F(DamageTest, AJournalThatIsDamaged) {
  const fs::path journal = run_ / "journal.bin";
  fs::resize_file(journal, 84 + 3 * (24 + 16 + 4));
  expect_refused(run_and_resume(), {folder_name_ + "/journal.bin holds 3 steps", "expected at least",
                                    "restore it from a copy or delete the run's folder to start over"});
  restore();
  write_plainly(journal, "Once upon a time");
  expect_refused({run_arguments(), {"resume", folder_name_}, {"replay", folder_name_}},
                 {folder_name_ + "/journal.bin is no journal of eggroll",
                  "restore it from a copy or delete the run's folder to start over"});
  restore();
  fs::remove(journal);
  expect_refused(run_and_resume(), {folder_name_ + "/journal.bin is missing", "delete the run's folder to start over"});
  fs::remove_all(run_);
  expect_goes_on();
}

// The journal's entries are whole, but they do not lead to the checkpoint.
TEST_F(DamageTest, AJournalOfOtherStepsIsNoticedByReplay) {
  expect_goes_on();
  std::vector<JournalEntry> steps;
  JournalReader reader(run_ / "journal.bin");
  for (JournalEntry entry; reader.next(entry);) steps.push_back(entry);
  ASSERT_EQ(steps.size(), 120U);
  for (int8_t& fitness : steps[60].fitness) fitness = static_cast<int8_t>(-fitness);
  {
    JournalWriter writer(run_ / "journal.bin", reader.pairs(), reader.config_hash(), 0);
    for (const JournalEntry& entry : steps) writer.append(entry.step, entry.evaluation, entry.fitness);
  }
  expect_one_sentence(eggroll({"replay", folder_name_}),
                      {"checkpoint " + folder_name_ + "/checkpoints/step-00000120 holds other weights (" + digest_,
                       "than its journal leads to", "one of the two is damaged"});
}

// A dataset that changed under an unfinished run would lead to other weights without a word.
TEST_F(CliTest, DataThatChangedAreRefused) {
  std::string text;
  while (text.size() < 4000) text += "It was a bright cold day in April, and the clocks were striking thirteen. ";
  write_plainly(work_ / "text", text);
  const Arguments arguments = {"run",
                               "experiment=plain",
                               "dataset.path=text",
                               "model.width=8",
                               "train.population=16",
                               "train.members_per_stream=8",
                               "train.steps=100000",
                               "checkpoint.every=5"};
  {
    Process process(work_, command(arguments));
    ASSERT_TRUE(process.wait_until([&] { return lines_in(run_folder()) > 12; }));
    process.signal(SIGINT);
    EXPECT_EQ(process.wait().exit_code, 128 + SIGINT);
  }
  const std::string folder = "results/runs/" + run_folder().filename().string();
  const std::string record = read_file(run_folder() / "record.json");
  std::swap(text[0], text[1]);
  write_plainly(work_ / "text", text);
  for (const Arguments& again : {arguments, Arguments{"resume", folder}}) {
    expect_one_sentence(eggroll(again), {"the data have changed since the run in " + folder + " began", "restore them",
                                         "or remove the folder to begin anew"});
    EXPECT_EQ(read_file(run_folder() / "record.json"), record);
  }
}

TEST_F(DamageTest, ARecordOrMetricsThatAreDamaged) {
  write_plainly(run_ / "record.json", "{");
  expect_refused(run_and_resume(), {folder_name_ + "/record.json is no record", "expected a JSON object"});
  restore();
  replace(run_ / "record.json", "\"schema\": 2", "\"schema\": 3");
  expect_refused(run_and_resume(),
                 {folder_name_ + "/record.json has schema 3", "reads schema 2", "use the eggroll that wrote it"});
  restore();
  replace(run_ / "metrics.jsonl", "{\"step\":3", "{\"step\";3");
  expect_refused(run_and_resume(), {"line 4 of " + folder_name_ + "/metrics.jsonl is damaged", "expected a JSON object",
                                    "restore the file from a copy or delete the run's folder"});
}

TEST_F(DamageTest, JsonThatNestsDeep) {
  write_plainly(run_ / "record.json", deep_json());
  expect_refused(run_and_resume(), {folder_name_ + "/record.json has more than 100 levels", "restore it from a copy"});
  restore();
  const fs::path newest = checkpoints_in(run_).back();
  write_plainly(newest / "checkpoint.json", "{\"counters\": " + deep_json() + "}");
  expect_refused(all_commands(), {"/checkpoint.json has more than 100 levels", "delete that folder and run again"});
  restore();
  replace(run_ / "metrics.jsonl", "{\"step\":3", "{\"x\":" + deep_json() + ",\"step\":3");
  expect_refused(run_and_resume(), {"line 4 of " + folder_name_ + "/metrics.jsonl is damaged"});
  restore();
  write_plainly(run_ / "point.json", deep_json());
  expect_refused({{"resume", folder_name_}}, {"/point.json has more than 100 levels", "run its sweep again"});
}

TEST_F(DamageTest, MembersOfAWrongType) {
  // The line's checksum is that of what it says.
  const auto spoil_line = [&](const std::string& key, const std::string& value) {
    std::string text =
        std::regex_replace(read_file(run_ / "metrics.jsonl"), std::regex(",\"crc\":\"[0-9a-f]{8}\""), "");
    const size_t begin = text.find("\"" + key + "\":") + key.size() + 3;
    text.replace(begin, text.find_first_of(",}", begin) - begin, value);
    write_plainly(run_ / "metrics.jsonl", sealed_lines(text));
  };
  spoil_line("held_out_bits_per_unit", "null");
  expect_refused(run_and_resume(),
                 {folder_name_ + "/metrics.jsonl is damaged: type must be number, but is null", "restore the file"});
  restore();
  spoil_line("held_out_tokens", "1,\"monitor\":5");
  expect_refused(run_and_resume(),
                 {folder_name_ + "/metrics.jsonl is damaged: cannot use at() with number", "restore the file"});
  restore();
  replace(checkpoints_in(run_).back() / "checkpoint.json", "member_tokens", "member_tokenz");
  expect_refused(run_and_resume(), {"checkpoints/step-", "is damaged", "delete that folder and run again"});
}

TEST_F(DamageTest, AConfigurationThatWasEdited) {
  replace(run_ / "config.yaml", "steps: 120", "steps: 130");
  expect_refused({{"resume", folder_name_}, {"replay", folder_name_}, {"sample", folder_name_}},
                 {folder_name_ + "/config.yaml has changed since it was written", "remove that line"});
  // A file without a seal is accepted only if its hash is the one that the checkpoints were made with.
  const std::string text = read_file(run_ / "config.yaml");
  write_plainly(run_ / "config.yaml", text.substr(text.find('\n') + 1));
  expect_refused({{"resume", folder_name_}}, {"was made with another configuration", "use the run's own config.yaml"});
  restore();
  write_plainly(run_ / "config.yaml", "train: [");
  expect_refused({{"resume", folder_name_}, {"replay", folder_name_}, {"sample", folder_name_}},
                 {folder_name_ + "/config.yaml:1", "not YAML", "correct the file"});
  expect_goes_on();  // `run` writes it anew
}

}  // namespace
}  // namespace eggroll::test
