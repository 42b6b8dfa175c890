// The settings of a run's overrides, except those that cannot change its weights or figures.
#ifndef EGGROLL_REPORT_OWN_SETTINGS_H
#define EGGROLL_REPORT_OWN_SETTINGS_H

#include <string>
#include <utility>
#include <vector>

#include "record/record.h"

namespace eggroll {

// Whether a key of the configuration is a setting, whose values make configurations differ: any key except name, seed,
// results, plugins and the test split.
bool is_setting(const std::string& key);

// The same without the settings that are no part of a run's hash: backend, checkpoint, monitor, stop, the hook and
// others of config/host_settings.h. Runs that differ in these alone are copies of one run.
bool changes_results(const std::string& key);

// Keys that change results, or groups, with their values as they were typed; a later override of a key counts.
// Overrides that delete are left out.
std::vector<std::pair<std::string, std::string>> own_settings(const RunRecord& record);

}  // namespace eggroll

#endif
