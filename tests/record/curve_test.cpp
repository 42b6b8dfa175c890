#include "record/curve.h"

#include <gmock/gmock.h>

#include <cstdlib>

#include "record/gnuplot.h"
#include "record/metrics.h"
#include "record/scratch.h"
#include "system/files.h"

namespace eggroll {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

class CurveTest : public ScratchTest {
 protected:
  void write_metrics(uint64_t steps, bool with_average = false) {
    MetricsFile file(metrics_, 0);
    for (uint64_t step = 0; step < steps; ++step) {
      nlohmann::ordered_json line = {{"step", step},
                                     {"member_tokens", (step + 1) * 32768},
                                     {"train_bits_per_unit", 4.0 + 4.0 / static_cast<double>(step + 1)}};
      if (step % 10 == 9) line["held_out_bits_per_unit"] = 4.25;
      if (step % 10 == 9 && with_average) line["average_held_out_bits_per_unit"] = 4.125;
      file.append(line);
    }
  }

  const std::filesystem::path metrics_ = folder_ / "metrics.jsonl";
  const std::filesystem::path png_ = folder_ / "curve.png";
  const Curve curve_{"it's a run", "byte", {4.8, 3.5, 3.51, std::nullopt, 2.75, {{4, 2.625}, {5, 2.5}}}};
};

TEST_F(CurveTest, DrawsAPicture) {
  if (std::system("gnuplot --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "install gnuplot-nox to draw curves";
  write_metrics(40);
  draw_learning_curve(metrics_, curve_, png_);
  const std::string picture = read_file(png_);
  ASSERT_GT(picture.size(), 5000U);
  EXPECT_EQ(picture.substr(1, 3), "PNG");
  EXPECT_EQ(entries_in(folder_), 3U);  // metrics, script, picture
}

TEST_F(CurveTest, TheScriptHoldsTheDataTheLabelsAndTheUnits) {
  write_metrics(40);
  try {
    draw_learning_curve(metrics_, curve_, png_);
  } catch (const Error&) {  // without gnuplot the script is written all the same
  }
  const std::string script = read_file(folder_ / "curve.gp");
  for (const char* part :
       {"# Draw again with: gnuplot THIS.gp > THIS.svg\n", "set title 'it''s a run'",
        "set xlabel 'member tokens (millions)'", "set ylabel 'bits per byte'", "0.32768 4.25 4.25 4.25\n",
        "0.032768 8 nan nan\n", "title 'held-out: unperturbed model, 4.25 at the end'",
        "title 'training: mean over the members, 4.1 at the end'", "unigram 4.8'", "bigram 3.5'", "gzip 3.51'",
        "PPMd 2.75'", "Kneser-Ney of 5 bytes 2.5'"}) {
    EXPECT_THAT(script, HasSubstr(part));
  }
}

TEST_F(CurveTest, TheAverageOfTheWeightsIsALineOfItsOwn) {
  for (const bool with_average : {false, true}) {
    write_metrics(40, with_average);
    try {
      draw_learning_curve(metrics_, curve_, png_);
    } catch (const Error&) {
    }
    const std::string script = read_file(folder_ / "curve.gp");
    EXPECT_EQ(script.find("title 'held-out: average of the weights, 4.125 at the end'") != std::string::npos,
              with_average);
    EXPECT_THAT(script, HasSubstr("title 'held-out: unperturbed model, "));
  }
}

TEST_F(CurveTest, AbsentBaselinesAndEvaluationsAreLeftOut) {
  write_metrics(3);
  try {
    draw_learning_curve(metrics_, {"count", "token", {}}, png_);
  } catch (const Error&) {
  }
  const std::string script = read_file(folder_ / "curve.gp");
  EXPECT_THAT(script, HasSubstr("set ylabel 'bits per token'"));
  EXPECT_THAT(script, HasSubstr("title 'training: "));
  EXPECT_THAT(script, Not(HasSubstr("unigram")));
  EXPECT_THAT(script, Not(HasSubstr("held-out")));
}

TEST_F(CurveTest, NothingToDrawIsAnError) {
  write_metrics(0);
  EXPECT_EQ(
      message_of([&] { draw_learning_curve(metrics_, curve_, png_); }),
      "no learning curve was drawn: " + metrics_.string() + " holds no loss yet; draw it after the run's first step");
}

// A PATH of our own, in a child, so that other tests keep theirs.
TEST_F(CurveTest, AMissingGnuplotNamesThePackageAndKeepsTheOldPicture) {
  write_metrics(3);
  write_plainly(png_, "an older picture");
  const std::string text = in_child([&] {
    ::setenv("PATH", folder_.c_str(), 1);
    return message_of([&] { draw_learning_curve(metrics_, curve_, png_); });
  });
  EXPECT_EQ(text,
            "no learning curve was drawn: gnuplot is not installed; install the package gnuplot-nox and run "
            "gnuplot on " +
                (folder_ / "curve.gp").string());
  EXPECT_EQ(read_file(png_), "an older picture");
  EXPECT_EQ(entries_in(folder_), 3U);
}

TEST_F(CurveTest, AFailingGnuplotIsQuotedInOneSentence) {
  write_metrics(3);
  std::filesystem::create_directory(folder_ / "bin");
  write_plainly(folder_ / "bin" / "gnuplot", "#!/bin/sh\necho >&2\necho 'line 3: no terminal' >&2\nexit 1\n");
  std::filesystem::permissions(folder_ / "bin" / "gnuplot", std::filesystem::perms::owner_all);
  const std::string text = in_child([&] {
    ::setenv("PATH", (folder_ / "bin").c_str(), 1);
    return message_of([&] { draw_learning_curve(metrics_, curve_, png_); });
  });
  EXPECT_EQ(text, "no learning curve was drawn: gnuplot failed on " + (folder_ / "curve.gp").string() +
                      " (line 3: no terminal); install the package gnuplot-nox or mend the script");
  EXPECT_FALSE(std::filesystem::exists(png_));
  EXPECT_EQ(entries_in(folder_), 3U);  // metrics, script, bin
}

TEST_F(CurveTest, AServedFigureThatIsTooLongIsSaidToBe) {
  write_plainly(folder_ / "gnuplot", "#!/bin/sh\nhead -c 70000000 /dev/zero\n");
  std::filesystem::permissions(folder_ / "gnuplot", std::filesystem::perms::owner_all);
  const std::string text = in_child([&] {
    ::setenv("PATH", (folder_.string() + ":/usr/bin:/bin").c_str(), 1);
    return message_of([&] { svg_by_gnuplot("", "no figure x was drawn"); });
  });
  EXPECT_EQ(
      text,
      "no figure x was drawn: it has more than 64 MiB, so gnuplot was ended; make the figure with eggroll report, "
      "which has no such limit");
}

}  // namespace
}  // namespace eggroll
