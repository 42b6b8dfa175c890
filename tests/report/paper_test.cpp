// The parts of a report that are for a paper: the setup in words, comparisons, figures in three formats, LaTeX tables.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "record/scratch.h"
#include "report/document.h"
#include "report/findings.h"
#include "report/synthetic.h"

namespace eggroll {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class PaperTest : public ScratchTest {
 protected:
  void add(const SyntheticRun& run) { write_synthetic_run(results_ / std::to_string(runs_++), run); }

  // For each rank, the bits of seeds 0, 1, ...
  void add_ranks(const std::map<std::string, std::vector<double>>& bits) {
    SyntheticRun run;
    for (const auto& [rank, of_seeds] : bits) {
      run.axes = {{"noise.rank", rank}};
      for (run.seed = 0; run.seed < of_seeds.size(); ++run.seed) {
        run.final_bits = of_seeds[run.seed];
        add(run);
      }
    }
  }

  void add_grid(const std::vector<std::string>& populations, const std::vector<std::string>& ranks, uint64_t seeds) {
    SyntheticRun run;
    for (const std::string& population : populations) {
      for (const std::string& rank : ranks) {
        run.axes = {{"train.population", population}, {"noise.rank", rank}};
        run.population = std::stoull(population);
        for (run.seed = 0; run.seed < seeds; ++run.seed) {
          run.final_bits = 4.0 + std::stod(rank) / std::stod(population) + 0.125 * static_cast<double>(run.seed);
          add(run);
        }
      }
    }
  }

  void write() { summary_ = write_findings(collect({results_}), "paper", out_); }
  std::string markdown() const { return read_file(out_ / "findings.md"); }
  std::string table(const std::string& name) const { return read_file(out_ / "tables" / (name + ".tex")); }

  static bool has_gnuplot() { return std::system("gnuplot --version > /dev/null 2>&1") == 0; }

