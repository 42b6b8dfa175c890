#include "experiment/submission.h"

#include <fmt/format.h>

#include <random>
#include <sstream>

#include "config/yaml.h"
#include "eggroll/error.h"
#include "record/json.h"
#include "record/record_fields.h"
#include "system/files.h"

namespace eggroll {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr const char* kCure = "run its sweep again";

fs::path file_in(const fs::path& folder) { return folder / "elements.jsonl"; }

template <class T>
std::optional<T> optional_of(const ordered_json& json) {
  return json.is_null() ? std::nullopt : std::optional<T>(json.get<T>());
}

ordered_json header_of(const Sweep& sweep, const fs::path& plugins) {
  const PointLimits& limits = sweep.grid.limits;
  return {{"name", sweep.name},
          {"question", or_null(sweep.grid.question)},
          {"claims", sweep.grid.claims},
          {"limits", {{"seconds", or_null(limits.seconds)}, {"memory_bytes", or_null(limits.memory_bytes)}}},
          {"plugins", plugins.string()}};
}

ordered_json line_of(const SubmittedPoint& submitted) {
  const SweepPoint& point = *submitted.point;
  return {{"index", point.index},
          {"folder", point.folder},
          {"hash", point.hash},
          {"seed", point.seed},
          {"axes", point.axes},
          {"overrides", point.overrides},
          {"config", to_yaml(point.config)},
          {"search", field_json(point.trial, "search")},
          {"retries", or_null(submitted.retries)}};
}

std::vector<ordered_json> lines_in(const fs::path& folder) {
  if (!is_there(file_in(folder))) {
    throw Error(fmt::format("{} holds no {}, expected a folder that `eggroll sweep` made below a sweep's jobs",
                            folder.string(), file_in(folder).filename().string()));
  }
  std::vector<ordered_json> lines;
  std::istringstream text(read_file(file_in(folder), Links::kRefused));
  for (std::string line; std::getline(text, line);) {
    lines.push_back(json_or_null(line));
    if (lines.back().is_object()) continue;
    throw Error(fmt::format("line {} of {} is damaged, expected a JSON object; {}", lines.size(),
                            file_in(folder).string(), kCure));
  }
  return lines;
}

}  // namespace

fs::path submission_folder(const Sweep& sweep, const std::string& id) { return sweep.folder / "jobs" / id; }

std::string write_submission(const Sweep& sweep, const std::vector<SubmittedPoint>& points, const fs::path& plugins) {
  std::random_device random;
  const std::string id = fmt::format("{:08x}{:04x}", random(), random() & 0xFFFFU);
  const fs::path folder = submission_folder(sweep, id);
  create_folders(folder);
  std::string text = header_of(sweep, plugins).dump() + "\n";
  for (const SubmittedPoint& point : points) text += line_of(point).dump() + "\n";
  write_atomically(file_in(folder), text);
  return id;
}

std::vector<std::string> submitted_hashes(const fs::path& folder) try {
  std::vector<std::string> hashes;
  for (const ordered_json& line : lines_in(folder)) hashes.push_back(line.value("hash", ""));
  if (!hashes.empty()) hashes.erase(hashes.begin());
  return hashes;
} catch (const nlohmann::json::exception& error) {
  throw damaged_json(error, file_in(folder).string(), kCure);
}

Element read_element(const fs::path& folder, uint64_t number) try {
  const std::vector<ordered_json> lines = lines_in(folder);
  if (number + 1 >= lines.size()) {
    throw Error(fmt::format("{} has no element {}, expected one of 0 to {}", folder.string(), number,
                            static_cast<int64_t>(lines.size()) - 2));
  }
  const ordered_json& header = lines[0];
  const ordered_json& line = lines[number + 1];
  Element element;
  Sweep& sweep = element.sweep;
  sweep.name = header.at("name");
  sweep.folder = (folder / ".").lexically_normal().parent_path().parent_path().parent_path();
  sweep.grid.question = optional_of<std::string>(header.at("question"));
  sweep.grid.claims = header.at("claims");
  sweep.grid.limits = {optional_of<double>(header.at("limits").at("seconds")), std::nullopt};
  const ordered_json& memory = header.at("limits").at("memory_bytes");
  if (!memory.is_null()) sweep.grid.limits.memory_bytes = whole(memory);
  SweepPoint point;
  point.index = whole(line.at("index"));
  point.folder = line.at("folder");
  point.hash = line.at("hash");
  point.seed = whole(line.at("seed"));
  point.axes = object_at(line, "axes");
  point.overrides = line.at("overrides").get<std::vector<std::string>>();
  FieldReader{line}("search", point.trial, Key::kLater);
  point.config = parse_yaml(line.at("config").get<std::string>(), file_in(folder).string());
  sweep.points.push_back(std::move(point));
  element.options.plugins = header.at("plugins").get<std::string>();
  const auto retries = optional_of<std::string>(line.at("retries"));
  const fs::path record = sweep.folder_of(sweep.points[0]).record();
  element.options.retry_failed = retries && is_there(record) && sha256_file(record) == *retries;
  return element;
} catch (const nlohmann::json::exception& error) {
  throw damaged_json(error, file_in(folder).string(), kCure);
}

}  // namespace eggroll
