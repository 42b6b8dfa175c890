// The page's charts: what their axes show at first, zoom, logarithmic axes, baselines, and the monitor over time.
#include "serve/page.h"

namespace eggroll::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class PageChartTest : public PageTest {
 protected:
  struct Point {
    double x;
    double y;
  };
  // A point of the page, in CSS pixels, from the chart's values.
  Point at(const std::string& canvas, double x, double y) {
    const auto found =
        browser_->evaluate("(() => { const c = document.querySelector(" + quoted(canvas) +
                           "); c.scrollIntoView({block: 'center'}); const b = c.getBoundingClientRect();"
                           "const s = Chart.getChart(c).scales; return [b.left + s.x.getPixelForValue(" +
                           std::to_string(x) + "), b.top + s.y.getPixelForValue(" + std::to_string(y) + ")]; })()");
    return {found.at(0).get<double>(), found.at(1).get<double>()};
  }
  void mouse(const std::string& type, const Point& point) {
    browser_->call("Input.dispatchMouseEvent", {{"type", type},
                                                {"x", point.x},
                                                {"y", point.y},
                                                {"button", "left"},
                                                {"buttons", type == "mouseReleased" ? 0 : 1},
                                                {"clickCount", 1}});
  }
  void drag(const Point& from, const Point& to) {
    mouse("mousePressed", from);
    mouse("mouseMoved", to);
    mouse("mouseReleased", to);
  }
  void press(const std::string& key) {
    for (const char* type : {"keyDown", "keyUp"}) {
      browser_->call("Input.dispatchKeyEvent", {{"type", type}, {"key", key}});
    }
  }
  double limit(const std::string& which, const std::string& canvas = "#curves") {
    return of_chart(canvas, "scales." + which).get<double>();
  }
  bool wait_for_limit(const std::string& condition) {
    return browser_->wait_for("(({x, y}) => " + condition +
                              ")(Chart.getChart(document.querySelector('#curves')).scales)");
  }
  // "log y" of the chart's switches.
  void click_switch(const std::string& label) {
    browser_->evaluate("[...document.querySelectorAll('.tools label')].find((l) => l.innerText.trim() === " +
                       quoted(label) + ").querySelector('input').click()");
  }
  bool sees(const std::string& selector) {
    return browser_->evaluate("getComputedStyle(document.querySelector(" + quoted(selector) + ")).display") != "none";
  }
};

TEST_F(PageChartTest, CurvesBeginWhereTheyAreWorthReading) {
  add_grid();
  open();
  ASSERT_TRUE(wait_for_chart("#curves"));
  // The curve falls from 7 to 3 bits; its first tenth lies above the range that is shown.
  EXPECT_LT(limit("y.max"), 5.0);
  EXPECT_LT(limit("y.min"), 3.0);
  choose("bits", "all");
  ASSERT_TRUE(wait_for_limit("y.max > 7"));
  EXPECT_GT(limit("y.min"), 1.0);  // the entropy rate of 0.5 does not stretch the axis here either
}

TEST_F(PageChartTest, BaselinesDoNotStretchTheAxis) {
  add_grid();
  open();
  ASSERT_TRUE(wait_for_chart("#curves"));
  EXPECT_GT(limit("y.min"), 2.0);  // the entropy rate of 0.5 lies far below the curves
  // On a narrow screen nothing makes the page scroll sideways.
  browser_->call("Emulation.setDeviceMetricsOverride",
                 {{"width", 390}, {"height", 800}, {"deviceScaleFactor", 1}, {"mobile", false}});
  ASSERT_TRUE(browser_->wait_for("innerWidth === 390"));
  EXPECT_TRUE(browser_->wait_for("document.documentElement.scrollWidth === document.documentElement.clientWidth"));
}

// Generated data differ between seeds.
TEST_F(PageChartTest, BaselinesAreDrawnWhereAllRunsHaveTheSame) {
  add_grid();
  open();
  ASSERT_TRUE(wait_for_chart("#curves"));
  EXPECT_THAT(texts(".legend .baselines"), ::testing::SizeIs(1));
  SyntheticRun run;
  RunRecord record = synthetic_record(run);
  record.baselines.unigram = 4.9;
  write_record(results_ / add_point("other", run) / "record.json", record);
  EXPECT_TRUE(browser_->wait_for("!document.querySelector('.legend .baselines')"));
  EXPECT_THAT(texts(".legend"), ::testing::Contains(HasSubstr("population=2048")));
}

