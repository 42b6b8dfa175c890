// Ranks the configurations of a study by their bits, and compares each with the best one.
#ifndef EGGROLL_REPORT_STANDINGS_H
#define EGGROLL_REPORT_STANDINGS_H

#include <optional>
#include <string>
#include <vector>

#include "report/statistics.h"
#include "report/study.h"

namespace eggroll {

// A configuration and the results of its seeds.
struct Standing {
  Configuration configuration;
  Mean bits;
  std::vector<size_t> runs;  // that have this figure
  double lowest = 0.0;
  double highest = 0.0;
};

// The standings of runs on one kind of data, the best first.
std::vector<Standing> standings_of(const Study& study, const std::string& data);

enum class Place {
  kBest,
  kNotToldApart,    // its interval holds 0
  kToldApartAlone,  // its own interval leaves out 0, but not after the correction
  kBehind,
  kAhead,  // the best over all its seeds may be behind on the seeds that both have
  kNotCompared,
};

// A configuration compared with the best one, in pairs of runs of one seed.
struct AgainstBest {
  // Its bits minus those of the best, over the seeds that both have; absent if these are fewer than two.
  std::optional<Mean> difference;
  double p = 1.0;  // two-sided
  double corrected_p = 1.0;
  Place place = Place::kNotCompared;
};

// One for each standing; the first standing is the best. Holm's method corrects p for the number of differences.
std::vector<AgainstBest> compare_with_best(const std::vector<Standing>& standings);

// "not told apart".
std::string place_name(Place place);

// Kinds of data, in the order of the runs.
std::vector<std::string> data_in(const Study& study);

// "bits per byte".
std::string unit_of(const Study& study, const std::string& data);

std::vector<size_t> numbers_of(const std::vector<const StudyRun*>& runs);

}  // namespace eggroll

#endif
