// Each dataset of datasets.h has a row here: its options and a known answer.
#include "data/datasets.h"

#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "config/compose.h"
#include "helpers.h"
#include "train/setup.h"

namespace eggroll::tests {
namespace {

using testing::UnorderedElementsAreArray;

const std::filesystem::path kConfigs = std::filesystem::path(EGGROLL_SOURCE_DIR) / "configs";

class Datasets : public FilesTest {};

TEST_F(Datasets, EachHasItsOptions) {
  std::vector<std::string> options;
  for (const auto& file : std::filesystem::directory_iterator(kConfigs / "dataset")) {
    options.push_back(file.path().stem().string());
  }
  EXPECT_THAT(options, UnorderedElementsAreArray(dataset_names()))
      << "left: configs/dataset/*.yaml, right: core/data/datasets.h";
  for (const std::string& option : options) {
    const ConfigNode config = compose(ConfigSearch{{kConfigs}}, {"dataset=" + option});
    EXPECT_EQ(scalar_text(config.at("dataset").at("name")), option);
    EXPECT_NO_THROW(check_dataset_of(config)) << option;
  }
}

struct Answer {
  Options options;
  std::string train;  // the first tokens
  std::string valid;
};

// A row for each dataset; those of count and markov are from known_answers.py.
TEST_F(Datasets, EachHasAKnownAnswer) {
  const std::map<std::string, Answer> answers = {
      {"text", {Options("text").set("path", write("a.txt", "abcd")).set("valid_fraction", 0.5), "97 98", "99 100"}},
      {"tokens",
       {Options("tokens").set("path", write("a.bin", std::string("\1\2\3\0\4\0", 6))).set("valid_path", path("a.bin")),
        "513 3 4", "513 3 4"}},
      {"count",
       {Options("count").set("length", 8).set("rows", 100).set("valid_rows", 10).set("seed", 7), "10 11 12 13",
        "8 9 10 11"}},
      {"markov",
       {Options("markov").set("vocab", 8).set("tokens", 1000).set("valid_tokens", 500).set("seed", 7), "4 1 6 0",
        "0 7 3 5"}},
  };
  for (const std::string& name : dataset_names()) {
    const auto known = answers.find(name);
    if (known == answers.end()) {
      ADD_FAILURE() << "no known answer for the dataset '" << name << "', expected a row of this table; add one";
      continue;
    }
    const Dataset dataset = known->second.options.open();
    const auto first = [](const Tokens& tokens) {
      return fmt::format("{}", fmt::join(list_of(tokens.part(0, std::min<uint64_t>(tokens.size(), 4))), " "));
    };
    EXPECT_EQ(dataset.name, name);
    EXPECT_EQ(first(dataset.train), known->second.train) << name;
    EXPECT_EQ(first(dataset.valid), known->second.valid) << name;
    EXPECT_GT(dataset.vocab_needed, std::max(dataset.train.max(), dataset.valid.max())) << name;
    EXPECT_TRUE(dataset.unit == "byte" || dataset.unit == "token") << name;
    EXPECT_EQ(known->second.options.open().sha256, dataset.sha256) << name;
  }
}

}  // namespace
}  // namespace eggroll::tests
