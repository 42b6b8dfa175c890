// One section of the configuration as settings for eggroll::Settings and for plugins, and errors traced to their lines.
#ifndef EGGROLL_CONFIG_SETTINGS_BLOCK_H
#define EGGROLL_CONFIG_SETTINGS_BLOCK_H

#include <optional>
#include <string>
#include <vector>

#include "config/tree.h"
#include "eggroll/error.h"
#include "eggroll/plugin.h"
#include "eggroll/settings.h"

namespace eggroll {

// Nested maps become dotted keys; list elements become keys that end in their index; an empty list or map has none.
class SettingsBlock {
 public:
  // section: a path to a map, or "" for the values at the top that are no map. omitted: keys of the section to leave
  // out. Throws Error if there is no such map, and if an element of a list has no key: the list would be shorter.
  SettingsBlock(const ConfigNode& config, const std::string& section, const std::vector<std::string>& omitted = {});
  SettingsBlock(const SettingsBlock&) = delete;
  SettingsBlock& operator=(const SettingsBlock&) = delete;

  // Valid as long as the block lives.
  const egg_settings* view() const { return &view_; }

  // Adds to the error the place of the setting at fault, in front of the sentence, and the setting's full path, in the
  // sentence and as the key. Example: "configs/model/gru.yaml:3: model.width is -5, ...". If the key does not exist,
  // the place is that of the value that would hold it. An error that names no key stays as it is.
  Error located(const Error& error) const;

  // Returns body(Settings&). An error is located().
  template <class Body>
  auto read(Body&& body) const {
    try {
      Settings settings(view());
      return body(settings);
    } catch (const Error& error) {
      throw located(error);
    }
  }

 private:
  void flatten(const ConfigNode& node, const std::string& key);

  std::string section_;
  ConfigNode values_;
  std::optional<Source> deleted_by_;  // the section, which something has made again
  std::vector<std::string> keys_;
  std::vector<egg_setting> items_;
  egg_settings view_{};
};

// Throws Error at the first key at the top that is not known.
void require_only(const ConfigNode& root, const std::vector<std::string>& known);

}  // namespace eggroll

#endif