TEST_F(PageChartTest, ADragZoomsAndTheAddressKeepsIt) {
  add_grid();
  open();
  ASSERT_TRUE(wait_for_chart("#curves"));
  EXPECT_FALSE(sees(".tools .plain"));
  const double low = limit("y.min");
  const double high = limit("y.max");
  const double y = low + (high - low) / 4;
  mouse("mousePressed", at("#curves", 40, y));
  const Point end = at("#curves", 80, low + (high - low) / 2);
  mouse("mouseMoved", end);
  EXPECT_TRUE(sees(".frame"));  // the part that is dragged over
  mouse("mouseReleased", end);
  ASSERT_TRUE(wait_for_limit("Math.abs(x.min - 40) < 1 && Math.abs(x.max - 80) < 1"));
  EXPECT_NEAR(limit("y.min"), y, 0.05);
  EXPECT_FALSE(sees(".frame"));
  EXPECT_TRUE(sees(".tools .plain"));
  // The link shows the same part in another window.
  const std::string link = browser_->evaluate("location.hash");
  const double x_min = limit("x.min");
  browser_->open("about:blank");
  open(link);
  ASSERT_TRUE(wait_for_chart("#curves"));
  EXPECT_DOUBLE_EQ(limit("x.min"), x_min);
  click(".tools .plain");
  EXPECT_TRUE(wait_for_limit("x.min === 0 && x.max === 100"));
  EXPECT_FALSE(sees(".tools .plain"));
  EXPECT_NEAR(limit("y.max"), high, 1e-9);
}

TEST_F(PageChartTest, ADragAlongOneAxisFitsTheOther) {
  add_grid();
  open("#/?range=all");
  ASSERT_TRUE(wait_for_chart("#curves"));
  const double middle = (limit("y.min") + limit("y.max")) / 2;
  drag(at("#curves", 80, middle), at("#curves", 100, middle));
  ASSERT_TRUE(wait_for_limit("Math.abs(x.min - 80) < 1"));
  EXPECT_THAT(browser_->evaluate("location.hash").get<std::string>(),
              AllOf(HasSubstr("curves+x="), Not(HasSubstr("curves+y="))));
  EXPECT_LT(limit("y.max"), 4.2);  // the curves lie between 3 and 3.77 bits there
  // A click does not drag.
  const std::string before = browser_->evaluate("location.hash");
  drag(at("#curves", 90, middle), at("#curves", 90, middle));
  EXPECT_EQ(browser_->evaluate("location.hash"), before);
}

TEST_F(PageChartTest, AFingerChoosesARangeOfX) {
  add_grid();
  open();
  ASSERT_TRUE(wait_for_chart("#curves"));
  browser_->call("Emulation.setTouchEmulationEnabled", {{"enabled", true}});
  const double middle = (limit("y.min") + limit("y.max")) / 2;
  Point finger = at("#curves", 40, middle);
  const double width = at("#curves", 80, middle).x - finger.x;
  const auto touch = [&](const std::string& type) {
    Browser::Json points = Browser::Json::array();
    if (type != "touchEnd") points.push_back({{"x", finger.x}, {"y", finger.y}});
    browser_->call("Input.dispatchTouchEvent", {{"type", type}, {"touchPoints", points}});
  };
  touch("touchStart");
  for (int i = 0; i < 8; ++i) {
    finger.x += width / 8;
    finger.y += 4;  // a finger never moves along a line
    touch("touchMove");
  }
  touch("touchEnd");
  ASSERT_TRUE(wait_for_limit("Math.abs(x.min - 40) < 1 && Math.abs(x.max - 80) < 1"));
  EXPECT_THAT(browser_->evaluate("location.hash").get<std::string>(), Not(HasSubstr("curves+y=")));
}

