#include "train/fork.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "config/yaml.h"
#include "eggroll/error.h"
#include "record/record.h"
#include "system/text.h"
#include "train/beginning.h"
#include "train/identity.h"
#include "train/received.h"

namespace eggroll {
namespace {

using Overrides = std::vector<std::string>;

constexpr size_t kShown = 300;  // bytes of what a record says

bool is_of_init(const std::string& override_text) { return sets(override_text, "init"); }

// The folders of configuration that the run was begun with, as options.
std::string config_dirs_of(const RunRecord& record) {
  constexpr const char* kOption = "--config-dir";
  std::string options;
  for (size_t i = 1; i < record.command_line.size(); ++i) {
    const std::string& word = record.command_line[i];
    if (word.starts_with(std::string(kOption) + "=")) options += " " + shell_word(word);
    if (word != kOption || i + 1 == record.command_line.size()) continue;
    options += fmt::format(" {} {}", kOption, shell_word(record.command_line[i + 1]));
  }
  return options;
}

Error not_composed(const RunFolder& folder, const std::string& reason) {
  const std::string began = config_dirs_of(read_record(folder.record()));
  return Error(
      fmt::format("the settings of the run in {} cannot be composed again: {}; give the folder of its "
                  "configuration with --config-dir DIR{}",
                  folder.path.string(), reason, began.empty() ? "" : fmt::format(" (it began with{})", began)));
}

// The configuration of these overrides, most of them the run's. An option of the user's own needs its folder again.
ConfigNode compose_again(const Forked& run, const Overrides& overrides) try {
  return run.compose(overrides);
} catch (const Error& error) {
  throw not_composed(run.folder, error.what());
}

// Text as an override's value, in which ${ stands for itself.
std::string text_value(const std::string& text) {
  std::string plain;
  for (const char c : text) {
    if (c == '{' && plain.ends_with('$'))
      plain += "${";
    else
      plain += c;
  }
  return to_line(ConfigNode(plain, {}));
}

// Refuses a record whose map or package reaches what belongs to the user's machine.
void require_own_machine(const Forked& run, const ReceivedOverrides& received) {
  if (received.unclear.empty()) return;
  Overrides clear = received.kept;
  std::erase_if(clear, [&](const std::string& text) {
    return std::find(received.unclear.begin(), received.unclear.end(), text) != received.unclear.end();
  });
  if (machine_settings(compose_again(run, received.kept)) == machine_settings(compose_again(run, clear))) {
    return;
  }
  throw Error(
      fmt::format("the record of the run in {} sets one of {} by '{}', and what is loaded, what is started and where "
                  "results go come from your own settings alone; give all of the run's: eggroll run init.from={} "
                  "init.continue=true KEY=VALUE...",
                  run.folder.path.string(), fmt::join(kMachineKeys, ", "),
                  one_line(fmt::format("{}", fmt::join(received.unclear, " ")), kShown), run.name));
}

// Throws Error if the files compose other settings than the run has.
void require_unchanged(const Forked& run, const Overrides& overrides) {
  ConfigNode composed = compose_again(run, overrides);
  ConfigNode* init = composed.find("init");
  const ConfigNode* own = run.config.find("init");
  if (init != nullptr && own != nullptr) *init = *own;
  if (run_hash(with_absolute_paths(std::move(composed))) == run_hash(run.config)) return;
  throw Error(
      fmt::format("the configuration files have changed since the run in {} began, so that its settings cannot "
                  "be composed again; give all of them: eggroll run init.from={} init.continue=true "
                  "KEY=VALUE...",
                  run.folder.path.string(), run.name));
}

// The overrides of the run with absolute paths of files, without its beginning and without what belongs to the user's
// machine.
Overrides own_overrides(const Forked& run) {
  ReceivedOverrides received;
  try {
    received = sort_received(read_record(run.folder.record()).overrides);
  } catch (const Error& error) {
    throw not_composed(run.folder, error.what());
  }
  std::erase_if(received.kept, is_of_init);
  require_own_machine(run, received);
  for (const std::string& text : received.left) {
    run.say(fmt::format("the other run's '{}' is left behind, because it is of your machine; name it to keep it",
                        one_line(text, kShown)));
  }
  Overrides overrides = std::move(received.kept);
  for (const std::string& key : kDataFiles) {
    const ConfigNode* file = run.config.find("dataset." + key);
    if (file == nullptr || file->kind() != ConfigNode::Kind::kText) continue;
    overrides.push_back(fmt::format("dataset.{}={}", key, text_value(file->text())));
  }
  require_unchanged(run, overrides);
  return overrides;
}

// Stop rules may have ended the other run, and would end its fork at once.
void leave_stop_rules(const Forked& run, Overrides& overrides) {
  const ConfigNode* stop = run.config.find("stop");
  if (stop == nullptr || stop->kind() != ConfigNode::Kind::kMap) return;
  std::string left;
  for (const ConfigNode::Entry& rule : stop->map()) {
    if (rule.value.kind() == ConfigNode::Kind::kNull) continue;
    overrides.push_back(fmt::format("stop.{}=null", rule.key));
    left += fmt::format("{}stop.{}={}", left.empty() ? "" : ", ", rule.key, to_line(rule.value));
  }
  if (left.empty()) return;
  run.say(fmt::format("the other run's stop rules are left behind ({}); name them to keep them", left));
}

}  // namespace

Overrides fork_overrides(const Forked& run, const Overrides& changes) {
  for (const std::string& text : changes) {
    if (!is_of_init(text)) continue;
    throw Error(fmt::format("'{}' is for eggroll run, and eggroll fork sets init itself; leave it out", text));
  }
  Overrides overrides = own_overrides(run);
  leave_stop_rules(run, overrides);
  overrides.insert(overrides.end(), changes.begin(), changes.end());
  const std::string from = absolute_path(run.folder.path.string()) + "@" + split_name(run.name).checkpoint;
  overrides.push_back("init.from=" + text_value(from));
  overrides.emplace_back("init.continue=true");
  return overrides;
}

}  // namespace eggroll
