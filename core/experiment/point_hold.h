// Marks a point as taken: a file that one runner holds while it runs the point.
#ifndef EGGROLL_EXPERIMENT_POINT_HOLD_H
#define EGGROLL_EXPERIMENT_POINT_HOLD_H

#include <filesystem>
#include <optional>

#include "system/files.h"

namespace eggroll {

// <folder>/held, created by the first to come and locked for as long as this object lives. The system frees the lock
// of a process that dies, so that a hold never outlives its runner. Where folders are shared between machines that do
// not see each other's locks, the file's time, which beat() renews, keeps others away for kStale.
class PointHold {
 public:
  static constexpr int kStaleSeconds = 60;

  // Nothing if another runner holds the point. The folder must exist.
  static std::optional<PointHold> take(const std::filesystem::path& folder);
  // Whether a runner holds the point, or its run works without a hold: starting it now would be refused.
  static bool is_taken(const std::filesystem::path& folder);

  PointHold(PointHold&&) = default;
  ~PointHold();

  void beat() const;  // every few seconds

 private:
  explicit PointHold(Descriptor file) : file_(std::move(file)) {}
  Descriptor file_;
};

}  // namespace eggroll

#endif
