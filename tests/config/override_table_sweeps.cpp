// The overrides' table: sweeps.
#include "config/override_table.h"

namespace eggroll::test {

std::vector<OverrideRow> sweep_rows() {
  using enum Outcome;
  const std::string kSeveral =
      "several values, expected one; write one of them, a list as [a, b], or text in quotes that the shell keeps: "
      "'key=\"a, b\"'";
  const std::string kRangeForms = "; write range(stop), range(start, stop) or range(start, stop, step)";
  const std::string kNothingBetween = "there is nothing between two commas; remove one, or write '' or null";
  return {
      // ---- Sweeps, refused where one value is expected ----
      {{"train.steps=1,2"}, kRefused, kSeveral},
      {{"seed=choice(1)"}, kRefused, kSeveral},
      {{"seed=range(3)"}, kRefused, kSeveral},
      {{"model=gru,nano"}, kRefused, kSeveral},
      {{"model=glob(*)"}, kRefused, kSeveral},
      {{"~seed=7,8"}, kRefused, kSeveral},
      {{"seed=1,2", "name=x"}, kRuns, "seed=1 name=x; seed=2 name=x"},
      {{"seed=1,2", "+a=range(2)"}, kRuns, "seed=1 +a=0; seed=1 +a=1; seed=2 +a=0; seed=2 +a=1"},
      {{"+a= 1 , x y ,'a,b'"}, kRuns, R"(+a=1; +a="x y"; +a="a,b")"},
      {{"+a=[1,2],{b: 'c d'},null"}, kRuns, R"(+a=[1, 2]; +a={b: "c d"}; +a=null)"},
      {{R"(+a=["a, ]", b],2)"}, kRuns, R"(+a=["a, ]", b]; +a=2)"},
      {{"+a=['it''s, b']"}, kRuns, "+a=['it''s, b']"},
      {{"+a=[(],b"}, kRuns, R"(+a=["("]; +a=b)"},
      {{"+a=${env:X,5},b"}, kRuns, R"(+a="${env:X,5}"; +a=b)"},
      {{"+a=a[1,it's"}, kRuns, R"(+a="a[1"; +a="it's")"},
      {{"model=gru,null,'null'"}, kRuns, R"(model=gru; model=null; model="null")"},
      {{"~seed=7,8"}, kRuns, "~seed=7; ~seed=8"},
      {{"seed=1,,2"}, kRunsRefused, kNothingBetween},
      {{"seed=1,"}, kRunsRefused, kNothingBetween},
      {{"seed=1,x y,{b"},
       kRunsRefused,
       "the value is not YAML: end of map flow not found; correct it, or put text in quotes"},

      // ---- choice(), range(), glob() ----
      {{"seed=choice(1)"}, kRuns, "seed=1"},
      {{"+a=choice(1, [2,3], 'a)')"}, kRuns, "+a=1; +a=[2, 3]; +a=\"a)\""},
      {{"seed=range(3)"}, kRuns, "seed=0; seed=1; seed=2"},
      {{"seed=range(-1, 1)"}, kRuns, "seed=-1; seed=0"},
      {{"seed=range(1,8,3)"}, kRuns, "seed=1; seed=4; seed=7"},
      {{"seed=range(3,0,-2)"}, kRuns, "seed=3; seed=1"},
      {{"+a=range(2.5)"}, kRuns, "+a=0.0; +a=1.0; +a=2.0"},
      {{"+a=range(0,0.5,0.1)"}, kRuns, "+a=0.0; +a=0.1; +a=0.2; +a=0.3; +a=0.4"},
      {{"+a=range(1.0,0.7,-0.1)"}, kRuns, "+a=1.0; +a=0.9; +a=0.8"},
      {{"+a=range(1e-3,3e-3,1e-3)"}, kRuns, "+a=0.001; +a=0.002"},
      {{"+a=range(0,3e-20,1e-20)"}, kRuns, "+a=0.0; +a=1e-20; +a=2e-20"},
      {{"model=glob(*)"}, kRuns, R"(model=gru; model=nano)"},
      {{"dataset=glob([x*, 't??t'])"}, kRuns, "dataset=text"},
      {{"experiment=glob(c*t)"}, kRuns, "experiment=count"},
      {{"seed=chioce(1,2)"},
       kRunsRefused,
       "unknown function 'chioce', expected one of choice, range, glob, interval, int, tag; correct it, or put text in "
       "quotes"},
      {{"seed=1,choice(2,3)"}, kRunsRefused, "the sweep choice(2,3) stands inside another one; write only one of them"},
      {{"seed=range(1,1)"}, kRunsRefused, "range(1,1) has no values; correct its start, stop or step"},
      {{"seed=range(1,5,0)"}, kRunsRefused, "range() has the step 0, expected a positive or negative one; correct it"},
      {{"seed=range(0,0.0e-2147483648,1)"},
       kRunsRefused,
       "range(0,0.0e-2147483648,1) has no values; correct its start, stop or step"},
      {{"seed=range(1,2,3,4)"}, kRunsRefused, "range() has more than start, stop and step; remove the rest"},
      {{"seed=range(a)"}, kRunsRefused, "range() has the text 'a' as its stop, expected a number" + kRangeForms},
      {{"seed=range(1e16)"}, kRunsRefused, "range() has 1e16 as its stop, expected at most 2^53; use smaller numbers"},
      {{"seed=range(1000000)"}, kRunsRefused, "range(1000000) has more than 100000 values; take a larger step"},
      {{"model=glob(x*)"}, kRunsRefused, "glob() matches no option of model (found: gru, nano); correct the pattern"},
      {{"model=glob(*, exclude=gru)"},
       kRunsRefused,
       "glob() has several arguments (*, exclude=gru), expected one pattern or a list of them such as [a*, b*]; "
       "correct it"},
      {{"model=glob([])"}, kRunsRefused, "glob() has no pattern, expected one such as glob(*)"},
      {{"model=glob(5)"},
       kRunsRefused,
       "glob() has the integer 5 as a pattern, expected text such as a*; put it in quotes"},
      {{"seed=glob(*)"}, kRunsRefused, "glob() chooses options of a group, and seed is no group; list the values"},
  };
}

}  // namespace eggroll::test
