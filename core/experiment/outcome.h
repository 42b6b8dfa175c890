// Finds out from a point's folder how the point stands and how its processes ended.
#ifndef EGGROLL_EXPERIMENT_OUTCOME_H
#define EGGROLL_EXPERIMENT_OUTCOME_H

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/sweep.h"

namespace eggroll {

enum class PointState { kWaiting, kDone, kFailed };

// Done: completed, or stopped by the rules that the point still has. Waiting: anything that may go on.
struct PointStanding {
  PointState state = PointState::kWaiting;
  std::optional<RunRecord> record;  // nothing if no process has written one
};
// Throws Error if another op set made a point that has ended: it is neither done nor to be run again.
PointStanding standing_of(const Sweep& sweep, const SweepPoint& point);

// The end of a run's metrics while it runs.
struct LastMetrics {
  uint64_t step = 0;
  uint64_t member_tokens = 0;
  std::optional<double> held_out_bits;
};
LastMetrics last_metrics(const std::filesystem::path& metrics);  // zeros where there is none

// Writes a record for a point whose process ended without saying why: what is known of the run, `failed`, the failure
// and the end of the log. If the run's own record already says why, it stays.
RunRecord record_death(const Sweep& sweep, const SweepPoint& point, Failure::Kind kind, const std::string& detail);

inline constexpr std::string_view kProcessBegins = "== ";  // a line of a point's log begins with it
// The sentences that the point's last process wrote to standard error, without the program's name, as far as the end of
// the log has them.
std::vector<std::string> said_by_last_process(const RunFolder& folder);

}  // namespace eggroll

#endif
