#include "config/compose.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>

#include "config/interpolate.h"
#include "config/merge.h"
#include "config/override.h"
#include "config/value.h"
#include "eggroll/error.h"
#include "eggroll/suggest.h"

namespace eggroll {
namespace {

using EntryKind = DefaultsEntry::Kind;

// A part of an experiment: values, where the entry is _self_, or the choice of a group.
struct Part {
  DefaultsEntry entry;
  ConfigNode values;
};

// An option with what it inherits.
struct Option {
  ConfigNode values;
  std::string path;         // from the top, under which the values go
  std::vector<Part> parts;  // of an experiment, in place of values: in the order of its defaults list
};

// chain: the options that inherit from this one, outermost first.
Option load_option(const ConfigSearch& search, const DefaultsEntry& choice, std::vector<std::string> chain = {}) {
  const auto& [group, name, source] = std::tie(choice.group, choice.option, choice.source);
  const bool is_cycle = std::find(chain.begin(), chain.end(), name) != chain.end();
  chain.push_back(name);
  if (is_cycle) {
    throw wrong(source, fmt::format("{} '{}' inherits from itself ({}); remove one of the entries", group, name,
                                    fmt::join(chain, " -> ")));
  }
  const ConfigFile file = read_config_file(option_path(search, group, name, source));
  const std::string path = file.is_global ? "" : path_of_group(group);
  Option option{ConfigNode(ConfigNode::Map(), file.values.source()), path, {}};
  for (const DefaultsEntry& entry : file.defaults) {
    if (entry.kind == EntryKind::kOption) {
      const Option inherited = load_option(search, {EntryKind::kChoice, group, entry.option, entry.source}, chain);
      overlay(option.values, inherited.values, path);
      option.parts.insert(option.parts.end(), inherited.parts.begin(), inherited.parts.end());
    } else if (group == kExperimentGroup) {
      option.parts.push_back({entry, file.values});
    } else if (entry.kind == EntryKind::kSelf) {
      overlay(option.values, file.values, path);
    } else {
      throw wrong(entry.source,
                  fmt::format("an option's defaults list names options of {} and _self_; move '{}: {}' to "
                              "config.yaml",
                              group, entry.group, entry.option.empty() ? "null" : entry.option));
    }
  }
  return option;
}

// config.yaml with its choices, and the choices that replace them.
class Composer {
 public:
  explicit Composer(const ConfigSearch& search) : search_(search), main_(read_config_file(main_config_path(search))) {
    for (const DefaultsEntry& entry : main_.defaults) {
      require_choice(entry);
      if (entry.kind == EntryKind::kChoice && entry.group == kExperimentGroup) experiment_ = entry;
    }
  }

  // Whether key=option means a group. A group that is not chosen yet needs a +.
  bool is_group(const std::string& key) {
    return key == kExperimentGroup || find(key) != nullptr || eggroll::is_group(search_, key);
  }

  // The experiment's choices must be made before those of other groups.
  void choose_experiment(const Override& by) {
    if (by.action != Override::Action::kDelete) {
      experiment_ = {EntryKind::kChoice, by.key, option_of(by), by.source};
    } else if (!experiment_ || (by.value && option_of(by) != experiment_->option)) {
      throw wrong(by.source,
                  fmt::format("the experiment is {}, so this override does not delete it; remove the override",
                              experiment_ ? "'" + experiment_->option + "'" : "not chosen"));
    } else {
      experiment_.reset();
    }
  }
  void load_experiment() {
    if (!experiment_ || is_none(*experiment_)) return experiment_.reset();
    parts_ = load_option(search_, *experiment_).parts;
    for (const Part& part : parts_) {
      const DefaultsEntry& choice = part.entry;
      if (choice.kind == EntryKind::kSelf) continue;
      const DefaultsEntry* known = choice.group == kExperimentGroup ? nullptr : find(choice.group);
      if (choice.kind == EntryKind::kOverride && known == nullptr) {
        throw wrong(choice.source,
                    fmt::format("config.yaml's defaults list has no group '{}' to override{}; correct or remove it",
                                choice.group, near_name(choice.group, groups())));
      }
      if (choice.kind == EntryKind::kChoice && (known != nullptr || choice.group == kExperimentGroup)) {
        throw wrong(choice.source, fmt::format("config.yaml chooses {} already; write 'override {}: {}'", choice.group,
                                               choice.group, choice.option.empty() ? "null" : choice.option));
      }
      known != nullptr ? choose(choice) : add(experiments_, choice);
    }
  }

  // Applies an override of the command line: the group must be chosen already or, with a +, not yet.
  void change(const Override& by) {
    DefaultsEntry* entry = find(by.key);
    if (by.action == Override::Action::kDelete) return remove(by, entry);
    const DefaultsEntry choice{EntryKind::kChoice, by.key, option_of(by), by.source};
    if (by.action == Override::Action::kAdd && entry != nullptr) {
      throw wrong(by.source, fmt::format("{} is chosen already ({}); write {}={}", by.key, entry->source.text(), by.key,
                                         *by.value));
    }
    if (by.action == Override::Action::kSet && entry == nullptr) {
      throw wrong(by.source, fmt::format("config.yaml's defaults list has no group '{}'{}; write +{}={} to add it",
                                         by.key, near_name(by.key, groups()), by.key, *by.value));
    }
    entry != nullptr ? choose(choice) : add(added_, choice);
  }

