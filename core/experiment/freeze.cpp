#include "experiment/freeze.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "eggroll/error.h"
#include "record/run_lock.h"
#include "system/files.h"
#include "system/machine.h"

namespace eggroll {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHalf = ".tmp";  // the folder that is being filled

// Maps the name of a copy to its original. Two originals of one name both stay, for the registry to judge; a folder
// that is listed twice, as an installed one may be, has one copy.
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

using Digests = std::map<std::string, std::string>;  // name of the copy to the sha256 of its bytes

// The name of the folder of these copies.
std::string folder_name(const Digests& digests) {
  Sha256 all;
  for (const auto& [name, digest] : digests) all.update(name + " " + digest + "\n");
  return all.hex().substr(0, 12);
}

Error not_the_copies(const fs::path& folder, const std::string& what) {
  return Error(fmt::format("{}; delete the folder {} and run again to have it copied anew", what, folder.string()));
}

// Everything in the folder is loaded, so it must hold no file that nobody copied there.
Digests digests_in(const fs::path& folder) {
  Digests digests;
  for (const fs::path& path : paths_in(own_folder(folder))) {
    if (!fs::is_regular_file(fs::symlink_status(path))) {
      throw not_the_copies(folder, fmt::format("{} is no file, expected the copies of a launch alone", path.string()));
    }
    digests[path.filename()] = sha256_file(path);
  }
  return digests;
}

// A damaged copy would train other weights, or crash.
void require_equal(const fs::path& folder, const Digests& expected) {
  Digests found = digests_in(folder);
  for (const auto& [name, digest] : expected) {
    if (found[name] == digest) continue;
    throw not_the_copies(folder, fmt::format("the copy {} is missing or damaged: its sha256 is not that of the file it "
                                             "was made from",
                                             (folder / name).string()));
  }
  for (const auto& [name, digest] : found) {
    if (expected.contains(name)) continue;
    throw not_the_copies(
        folder, fmt::format("{} is no copy of the launch, expected the copies alone", (folder / name).string()));
  }
}

// Removes the leftovers of a launch that was killed. Version 0.2 named them HASH.tmpPID.
void remove_half_copies(const fs::path& into) {
  for (const fs::path& path : paths_in(into)) {
    if (path.filename().string().find(kHalf) != std::string::npos) fs::remove_all(path);
  }
}

fs::path freeze(const std::map<std::string, fs::path>& files, const fs::path& into) try {
  create_folders(own_folder(into));
  const FileLock lock(into.parent_path() / "lock");  // of the sweep: another runner may copy the same
  remove_half_copies(into);
  Digests digests;
  for (const auto& [name, path] : files) digests[name] = sha256_file(path);
  const fs::path folder = into / folder_name(digests);
  if (is_there(folder)) {
    require_equal(folder, digests);
    return folder;
  }
  // The copy is renamed when it is whole: one that was cut short never has the name.
  const fs::path half = into / kHalf;
  try {
    create_folders(half);
    for (const auto& [name, path] : files) copy_to_disk(path, half / name);
    sync_folder(half);
    fs::rename(half, folder);
  } catch (...) {
    remove_half_copies(into);  // it would keep a full disk full
    throw;
  }
  sync_folder(into);
  return folder;
} catch (const fs::filesystem_error& error) {
  throw file_error("copy files to", into, error.code().value());
}

}  // namespace

fs::path freeze_plugins(const std::vector<PluginFolder>& folders, const fs::path& into) {
  return freeze(plugin_files(folders), into);
}

void require_frozen(const fs::path& folder) {
  const Digests found = digests_in(folder);
  if (folder_name(found) == (folder / "").parent_path().filename()) return;
  throw Error(fmt::format("{} holds other files than a launch copied there; run its sweep again", folder.string()));
}

fs::path freeze_executable(const fs::path& into) {
  const std::string name = "eggroll";
  return freeze({{name, executable_to_start()}}, into) / name;
}

}  // namespace eggroll
