#include "report/plots.h"

#include <gmock/gmock.h>

#include <limits>
#include <set>

#include "record/curve.h"
#include "system/number_text.h"

namespace eggroll {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// From 8 bits at the first point to 2 at the last, each with an interval of 0.2.
Band falling(const std::string& label, double tokens) {
  Band band{label, {}};
  for (int i = 1; i <= 10; ++i) {
    const double bits = 2.0 + 6.0 * (10.0 / i - 1.0) / 9.0;
    band.points.push_back({tokens * i / 10.0, bits, bits - 0.1, bits + 0.1});
  }
  return band;
}

std::string script_of(const std::vector<Band>& bands, const std::vector<std::pair<std::string, double>>& yardsticks) {
  return curves_script({"t", "bits per byte", means_title(bands, "band"), bands, yardsticks});
}

// The second point, at a fifth of the tokens, has 4.67 bits.
TEST(PlotsTest, TheFrameFitsTheCurvesAfterTheirFirstFifth) {
  const std::string script = script_of({falling("a", 1e6)}, {});
  EXPECT_THAT(script, HasSubstr("set yrange [1.785"));
  EXPECT_THAT(script, testing::ContainsRegex("set yrange .1\\.78[0-9]*:4\\.88"));
  EXPECT_THAT(script, HasSubstr("set xlabel 'member tokens (millions)'"));
  EXPECT_THAT(script, HasSubstr("mean over the seeds; band: its 95 % interval"));
}

TEST(PlotsTest, AYardstickFarFromTheCurvesIsNamedAtTheEdge) {
  const std::string script = script_of({falling("a", 1e6)}, {{"gzip", 1.8}, {"bigram", 3.5}, {"unigram", 9.0}});
  EXPECT_THAT(script, HasSubstr("'gzip 1.8' at"));
  EXPECT_THAT(script, HasSubstr("'bigram 3.5' at"));
  EXPECT_THAT(script, HasSubstr("'▲ unigram 9' at"));
  EXPECT_THAT(script, HasSubstr(" 3.5 with lines"));
  EXPECT_THAT(script, Not(HasSubstr(" 9 with lines")));
}

TEST(PlotsTest, ShortCurvesBesideLongOnesHaveALogarithmicAxis) {
  EXPECT_THAT(script_of({falling("a", 1e6), falling("b", 5e5)}, {}), Not(HasSubstr("logscale")));
  const std::string script = script_of({falling("a", 1e6), falling("b", 1e5)}, {});
  EXPECT_THAT(script, HasSubstr("set logscale x"));
  EXPECT_THAT(script, HasSubstr("set xtics ('20 k' 20000, '50 k' 50000, '100 k' 100000,"));
}

TEST(PlotsTest, LinesDifferInMoreThanTheirColour) {
  std::vector<Band> bands;
  for (size_t i = 0; i < kLineStyles; ++i) bands.push_back(falling(std::to_string(i), 1e6));
  std::set<std::string> styles;
  for (size_t i = 0; i < kLineStyles; ++i) styles.insert(line_style(i).substr(line_style(i).find(" dt ")));
  EXPECT_EQ(styles.size(), kLineStyles);
  EXPECT_THAT(script_of(bands, {}), HasSubstr(line_style(kLineStyles - 1)));
}

TEST(PlotsTest, TicsStandAtTheValuesThereAre) {
  const std::string script = speed_script("t", {{"a", {{256, 1e6}, {512, 1.5e6}, {65536, 2e6}}}});
  EXPECT_THAT(script, HasSubstr("set xtics ('256' 256, '512' 512, '65,536' 65536)"));
  EXPECT_THAT(script, HasSubstr("set ytics ('1 M' 1000000, '1.5 M' 1500000, '2 M' 2000000)"));
}

TEST(PlotsTest, ANameWithoutRoomIsLeftOut) {
  EXPECT_EQ(tics_at('x', {1, 1.001, 2}, {0, 3}, false), "set xtics ('1' 1, '' 1.001, '2' 2)\nset mxtics 1\n");
}

// gnuplot takes the name at a tic for a format.
TEST(PlotsTest, NamesAreQuotedForGnuplot) {
  const std::string script = time_script("it's", {{"50 % of 'x'", 0.5, 0.25, 0.25}});
  EXPECT_THAT(script, HasSubstr("set title 'it''s'"));
  EXPECT_THAT(script, HasSubstr("set ytics ('50 %% of ''x''' 0)"));
}

TEST(PlotsTest, AFlatCurveHasAFrame) {
  Band band{"a", {{1e6, 2.0, 2.0, 2.0}, {2e6, 2.0, 2.0, 2.0}}};
  const std::string script = script_of({band}, {});
  EXPECT_THAT(script, testing::ContainsRegex("set yrange .1\\.99[0-9]*:2\\.00"));
  EXPECT_THAT(script, HasSubstr("one seed each"));
}

// A record may hold any number.
TEST(PlotsTest, NumbersThatMakeNoSenseMakeAFrameAllTheSame) {
  const Band band{"a", {{-1.0, 2.0, 1.0, 3.0}, {-5.0, 1e308, 0.0, 1e308}}};
  EXPECT_THAT(script_of({band}, {{"gzip", -1e308}}), HasSubstr("plot "));
  EXPECT_EQ(log_tics('y', {0.0, 1.0}, text_of), "");
  EXPECT_EQ(log_tics('y', {1.0, std::numeric_limits<double>::infinity()}, text_of), "");
  EXPECT_EQ(log_tics('y', {1e307, 1.5e308}, text_of),
            "set ytics ('1e+307' 1e+307, '2e+307' 2e+307, '5e+307' 5e+307, '1e+308' 1e+308)\nset mytics 1\n");
}

}  // namespace
}  // namespace eggroll
