#include "experiment/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "config/yaml.h"
#include "eggroll/error.h"
#include "experiment/launcher.h"
#include "experiment/search_log.h"
#include "record/json.h"
#include "record/record_fields.h"
#include "record/run_lock.h"
#include "record/seal.h"
#include "record/stated_claims.h"
#include "system/files.h"
#include "train/identity.h"

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

// The text without a half-written last line, which a power cut may leave.
std::string whole_lines(const fs::path& path) {
  if (!is_there(path)) return "";
  const std::string text = read_file(path, Links::kRefused);
  return text.substr(0, text.rfind('\n') + 1);
}

// Whether the text is a plain folder name, and no path that leads out of its folder.
bool is_plain_name(const std::string& text) {
  return !text.empty() && text != "." && text != ".." && text.find('/') == std::string::npos;
}

// A line of points.jsonl.
struct KnownPoint {
  uint64_t index;
  std::string folder;
  std::string hash;
  ordered_json axes;
  bool is_taken = false;  // by a point of the grid
};

std::vector<KnownPoint> known_points(const Sweep& sweep) {
  constexpr const char* kCure = "restore it from a copy";
  std::vector<KnownPoint> known;
  each_sealed_line(
      points_file(sweep), whole_lines(points_file(sweep)), kCure,
      [&](const ordered_json& line, const std::string& name) {
        known.push_back(read_members(name, kCure, [&] {
          return KnownPoint{whole(line.at("index")), line.at("folder").get<std::string>(),
                            line.at("hash").get<std::string>(), line.value("axes", ordered_json::object())};
        }));
        // A point that is not recognised would run again, in another folder.
        if (known.back().index + 1 == known.size() && is_plain_name(known.back().folder)) return;
        throw Error(fmt::format("{} is damaged: expected point {} and its folder; {}", name, known.size() - 1, kCure));
      });
  return known;
}

// The values that distinguish points whose runs have the same hash: {"backend.threads": "2"}, or "".
std::string outside_hash(const ordered_json& axes) {
  ordered_json values = ordered_json::object();
  const auto add = [&](const std::string& key, const ordered_json& value) {
    if (is_outside_hash(key)) values[key] = value;
  };
  for (const auto& [axis, value] : axes.items()) {
    if (!value.is_object()) add(axis, value);
    if (!value.is_object()) continue;
    for (const auto& [key, one] : value.items()) add(key, one);
  }
  return values.empty() ? "" : values.dump();
}

// Finds each point of the grid among those in the folder: by its hash, or by the configuration in the point's own
// folder, whose data may have lain elsewhere. The others are new.
class Numbering {
 public:
  explicit Numbering(Sweep& sweep) : sweep_(sweep), known_(known_points(sweep)) {
    for (size_t i = 0; i < known_.size(); ++i) by_hash_.emplace(known_[i].hash, i);
  }

  void number() {
    std::vector<SweepPoint*> others;
    for (SweepPoint& point : sweep_.points) {
      const auto found = by_hash_.find(point.hash);
      if (found == by_hash_.end() || !take(point, known_[found->second])) others.push_back(&point);
    }
    if (!others.empty()) find_in_folders(others);
    uint64_t next = 0;
    for (const KnownPoint& known : known_) next = std::max(next, known.index + 1);
    for (SweepPoint* point : others) {
      if (!point->is_new) continue;
      point->index = next++;
      point->folder = fmt::format("{:04}-{}-{}", point->index, short_name(*point), point->hash.substr(0, 8));
    }
    sweep_.left_behind = static_cast<size_t>(
        std::count_if(known_.begin(), known_.end(), [](const KnownPoint& known) { return !known.is_taken; }));
  }

 private:
  static bool take(SweepPoint& point, KnownPoint& known) {
    if (known.is_taken) return false;
    known.is_taken = true;
    point.index = known.index;
    point.folder = known.folder;
    point.is_new = false;
    return true;
  }

  void find_in_folders(const std::vector<SweepPoint*>& points) {
    KnownRuns runs;
    for (size_t i = 0; i < known_.size(); ++i) {
      if (!known_[i].is_taken) runs.add(sweep_.folder / "points" / known_[i].folder, i, outside_hash(known_[i].axes));
    }
    for (SweepPoint* point : points) {
      const std::optional<size_t> found = runs.find(point->config, outside_hash(point->axes));
      point->is_new = !found || !take(*point, known_[*found]);
    }
  }

  Sweep& sweep_;
  std::vector<KnownPoint> known_;
  std::map<std::string, size_t> by_hash_;
};

