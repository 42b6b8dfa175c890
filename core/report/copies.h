// Runs of one configuration and seed are one observation: one of them counts, the others are copies.
#ifndef EGGROLL_REPORT_COPIES_H
#define EGGROLL_REPORT_COPIES_H

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "report/collection.h"

namespace eggroll {

struct Study;

// A run that may be a copy. place: its seed and configuration, equal where those of two runs are.
struct PlacedRun {
  std::vector<std::string> place;
  const CollectedRun* run = nullptr;
};

struct Observations {
  std::map<std::vector<std::string>, size_t> counted;  // by place, the run that counts
  size_t copies = 0;                                   // runs that do not count
  size_t unlike = 0;                                   // places whose runs differ in steps or bits
};

// In each place one run counts: a run that ended well and has the most steps; of equal runs the one that began last.
Observations observations_of(const std::vector<PlacedRun>& runs);

// Keeps one run of each configuration and seed of a study; the others become its copies. Different trials of a search
// are never copies of each other, even with the same values.
void set_copies_aside(Study& study);

// The sentence about copies; empty if there are none.
std::string copies_text(size_t copies, size_t unlike);

}  // namespace eggroll

#endif
