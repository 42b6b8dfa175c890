#include "cli/sweep_view.h"

#include <fmt/format.h>

#include <vector>

#include "cli/host.h"
#include "cli/point_text.h"
#include "cli/terminal.h"
#include "experiment/outcome.h"
#include "record/sentence.h"
#include "system/number_text.h"

namespace eggroll {
namespace {

constexpr auto kTellEvery = std::chrono::seconds(30);  // where the output is not a terminal
constexpr size_t kMostShown = 20;

std::string counts_of(const SweepStatus& s) {
  std::string text = fmt::format("{} of {} done", s.done, s.total);
  if (!s.running.empty()) text += fmt::format(", {} running", s.running.size());
  if (s.failed > 0) text += fmt::format(", {} failed", s.failed);
  if (s.waiting > 0) text += fmt::format(", {} waiting", s.waiting);
  if (s.elsewhere > 0) text += fmt::format(" ({} in other processes)", s.elsewhere);
  if (s.seconds_left && !s.running.empty()) text += fmt::format(", about {} left", duration_text(*s.seconds_left));
  return text;
}

std::string bits_of(const std::optional<double>& bits) { return bits ? fmt::format("{:.4f}", *bits) : "-"; }

// is_short: its values stand for its name, which leaves no room for the rest on a terminal.
std::string running_line(const RunningPoint& running, bool is_short) {
  const SweepPoint& point = *running.point;
  return fmt::format("{:04} {}  step {}/{}  held-out {}  {}  {}", point.index,
                     is_short ? point_values(point.axes, point.seed) : point.folder.substr(5), running.last.step,
                     point.steps(), bits_of(running.last.held_out_bits), duration_text(running.seconds), running.where);
}

}  // namespace

void SweepView::started(const RunningPoint& running) {
  if (terminal_) return;
  const std::string from = running.last.step > 0 ? fmt::format(" from step {}", running.last.step) : "";
  print(fmt::format("begun    {}{}, {}", running.point->folder, from, running.where));
}

void SweepView::ended(const SweepPoint& point, const RunRecord* record) {
  clear();
  if (record == nullptr) {
    print(fmt::format("saved    {}, run the sweep again to continue it", point.folder));
  } else if (record->status == RunStatus::kFailed) {
    print(fmt::format("failed   {}: {}", point.folder, record->error.value_or("")));
  } else {
    const std::string bits = record->final ? bits_of(record->final->bits_per_unit) : "-";
    const std::string because = record->stopped_because ? " (" + *record->stopped_because + ")" : "";
    print(fmt::format("{:<8} {}  held-out {}  {}{}", status_name(record->status), point.folder, bits,
                      duration_text(record->wall_seconds), because));
  }
  if (record != nullptr && record->failure) return;  // it has the end of the log
  for (const std::string& sentence : said_by_last_process(sweep_.folder_of(point))) {
    if (passed_on_.insert(sentence).second) print_error("eggroll", sentence);
  }
}

void SweepView::said(const std::string& line) {
  clear();
  print(line);
}

void SweepView::tick(const SweepStatus& status) {
  const auto now = std::chrono::steady_clock::now();
  if (!terminal_ && now - told_ < kTellEvery) return;
  told_ = now;
  std::vector<std::string> lines = {fmt::format("{}: {}", sweep_.name, counts_of(status))};
  if (status.best != nullptr) {
    lines[0] += fmt::format("; best {:.4f} {}", status.best_bits, status.best->folder);
  }
  if (!status.ended_because.empty()) lines.push_back(fmt::format("  {}, no more points begin", status.ended_because));
  for (const RunningPoint& running : status.running) {
    if (lines.size() <= kMostShown) lines.push_back("  " + running_line(running, terminal_));
  }
  clear();
  for (const std::string& line : lines) print(line.substr(0, row_width()));
  if (terminal_) drawn_ = lines.size();
}

// Starts at the line's beginning, because the terminal may have echoed a ^C.
void SweepView::clear() {
  if (terminal_) say("\r" + (drawn_ > 0 ? fmt::format("\033[{}A", drawn_) : "") + "\033[J");
  drawn_ = 0;
}

void SweepView::print(const std::string& line) { say((terminal_ ? "\r\033[K" : "") + line + "\n"); }

}  // namespace eggroll
