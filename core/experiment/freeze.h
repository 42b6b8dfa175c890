// Copies a launch's executable and plugins, so that what is built or installed later does not change what runs.
#ifndef EGGROLL_EXPERIMENT_FREEZE_H
#define EGGROLL_EXPERIMENT_FREEZE_H

#include <filesystem>
#include <vector>

#include "plugin/folders.h"

namespace eggroll {

// Copies every *.eggplugin of the folders into a folder below `into`, a folder of the sweep, which is named by a hash
// of all copies, and returns it; existing copies stay. Throws, naming the file, if one of the copies has changed, or if
// another file or a link lies among them.
std::filesystem::path freeze_plugins(const std::vector<PluginFolder>& folders, const std::filesystem::path& into);

// Throws if the folder holds anything but what freeze_plugins() copied there.
void require_frozen(const std::filesystem::path& folder);

// Copies this executable in the same way; returns the copy.
std::filesystem::path freeze_executable(const std::filesystem::path& into);

}  // namespace eggroll

#endif
