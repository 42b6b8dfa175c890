// A run that was killed has a file that is damaged, swapped or written by a newer eggroll. Each command that reads the
// file refuses with one sentence and changes nothing; the cure in the sentence leads to the weights of an undisturbed
// run. All ways to damage a file, and their sentences, are in the tests of its reader.
#include <regex>

#include "cli/eggroll_command.h"
#include "record/sealed_lines.h"
#include "train/journal.h"

namespace eggroll::test {
namespace {

class DamagedFileTest : public CliTest {
 protected:
  DamagedFileTest() : digest_(undisturbed(run_arguments_)) {
    Process process(work_, command(run_arguments_));
    process.wait_until([&] { return !run_folder().empty() && checkpoints().size() >= 3; });
    process.signal(SIGKILL);
    EXPECT_EQ(process.wait().signal, SIGKILL);
    run_ = run_folder();
    fs::copy(run_, kept_, fs::copy_options::recursive);
  }

  std::vector<fs::path> checkpoints() const {
    std::vector<fs::path> found;
    for (const fs::path& path : paths_in(run_folder() / "checkpoints")) {
      if (path.filename().string().starts_with("step-")) found.push_back(path);
    }
    return found;
  }
  fs::path newest() const { return checkpoints().back(); }

  void restore() const {
    fs::remove_all(run_);
    fs::copy(kept_, run_, fs::copy_options::recursive);
  }

  // Each command, "run" or one that is given the run, refuses with one sentence that holds the fragments, and changes
  // nothing. RUN stands for the run's folder.
  void expect_refused(const Arguments& commands, const std::vector<std::string>& fragments) const {
    const std::string record = read_file(run_ / "record.json");
    const std::string metrics = read_file(run_ / "metrics.jsonl");
    std::vector<std::string> named;
    for (const std::string& text : fragments) {
      named.push_back(std::regex_replace(text, std::regex("\\bRUN\\b"), run_name()));
    }
    for (const std::string& name : commands) {
      SCOPED_TRACE(name);
      refuses(name == "run" ? run_arguments_ : Arguments{name, run_name()}, named);
      EXPECT_EQ(read_file(run_ / "record.json"), record);
      EXPECT_EQ(read_file(run_ / "metrics.jsonl"), metrics);
    }
  }

  void expect_goes_on() const {
    good(eggroll(run_arguments_));
    expect_completed(run_, digest_);
  }

  static void replace(const fs::path& path, const std::string& from, const std::string& to) {
    std::string text = read_file(path);
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    write_plainly(path, text.replace(at, from.size(), to));
  }

  // The line's checksum is that of what it says.
  void spoil_line(const std::string& key, const std::string& value) const {
    std::string text =
        std::regex_replace(read_file(run_ / "metrics.jsonl"), std::regex(",\"crc\":\"[0-9a-f]{8}\""), "");
    const size_t begin = text.find("\"" + key + "\":") + key.size() + 3;
    text.replace(begin, text.find_first_of(",}", begin) - begin, value);
    write_plainly(run_ / "metrics.jsonl", sealed_lines(text));
  }

