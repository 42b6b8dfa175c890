// The output of `eggroll sweep`: on a terminal a few lines that are drawn again and again, elsewhere a line for each
// event.
#ifndef EGGROLL_TOOLS_CLI_SWEEP_VIEW_H
#define EGGROLL_TOOLS_CLI_SWEEP_VIEW_H

#include <chrono>
#include <cstddef>
#include <set>
#include <string>

#include "cli/terminal.h"
#include "experiment/launcher.h"

namespace eggroll {

class SweepView {
 public:
  explicit SweepView(const Sweep& sweep) : sweep_(sweep) {}
  void started(const RunningPoint& running);
  // Passes on what the point said on standard error, each sentence once; a failed point's stands in its record.
  void ended(const SweepPoint& point, const RunRecord* record);
  void said(const std::string& line);
  void tick(const SweepStatus& status);
  // Removes the drawn lines, so that other text may follow.
  void clear();

 private:
  void print(const std::string& line);

  const Sweep& sweep_;
  bool terminal_ = on_terminal();
  size_t drawn_ = 0;  // the number of drawn lines
  std::set<std::string> passed_on_;
  std::chrono::steady_clock::time_point told_{};
};

}  // namespace eggroll

#endif
