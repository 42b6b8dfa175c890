#include "plugin/registry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/dll/shared_library.hpp>
#include <map>
#include <memory>
#include <set>

#include "eggroll/error.h"
#include "eggroll/suggest.h"
#include "plugin/watchdog.h"
#include "record/files.h"

namespace eggroll {

namespace fs = std::filesystem;

namespace {

// Never destroyed, so that no library is unloaded: an abandoned thread may still run in one. Never copied: a copy would
// be loaded again in Boost's default mode. By canonical path.
std::map<fs::path, std::unique_ptr<boost::dll::shared_library>>& libraries() {
  static auto* all = new std::map<fs::path, std::unique_ptr<boost::dll::shared_library>>();
  return *all;
}

// The system's own words, which Boost wraps: "... (dlerror system message: WORDS): Bad file descriptor".
std::string load_failure(const std::string& text, const fs::path& path) {
  const std::string before = "(dlerror system message: ";
  const size_t begin = text.find(before);
  const size_t end = text.rfind("):");
  if (begin == std::string::npos || end == std::string::npos || end < begin) return text;
  std::string words = text.substr(begin + before.size(), end - begin - before.size());
  const std::string prefix = path.string() + ": ";
  return words.starts_with(prefix) ? words.substr(prefix.size()) : words;
}

// Without links, as far as that can be found out.
fs::path resolved(const fs::path& path) {
  std::error_code error;
  const fs::path result = fs::weakly_canonical(path, error);
  return error ? path : result;
}

// Loads and checks; returns the reason to reject.
std::string load(const fs::path& canonical, PluginFile& file) {
  std::error_code ignored;
  if (!fs::is_regular_file(canonical, ignored)) return "not a readable file; remove it";
  auto& library = libraries()[canonical];
  try {
    if (library == nullptr) {
      using boost::dll::load_mode::rtld_local;
      using boost::dll::load_mode::rtld_now;
      auto loaded = std::make_unique<boost::dll::shared_library>();
      loaded->load(canonical, rtld_now | rtld_local);
      library = std::move(loaded);
    }
    if (!library->has(EGG_PLUGIN_SYMBOL)) {
      return fmt::format("exports no symbol {}; build it with eggroll_add_plugin", EGG_PLUGIN_SYMBOL);
    }
    return check_descriptor(&library->get<const egg_plugin_descriptor>(EGG_PLUGIN_SYMBOL), file);
  } catch (const std::exception& e) {
    return fmt::format("cannot be loaded ({}); rebuild it for this machine with every library that it needs",
                       load_failure(e.what(), canonical));
  }
}

Error unusable(const std::string& text) { return Error(text, EGG_ERROR_CONFIG, "name"); }

}  // namespace

Registry::Registry(std::vector<PluginFolder> folders, std::chrono::milliseconds limit)
    : folders_(std::move(folders)), limit_(limit) {
  std::set<fs::path> seen;
  std::erase_if(folders_, [&](const PluginFolder& folder) { return !seen.insert(resolved(folder.path)).second; });
  for (PluginFolder& folder : folders_) scan(folder);
  reject_duplicates();
  for (PluginFile& file : files_) {
    if (file.descriptor != nullptr) probe(file);
  }
}

void Registry::scan(PluginFolder& folder) {
  std::error_code error;
  const fs::file_status status = fs::status(folder.path, error);
  if (status.type() == fs::file_type::not_found) {
    folder.problem = "does not exist";
  } else if (status.type() == fs::file_type::none) {
    folder.problem = "cannot be read: " + error.message();
  } else if (!fs::is_directory(status)) {
    examine(folder.path);
  } else {
    std::vector<fs::path> paths;
    for (fs::directory_iterator entry(folder.path, error), end; !error && entry != end; entry.increment(error)) {
      if (entry->path().extension() == ".eggplugin") paths.push_back(entry->path());
    }
    if (error) folder.problem = "cannot be read: " + error.message();
    std::sort(paths.begin(), paths.end());
    for (const fs::path& path : paths) examine(path);
  }
}

void Registry::examine(const fs::path& path) {
  PluginFile file;
  file.path = path;
  const fs::path canonical = resolved(path);
  const bool again = std::any_of(files_.begin(), files_.end(),
                                 [&](const PluginFile& other) { return resolved(other.path) == canonical; });
  if (again) return;
  const std::string reason = load(canonical, file);
  if (!reason.empty()) file.reason = path.string() + ": " + reason;
  files_.push_back(std::move(file));
}

void Registry::reject_duplicates() {
  std::map<std::pair<egg_kind, std::string>, std::vector<PluginFile*>> groups;
  for (PluginFile& file : files_) {
    if (file.descriptor != nullptr) groups[{*file.kind, file.name}].push_back(&file);
  }
  for (const auto& [key, group] : groups) {
    if (group.size() < 2) continue;
    for (PluginFile* file : group) {
      std::vector<std::string> others;
      for (const PluginFile* other : group) {
        if (other != file) others.push_back(other->path.string());
      }
      file->descriptor = nullptr;
      file->reason = fmt::format("{}: {} is in {} too; remove all but one", file->path.string(), file->who(),
                                 fmt::join(others, " and "));
    }
  }
}

void Registry::probe(PluginFile& file) const {
  const auto function = file.descriptor->probe;
  const std::optional<SeamCall> call = finish_within(limit_, [function] { return call_plugin(function); });
  if (!call) {
    file.reason = abandoned_text(file.name, "probe", limit_, file.path);
  } else if (!call->thrown.empty()) {
    file.reason = fmt::format("{}: {} {}", file.path.string(), file.who(), call->thrown);
  } else if (call->result > 0) {
    file.verdict = Verdict::kAccepted;
    file.score = call->result;
  } else {
    file.verdict = Verdict::kCannotRun;
    const char* why = call->error.text[0] != '\0' ? call->error.text : "it gave no reason";
    file.reason = fmt::format("{} cannot run here: {}", file.who(), why);
  }
  if (file.verdict != Verdict::kAccepted) file.descriptor = nullptr;
}

ChosenPlugin Registry::choose(egg_kind kind, const std::string& name) const {
  if (kind == EGG_KIND_BACKEND && name == "auto") return choose_backend();

  std::vector<std::string> known;
  const PluginFile* refused = nullptr;
  for (const PluginFile& file : files_) {
    if (file.kind == kind && file.name == name) {
      if (file.verdict == Verdict::kAccepted) return chosen(file, "asked for by name");
      refused = &file;
    }
    if (file.kind == kind && file.verdict == Verdict::kAccepted) known.push_back(file.name);
    // A file whose descriptor cannot be read may still be the one that is meant.
    if (!file.kind && file.path.stem() == name && refused == nullptr) refused = &file;
  }
  if (refused != nullptr && refused->verdict == Verdict::kCannotRun) {
    throw unusable(fmt::format("{}; choose another {}{}", refused->reason, kind_name(kind),
                               kind == EGG_KIND_BACKEND ? ", or auto" : ""));
  }
  if (refused != nullptr) throw unusable(refused->reason);
  std::sort(known.begin(), known.end());
  std::string hint = suggestion(name, known);
  if (hint.starts_with("; did you mean")) hint += fmt::format(" (known: {})", fmt::join(known, ", "));
  throw unusable(fmt::format("unknown {} '{}'{}{}", kind_name(kind), name, hint, known.empty() ? searched() : ""));
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
  return ChosenPlugin{file, sha256_file(file.path), reason, limit_};
}

std::string Registry::searched() const {
  std::vector<std::string> paths;
  for (const PluginFolder& folder : folders_) paths.push_back(folder.path.string());
  return fmt::format("; looked in {} (set plugins.path or EGGROLL_PLUGIN_PATH)",
                     paths.empty() ? std::string("no folder") : fmt::format("{}", fmt::join(paths, ", ")));
}

}  // namespace eggroll
