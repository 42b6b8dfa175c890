#include "report/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "record/environment.h"
#include "record/gnuplot.h"
#include "report/csv.h"
#include "report/sections.h"
#include "report/withdrawn.h"
#include "system/files.h"
#include "system/number_text.h"
#include "system/text.h"

namespace eggroll {
namespace {

namespace fs = std::filesystem;

// Properties that differ between runs, each with the runs that have it.
using Census = std::map<std::string, std::vector<size_t>>;

// "5 completed, 1 failed".
std::string counts_of(const Study& study) {
  std::map<RunStatus, size_t> counts;
  for (const StudyRun* run : study.all_runs()) ++counts[run->run->record.status];
  std::string text;
  for (const auto& [status, count] : counts)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, status_name(status));
  return text;
}

void add_census(Table& table, const std::string& what, const Census& census) {
  for (const auto& [text, runs] : census) table.rows.push_back({what, text, Text("", runs)});
}

void add_provenance(Draft& draft, const Study& study) {
  draft.heading(3, "Provenance");
  Census commits;
  Census versions;
  Census devices;
  Census systems;
  Census compilers;
  Census data;
  std::map<std::string, Census> plugins;
  std::string first = "~";
  std::string last;
  double seconds = 0.0;
  double tokens = 0.0;
  for (const StudyRun* run : study.all_runs()) {
    const RunRecord& record = run->run->record;
    commits[record.environment.host_commit].push_back(run->number);
    versions[fmt::format("{}, ABI {}, spec {}", record.environment.host_version, record.environment.abi,
                         record.environment.spec_hash)]
        .push_back(run->number);
    compilers[record.environment.compiler].push_back(run->number);
    systems[fmt::format("{}; {}, {} cores", record.environment.system, record.environment.cpu.model,
                        record.environment.cpu.cores)]
        .push_back(run->number);
    if (record.device) {
      devices[*record.device + ", " + count_text(record.threads, "thread")].push_back(run->number);
    }
    if (record.dataset) {
      data[fmt::format("{}, sha256 {}", data_of(record), record.dataset->sha256.substr(0, 12))].push_back(run->number);
    }
    for (const PluginRecord& plugin : record.plugins) {
      plugins[plugin.kind][fmt::format("{} {}, sha256 {}", plugin.name, plugin.version, plugin.sha256.substr(0, 12))]
          .push_back(run->number);
    }
    first = std::min(first, record.started_utc);
    last = std::max(last, record.ended_utc.value_or(record.started_utc));
    seconds += record.wall_seconds;
    tokens += static_cast<double>(record.member_tokens);
  }
  std::set<uint64_t> seeds;
  for (const StudyRun& run : study.runs) seeds.insert(run.run->record.seed);
  draft.paragraph(fmt::format(
      "{}{}: {}. {}, {}. The first run began at {}, the last ended at {}. Together the runs took {} and {} member "
      "tokens.",
      study.planned ? fmt::format("{} points planned, ", *study.planned) : "",
      count_text(study.runs.size() + study.copies.size(), "run"), counts_of(study),
      count_text(study.configurations().size(), "configuration"), count_text(seeds.size(), "seed"), first, last,
      seconds_text(seconds), short_count(tokens)));
  if (commits.size() > 1) draft.paragraph("These runs come from several commits.");
  Table table;
  table.columns = {"what", "which", "runs"};
  add_census(table, "commit", commits);
  add_census(table, "eggroll", versions);
  for (const auto& [kind, census] : plugins) add_census(table, kind, census);
  add_census(table, "device", devices);
  add_census(table, "machine", systems);
  add_census(table, "compiler", compilers);
  add_census(table, "data", data);
  draft.add(std::move(table));
}

// The claims with a column for each number, as papers have them.
Table claims_for_latex(const std::vector<Judged>& judged) {
  Table table;
  table.columns = {"claim", "verdict", "figure", "estimate", "95 % interval", "n", "p", "corrected p"};
  std::vector<double> numbers;
  for (const Judged& claim : judged) {
    if (!claim.verdict.estimate) continue;
    numbers.push_back(claim.verdict.estimate->value);
    const auto& interval = claim.verdict.estimate->interval;
    if (interval) numbers.insert(numbers.end(), {interval->low, interval->high});
  }
  const Decimals text(numbers);
  for (const Judged& claim : judged) {
    std::vector<Text>& row = table.rows.emplace_back(std::vector<Text>{claim.says, verdict_text(claim)});
    if (const auto& estimate = claim.verdict.estimate) {
      const Mean mean{estimate->value, estimate->n, 0.0, estimate->interval};
      row.insert(row.end(), {estimate->of, Text(text(estimate->value), estimate->value), interval_cell(mean, text),
                             Text(std::to_string(estimate->n), static_cast<double>(estimate->n))});
    }
    row.resize(6);
    const bool has_p = claim.verdict.estimate && claim.verdict.estimate->interval && claim.exploratory.empty();
    for (const double p : {claim.verdict.p, claim.corrected_p}) row.push_back(has_p ? Text(p_text(p), p) : Text(""));
  }
  return table;
}

void add_verdicts(Draft& draft, const Study& study, const std::vector<Judged>& judged) {
  if (judged.empty()) return;
  draft.heading(3, "Verdicts");
  Table table;
  table.columns = {"claim", "verdict", "what the runs say", "Holm's correction", "runs"};
  for (const Judged& claim : judged) {
    table.rows.push_back({claim.says + (claim.is_current ? "" : " (no longer stated by the experiment)"),
                          verdict_text(claim), claim.verdict.finding, correction_text(claim),
                          Text("", claim.verdict.runs)});
  }
  draft.table(slug(study.name) + "-claims", std::move(table), claims_for_latex(judged));
}

void add_study(Draft& draft, const Study& study, const std::vector<Judged>& judged) {
  draft.set_caution(is_withdrawn(study) ? kWithdrawnMark : "");
  draft.heading(2, study.name);
  if (study.question) draft.paragraph("Question: " + *study.question);
  add_setup(draft, study);
  add_verdicts(draft, study, judged);
  if (study.of_search) {
    add_search(draft, study);
  } else {
    add_leaderboard(draft, study);
    add_effects(draft, study);
    add_interactions(draft, study);
  }
  add_curves(draft, study);
  add_threshold(draft, study);
  add_speed(draft, study);
  add_time(draft, study);
  add_saturation(draft, study);
  add_failures(draft, study);
  add_provenance(draft, study);
  add_reproduction(draft, study);
  add_questions(draft, study, judged);
  add_test_split(draft, study);
}

void add_runs(Draft& draft, const std::vector<Study>& studies) {
  draft.heading(2, "All runs");
  const char* const files =
      " runs.csv has the results of every run and each setting that varies between runs; curves.csv has every "
      "evaluation.";
  draft.paragraph(std::string("Run numbers count within this report.") + (draft.is_served() ? "" : files));
  std::vector<const RunNumber*> numbers(reported_numbers().begin(), reported_numbers().end());
  if (std::none_of(studies.begin(), studies.end(), has_average)) std::erase(numbers, &run_number("average_bits"));
  Table table;
  table.columns = {"run", "record", "study", "configuration", "seed", "status"};
  for (const RunNumber* number : numbers) table.columns.emplace_back(number->title);
  table.columns.emplace_back("begun");
  std::vector<double> bits;
  for (const Study& study : studies) {
    for (const StudyRun* run : study.all_runs()) bits.push_back(metric_of(*run->run, "bits").value_or(0.0));
  }
  const Decimals bits_text = Decimals(bits).with_digits_of(bits);
  const auto cell = [&](const CollectedRun& run, const RunNumber& number) {
    const std::optional<double> value = number.of(run.record, run.metrics);
    if (!value) return Text("");
    return Text(number.unit == NumberUnit::kBits ? bits_text(*value) : text_of(number.unit, *value), *value);
  };
  for (const Study& study : studies) {
    for (const StudyRun* run : study.all_runs()) {
      const RunRecord& record = run->run->record;
      Text name = run->run->name;
      name.link = draft.link_to(*run->run);
      table.runs.push_back(run->number);
      std::vector<Text>& row = table.rows.emplace_back(std::vector<Text>{
          Text(std::to_string(run->number), static_cast<double>(run->number)), name, study.name,
          study.label(run->values), Text(std::to_string(record.seed), static_cast<double>(record.seed)),
          status_name(record.status)});
      for (const RunNumber* number : numbers) row.push_back(cell(*run->run, *number));
      row.emplace_back(record.started_utc);
    }
  }
  draft.add(std::move(table));
}

// How many claims there are, and how they are judged.
std::string claims_text(const std::vector<std::vector<Judged>>& judged) {
  size_t all = 0;
  size_t in_advance = 0;
  for (const std::vector<Judged>& claims : judged) {
    all += claims.size();
    in_advance += static_cast<size_t>(
        std::count_if(claims.begin(), claims.end(), [](const Judged& claim) { return claim.exploratory.empty(); }));
  }
  std::string text = count_text(all, "claim");
  if (in_advance < all) {
    text += fmt::format(
        ", {} stated before the runs. The others are exploratory: their author may have known the figures, so they get "
        "no verdict",
        in_advance);
  }
  return text +
         ". Each verdict uses the 95 % interval of its claim alone. A verdict survives Holm's correction if it also "
         "holds when the chance of any wrong verdict, over all claims that were stated before the runs, is at most 5 "
         "%.";
}

// Names the figures that runs had and their records have lost; empty if none is lost.
std::optional<Text> missing_metrics(const Collection& collection) {
  std::vector<size_t> runs;
  for (size_t i = 0; i < collection.runs.size(); ++i) {
    const CollectedRun& run = collection.runs[i];
    if (has_ended_well(run.record) && run.metrics.lines == 0) runs.push_back(i + 1);
  }
  if (runs.empty()) return std::nullopt;
  return Text(fmt::format("The metrics of {} of {} are lost: the record has no summary, and no metrics.jsonl lies "
                          "beside it. The learning curves, speeds, times, thresholds, update rates and saturation of "
                          "these runs are missing.",
                          runs.size(), count_text(collection.runs.size(), "run")),
              runs);
}

// Adds what a reader must know before any figure: withdrawn texts, the author's notes, and sources that nobody can get.
void add_cautions(Draft& draft, const Collection& collection, const std::vector<std::string>& notes) {
  Census withdrawn;
  Census changed;
  for (size_t i = 0; i < collection.runs.size(); ++i) {
    const RunRecord& record = collection.runs[i].record;
    if (const auto why = why_withdrawn(record)) withdrawn[*why].push_back(i + 1);
    const std::string& commit = record.environment.host_commit;
    if (commit.ends_with("-dirty")) changed[commit].push_back(i + 1);
  }
  const auto which = [&](const std::vector<size_t>& runs) {
    return runs.size() == collection.runs.size() ? std::string("these runs")
                                                 : fmt::format("{} of these runs", runs.size());
  };
  for (const auto& [why, runs] : withdrawn) {
    draft.paragraph(
        fmt::format("Withdrawn: the held-out text of {} was contaminated. {}, so that no figure below is one "
                    "of unseen text.",
                    which(runs), why));
  }
  for (const std::string& note : notes) draft.paragraph("Note: " + note);
  for (const auto& [commit, runs] : changed) {
    draft.paragraph(
        fmt::format("The source of {} had uncommitted changes (commit {}), so that it cannot be built again.",
                    which(runs), commit));
  }
}

void add_problems(Draft& draft, const Collection& collection) {
  std::vector<Text> items;
  for (const std::string& problem : collection.problems) items.emplace_back(problem);
  if (const std::optional<Text> missing = missing_metrics(collection)) items.push_back(*missing);
  if (collection.other_files > 0) {
    items.emplace_back(
        fmt::format("{} *.json files hold no record of a run and are left out.", collection.other_files));
  }
  if (items.empty()) return;
  draft.heading(2, "What could not be read");
  draft.bullets(std::move(items));
}

// Adds everything that a report says, section by section.
FindingsSummary add_findings(Draft& draft, const Collection& collection, const std::vector<Study>& studies,
                             const std::vector<std::string>& notes) {
  FindingsSummary summary;
  std::vector<std::vector<Judged>> judged;
  std::vector<Text> answers;
  for (const Study& study : studies) judged.push_back(judge_all(study));
  correct_by_holm(judged);
  for (const std::vector<Judged>& claims : judged) {
    for (const Judged& claim : claims) {
      summary.answers.push_back(answer_of(claim));
      answers.emplace_back(summary.answers.back(), claim.verdict.runs);
    }
  }
  add_cautions(draft, collection, notes);
  draft.paragraph(
      fmt::format("{} in {} stud{}. All intervals are 95 % intervals: Student's t over seeds, Wilson's for shares. "
                  "Results link to their runs, and runs link to their {}.",
                  count_text(collection.runs.size(), "run"), studies.size(), studies.size() == 1 ? "y" : "ies",
                  draft.is_served() ? "pages" : "records"));
  if (!answers.empty()) {
    draft.heading(2, "Answers");
    draft.paragraph(claims_text(judged));
    draft.bullets(std::move(answers));
  }
  for (size_t i = 0; i < studies.size(); ++i) add_study(draft, studies[i], judged[i]);
  add_runs(draft, studies);
  add_problems(draft, collection);
  summary.problems = collection.problems;
  if (const std::optional<Text> missing = missing_metrics(collection)) summary.problems.push_back(missing->words);
  summary.problems.insert(summary.problems.end(), draft.problems().begin(), draft.problems().end());
  return summary;
}

}  // namespace

