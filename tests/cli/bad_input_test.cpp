// What a user can get wrong before a run begins. Each mistake gets one sentence that says what is wrong, what was
// expected and the cure, and a failing exit code; nothing is left behind.
#include <sys/stat.h>

#include "cli/eggroll_command.h"

namespace eggroll::test {
namespace {

struct Wrong {
  const char* name;
  Arguments arguments;
  std::vector<std::string> fragments;  // what is wrong, what was expected, the cure
};

void PrintTo(const Wrong& wrong, std::ostream* out) { *out << testing::PrintToString(wrong.arguments); }

std::string name_of(const testing::TestParamInfo<Wrong>& parameter) { return parameter.param.name; }

class BadInput : public CliTest, public testing::WithParamInterface<Wrong> {
 protected:
  BadInput() {
    write_plainly(work_ / "empty", "");
    write_plainly(work_ / "two_bytes", "ab");
    std::string text;
    while (text.size() < 4000) text += "It was a bright cold day in April. ";
    text.resize(4000);
    write_plainly(work_ / "text", text);
    write_plainly(work_ / "short", text.substr(0, 30));
    write_plainly(work_ / "odd", text.substr(0, 333));
    fs::create_directory(work_ / "folder");
    ::mkfifo((work_ / "pipe").c_str(), 0600);
  }
};

TEST_P(BadInput, IsOneSentenceAndLeavesNothing) {
  const size_t before = entries_in(work_);
  expect_one_sentence(eggroll(GetParam().arguments), GetParam().fragments);
  EXPECT_EQ(entries_in(work_), before);
  EXPECT_FALSE(fs::exists(work_ / "results"));
}

// The tiny run with one more override.
Arguments tiny(const Arguments& more) {
  Arguments all = {"run", "experiment=count", "model.width=16", "train.population=32", "train.steps=3"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

INSTANTIATE_TEST_SUITE_P(
    Keys, BadInput,
    testing::Values(
        Wrong{"UnknownKey",
              tiny({"train.stepz=3"}),
              {"command line 'train.stepz=3'", "train", "has no key 'stepz'", "did you mean 'steps'?"}},
        Wrong{"UnknownTopKey", tiny({"stepz=3"}), {"no key 'stepz'", "did you mean 'stop'?"}},
        Wrong{"AddedKeyNobodyReads",
              tiny({"+train.stepz=3"}),
              {"+train.stepz=3", "unknown key", "stepz", "correct or remove it"}},
        Wrong{"AddedSection", tiny({"+training={steps: 3}"}), {"training", "unknown"}},
        Wrong{"AddedModelKey",
              tiny({"+model.depth=3"}),
              {"+model.depth=3", "unknown key", "depth", "correct or remove it"}},
        Wrong{"KeysThatAnOptimizerKnows",
              tiny({"optimizer=es_sgd", "+optimizer.unheard_of=1"}),
              {"unknown key 'optimizer.unheard_of'", "known: ", "schedule.steps.milestones", "learning_rate"}},
        Wrong{"DeletedKey",
              tiny({"~train.members_per_stream"}),
              {"missing key", "train.members_per_stream", "expected an integer", "add it"}},
        Wrong{"UnknownGroup", tiny({"train/x=3"}), {"train/x=3", "has no group 'train/x'", "write a key with dots"}},
        Wrong{"UnknownExperiment",
              {"run", "experiment=cuont"},
              {"experiment=cuont", "has no option 'cuont'", "did you mean 'count'?"}},
        Wrong{"UnknownModel", tiny({"model=gruu"}), {"model=gruu", "no option 'gruu'", "did you mean 'gru'?"}},
        Wrong{"UnknownOptimizer",
              tiny({"optimizer=sgd"}),
              {"optimizer=sgd", "no option 'sgd'", "found: es_adagrad, es_adamw, es_sgd, sign_es"}},
        Wrong{"UnknownBackend",
              tiny({"backend=tpu"}),
              {"backend=tpu", "no option 'tpu'", "found: amx, auto, avx2, avx512, cuda, metal, neon, reference"}},
        Wrong{"UnknownDataset", tiny({"dataset=txt"}), {"dataset=txt", "no option 'txt'", "did you mean 'text'?"}},
        Wrong{"UnknownNoise", tiny({"noise=tabel"}), {"noise=tabel", "no option 'tabel'", "did you mean 'table'?"}},
        Wrong{"UnknownFitness", tiny({"fitness=zsore"}), {"no option 'zsore'", "did you mean 'zscore'?"}},
        Wrong{"NoOverride",
              tiny({"train.steps"}),
              {"train.steps", "expected key=value, +key=value, ++key=value or ~key", "correct it"}},
        Wrong{"NameLikeAnOption",
              tiny({"name=--help"}),
              {"name is '--help'", "letters, digits, _ and -, with no - in front"}},
        Wrong{"SeedBelowZero",
              {"check", "reference", "--seed", "-1"},
              {"--seed", "it is '-1', expected a whole number from 0 to"}},
        Wrong{"NotYaml", tiny({"name='open"}), {"name='open", "not YAML", "put text in quotes"}},
        Wrong{"OpenList", tiny({"train.steps=["}), {"train.steps=[", "not YAML"}},
        Wrong{"Interpolation", tiny({"name=${nme}"}), {"nme", "did you mean 'name'?"}}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Types, BadInput,
    testing::Values(
        Wrong{"TextForInteger", tiny({"train.steps=ten"}), {"train.steps", "an integer", "'ten'", "give an integer"}},
        Wrong{"RealForInteger", tiny({"train.steps=1.5"}), {"train.steps is 1.5", "expected an integer of at least 1"}},
        Wrong{"NoSteps", tiny({"train.steps=0"}), {"train.steps is 0", "expected an integer of at least 1"}},
        Wrong{"NegativeSeed", tiny({"seed=-1"}), {"seed is -1", "expected an integer of at least 0"}},
        Wrong{"HugeSeed",
              tiny({"seed=99999999999999999999"}),
              {"seed=99999999999999999999", "does not fit 64 bits", "use a smaller one"}},
        Wrong{"IntegerForBoolean", tiny({"model.tied_head=1"}), {"model.tied_head", "true or false"}},
        Wrong{
            "UnknownChoice", tiny({"model.rounding=up"}), {"model.rounding is 'up'", "expected one of floor, nearest"}},
        Wrong{"NullChoice", tiny({"noise.distribution=null"}), {"noise.distribution is text", "got null", "give text"}},
        Wrong{"RankTooLarge", tiny({"noise.rank=65"}), {"noise.rank is 65", "expected an integer from 1 to 64"}},
        Wrong{"ClipTooSmall",
              tiny({"fitness=zscore", "fitness.clip=0"}),
              {"fitness.clip is 0", "expected a number from 0.1 to 100"}},
        Wrong{
            "AverageTooLarge",
            tiny({"optimizer.average=1"}),
            {"command line 'optimizer.average=1'", "optimizer.average is 1", "expected a number from 0.5 to 0.99999"}},
        Wrong{"AverageIsAText",
              tiny({"optimizer=es_sgd", "optimizer.average=ema"}),
              {"optimizer.average is the text 'ema'", "expected a number from 0.5 to 0.99999"}},
        Wrong{"NameIsAPath", tiny({"name=a/b"}), {"name is 'a/b'", "expected 1 to 80 letters, digits, _ and -"}},
        Wrong{"SectionIsANumber", tiny({"train=3"}), {"train is a map", "got the integer 3", "change its keys"}},
        Wrong{"ResultsIsANumber", tiny({"results.dir=3"}), {"results.dir", "text"}},
        Wrong{"PluginPathIsAText", tiny({"plugins.path=here"}), {"plugins.path", "list"}}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Plugins, BadInput,
    testing::Values(
        Wrong{"ForcedBackend", tiny({"backend.name=tpu"}), {"backend.name=tpu", "unknown backend 'tpu'", "reference"}},
        Wrong{"Model", tiny({"model.name=gruu"}), {"unknown model 'gruu'", "did you mean 'gru'?"}},
        Wrong{"Optimizer",
              tiny({"optimizer.name=adam"}),
              {"unknown optimizer 'adam'", "known: es_adagrad, es_adamw, es_sgd, sign_es"}},
        Wrong{"DatasetName",
              tiny({"dataset.name=cuont"}),
              {"dataset.name is 'cuont'", "one of text, tokens, count, markov", "did you mean 'count'?"}},
        Wrong{"FitnessName",
              tiny({"fitness.name=rank"}),
              {"fitness.name is 'rank'", "one of sign, zscore, centered_rank, difference"}}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Shapes, BadInput,
    testing::Values(
        Wrong{"OddPopulation",
              tiny({"train.population=31"}),
              {"train.population is 31", "expected an even number", "use 32"}},
        Wrong{"StreamSplitsAPair",
              tiny({"train.members_per_stream=3"}),
              {"train.members_per_stream is 3", "two members are a pair that reads one stream", "use 4"}},
        Wrong{"GroupDoesNotDivide",
              tiny({"train.members_per_stream=6"}),
              {"train.members_per_stream is 6", "a divisor of the population 32", "change one of them"}},
        Wrong{"NoWidth", tiny({"model.width=0"}), {"model.width is 0", "expected an integer from 1 to 16384"}},
        Wrong{"WidthTheShiftCannotTake",
              {"run", "model=nano_egg", "model.width=17", "dataset.path=text"},
              {"model.width", "a product over 17 inputs", "a power of 4", "use such a width"}},
        Wrong{"AccumulatorOverflow",
              tiny({"model.width=8192"}),
              {"accumulator", "layer0.down", "more than an int32 holds (2147483647)",
               "use a smaller width, context, rank or noise amplitude"}},
        Wrong{"NoiseTableTooShort",
              {"run", "experiment=plain", "dataset.path=text", "noise=table", "noise.table_log2=12", "model.width=4096",
               "model.mlp_ratio=1"},
              {"noise.table_log2 is 12", "2048 values", "4096", "use a larger table_log2"}},
        Wrong{"VocabularyTooSmall",
              tiny({"model.vocab=8"}),
              {"outside the model's vocabulary of 8", "a vocabulary of at least 16"}},
        Wrong{"RowsOfAnotherLength",
              tiny({"dataset.length=5"}),
              {"train.tokens is 32", "5 tokens to read", "set train.tokens=5"}}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Datasets, BadInput,
    testing::Values(
        Wrong{"NoPath", {"run"}, {"dataset.path is null", "expected a file", "set dataset.path=FILE"}},
        Wrong{"Missing",
              {"run", "experiment=plain", "dataset.path=nowhere"},
              {"dataset.path is '/", "/nowhere', which does not exist", "expected a file that can be read",
               "set dataset.path=FILE"}},
        Wrong{"Empty",
              {"run", "experiment=plain", "dataset.path=empty"},
              {"/empty'", "which is empty", "set dataset.path=FILE"}},
        Wrong{"Directory",
              {"run", "experiment=plain", "dataset.path=folder"},
              {"/folder'", "which is a directory", "set dataset.path=FILE"}},
        Wrong{"Pipe",
              {"run", "experiment=plain", "dataset.path=pipe"},
              {"/pipe'", "not a regular file", "set dataset.path=FILE"}},
        Wrong{"TwoBytes",
              {"run", "experiment=plain", "dataset.path=two_bytes"},
              {"/two_bytes'", "expected at least 2 of each", "use a longer file"}},
        Wrong{"ShorterThanAStep",
              {"run", "experiment=plain", "dataset.path=short"},
              {"/short'", "holds 27 tokens", "expected at least 33", "set train.tokens=26"}},
        Wrong{"MissingHeldOut",
              {"run", "experiment=plain", "dataset.path=text", "dataset.valid_path=nowhere"},
              {"dataset.valid_path is '/", "/nowhere', which does not exist", "set dataset.valid_path=FILE"}},
        Wrong{"NothingHeldOut",
              {"run", "experiment=plain", "dataset.path=text", "dataset.valid_fraction=0"},
              {"dataset.valid_fraction is 0", "above 0 and below 1", "set it to 0.1"}},
        Wrong{"MoreThanAllHeldOut",
              {"run", "experiment=plain", "dataset.path=text", "dataset.valid_fraction=1.5"},
              {"dataset.valid_fraction is 1.5", "above 0 and below 1", "set it to 0.1"}},
        Wrong{"SeparatorThatIsNotThere",
              {"run", "experiment=plain", "dataset.path=text", "dataset.separator=200"},
              {"dataset.separator is 200", "does not hold", "set dataset.separator=null"}},
        Wrong{
            "TokenOutOfVocabulary",
            {"run", "experiment=plain", "dataset=tokens", "dataset.dtype=uint8", "dataset.path=text", "model.vocab=64"},
            {"token 73 at position 0", "/text'", "the model's vocabulary of 64", "a vocabulary of at least 122"}},
        Wrong{"HalfAToken",
              {"run", "experiment=plain", "dataset=tokens", "dataset.dtype=uint16", "dataset.path=odd"},
              {"/odd'", "333 bytes", "whole uint16 tokens", "correct dataset.dtype or the file"}},
        Wrong{"WrongWidth",
              {"run", "experiment=plain", "dataset=tokens", "dataset.dtype=uint32", "dataset.path=text"},
              {"/text'", "expected tokens below 16777216", "dataset.dtype"}},
        Wrong{"NoVocabulary",
              {"run", "experiment=plain", "dataset=tokens", "dataset.dtype=uint8", "dataset.path=text",
               "dataset.vocabulary=nowhere"},
              {"dataset.vocabulary is '/", "/nowhere', which does not exist", "set dataset.vocabulary=FILE"}},
        Wrong{"VocabularyOfAnotherKind",
              {"run", "experiment=plain", "dataset=tokens", "dataset.dtype=uint8", "dataset.path=text",
               "dataset.vocabulary=text"},
              {"/text'", "no vocabulary", "the first line 'eggroll vocabulary 1'", "tools/prepare_dataset"}},
        Wrong{"TextHasNoVocabulary",
              {"run", "experiment=plain", "dataset.path=text", "+dataset.vocabulary=text"},
              {"unknown key", "vocabulary", "correct or remove it"}},
        Wrong{"NoNpy",
              {"run", "experiment=plain", "dataset=tokens", "dataset.dtype=npy", "dataset.path=text"},
              {"/text'", "not a .npy file", "set dataset.dtype"}},
        Wrong{"UnknownDtype",
              {"run", "experiment=plain", "dataset=tokens", "dataset.dtype=int8", "dataset.path=text"},
              {"dataset.dtype is 'int8'", "one of uint8, uint16, uint32, npy"}}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Arguments, BadInput,
    testing::Values(
        Wrong{"ResumeNothing",
              {"resume", "folder"},
              {"folder is no run", "expected its folder (with a config.yaml", "eggroll ls"}},
        Wrong{"ReplayNothing", {"replay", "nowhere"}, {"nowhere is no run", "expected its folder (with a config.yaml"}},
        Wrong{"SampleNothing", {"sample", "nowhere"}, {"nowhere is no run", "expected its folder (with a config.yaml"}},
        Wrong{"CheckNothing",
              {"check", "nothing"},
              {"no plugin 'nothing'", "expected a name that `eggroll plugins` lists", "give its file"}},
        Wrong{"CheckNoLibrary", {"check", "text"}, {"text", "cannot be loaded", "rebuild it"}},
        Wrong{"NewKind",
              {"new", "thing", "mine"},
              {"no template for plugins of the kind 'thing'", "backend, model, optimizer"}},
        Wrong{"NewProcesses",
              {"new", "processes", "mine"},
              {"no template for plugins of the kind 'processes'", "backend, model, optimizer"}},
        Wrong{"NewName", {"new", "model", "My-Model"}, {"'My-Model'", "expected lower_snake"}},
        Wrong{"NewOverAFolder", {"new", "model", "mine", "--into", "folder"}, {"folder", "exists"}},
        Wrong{"ShowUnknown", {"show", "model=gruu"}, {"no option 'gruu'", "did you mean 'gru'?"}},
        Wrong{"PlanUnknown",
              {"points", "experiment=thresholds"},
              {"no option 'thresholds'", "did you mean 'threshold-scaling'?"}},
        Wrong{"ConfigUnknown", {"config", "train.stepz=1"}, {"no key 'stepz'", "did you mean 'steps'?"}},
        Wrong{"UnknownCommand", {"trian"}, {"trian", "eggroll --help"}},
        Wrong{"NoCommand", {}, {"no command", "eggroll --help"}}, Wrong{"UnknownOption", {"run", "--fast"}, {"--fast"}},
        Wrong{"NoRun", {"resume"}, {"run"}},
        Wrong{"NegativeSteps", {"replay", "folder", "--steps", "-1"}, {"--steps", "-1"}},
        Wrong{"Temperature", {"sample", "folder", "--temperature", "hot"}, {"--temperature", "hot"}}),
    name_of);

TEST_F(CliTest, NoConfigurationIsOneSentence) {
  const Result result = Process(work_, {EGGROLL_BIN_DIR "/eggroll", "run"}).wait();
  expect_one_sentence(result, {"no config.yaml was found", "./configs", "give --config-dir"});
  const Result missing = Process(work_, {EGGROLL_BIN_DIR "/eggroll", "--config-dir", "nowhere", "run"}).wait();
  expect_one_sentence(missing, {"--config-dir nowhere", "expected one with configuration files"});
}

// This file can be opened and has a size, but cannot be mapped. The test takes it because root may read all other
// files.
TEST_F(CliTest, AnUnreadableDatasetIsOneSentence) {
  const fs::path path = "/sys/devices/system/cpu/online";
  if (!fs::exists(path)) GTEST_SKIP() << path << " is not there";
  expect_one_sentence(eggroll({"run", "experiment=plain", "dataset.path=" + path.string()}),
                      {"dataset.path is '" + path.string() + "'", "which cannot be read", "set dataset.path=FILE"});
  EXPECT_EQ(entries_in(work_), 0U);
}

TEST_F(CliTest, AResultsFolderThatIsAFileIsOneSentence) {
  write_plainly(work_ / "taken", "");
  expect_one_sentence(eggroll(tiny_run({"results.dir=taken"})), {"taken", "Not a directory"});
  expect_one_sentence(eggroll(tiny_run({"results.dir=/proc/nowhere"})), {"/proc/nowhere"});
  EXPECT_EQ(entries_in(work_), 1U);
}

}  // namespace
}  // namespace eggroll::test
