// Damages a random file of runs and sweeps, then runs a command. The command refuses with a sentence that names the
// file, or says what it left out, or gives the same result as without damage. EGGROLL_DAMAGE_MUTATIONS and
// EGGROLL_DAMAGE_SEED choose the campaign; EGGROLL_DAMAGE_KEEP is a folder for trials that fail.
#include <cstdio>
#include <map>
#include <mutex>
#include <set>

#include "damage/campaign.h"
#include "damage/mutation.h"
#include "damage/observation.h"
#include "train/journal.h"

namespace eggroll::test {
namespace {

enum Outcome { kRefused, kTold, kHarmless, kRepaired, kFailed, kOutcomes };
constexpr std::array<const char*, kOutcomes> kOutcomeNames = {"refused", "told", "harmless", "repaired", "failed"};

// The file's name in the table: "checkpoint/model.safetensors" for any checkpoint.
std::string kind_of(const fs::path& file) {
  if (file.extension() == ".eggplugin") return "plugin";
  const std::string name = file.filename().string();
  return file.parent_path().filename().string().starts_with("step-") ? "checkpoint/" + name : name;
}

struct Trial {
  const Specimen* specimen = nullptr;
  fs::path file;  // relative to the specimen's folder, like `run`
  fs::path run;
  std::string command;
  std::string damage;
  std::string bytes;  // of the damaged file
};

class MutationTest : public Damage {
 protected:
  MutationTest() {
    struct Plan {
      const char* name;
      Arguments arguments;
      int signal;
    };
    const std::vector<Plan> plans = {{"gru-finished", gru(), 0},
                                     {"gru-interrupted", gru(), SIGTERM},
                                     {"gru-killed", gru(), SIGKILL},
                                     {"former-finished", transformer(), 0},
                                     {"former-interrupted", transformer(), SIGTERM},
                                     {"former-killed", transformer(), SIGKILL},
                                     {"sweep-finished", small_sweep(), 0},
                                     {"sweep-interrupted", small_sweep(), SIGTERM}};
    specimens_.resize(plans.size());
    for_each_trial(plans.size(),
                   [&](uint64_t i) { specimens_[i] = make(plans[i].name, plans[i].arguments, plans[i].signal); });
  }

  Trial draw(uint64_t number) const {
    TrialDraws draws(seed_, number);
    Trial trial;
    trial.specimen = &draws.one_of(specimens_);
    const fs::path& folder = trial.specimen->folder;
    // Chooses every kind equally often, because most files are plugins or belong to checkpoints.
    std::map<std::string, std::vector<fs::path>> kinds;
    for (const fs::path& file : trial.specimen->files) kinds[kind_of(file)].push_back(file);
    for (std::string before; before == trial.bytes;) {
      trial.file =
          draws.one_of(std::next(kinds.begin(), static_cast<std::ptrdiff_t>(draws.below(kinds.size())))->second);
      trial.bytes = before = read_file(folder / trial.file);
      trial.damage = mutate(trial.bytes, draws);
    }
    trial.run = run_of(*trial.specimen, trial.file);
    trial.command = draws.one_of(commands_for(*trial.specimen));
    return trial;
  }

  // The run that the file belongs to; if it belongs to none, the sweep's first run.
  static fs::path run_of(const Specimen& specimen, const fs::path& file) {
    if (!specimen.is_sweep) return specimen.target;
    const std::vector<fs::path> runs = runs_below(specimen.folder);
    for (const fs::path& run : runs) {
      const fs::path below = run.lexically_relative(specimen.folder);
      if (file.string().starts_with(below.string() + "/")) return below;
    }
    return runs.front().lexically_relative(specimen.folder);
  }

  Arguments line_of(const Trial& trial) const {
    return with_own(arguments_of(trial.command, *trial.specimen, trial.run));
  }

  static void copy(const Specimen& specimen, const fs::path& folder) {
    fs::create_directories(folder);
    fs::copy(specimen.folder, folder, fs::copy_options::recursive);
  }

  // The command's observation of the undamaged specimen.
  const Observation& expected(const Trial& trial) {
    const std::string key = trial.specimen->name + "/" + trial.command + "/" + trial.run.string();
    Expected* place = nullptr;
    {
      const std::lock_guard lock(mutex_);
      place = &expected_[key];
    }
    std::call_once(place->once, [&] {
      const fs::path folder = work_ / "expected" / std::to_string(std::hash<std::string>()(key));
      copy(*trial.specimen, folder);
      place->observation = observe(trial.command, line_of(trial), *trial.specimen, trial.run, folder);
      EXPECT_EQ(place->observation.result.exit_code, 0) << key << ": " << place->observation.result.err;
      EXPECT_FALSE(place->observation.tells_of_damage) << key << ": " << place->observation.result.err;
      fs::remove_all(folder);
    });
    return place->observation;
  }

