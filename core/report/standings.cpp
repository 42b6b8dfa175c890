#include "report/standings.h"

#include <algorithm>
#include <map>
#include <set>

namespace eggroll {
namespace {

// The runs on this data.
std::vector<const StudyRun*> on_data(const std::vector<const StudyRun*>& runs, const std::string& data) {
  std::vector<const StudyRun*> result;
  for (const StudyRun* run : runs) {
    if (data_of(run->run->record) == data) result.push_back(run);
  }
  return result;
}

// The bits of each seed.
std::map<uint64_t, double> bits_by_seed(const Standing& standing) {
  std::map<uint64_t, std::vector<double>> all;
  for (const StudyRun* run : standing.configuration.runs) {
    if (const auto bits = metric_of(*run->run, "bits")) all[run->run->record.seed].push_back(*bits);
  }
  std::map<uint64_t, double> means;
  for (const auto& [seed, bits] : all) means[seed] = mean_of(bits).mean;
  return means;
}

std::optional<Mean> paired_difference(const Standing& one, const Standing& other) {
  const std::map<uint64_t, double> others = bits_by_seed(other);
  std::vector<double> differences;
  for (const auto& [seed, bits] : bits_by_seed(one)) {
    const auto found = others.find(seed);
    if (found != others.end()) differences.push_back(bits - found->second);
  }
  return differences.size() < 2 ? std::nullopt : std::optional(mean_of(differences));
}

}  // namespace

std::vector<size_t> numbers_of(const std::vector<const StudyRun*>& runs) {
  std::vector<size_t> numbers;
  for (const StudyRun* run : runs) numbers.push_back(run->number);
  return numbers;
}

std::vector<std::string> data_in(const Study& study) {
  std::vector<std::string> kinds;
  std::set<std::string> seen;
  for (const StudyRun& run : study.runs) {
    const std::string data = data_of(run.run->record);
    if (seen.insert(data).second) kinds.push_back(data);
  }
  return kinds;
}

std::string unit_of(const Study& study, const std::string& data) {
  for (const StudyRun& run : study.runs) {
    const RunRecord& record = run.run->record;
    if (record.dataset && data_of(record) == data) return "bits per " + record.dataset->unit;
  }
  return "bits";
}

std::vector<Standing> standings_of(const Study& study, const std::string& data) {
  std::vector<Standing> standings;
  for (Configuration& configuration : study.configurations()) {
    Standing standing;
    standing.configuration = {configuration.values, on_data(configuration.runs, data)};
    std::vector<double> bits;
    for (const StudyRun* run : standing.configuration.runs) {
      const auto figure = metric_of(*run->run, "bits");
      if (!figure) continue;
      bits.push_back(*figure);
      standing.runs.push_back(run->number);
    }
    if (bits.empty()) continue;
    standing.bits = mean_of(bits);
    standing.lowest = *std::min_element(bits.begin(), bits.end());
    standing.highest = *std::max_element(bits.begin(), bits.end());
    standings.push_back(std::move(standing));
  }
  std::stable_sort(standings.begin(), standings.end(),
                   [](const Standing& a, const Standing& b) { return a.bits.mean < b.bits.mean; });
  return standings;
}

std::vector<AgainstBest> compare_with_best(const std::vector<Standing>& standings) {
  constexpr double kLevel = 0.05;
  std::vector<AgainstBest> comparisons(standings.size());
  std::vector<AgainstBest*> compared;
  std::vector<double> p_values;
  for (size_t i = 1; i < standings.size(); ++i) {
    comparisons[i].difference = paired_difference(standings[i], standings.front());
    if (!comparisons[i].difference) continue;
    comparisons[i].p = p_unlike(*comparisons[i].difference, 0.0);
    compared.push_back(&comparisons[i]);
    p_values.push_back(comparisons[i].p);
  }
  const std::vector<double> corrected = holm(p_values);
  for (size_t i = 0; i < compared.size(); ++i) {
    compared[i]->corrected_p = corrected[i];
    compared[i]->place = compared[i]->p >= kLevel              ? Place::kNotToldApart
                         : corrected[i] >= kLevel              ? Place::kToldApartAlone
                         : compared[i]->difference->mean < 0.0 ? Place::kAhead
                                                               : Place::kBehind;
  }
  if (!comparisons.empty()) comparisons.front().place = Place::kBest;
  return comparisons;
}

std::string place_name(Place place) {
  constexpr const char* kNames[] = {"best",   "not told apart",        "told apart by its own interval alone",
                                    "behind", "ahead on shared seeds", "not compared"};
  return kNames[static_cast<size_t>(place)];
}

}  // namespace eggroll
