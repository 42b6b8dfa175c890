// The input is a metrics.jsonl.
#include <nlohmann/json.hpp>
#include <optional>

#include "fuzz/input.h"
#include "fuzz/outcome.h"
#include "record/metrics.h"

using namespace eggroll;
using namespace eggroll::test;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::filesystem::path path = scratch().put("metrics.jsonl", text_of(data, size));
  std::vector<nlohmann::ordered_json> lines;
  if (!accepts([&] { lines = read_metrics(path); })) return 0;
  must_accept("what was read and written again", [&] {
    const std::filesystem::path written = scratch().path() / "written.jsonl";
    {
      MetricsFile file(written, 0);
      for (const nlohmann::ordered_json& line : lines) file.append(line);
    }
    require(read_metrics(written) == lines, "other lines");
  });
  if (lines.empty()) return 0;
  const uint64_t step = lines.back().at("step").get<uint64_t>();
  // MetricsFile refuses a file that lacks an earlier line.
  if (step == 0 || !accepts([&] { MetricsFile(path, step); })) return 0;
  must_accept("a file that is cut back", [&] {
    for (const nlohmann::ordered_json& line : read_metrics(path)) {
      require(line.at("step").get<uint64_t>() < step, "a line that was to go");
    }
  });
  return 0;
}
