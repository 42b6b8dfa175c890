// The plugins of a launch and its executable, copied: what is built or installed later changes nothing that runs.
#ifndef EGGROLL_EXPERIMENT_FREEZE_H
#define EGGROLL_EXPERIMENT_FREEZE_H

#include <filesystem>
#include <vector>

#include "plugin/folders.h"

namespace eggroll {

// Copies every *.eggplugin of the folders into a folder below `into`, a folder of the sweep's, that is named by a hash
// of all of them, and returns it; copies that are there already stay. Throws, naming the file, where one of them is
// another file by now, or another file or a link lies among them.
std::filesystem::path freeze_plugins(const std::vector<PluginFolder>& folders, const std::filesystem::path& into);

// Throws where the folder holds anything else than freeze_plugins() copied there.
void require_frozen(const std::filesystem::path& folder);

// Copies this executable in the same way; returns the copy.
std::filesystem::path freeze_executable(const std::filesystem::path& into);

}  // namespace eggroll

#endif
