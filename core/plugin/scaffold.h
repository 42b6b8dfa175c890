// `eggroll new`: a plugin's first files.
#ifndef EGGROLL_PLUGIN_SCAFFOLD_H
#define EGGROLL_PLUGIN_SCAFFOLD_H

#include <filesystem>
#include <string>

namespace eggroll {

// Copies tools/template/kind of root, the source tree or what is installed of it, to the new folder destination. A
// backend also gets the sources of plugins/backends/reference. The word template_name in file names and contents, and
// the name "reference" that the backend registers, become name. Throws Error if kind is not backend, model or
// optimizer, name is not lower_snake, or destination exists; then nothing is left behind.
void new_plugin(const std::string& kind, const std::string& name, const std::filesystem::path& destination,
                const std::filesystem::path& root);

}  // namespace eggroll

#endif
