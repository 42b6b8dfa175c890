#include "train/kept_checkpoints.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <limits>
#include <map>
#include <system_error>

#include "record/record.h"
#include "system/files.h"

namespace eggroll {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTemporaryPrefix = ".tmp-";

// Old checkpoints are removed there.
fs::path checkpoints_of(const fs::path& run_folder) { return own_folder(run_folder / "checkpoints"); }

void require(const std::error_code& failure, const char* action, const fs::path& path) {
  if (failure) throw file_error(action, path, failure.value());
}

void remove_folder(const fs::path& folder) {
  std::error_code failure;
  fs::remove_all(folder, failure);
  require(failure, "remove", folder);
}

void rename_folder(const fs::path& from, const fs::path& to) {
  std::error_code failure;
  fs::rename(from, to, failure);
  require(failure, "rename", from);
}

fs::path temporary_name(const fs::path& folder) {
  return folder.parent_path() / fmt::format("{}{}", kTemporaryPrefix, folder.filename().string());
}

// Gives checkpoints temporary names before they are removed, on the disk too, so that a half-removed one never looks
// whole. `tell` gets each failure.
void retire(const fs::path& folder, const std::vector<fs::path>& checkpoints,
            const std::function<void(const Error&)>& tell) {
  const auto try_each = [&](const std::vector<fs::path>& paths, const auto& action) {
    std::vector<fs::path> done;
    for (const fs::path& path : paths) {
      try {
        action(path);
        done.push_back(path);
      } catch (const Error& error) {
        tell(error);
      }
    }
    return done;
  };
  const std::vector<fs::path> renamed = try_each(checkpoints, [](const fs::path& path) {
    remove_folder(temporary_name(path));
    rename_folder(path, temporary_name(path));
  });
  if (renamed.empty()) return;
  sync_folder(folder);
  try_each(renamed, [](const fs::path& path) { remove_folder(temporary_name(path)); });
  sync_folder(folder);
}

[[noreturn]] void pass_on(const Error& error) { throw error; }

std::vector<fs::path> entries_of(const fs::path& folder, std::string_view prefix) try {
  std::vector<fs::path> entries;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().filename().string().substr(0, prefix.size()) == prefix) entries.push_back(entry.path());
  }
  return entries;
} catch (const fs::filesystem_error& e) {
  throw file_error("read", folder, e.code().value());
}

