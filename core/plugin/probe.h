// Plugin files are loaded and probed in a process of their own first, so that one that crashes, hangs or ends the
// process costs a sentence, and neither the command nor the other plugins.
#ifndef EGGROLL_PLUGIN_PROBE_H
#define EGGROLL_PLUGIN_PROBE_H

#include <chrono>
#include <vector>

#include "plugin/plugin_file.h"

namespace eggroll {

// Fills in all that the files' paths leave open. limit: the longest that a file's constructors, or its probe, may take.
// One process probes all files; where it ends, another goes on with the next file. Nothing is loaded into this process
// but on macOS, whose frameworks cannot be used behind a fork(): there a plugin that crashes still ends the command.
// A file is asked once in the life of a process. Throws Error where no process can be started.
void probe_files(std::vector<PluginFile>& files, std::chrono::milliseconds limit);

}  // namespace eggroll

#endif
