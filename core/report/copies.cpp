#include "report/copies.h"

#include <fmt/format.h>

#include <set>
#include <tuple>

#include "report/study.h"
#include "system/number_text.h"

namespace eggroll {
namespace {

bool counts_before(const RunRecord& a, const RunRecord& b) {
  const auto merit = [](const RunRecord& record) {
    return std::tuple(has_ended_well(record), record.steps, std::string_view(record.started_utc));
  };
  return merit(a) > merit(b);
}

bool are_alike(const RunRecord& a, const RunRecord& b) {
  const auto bits = [](const RunRecord& record) {
    return record.final ? std::optional(record.final->bits_per_unit) : std::nullopt;
  };
  return a.steps == b.steps && bits(a) == bits(b);
}

}  // namespace

Observations observations_of(const std::vector<PlacedRun>& runs) {
  Observations result;
  std::set<std::vector<std::string>> unlike;
  for (size_t i = 0; i < runs.size(); ++i) {
    const auto [place, is_new] = result.counted.emplace(runs[i].place, i);
    if (is_new) continue;
    ++result.copies;
    const RunRecord& record = runs[i].run->record;
    const RunRecord& counted = runs[place->second].run->record;
    if (!are_alike(record, counted)) unlike.insert(place->first);
    if (counts_before(record, counted)) place->second = i;
  }
  result.unlike = unlike.size();
  return result;
}

void set_copies_aside(Study& study) {
  std::vector<PlacedRun> placed;
  for (const StudyRun& run : study.runs) {
    const RunRecord& record = run.run->record;
    std::vector<std::string> place = run.values;
    place.push_back(std::to_string(record.seed));
    if (record.sweep && record.sweep->trial) place.push_back(std::to_string(record.sweep->trial->trial));
    placed.push_back({std::move(place), run.run});
  }
  const Observations observations = observations_of(placed);
  std::vector<StudyRun> counted;
  for (size_t i = 0; i < study.runs.size(); ++i) {
    const bool counts = observations.counted.at(placed[i].place) == i;
    (counts ? counted : study.copies).push_back(std::move(study.runs[i]));
  }
  study.runs = std::move(counted);
  study.unlike_copies = observations.unlike;
}

std::string copies_text(size_t copies, size_t unlike) {
  if (copies == 0) return "";
  std::string text =
      fmt::format("{} {} the configuration and the seed of another run, and {} not count again",
                  count_text(copies, "run"), copies == 1 ? "repeats" : "repeat", copies == 1 ? "does" : "do");
  if (unlike > 0) {
    text += fmt::format(
        "; in {} such runs differ in steps or bits, and the one counts that ended and went furthest, of equals the one "
        "that began last",
        count_text(unlike, "case"));
  }
  return text;
}

}  // namespace eggroll
