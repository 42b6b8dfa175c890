#include "experiment/freeze.h"

#include <fmt/format.h>
#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "record/run_lock.h"
#include "system/files.h"
#include "system/machine.h"

namespace eggroll {
namespace {

namespace fs = std::filesystem;

// Name of the copy to its original. Two originals of one name both stay, for the registry to judge; a folder that is
// listed twice, as an installed one may be, has one copy.
std::map<std::string, fs::path> plugin_files(const std::vector<PluginFolder>& folders) {
  std::map<std::string, fs::path> files;
  std::set<fs::path> seen;
  for (size_t i = 0; i < folders.size(); ++i) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folders[i].path, ignored)) {
      if (entry.path().extension() != ".eggplugin") continue;
      if (!seen.insert(fs::weakly_canonical(entry.path(), ignored)).second) continue;
      const std::string name = entry.path().filename();
      files[files.contains(name) ? fmt::format("{}-{}", i, name) : name] = entry.path();
    }
  }
  return files;
}

// A copy that something has damaged would train other weights, or crash.
void require_equal(const fs::path& copy, const std::string& digest) {
  if (fs::exists(copy) && sha256_file(copy) == digest) return;
  throw Error(
      fmt::format("the copy {} is missing or damaged: its sha256 is not that of the file it was made from; "
                  "delete the folder {} and run again to have it copied anew",
                  copy.string(), copy.parent_path().string()));
}

fs::path freeze(const std::map<std::string, fs::path>& files, const fs::path& into) try {
  Sha256 all;
  std::map<std::string, std::string> digests;
  for (const auto& [name, path] : files) all.update(name + " " + (digests[name] = sha256_file(path)) + "\n");
  const fs::path folder = into / all.hex().substr(0, 12);
  create_folders(into);
  const FileLock lock(into.parent_path() / "lock");  // of the sweep: another runner may copy the same
  if (fs::exists(folder)) {
    for (const auto& [name, digest] : digests) require_equal(folder / name, digest);
    return folder;
  }
  // Whole or not at all: a copy that was cut short never has the name.
  const fs::path half = into / ".tmp";
  fs::remove_all(half);
  create_folders(half);
  for (const auto& [name, path] : files) copy_to_disk(path, half / name);
  sync_folder(half);
  fs::rename(half, folder);
  sync_folder(into);
  return folder;
} catch (const fs::filesystem_error& error) {
  throw file_error("copy files to", into, error.code().value());
}

}  // namespace

fs::path freeze_plugins(const std::vector<PluginFolder>& folders, const fs::path& into) {
  return freeze(plugin_files(folders), into);
}

fs::path freeze_executable(const fs::path& into) {
  const std::string name = "eggroll";
  return freeze({{name, executable_to_start()}}, into) / name;
}

}  // namespace eggroll