  // Whether the damage lies after a killed run's newest checkpoint and looks like the result of an earlier kill.
  static bool is_earlier_kill(const Trial& trial, const fs::path& folder) {
    if (!trial.specimen->name.ends_with("-killed")) return false;
    const uint64_t saved = record_in(trial.specimen->folder / trial.run).at("steps");
    if (trial.file.filename() == "metrics.jsonl") {
      return read_file(trial.specimen->folder / trial.file).starts_with(trial.bytes) &&
             static_cast<uint64_t>(std::count(trial.bytes.begin(), trial.bytes.end(), '\n')) > saved;
    }
    if (trial.file.filename() != "journal.bin") return false;
    uint64_t steps = 0;
    try {
      JournalReader journal(folder / trial.file);
      for (JournalEntry entry; journal.next(entry);) ++steps;
    } catch (const Error&) {
      return false;
    }
    return steps >= saved;
  }

  // The outcome, with the reason of a failure.
  static std::pair<Outcome, std::string> judge(const Trial& trial, const Observation& seen, const Observation& expected,
                                               const fs::path& folder) {
    const Result& result = seen.result;
    if (seen.took_too_long) return {kFailed, "it takes too long"};
    if (result.signal != 0) return {kFailed, "ended by signal " + std::to_string(result.signal)};
    const std::string foreign = foreign_words(result.err + (trial.command == "sample" ? "" : result.out));
    if (!foreign.empty()) return {kFailed, "words of another library: " + foreign};
    if (result.exit_code != 0) {
      const bool names_it = result.err.find(trial.file.filename().string()) != std::string::npos ||
                            result.err.find(trial.run.filename().string()) != std::string::npos ||
                            // A sweep names its folder and the numbers of the failed points.
                            (trial.command == "sweep" && result.err.find(trial.specimen->target) != std::string::npos);
      if (!result.err.starts_with("eggroll: ") || !names_it) return {kFailed, "a refusal that names no file"};
      return {kRefused, ""};
    }
    if (seen.weights != expected.weights) return {kFailed, "OTHER WEIGHTS"};
    if (seen.tells_of_damage) return {kTold, ""};
    if (seen.figures != expected.figures && !is_earlier_kill(trial, folder)) {
      return {kFailed, "other figures, without a word"};
    }
    return {bytes_of(folder / trial.file) == trial.bytes ? kHarmless : kRepaired, ""};
  }

  void try_one(uint64_t number) {
    const Trial trial = draw(number);
    const fs::path folder = work_ / "trials" / std::to_string(number);
    copy(*trial.specimen, folder);
    write_plainly(folder / trial.file, trial.bytes);
    const Observation& before = expected(trial);
    const Observation seen = observe(trial.command, line_of(trial), *trial.specimen, trial.run, folder);
    const auto [outcome, reason] = judge(trial, seen, before, folder);
    const std::lock_guard lock(mutex_);
    ++counts_[kind_of(trial.file)][outcome];
    ++counts_["all"][outcome];
    if (outcome == kFailed) tell(number, trial, seen, before, reason);
    fs::remove_all(folder);
  }

  void tell(uint64_t number, const Trial& trial, const Observation& seen, const Observation& before,
            const std::string& reason) {
    std::string line;
    for (const std::string& word : line_of(trial)) line += " " + word;
    std::string kept;
    if (const char* keep = std::getenv("EGGROLL_DAMAGE_KEEP")) {
      const fs::path folder = fs::path(keep) / (std::to_string(seed_) + "-" + std::to_string(number));
      fs::remove_all(folder);
      copy(*trial.specimen, folder);
      write_plainly(folder / trial.file, trial.bytes);
      write_plainly(folder / "figures", seen.figures);
      write_plainly(folder / "figures-expected", before.figures);
      kept = "\ncd " + folder.string() + " &&" + line;
    }
    ADD_FAILURE() << "mutation " << number << " of seed " << seed_ << ": " << reason << "\n"
                  << trial.specimen->name << ", " << trial.file.string() << ", " << trial.damage << "\n"
                  << trial.command << " ends with " << seen.result.exit_code << "\n"
                  << seen.result.err << kept;
  }

  void print_table() {
    std::printf("%-34s", "file");
    for (const char* name : kOutcomeNames) std::printf("%10s", name);
    for (const auto& [kind, counts] : counts_) {
      std::printf("\n%-34s", kind.c_str());
      for (const uint64_t count : counts) std::printf("%10llu", static_cast<unsigned long long>(count));
    }
    std::printf("\n");
  }

  struct Expected {
    std::once_flag once;
    Observation observation;
  };

  const uint64_t seed_ = setting("EGGROLL_DAMAGE_SEED", 1);
  std::vector<Specimen> specimens_;
  std::mutex mutex_;  // guards the members below
  std::map<std::string, Expected> expected_;
  std::map<std::string, std::array<uint64_t, kOutcomes>> counts_;
};

TEST_F(MutationTest, DamageIsRefusedToldOrHarmless) {
  const uint64_t mutations = setting("EGGROLL_DAMAGE_MUTATIONS", 40);
  for_each_trial(mutations, [this](uint64_t number) { try_one(number); });
  print_table();
}

}  // namespace
}  // namespace eggroll::test
