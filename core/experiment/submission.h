// Points for processes elsewhere, which may begin long after: a folder holds all that an element needs, frozen.
//
// SWEEP/jobs/ID/
//   elements.jsonl  name, question, claims, limits and plugins of the sweep, then a line a point: element N runs line N
//   held            held by the launch that made it, as long as it lives (PointHold)
// and what the launcher keeps there.
#ifndef EGGROLL_EXPERIMENT_SUBMISSION_H
#define EGGROLL_EXPERIMENT_SUBMISSION_H

#include "experiment/launcher.h"

namespace eggroll {

// A point to be run elsewhere.
struct SubmittedPoint {
  const SweepPoint* point;
  // sha256 of the record of the failure that is to be tried again. A point with any other failure is left as it is.
  std::optional<std::string> retries;
};

// Makes a new folder of the sweep's; returns its name, ID: 12 hexadecimal digits.
std::string write_submission(const Sweep& sweep, const std::vector<SubmittedPoint>& points,
                             const std::filesystem::path& plugins);
std::filesystem::path submission_folder(const Sweep& sweep, const std::string& id);

// The hashes of its points, by element. Throws Error if the folder holds no submission.
std::vector<std::string> submitted_hashes(const std::filesystem::path& folder);

// The task of an element: a sweep of one point, without a budget.
struct Element {
  Sweep sweep;
  LaunchOptions options;
};
Element read_element(const std::filesystem::path& folder, uint64_t number);

}  // namespace eggroll

#endif
