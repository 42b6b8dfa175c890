// Plugin files are loaded and probed in a process of their own first, so that one that crashes, hangs or ends the
// process costs a sentence, and neither the command nor the other plugins.
#ifndef EGGROLL_PLUGIN_PROBE_H
#define EGGROLL_PLUGIN_PROBE_H

#include <chrono>
#include <vector>

#include "plugin/plugin_file.h"

namespace eggroll {

// Fills in everything that the files' paths leave open. limit: the longest that a file's constructors, or its probe,
// may take. One child process probes the files of the build; each other file has a child of its own, so that what it
// does to its process (limits, descriptors, children) is no other's fault. This process loads nothing, except on macOS:
// its frameworks do not work after a fork(), so a plugin that crashes there ends the command. A file is asked once in
// the life of a process. Throws Error if no process can be started.
void probe_files(std::vector<PluginFile>& files, std::chrono::milliseconds limit);

}  // namespace eggroll

#endif