  size_t runs_ = 0;
  FindingsSummary summary_;
  const fs::path results_ = folder_ / "results";
  const fs::path out_ = folder_ / "out";
};

// A difference between two runs of one seed does not contain the effect of the seed.
TEST_F(PaperTest, TheComparisonWithTheBestIsPaired) {
  add_ranks({{"1", {4.0, 4.5, 5.0}}, {"4", {4.125, 4.625, 5.125}}, {"8", {3.95, 4.55, 5.15}}});
  write();
  EXPECT_THAT(markdown(), HasSubstr(" 1 other is not told apart from it. (runs"));
  // By hand: with two degrees of freedom p is 1 - t / sqrt(2 + t^2), and t is 0.05 / (0.1 / sqrt(3)).
  EXPECT_THAT(markdown(),
              HasSubstr("| 2 | rank=8 | 0.0500 | -0.1984 to 0.2984 | 3 | 0.4778 | 0.4778 | not told apart |"));
  EXPECT_THAT(markdown(),
              HasSubstr("| 3 | rank=4 | 0.1250 | 0.1250 to 0.1250 | 3 | \\< 0.0001 | \\< 0.0001 | behind |"));
  EXPECT_THAT(markdown(), HasSubstr("the corrected p is Holm's, for 2 comparisons."));
  EXPECT_THAT(markdown(), HasSubstr("The best configuration was chosen by the same runs, on the same held-out text"));
  EXPECT_THAT(markdown(), HasSubstr("It is open which of the two best configurations is better: their difference is "
                                    "0.0500 (95 % interval -0.1984 to 0.2984, 3 seeds). If this difference is the true "
                                    "one, about 34 seeds would show it in four of five tries."));
}

// One of two comparisons has to be twice as clear: p is 0.03 for t = 5.643.
TEST_F(PaperTest, WhatTheCorrectionTakesBackIsNoAgreement) {
  add_ranks({{"1", {4.0, 4.0, 4.0}}, {"4", {4.0693, 4.1, 4.1307}}});
  write();
  EXPECT_THAT(markdown(), HasSubstr("| 2 | rank=4 | 0.1000 | 0.0237 to 0.1763 | 3 | 0.0300 | 0.0300 | behind |"));
  EXPECT_THAT(markdown(), Not(HasSubstr("told apart from it")));
  add_ranks({{"8", {4.0693, 4.1, 4.1307}}});
  write();
  EXPECT_THAT(markdown(), HasSubstr("| 2 | rank=4 | 0.1000 | 0.0237 to 0.1763 | 3 | 0.0300 | 0.0600 | "
                                    "told apart by its own interval alone |"));
  // The interval does not contain 0, so the headline does not call the two alike.
  EXPECT_THAT(markdown(), Not(HasSubstr("told apart from it")));
}

TEST_F(PaperTest, ConfigurationsWithoutCommonSeedsAreNotCompared) {
  SyntheticRun run;
  for (run.seed = 0; run.seed < 6; ++run.seed) {
    run.axes = {{"noise.rank", std::to_string(1 + run.seed / 2)}};
    run.final_bits = 4.0 + 0.1 * static_cast<double>(run.seed);
    add(run);
  }
  run.seed = 0;
  run.axes = {{"noise.rank", "3"}};
  add(run);
  write();
  EXPECT_THAT(markdown(), Not(HasSubstr("Comparison with the best")));
  EXPECT_THAT(markdown(), HasSubstr("because they share fewer than two seeds; run more seeds."));
  run.seed = 1;
  add(run);
  write();
  EXPECT_THAT(markdown(), HasSubstr("| 2 | rank=2 |  |  |  |  |  | not compared: fewer than two seeds in common |"));
}

TEST_F(PaperTest, TheSetupIsSaidInWords) {
  add_grid({"512", "2048"}, {"1", "4"}, 2);
  write();
  EXPECT_THAT(markdown(), HasSubstr("\n### Setup\n\nThe model is gru (width 64) with 24,832 int8 parameters. "
                                    "The data are count: 1,000 tokens to train on. "
                                    "A run takes 100 steps with a population of 512 or 2,048 members, each of which "
                                    "reads 32 tokens a step. Until its end it reads 1,638,400 or 6,553,600 member "
                                    "tokens and 819,200 or 3,276,800 stream tokens, which count once for all members "
                                    "that share a stream. "
                                    "The optimizer is sign\\_es (residual 0.0). "
                                    "The perturbations have rank 1 or 4. "
                                    "Bits are those of the unperturbed model after the last step, on all held-out "
                                    "tokens (1,000 scored). 8 runs of 4 configurations were made, with seeds 0 and 1. "
                                    "The backend is avx2 on a processor, with 2 threads. "
                                    "The runs are of Eggroll Lab 0.1.0, commit 0123456789ab.\n"));
}

// A configuration may be anything that JSON can say.
TEST_F(PaperTest, TheSetupLeavesOutWhatIsNoValue) {
  SyntheticRun run;
  RunRecord record = synthetic_record(run);
  record.parameters.reset();
  record.config["model"] = 3;
  record.config["optimizer"] = {{"schedule", 7}, {"alpha", {1, 2}}};
  record.config["train"] = nullptr;
  record.config["noise"] = {{"rank", nullptr}};
  record.plugins.clear();
  fs::create_directories(results_);
  write_record(results_ / "a.json", record);
  write();
  EXPECT_THAT(markdown(), HasSubstr("\n### Setup\n\nThe data are count: 1,000 tokens to train on. Bits are"));
}

TEST_F(PaperTest, FiguresAreDrawnInThreeFormatsEachTimeAlike) {
  if (!has_gnuplot()) GTEST_SKIP() << "install gnuplot-nox to draw figures";
  add_grid({"512", "2048"}, {"1", "4"}, 2);
  write();
  EXPECT_THAT(summary_.problems, testing::IsEmpty());
  std::map<fs::path, std::string> first;
  for (const auto& entry : fs::directory_iterator(out_ / "plots")) first[entry.path()] = read_file(entry.path());
  EXPECT_EQ(first.size(), 5U * 4U);  // effects, interaction, curves, speed, time: script, svg, pdf, png
  const std::map<fs::path, std::string> begins = {
      {".gp", "# Draw again"}, {".svg", "<?xml"}, {".png", "\x89PNG"}, {".pdf", "%PDF-"}};
  for (const auto& [path, bytes] : first) EXPECT_THAT(bytes, StartsWith(begins.at(path.extension()))) << path;
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // a PDF's date has seconds
  write();
  for (const auto& [path, bytes] : first) {
    // A newer Cairo packs the date.
    if (path.extension() == ".pdf" && bytes.find("/CreationDate") == std::string::npos) continue;
    EXPECT_EQ(read_file(path), bytes) << path;
  }
  EXPECT_THAT(markdown(), HasSubstr("![figure](<plots/grid-curves.svg>)"));
  EXPECT_THAT(read_file(out_ / "findings.html"),
              HasSubstr("<a href=\"plots/grid-curves.pdf\">pdf</a>, <a href=\"plots/grid-curves.png\">png</a>"));
}

TEST_F(PaperTest, TwoAxesMakeAnInteraction) {
  add_grid({"512", "2048"}, {"1", "4", "16"}, 2);
  write();
  const std::string script = read_file(out_ / "plots" / "grid-noise-rank-by-train-population.gp");
  // Three ranks make a better axis than two populations.
  EXPECT_THAT(script, HasSubstr("set xlabel 'rank of the perturbation'"));
  EXPECT_THAT(script, HasSubstr("set ylabel 'held-out bits per token'"));
  EXPECT_THAT(script, HasSubstr("set xtics ('1' 1, '4' 4, '16' 16)"));
  EXPECT_THAT(script, HasSubstr("title '2,048'"));
  EXPECT_THAT(script, HasSubstr("'population (members): mean over the seeds; bar: its 95 % interval'"));
  EXPECT_THAT(markdown(), HasSubstr("Held-out bits by rank of the perturbation and population (members).\n\nThe figure "
                                    "shows 12 runs (runs [1]"));
}

// Values that do not occur together do not cross, and of a third axis only what all points have is averaged.
TEST_F(PaperTest, AxesThatDoNotCrossHaveNoInteraction) {
  SyntheticRun run;
  for (const char* rank : {"1", "4"}) {
    run.axes = {{"noise.rank", rank}, {"model.width", "32"}};
    add(run);
  }
  run.axes = {{"noise.rank", "1"}, {"model.width", "64"}};
  add(run);
  write();
  EXPECT_THAT(markdown(), Not(HasSubstr("Interactions")));
  run.axes = {{"noise.rank", "4"}, {"model.width", "64"}};
  add(run);
  run.final_bits = 9.0;
  run.axes = {{"noise.rank", "4"}, {"model.width", "64"}, {"optimizer.residual", "0.5"}};
  add(run);
  write();
  EXPECT_THAT(markdown(),
              HasSubstr("Held-out bits by rank of the perturbation and width of the model, averaged over "
                        "1 setting of the other axes that all its points have.\n\nThe figure shows 4 runs"));
}

// The test does without gnuplot, which takes most of a report's time.
class LimitsTest : public PaperTest {
 protected:
  LimitsTest() { ::setenv("PATH", "/nonexistent", 1); }
  ~LimitsTest() override { ::setenv("PATH", path_.c_str(), 1); }