  // The option's name, "" for null.
  static std::string option_of(const Override& by) {
    const std::string& text = *by.value;
    const bool quoted = text.starts_with('"') || text.starts_with('\'');
    const ConfigNode value = parse_element(text, by.source);
    if (!quoted && value.kind() == ConfigNode::Kind::kNull) return "";
    const bool is_text = value.kind() == ConfigNode::Kind::kText;
    if (value.kind() == ConfigNode::Kind::kList || value.kind() == ConfigNode::Kind::kMap ||
        (is_text && value.text().empty())) {
      throw wrong(by.source, fmt::format("the option of group '{}' is {}, expected its name; correct it", by.key,
                                         shown_value(value)));
    }
    return is_text ? value.text() : text;
  }

  ConfigNode values() const {
    ConfigNode result(ConfigNode::Map(), main_.values.source());
    for (const DefaultsEntry& entry : main_.defaults) {
      if (entry.kind == EntryKind::kSelf) {
        overlay(result, main_.values, "");
      } else if (entry.group != kExperimentGroup && !is_none(entry)) {
        place(result, entry);
      }
    }
    for (const Part& part : parts_) {
      if (part.entry.kind == EntryKind::kSelf) overlay(result, part.values, "");
      for (const DefaultsEntry& chosen : experiments_) {
        if (is_choice_of(chosen, part.entry.group) && !is_none(chosen)) place(result, chosen);
      }
    }
    for (const DefaultsEntry& entry : added_) {
      if (!is_none(entry)) place(result, entry);
    }
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

  static bool is_none(const DefaultsEntry& choice) { return choice.option.empty(); }

  void choose(const DefaultsEntry& choice) {
    DefaultsEntry* entry = find(choice.group);
    entry->option = choice.option;
    entry->source = choice.source;
  }
  static void add(std::vector<DefaultsEntry>& list, const DefaultsEntry& choice) {
    DefaultsEntry entry = choice;
    entry.kind = EntryKind::kChoice;
    list.push_back(entry);
  }
  void remove(const Override& by, const DefaultsEntry* entry) {
    if (entry == nullptr) {
      throw wrong(by.source, fmt::format("config.yaml's defaults list has no group '{}'{}; remove it", by.key,
                                         near_name(by.key, groups())));
    }
    if (by.value && option_of(by) != entry->option) {
      throw wrong(by.source,
                  fmt::format("{} is '{}' ({}), and so is not deleted; write ~{} to delete it whatever it is", by.key,
                              entry->option, entry->source.text(), by.key));
    }
    for (std::vector<DefaultsEntry>* list : lists()) {
      std::erase_if(*list, [&](const DefaultsEntry& each) { return is_choice_of(each, by.key); });
    }
  }

  static bool is_choice_of(const DefaultsEntry& entry, const std::string& group) {
    return entry.kind == EntryKind::kChoice && entry.group == group;
  }

  std::array<std::vector<DefaultsEntry>*, 3> lists() { return {&main_.defaults, &experiments_, &added_}; }

  DefaultsEntry* find(const std::string& group) {
    for (std::vector<DefaultsEntry>* list : lists()) {
      for (DefaultsEntry& entry : *list) {
        if (is_choice_of(entry, group)) return &entry;
      }
    }
    return nullptr;
  }

  std::vector<std::string> groups() {
    std::vector<std::string> names;
    for (std::vector<DefaultsEntry>* list : lists()) {
      for (const DefaultsEntry& entry : *list) {
        if (entry.kind == EntryKind::kChoice) names.push_back(entry.group);
      }
    }
    return names;
  }

  // The option's values under their path, whose source becomes the option's file.
  void place(ConfigNode& result, const DefaultsEntry& choice) const {
    const Option option = load_option(search_, choice);
    if (option.path.empty()) return overlay(result, option.values, "");
    ConfigNode& node = map_at(result, option.path, choice.source);
    overlay(node, option.values, option.path);
    node.set_source(option.values.source());
    name_source(node, choice);
  }

  // If an option's name is the one that the command line chose, its source is the command line.
  static void name_source(ConfigNode& option, const DefaultsEntry& choice) {
    constexpr const char* kNameKey = "name";
    ConfigNode* name = option.find(kNameKey);
    const bool is_same = name != nullptr && name->kind() == ConfigNode::Kind::kText && name->text() == choice.option;
    if (is_same && choice.source.line == 0) name->set_source(choice.source);
  }

  const ConfigSearch& search_;
  ConfigFile main_;
  std::optional<DefaultsEntry> experiment_;
  std::vector<Part> parts_;                 // of the experiment
  std::vector<DefaultsEntry> experiments_;  // choices of groups that the experiment adds
  std::vector<DefaultsEntry> added_;        // and the command line; they come last
};

// If a choice leaves its group out, the configuration remembers which choice.
void note_absence(ConfigNode& config, const Override& choice) {
  if (choice.action != Override::Action::kDelete && !Composer::option_of(choice).empty()) return;
  const auto [parent, key] = split_path(path_of_group(choice.key));
  ConfigNode* above = config.find(parent);
  if (above != nullptr && above->kind() == ConfigNode::Kind::kMap) above->note_deletion(key, choice.source);
}

}  // namespace

ConfigNode compose(const ConfigSearch& search, const std::vector<std::string>& overrides) {
  Composer composer(search);
  std::vector<Override> choices;
  std::vector<Override> changes;
  for (const std::string& text : overrides) {
    const Override change = parse_override(text);
    if (!composer.is_group(change.key)) {
      changes.push_back(change);
    } else if (change.key == kExperimentGroup) {
      composer.choose_experiment(change);
    } else {
      choices.push_back(change);
    }
  }
  composer.load_experiment();
  for (const Override& choice : choices) composer.change(choice);
  ConfigNode config = composer.values();
  for (const Override& choice : choices) note_absence(config, choice);
  for (const Override& change : changes) apply_override(config, change);
  return interpolate(config);
}

}  // namespace eggroll
