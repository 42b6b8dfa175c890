#include "experiment/sweep.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>

#include "config/hash.h"
#include "config/yaml.h"
#include "eggroll/error.h"
#include "experiment/launcher.h"
#include "record/files.h"
#include "train/weights.h"

namespace eggroll {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr size_t kLongestMiddle = 80;

// "population=512,optimizer=es_adamw,seed=1", of safe characters.
std::string short_name(const SweepPoint& point) {
  std::string name;
  const auto add = [&](const std::string& key, const std::string& value) {
    name += fmt::format("{}{}={}", name.empty() ? "" : ",", key.substr(key.rfind('.') + 1), value);
  };
  for (const auto& [axis, value] : point.axes.items()) {
    if (value.is_string()) {
      add(axis, value.get<std::string>());
    } else {
      for (const auto& [key, one] : value.items()) add(key, one.get<std::string>());
    }
  }
  add("seed", std::to_string(point.seed));
  for (char& c : name) {
    const bool safe =
        std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string("=,._-").find(c) != std::string::npos;
    if (!safe) c = '_';
  }
  return name.substr(0, kLongestMiddle);
}

fs::path points_file(const Sweep& sweep) { return sweep.folder / "points.jsonl"; }

// Without the part of a line that a power cut may leave.
std::string whole_lines(const fs::path& path) {
  if (!fs::exists(path)) return "";
  const std::string text = read_file(path);
  return text.substr(0, text.rfind('\n') + 1);
}

// The folder of each hash in points.jsonl, and its index.
std::map<std::string, std::pair<uint64_t, std::string>> known_points(const Sweep& sweep) {
  std::map<std::string, std::pair<uint64_t, std::string>> known;
  const std::string text = whole_lines(points_file(sweep));
  for (size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    const ordered_json line = ordered_json::parse(text.substr(begin, end - begin), nullptr, false);
    if (!line.is_object() || !line.contains("hash") || !line.contains("index") || !line.contains("folder")) {
      throw Error(fmt::format("{} is damaged, expected a point on each line; restore it from a copy",
                              points_file(sweep).string()));
    }
    known[line["hash"]] = {line["index"].get<uint64_t>(), line["folder"].get<std::string>()};
  }
  return known;
}

void number_points(Sweep& sweep) {
  const auto known = known_points(sweep);
  uint64_t next = 0;
  for (const auto& [hash, place] : known) next = std::max(next, place.first + 1);
  size_t found = 0;
  for (SweepPoint& point : sweep.points) {
    const auto place = known.find(point.hash);
    point.is_new = place == known.end();
    if (!point.is_new) {
      std::tie(point.index, point.folder) = place->second;
      ++found;
      continue;
    }
    point.index = next++;
    point.folder = fmt::format("{:04}-{}-{}", point.index, short_name(point), point.hash.substr(0, 8));
  }
  sweep.left_behind = known.size() - found;
}

// Held while points are numbered and written; freed by the system when the process ends.
class SweepLock {
 public:
  explicit SweepLock(const fs::path& folder)
      : file_(::open((folder / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
    if (file_.get() < 0 || ::flock(file_.get(), LOCK_EX) != 0) throw file_error("lock", folder / "lock", errno);
  }

 private:
  Descriptor file_;
};

SweepPoint compose_point(const ConfigSearch& search, std::vector<std::string> overrides, const GridPoint& at,
                         uint64_t seed) {
  SweepPoint point;
  std::erase_if(overrides, is_of_launcher);
  point.axes = axes_of(at);
  point.seed = seed;
  overrides.emplace_back("~sweep");
  for (const AxisValue& value : at) overrides.insert(overrides.end(), value.overrides.begin(), value.overrides.end());
  overrides.push_back(fmt::format("seed={}", seed));
  point.overrides = std::move(overrides);
  try {
    point.config = compose(search, point.overrides);
  } catch (const Error& error) {
    throw Error(fmt::format("the point {}: {}", point.axes.dump(), error.what()));
  }
  erase_launcher(point.config);
  point.hash = run_hash(point.config);
  return point;
}

}  // namespace

uint64_t SweepPoint::steps() const { return static_cast<uint64_t>(config.at("train.steps").integer()); }

uint64_t SweepPoint::member_tokens() const {
  const ConfigNode& train = config.at("train");
  const auto count = [&](const char* key) { return static_cast<uint64_t>(train.at(key).integer()); };
  const uint64_t tokens = count("steps") * count("population") * count("tokens");
  const ConfigNode& stop = config.at("stop.tokens");
  return stop.kind() == ConfigNode::Kind::kNull ? tokens : std::min(tokens, static_cast<uint64_t>(stop.integer()));
}

SweepRecord Sweep::record_of(const SweepPoint& point) const {
  return SweepRecord{name, point.index, point.axes, grid.question, grid.claims};
}

Sweep compose_sweep(const ConfigSearch& search, const std::vector<std::string>& overrides) {
  const ConfigNode base = compose(search, overrides);
  if (base.find("sweep") == nullptr) {
    throw Error(
        "the configuration has no sweep, expected an experiment with a section `sweep`; for one run use "
        "eggroll run");
  }
  Sweep sweep;
  sweep.name = base.at("name").text();
  sweep.folder = fs::path(base.at("results.sweeps").text()) / sweep.name;
  sweep.grid = read_grid(base, search);
  sweep.launcher = base.at("launcher");
  std::set<std::string> seen;
  for (const uint64_t seed : sweep.grid.seeds) {
    for (const GridPoint& at : sweep.grid.points) {
      SweepPoint point = compose_point(search, overrides, at, seed);
      if (seen.insert(point.hash).second) {
        sweep.points.push_back(std::move(point));
      } else {
        ++sweep.repeated;
      }
    }
  }
  number_points(sweep);
  return sweep;
}

void write_sweep(Sweep& sweep) {
  std::error_code error;
  fs::create_directories(sweep.folder / "points", error);
  if (error) throw file_error("create the folder", sweep.folder / "points", error.value());
  const SweepLock lock(sweep.folder);
  number_points(sweep);
  AppendFile file(points_file(sweep));
  file.truncate_to(whole_lines(points_file(sweep)).size());
  for (const SweepPoint& point : sweep.points) {
    if (!point.is_new) continue;
    const ordered_json line = {{"index", point.index}, {"folder", point.folder}, {"hash", point.hash},
                               {"seed", point.seed},   {"axes", point.axes},     {"overrides", point.overrides}};
    file.append(line.dump() + "\n");
  }
  file.flush();
  ordered_json values = ordered_json::object();
  for (const SweepPoint& point : sweep.points) gather_values(values, point.axes);
  const ordered_json about = {{"name", sweep.name},
                              {"question", sweep.grid.question ? ordered_json(*sweep.grid.question) : ordered_json()},
                              {"claims", sweep.grid.claims},
                              {"axes", values},
                              {"seeds", sweep.grid.seeds},
                              {"points", sweep.points.size()}};
  write_atomically(sweep.folder / "sweep.json", about.dump(2) + "\n");
}

void write_point(const Sweep& sweep, const SweepPoint& point) {
  const RunFolder folder = sweep.folder_of(point);
  write_atomically(folder.config(), to_yaml(point.config));
  const ordered_json about = {{"sweep", sweep_to_json(sweep.record_of(point))}, {"overrides", point.overrides}};
  write_atomically(folder.point(), about.dump(2) + "\n");
}

std::optional<PointFile> read_point(const fs::path& folder) try {
  const RunFolder run{folder};
  if (!fs::exists(run.point())) return std::nullopt;
  const ordered_json about = ordered_json::parse(read_file(run.point()));
  return PointFile{sweep_from_json(about.at("sweep")), about.at("overrides").get<std::vector<std::string>>()};
} catch (const nlohmann::json::exception&) {
  throw Error(fmt::format("{} is damaged; run its sweep again", RunFolder{folder}.point().string()));
}

}  // namespace eggroll
