// `eggroll check`: the promises that a plugin of each kind must keep.
#ifndef EGGROLL_CONFORMANCE_CHECK_PLUGIN_H
#define EGGROLL_CONFORMANCE_CHECK_PLUGIN_H

#include <string>
#include <vector>

#include "plugin/instance.h"

namespace eggroll {

// One line of the report: an op, or a promise. passed is false if cases is 0: no case proves nothing.
struct Check {
  std::string what;
  size_t cases = 0;
  std::vector<std::string> failures;
  bool passed() const { return cases > 0 && failures.empty(); }
};

// Random cases: their number, and the seed of the first; each next case has the next seed.
struct RandomCases {
  uint64_t seed = 1;
  uint64_t count = 300;  // of programs, and as many of rules
};

// Runs every case of every op and rule op, with one thread and with three, and compares them with the hashes kept in
// golden.inc, which are the reference's; if a hash differs, the reference runs too, to name the cases. Then runs
// random programs and rules against the reference. If the reference is itself tested, `reference` is null, and one
// thread is compared with three. A failing case is cut down to a small one, and its seed is named.
std::vector<Check> check_backend(const BackendInstance& tested, const BackendInstance* reference,
                                 const RandomCases& random = {});

// Runs the random cases alone.
std::vector<Check> check_random(const BackendInstance& tested, const BackendInstance* reference,
                                const RandomCases& random);

// The hash that golden.inc keeps for an op ("op embed", "rule iadd") or for kRandomCases; "none" if it keeps none.
inline constexpr const char* kRandomCases = "random cases";
std::string kept_hash(const std::string& what);
// The hash of the texts of some random cases, which are the same on every machine.
std::string random_cases_hash();

// All hashes that golden.inc must keep; needed by a change of the op set.
struct GoldenHash {
  std::string what;
  std::string sha256;
};
std::vector<GoldenHash> golden_hashes(const BackendInstance& backend);

// settings: the plugin's own, as in its configuration. Checks that the program is valid, cannot overflow, is the same
// each time and runs on the reference backend, and that an error names a setting that is unknown or missing.
std::vector<Check> check_model(const ChosenPlugin& plugin, const egg_settings& settings,
                               const BackendInstance& reference);

// Checks that the rule is valid, that the scalars are finite, that rule and scalars are the same each time, and that
// updates keep weights in range.
std::vector<Check> check_optimizer(const ChosenPlugin& plugin, const egg_settings& settings,
                                   const BackendInstance& reference);

// All processes of a job must call it: gathers, collects and broadcasts of many sizes must bring what was sent. Empty
// on all processes but 0.
std::vector<Check> check_processes(const ChosenPlugin& plugin);

}  // namespace eggroll

#endif