  const std::string path_ = std::getenv("PATH");

  // Runs whose bits are the value, or grow as it falls.
  std::string questions_of(const std::string& axis, const std::vector<std::string>& values,
                           bool lowest_is_best = true) {
    fs::remove_all(results_);
    SyntheticRun run;
    for (const std::string& value : values) {
      run.axes = {{axis, value}};
      for (run.seed = 0; run.seed < 2; ++run.seed) {
        run.final_bits = 4.0 + (lowest_is_best ? 1.0 : -1.0) * std::stod(value) / 1000.0;
        RunRecord record = synthetic_record(run);
        for (const auto& [key, other] : all_keys_.items()) {
          for (const auto& [name, setting] : other.items()) {
            if (!record.config[key].contains(name)) record.config[key][name] = setting;
          }
        }
        add(run);
        write_record(results_ / std::to_string(runs_ - 1) / "record.json", record);
      }
    }
    write();
    const std::string page = markdown();
    const size_t begin = page.find("### Open questions");
    return begin == std::string::npos ? "" : page.substr(begin, page.find("\n#", begin + 1) - begin);
  }

  nlohmann::ordered_json all_keys_ = {{"noise",
                                       {{"source", "counter"},
                                        {"distribution", "gaussian"},
                                        {"sigma_shift", 4},
                                        {"sigma_vector_shift", 4},
                                        {"sigma_joint_shift", 2},
                                        {"table_log2", nullptr}}},
                                      {"train", {{"members_per_stream", 2}}},
                                      {"optimizer", {{"average", 0.9}}},
                                      {"fitness", {{"name", "zscore"}, {"clip", 2.0}}}};
};

TEST_F(LimitsTest, ValuesThatTheConfigurationRefusesAreNoQuestion) {
  const auto smaller = HasSubstr("smaller values may be better");
  const auto larger = HasSubstr("larger values may be better");
  EXPECT_THAT(questions_of("noise.rank", {"1", "4"}), Not(smaller));
  EXPECT_THAT(questions_of("noise.rank", {"2", "4"}), smaller);
  EXPECT_THAT(questions_of("noise.rank", {"32", "64"}, false), Not(larger));
  EXPECT_THAT(questions_of("noise.rank", {"16", "32"}, false), larger);
  EXPECT_THAT(questions_of("train.population", {"2", "8"}), Not(smaller));
  EXPECT_THAT(questions_of("train.population", {"4", "8"}), smaller);
  EXPECT_THAT(questions_of("optimizer.average", {"0.5", "0.9"}), Not(smaller));
  EXPECT_THAT(questions_of("optimizer.average", {"0.501", "0.9"}), smaller);
  EXPECT_THAT(questions_of("fitness.clip", {"0.1", "1"}), Not(smaller));
  EXPECT_THAT(questions_of("fitness.clip", {"1", "2"}), smaller);
  // The report does not know the settings that plugins read.
  EXPECT_THAT(questions_of("model.width", {"1", "2"}), smaller);
  // The population is a multiple of the members of a stream.
  all_keys_["train"]["members_per_stream"] = 6;
  EXPECT_THAT(questions_of("train.population", {"18", "36"}), smaller);
  EXPECT_THAT(questions_of("train.population", {"6", "36"}), Not(smaller));
}

TEST_F(PaperTest, TablesForLatexAreEscaped) {
  SyntheticRun run;
  run.sweep = "a_b";
  run.claims = {{{"says", "100 % of \\input{x} & $y^2$ #1 ~ {[} --no"},
                 {"compare", {{"axis", "optimizer.name"}, {"value", "c&d"}, {"with", "[e]"}}},
                 {"expect", "lower"}}};
  for (const char* name : {"c&d", "[e]"}) {
    run.axes = {{"optimizer.name", name}};
    for (run.seed = 0; run.seed < 2; ++run.seed) {
      run.final_bits = 4.0 + 0.25 * static_cast<double>(run.seed) + (*name == '[' ? 1.0 : 0.0);
      add(run);
    }
  }
  write();
  const std::string claims = table("a-b-claims");
  EXPECT_THAT(claims, HasSubstr("100 \\% of \\textbackslash{}input\\{x\\} \\& \\$y\\textasciicircum{}2\\$ \\#1 "
                                "\\textasciitilde{} \\{{[}\\} -{}-no & "));
  EXPECT_THAT(claims,
              HasSubstr("\nclaim & verdict & figure & estimate & 95 \\% interval & n & p & corrected p \\\\\n"));
  EXPECT_THAT(claims,
              HasSubstr(" & confirmed & difference & $-$1.000 & $-$1.000 to $-$1.000 & 2 & \\textless{} 0.0001 & "
                        "\\textless{} 0.0001 \\\\\n"));
  EXPECT_EQ(table("a-b-leaderboard"),
            "% Needs \\usepackage{booktabs} and, for pdfLaTeX, \\usepackage[T1]{fontenc} and \\usepackage{textcomp}.\n"
            "\\begin{tabular}{rlrrrrrr}\n\\toprule\n"
            "\\# & optimizer.name & bits & 95 \\% interval & n & lowest & highest & member tokens/s \\\\\n\\midrule\n"
            "1 & c\\&d & 4.125 & 2.537 to 5.713 & 2 & 4.000 & 4.250 & 1.64 M \\\\\n"
            "2 & {[}e] & 5.125 & 3.537 to 6.713 & 2 & 5.000 & 5.250 & 1.64 M \\\\\n"
            "\\bottomrule\n\\end{tabular}\n");
  EXPECT_THAT(table("a-b-comparison"),
              HasSubstr("2 & optimizer={[}e] & 1.000 & 1.000 to 1.000 & 2 & \\textless{} 0.0001 & "
                        "\\textless{} 0.0001 & behind \\\\\n"));
  EXPECT_THAT(markdown(), HasSubstr("[This table for LaTeX](<tables/a-b-leaderboard.tex>)"));
}

TEST(ToLatex, AColumnWithLongTextBreaksLinesAndOneWithoutWordsIsLeftOut) {
  Table table;
  table.columns = {"claim", "bits", "runs"};
  table.rows = {{Text(std::string(41, 'a')), Text("-1.5", -1.5), Text("", std::vector<size_t>{1})}};
  EXPECT_THAT(to_latex(table), HasSubstr("\n\\begin{tabular}{p{0.4\\linewidth}r}\n\\toprule\nclaim & bits \\\\\n"));
  table.rows[0][0] = Text("short");
  EXPECT_THAT(to_latex(table), HasSubstr("\n\\begin{tabular}{lr}\n"));
}

TEST_F(PaperTest, TablesForLatexCompile) {
  if (std::system("pdflatex --version > /dev/null 2>&1") != 0) {
    GTEST_SKIP() << "install texlive-latex-base to compile tables";
  }
  SyntheticRun run;
  run.claims = {
      {{"says", "Wide words " + std::string(300, 'W') + ", \u00e4 & _ % " + std::string(40, '#') + " in the same time"},
       {"compare", {{"axis", "noise.rank"}, {"value", "1"}, {"with", "4"}}},
       {"expect", "lower"}}};
  for (const char* rank : {"1", "4"}) {
    for (const char* anneal : {"-1.25", "0.000125"}) {
      run.axes = {
          {"noise.rank", rank},
          {"optimizer.schedule.inverse_time.anneal", anneal},
          {"model.logit_steps_per_bit+model.width", std::string("logit_steps_per_bit=") + rank + " width=131072"},
          {"hook.path", "/a/folder/whose/name/is/long/" + std::string(60, *rank == '1' ? 'm' : 'w')}};
      for (run.seed = 0; run.seed < 3; ++run.seed) {
        run.final_bits = std::stod(rank) + std::stod(anneal) + 0.0625 * static_cast<double>(run.seed * run.seed);
        add(run);
      }
    }
  }
  write();
  std::string document =
      "\\documentclass{article}\\usepackage{graphicx}\\usepackage{booktabs}\\usepackage[T1]{fontenc}\\usepackage{"
      "textcomp}"
      "\n"
      "\\usepackage[utf8]{inputenc}\\begin{document}\n";
  size_t tables = 0;
  for (const auto& entry : fs::directory_iterator(out_ / "tables")) {
    document +=
        "\\begin{table}\\resizebox{\\linewidth}{!}{\\input{" + entry.path().string() + "}}\\end{table}\\clearpage\n";
    ++tables;
  }
  EXPECT_EQ(tables, 4U);  // claims, leaderboard, comparison, effects
  write_atomically(out_ / "paper.tex", document + "\\end{document}\n");
  const std::string command =
      "cd '" + out_.string() + "' && pdflatex -interaction=nonstopmode -halt-on-error paper.tex > said";
  const int code = std::system(command.c_str());
  const std::string said = read_file(out_ / "said");
  EXPECT_EQ(code, 0) << said;
}

}  // namespace
}  // namespace eggroll
