#include "config/override_table.h"

namespace eggroll::test {
namespace {

using enum Outcome;

const std::string kNoOverride = "this is no override, expected key=value, +key=value, ++key=value or ~key; correct it";
const std::string kMissing = "the value is missing; write null or '' for none";

const std::string kNotNext =
    "paths (configs/config.yaml:12) is a list of 2, expected its next index; write +paths.2=...";

std::string not_yaml(const std::string& reason) {
  return "the value is not YAML: " + reason + "; correct it, or put text in quotes";
}

std::string too_large(const std::string& number) {
  return "the integer " + number + " does not fit 64 bits; use a smaller one, or quotes for text";
}

std::string no_element(const std::string& list, const std::string& key, const std::string& expected) {
  return list + " and has no element '" + key + "', expected " + expected + "; correct the index";
}

std::string no_key(const std::string& key) {
  return "'" + key +
         "' is no key, expected names of letters, digits, _ and -, with single dots or slashes between them and 200 "
         "characters at most; correct it";
}

std::string unknown_function(const std::string& name) {
  return "unknown function '" + name +
         "', expected one of choice, range, glob, interval, int, tag; correct it, or put text in quotes";
}

const std::vector<OverrideRow> kRows = {
    // ---- key=value ----
    {{"train.steps=5"}, kTree, "train.steps: 5"},
    {{" train.steps = 5 "}, kTree, "train.steps: 5"},
    {{"train.steps=\t5\n"}, kTree, "train.steps: 5"},
    {{"seed=1", "seed=2"}, kTree, "seed: 2"},
    {{"steps=5"}, kRefused, "the configuration has no key 'steps'; did you mean 'train.steps'?"},
    {{"exprement=x"}, kRefused, "the configuration has no key 'exprement'; did you mean 'experiment'?"},
    {{"model.widht=3"}, kRefused, "model (configs/model/gru.yaml) has no key 'widht'; did you mean 'width'?"},
    {{"modle.width=3"}, kRefused, "the configuration has no key 'modle'; did you mean 'model'?"},
    {{"train.foo=3"}, kRefused, "train (configs/config.yaml:8) has no key 'foo'; known: steps, rate, tokens"},
    {{"train.steps.x.y=3"},
     kRefused,
     "train.steps (configs/config.yaml:9) is an integer and has no key 'x'; leave '.x.y' out"},
    {{"model.shift.by=3"},
     kRefused,
     "model.shift (configs/model/gru.yaml:5) is null and has no key 'by'; leave '.by' out"},
    {{"+sweep={product: [a]}", "sweep.budget.steps=5"},
     kRefused,
     "sweep (command line '+sweep={product: [a]}') has no key 'budget'; known: product (write +sweep.budget.steps=... "
     "to add it)"},
    {{"+sweep={product: [a]}", "sweep.prodct=[b]"},
     kRefused,
     "sweep (command line '+sweep={product: [a]}') has no key 'prodct'; did you mean 'product'?"},
    {{"train.steps"}, kRefused, kNoOverride},
    {{""}, kRefused, kNoOverride},
    {{"=3"}, kRefused, no_key("")},
    {{"--seed=3"}, kRefused, no_key("--seed")},
    {{"seed.=3"}, kRefused, no_key("seed.")},
    {{"train..steps=3"}, kRefused, no_key("train..steps")},
    {{"train steps=3"}, kRefused, no_key("train steps")},
    {{"s\u00e9ed=3"}, kRefused, no_key("s\u00e9ed")},
    {{"paths.-1=c"}, kRefused, no_key("paths.-1")},
    {{"seed="}, kRefused, kMissing},

    // ---- Integers, reals, booleans, null ----
    {{"seed=9223372036854775808"}, kRefused, too_large("9223372036854775808")},
    {{"seed='5'"}, kRefused, "seed is an integer (configs/config.yaml:7), got the text '5'; give an integer"},
    {{"seed=1.5"}, kTree, "seed: 1.5"},
    {{"seed=1.0"}, kTree, "seed: 1"},
    {{"seed=1e3"}, kTree, "seed: 1000"},
    {{"seed=-2e0"}, kTree, "seed: -2"},
    {{"seed=1e18"}, kTree, "seed: 1000000000000000000"},
    {{"seed=1e19"}, kTree, "seed: 1e+19"},
    {{"model.shift=1e1"}, kTree, "model.shift: 10"},
    {{"seed=${train.steps}", "seed=2.0"}, kTree, "seed: 2"},
    {{"train.rate=2"}, kTree, "train.rate: 2.0"},
    {{"train.rate=-0.0"}, kTree, "train.rate: -0.0"},
    {{"train.rate=9007199254740993"}, kTree, "train.rate: 9007199254740992.0"},
    {{"train.rate=1e999"}, kRefused, "the real 1e999 does not fit 64 bits; use another, or quotes for text"},
    {{"model.tied=true"}, kTree, "model.tied: true"},
    {{"model.tied=yes"},
     kRefused,
     "model.tied is a boolean (configs/model/gru.yaml:4), got the text 'yes'; give true or false"},
    {{"model.shift=3"}, kTree, "model.shift: 3"},
    {{"model.shift=~"}, kTree, ""},
    {{"model=nano", "model.shift=null"}, kTree, "model.width: 256"},
    {{"train.steps=null"},
     kRefused,
     "train.steps is an integer (configs/config.yaml:9), got null; it cannot be null, give an integer"},

    // ---- Text, with quotes and without ----
    {{"name=a b: c #d"}, kTree, R"(name: "a b: c #d")"},
    {{"name=x=[a,b]"}, kTree, R"(name: "x=[a,b]")"},
    {{"name=/data/a-b_1.txt"}, kTree, "name: /data/a-b_1.txt"},
    {{"name=*x"}, kTree, R"(name: "*x")"},
    {{"name=- &x !y"}, kTree, R"(name: "- &x !y")"},
    {{"name=f (x)"}, kTree, "name: \"f (x)\""},
    {{"name=a[1]"}, kTree, R"(name: "a[1]")"},
    {{"name=\u65e5\u672c"}, kTree, "name: \"\u65e5\u672c\""},
    {{"name=''"}, kTree, R"(name: "")"},
    {{"name='it''s, 5'"}, kTree, R"(name: "it's, 5")"},
    {{R"(name='a\tb')"}, kTree, R"(name: "a\\tb")"},
    {{R"(name="a\tb")"}, kTree, R"(name: "a\tb")"},
    {{R"(name="say \"x\", \\")"}, kTree, R"(name: "say \"x\", \\")"},
    {{R"(name='a\,b')"}, kTree, R"(name: "a\\,b")"},
    {{R"(name='C:\')"}, kTree, R"(name: "C:\\")"},
    {{R"(name=C:\dir\)"}, kTree, R"(name: "C:\\dir\\")"},
    {{R"(name=a\ b)"},
     kRefused,
     R"(the backslash of a\ b is a character like any other; put the text in quotes, without backslashes)"},
    {{"seed=int(3),int(4)"}, kRefused, "int(3) stands in a list of values, expected values; write the value alone"},
    {{R"(name="\x41\u00e9")"}, kTree, "name: \"A\u00e9\""},
    {{"name='a"}, kRefused, not_yaml("a quote is not closed")},
    {{R"(name="\q")"}, kRefused, not_yaml("unknown escape character: q")},
    {{"name='a' b"}, kRefused, "a second document or stray text begins here, expected one document; remove it"},
    {{"name='a': b"}, kRefused, "expected one value, [list] or {map}; put text in quotes"},
    {{"name=\xff"}, kRefused, "the text is not UTF-8; convert it, or rename the file that it names"},

    // ---- Lists and their indices ----
    {{"paths=[]"}, kTree, "paths: []"},
    {{"paths=[a, 'b, c', 3, null, true, 1e2]"}, kTree, R"(paths: [a, "b, c", 3, null, true, 100.0])"},
    {{"dataset.path=[[1, 2], [], {b: 3}]"}, kTree, "dataset.path: [[1, 2], [], {b: 3}]"},
    {{"paths.0=c"}, kTree, "paths: [c, b]"},
    {{"rows.0.x=2"}, kTree, "rows: [{x: 2}]"},
    {{"+a=[int(1)]"}, kTree, "a: [\"int(1)\"]"},
    {{"paths=a"}, kRefused, "paths is a list (configs/config.yaml:12), got the text 'a'; give a list"},
    {{"paths=[a"}, kRefused, not_yaml("end of sequence flow not found")},
    {{"paths=[a]]"}, kRefused, not_yaml("illegal flow end")},
    {{"paths.2=c"},
     kRefused,
     no_element("paths (configs/config.yaml:12) is a list of 2", "2", "0 to 1") + " (write +paths.2=... to add it)"},
    {{"paths.3=c"}, kRefused, no_element("paths (configs/config.yaml:12) is a list of 2", "3", "0 to 1")},
    {{"paths.00=c"}, kRefused, no_element("paths (configs/config.yaml:12) is a list of 2", "00", "0 to 1")},
    {{"rows.y=c"}, kRefused, no_element("rows (configs/config.yaml:13) is a list of 1", "y", "0")},
    {{"paths=[]", "paths.0=c"},
     kRefused,
     "paths (command line 'paths=[]') is an empty list and has no element '0'; write the whole list (write "
     "+paths.0=... to add it)"},
    {{"paths.0=3"}, kRefused, "paths.0 is text (configs/config.yaml:12), got the integer 3; give text"},
    {{"paths.0.x=3"}, kRefused, "paths.0 (configs/config.yaml:12) is text and has no key 'x'; leave '.x' out"},

    // ---- Maps ----
    {{"train={steps: 1, rate: 2}"}, kTree, "train.steps: 1; train.rate: 2.0"},
    {{"train={}"}, kTree, ""},
    {{"dataset.path={a: 1, b: {c: }}"}, kTree, "dataset.path.a: 1; dataset.path.b.c: null; ~dataset.path"},
    {{"train=5"},
     kRefused,
     "train is a map (configs/config.yaml:8), got the integer 5; change its keys: steps, rate, tokens"},
    {{"train={stepz: 3}"}, kRefused, "train (configs/config.yaml:8) has no key 'stepz'; did you mean 'steps'?"},
    {{"+a={b: 1"}, kRefused, not_yaml("end of map flow not found")},
    {{"+a={b: 1, b: 2}"}, kRefused, "the key 'b' is given twice; remove one"},
    {{"+a={b, c: }"}, kTree, "a.b: null; a.c: null"},
    {{"+a={b:1,c:2}"}, kTree, "a.b: 1; a.c: 2"},
    {{"+a=[{b:300},{b:600,c:0.5}]"}, kTree, "a: [{b: 300}, {b: 600, c: 0.5}]"},
    {{"+a={b:{c:1,d:[e:1,{f:2}]},g:3}"}, kTree, "a.b.c: 1; a.b.d: [\"e:1\", {f: 2}]; a.g: 3"},
    {{"+a={b:}"}, kTree, "a.b: null"},
    {{"+a={b:'x:y, {z:1}',\"c\":1,'d''e':2}"}, kTree, "a.b: \"x:y, {z:1}\"; a.c: 1; a.d'e: 2"},
    {{"+a={b:http://x:80/y,c d:1:2}"}, kTree, "a.b: \"http://x:80/y\"; a.c d: \"1:2\""},
    {{"+a={b:'${seed}',c:\"${env:EGGROLL_TEST_NONE,5}\"}"}, kTree, "a.b: 7; a.c: 5"},

    // ---- +key=value ----
    {{"+train.extra=1"}, kTree, "train.extra: 1"},
    {{"+a.b.c.d.e.f.g.h=x"}, kTree, "a.b.c.d.e.f.g.h: x"},
    {{"+a={b: [1]}"}, kTree, "a.b: [1]"},
    {{"+a-b.1_=null"}, kTree, "a-b.1_: null"},
    {{"+a=1", "a=2"}, kTree, "a: 2"},
    {{"+model.shift.by=1"}, kTree, "model.shift.by: 1; ~model.shift"},
    {{"+paths.2=c"}, kTree, "paths: [a, b, c]"},
    {{"+rows.0.y.z=3"}, kTree, "rows: [{x: 1, y: {z: 3}}]"},
    {{"+paths.2=null", "+paths.2.y=3"}, kTree, "paths: [a, b, {y: 3}]"},
    {{"+train.steps=3"},
     kRefused,
     "train.steps is there already (configs/config.yaml:9); write train.steps=... without the + to change it"},
    {{"+train.steps.x=3"},
     kRefused,
     "train.steps is an integer (configs/config.yaml:9), expected a map of keys; choose another key"},
    {{"+paths.3=c"}, kRefused, kNotNext},
    {{"+rows.1.x=2"}, kRefused, "rows is a list (configs/config.yaml:13), expected a map of keys; choose another key"},
    {{"+a/b=c"}, kRefused, "the configuration has no group 'a/b'; write a key with dots"},
    {{"+++a=1"}, kRefused, no_key("+a")},

    // ---- ++key=value ----
    {{"++train.steps=x"}, kTree, "train.steps: x"},
    {{"++train.rate=2"}, kTree, "train.rate: 2"},
    {{"++train.steps=1e3"}, kTree, "train.steps: 1000"},
    {{"++train.steps=1.5"}, kTree, "train.steps: 1.5"},
    {{"++train.new.deep=1"}, kTree, "train.new.deep: 1"},
    {{"++train={steps: x, new: 1}"}, kTree, "train.steps: x; train.new: 1"},
    {{"++train=5"}, kTree, "train: 5; ~train.steps; ~train.rate; ~train.tokens"},
    {{"++paths.1={x: 1}"}, kTree, "paths: [a, {x: 1}]"},
    {{"++paths.2=5"}, kTree, "paths: [a, b, 5]"},
    {{"++name.x=1"}, kRefused, "name is text (configs/config.yaml:6), expected a map of keys; choose another key"},

    // ---- ~key and ~key=value ----
    {{"~train.rate"}, kTree, "~train.rate"},
    {{"~train"}, kTree, "~train.steps; ~train.rate; ~train.tokens"},
    {{"~seed", "+seed=x"}, kTree, "seed: x"},
    {{"~paths.0"}, kTree, "paths: [b]"},
    {{"+rows.0.y=2", "~rows.0.x"}, kTree, "rows: [{y: 2}]"},
    {{"~train.rate=5e-1"}, kTree, "~train.rate"},
    {{"~name='run'"}, kTree, "~name"},
    {{"~paths=[a, b]"}, kTree, "~paths"},
    {{"~dataset.path=null"}, kTree, "~dataset.path"},
    {{"~train.step"}, kRefused, "train (configs/config.yaml:8) has no key 'step'; did you mean 'steps'?"},
    {{"~paths.2"}, kRefused, no_element("paths (configs/config.yaml:12) is a list of 2", "2", "0 to 1")},
    {{"~train.tokens=32.0"}, kTree, "~train.tokens"},
    {{"~train.steps=800.5"},
     kRefused,
     "train.steps is the integer 800 (configs/config.yaml:9), and so is not deleted; write ~train.steps to delete it "
     "whatever it is"},
    {{"~train.rate", "train.rate=1"},
     kRefused,
     "train (configs/config.yaml:8) has no key 'rate', because command line '~train.rate' deleted it; remove that "
     "override"},
    {{"~train", "name=${train.steps}"},
     kRefused,
     "name refers to 'train.steps', but the configuration has no key 'train', because command line '~train' deleted "
     "it; remove that override"},
    {{"model=null", "seed=${model.width}"},
     kRefused,
     "seed refers to 'model.width', but the configuration has no key 'model', because command line 'model=null' "
     "deleted it; remove that override"},
    {{"~train.steps="}, kRefused, kMissing},
    {{"~"}, kRefused, no_key("")},

    // ---- Groups ----
    {{"model=nano"}, kTree, "model.width: 256; model.shift: 8"},
    {{"dataset.length=5", "dataset=count"},
     kTree,
     "dataset.name: count; dataset.length: 5; dataset.seed: 7; ~dataset.path"},
    {{"dataset=count", "dataset=text"}, kTree, ""},
    {{"dataset=null"}, kTree, "~dataset.name; ~dataset.path"},
    {{"~dataset=text"}, kTree, "~dataset.name; ~dataset.path"},
    {{"+extra=fast"}, kTree, "extra.x: 1"},
    {{"++extra=global"}, kTree, "y: 2"},
    {{"+experiment=count", "dataset=text"}, kTree, "name: count; train.steps: 150"},
    {{"experiment=count", "~experiment"}, kTree, ""},
    {{"model=grru"}, kRefused, "model has no option 'grru' in configs/model (found: gru, nano); did you mean 'gru'?"},
    {{"model=../model/gru"}, kRefused, "model has no option '../model/gru' in configs/model (found: gru, nano)"},
    {{"model=${name}"}, kRefused, "model has no option '${name}' in configs/model (found: gru, nano)"},
    {{"model@teacher=nano"}, kRefused, no_key("model@teacher")},
    {{"model='null'"}, kRefused, "model has no option 'null' in configs/model (found: gru, nano)"},
    {{"model="}, kRefused, kMissing},
    {{"model=''"}, kRefused, "the option of group 'model' is the text '', expected its name; correct it"},
    {{"model=[gru]"}, kRefused, "the option of group 'model' is a list, expected its name; correct it"},
    {{"experiment=cuont"},
     kRefused,
     "experiment has no option 'cuont' in experiments (found: count); did you mean 'count'?"},
    {{"+model=gru"}, kRefused, "model is chosen already (configs/config.yaml:3); write model=gru"},
    {{"extra=fast"}, kRefused, "config.yaml's defaults list has no group 'extra'; write +extra=fast to add it"},
    {{"~extra"}, kRefused, "config.yaml's defaults list has no group 'extra'; remove it"},
    {{"~model=nano"},
     kRefused,
     "model is 'gru' (configs/config.yaml:3), and so is not deleted; write ~model to delete it whatever it is"},
    {{"~experiment"},
     kRefused,
     "the experiment is not chosen, so this override does not delete it; remove the override"},
    {{"model/head=gru"}, kRefused, "the configuration has no group 'model/head'; write a key with dots"},

    // ---- ${...} in values ----
    {{"seed=${train.steps}"}, kTree, "seed: 800"},
    {{"seed='${train.steps}'"}, kTree, "seed: 800"},
    {{"name=${name}-${seed}"}, kRefused, "name refers to itself (name -> name); give one of them a value"},
    {{"dataset.path=${name}/${seed}"}, kTree, "dataset.path: run/7"},
    {{"paths.0=${paths.1}"}, kTree, "paths: [b, b]"},
    {{"+a=${rows}"}, kTree, "a: [{x: 1}]"},
    {{"+b=${train.${a}}"},
     kRefused,
     "b has a ${ within ${train.${a}, expected ${a.b} with a path from the top, or ${env:NAME}"},
    {{"train=${seed}"},
     kRefused,
     "train is a map (configs/config.yaml:8), got the text '${seed}'; change its keys: steps, rate, tokens"},
    {{"seed=${sed}"}, kRefused, "seed refers to 'sed', but the configuration has no key 'sed'; did you mean 'seed'?"},
    {{"name=${evn:HOME}"},
     kRefused,
     "name holds '${evn:HOME}', expected ${a.b} with a path from the top, or ${env:NAME}; did you mean 'env'?"},

    // ---- Functions ----
    {{"seed=int(3.9)"}, kRefused, "int() holds 3.9, expected an interval; write int(interval(low, high))"},
    {{"seed=choice()"}, kRefused, "choice() is empty, expected a value in it; give one"},
    {{"seed=range(1"}, kRefused, "the parenthesis of range( is not closed; add the )"},
    {{"seed=range(1)x"}, kRefused, "'x' follows range(1); remove it, or put text in quotes"},
    {{"seed=Int(1)"}, kRefused, unknown_function("Int")},
    {{"name=f(x)"}, kRefused, unknown_function("f")},
    {{"paths=sort([b, a])"}, kRefused, unknown_function("sort")},
};

}  // namespace

const std::vector<OverrideRow>& override_table() {
  static const std::vector<OverrideRow> all = [] {
    std::vector<OverrideRow> rows = kRows;
    const std::vector<OverrideRow> sweeps = sweep_rows();
    rows.insert(rows.end(), sweeps.begin(), sweeps.end());
    return rows;
  }();
  return all;
}

}  // namespace eggroll::test
