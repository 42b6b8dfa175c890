// Which runs are one run, and which folder is that run's.
//
// A run is its settings and its data. Its hash names its folder and stands in the journal, the checkpoints and the
// record. Sections that cannot change weights or figures are no part of it. Data are named by absolute paths, so that
// it does not matter from where a run is started, or resumed.
//
// A folder keeps the hash that it was begun with, which is another one if the data lay elsewhere then. Such a folder
// is still its run's: the settings are compared, and the data by their sha256.
#ifndef EGGROLL_TRAIN_IDENTITY_H
#define EGGROLL_TRAIN_IDENTITY_H

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/host_settings.h"
#include "config/tree.h"
#include "train/run_folder.h"

namespace eggroll {

struct Learner;
struct RunIdentity;
struct Setup;

// From the current folder; "~" and "~/..." are the home folder. Empty text stays as it is.
std::string absolute_path(const std::string& text);

// The configuration with absolute paths of data and of folders with plugins.
ConfigNode with_absolute_paths(ConfigNode config);

// sha256 of what config/host_settings.h leaves in of the resolved configuration. Its paths must be absolute.
std::string run_hash(const ConfigNode& config);

// The hash that the files in the run's folder carry. The caller compares the data.
std::string hash_in(const RunFolder& folder, const ConfigNode& config);

// The identity of the run that is in the folder or is to begin there.
RunIdentity identity_of(const Learner& learner, const ConfigNode& config, const RunFolder& folder);

// Throws Error if the run in the folder was begun with other data: the file has changed since. The first compares
// the folder's record, if there is one, the second this sha256.
void require_same_data(const Setup& setup, const RunFolder& folder);
void require_same_data(const Setup& setup, const RunFolder& folder, const std::string& begun_with);

// Folders of runs, found by what they hold.
class KnownRuns {
 public:
  // Remembers the run of that folder, if it has a configuration that can be read. number: what find() returns.
  // label: what else the run is known by.
  void add(const std::filesystem::path& folder, size_t number, const std::string& label = "");
  // The number of the run with these settings, data and label, if there is one.
  std::optional<size_t> find(const ConfigNode& config, const std::string& label = "");

 private:
  struct Known {
    RunFolder folder;
    size_t number;
    std::string hash;
  };
  bool has_data(const RunFolder& folder, const ConfigNode& config);

  std::multimap<std::string, Known> runs_;          // by settings and label
  std::map<std::string, std::string> data_hashes_;  // by section
};

// The folder of this run in results.dir, which need not exist yet. config: with absolute paths.
std::filesystem::path run_folder_of(const ConfigNode& config);

}  // namespace eggroll

#endif
