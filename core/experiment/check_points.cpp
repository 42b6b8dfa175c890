#include "experiment/check_points.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <map>
#include <set>
#include <system_error>

#include "config/hash.h"
#include "eggroll/error.h"
#include "eggroll/spec.h"
#include "experiment/process.h"
#include "plugin/calls.h"
#include "plugin/registry.h"
#include "record/environment.h"
#include "record/json.h"
#include "system/files.h"
#include "system/machine.h"
#include "system/process.h"
#include "train/new_record.h"
#include "train/run.h"
#include "train/setup.h"

namespace eggroll {
namespace {

using nlohmann::ordered_json;

// Opens points and remembers what they share.
class Checker {
 public:
  Checker(const std::vector<PluginFolder>& plugins, bool here) : registry_(plugins), here_(here) {}

  ordered_json check(const SweepPoint& point) try {
    const Setup setup(checked_form(point.config), registry_,
                      [&](const ConfigNode& config) { return dataset_of(config); });
    ordered_json plugins = ordered_json::array();
    for (const PluginRecord& plugin : plugin_records(setup.learner.plugins)) {
      plugins.push_back({{"kind", plugin.kind}, {"name", plugin.name}, {"sha256", plugin.sha256}});
    }
    ordered_json said = {{"error", ""},
                         {"program", setup.learner.program->hash()},
                         {"rule", setup.learner.rule->hash()},
                         {"plugins", std::move(plugins)}};
    if (!here_) return said;
    const SessionPlan plan = setup.learner.plan_session();
    said["device"] = plan.device;
    said["memory"] = plan.memory;
    return said;
  } catch (const std::exception& error) {
    return {{"error", error.what()}};
  }

 private:
  // With any backend if the point's own cannot run on this machine and need not.
  ConfigNode checked_form(ConfigNode config) const {
    if (here_) return config;
    const std::string name = config.at("backend.name").text();
    const Source source = config.at("backend").source();
    for (const PluginFile& file : registry_.files()) {
      if (file.kind != EGG_KIND_BACKEND || file.name != name || file.verdict != Verdict::kCannotRun) continue;
      *config.find("backend") = ConfigNode(ConfigNode::Map{{"name", ConfigNode(std::string("auto"), source)},
                                                           {"threads", ConfigNode(int64_t{0}, source)}},
                                           source);
    }
    return config;
  }

  Dataset dataset_of(const ConfigNode& config) {
    const std::string section = to_json(config.at("dataset")).dump();
    const auto known = datasets_.find(section);
    return known != datasets_.end() ? known->second : datasets_.emplace(section, open_dataset_of(config)).first->second;
  }

  Registry registry_;
  bool here_;
  std::map<std::string, Dataset> datasets_;
};

// Runs in the child: writes a line of JSON for each point from `first` on.
[[noreturn]] void check_from(const std::vector<SweepPoint>& points, size_t first,
                             const std::vector<PluginFolder>& plugins, bool here, int pipe) {
  CallNote::keep_quiet();
  Checker checker(plugins, here);
  for (size_t i = first; i < points.size(); ++i) {
    const std::string line =
        checker.check(points[i]).dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
    if (write_all(pipe, line) != 0) ::_exit(1);
  }
  ::_exit(0);
}

PointCheck check_of(const ordered_json& line) {
  PointCheck check{line.at("error"),          line.value("device", ""), line.value("memory", uint64_t{0}),
                   line.value("program", ""), line.value("rule", ""),   {}};
  for (const ordered_json& plugin : line.value("plugins", ordered_json::array())) {
    PluginRecord& record = check.plugins.emplace_back();
    record.kind = plugin.at("kind");
    record.name = plugin.at("name");
    record.sha256 = plugin.at("sha256");
  }
  return check;
}

}  // namespace

std::vector<PointCheck> check_points(const std::vector<SweepPoint>& points, const std::vector<PluginFolder>& plugins,
                                     bool here) {
  std::vector<PointCheck> checks;
  if (!can_compute_after_fork()) {
    Checker checker(plugins, here);
    for (const SweepPoint& point : points) checks.push_back(check_of(checker.check(point)));
    return checks;
  }
  while (checks.size() < points.size()) {
    std::fflush(nullptr);
    Pipe pipe = open_pipe();
    const pid_t child = ::fork();
    if (child < 0) throw Error("no process: " + std::generic_category().message(errno));
    if (child == 0) {
      ::close(pipe.output.get());
      check_from(points, checks.size(), plugins, here, pipe.input->get());
    }
    pipe.input.reset();
    const std::string text = read_to_end(pipe.output);
    const int status = wait_for(child);
    for (size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
      const ordered_json line = json_or_null(std::string_view(text).substr(begin, end - begin));
      checks.push_back(read_members("the check of a point", "fix its plugins", [&] { return check_of(line); }));
    }
    if (checks.size() < points.size()) {  // it may have ended with exit code 0
      checks.push_back({fmt::format("opening its plugins ended the process with {}; fix the plugin, or leave the point "
                                    "out",
                                    ending_of(status)),
                        "",
                        0,
                        "",
                        "",
                        {}});
    }
  }
  return checks;
}

std::string require_reusable(const Sweep& sweep, const std::vector<PointCheck>& checks) {
  std::set<std::string> builds;
  std::string reason;
  size_t refused = 0;
  for (size_t i = 0; i < checks.size(); ++i) {
    const RunFolder folder = sweep.folder_of(sweep.points[i]);
    if (!is_there(folder.record())) continue;
    const RunRecord record = read_record(folder.record());
    if (record.status != RunStatus::kCompleted && record.status != RunStatus::kStopped) continue;
    try {
      require_same_ops(record, folder.path);
      if (!checks[i].error.empty()) continue;  // its program and rule are not known
      require_same_arithmetic(record, {hex64(EGG_SPEC_HASH), checks[i].program_hash, checks[i].rule_hash, ""},
                              folder.path);
    } catch (const Error& error) {
      if (refused++ == 0) reason = error.what();
    }
    if (const std::string names = other_builds(record, checks[i].plugins); !names.empty()) builds.insert(names);
  }
  if (refused == 0) return fmt::format("{}", fmt::join(builds, ", "));
  throw Error(refused == 1 ? reason : fmt::format("{} (and {} more points of the sweep)", reason, refused - 1));
}

}  // namespace eggroll
