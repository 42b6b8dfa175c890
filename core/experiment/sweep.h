// A sweep: the points of a grid, each with its resolved configuration, its index and its folder.
//
// RESULTS/NAME/
//   points.jsonl    a line a point, sealed, only ever appended: an index and a folder stay what they are, whatever the
//                   grid becomes
//   sweep.json      question, claims, axes and seeds of the newest launch, for readers; sealed (record/seal.h)
//   claims.jsonl    every claim with what was known when it was first stated, see record/stated_claims.h
//   points/FOLDER/  a run's folder with log.txt, what its processes wrote, and point.json, its place here
//   plugins/HASH/   copies of the plugins of a launch: what is built later changes nothing that runs
//   executables/HASH/, jobs/ID/   of a launch whose points run elsewhere: the executable alike, see submission.h
#ifndef EGGROLL_EXPERIMENT_SWEEP_H
#define EGGROLL_EXPERIMENT_SWEEP_H

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "experiment/grid.h"
#include "record/record.h"
#include "train/beginning.h"
#include "train/run_folder.h"

namespace eggroll {

struct SweepPoint {
  uint64_t index = 0;
  std::string folder;  // its name: "0007-population=512,optimizer=es_adamw,seed=1-1a2b3c4d"
  std::string hash;    // identifies the point: the run's hash, with the values of axes that this leaves out
  uint64_t seed = 0;
  nlohmann::ordered_json axes;         // see axes_of()
  std::vector<std::string> overrides;  // the point is composed of these; the sweep's own are among them
  ConfigNode config;
  bool is_new = false;               // not in points.jsonl yet
  std::optional<TrialRecord> trial;  // of a search

  // The most steps and member tokens that the point may take.
  uint64_t steps() const;
  uint64_t member_tokens() const;
};

struct Sweep {
  std::string name;
  std::filesystem::path folder;
  Grid grid;
  std::vector<SweepPoint> points;   // seeds change slowest
  size_t repeated = 0;              // points of the grid that are the same run as an earlier one
  size_t left_behind = 0;           // points of the folder that the grid no longer has
  ConfigNode launcher;              // the section that says where points run
  std::optional<uint64_t> planned;  // points of a search, over all its rounds
  Spent spent;                      // of the budget, outside of these points and before this launch

  RunFolder folder_of(const SweepPoint& point) const { return RunFolder{folder / "points" / point.folder}; }
  SweepRecord record_of(const SweepPoint& point) const;
};

// A point that is to be composed once for each seed.
struct AskedPoint {
  GridPoint at;
  nlohmann::ordered_json axes;         // see axes_of()
  std::vector<std::string> overrides;  // besides those of `at`
  std::optional<TrialRecord> trial;
};

// The sweep of this configuration, without grid and points. Throws Error if there is no section `sweep`.
Sweep open_sweep(const ConfigNode& base);

// Composes the points with the seeds of the grid and numbers them. find: as below. Throws Error.
void add_points(Sweep& sweep, const ConfigSearch& search, const std::vector<std::string>& overrides,
                const std::vector<AskedPoint>& points, const FindRun& find);

// Composes every point of a grid. find: the run that a point's init.from names. New ones get the indices that follow
// those of the folder. Throws Error with file and line.
Sweep compose_sweep(const ConfigSearch& search, const std::vector<std::string>& overrides,
                    const FindRun& find = run_at);

// Numbers the new points again, now that no other launch does, and writes points.jsonl, claims.jsonl and sweep.json.
void write_sweep(Sweep& sweep);

// point.json: the run's place in its sweep, and its overrides.
struct PointFile {
  SweepRecord sweep;
  std::vector<std::string> overrides;
};
// Writes point.json and config.yaml. A point that has begun keeps the claims that it began with.
void write_point(const Sweep& sweep, const SweepPoint& point);
std::optional<PointFile> read_point(const std::filesystem::path& folder);  // nothing if the folder is no point's

}  // namespace eggroll

#endif
