#include "record/metrics.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

namespace eggroll {
namespace {

using nlohmann::ordered_json;

// Calls visit(line, end of line in bytes) for every whole line until it returns false.
template <class Visit>
void for_each_line(const std::filesystem::path& path, Visit&& visit) {
  const std::string text = read_file(path);
  size_t number = 1;
  size_t begin = 0;
  for (size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1, ++number) {
    ordered_json line = ordered_json::parse(text.begin() + static_cast<std::ptrdiff_t>(begin),
                                            text.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
    if (!line.is_object() || !line.contains("step") || !line["step"].is_number_unsigned()) {
      throw Error(
          fmt::format("line {} of {} is damaged: expected a JSON object with a whole number \"step\"; "
                      "restore the file from a copy or delete the run's folder to start over",
                      number, path.string()));
    }
    if (!visit(std::move(line), end + 1)) return;
  }
}

}  // namespace

MetricsFile::MetricsFile(const std::filesystem::path& path, uint64_t first_step) : file_(path) {
  uint64_t kept = 0;
  if (first_step > 0) {
    for_each_line(path, [&](const ordered_json& line, size_t end) {
      if (line["step"].get<uint64_t>() >= first_step) return false;
      kept = end;
      return true;
    });
  }
  file_.truncate_to(kept);
}

void MetricsFile::append(const ordered_json& line) { file_.append(line.dump() + "\n"); }

std::vector<ordered_json> read_metrics(const std::filesystem::path& path) {
  std::vector<ordered_json> lines;
  for_each_line(path, [&](ordered_json&& line, size_t) {
    lines.push_back(std::move(line));
    return true;
  });
  return lines;
}

}  // namespace eggroll
