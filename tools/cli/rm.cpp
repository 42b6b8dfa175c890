// eggroll rm.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <system_error>

#include "cli/commands.h"
#include "cli/runs.h"
#include "record/run_lock.h"
#include "record/sentence.h"
#include "system/files.h"
#include "train/identity.h"

namespace eggroll {
namespace {

namespace fs = std::filesystem;

// The reports that a folder around the run holds and that list it.
std::vector<std::string> reports_of(const fs::path& run, const std::string& hash) {
  std::vector<std::string> reports;
  for (fs::path around = run.parent_path(); around != around.root_path(); around = around.parent_path()) {
    for (const fs::path& report : {around, around / "report"}) {
      const fs::path table = report / "runs.csv";
      if (!is_there(report / "findings.md") || !is_there(table)) continue;
      if (read_file(table).find(hash) != std::string::npos) reports.push_back("the report in " + report.string());
    }
  }
  return reports;
}

// The runs below ./results that began with this one, those without a record too.
std::vector<std::string> followers_of(const std::string& hash) {
  std::vector<std::string> followers;
  std::error_code failure;
  for (fs::recursive_directory_iterator entry(kResults, failure);
       !failure && entry != fs::recursive_directory_iterator(); entry.increment(failure)) {
    const RunFolder folder{entry->path().parent_path()};
    if (entry->path() != folder.config()) continue;
    try {
      const ConfigNode config = read_config(folder);
      const ConfigNode* run = config.find("init.run");
      if (run == nullptr || run->kind() != ConfigNode::Kind::kText || run->text() != hash) continue;
      followers.push_back("the run in " + folder.path.string() + ", which began with it");
    } catch (const Error&) {
      continue;  // no run can go on with a configuration that cannot be read
    }
  }
  return followers;
}

std::vector<std::string> referrers_of(const RunFolder& folder) {
  std::string hash;
  try {
    hash = hash_of(folder);
  } catch (const Error& error) {
    throw Error(fmt::format(
        "{}; so nobody knows what refers to the run, and eggroll rm --force removes it all the same", error.what()));
  }
  std::vector<std::string> all = reports_of(folder.path, hash);
  if (is_there(folder.point())) all.push_back("the sweep in " + folder.path.parent_path().parent_path().string());
  const std::vector<std::string> followers = followers_of(hash);
  all.insert(all.end(), followers.begin(), followers.end());
  return all;
}

// Without a link and a slash at its end.
RunFolder own_run(const std::string& name) {
  fs::path path = absolute_path(existing_run(name).path.string());
  if (!path.has_filename()) path = path.parent_path();
  if (!fs::is_symlink(path)) return {path};
  throw Error(fmt::format("{} is a link, expected the run's own folder; name {}, or remove the link with rm",
                          path.string(), fs::read_symlink(path).string()));
}

// Takes away first what makes the folder a run: half removed, it is none.
void remove_run(const RunFolder& folder) {
  std::error_code failure;
  for (const fs::path& file : {folder.record(), folder.config()}) {
    fs::remove(file, failure);
    if (failure) throw file_error("remove", file, failure.value());
  }
  fs::remove_all(folder.path, failure);
  if (failure) throw file_error("remove", folder.path, failure.value());
}

}  // namespace

int rm_command(const std::vector<std::string>& runs, bool force) {
  std::map<fs::path, RunLock> locks;  // until all are removed; one that is named twice has one
  for (const std::string& run : runs) {
    const RunFolder folder = own_run(run);
    if (!locks.try_emplace(folder.path, folder.path).second) continue;
    const std::vector<std::string> referrers = force ? std::vector<std::string>() : referrers_of(folder);
    if (referrers.empty()) continue;
    throw Error(
        fmt::format("{} is not removed, because it is referred to by {}; nothing was removed, and eggroll rm "
                    "--force removes it all the same",
                    folder.path.string(), fmt::join(referrers, ", and by ")));
  }
  for (const auto& [path, lock] : locks) {
    remove_run(RunFolder{path});
    fmt::print("removed {}\n", path.string());
  }
  return 0;
}

}  // namespace eggroll
