// Finds runs by the names that people give to commands.
#ifndef EGGROLL_TOOLS_CLI_RUNS_H
#define EGGROLL_TOOLS_CLI_RUNS_H

#include <filesystem>
#include <string>
#include <vector>

#include "train/run_folder.h"

namespace eggroll {

// What is a run is said by is_run() of record/run_files.h.

// Where runs are looked for that are named by less than their folder, and what `eggroll ls` lists.
inline constexpr const char* kResults = "results";

// The folders of all runs below ./results, sorted.
std::vector<std::filesystem::path> run_folders();

// The hash of its configuration, by its record, or where it has none yet by config.yaml. Throws Error if that is
// damaged.
std::string hash_of(const RunFolder& folder);

// The run that a command was given: its folder; or below ./results its path, its folder's name or the beginning of its
// hash, 4 digits at least. Throws Error if it is none, or if several are meant.
RunFolder existing_run(const std::filesystem::path& path);

// What a command that reads any number of runs was given: a folder or a record; or below ./results its path, a sweep by
// its name, or a run as above. Throws Error alike.
std::filesystem::path existing_results(const std::filesystem::path& path);

// The folders of all sweeps below ./results/sweeps, sorted.
std::vector<std::filesystem::path> sweep_folders();

}  // namespace eggroll

#endif
