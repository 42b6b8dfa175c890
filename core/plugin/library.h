// Plugin files as libraries of this process.
#ifndef EGGROLL_PLUGIN_LIBRARY_H
#define EGGROLL_PLUGIN_LIBRARY_H

#include <string>

#include "eggroll/plugin.h"
#include "plugin/plugin_file.h"

namespace eggroll {

struct LoadedPlugin {
  const egg_plugin_descriptor* descriptor = nullptr;  // in the plugin's image; null if the file is refused
  std::string reason;                                 // why it is refused, without the file's path
};

// Loads file.path and checks its descriptor, which fills in file. The library's constructors run. It stays loaded until
// the process ends, and is not loaded again.
LoadedPlugin load_plugin(PluginFile& file);

}  // namespace eggroll

#endif
