// Which texts are measured, in what bytes, and with which programs.
#include "data/text_figures.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "data/byte_text.h"
#include "data/kneser_ney.h"
#include "helpers.h"
#include "system/files.h"

namespace eggroll::tests {
namespace {

class TextFiguresTest : public FilesTest {
 protected:
  std::optional<TextFigures> measure(const Dataset& dataset, bool stopped = false) {
    const std::atomic<bool> stop{stopped};
    return measure_text(dataset, stop);
  }

  Dataset dataset_of(const std::string& train, const std::string& held_out) {
    Dataset dataset;
    dataset.train = Tokens::own(std::vector<uint8_t>(train.begin(), train.end()), "a");
    dataset.valid = Tokens::own(std::vector<uint8_t>(held_out.begin(), held_out.end()), "a");
    dataset.vocab_needed = 256;
    return dataset;
  }

  // A program of this name that stands before all others on the path.
  void put_program(const std::string& name, const std::string& script) {
    std::filesystem::permissions(write("bin/" + name, "#!/bin/sh\n" + script + "\n"),
                                 std::filesystem::perms::owner_all);
  }

  class Path {
   public:
    explicit Path(const std::string& path) {
      if (const char* const before = std::getenv("PATH")) before_ = before;
      ::setenv("PATH", path.c_str(), 1);
    }
    ~Path() { ::setenv("PATH", before_.c_str(), 1); }

   private:
    std::string before_;
  };
};

const std::string kTrain = "it was the best of times, it was the worst of times, it was the age of wisdom";
const std::string kHeldOut = "it was the age of foolishness, it was the epoch of belief";

TEST_F(TextFiguresTest, AreOfBytesWhateverTheTokensAre) {
  const Path none("/nowhere");
  const Dataset bytes = dataset_of(kTrain, kHeldOut);
  ASSERT_TRUE(has_text_figures(bytes));
  const std::optional<TextFigures> expected = measure(bytes);
  ASSERT_TRUE(expected);
  EXPECT_EQ(expected->kneser_ney.size(), kLongestContext);
  EXPECT_GT(expected->kneser_ney.at(1), expected->kneser_ney.at(3));
  EXPECT_EQ(expected->overlap, (std::map<uint32_t, double>{{32, 0.0}}));  // 58 bytes have no window of 64
  EXPECT_GE(expected->counting_seconds, 0.0);

  Dataset wide = bytes;
  wide.train = Tokens::own(std::vector<uint16_t>(kTrain.begin(), kTrain.end()), "a");
  wide.valid = Tokens::own(std::vector<uint16_t>(kHeldOut.begin(), kHeldOut.end()), "a");
  EXPECT_EQ(measure(wide)->kneser_ney, expected->kneser_ney);

  // Each token stands for two bytes.
  std::vector<std::string> pieces;
  const auto cut = [&](const std::string& text) {
    std::vector<uint16_t> tokens;
    for (size_t i = 0; i < text.size(); i += 2) {
      const std::string piece = text.substr(i, 2);
      const auto known = std::find(pieces.begin(), pieces.end(), piece);
      tokens.push_back(static_cast<uint16_t>(known - pieces.begin()));
      if (known == pieces.end()) pieces.push_back(piece);
    }
    return Tokens::own(tokens, "a");
  };
  Dataset cut_up = bytes;
  cut_up.train = cut(kTrain);
  cut_up.valid = cut(kHeldOut);
  cut_up.vocabulary =
      std::make_shared<const Vocabulary>(NamedFile{"vocabulary", write("v.txt", vocabulary_text(pieces))});
  cut_up.vocab_needed = cut_up.vocabulary->size();
  EXPECT_EQ(measure(cut_up)->kneser_ney, expected->kneser_ney);
  EXPECT_EQ(measure(cut_up)->overlap, expected->overlap);
}

TEST_F(TextFiguresTest, RowsAndWideTokensHaveNone) {
  Dataset dataset = dataset_of(kTrain, kHeldOut);
  dataset.vocab_needed = 257;
  EXPECT_FALSE(has_text_figures(dataset));
  dataset.vocab_needed = 256;
  dataset.train_row = 2;
  EXPECT_FALSE(has_text_figures(dataset));
}

TEST_F(TextFiguresTest, ProgramsThatAreMissingOrFailLeaveNoFigure) {
  const Path only(path("bin") + ":/usr/bin:/bin");
  put_program("xz", "cat > /dev/null; exit 1");
  for (const char* name : {"7zz", "7z", "7za"}) put_program(name, "exit 2");
  const std::optional<TextFigures> figures = measure(dataset_of(kTrain, kHeldOut));
  ASSERT_TRUE(figures);
  EXPECT_EQ(figures->xz, std::nullopt);
  EXPECT_EQ(figures->ppmd, std::nullopt);
  EXPECT_EQ(figures->kneser_ney.size(), kLongestContext);
}

TEST_F(TextFiguresTest, ProgramsAreGivenTheHeldOutPart) {
  const Path only(path("bin") + ":/usr/bin:/bin");
  put_program("xz", "head -c 29");  // of 57 bytes
  put_program("7zz", "cat; cat '" + write("more", std::string(57, 'x')) + "'");
  const std::optional<TextFigures> figures = measure(dataset_of(kTrain, kHeldOut));
  ASSERT_TRUE(figures);
  EXPECT_EQ(figures->xz, 8.0 * 29 / static_cast<double>(kHeldOut.size()));
  EXPECT_EQ(figures->ppmd, 8.0 * (57.0 + static_cast<double>(kHeldOut.size())) / static_cast<double>(kHeldOut.size()));
  EXPECT_EQ(paths_in(path(".")).size(), 2);  // bin and more: the text's file has no name
}

TEST_F(TextFiguresTest, OfAStoppedMeasurementThereAreNone) {
  EXPECT_EQ(measure(dataset_of(kTrain, kHeldOut), true).has_value(), false);
}

}  // namespace
}  // namespace eggroll::tests