TEST_F(PageChartTest, KeysZoomMoveAndReset) {
  add_grid();
  open();
  ASSERT_TRUE(wait_for_chart("#curves"));
  browser_->evaluate("document.querySelector('#curves').focus()");
  press("+");
  ASSERT_TRUE(wait_for_limit("Math.abs(x.min - 15) < 0.1 && Math.abs(x.max - 85) < 0.1"));
  EXPECT_EQ(browser_->evaluate("document.activeElement.id"), "curves");
  press("ArrowRight");
  ASSERT_TRUE(wait_for_limit("Math.abs(x.min - 25.5) < 0.1"));
  const double low = limit("y.min");
  press("ArrowUp");
  ASSERT_TRUE(wait_for_limit("y.min > " + std::to_string(low + 0.01)));
  press("0");
  EXPECT_TRUE(wait_for_limit("x.min === 0 && x.max === 100"));
  // Keys do not add to the history: one step back leaves the page.
  EXPECT_EQ(browser_->evaluate("history.length"), 2);
}

TEST_F(PageChartTest, EachAxisTurnsLogarithmic) {
  add_grid();
  open();
  ASSERT_TRUE(wait_for_chart("#curves"));
  click_switch("log y");
  ASSERT_TRUE(wait_for_limit("y.type === 'logarithmic' && x.type === 'linear'"));
  EXPECT_GT(limit("y.min"), 2.0);
  EXPECT_GT(of_chart("#curves", "scales.y.ticks.length").get<int>(), 3);
  click_switch("log x");
  ASSERT_TRUE(wait_for_limit("y.type === 'logarithmic' && x.type === 'logarithmic'"));
  EXPECT_EQ(limit("x.min"), 1);  // the first step; a logarithmic axis has no step 0
  EXPECT_GT(coloured_pixels("#curves"), 500);
  EXPECT_THAT(browser_->evaluate("location.hash").get<std::string>(), HasSubstr("curves+log=xy"));
  click_switch("log y");
  EXPECT_TRUE(wait_for_limit("y.type === 'linear' && x.type === 'logarithmic'"));
}

TEST_F(PageChartTest, ALogarithmicAxisShowsMoreOfEarlyTraining) {
  SyntheticRun run;
  run.final_bits = 1.0;  // far from the baselines
  add_point("0", run);
  open();
  ASSERT_TRUE(wait_for_chart("#curves"));
  EXPECT_LT(limit("y.max"), 1.12);  // from step 30 of 100 on, where the curve is at 1.09 bits
  click_switch("log x");
  EXPECT_TRUE(wait_for_limit("y.max > 1.16"));  // from step 20 on
}

TEST_F(PageChartTest, TheMonitorsNumbersAreDrawnOverTime) {
  SyntheticRun run;
  run.monitor_every = 25;
  const std::string folder = add_point("0", run);
  open("#/run?folder=" + folder);
  ASSERT_TRUE(wait_for_chart("#monitor-curves"));
  choose("figure", "moved of tensors");
  ASSERT_TRUE(browser_->wait_for(
      "Chart.getChart(document.querySelector('#monitor-curves')).options.scales.y.title.text === 'moved of tensors'"));
  const auto sets = datasets("#monitor-curves");
  ASSERT_EQ(sets.size(), 1U);
  EXPECT_EQ(sets.at(0).at("label"), "embedding");
  ASSERT_EQ(sets.at(0).at("data").size(), 4U);
  EXPECT_EQ(sets.at(0).at("data").at(0).at("x"), 25);
  EXPECT_GT(sets.at(0).at("data").at(0).at("y").get<double>(), 0.12);
  EXPECT_EQ(sets.at(0).at("data").at(3).at("y"), 0.1);
  EXPECT_GT(coloured_pixels("#monitor-curves"), 100);
  choose("figure", "saturated of values");
  ASSERT_TRUE(browser_->wait_for("document.querySelector('#monitor-time .legend').innerText.includes('head')"));
  EXPECT_THAT(texts("#monitor-time .legend > span"), ElementsAre("embedded", "head"));
  choose("figure", "largest of heads");
  ASSERT_TRUE(browser_->wait_for("document.querySelector('#monitor-time .legend').innerText.includes('mixed head 0')"));
  EXPECT_THAT(browser_->evaluate("location.hash").get<std::string>(), HasSubstr("figure=largest+of+heads"));
}

TEST_F(PageChartTest, ARunWithoutAMonitorHasNoEmptyChart) {
  open("#/run?folder=" + add_point("0", {}));
  ASSERT_TRUE(browser_->wait_for("document.querySelector('#record')"));
  EXPECT_FALSE(sees("#monitor-time"));
}

}  // namespace
}  // namespace eggroll::test