void Draft::table(const std::string& name, Table table, const Table& for_latex) {
  if (!address_) {
    table.latex = (fs::path("tables") / (name + ".tex")).string();
    write_atomically(folder_ / table.latex, to_latex(for_latex));
  }
  add(std::move(table));
}

void Draft::figure(const std::string& name, const std::string& script, const std::string& caption) {
  const std::string what = "no figure " + name + " was drawn";
  try {
    if (address_) return add(Figure{"", caution_ + caption, svg_by_gnuplot(script, what)});
    const fs::path file = fs::path("plots") / (name + ".svg");
    const fs::path svg = folder_ / file;
    draw_with_gnuplot(script, {svg, fs::path(svg).replace_extension(".pdf"), fs::path(svg).replace_extension(".png")},
                      what);
    add(Figure{file.string(), caution_ + caption, read_file(svg)});
  } catch (const Error& error) {
    problem(error.what());
  }
}

std::string Draft::link_to(const CollectedRun& run) const {
  if (address_) return address_(run);
  return fs::absolute(run.record_file)
      .lexically_normal()
      .lexically_relative(fs::absolute(folder_).lexically_normal())
      .string();
}

FindingsSummary write_findings(const Collection& collection, const std::string& title, const fs::path& folder,
                               const std::vector<std::string>& notes) {
  if (collection.runs.empty()) {
    throw Error(fmt::format("found no record of a run to report on, expected at least one{}",
                            collection.problems.empty() ? "" : "; " + collection.problems.front()));
  }
  create_folders(own_folder(folder / "plots"));
  create_folders(own_folder(folder / "tables"));
  const std::vector<Study> studies = studies_of(collection);
  Document document{"Findings: " + title, {}};
  Draft draft(document, folder);
  FindingsSummary summary = add_findings(draft, collection, studies, notes);
  write_atomically(folder / "findings.md", to_markdown(document));
  write_atomically(folder / "findings.html", to_html(document));
  write_atomically(folder / "runs.csv", runs_csv(collection, studies));
  write_atomically(folder / "curves.csv", curves_csv(studies));
  return summary;
}

std::string served_findings(const Collection& collection, const std::string& title,
                            const std::vector<std::string>& notes, const RunAddress& address) {
  Document document{"Findings: " + title, {}};
  Draft draft(document, address);
  draft.paragraph("Made at " + utc_now() + " from the records of that time; load this page again for newer ones.");
  add_findings(draft, collection, studies_of(collection), notes);
  return to_html(document, Page::kServed);
}

std::vector<std::string> notes_for(const fs::path& results) {
  constexpr size_t kLongest = 2000;
  std::vector<std::string> notes;
  const fs::path folder = fs::absolute(results / ".").lexically_normal().parent_path();
  for (const fs::path& place : {folder, folder.parent_path()}) {
    const fs::path file = place / "report-notes.md";
    if (!is_there(file)) continue;
    std::istringstream lines(read_file(file, Links::kRefused));
    std::string note;
    const auto add = [&] {
      if (!note.empty()) notes.push_back(one_line(note, kLongest));
      note.clear();
    };
    for (std::string line; std::getline(lines, line);) {
      if (line.empty()) add();
      note += (note.empty() || line.empty() ? "" : " ") + line;
    }
    add();
  }
  return notes;
}

}  // namespace eggroll
