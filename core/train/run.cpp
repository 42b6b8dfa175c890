#include "train/run.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "config/hash.h"
#include "config/yaml.h"
#include "eggroll/error.h"
#include "record/run_lock.h"
#include "record/sentence.h"
#include "system/files.h"
#include "train/checkpoint.h"
#include "train/clock.h"
#include "train/identity.h"

namespace eggroll {
namespace {

// Ranks whose program, rule, data or settings differ would train different models.
void require_same_work(const Setup& setup, const ConfigNode& config, const RunFolder& folder, Ranks& ranks) {
  const RunIdentity identity = identity_of(setup.learner, config, folder);
  const std::vector<std::pair<const char*, std::string>> facts = {{"specification", identity.spec_hash},
                                                                  {"program", identity.program_hash},
                                                                  {"rule", identity.rule_hash},
                                                                  {"dataset", setup.dataset.sha256}};
  for (const auto& [what, hash] : facts) {
    const std::vector<uint64_t> all = ranks.gather(uint64_t{std::stoull(hash.substr(0, 16), nullptr, 16)});
    for (size_t rank = 1; rank < all.size(); ++rank) {
      if (all[rank] == all[0]) continue;
      ranks.fail_together(fmt::format(
          "rank {} has another {} than rank 0 ({:016x}, {:016x}), expected the same build and files on all machines; "
          "install the same eggroll and the same data on both",
          rank, what, all[rank], all[0]));
    }
  }
}

// Removes what a process left that was killed at its very end, unless another one is at work there or this one may not.
void tidy(const std::filesystem::path& folder) {
  if (!has_leftovers(folder)) return;
  try {
    const RunLock lock(folder);
    remove_leftovers(folder, {});
  } catch (const Error&) {
    return;
  }
}

// Whether the folder holds the record of the run that has ended, which is then the result.
bool ended_before(const ConfigNode& config, Ranks& ranks, RunResult& result) {
  if (ranks.leads() && is_there(result.folder.record())) {
    RunRecord record = read_record(result.folder.record());
    result.ended_before = has_ended(record, config);
    if (result.ended_before) {
      result.record = std::move(record);
      tidy(result.folder.path);
    }
  }
  return result.ended_before = ranks.broadcast(result.ended_before);
}

RunResult run_shared(const ConfigNode& config, const RunFolder& folder, const Registry& registry,
                     const Invocation& invocation, const RunHooks& hooks, Ranks& ranks) {
  const Clock::time_point began = Clock::now();
  Setup setup(config, registry);
  require_same_work(setup, config, folder, ranks);
  if (ranks.leads()) require_same_data(setup, folder);
  RunResult result{{}, folder, setup.learner.train.steps, ranks.leads()};
  if (ended_before(config, ranks, result)) return result;
  if (hooks.opened) hooks.opened(setup);
  std::optional<RunLock> lock;
  if (ranks.leads()) {
    create_folders(folder.path);
    lock.emplace(folder.path);
  }
  // Once more, for another process may have ended the run before this one had the lock.
  if (ended_before(config, ranks, result)) return result;
  if (ranks.leads()) write_config(folder, config);
  if (hooks.begins) hooks.begins(folder, ranks);
  result.record = train(setup, config, folder, invocation, hooks.train, ranks, began);
  return result;
}

}  // namespace

bool has_ended(const RunRecord& record, const ConfigNode& config) {
  if (record.status == RunStatus::kCompleted) return true;
  return record.status == RunStatus::kStopped && record.config.at("stop") == to_json(config.at("stop"));
}

RunResult run_in_folder(const ConfigNode& config,
                        const std::function<std::filesystem::path(const ConfigNode&)>& folder_of,
                        const Registry& registry, const Invocation& invocation, const RunHooks& hooks) {
  const std::optional<ChosenPlugin> network = choose_ranks(config, registry);
  Ranks ranks = network ? Ranks(*network) : Ranks();
  if (ranks.alone()) return run_shared(config, RunFolder{folder_of(config)}, registry, invocation, hooks, ranks);
  try {
    if (hooks.joined) hooks.joined(ranks);
    const ConfigNode shared = parse_yaml(ranks.broadcast(to_yaml(config)), "the configuration of rank 0");
    RunResult result = run_shared(shared, RunFolder{folder_of(shared)}, registry, invocation, hooks, ranks);
    ranks.leave();
    return result;
  } catch (...) {
    // The others wait for this rank and would for ever.
    if (hooks.fails) hooks.fails(ranks, sentence_of_exception());
    ranks.abort(1);
    throw;
  }
}

}  // namespace eggroll
