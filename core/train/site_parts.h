// Shares between processes what the streams of sites leave for an update: in each step one gather brings every process
// the parts of all others (egg_site_part).
#ifndef EGGROLL_TRAIN_SITE_PARTS_H
#define EGGROLL_TRAIN_SITE_PARTS_H

#include <cstdint>
#include <vector>

#include "processes/processes.h"
#include "train/setup.h"

namespace eggroll {

class SiteParts {
 public:
  // shares: by process, of whole streams.
  SiteParts(const Learner& learner, const std::vector<MemberShare>& shares, uint32_t own);

  // Call take(), gather() and give() in this order, after the step's evaluation.
  void take(BackendSession& session);
  // All processes must call it.
  void gather(Processes& processes);
  void give(BackendSession& session);

  // The bytes that a process sends in a step, for the process with the largest part.
  uint64_t bytes_per_step() const;

 private:
  // Where a part lies among a process's bytes.
  struct Place {
    egg_site_part at(uint8_t* bytes) const;

    uint32_t site;
    uint32_t first_stream;
    uint32_t streams;
    bool has_errors;
    bool has_votes;
    uint64_t votes_at;
    uint64_t errors_at;
    uint64_t perturbed_at;
  };

  uint32_t own_;
  std::vector<std::vector<Place>> places_;  // by process
  std::vector<uint64_t> sizes_;             // by process
  std::vector<uint8_t> mine_;
  std::vector<uint8_t> all_;
};

}  // namespace eggroll

#endif
