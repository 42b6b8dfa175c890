#include "train/run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "config/hash.h"
#include "config/yaml.h"
#include "eggroll/error.h"
#include "eggroll/spec.h"
#include "record/environment.h"
#include "record/run_lock.h"
#include "record/sentence.h"
#include "system/files.h"
#include "train/beginning.h"
#include "train/clock.h"
#include "train/identity.h"
#include "train/kept_checkpoints.h"
#include "train/new_record.h"

namespace eggroll {
namespace {

// Processes whose program, rule, data or settings differ would train different models.
void require_same_work(const Setup& setup, const ConfigNode& config, const RunFolder& folder, Processes& processes) {
  const RunIdentity identity = identity_of(setup.learner, config, folder);
  const std::vector<std::pair<const char*, std::string>> facts = {{"specification", identity.spec_hash},
                                                                  {"program", identity.program_hash},
                                                                  {"rule", identity.rule_hash},
                                                                  {"dataset", setup.dataset.sha256}};
  for (const auto& [what, hash] : facts) {
    const std::vector<uint64_t> all = processes.gather(uint64_t{std::stoull(hash.substr(0, 16), nullptr, 16)});
    for (size_t process = 1; process < all.size(); ++process) {
      if (all[process] == all[0]) continue;
      processes.fail_together(
          fmt::format("process {} has another {} than process 0 ({:016x}, {:016x}), expected the same build and files "
                      "on all machines; "
                      "install the same eggroll and the same data on both",
                      process, what, all[process], all[0]));
    }
  }
}

// Removes leftovers of a process that was killed at its very end, unless another works there or this one may not.
void tidy(const std::filesystem::path& folder) {
  if (!has_leftovers(folder)) return;
  try {
    const RunLock lock(folder);
    remove_leftovers(folder, {});
  } catch (const Error&) {
    return;
  }
}

// Whether the folder holds the record of the run, and the run has ended; that record is then the result.
bool ended_before(const ConfigNode& config, const Setup& setup, Processes& processes, RunResult& result) {
  if (processes.is_first() && is_there(result.folder.record())) {
    RunRecord record = read_record(result.folder.record());
    result.ended_before = has_ended(record, config);
    if (result.ended_before) {
      require_same_arithmetic(record, identity_of(setup.learner, config, result.folder), result.folder.path);
      result.other_builds = other_builds(record, plugin_records(setup.learner.plugins));
      result.record = std::move(record);
      tidy(result.folder.path);
    }
  }
  return result.ended_before = processes.broadcast(result.ended_before);
}

RunResult run_shared(const ConfigNode& config, const RunFolder& folder, const Registry& registry,
                     const Invocation& invocation, const RunHooks& hooks, Processes& processes) {
  const Clock::time_point began = Clock::now();
  Setup setup(config, registry);
  require_same_work(setup, config, folder, processes);
  if (processes.is_first()) require_same_data(setup, folder);
  RunResult result{{}, folder, setup.learner.train.steps, processes.is_first()};
  if (ended_before(config, setup, processes, result)) return result;
  if (processes.is_first() && setup.begin) require_beginning(setup, folder);
  if (hooks.opened) hooks.opened(setup);
  std::optional<RunLock> lock;
  if (processes.is_first()) {
    create_folders(folder.path);
    lock.emplace(folder.path);
  }
  // Asks again, because another process may have ended the run before this one had the lock.
  if (ended_before(config, setup, processes, result)) return result;
  if (processes.is_first()) write_config(folder, config);
  if (processes.is_first() && setup.begin) keep_beginning(*setup.begin, folder);
  if (hooks.begins) hooks.begins(folder, processes);
  result.record = TrainingLoop(setup, config, folder, invocation, hooks.train, processes, began).run();
  return result;
}

// The rules that apply: older records have fewer.
nlohmann::ordered_json stop_rules(nlohmann::ordered_json stop) {
  for (auto rule = stop.begin(); rule != stop.end();) rule = rule->is_null() ? stop.erase(rule) : std::next(rule);
  return stop;
}

void require_equal(const char* what, const std::string& then, const std::string& today,
                   const std::filesystem::path& folder) {
  if (then == today) return;
  throw Error(
      fmt::format("the run in {} has ended, and was made with another {} (its hash is {}, today's {}), so that it is "
                  "not taken as done; remove that folder to run it again, or give another name or another folder of "
                  "results",
                  folder.string(), what, then.empty() ? "unknown" : then, today));
}

}  // namespace

bool has_ended(const RunRecord& record, const ConfigNode& config) {
  if (record.status == RunStatus::kCompleted) return true;
  return record.status == RunStatus::kStopped &&
         stop_rules(record.config.at("stop")) == stop_rules(to_json(config.at("stop")));
}

void require_same_ops(const RunRecord& record, const std::filesystem::path& folder) {
  require_equal("op set or noise", record.environment.spec_hash, hex64(EGG_SPEC_HASH), folder);
}

void require_same_arithmetic(const RunRecord& record, const RunIdentity& now, const std::filesystem::path& folder) {
  require_same_ops(record, folder);
  require_equal("model program", record.program_hash.value_or(""), now.program_hash, folder);
  require_equal("update rule", record.rule_hash.value_or(""), now.rule_hash, folder);
}

std::string other_builds(const RunRecord& record, const std::vector<PluginRecord>& now) {
  std::vector<std::string> names;
  for (const PluginRecord& plugin : now) {
    if (plugin.kind != kind_name(EGG_KIND_MODEL) && plugin.kind != kind_name(EGG_KIND_OPTIMIZER)) continue;
    const bool is_same = std::any_of(record.plugins.begin(), record.plugins.end(), [&](const PluginRecord& then) {
      return then.kind == plugin.kind && then.sha256 == plugin.sha256;
    });
    if (!is_same) names.push_back(plugin.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

RunResult run_in_folder(const ConfigNode& config,
                        const std::function<std::filesystem::path(const ConfigNode&)>& folder_of,
                        const Registry& registry, const Invocation& invocation, const RunHooks& hooks) {
  const std::optional<ChosenPlugin> network = choose_processes(config, registry);
  Processes processes = network ? Processes(*network) : Processes();
  if (processes.alone())
    return run_shared(config, RunFolder{folder_of(config)}, registry, invocation, hooks, processes);
  try {
    if (hooks.joined) hooks.joined(processes);
    const ConfigNode shared = parse_yaml(processes.broadcast(to_yaml(config)), "the configuration of process 0");
    RunResult result = run_shared(shared, RunFolder{folder_of(shared)}, registry, invocation, hooks, processes);
    processes.leave();
    return result;
  } catch (...) {
    // The others wait for this process and would for ever.
    if (hooks.fails) hooks.fails(processes, sentence_of_exception());
    processes.abort(1);
    throw;
  }
}

}  // namespace eggroll