std::optional<uint64_t> number_in(std::string_view text) {
  uint64_t number = 0;
  const auto [stop, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  return status == std::errc() && stop == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

// Whole checkpoints by step.
std::map<uint64_t, fs::path> checkpoints_in(const fs::path& folder) {
  std::map<uint64_t, fs::path> found;
  for (const fs::path& path : entries_of(folder, kStepPrefix)) {
    const auto step = number_in(path.filename().string().substr(kStepPrefix.size()));
    if (step && is_checkpoint(path)) found[*step] = path;
  }
  return found;
}

// The step of the evaluation with the fewest bits, of those at steps that `counts` admits; of equal ones the first.
template <class Counts>
std::optional<uint64_t> best_step(const std::vector<egg_evaluation>& evaluations, Counts&& counts) {
  std::optional<uint64_t> step;
  double fewest = std::numeric_limits<double>::infinity();
  for (const egg_evaluation& evaluation : evaluations) {
    if (evaluation.tokens == 0 || !counts(evaluation.step)) continue;
    const double bits = static_cast<double>(evaluation.loss) / static_cast<double>(evaluation.tokens);
    if (bits >= fewest) continue;
    fewest = bits;
    step = evaluation.step;
  }
  return step;
}

}  // namespace

SavedCheckpoint save_checkpoint(const fs::path& run_folder, const CheckpointFacts& facts,
                                const CheckpointTensors& tensors, uint32_t keep,
                                const std::function<void(const std::string&)>& warn) {
  if (keep == 0) throw Error("checkpoints to keep are 0, expected at least 1; correct the setting");
  const fs::path folder = checkpoints_of(run_folder);
  const std::string name = checkpoint_name(facts.step);
  const fs::path temporary = folder / fmt::format("{}{}", kTemporaryPrefix, facts.step);
  SavedCheckpoint saved{folder / name, {}};

  std::error_code failure;
  if (fs::create_directory(folder, failure)) sync_folder(run_folder);
  require(failure, "create", folder);
  remove_leftovers(run_folder, warn);
  fs::create_directory(temporary, failure);
  require(failure, "create", temporary);
  try {
    saved.weights_sha256 = write_checkpoint(temporary, facts, tensors);
    if (!is_there(saved.folder)) {
      rename_folder(temporary, saved.folder);
    } else if (is_same_checkpoint(saved.folder, temporary)) {
      remove_folder(temporary);
    } else {
      retire(folder, {saved.folder}, pass_on);  // damaged: the reason why the run was taken up at an earlier step
      rename_folder(temporary, saved.folder);
    }
  } catch (...) {
    fs::remove_all(temporary, failure);
    throw;
  }
  sync_folder(folder);

  std::map<uint64_t, fs::path> present = checkpoints_in(folder);
  const auto best = best_step(facts.evaluations, [&](uint64_t step) { return present.contains(step); });
  size_t count = present.size();
  std::vector<fs::path> old;
  for (const auto& [step, path] : present) {
    if (count <= keep) break;
    if (step == facts.step) continue;
    if (step != best) old.push_back(path);  // the best one stays too
    --count;
  }
  retire(folder, old, [&](const Error& error) {
    if (warn) warn(fmt::format("an old checkpoint stays: {}", error.what()));
  });
  return saved;
}

void remove_checkpoints(const fs::path& run_folder) {
  const fs::path folder = checkpoints_of(run_folder);
  if (!is_there(folder)) return;
  std::vector<fs::path> all;
  for (const auto& [step, path] : checkpoints_in(folder)) all.push_back(path);
  retire(folder, all, pass_on);
}

bool has_leftovers(const fs::path& run_folder) {
  const fs::path folder = checkpoints_of(run_folder);
  return is_there(folder) && !entries_of(folder, kTemporaryPrefix).empty();
}

void remove_leftovers(const fs::path& run_folder, const std::function<void(const std::string&)>& warn) {
  const fs::path folder = checkpoints_of(run_folder);
  if (!is_there(folder)) return;
  for (const fs::path& leftover : entries_of(folder, kTemporaryPrefix)) {
    try {
      remove_folder(leftover);
    } catch (const Error& error) {
      if (warn) warn(error.what());
    }
  }
}

std::optional<fs::path> latest_checkpoint(const fs::path& run_folder) {
  const fs::path folder = checkpoints_of(run_folder);
  if (!is_there(folder)) return std::nullopt;
  const std::map<uint64_t, fs::path> present = checkpoints_in(folder);
  if (present.empty()) return std::nullopt;
  return present.rbegin()->second;
}

BestCheckpoint require_best(const RunFolder& folder) {
  if (const auto best = best_checkpoint(folder.path)) return *best;
  throw Error(
      fmt::format("{} keeps no checkpoint of a step after which the model was evaluated; name last or a number of "
                  "steps, or begin a run with checkpoint.best=true",
                  folder.path.string()));
}

std::optional<BestCheckpoint> best_checkpoint(const fs::path& run_folder) {
  const auto newest = latest_checkpoint(run_folder);
  if (!newest) return std::nullopt;
  const std::vector<egg_evaluation> evaluations = read_facts(*newest).evaluations;
  const std::map<uint64_t, fs::path> present = checkpoints_in(checkpoints_of(run_folder));
  const auto best = best_step(evaluations, [&](uint64_t step) { return present.contains(step); });
  if (!best) return std::nullopt;
  return BestCheckpoint{present.at(*best), *best, best_step(evaluations, [](uint64_t) { return true; }).value()};
}

fs::path checkpoint_after(const fs::path& run_folder, uint64_t step) {
  const fs::path folder = checkpoints_of(run_folder);
  const std::map<uint64_t, fs::path> present =
      is_there(folder) ? checkpoints_in(folder) : std::map<uint64_t, fs::path>();
  const auto found = present.find(step);
  if (found != present.end()) return found->second;
  std::vector<uint64_t> steps;
  for (const auto& [kept, path] : present) steps.push_back(kept);
  throw Error(
      fmt::format("{} keeps no checkpoint after {} steps, expected one of: {}; name one of these, or keep more "
                  "with checkpoint.keep",
                  run_folder.string(), step, steps.empty() ? "none" : fmt::format("{}", fmt::join(steps, ", "))));
}

// Decides by the run's record, because the run may end with the weights of its best evaluation.
static fs::path end_checkpoint(const RunFolder& folder, const fs::path& newest) {
  if (!is_there(folder.record())) return newest;
  const RunRecord record = read_record(folder.record());
  const bool ended_before = record.status == RunStatus::kStopped && record.final && record.final->step < record.steps;
  return ended_before ? checkpoint_after(folder.path, record.final->step) : newest;
}

fs::path choose_checkpoint(const RunFolder& folder, const std::string& chosen, const std::string& who) {
  const auto newest = latest_checkpoint(folder.path);
  if (!newest)
    throw Error(
        fmt::format("{} keeps no checkpoint, expected one; a run that has just begun has none yet, and a search keeps "
                    "none of trials that stay behind",
                    folder.path.string()));
  if (chosen == "end") return end_checkpoint(folder, *newest);
  if (chosen == "last") return *newest;
  if (chosen == "best") return require_best(folder).folder;
  if (const auto step = number_in(chosen)) return checkpoint_after(folder.path, *step);
  throw Error(fmt::format("{} '{}', expected end, last, best or a number of steps; correct it", who, chosen));
}

}  // namespace eggroll
