// Opening datasets from files: defaults, splits, hashes, and every refusal.
#include "data/dataset.h"

#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include "data/streams.h"
#include "helpers.h"

namespace eggroll::tests {
namespace {

using testing::ElementsAre;

class DatasetFiles : public FilesTest {
 protected:
  Options text(const std::string& content) const { return Options("text").set("path", write("a.txt", content)); }
};

std::string refusal(const Options& options) {
  return error_of([&] { options.open(); });
}

TEST_F(DatasetFiles, TextHoldsOutItsLastTenth) {
  const Dataset dataset = text("abcdefghijklmnopqrst").open();
  EXPECT_EQ(dataset.name, "text");
  EXPECT_EQ(dataset.unit, "byte");
  EXPECT_EQ(dataset.vocab_needed, 256U);
  EXPECT_EQ(dataset.train.size(), 18U);
  EXPECT_EQ(dataset.train[17], static_cast<uint32_t>('r'));
  EXPECT_THAT(list_of(dataset.valid), ElementsAre('s', 't'));
  EXPECT_EQ(dataset.separator, std::nullopt);
  EXPECT_EQ(dataset.train_row, 0U);
  EXPECT_EQ(dataset.valid_row, 0U);
  EXPECT_EQ(dataset.facts.dump(), R"({"train_tokens":18,"valid_tokens":2})");
  // sha256sum of the whole file
  EXPECT_EQ(dataset.sha256, "dd65eea0329dcb94b17187af9dff28c31a1d78026737a16af75979a1fa4618e5");
}

TEST_F(DatasetFiles, TheFractionIsRoundedToTokens) {
  EXPECT_EQ(text(std::string(100, 'a')).set("valid_fraction", 0.29).open().valid.size(), 29U);
  EXPECT_EQ(text(std::string(100, 'a')).set("valid_fraction", 0.5).open().valid.size(), 50U);
}

TEST_F(DatasetFiles, APartOfTheFileIsTaken) {
  const Dataset part = text("abcdefghij").set("take", 4).set("valid_fraction", 0.5).open();
  EXPECT_THAT(list_of(part.train), ElementsAre('a', 'b'));
  EXPECT_THAT(list_of(part.valid), ElementsAre('c', 'd'));
  EXPECT_EQ(part.sha256, text("abcd").set("valid_fraction", 0.5).open().sha256);
  const Dataset beside = text("abcdefghij").set("take", 3).set("valid_path", write("c.txt", "xyz")).open();
  EXPECT_THAT(list_of(beside.train), ElementsAre('a', 'b', 'c'));
  EXPECT_THAT(list_of(beside.valid), ElementsAre('x', 'y', 'z'));
  EXPECT_EQ(text("abcd").set("take", 4).set("valid_fraction", 0.5).open().train.size(), 2U);
  EXPECT_THAT(
      refusal(text("abcd").set("take", 5)),
      testing::AllOf(testing::HasSubstr("take is 5"), testing::HasSubstr("has 4 tokens, expected at most that")));
  EXPECT_THAT(refusal(text("abcd").set("take", 1)), testing::HasSubstr("take is 1"));
}

TEST_F(DatasetFiles, APatternIsAllFilesThatMatchInTheOrderOfTheirNames) {
  write("part-2", "cd");
  write("part-10", "ab");
  write("other", "xy");
  write("odd[1]", "efgh");
  const auto open = [&](const std::string& pattern) {
    return Options("text").set("path", path(pattern)).set("valid_fraction", 0.5);
  };
  const Dataset both = open("part-*").open();
  EXPECT_THAT(list_of(both.train), ElementsAre('a', 'b'));
  EXPECT_THAT(list_of(both.valid), ElementsAre('c', 'd'));
  EXPECT_EQ(both.sha256, text("abcd").set("valid_fraction", 0.5).open().sha256);
  both.require_unchanged();
  EXPECT_THAT(list_of(open("odd[1]").open().train), ElementsAre('e', 'f'));  // a file of that name
  EXPECT_THAT(list_of(open("part-1?").set("valid_path", path("oth*")).open().valid), ElementsAre('x', 'y'));
  const Dataset part = open("part-*").set("take", 3).set("valid_path", path("other")).open();
  EXPECT_THAT(list_of(part.train), ElementsAre('a', 'b', 'c'));
  EXPECT_THAT(refusal(open("nothing-*")), testing::HasSubstr("which matches no file, expected a file, or a pattern"));
  write("part-3", "");
  EXPECT_THAT(refusal(open("part-*")), testing::HasSubstr("part-3', which is empty"));
}

TEST_F(DatasetFiles, TextWithAHeldOutFile) {
  const Dataset dataset = text("abc").set("valid_path", write("b.txt", "defgh")).open();
  EXPECT_THAT(list_of(dataset.train), ElementsAre('a', 'b', 'c'));
  EXPECT_THAT(list_of(dataset.valid), ElementsAre('d', 'e', 'f', 'g', 'h'));
  // sha256sum of abcdefgh
  EXPECT_EQ(dataset.sha256, "9c56cc51b374c3ba189210d5b6d4bf57790d351c96c47c02190ecf1e430635ab");
}

TEST_F(DatasetFiles, TokensOfEveryType) {
  const std::string file =
      write("a.bin", std::string("\x01\x00\x02\x00\x03\x00\x04\x01\x05\x00\x06\x00\x07\x00\x08\x00", 16));
  const auto open = [&](const std::string& dtype) {
    return Options("tokens").set("path", file).set("dtype", dtype).set("valid_fraction", 0.5).open();
  };
  const Dataset words = open("uint16");
  EXPECT_EQ(words.name, "tokens");
  EXPECT_EQ(words.unit, "token");
  EXPECT_THAT(list_of(words.train), ElementsAre(1, 2, 3, 260));
  EXPECT_THAT(list_of(words.valid), ElementsAre(5, 6, 7, 8));
  EXPECT_EQ(words.vocab_needed, 261U);
  EXPECT_EQ(open("uint8").vocab_needed, 9U);
  EXPECT_EQ(open("uint8").valid.size(), 8U);
  EXPECT_EQ(words.sha256, open("uint8").sha256);
}

TEST_F(DatasetFiles, TheVocabularySpansBothParts) {
  const Options options = Options("tokens").set("path", write("a", "ab")).set("valid_path", write("b", "az"));
  EXPECT_EQ(Options(options).set("dtype", "uint8").open().vocab_needed, static_cast<uint32_t>('z') + 1);
}

TEST_F(DatasetFiles, NpyTokens) {
  const std::string header = "{'descr': '<u2', 'fortran_order': False, 'shape': (4,), }";
  std::string content = std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header;
  content += std::string("\x01\x00\x02\x00\x03\x00\x04\x00", 8);
  const Dataset dataset =
      Options("tokens").set("path", write("a.npy", content)).set("dtype", "npy").set("valid_fraction", 0.5).open();
  EXPECT_THAT(list_of(dataset.train), ElementsAre(1, 2));
  EXPECT_THAT(list_of(dataset.valid), ElementsAre(3, 4));
  // sha256sum of the eight bytes of data
  EXPECT_EQ(dataset.sha256, "ea99f710d9d0b8ba192295c969a63ed7ce8fc5743da20d2057fa2b6d2c404bfb");
}

// Tokens 0 to 4, 4 of them held out, each with its bytes: token 1 has none.
class DatasetVocabularies : public DatasetFiles {
 protected:
  Options tokens(const std::string& values = std::string("\0\4\3\2\2\4\4\3\2\0", 10)) const {
    return Options("tokens")
        .set("path", write("a.bin", values))
        .set("dtype", "uint8")
        .set("valid_fraction", 0.4)
        .set("vocabulary", write("v.txt", vocabulary_text({"a", "", "bc", "def", "ghij"})));
  }
};

TEST_F(DatasetVocabularies, UnitsAreBytes) {
  const Dataset dataset = tokens().open();
  EXPECT_EQ(dataset.unit, "byte");
  EXPECT_EQ(dataset.vocab_needed, 5U);
  EXPECT_THAT(list_of(dataset.valid), ElementsAre(4, 3, 2, 0));
  EXPECT_EQ(dataset.units(4), 4U);
  EXPECT_EQ(dataset.units(dataset.valid), 10U);
  EXPECT_EQ(dataset.units(dataset.train), 16U);
  EXPECT_EQ(dataset.facts.at("train_tokens"), 6);
  EXPECT_EQ(dataset.facts.at("train_bytes"), 16);
  EXPECT_EQ(dataset.facts.at("valid_bytes"), 10);
  EXPECT_EQ(dataset.facts.at("vocabulary_sha256"), dataset.vocabulary->sha256());

  const Dataset plain = tokens().set_null("vocabulary").open();
  EXPECT_EQ(plain.unit, "token");
  EXPECT_EQ(plain.units(4), 1U);
  EXPECT_EQ(plain.units(plain.train), 6U);
  EXPECT_EQ(plain.facts.dump(), R"({"train_tokens":6,"valid_tokens":4})");
}

TEST_F(DatasetVocabularies, OfABatchTheScoredTargetsCount) {
  BatchBuffer batch;
  batch.clear(2, 3);
  const Dataset dataset = tokens().open();
  EXPECT_EQ(count_scored(batch, dataset).units, 0U);
  batch.targets = {4, EGG_NO_TARGET, 0, 2, 2, EGG_NO_TARGET};
  EXPECT_EQ(count_scored(batch, dataset).tokens, 4U);
  EXPECT_EQ(count_scored(batch, dataset).units, 9U);
  const Dataset plain = tokens().set_null("vocabulary").open();
  EXPECT_EQ(count_scored(batch, plain).tokens, 4U);
  EXPECT_EQ(count_scored(batch, plain).units, 4U);
}

TEST_F(DatasetVocabularies, TheHashIsThatOfTokensAndVocabulary) {
  const std::string digest = tokens().open().sha256;
  EXPECT_EQ(tokens().open().sha256, digest);
  EXPECT_NE(tokens().set_null("vocabulary").open().sha256, digest);
  const Options other = tokens().set("vocabulary", write("w.txt", vocabulary_text({"b", "", "bc", "def", "ghij"})));
  EXPECT_NE(other.open().sha256, digest);
}

TEST_F(DatasetVocabularies, RefuseTokensWithoutBytes) {
  const auto expected = [&](const std::string& part, const std::string& token) {
    return "path: path is '" + path("a.bin") + "', whose " + part + " part holds the token " + token +
           ", expected tokens that have bytes in the vocabulary '" + path("v.txt") +
           "' of 5; set dataset.vocabulary to the one these tokens were made with";
  };
  EXPECT_EQ(refusal(tokens(std::string("\0\4\1\2\2\4\4\3\2\0", 10))), expected("training", "1 at position 2"));
  EXPECT_EQ(refusal(tokens(std::string("\0\4\0\2\2\4\4\3\2\5", 10))), expected("held-out", "5 at position 3"));
}

TEST_F(DatasetVocabularies, FitTheModelsExactly) {
  const Dataset dataset = tokens().open();
  EXPECT_NO_THROW(check_vocabulary(dataset, 5));
  for (const uint32_t vocab : {4U, 6U}) {
    EXPECT_EQ(error_of([&] { check_vocabulary(dataset, vocab); }),
              ": the vocabulary '" + path("v.txt") + "' has 5 tokens and the model's " + std::to_string(vocab) +
                  ", expected as many; set model.vocab=5");
  }
}

TEST_F(DatasetFiles, SeparatorsAreCounted) {
  const Dataset dataset = text("xaxbxcxdxe").set("separator", 'x').set("valid_fraction", 0.2).open();
  EXPECT_EQ(dataset.separator, std::optional<uint32_t>('x'));
  EXPECT_EQ(dataset.facts["train_separators"], 4);
}

TEST_F(DatasetFiles, RefusesAPathOfNull) {
  for (const char* name : {"text", "tokens"}) {
    EXPECT_EQ(refusal(Options(name)), "path: path is null, expected a file; set dataset.path=FILE");
  }
}

TEST_F(DatasetFiles, RefusesAMissingHeldOutFile) {
  EXPECT_EQ(refusal(text("abc").set("valid_path", path("none"))),
            "valid_path: valid_path is '" + path("none") +
                "', which does not exist, expected a file that can be read; set dataset.valid_path=FILE");
}

TEST_F(DatasetFiles, RefusesBadFractions) {
  const std::string wanted = ", expected a number above 0 and below 1; set it to 0.1, or set dataset.valid_path=FILE";
  EXPECT_EQ(refusal(text("abc").set("valid_fraction", 0.0)), "valid_fraction: valid_fraction is 0" + wanted);
  EXPECT_EQ(refusal(text("abc").set("valid_fraction", 1)), "valid_fraction: valid_fraction is 1" + wanted);
  EXPECT_EQ(refusal(text("abc").set("valid_fraction", 1.5)), "valid_fraction: valid_fraction is 1.5" + wanted);
  EXPECT_EQ(refusal(text("abc").set("valid_fraction", -0.1)), "valid_fraction: valid_fraction is -0.1" + wanted);
  EXPECT_EQ(refusal(text("abc").set_null("valid_fraction")),
            "valid_fraction: valid_fraction is null, expected a number");
}

TEST_F(DatasetFiles, RefusesPartsThatAreTooShort) {
  EXPECT_EQ(refusal(text("abcde").set("valid_fraction", 0.2)),
            "valid_fraction: valid_fraction is 0.2, which leaves 4 training and 1 held-out tokens of '" +
                path("a.txt") + "', expected at least 2 of each; use a longer file or another fraction");
  EXPECT_EQ(refusal(text("abcde").set("valid_fraction", 0.9)),
            "valid_fraction: valid_fraction is 0.9, which leaves 0 training and 5 held-out tokens of '" +
                path("a.txt") + "', expected at least 2 of each; use a longer file or another fraction");
  EXPECT_EQ(refusal(text("abcde").set("valid_path", write("b.txt", "x"))),
            "valid_path: valid_path is '" + path("b.txt") +
                "', which is too short (1 tokens), expected at least 2 tokens; use a longer file");
  EXPECT_EQ(refusal(text("x").set("valid_path", write("b.txt", "abc"))),
            "path: path is '" + path("a.txt") +
                "', which is too short (1 tokens), expected at least 2 tokens; use a longer file");
}

TEST_F(DatasetFiles, RefusesASeparatorThatNeverOccurs) {
  EXPECT_EQ(refusal(text("abcdefghijklmnopqrst").set("separator", 0)),
            "separator: separator is 0, which the training part of '" + path("a.txt") +
                "' does not hold, expected a token that it holds or null; set dataset.separator=null");
  EXPECT_EQ(refusal(text("abc").set("separator", 256)),
            "separator: separator is 256, expected an integer from 0 to 255");
}

TEST_F(DatasetFiles, RefusesTokensReadWithTheWrongType) {
  const std::string file =
      write("a.bin", std::string("\x01\x00\x02\x00\x03\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x01", 16));
  EXPECT_EQ(refusal(Options("tokens").set("path", file).set("dtype", "uint32").set("valid_fraction", 0.5)),
            "path: path is '" + file +
                "', which holds the token 16777216, expected tokens below 16777216; check that the tokens are 4-byte "
                "integers (dataset.dtype)");
}

TEST_F(DatasetFiles, RefusesUnknownTypesAndKeys) {
  EXPECT_EQ(refusal(Options("tokens").set("path", path("a")).set("dtype", "int16")),
            "dtype: dtype is 'int16', expected one of uint8, uint16, uint32, npy; did you mean 'uint16'?");
  EXPECT_EQ(
      refusal(text("abc").set("name", "txt")),
      fmt::format("name: name is 'txt', expected one of {}; did you mean 'text'?", fmt::join(dataset_names(), ", ")));
  EXPECT_EQ(refusal(text("abc").set("dtype", "uint8")),
            "dtype: unknown key 'dtype'; known: name, path, separator, take, test_path, valid_fraction, valid_path "
            "(correct or remove it)");
}

// It is never opened, and must not be what the run reads.
TEST_F(DatasetFiles, TheTestSplitIsNotOpened) {
  EXPECT_EQ(text("abcdefghijklmnopqr").set("test_path", path("nothing")).open().valid.size(), 2U);
  EXPECT_EQ(
      refusal(text("abcdefghijklmnopqr").set("test_path", path("a.txt"))),
      fmt::format("test_path: test_path is '{}', which is dataset.path too, expected a file that the run does not "
                  "read; name another, or set dataset.test_path=null",
                  path("a.txt")));
  EXPECT_THAT(refusal(text("abcdefghij").set("valid_path", write("b.txt", "xyz")).set("test_path", path("b.txt"))),
              testing::HasSubstr("which is dataset.valid_path too"));
}

TEST_F(DatasetFiles, AnUnknownKeyIsFoundBeforeAnyFileIsRead) {
  EXPECT_THAT(refusal(text("").set("valid_pathh", "x")), testing::StartsWith("valid_pathh: unknown key 'valid_pathh'"));
}

TEST_F(DatasetFiles, TokensOutsideTheVocabulary) {
  const Dataset dataset = text("abzcdefghijklmnopqr~").set("valid_fraction", 0.2).open();
  EXPECT_EQ(error_of([&] { check_vocabulary(dataset, 110); }),
            ": token 122 at position 2 of the training part of '" + path("a.txt") +
                "' lies outside the model's vocabulary of 110, expected every token below that; use a model with a "
                "vocabulary of at least 123");
  EXPECT_EQ(error_of([&] { check_vocabulary(dataset, 126); }),
            ": token 126 at position 3 of the held-out part of '" + path("a.txt") +
                "' lies outside the model's vocabulary of 126, expected every token below that; use a model with a "
                "vocabulary of at least 127");
  EXPECT_NO_THROW(check_vocabulary(dataset, 127));
  EXPECT_NO_THROW(check_vocabulary(dataset, 256));
}

}  // namespace
}  // namespace eggroll::tests
