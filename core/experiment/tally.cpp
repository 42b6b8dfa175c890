#include "experiment/tally.h"

#include <fmt/format.h>

#include <algorithm>

namespace eggroll {

Tally::Tally(const Sweep& sweep, const LaunchOptions& options)
    : sweep_(sweep), options_(options), failures_in_a_row_(options.failures_before) {
  for (const SweepPoint& point : sweep.points) look_at(point);
  tokens_before_ = tokens_reached();
}

bool Tally::is_over(const SweepPoint& point) {
  const PointStanding standing = standing_of(sweep_, point);
  if (standing.state == PointState::kDone) {
    count_done(point, *standing.record);
    return true;
  }
  if (standing.state == PointState::kFailed && !options_.retry_failed) {
    failed_.push_back(&point);
    return true;
  }
  return false;
}

void Tally::ended(const SweepPoint& point, const RunRecord& record) {
  look_at(point);
  if (record.status != RunStatus::kFailed) {
    failures_in_a_row_ = 0;
    return count_done(point, record);
  }
  failed_.push_back(&point);
  ++failures_in_a_row_;
  if (options_.breaker == 0 || failures_in_a_row_ < options_.breaker) return;
  end(options_.breaker == 1 ? "a point failed" : fmt::format("{} points failed in a row", options_.breaker));
}

void Tally::look_at(const SweepPoint& point) { reached_[&point] = last_metrics(sweep_.folder_of(point).metrics()); }

bool Tally::has_spent() {
  const SweepBudget& budget = sweep_.grid.budget;
  const double seconds =
      sweep_.spent.seconds + std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
  uint64_t steps = sweep_.spent.steps;
  for (const auto& [point, last] : reached_) steps += last.step;
  std::string spent;
  if (budget.seconds && seconds >= *budget.seconds) spent = fmt::format("{} seconds", *budget.seconds);
  if (budget.steps && steps >= *budget.steps) spent = fmt::format("{} steps", *budget.steps);
  if (budget.tokens && sweep_.spent.tokens + tokens_reached() >= *budget.tokens)
    spent = fmt::format("{} member tokens", *budget.tokens);
  if (!spent.empty()) end(fmt::format("sweep.budget is spent ({})", spent));
  return !spent.empty();
}

void Tally::end(const std::string& because) {
  if (ended_because_.empty()) ended_because_ = because;
}

SweepStatus Tally::status(std::vector<RunningPoint> running, const std::vector<const SweepPoint*>& waiting,
                          size_t interrupted, size_t elsewhere) const {
  SweepStatus status;
  status.total = sweep_.points.size();
  status.done = done_;
  status.failed = failed_.size();
  status.waiting = waiting.size() + interrupted;
  status.elsewhere = elsewhere;
  status.best = best_;
  status.best_bits = best_bits_;
  status.failures_in_a_row = failures_in_a_row_;
  status.ended_because = ended_because_;
  uint64_t left = 0;
  const auto add_left = [&](const SweepPoint* point) {
    left += point->member_tokens() - std::min(point->member_tokens(), reached(*point).member_tokens);
  };
  for (const RunningPoint& one : running) add_left(one.point);
  for (const SweepPoint* point : waiting) add_left(point);
  status.running = std::move(running);
  const uint64_t tokens = tokens_reached();
  if (tokens > tokens_before_) {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
    status.seconds_left = seconds * static_cast<double>(left) / static_cast<double>(tokens - tokens_before_);
  }
  return status;
}

void Tally::count_done(const SweepPoint& point, const RunRecord& record) {
  ++done_;
  if (!record.final || (best_ != nullptr && record.final->bits_per_unit >= best_bits_)) return;
  best_ = &point;
  best_bits_ = record.final->bits_per_unit;
}

uint64_t Tally::tokens_reached() const {
  uint64_t tokens = 0;
  for (const auto& [point, last] : reached_) tokens += last.member_tokens;
  return tokens;
}

}  // namespace eggroll