  const Arguments run_arguments_ = tiny_run({"train.steps=120", "checkpoint.keep=3"});
  const fs::path kept_ = folder_ / "kept";
  const std::string digest_;
  fs::path run_;
};

TEST_F(DamagedFileTest, NamesTheFileAndTheCure) {
  struct Damage {
    std::function<void()> make;
    Arguments commands;
    std::vector<std::string> fragments;
  };
  const std::string cure = "restore it from a copy";
  const Arguments begin = {"run", "resume"};
  const Arguments reads_checkpoint = {"run", "resume", "sample"};
  const Arguments reads_config = {"resume", "replay", "sample"};
  const std::vector<Damage> damages = {
      {[&] { fs::resize_file(run_ / "journal.bin", 84 + 3 * (24 + 16 + 4)); },
       begin,
       {"RUN/journal.bin holds 3 steps", "expected at least", cure}},
      {[&] { write_plainly(run_ / "journal.bin", "Once upon a time"); },
       {"run", "resume", "replay"},
       {"RUN/journal.bin is no journal of eggroll", cure}},
      {[&] { fs::remove(run_ / "journal.bin"); },
       begin,
       {"RUN/journal.bin is missing", "delete the run's folder to start over"}},
      {[&] { write_plainly(run_ / "record.json", "{"); }, begin, {"RUN/record.json is no record"}},
      {[&] { replace(run_ / "record.json", "\"schema\": 2", "\"schema\": 3"); },
       begin,
       {"RUN/record.json has schema 3", "use the eggroll that wrote it"}},
      {[&] { write_plainly(run_ / "record.json", deep_json()); },
       begin,
       {"RUN/record.json has more than 100 levels", cure}},
      {[&] { replace(run_ / "metrics.jsonl", "{\"step\":3", "{\"step\";3"); },
       begin,
       {"line 4 of RUN/metrics.jsonl is damaged", "restore the file from a copy"}},
      {[&] { replace(run_ / "metrics.jsonl", "{\"step\":3", "{\"x\":" + deep_json() + ",\"step\":3"); },
       begin,
       {"line 4 of RUN/metrics.jsonl is damaged"}},
      {[&] { spoil_line("held_out_bits_per_unit", "null"); },
       begin,
       {"RUN/metrics.jsonl is damaged: type must be number, but is null"}},
      {[&] { spoil_line("held_out_tokens", "1,\"monitor\":5"); },
       begin,
       {"RUN/metrics.jsonl is damaged: cannot use at() with number"}},
      {[&] { write_plainly(run_ / "point.json", deep_json()); },
       {"resume"},
       {"RUN/point.json has more than 100 levels", "run its sweep again"}},
      {[&] { write_plainly(newest() / "checkpoint.json", "{\"counters\": " + deep_json() + "}"); },
       reads_checkpoint,
       {"/checkpoint.json has more than 100 levels", "delete that folder and run again"}},
      {[&] { replace(newest() / "checkpoint.json", "\"format\": 3", "\"format\": 4"); },
       reads_checkpoint,
       {" has checkpoint format 4", "reads format 3", "use the eggroll that wrote it"}},
      {[&] { replace(run_ / "config.yaml", "steps: 120", "steps: 130"); },
       reads_config,
       {"RUN/config.yaml has changed since it was written", "remove that line"}},
      // A file without a seal is accepted only if its hash is the one that the checkpoints were made with.
      {[&] {
         const std::string text = read_file(run_ / "config.yaml");
         write_plainly(run_ / "config.yaml", text.substr(text.find('\n') + 1));
         replace(run_ / "config.yaml", "steps: 120", "steps: 130");
       },
       {"resume"},
       {"was made with another configuration", "use the run's own config.yaml"}},
      {[&] { write_plainly(run_ / "config.yaml", "train: ["); },
       reads_config,
       {"RUN/config.yaml:1", "not YAML", "correct the file"}}};
  for (const Damage& damage : damages) {
    SCOPED_TRACE(damage.fragments.front());
    restore();
    damage.make();
    expect_refused(damage.commands, damage.fragments);
  }
  expect_goes_on();  // `run` writes the configuration anew
}

TEST_F(DamagedFileTest, AFlippedBitIsRefusedOrHarmless) {
  for (const std::string name : {"config.yaml", "record.json", "metrics.jsonl", "lock"}) {
    const std::string whole = read_file(run_ / name);
    for (const size_t quarters : {1U, 2U, 3U}) {
      SCOPED_TRACE(name + ", " + std::to_string(quarters));
      std::string flipped = whole;
      char& byte = flipped.at(whole.size() * quarters / 4);
      byte = static_cast<char>(byte ^ 1);
      write_plainly(run_ / name, flipped);
      const Result result = eggroll({"resume", run_name()});
      if (result.exit_code == 0) {
        // A lock's bytes say nothing, and the last digit of a long number may be another of the same number.
        EXPECT_TRUE(name == "lock" || nlohmann::json::parse(flipped) == nlohmann::json::parse(whole));
        expect_completed(run_, digest_);
      } else {
        expect_one_sentence(result, {name});
      }
      restore();
    }
  }
}

TEST_F(DamagedFileTest, WithoutACheckpointThatIsRefusedTheRunGoesOn) {
  std::string bytes = read_file(newest() / "optimizer.safetensors");
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  write_plainly(newest() / "optimizer.safetensors", bytes);
  const std::string name = "checkpoint RUN/checkpoints/" + newest().filename().string();
  expect_refused({"run", "resume", "sample"},
                 {name + " is damaged", "the sha256 of optimizer.safetensors is not the one in checkpoint.json",
                  "delete that folder and run again"});
  fs::remove_all(newest());
  expect_goes_on();
}

TEST_F(DamagedFileTest, ACheckpointOfAnotherRun) {
  for (const auto& [change, what] : {std::pair{"seed=1", "another configuration"},
                                     {"model.width=12", "another model program"},
                                     {"optimizer.residual=0", "another update rule"}}) {
    restore();
    good(eggroll(tiny_run({"train.steps=130", "results.dir=elsewhere", change})));
    const fs::path elsewhere = fs::directory_iterator(work_ / "elsewhere")->path();
    const fs::path foreign = run_ / "checkpoints" / "step-00000130";
    fs::copy(elsewhere / "checkpoints" / "step-00000130", foreign, fs::copy_options::recursive);
    fs::remove_all(work_ / "elsewhere");
    expect_refused({"run", "resume", "sample"},
                   {"checkpoint RUN/checkpoints/step-00000130 was made with " + std::string(what),
                    "or start over in another folder"});
  }
}

// The journal's entries are whole, but they do not lead to the checkpoint.
TEST_F(DamagedFileTest, AJournalOfOtherStepsIsNoticedByReplay) {
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
  expect_refused({"replay"}, {"checkpoint RUN/checkpoints/step-00000120 holds other weights (" + digest_,
                              "than its journal leads to", "one of the two is damaged"});
}

}  // namespace
}  // namespace eggroll::test
