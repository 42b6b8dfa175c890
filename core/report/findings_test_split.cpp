#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "record/json.h"
#include "record/seal.h"
#include "report/sections.h"
#include "system/number_text.h"
#include "system/text.h"

namespace eggroll {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr size_t kMostEvalCommands = 5;

struct TestFigure {
  double bits = 0.0;
  std::string text_sha256;
  std::string measured_utc;
};

bool names_test_split(const RunRecord& record) {
  const auto dataset = record.config.find("dataset");
  return dataset != record.config.end() && dataset->is_object() && dataset->contains("test_path") &&
         dataset->at("test_path").is_string();
}

// The result of `eggroll eval --test` for the run's last weights. Nothing if the file is of another evaluation. Throws
// if it is damaged.
std::optional<TestFigure> read_test_figure(const fs::path& file, const RunRecord& record) {
  const std::string cure = "remove it, and measure again with eggroll eval";
  const ordered_json json = read_json(file, cure);
  if (seal_of(json) != Seal::kWhole) {
    throw Error(fmt::format("{} is damaged: its sha256 is not that of its contents; {}", file.string(), cure));
  }
  return read_members(file.string(), cure, [&]() -> std::optional<TestFigure> {
    // Evaluations from before there was a test split do not say which split they are of.
    if (!json.contains("split") || json.at("split") != "test" || json.at("weights") != "weights" ||
        json.at("weights_sha256") != record.weights_sha256.value_or("")) {
      return std::nullopt;
    }
    return TestFigure{json.at("bits_per_unit").get<double>(), object_at(json, "data").at("sha256").get<std::string>(),
                      json.at("evaluated_utc").get<std::string>()};
  });
}

// A published record stands alone: files next to it are not its own.
bool lies_in_run_folder(const CollectedRun& run) { return run.record_file.filename() == "record.json"; }

// The newest figure of the run. Files that could not be read are added to `problems`.
std::optional<TestFigure> test_figure_of(const CollectedRun& run, std::vector<std::string>& problems) {
  const fs::path folder = run.record_file.parent_path() / "evaluations";
  std::error_code failure;
  if (!lies_in_run_folder(run) || fs::symlink_status(folder, failure).type() != fs::file_type::directory) {
    return std::nullopt;
  }
  std::vector<fs::path> files;
  for (fs::directory_iterator next(folder, failure); !failure && next != fs::directory_iterator();
       next.increment(failure)) {
    if (next->path().extension() == ".json") files.push_back(next->path());
  }
  if (failure) problems.push_back(fmt::format("{} cannot be read ({})", folder.string(), failure.message()));
  std::sort(files.begin(), files.end());
  std::optional<TestFigure> newest;
  for (const fs::path& file : files) {
    try {
      const std::optional<TestFigure> figure = read_test_figure(file, run.record);
      if (figure && (!newest || newest->measured_utc <= figure->measured_utc)) newest = figure;
    } catch (const Error& error) {
      problems.emplace_back(error.what());
    }
  }
  return newest;
}

void add_eval_commands(Draft& draft, const std::vector<const StudyRun*>& runs) {
  std::string commands;
  for (size_t i = 0; i < std::min(runs.size(), kMostEvalCommands); ++i) {
    commands += fmt::format("{}eggroll eval {} --test", i > 0 ? "\n" : "",
                            shell_word(runs[i]->run->record_file.parent_path().string()));
  }
  draft.add(Code{commands});
}

void add_test_split_of(Draft& draft, const Study& study, const std::string& data) {
  const std::vector<Standing> standings = standings_of(study, data);
  if (standings.empty()) return;
  const Standing& best = standings.front();
  std::vector<const StudyRun*> runs;  // that have a test split
  std::vector<const StudyRun*> open;  // of these, that were not measured
  std::vector<OfSeed> bits;
  std::set<std::string> texts;
  std::vector<std::string> problems;
  for (const StudyRun* run : best.configuration.runs) {
    if (!metric_of(*run->run, "bits") || !names_test_split(run->run->record)) continue;
    runs.push_back(run);
    if (const std::optional<TestFigure> figure = test_figure_of(*run->run, problems)) {
      bits.push_back({run->run->record.seed, figure->bits});
      texts.insert(figure->text_sha256);
    } else {
      open.push_back(run);
    }
  }
  if (runs.empty()) return;
  draft.heading(3, "Test split");
  for (const std::string& problem : problems) draft.problem(problem);
  const std::string which = fmt::format("the best configuration{} ({})", data_in(study).size() > 1 ? " on " + data : "",
                                        study.label(best.configuration.values));
  const std::string unmeasured = fmt::format("{} of the {} of {}", open.size(), count_text(runs.size(), "run"), which);
  if (runs.size() < best.runs.size()) {
    draft.paragraph(Text(fmt::format("{} of the {} of {} have no test split, so that it has no test figure.",
                                     best.runs.size() - runs.size(), count_text(best.runs.size(), "run"), which),
                         best.runs));
  } else if (std::any_of(open.begin(), open.end(),
                         [](const StudyRun* run) { return !lies_in_run_folder(*run->run); })) {
    draft.paragraph(Text(fmt::format("The test split is not known of {}: their records stand alone, and test figures "
                                     "lie in the folders of runs.",
                                     unmeasured),
                         numbers_of(open)));
  } else if (!open.empty()) {
    draft.paragraph(Text(
        fmt::format("The test split is not yet measured for {}. To measure it{}, type this and make "
                    "the report again:",
                    unmeasured,
                    open.size() > kMostEvalCommands ? fmt::format(" (the first {} of them)", kMostEvalCommands) : ""),
        numbers_of(open)));
    add_eval_commands(draft, open);
  } else if (texts.size() > 1) {
    draft.paragraph(Text(fmt::format("The runs of {} were measured on {} different test texts, so that they have no "
                                     "mean. To measure them on one, type this and make the report again:",
                                     which, texts.size()),
                         best.runs));
    add_eval_commands(draft, runs);
  } else {
    draft.paragraph(
        Text(fmt::format("On the test split, in {}, {} comes to {}, with the weights that its runs ended with; nothing "
                         "was chosen by this figure.",
                         unit_of(study, data), which, text_of(mean_over_seeds(bits), "seed")),
             best.runs));
  }
}

}  // namespace

void add_test_split(Draft& draft, const Study& study) {
  for (const std::string& data : data_in(study)) add_test_split_of(draft, study, data);
}

}  // namespace eggroll
