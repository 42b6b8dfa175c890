#include "config/compose.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "config/interpolate.h"
#include "config/merge.h"
#include "config/override.h"
#include "eggroll/error.h"

namespace eggroll {
namespace {

using EntryKind = DefaultsEntry::Kind;

Error wrong(const Source& source, const std::string& sentence) {
  return setting_error("", source.text() + ": " + sentence);
}

std::string group_path(const std::string& group) {
  std::string path = group == kExperimentGroup ? "" : group;
  std::replace(path.begin(), path.end(), '/', '.');
  return path;
}

// An option with what it inherits.
struct Option {
  ConfigNode values;
  std::vector<DefaultsEntry> overrides;  // of an experiment
};

// chain: the options that inherit from this one, outermost first.
Option load_option(const ConfigSearch& search, const std::string& group, const std::string& name, const Source& source,
                   std::vector<std::string> chain = {}) {
  const bool is_cycle = std::find(chain.begin(), chain.end(), name) != chain.end();
  chain.push_back(name);
  if (is_cycle) {
    throw wrong(source, fmt::format("{} '{}' inherits from itself ({}); remove one of the entries", group, name,
                                    fmt::join(chain, " -> ")));
  }
  const ConfigFile file = read_config_file(option_path(search, group, name, source));
  Option option{ConfigNode(ConfigNode::Map(), file.values.source()), {}};
  for (const DefaultsEntry& entry : file.defaults) {
    if (entry.kind == EntryKind::kSelf) {
      overlay(option.values, file.values, group_path(group));
    } else if (entry.kind == EntryKind::kOption) {
      const Option inherited = load_option(search, group, entry.option, entry.source, chain);
      overlay(option.values, inherited.values, group_path(group));
      option.overrides.insert(option.overrides.end(), inherited.overrides.begin(), inherited.overrides.end());
    } else if (entry.kind == EntryKind::kOverride && group == kExperimentGroup) {
      option.overrides.push_back(entry);
    } else {
      throw wrong(entry.source, group == kExperimentGroup
                                    ? fmt::format("an experiment's defaults list changes config.yaml's choices; write "
                                                  "'override {}: {}'",
                                                  entry.group, entry.option)
                                    : fmt::format("an option's defaults list names options of {} and _self_; move '{}: "
                                                  "{}' to config.yaml",
                                                  group, entry.group, entry.option));
    }
  }
  return option;
}

// config.yaml, its choices and those that replace them.
class Composer {
 public:
  explicit Composer(const ConfigSearch& search) : search_(search), main_(read_config_file(main_config_path(search))) {
    for (const DefaultsEntry& entry : main_.defaults) {
      require_choice(entry);
      if (entry.kind == EntryKind::kChoice && entry.group == kExperimentGroup) experiment_ = entry;
    }
  }

  bool is_group(const std::string& name) { return name == kExperimentGroup || find(name) != nullptr; }

  // The experiment's choices must be made before those of other groups.
  void choose_experiment(const DefaultsEntry& choice) { experiment_ = choice; }
  void load_experiment() {
    if (!experiment_) return;
    loaded_ = load_option(search_, kExperimentGroup, experiment_->option, experiment_->source);
    for (const DefaultsEntry& choice : loaded_.overrides) {
      if (choice.group == kExperimentGroup || find(choice.group) == nullptr) {
        throw wrong(choice.source,
                    fmt::format("config.yaml's defaults list has no group '{}' to override{}; correct or remove it",
                                choice.group, near_name(choice.group, groups())));
      }
      choose(choice);
    }
  }
  void choose(const DefaultsEntry& choice) {
    DefaultsEntry* entry = find(choice.group);
    entry->option = choice.option;
    entry->source = choice.source;
  }

  ConfigNode values() const {
    ConfigNode result(ConfigNode::Map(), main_.values.source());
    for (const DefaultsEntry& entry : main_.defaults) {
      if (entry.kind == EntryKind::kSelf) {
        overlay(result, main_.values, "");
      } else if (entry.group != kExperimentGroup) {
        place(result, entry);
      }
    }
    if (experiment_) overlay(result, loaded_.values, "");
    return result;
  }

 private:
  void require_choice(const DefaultsEntry& entry) {
    if (entry.kind == EntryKind::kOption) {
      throw wrong(entry.source,
                  fmt::format("'{}' stands alone in config.yaml's defaults list, expected 'group: option' "
                              "or _self_; name its group",
                              entry.option));
    }
    if (entry.kind == EntryKind::kOverride) {
      throw wrong(entry.source,
                  fmt::format("config.yaml overrides no group; write '{}: {}'", entry.group, entry.option));
    }
    if (entry.kind == EntryKind::kChoice && find(entry.group) != &entry) {
      throw wrong(entry.source, fmt::format("the group '{}' is chosen twice; remove one entry", entry.group));
    }
  }

  DefaultsEntry* find(const std::string& group) {
    for (DefaultsEntry& entry : main_.defaults) {
      if (entry.kind == EntryKind::kChoice && entry.group == group) return &entry;
    }
    return nullptr;
  }

  std::vector<std::string> groups() const {
    std::vector<std::string> names;
    for (const DefaultsEntry& entry : main_.defaults) {
      if (entry.kind == EntryKind::kChoice) names.push_back(entry.group);
    }
    return names;
  }

  // The option's values under the group's key, whose source becomes the option's file.
  void place(ConfigNode& result, const DefaultsEntry& choice) const {
    const Option option = load_option(search_, choice.group, choice.option, choice.source);
    const std::string path = group_path(choice.group);
    ConfigNode& node = map_at(result, path, choice.source);
    overlay(node, option.values, path);
    node.set_source(option.values.source());
  }

  const ConfigSearch& search_;
  ConfigFile main_;
  std::optional<DefaultsEntry> experiment_;
  Option loaded_;
};

}  // namespace

ConfigNode compose(const ConfigSearch& search, const std::vector<std::string>& overrides) {
  Composer composer(search);
  std::vector<DefaultsEntry> choices;
  std::vector<Override> changes;
  for (const std::string& text : overrides) {
    const Override change = parse_override(text);
    const bool is_group = composer.is_group(change.key);
    if (is_group && change.action == Override::Action::kAdd) {
      throw wrong(change.source, fmt::format("{} is a group; write {}={}", change.key, change.key, change.value));
    }
    if (!is_group || change.action == Override::Action::kDelete) {
      changes.push_back(change);
    } else if (change.key == kExperimentGroup) {
      composer.choose_experiment({EntryKind::kChoice, change.key, change.value, change.source});
    } else {
      choices.push_back({EntryKind::kChoice, change.key, change.value, change.source});
    }
  }
  composer.load_experiment();
  for (const DefaultsEntry& choice : choices) composer.choose(choice);
  ConfigNode config = composer.values();
  for (const Override& change : changes) apply_override(config, change);
  return interpolate(config);
}

}  // namespace eggroll
