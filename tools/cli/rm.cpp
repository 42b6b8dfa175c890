// eggroll rm.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <system_error>

#include "cli/commands.h"
#include "cli/runs.h"
#include "record/record.h"
#include "record/run_lock.h"
#include "record/sentence.h"
#include "system/files.h"
#include "train/identity.h"

namespace eggroll {
namespace {

namespace fs = std::filesystem;

// "" where the run has no record that can be read.
std::string hash_of(const RunFolder& folder) {
  try {
    return read_record(folder.record()).config_hash;
  } catch (const Error&) {
    return "";
  }
}

// The reports that a folder around the run holds and that list it.
std::vector<std::string> reports_of(const fs::path& run, const std::string& hash) {
  std::vector<std::string> reports;
  if (hash.empty()) return reports;
  for (fs::path around = run.parent_path(); around != around.root_path(); around = around.parent_path()) {
    for (const fs::path& report : {around, around / "report"}) {
      const fs::path table = report / "runs.csv";
      if (!is_there(report / "findings.md") || !is_there(table)) continue;
      if (read_file(table).find(hash) != std::string::npos) reports.push_back("the report in " + report.string());
    }
  }
  return reports;
}

// The runs below ./results that began with this one.
std::vector<std::string> followers_of(const std::string& hash) {
  std::vector<std::string> followers;
  if (hash.empty()) return followers;
  for (const fs::path& folder : run_folders()) {
    try {
      const auto& config = read_record(RunFolder{folder}.record()).config;
      const auto init = config.find("init");
      if (init == config.end() || init->value("run", "") != hash) continue;
      followers.push_back("the run in " + folder.string() + ", which began with it");
    } catch (const Error&) {
      continue;  // eggroll ls says what is wrong with it
    }
  }
  return followers;
}

std::vector<std::string> referrers_of(const RunFolder& folder) {
  const std::string hash = hash_of(folder);
  const fs::path path = absolute_path(folder.path.string());
  std::vector<std::string> all = reports_of(path, hash);
  if (is_there(folder.point())) all.push_back("the sweep in " + path.parent_path().parent_path().string());
  const std::vector<std::string> followers = followers_of(hash);
  all.insert(all.end(), followers.begin(), followers.end());
  return all;
}

// Under another name first: half removed, it must not look like a run.
void remove_run(const fs::path& folder) {
  const fs::path retired = folder.parent_path() / (".removed-" + folder.filename().string());
  std::error_code failure;
  fs::remove_all(retired, failure);
  fs::rename(folder, retired, failure);
  if (failure) throw file_error("remove", folder, failure.value());
  fs::remove_all(retired, failure);
  if (failure) throw file_error("remove", retired, failure.value());
}

}  // namespace

int rm_command(const std::vector<std::string>& runs, bool force) {
  std::vector<RunFolder> folders;
  for (const std::string& run : runs) {
    RunFolder folder = existing_run(run);
    folder.path = absolute_path(folder.path.string());
    { const RunLock free(folder.path); }  // throws where a process is at work there
    const std::vector<std::string> referrers = force ? std::vector<std::string>() : referrers_of(folder);
    if (!referrers.empty()) {
      throw Error(
          fmt::format("{} is not removed, because it is referred to by {}; nothing was removed, and eggroll rm "
                      "--force removes it all the same",
                      folder.path.string(), fmt::join(referrers, ", and by ")));
    }
    folders.push_back(folder);
  }
  for (const RunFolder& folder : folders) {
    if (!is_there(folder.path)) continue;  // named twice
    remove_run(folder.path);
    fmt::print("removed {}\n", folder.path.string());
  }
  return 0;
}

}  // namespace eggroll
