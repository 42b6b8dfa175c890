// What a user can get wrong before a run begins. Each mistake gets one sentence that says what is wrong, what was
// expected and the cure, and a failing exit code; nothing is left behind. The tests of config/ and data/ have the
// sentences of their readers.
#include <sys/stat.h>

#include <sstream>

#include "cli/eggroll_command.h"

namespace eggroll::test {
namespace {

struct Wrong {
  std::string words;                   // TINY: a run of three steps. PLAIN: one that reads a file
  std::vector<std::string> fragments;  // what is wrong, what was expected, the cure
};

const std::vector<Wrong> kWrong = {
    // ---- Keys ----
    {"TINY train.stepz=3", {"command line 'train.stepz=3'", "train", "has no key 'stepz'", "did you mean 'steps'?"}},
    {"TINY +train.stepz=3", {"+train.stepz=3", "unknown key", "stepz", "correct or remove it"}},
    {"TINY +training={steps:3}", {"training", "unknown"}},
    {"TINY +model.depth=3", {"+model.depth=3", "unknown key", "depth", "correct or remove it"}},
    {"TINY optimizer=es_sgd +optimizer.unheard_of=1",
     {"unknown key 'optimizer.unheard_of'", "known: ", "schedule.steps.milestones", "learning_rate"}},
    {"TINY optimizer=sgd", {"optimizer=sgd", "no option 'sgd'", "found: es_adagrad, es_adamw, es_sgd, sign_es"}},
    {"TINY backend=tpu",
     {"backend=tpu", "no option 'tpu'", "found: amx, auto, avx2, avx512, cuda, metal, neon, reference"}},
    {"TINY name=--help", {"name is '--help'", "letters, digits, _ and -, with no - in front"}},

    // ---- Values ----
    {"TINY noise.rank=65", {"noise.rank is 65", "expected an integer from 1 to 64"}},
    {"TINY optimizer.average=1",
     {"command line 'optimizer.average=1'", "optimizer.average is 1", "expected a number from 0.5 to 0.99999"}},
    {"TINY optimizer=es_sgd optimizer.average=ema",
     {"optimizer.average is the text 'ema'", "expected a number from 0.5 to 0.99999"}},
    {"TINY results.dir=3", {"results.dir", "text"}},
    {"TINY plugins.path=here", {"plugins.path", "list"}},
    {"TINY train.population=31", {"train.population is 31", "expected an even number", "use 32"}},
    {"TINY train.members_per_stream=3",
     {"train.members_per_stream is 3", "two members are a pair that reads one stream", "use 4"}},
    {"TINY train.members_per_stream=6",
     {"train.members_per_stream is 6", "a divisor of the population 32", "change one of them"}},
    {"run model=nano_egg model.width=17 dataset.path=text",
     {"model.width", "a product over 17 inputs", "a power of 4", "use such a width"}},
    {"TINY model.width=8192",
     {"accumulator", "layer0.down", "more than an int32 holds (2147483647)",
      "use a smaller width, context, rank or noise amplitude"}},
    {"PLAIN dataset.path=text noise=table noise.table_log2=12 model.width=4096 model.mlp_ratio=1",
     {"noise.table_log2 is 12", "2048 values", "4096", "use a larger table_log2"}},
    {"TINY model.vocab=8", {"outside the model's vocabulary of 8", "a vocabulary of at least 16"}},
    {"TINY dataset.length=5", {"train.tokens is 32", "5 tokens to read", "set train.tokens=5"}},

    // ---- Names ----
    {"TINY backend.name=tpu", {"backend.name=tpu", "unknown backend 'tpu'", "reference"}},
    {"TINY model.name=gruu", {"unknown model 'gruu'", "did you mean 'gru'?"}},
    {"TINY optimizer.name=adam", {"unknown optimizer 'adam'", "known: es_adagrad, es_adamw, es_sgd, sign_es"}},
    {"TINY dataset.name=cuont",
     {"dataset.name is 'cuont'", "one of text, tokens, count, markov", "did you mean 'count'?"}},
    {"TINY fitness.name=rank", {"fitness.name is 'rank'", "one of sign, zscore, centered_rank, difference"}},

    // ---- Files ----
    {"run", {"dataset.path is null", "expected a file", "set dataset.path=FILE"}},
    {"PLAIN dataset.path=nowhere",
     {"dataset.path is '/", "/nowhere', which does not exist", "expected a file that can be read",
      "set dataset.path=FILE"}},
    {"PLAIN dataset.path=pipe", {"/pipe'", "not a regular file", "set dataset.path=FILE"}},
    {"PLAIN dataset.path=short", {"/short'", "holds 27 tokens", "expected at least 33", "set train.tokens=26"}},
    {"PLAIN dataset=tokens dataset.dtype=uint8 dataset.path=text model.vocab=64",
     {"token 73 at position 0", "/text'", "the model's vocabulary of 64", "a vocabulary of at least 122"}},
    {"PLAIN dataset=tokens dataset.dtype=uint8 dataset.path=text dataset.vocabulary=text",
     {"/text'", "no vocabulary", "the first line 'eggroll vocabulary 1'", "tools/prepare_dataset"}},
    {"PLAIN dataset.path=text +dataset.vocabulary=text", {"unknown key", "vocabulary", "correct or remove it"}},

    // ---- Commands ----
    {"resume folder", {"folder is no run", "expected its folder (with a config.yaml", "eggroll ls"}},
    {"replay nowhere", {"nowhere is no run", "expected its folder (with a config.yaml"}},
    {"sample nowhere", {"nowhere is no run", "expected its folder (with a config.yaml"}},
    {"check text", {"text", "cannot be loaded", "rebuild it"}},
    {"check reference --seed -1", {"--seed", "it is '-1', expected a whole number from 0 to"}},
    {"new processes mine", {"no template for plugins of the kind 'processes'", "backend, model, optimizer"}},
    {"new model My-Model", {"'My-Model'", "expected lower_snake"}},
    {"points experiment=thresholds", {"no option 'thresholds'", "did you mean 'threshold-scaling'?"}},
    {"trian", {"trian", "eggroll --help"}},
    {"", {"no command", "eggroll --help"}},
    {"run --fast", {"--fast"}},
    {"resume", {"run"}},
    {"replay folder --steps -1", {"--steps", "-1"}}};

TEST_F(CliTest, BadInputIsOneSentenceAndLeavesNothing) {
  write_plainly(work_ / "text", april_text());
  write_plainly(work_ / "short", april_text(30));
  fs::create_directory(work_ / "folder");
  ::mkfifo((work_ / "pipe").c_str(), 0600);
  const size_t before = entries_in(work_);
  for (const Wrong& wrong : kWrong) {
    SCOPED_TRACE(wrong.words);
    Arguments arguments;
    std::istringstream words(wrong.words);
    for (std::string word; words >> word;) {
      arguments = joined(arguments, word == "TINY"    ? tiny_run({"train.steps=3"})
                                    : word == "PLAIN" ? Arguments{"run", "experiment=plain"}
                                                      : Arguments{word});
    }
    refuses(arguments, wrong.fragments);
    EXPECT_EQ(entries_in(work_), before);
  }
}

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
  refuses({"run", "experiment=plain", "dataset.path=" + path.string()},
          {"dataset.path is '" + path.string() + "'", "which cannot be read", "set dataset.path=FILE"});
  EXPECT_EQ(entries_in(work_), 0U);
}

TEST_F(CliTest, AResultsFolderThatIsAFileIsOneSentence) {
  write_plainly(work_ / "taken", "");
  refuses(tiny_run({"results.dir=taken"}), {"taken", "Not a directory"});
  refuses(tiny_run({"results.dir=/proc/nowhere"}), {"/proc/nowhere"});
  EXPECT_EQ(entries_in(work_), 1U);
}

}  // namespace
}  // namespace eggroll::test
