// eggroll report, compare, export.
#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/runs.h"
#include "cli/terminal.h"
#include "record/sentence.h"
#include "report/compare.h"
#include "report/findings.h"
#include "report/tensorboard.h"
#include "system/files.h"
#include "system/text.h"

namespace eggroll {
namespace fs = std::filesystem;
namespace {

// The name of "results/sweeps/x/" is x.
std::string name_of(const fs::path& path) {
  return fs::absolute(path / ".").lexically_normal().parent_path().filename();
}

void print_problems(const std::vector<std::string>& problems) {
  constexpr size_t kMost = 10;
  for (size_t i = 0; i < std::min(problems.size(), kMost); ++i) print_error("eggroll", problems[i]);
  if (problems.size() > kMost) print_error("eggroll", fmt::format("and {} more like these", problems.size() - kMost));
}

// out: the folder for findings; empty: RESULTS/report.
int report_command(const fs::path& given, const fs::path& out) {
  const fs::path results = existing_results(given);
  // A folder that holds a page is a published one: the new page replaces it.
  const fs::path beside = is_there(results / "findings.md") ? results : results / "report";
  const fs::path folder = out.empty() ? own_folder(beside) : out;
  const Collection collection = collect({results});
  const FindingsSummary summary = write_findings(collection, name_of(results), folder, notes_for(results));
  print_problems(summary.problems);
  for (const std::string& answer : summary.answers) say_line(answer);
  say_line(fmt::format("{} runs; findings in {} and {}", collection.runs.size(), (folder / "findings.html").string(),
                       (folder / "findings.md").string()));
  return 0;
}

int compare_command(const fs::path& a, const fs::path& b, bool json) {
  const fs::path of_a = existing_results(a);
  const fs::path of_b = existing_results(b);
  const Collection left = collect({of_a});
  const Collection right = collect({of_b});
  print_problems(left.problems);
  print_problems(right.problems);
  const RunComparison comparison = compare(left, right);
  if (json) {
    nlohmann::ordered_json document = json_of(comparison);
    document["a"]["path"] = of_a.string();
    document["b"]["path"] = of_b.string();
    print_json(document);
    return 0;
  }
  say_line("A " + of_a.string());
  say_line("B " + of_b.string());
  for (const std::string& line : lines_of(comparison)) say_line(line);
  return 0;
}

// An empty path means that this format is not wanted.
int export_command(const fs::path& results, const fs::path& csv, const fs::path& tensorboard) {
  if (csv.empty() && tensorboard.empty()) {
    throw Error("export was given nothing to write, expected --csv FILE or --tensorboard FOLDER");
  }
  const Collection collection = collect({existing_results(results)}, MetricsFiles::kAll);
  print_problems(collection.problems);
  if (!csv.empty()) {
    const ExportSummary summary = export_csv(collection, csv);
    say_line(fmt::format("{} lines of {} runs in {}", summary.lines, summary.runs, csv.string()));
  }
  if (!tensorboard.empty()) {
    const ExportSummary summary = export_tensorboard(collection, tensorboard);
    say_line(fmt::format("{} lines of {} runs in {}; see them with: tensorboard --logdir {}", summary.lines,
                         summary.runs, tensorboard.string(), tensorboard.string()));
  }
  return 0;
}

}  // namespace

void commands::declare_report(CommandLine& line) {
  static fs::path results;
  static fs::path out;
  CLI::App* command = line.add("report", "Write findings, figures and tables from the records of runs",
                               [] { return report_command(results, out); });
  line.takes_results(command, "results", results);
  command->add_option("--out", out,
                      "The folder to write (default: RESULTS/report; RESULTS where it has a findings.md)");
}

void commands::declare_compare(CommandLine& line) {
  static fs::path a;
  static fs::path b;
  static bool json = false;
  CLI::App* command = line.add("compare", "Say what differs between two runs, or two sweeps",
                               [] { return compare_command(a, b, json); });
  line.takes_results(command, "a", a);
  line.takes(command, "b", b, "What to compare it with", {Words::kResults})->required();
  add_json(command, json);
}

void commands::declare_export(CommandLine& line) {
  static fs::path results;
  static fs::path csv;
  static fs::path tensorboard;
  CLI::App* command = line.add("export", "Write all metrics in the formats of other programs",
                               [] { return export_command(results, csv, tensorboard); });
  line.takes_results(command, "results", results);
  command->add_option("--csv", csv, "A file with a row for each line, as pandas reads it");
  command->add_option("--tensorboard", tensorboard, "A folder of event files, one for each run");
}

}  // namespace eggroll
