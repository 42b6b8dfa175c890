// `eggroll new`: a plugin's first files, copied from a template.
#ifndef EGGROLL_PLUGIN_SCAFFOLD_H
#define EGGROLL_PLUGIN_SCAFFOLD_H

#include <filesystem>
#include <string>

namespace eggroll {

// Copies template_root/kind to the new folder destination, with the word template_name in file names and contents
// replaced by name. Throws Error where kind is not backend, model or optimizer, name is not lower_snake, or destination
// exists; then nothing is left behind.
void new_plugin(const std::string& kind, const std::string& name, const std::filesystem::path& destination,
                const std::filesystem::path& template_root);

}  // namespace eggroll

#endif