// "Newest" and "best" may mean another checkpoint when the sweep goes on.
void require_step(const ConfigNode& config) {
  const ConfigNode* from = config.find("init.from");
  if (from == nullptr || from->kind() != ConfigNode::Kind::kText) return;
  const std::string checkpoint = split_name(from->text()).checkpoint;
  if (checkpoint.find_first_not_of("0123456789") == std::string::npos) return;
  throw wrong(from->source(),
              fmt::format("init.from is '{}', expected a step in a sweep, which may go on later; name it: "
                          "RUN@800",
                          from->text()));
}

SweepPoint compose_point(const ConfigSearch& search, std::vector<std::string> overrides, const AskedPoint& asked,
                         uint64_t seed, const FindRun& find) {
  SweepPoint point;
  std::erase_if(overrides, is_of_launcher);
  point.axes = asked.axes;
  point.seed = seed;
  point.trial = asked.trial;
  overrides.emplace_back("~sweep");
  overrides.insert(overrides.end(), asked.overrides.begin(), asked.overrides.end());
  for (const AxisValue& value : asked.at)
    overrides.insert(overrides.end(), value.overrides.begin(), value.overrides.end());
  overrides.push_back(fmt::format("seed={}", seed));
  point.overrides = std::move(overrides);
  try {
    ConfigNode config = compose(search, point.overrides);
    require_step(config);
    point.config = with_beginning(std::move(config), find);
  } catch (const Error& error) {
    throw Error(fmt::format("the point {}: {}", point.axes.dump(), error.what()));
  }
  erase_launcher(point.config);
  point.config = with_absolute_paths(std::move(point.config));
  point.hash = run_hash(point.config);
  const std::string more = outside_hash(point.axes);
  if (!more.empty()) point.hash = sha256_hex(point.hash + more);
  return point;
}

}  // namespace

uint64_t SweepPoint::steps() const {
  const auto steps = static_cast<uint64_t>(config.at("train.steps").integer());
  const ConfigNode* stop = config.find("stop.steps");
  const bool has_stop = stop != nullptr && stop->kind() != ConfigNode::Kind::kNull;
  return has_stop ? std::min(steps, static_cast<uint64_t>(stop->integer())) : steps;
}

uint64_t SweepPoint::member_tokens() const {
  const ConfigNode& train = config.at("train");
  const auto count = [&](const char* key) { return static_cast<uint64_t>(train.at(key).integer()); };
  const uint64_t tokens = steps() * count("population") * count("tokens");
  const ConfigNode& stop = config.at("stop.tokens");
  return stop.kind() == ConfigNode::Kind::kNull ? tokens : std::min(tokens, static_cast<uint64_t>(stop.integer()));
}

SweepRecord Sweep::record_of(const SweepPoint& point) const {
  return SweepRecord{name, point.index, point.axes, grid.question, grid.claims, point.trial};
}

Sweep open_sweep(const ConfigNode& base) {
  if (base.find("sweep") == nullptr) {
    throw Error(
        "the configuration has no sweep, expected an experiment with a section `sweep`; for one run use "
        "eggroll run");
  }
  Sweep sweep;
  sweep.name = base.at("name").text();
  sweep.folder = fs::path(base.at("results.sweeps").text()) / sweep.name;
  sweep.launcher = base.at("launcher");
  return sweep;
}

void add_points(Sweep& sweep, const ConfigSearch& search, const std::vector<std::string>& overrides,
                const std::vector<AskedPoint>& points, const FindRun& find) {
  std::set<std::string> seen;
  for (const uint64_t seed : sweep.grid.seeds) {
    for (const AskedPoint& asked : points) {
      SweepPoint point = compose_point(search, overrides, asked, seed, find);
      if (seen.insert(point.hash).second) {
        sweep.points.push_back(std::move(point));
      } else {
        ++sweep.repeated;
      }
    }
  }
  Numbering(sweep).number();
}

Sweep compose_sweep(const ConfigSearch& search, const std::vector<std::string>& overrides, const FindRun& find) {
  const ConfigNode base = compose(search, overrides);
  Sweep sweep = open_sweep(base);
  if (is_there(sweep.folder / kSearchLogName)) {
    throw Error(fmt::format("{} holds a search, and this sweep is none; give it another name (name=...)",
                            sweep.folder.string()));
  }
  sweep.grid = read_grid(base, search, overrides);
  std::vector<AskedPoint> points;
  for (const GridPoint& at : sweep.grid.points) points.push_back({at, axes_of(at), {}, {}});
  add_points(sweep, search, overrides, points, find);
  return sweep;
}

