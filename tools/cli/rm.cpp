// eggroll rm.
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <climits>
#include <map>
#include <optional>
#include <system_error>

#include "cli/commands.h"
#include "cli/runs.h"
#include "cli/terminal.h"
#include "record/run_lock.h"
#include "record/sentence.h"
#include "report/collection.h"
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

// The runs below ./results that began with this one, those without a record too. Throws Error where it cannot look at
// all of them.
std::vector<std::string> followers_of(const std::string& hash) {
  std::vector<std::string> followers;
  if (!is_there(kResults)) return followers;
  const RecordFiles files = find_records({kResults});
  if (!files.unread.empty()) throw Error(fmt::format("the folder {} cannot be read", files.unread[0].string()));
  for (const fs::path& path : files.runs) {
    const RunFolder folder{path};
    open_regular(folder.config(), O_RDONLY, "read", Links::kRefused);
    try {
      const ConfigNode config = read_config(folder);
      const ConfigNode* run = config.find("init.run");
      if (run == nullptr || run->kind() != ConfigNode::Kind::kText || run->text() != hash) continue;
      followers.push_back("the run in " + folder.path.string() + ", which began with it");
    } catch (const Error&) {
      continue;  // no run can go on with a configuration that is damaged
    }
  }
  return followers;
}

std::vector<std::string> referrers_of(const RunFolder& folder) try {
  const std::string hash = hash_of(folder);
  std::vector<std::string> all = reports_of(folder.path, hash);
  if (is_there(folder.point())) all.push_back("the sweep in " + folder.path.parent_path().parent_path().string());
  const std::vector<std::string> followers = followers_of(hash);
  all.insert(all.end(), followers.begin(), followers.end());
  return all;
} catch (const Error& error) {
  throw Error(
      fmt::format("{}; so nobody knows what refers to the run, and eggroll rm --force removes it all the "
                  "same",
                  error.what()));
}

void require_own_entries(const RunFolder& folder) {
  const std::optional<fs::path> foreign = foreign_entry(folder);
  if (!foreign) return;
  throw Error(
      fmt::format("{} is not removed, because it holds {}, which is no file of a run; nothing was removed: move it "
                  "elsewhere or remove it first",
                  folder.path.string(), foreign->lexically_relative(folder.path).string()));
}

// The run's own folder, without a slash at its end. Throws Error if the name is a link.
RunFolder own_run(const std::string& name) {
  fs::path path = absolute_path(existing_run(name).path.string());
  if (!path.has_filename()) path = path.parent_path();
  if (!fs::is_symlink(path)) return {path};
  throw Error(fmt::format("{} is a link, expected the run's own folder; name {}, or remove the link with rm",
                          path.string(), fs::read_symlink(path).string()));
}

// The lock goes last: while it is held, another rm leaves the folder alone.
void remove_all_of(const fs::path& folder) {
  std::error_code failure;
  for (const fs::path& path : paths_in(folder)) {
    if (path.filename() != "lock") fs::remove_all(path, failure);
    if (failure) throw file_error("remove", path, failure.value());
  }
  fs::remove_all(folder, failure);
  if (failure && is_there(folder)) throw file_error("remove", folder, failure.value());
}

// The files that a killed rm has left in the folder.
void sweep_up(const fs::path& folder) {
  for (const fs::path& path : paths_in(folder)) {
    std::error_code unknown;
    const bool is_folder = fs::symlink_status(path, unknown).type() == fs::file_type::directory;
    if (!is_folder || !path.filename().string().starts_with(kRemovedPrefix)) continue;
    try {
      if (!RunLock::is_taken(path) && !foreign_entry({path})) remove_all_of(path);
    } catch (const Error& error) {
      print_error("eggroll", error.what());  // the folders that this rm was asked for can go all the same
    }
  }
}

// Under another name first, and under its lock: a run of the same settings that begins meanwhile begins a new folder.
void remove_run(const fs::path& folder) {
  const fs::path around = folder.parent_path();
  sweep_up(around);
  // As long as a name may be, where the folder's own is.
  const std::string name = folder.filename().string().substr(0, NAME_MAX - kRemovedPrefix.size());
  const fs::path removed = around / fmt::format("{}{}", kRemovedPrefix, name);
  std::error_code failure;
  fs::rename(folder, removed, failure);
  if (failure) throw file_error("remove", folder, failure.value());
  sync_folder(around);
  remove_all_of(removed);
}

// Without force, a run that a report, a sweep or another run refers to stays, and all others with it.
int rm_command(const std::vector<std::string>& runs, bool force) {
  std::map<fs::path, RunLock> locks;  // until all are removed; one that is named twice has one
  for (const std::string& run : runs) {
    const RunFolder folder = own_run(run);
    require_own_entries(folder);
    if (!locks.try_emplace(folder.path, folder.path).second) continue;
    const std::vector<std::string> referrers = force ? std::vector<std::string>() : referrers_of(folder);
    if (referrers.empty()) continue;
    throw Error(
        fmt::format("{} is not removed, because it is referred to by {}; nothing was removed, and eggroll rm "
                    "--force removes it all the same",
                    folder.path.string(), fmt::join(referrers, ", and by ")));
  }
  for (const auto& [path, lock] : locks) {
    remove_run(path);
    say_line("removed " + path.string());
  }
  return 0;
}

}  // namespace

void commands::declare_rm(CommandLine& line) {
  static std::vector<std::string> runs;
  static bool force = false;
  CLI::App* command = line.add("rm", "Remove runs with all that is in their folders: eggroll rm RUN RUN",
                               [] { return rm_command(runs, force); });
  line.takes(command, "runs", runs, kRunHelp, {Words::kRuns})->required();
  command->add_flag("--force", force, "Also those that a report, a sweep or another run refers to");
}

}  // namespace eggroll
