#include "record/metrics.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "record/json.h"
#include "record/seal.h"

namespace eggroll {
namespace {

using nlohmann::ordered_json;

struct Line {
  ordered_json json;  // without its seal
  size_t end;         // in bytes, of the file
};

// Calls visit(Line&&) for every whole line until it returns false.
template <class Visit>
void for_each_line(const std::filesystem::path& path, Visit&& visit) {
  const std::string text = read_file(path);
  size_t number = 1;
  size_t begin = 0;
  for (size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1, ++number) {
    const std::string_view written = std::string_view(text).substr(begin, end - begin);
    const Seal seal = seal_of_line(written);
    Line line{json_or_null(written), end + 1};
    if (!line.json.is_object() || !line.json.contains(metric::kStep) ||
        !line.json[metric::kStep].is_number_unsigned()) {
      throw Error(fmt::format("line {} of {} is damaged: expected a JSON object with a whole number \"step\"; {}",
                              number, path.string(), kMetricsCure));
    }
    if (seal != Seal::kWhole) {
      throw Error(fmt::format("line {} of {} is damaged: {}; {}", number, path.string(),
                              seal == Seal::kBroken ? "its checksum is not that of the line" : "it has no checksum",
                              kMetricsCure));
    }
    if (number == 1 && line.json.contains(metric::kSchema)) {
      if (line.json[metric::kSchema] != kMetricsSchema) throw Error(unknown_metrics_schema(path));
      line.json.erase(metric::kSchema);
    }
    line.json.erase(metric::kChecksum);
    if (!visit(std::move(line))) return;
  }
}

// The bytes up to the end of the first line of step first_step - 1, if all lines before it are there, each once.
size_t end_before(const std::filesystem::path& path, uint64_t first_step, uint64_t origin) {
  uint64_t next = origin;  // step of the next line
  size_t kept = 0;
  if (first_step == 0) return kept;
  for_each_line(path, [&](const Line& line) {
    const uint64_t step = whole(line.json[metric::kStep]);
    if (step != next) return false;
    ++next;
    kept = line.end;
    return next < first_step;
  });
  if (next == first_step) return kept;
  throw Error(fmt::format("{} lacks the line of step {}; {}", path.string(), next, kMetricsCure));
}

}  // namespace

std::string unknown_metrics_schema(const std::filesystem::path& path) {
  return fmt::format(
      "{} has a schema that this eggroll does not read, expected {} or none; use the eggroll that wrote it",
      path.string(), kMetricsSchema);
}

MetricsFile::MetricsFile(const std::filesystem::path& path, uint64_t first_step, uint64_t origin) : file_(path) {
  file_.truncate_to(end_before(path, first_step, origin));
}

void MetricsFile::append(const ordered_json& line) {
  ordered_json written;
  if (file_.size() == 0) written[metric::kSchema] = kMetricsSchema;
  written.update(line);
  file_.append(sealed_line(written) + "\n");
}

void add_to_last_line(const std::filesystem::path& path, const char* key, const ordered_json& value) {
  const std::string text = read_file(path);
  const size_t end = text.find_last_of('\n');
  const size_t before = end == 0 || end == std::string::npos ? std::string::npos : text.find_last_of('\n', end - 1);
  const size_t begin = before == std::string::npos ? 0 : before + 1;
  ordered_json line = json_or_null(std::string_view(text).substr(begin, end - begin));
  if (!line.is_object()) throw Error(fmt::format("the last line of {} is damaged; {}", path.string(), kMetricsCure));
  line.erase(metric::kChecksum);
  line[key] = value;
  write_atomically(path, text.substr(0, begin) + sealed_line(line) + "\n");
}

void read_metrics(const std::filesystem::path& path, const std::function<void(ordered_json&&)>& take) {
  for_each_line(path, [&](Line&& line) {
    take(std::move(line.json));
    return true;
  });
}

std::vector<ordered_json> read_metrics(const std::filesystem::path& path) {
  std::vector<ordered_json> lines;
  read_metrics(path, [&](ordered_json&& line) { lines.push_back(std::move(line)); });
  return lines;
}

void put_evaluation(ordered_json& line, const EvaluationKeys& keys, const Evaluation& evaluation) {
  line[keys.bits] = evaluation.bits_per_unit;
  line[keys.tokens] = evaluation.tokens;
  if (evaluation.bytes) line[keys.bytes] = *evaluation.bytes;
}

std::optional<Evaluation> evaluation_in(const ordered_json& line, const EvaluationKeys& keys, const std::string& unit) {
  if (!line.contains(keys.bits)) return std::nullopt;
  Evaluation evaluation{whole(line.at(metric::kStep)), line.at(keys.bits).get<double>(), whole(line.at(keys.tokens)),
                        unit};
  if (line.contains(keys.bytes)) evaluation.bytes = whole(line.at(keys.bytes));
  return evaluation;
}

}  // namespace eggroll
