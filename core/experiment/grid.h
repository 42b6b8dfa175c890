// A grid: the `sweep` section of an experiment as an ordered list of points.
//
// clang-format off
//   sweep:
//     question: Does the threshold scale with the population?  # optional, for the report
//     claims: [...]   # optional, see record/claim.h; here `where` is a list such as [model=gru]
//     seeds: 5        # 0 to 4; or a list; without it the configuration's seed
//     product:        # every combination; the last item changes fastest
//       - optimizer=sign_es,es_adamw                            # an axis: an override with a sweep as its value
//       - zip: [train.population=512,2048, train.tokens=64,16]  # axes that change together (in YAML as a block list)
//       - {when: [optimizer=es_adamw], product: [optimizer.beta1=0.5,0.9]}  # for points that match; others stay
//     exclude:        # points that match one of these are left out
//       - [optimizer=sign_es, train.population=512]
//     budget: {seconds: 3600, steps: 1000000, tokens: 1000000000}  # each optional, of the whole sweep
//     limits: {seconds: 600, memory_gib: 4}  # each optional; a point whose process goes beyond one is killed
// clang-format on
//
// A grid is a map with one of `product`, `zip`, `union`, `points`, and perhaps `exclude`; an item of a product is an
// axis or a grid, which may have `when`; an item of a union is a grid; a zip's items are axes of equally many values;
// an item of `points` is an override or a list of overrides, each with one value.
#ifndef EGGROLL_EXPERIMENT_GRID_H
#define EGGROLL_EXPERIMENT_GRID_H

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "config/compose.h"
#include "experiment/budget.h"

namespace eggroll {

// The value of one axis at a point.
struct AxisValue {
  std::string axis;                    // the override's key; for a zip, its keys joined by '+'
  std::vector<std::string> overrides;  // one, or for a zip one for each key
};
using GridPoint = std::vector<AxisValue>;  // no key twice

struct Grid {
  std::optional<std::string> question;
  nlohmann::ordered_json claims = nlohmann::ordered_json::array();
  std::vector<uint64_t> seeds;
  std::vector<GridPoint> points;  // without the seeds
  SweepBudget budget;
  PointLimits limits;
  std::vector<std::string> said;  // how the command line narrows it; see CommandLineValues
};

// config: a composed configuration with a `sweep`. overrides: those of the command line. An override of an axis, or of
// the seed, leaves out the sweep's other values of it, and conditions see what remains. Throws Error with file and line
// for an unknown key, an axis given twice, a condition on a key that is no axis, no points or more than 100,000, and a
// zip or listed points none of which agrees with the command line.
Grid read_grid(const ConfigNode& config, const ConfigSearch& search, const std::vector<std::string>& overrides = {});

// The section's list of claims, about points with these axes. Throws Error with file and line.
nlohmann::ordered_json read_claims(const ConfigNode& list, const std::vector<nlohmann::ordered_json>& points);

// sweep.seeds: a number of seeds from 0 on, or a list. Throws Error with file and line.
std::vector<uint64_t> read_seeds(const ConfigNode& node, const char* what = "sweep.seeds");

// {"train.population": "512", "model.width+train.tokens": {"model.width": "64", "train.tokens": "8"}}
nlohmann::ordered_json axes_of(const GridPoint& point);

// Adds what axes_of() says of a point to the lists of each axis' values, each value once.
void gather_values(nlohmann::ordered_json& values, const nlohmann::ordered_json& axes);

}  // namespace eggroll

#endif
