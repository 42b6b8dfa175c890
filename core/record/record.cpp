#include "record/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "record/json.h"
#include "record/record_fields.h"
#include "record/seal.h"
#include "system/files.h"

namespace eggroll {
namespace {

using nlohmann::ordered_json;

constexpr const char* kCure = "restore it from a copy or run its configuration again";

}  // namespace

std::optional<std::pair<uint32_t, double>> BaselineRecord::best_kneser_ney() const {
  const auto best = std::min_element(kneser_ney.begin(), kneser_ney.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return best == kneser_ney.end() ? std::nullopt : std::optional<std::pair<uint32_t, double>>(*best);
}

std::vector<std::pair<std::string, double>> BaselineRecord::named() const {
  std::vector<std::pair<std::string, double>> named;
  const auto add = [&](const std::string& name, const std::optional<double>& bits) {
    if (bits) named.emplace_back(name, *bits);
  };
  add("unigram", unigram);
  add("bigram", bigram);
  add("gzip", gzip);
  add("xz", xz);
  add("PPMd", ppmd);
  if (const auto best = best_kneser_ney()) add(fmt::format("Kneser-Ney of {} bytes", best->first), best->second);
  return named;
}

std::string baselines_line(const BaselineRecord& baselines) {
  std::string line = "on the same data:";
  const char* before = " ";
  for (const auto& [name, bits] : baselines.named()) {
    line += fmt::format("{}{} {:.3f}", before, name, bits);
    before = ", ";
  }
  return line;
}

std::optional<std::string> overlap_caution(const std::map<uint32_t, double>& overlap) {
  const auto telling = overlap.find(kTellingWindow);
  if (telling == overlap.end() || telling->second <= kMostOverlap) return std::nullopt;
  return fmt::format(
      "{:.1f} % of the held-out part's windows of {} bytes occur in the training part, expected at most {:g} %: "
      "held-out figures are lower than those of new text; split the data by distinct documents (docs/datasets.md)",
      100 * telling->second, kTellingWindow, 100 * kMostOverlap);
}

bool is_better(const TrialEnd& a, const TrialEnd& b, bool wants_higher) {
  if (a.score.has_value() != b.score.has_value()) return a.score.has_value();
  if (a.rung != b.rung) return a.rung > b.rung;
  return a.score && (wants_higher ? *a.score > *b.score : *a.score < *b.score);
}

std::string status_name(RunStatus status) { return kStatusNames[static_cast<size_t>(status)]; }
std::vector<std::string> status_names() { return {kStatusNames.begin(), kStatusNames.end()}; }

ordered_json record_to_json(const RunRecord& record) {
  ordered_json json = {{"schema", kRecordSchema}};
  FieldWriter list(json);
  fields(list, record);
  return json;
}

bool is_record(const ordered_json& json) {
  return json.is_object() && json.contains("schema") && json.contains("status") && json.contains("config_hash");
}

RunRecord record_from_json(const ordered_json& json, const std::string& what) try {
  if (!json.is_object() || !json.contains("schema") || !json["schema"].is_number_integer()) {
    throw Error(what + " is no record: expected a JSON object with a \"schema\"; give the path of a run's record.json");
  }
  if (json["schema"] != kRecordSchema) {
    throw Error(fmt::format("{} has schema {}, this eggroll reads schema {}; use the eggroll that wrote it", what,
                            json["schema"].dump(), kRecordSchema));
  }
  if (const Seal seal = seal_of(json); seal != Seal::kWhole) {
    throw Error(fmt::format("{} is damaged or was changed: {}; restore it from a copy or run its configuration again",
                            what, fault_of(seal)));
  }
  return read_fields<RunRecord>(json);
} catch (const nlohmann::json::exception& error) {
  throw damaged_json(error, what, kCure);
}

void write_record(const std::filesystem::path& path, const RunRecord& record) {
  const auto text_of = [](const ordered_json& json, int indent) {
    return json.dump(indent, ' ', false, ordered_json::error_handler_t::replace);
  };
  ordered_json json = sealed(record_to_json(record));
  // The summary is written last and on one line, because with a line for each number it would be most of the file. The
  // other members keep their order, so that the seal holds.
  ordered_json summary;
  if (json.contains("summary")) {
    summary = std::move(json["summary"]);
    json.erase("summary");
  }
  std::string text = text_of(json, 2);
  if (!summary.is_null()) text.replace(text.size() - 2, 2, ",\n  \"summary\": " + text_of(summary, -1) + "\n}");
  write_atomically(path, text + "\n");
}

RunRecord read_record(const std::filesystem::path& path) {
  return record_from_json(parse_json(read_bounded(path, kLargestJson), path.string(), kCure), path.string());
}

}  // namespace eggroll
