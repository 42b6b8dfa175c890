// eggroll report.
#include <fmt/format.h>

#include "cli/commands.h"
#include "report/findings.h"

namespace eggroll {
namespace fs = std::filesystem;
namespace {

// "results/sweeps/x/" is named x.
std::string name_of(const fs::path& path) {
  return fs::absolute(path / ".").lexically_normal().parent_path().filename();
}

void print_problems(const std::vector<std::string>& problems) {
  constexpr size_t kMost = 10;
  for (size_t i = 0; i < std::min(problems.size(), kMost); ++i) fmt::print(stderr, "eggroll: {}\n", problems[i]);
  if (problems.size() > kMost) fmt::print(stderr, "eggroll: and {} more like these\n", problems.size() - kMost);
}

}  // namespace

int report_command(const fs::path& results, const fs::path& out) {
  const fs::path folder = out.empty() ? results / "report" : out;
  const Collection collection = collect({results});
  const FindingsSummary summary = write_findings(collection, name_of(results), folder);
  print_problems(summary.problems);
  for (const std::string& answer : summary.answers) fmt::print("{}\n", answer);
  fmt::print("{} runs; findings in {} and {}\n", collection.runs.size(), (folder / "findings.html").string(),
             (folder / "findings.md").string());
  return 0;
}

}  // namespace eggroll