namespace {

// The records of all points in the folder, including points that the grid no longer has. A record that cannot be read
// counts as a run that has ended without any claim.
std::vector<RunRecord> records_in(const fs::path& points) {
  std::vector<RunRecord> records;
  std::error_code failure;
  for (fs::directory_iterator entry(points, failure); !failure && entry != fs::directory_iterator();
       entry.increment(failure)) {
    const RunFolder folder{entry->path()};
    if (!is_there(folder.record())) continue;
    try {
      records.push_back(read_record(folder.record()));
    } catch (const Error&) {
      records.emplace_back();
      records.back().status = RunStatus::kFailed;
      records.back().steps = 1;
    }
  }
  if (failure) throw file_error("read the folder", points, failure.value());
  return records;
}

// Adds the new claims to the file, each with the runs that began without it.
void state_claims(const Sweep& sweep) {
  const fs::path file = sweep.folder / kStatedClaimsName;
  const std::vector<RunRecord> records = records_in(sweep.folder / "points");
  std::vector<StatedClaim> known;
  std::string lines;
  if (std::any_of(records.begin(), records.end(), has_begun)) known = read_stated_claims(file);
  for (const StatedClaim& stated : known) lines += stated_claim_line(stated);
  for (const ordered_json& claim : sweep.grid.claims) {
    const bool is_known = std::any_of(known.begin(), known.end(),
                                      [&](const StatedClaim& stated) { return same_claim(stated.claim, claim); });
    if (is_known) continue;
    StatedClaim stated{claim, utc_now(), {0, 0, sweep.points.size()}};
    for (const RunRecord& record : records) {
      if (!record.sweep || !holds_claim(record.sweep->claims, claim)) add_run(stated.late, record);
    }
    stated.late.runs = std::max(stated.late.runs, stated.late.begun);
    lines += stated_claim_line(stated);
    known.push_back(std::move(stated));
  }
  if (!lines.empty() || is_there(file)) write_atomically(file, lines);
}

}  // namespace

void write_sweep(Sweep& sweep) {
  create_folders(own_folder(sweep.folder / "points"));
  const FileLock lock(sweep.folder / "lock");  // while points are numbered and written
  Numbering(sweep).number();
  std::string lines = whole_lines(points_file(sweep));
  for (const SweepPoint& point : sweep.points) {
    if (!point.is_new) continue;
    const ordered_json line = {{"index", point.index}, {"folder", point.folder}, {"hash", point.hash},
                               {"seed", point.seed},   {"axes", point.axes},     {"overrides", point.overrides}};
    lines += sealed_line(line) + "\n";
  }
  write_atomically(points_file(sweep), lines);
  state_claims(sweep);
  ordered_json values = ordered_json::object();
  for (const SweepPoint& point : sweep.points) gather_values(values, point.axes);
  const ordered_json about = {{"name", sweep.name},
                              {"question", sweep.grid.question ? ordered_json(*sweep.grid.question) : ordered_json()},
                              {"claims", sweep.grid.claims},
                              {"axes", values},
                              {"seeds", sweep.grid.seeds},
                              {"points", sweep.planned.value_or(sweep.points.size())}};
  write_atomically(sweep.folder / "sweep.json", sealed(about).dump(2) + "\n");
}

void write_point(const Sweep& sweep, const SweepPoint& point) {
  const RunFolder folder = sweep.folder_of(point);
  write_config(folder, point.config);
  SweepRecord place = sweep.record_of(point);
  if (is_there(folder.record())) {
    const RunRecord record = read_record(folder.record());
    if (has_begun(record) && record.sweep) place.claims = record.sweep->claims;
  }
  const ordered_json about = {{"sweep", field_json(place, "sweep")}, {"overrides", point.overrides}};
  write_atomically(folder.point(), sealed(about).dump(2) + "\n");
}

std::optional<PointFile> read_point(const fs::path& folder) {
  const RunFolder run{folder};
  if (!is_there(run.point())) return std::nullopt;
  const std::string cure = "run its sweep again";
  const ordered_json about = read_json(run.point(), cure);
  if (const Seal seal = seal_of(about); seal != Seal::kWhole) {
    throw Error(fmt::format("{} is damaged: {}; {}", run.point().string(), fault_of(seal), cure));
  }
  return read_members(run.point().string(), cure, [&] {
    return PointFile{read_fields<SweepRecord>(about.at("sweep")),
                     about.at("overrides").get<std::vector<std::string>>()};
  });
}

}  // namespace eggroll
