#include "plugin/registry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "eggroll/error.h"
#include "eggroll/suggest.h"
#include "plugin/library.h"
#include "plugin/probe.h"
#include "system/files.h"

namespace eggroll {

namespace fs = std::filesystem;

namespace {

// The path without links, if it can be resolved.
fs::path resolved(const fs::path& path) {
  std::error_code error;
  const fs::path result = fs::weakly_canonical(path, error);
  return error ? path : result;
}

// Plugins of this project that this build or its package leaves out, and why. The CMake function
// eggroll_explain_absence writes the file.
const std::map<std::string, std::string> kAbsent = {
#include "eggroll_absent.inc"
};

Error unusable(const std::string& text) { return Error(text, EGG_ERROR_CONFIG, "name"); }

}  // namespace

Registry::Registry(std::vector<PluginFolder> folders, std::chrono::milliseconds limit, std::string cure)
    : folders_(std::move(folders)), limit_(limit), cure_(std::move(cure)) {
  std::set<fs::path> seen;
  std::erase_if(folders_, [&](const PluginFolder& folder) { return !seen.insert(resolved(folder.path)).second; });
  for (PluginFolder& folder : folders_) scan(folder);
  probe_files(files_, limit_);
  reject_duplicates();
}

void Registry::scan(PluginFolder& folder) {
  if (!folder.problem.empty()) return;
  std::error_code error;
  const fs::file_status status = fs::status(folder.path, error);
  if (status.type() == fs::file_type::not_found) {
    folder.problem = "does not exist";
  } else if (status.type() == fs::file_type::none) {
    folder.problem = "cannot be read: " + error.message();
  } else if (!fs::is_directory(status)) {
    add(folder, folder.path);
  } else {
    std::vector<fs::path> paths;
    for (fs::directory_iterator entry(folder.path, error), end; !error && entry != end; entry.increment(error)) {
      if (entry->path().extension() == ".eggplugin") paths.push_back(entry->path());
    }
    if (error) folder.problem = "cannot be read: " + error.message();
    std::sort(paths.begin(), paths.end());
    for (const fs::path& path : paths) add(folder, path);
  }
}

void Registry::add(const PluginFolder& folder, const fs::path& path) {
  const fs::path canonical = resolved(path);
  const bool again = std::any_of(files_.begin(), files_.end(),
                                 [&](const PluginFile& other) { return resolved(other.path) == canonical; });
  if (again) return;
  PluginFile file;
  file.path = path;
  file.is_of_build = folder.origin == kBesideExecutable;
  files_.push_back(std::move(file));
}

void Registry::reject_duplicates() {
  std::map<std::pair<egg_kind, std::string>, std::vector<PluginFile*>> groups;
  for (PluginFile& file : files_) {
    if (file.verdict != Verdict::kRejected) groups[{*file.kind, file.name}].push_back(&file);
  }
  for (const auto& [key, group] : groups) {
    if (group.size() < 2) continue;
    for (PluginFile* file : group) {
      std::vector<std::string> others;
      for (const PluginFile* other : group) {
        if (other != file) others.push_back(other->path.string());
      }
      file->verdict = Verdict::kRejected;
      file->score = 0;
      file->reason = fmt::format("{}: {} is in {} too; remove all but one", file->path.string(), file->who(),
                                 fmt::join(others, " and "));
    }
  }
}

ChosenPlugin Registry::choose(egg_kind kind, const std::string& name) const {
  if (kind == EGG_KIND_BACKEND && name == "auto") return choose_backend();

  const PluginFile* refused = nullptr;
  for (const PluginFile& file : files_) {
    if (file.kind == kind && file.name == name) {
      if (file.verdict == Verdict::kAccepted) return chosen(file, "asked for by name");
      refused = &file;
    }
    // A file whose descriptor cannot be read may still be the one that is meant.
    if (!file.kind && file.path.stem() == name && refused == nullptr) refused = &file;
  }
  if (refused != nullptr && refused->verdict == Verdict::kCannotRun) {
    throw unusable(fmt::format("{}; choose another {}{}", refused->reason, kind_name(kind),
                               kind == EGG_KIND_BACKEND ? ", or auto" : ""));
  }
  if (refused != nullptr) throw unusable(refused->reason);
  throw unusable(unknown(kind, name));
}

std::string Registry::unknown(egg_kind kind, const std::string& name) const {
  std::vector<std::string> known;
  for (const PluginFile& file : files_) {
    if (file.kind == kind && file.verdict == Verdict::kAccepted) known.push_back(file.name);
  }
  std::sort(known.begin(), known.end());
  const auto absent = kAbsent.find(name);
  // If no plugin of a kind is found, the folders are wrong. A processes plugin may be missing: a run can do without.
  if (absent != kAbsent.end() && (!known.empty() || kind == EGG_KIND_PROCESSES)) {
    return fmt::format("the {} '{}' is not here: {}{}", kind_name(kind), name, absent->second,
                       known.empty() ? "" : fmt::format("; choose another: {}, or auto", fmt::join(known, ", ")));
  }
  std::string text = fmt::format("unknown {} '{}'{}", kind_name(kind), name, suggestion(name, known));
  if (text.find("; did you mean") != std::string::npos) {
    text += fmt::format(" (known: {})", fmt::join(known, ", "));
  } else if (known.empty()) {
    text += searched();
  } else {
    text += fmt::format(" (for a plugin of your own: {})", cure_);
  }
  for (const PluginFolder& folder : folders_) {
    if (!folder.problem.empty())
      text += fmt::format("; {} ({}) {}", folder.path.string(), folder.origin, folder.problem);
  }
  return text;
}

ChosenPlugin Registry::choose_backend() const {
  std::vector<const PluginFile*> able;
  std::vector<std::string> reasons;
  for (const PluginFile& file : files_) {
    if (file.kind != EGG_KIND_BACKEND) continue;
    if (file.verdict == Verdict::kAccepted) {
      able.push_back(&file);
    } else {
      reasons.push_back(file.reason);
    }
  }
  if (able.empty()) {
    throw unusable(
        fmt::format("no backend can run here{}{}", reasons.empty() ? "" : ": ", fmt::join(reasons, "; and ")) +
        searched());
  }
  std::sort(able.begin(), able.end(), [](const PluginFile* a, const PluginFile* b) {
    return a->score != b->score ? a->score < b->score : a->name < b->name;
  });
  std::vector<std::string> scores;
  for (const PluginFile* file : able) scores.push_back(fmt::format("{} {}", file->name, file->score));
  const PluginFile& best = **std::find_if(able.begin(), able.end(),
                                          [&](const PluginFile* file) { return file->score == able.back()->score; });
  return chosen(best, fmt::format("highest score {} of: {}", best.score, fmt::join(scores, ", ")));
}

ChosenPlugin Registry::chosen(const PluginFile& file, const std::string& reason) const {
  ChosenPlugin plugin{file, sha256_file(file.path), reason, limit_, nullptr};
  const LoadedPlugin loaded = load_plugin(plugin.file);
  if (loaded.descriptor == nullptr) throw unusable(fmt::format("{}: {}", file.path.string(), loaded.reason));
  plugin.descriptor = loaded.descriptor;
  return plugin;
}

std::string Registry::searched() const {
  std::vector<std::string> paths;
  for (const PluginFolder& folder : folders_) paths.push_back(folder.path.string());
  return fmt::format("; looked in {} ({})",
                     paths.empty() ? std::string("no folder") : fmt::format("{}", fmt::join(paths, ", ")), cure_);
}

}  // namespace eggroll
