#include "plugin/scaffold.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "eggroll/error.h"
#include "plugin/plugin_file.h"
#include "system/files.h"

namespace eggroll {

namespace fs = std::filesystem;

namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

std::string filled_in(const std::string& text, const std::string& name) {
  return replaced(replaced(text, "template_name", name), R"("reference")", fmt::format(R"("{}")", name));
}

void copy_filled_in(const fs::path& source, const std::string& name, const fs::path& destination) {
  fs::create_directories(destination);
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(source)) {
    const fs::path target = destination / filled_in(entry.path().lexically_relative(source).string(), name);
    if (entry.is_directory()) {
      fs::create_directories(target);
    } else {
      write_atomically(target, filled_in(read_file(entry.path()), name));
    }
  }
}

}  // namespace

void new_plugin(const std::string& kind, const std::string& name, const fs::path& destination, const fs::path& root) {
  const std::vector<std::string> kinds{"backend", "model", "optimizer"};
  if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) {
    throw Error(fmt::format("there is no template for plugins of the kind '{}', expected a kind that has one: {}", kind,
                            fmt::join(kinds, ", ")),
                EGG_ERROR_CONFIG);
  }
  if (!is_plugin_name(name)) {
    throw Error(
        fmt::format("the plugin's name is '{}', expected lower_snake such as my_{}: a-z first, then a-z, 0-9 and "
                    "single underscores between, at most 64, not auto",
                    name, kind),
        EGG_ERROR_CONFIG);
  }
  std::error_code error;
  if (fs::symlink_status(destination, error).type() != fs::file_type::not_found) {
    throw Error(fmt::format("{} exists already; give another folder or remove it", destination.string()),
                EGG_ERROR_CONFIG);
  }
  std::vector<fs::path> sources;
  if (kind == "backend") sources.push_back(root / "plugins/backends/reference");
  sources.push_back(root / "tools/template" / kind);  // its CMakeLists.txt replaces the reference backend's
  for (const fs::path& source : sources) {
    if (fs::is_directory(source, error)) continue;
    throw Error(fmt::format("the template folder {} does not exist; install Eggroll again", source.string()));
  }
  try {
    for (const fs::path& source : sources) copy_filled_in(source, name, destination);
  } catch (const fs::filesystem_error& e) {
    fs::remove_all(destination, error);
    throw Error(fmt::format("cannot write {}: {}; choose a folder that you may write to", destination.string(),
                            e.code().message()));
  } catch (...) {
    fs::remove_all(destination, error);
    throw;
  }
}

}  // namespace eggroll
