// Runs tools/prepare_dataset as users do. No byte is lost, the same text makes the same files, a given tokenizer is
// used, impossible requests are refused, and a run reads the files.
#include "cli/eggroll_command.h"
#include "data/tokens.h"
#include "data/vocabulary.h"

namespace eggroll::test {
namespace {

class PrepareTest : public CliTest {
 protected:
  PrepareTest() { write_plainly(work_ / "text", text_); }

  Result prepare(const Arguments& arguments) const {
    return Process(work_, joined({EGGROLL_SOURCE_DIR "/tools/prepare_dataset"}, arguments)).wait();
  }
  // Prepares the text and returns the folder.
  fs::path prepared(const Arguments& more, const std::string& folder = "out") const {
    said(prepare(joined({"text", "--out", folder}, more)));
    return work_ / folder;
  }
  // A refusal is one line on stderr that holds these fragments, and it leaves no new file.
  void expect_refused(const Arguments& arguments, const std::vector<std::string>& fragments) const {
    const size_t before = entries_in(work_);
    const Result result = prepare(arguments);
    EXPECT_EQ(result.exit_code, 1) << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_THAT(result.err, StartsWith("prepare_dataset: "));
    for (const std::string& fragment : fragments) EXPECT_THAT(result.err, HasSubstr(fragment));
    EXPECT_EQ(entries_in(work_), before);
  }

  static nlohmann::json manifest_of(const fs::path& folder) {
    return nlohmann::json::parse(read_file(folder / "manifest.json"));
  }
  static Vocabulary vocabulary_of(const fs::path& folder) {
    return Vocabulary(NamedFile{"vocabulary", (folder / "vocabulary.txt").string()});
  }
  static std::vector<uint32_t> tokens_of(const fs::path& folder, const std::string& part) {
    const bool wide = manifest_of(folder).at("dtype") == "uint32";
    const Tokens tokens = open_tokens(NamedFile{"path", (folder / (part + ".bin")).string()},
                                      wide ? TokenFormat::kUint32 : TokenFormat::kUint16);
    std::vector<uint32_t> values;
    for (uint64_t i = 0; i < tokens.size(); ++i) values.push_back(tokens[i]);
    return values;
  }
  static std::string text_of(const fs::path& folder, const std::string& part) {
    return vocabulary_of(folder).text(tokens_of(folder, part));
  }

  // 11 KB of English text.
  const std::string text_ = read_file(EGGROLL_SOURCE_DIR "/LICENSE");
};

TEST_F(PrepareTest, WritesTokensVocabularyTokenizerAndTheirHashes) {
  const fs::path out = prepared({"--vocab", "500"});
  EXPECT_EQ(entries_in(out), 5U);
  EXPECT_EQ(entries_in(work_), 2U);
  const size_t held_out = (text_.size() + 5) / 10;
  EXPECT_EQ(text_of(out, "train"), text_.substr(0, text_.size() - held_out));
  EXPECT_EQ(text_of(out, "valid"), text_.substr(text_.size() - held_out));
  EXPECT_EQ(vocabulary_of(out).size(), 500U);
  EXPECT_TRUE(vocabulary_of(out).spells_every_byte());
  EXPECT_LT(tokens_of(out, "train").size(), text_.size() / 2);

  const nlohmann::json manifest = manifest_of(out);
  EXPECT_EQ(manifest.at("vocab"), 500);
  EXPECT_EQ(manifest.at("dtype"), "uint16");
  EXPECT_EQ(manifest.at("input"), "text");
  EXPECT_EQ(manifest.at("tokenizer"), nullptr);
  EXPECT_EQ(manifest.at("parts").at("train").at("tokens"), tokens_of(out, "train").size());
  EXPECT_EQ(manifest.at("parts").at("valid").at("bytes"), held_out);
  EXPECT_EQ(manifest.at("parts").at("valid").at("text_sha256"), sha256_hex(text_.substr(text_.size() - held_out)));
  EXPECT_EQ(manifest.at("files").size(), 4U);
  for (const auto& [name, file] : manifest.at("files").items()) {
    EXPECT_EQ(file.at("sha256"), sha256_file(out / name)) << name;
    EXPECT_EQ(file.at("bytes"), fs::file_size(out / name)) << name;
  }
}

TEST_F(PrepareTest, TheSameTextMakesTheSameFiles) {
  const auto first = contents(prepared({"--vocab", "700"}, "first"));
  fs::create_directory(work_ / "second");  // an empty folder will do
  for (const char* folder : {"second", "third"}) EXPECT_EQ(contents(prepared({"--vocab", "700"}, folder)), first);
  EXPECT_NE(contents(prepared({"--vocab", "701"}, "fourth")).at("train.bin"), first.at("train.bin"));
}

// This text is hard for a tokenizer library: it holds the library's own marks, names of its own tokens, bytes that are
// no UTF-8, spaces and ends of lines of every kind, and lines longer than the library reads.
TEST_F(PrepareTest, EveryByteIsKept) {
  std::string bytes;
  for (int byte = 255; byte >= 0; --byte) bytes += static_cast<char>(byte);
  const std::string awkward =
      bytes + text_ + "  two  spaces \t\t tabs \r\n\r\n\n\n <unk> <s> </s> <0x0A> <0xFF>\n \n" +
      "\ufeff \ufffd \u2581\u2581 a\u2581b \u2585 \u00e9\u4e16\u754c\U0001f600 \xed\xa0\x80 \xe4\xb8" + text_ +
      std::string(200000, 'x') + std::string(5000, ' ') + std::string(3, '\0') + text_;
  // The held-out part is the last five bytes, so it begins at each place within a character in turn.
  for (const size_t more : {0U, 1U, 2U, 3U}) {
    write_plainly(work_ / "text", awkward + "\U0001f600\U0001f600" + std::string(more, 'y'));
    const fs::path out = prepared({"--vocab", "600", "--valid-fraction", "0.00002"}, "out" + std::to_string(more));
    EXPECT_EQ(text_of(out, "train") + text_of(out, "valid"), read_file(work_ / "text"));
    EXPECT_EQ(text_of(out, "valid").size(), 5U);
  }
}

TEST_F(PrepareTest, AHeldOutFileIsNotTrainedOn) {
  write_plainly(work_ / "other", "quite other words \xff\n");
  const fs::path out = prepared({"--vocab", "500", "--valid", "other"});
  EXPECT_EQ(text_of(out, "train"), text_);
  EXPECT_EQ(text_of(out, "valid"), "quite other words \xff\n");
  write_plainly(work_ / "other", text_);
  EXPECT_EQ(read_file(prepared({"--vocab", "500", "--valid", "other"}, "again") / "tokenizer.model"),
            read_file(out / "tokenizer.model"));
}

TEST_F(PrepareTest, AGivenTokenizerIsUsedAsItIs) {
  const fs::path trained = prepared({"--vocab", "500"}, "trained");
  const fs::path given = prepared({"--tokenizer", "trained/tokenizer.model"}, "given");
  for (const char* name : {"train.bin", "valid.bin", "vocabulary.txt", "tokenizer.model"}) {
    EXPECT_EQ(read_file(given / name), read_file(trained / name)) << name;
  }
  EXPECT_EQ(manifest_of(given).at("tokenizer"), "tokenizer.model");

  // 70,000 more pieces, appended as protocol buffers are: the first tokens stay what they were, in four bytes each.
  std::string model = read_file(trained / "tokenizer.model");
  for (int i = 0; i < 70000; ++i) {
    const std::string piece = fmt::format("\x01{:05}", i);
    model += "\x0a\x0d\x0a\x06" + piece + std::string("\x15\0\0\x80\xc9", 5);  // a score of -2^20
  }
  write_plainly(work_ / "large.model", model);
  const fs::path large = prepared({"--tokenizer", "large.model"}, "large");
  EXPECT_EQ(manifest_of(large).at("dtype"), "uint32");
  EXPECT_EQ(manifest_of(large).at("vocab"), 70500);
  EXPECT_EQ(vocabulary_of(large).size(), 70500U);
  EXPECT_EQ(vocabulary_of(large).bytes(70499),
            "\x01"
            "69999");
  EXPECT_EQ(tokens_of(large, "train"), tokens_of(trained, "train"));
}

TEST_F(PrepareTest, ATokenizerThatLosesBytesIsRefused) {
  const std::string model = read_file(prepared({"--vocab", "500"}, "trained") / "tokenizer.model");
  // These bytes replace the normalizer: one puts a space before every text, the other makes one space of several.
  write_plainly(work_ / "prefix.model", model + std::string("\x1a\x02\x18\x01", 4));
  write_plainly(work_ / "spaces.model", model + std::string("\x1a\x02\x20\x01", 4));
  write_plainly(work_ / "text", "A  word " + text_);
  const std::string cure = "use a tokenizer with byte fallback and without normalisation or dummy prefix";
  expect_refused({"text", "--tokenizer", "prefix.model", "--out", "out"},
                 {"prefix.model does not give byte 0 of text back, expected every byte", cure});
  expect_refused({"text", "--tokenizer", "spaces.model", "--out", "out"}, {"does not give byte 2 of text back", cure});
}

TEST_F(PrepareTest, WhatCannotBeDoneIsOneSentence) {
  const auto with = [](const Arguments& arguments) { return joined(arguments, {"--out", "out"}); };
  write_plainly(work_ / "empty", "");
  write_plainly(work_ / "short", "abc");
  scratch_.put("here/folder/file", "");
  expect_refused(with({"text"}), {"one of the arguments --vocab --tokenizer is required", "--help"});
  expect_refused(with({"text", "--vocab", "500", "--tokenizer", "x"}), {"--tokenizer: not allowed with", "--vocab"});
  expect_refused({"text", "--vocab", "500"}, {"--out"});
  expect_refused(with({"nowhere", "--vocab", "500"}), {"cannot read nowhere: No such file", "name a file"});
  expect_refused(with({"folder", "--vocab", "500"}), {"cannot read folder: Is a directory"});
  expect_refused(with({"text", "--vocab", "500", "--valid", "nowhere"}), {"cannot read nowhere: No such file"});
  expect_refused({"text", "--vocab", "500", "--out", "folder"},
                 {"folder exists", "a new or an empty folder", "name another --out"});
  expect_refused({"text", "--vocab", "500", "--out", "text"}, {"text exists", "a new or an empty folder"});
  expect_refused({"text", "--vocab", "500", "--out", "no/where"}, {"cannot write no/where: No such file"});
  expect_refused(with({"text", "--vocab", "257"}), {"--vocab is 257", "expected 258 to 262144"});
  expect_refused(with({"text", "--vocab", "262145"}), {"--vocab is 262145", "expected 258 to 262144"});
  expect_refused(with({"text", "--vocab", "many"}), {"--vocab", "many"});
  expect_refused(with({"text", "--vocab", "300"}), {"no vocabulary of 300 can be trained", "another --vocab"});
  expect_refused(with({"text", "--vocab", "60000"}), {"no vocabulary of 60000 can be trained", "use more text"});
  expect_refused(with({"empty", "--vocab", "500"}), {"0 training and 0 held-out bytes", "use a longer file"});
  expect_refused(with({"short", "--vocab", "500"}), {"3 training and 0 held-out bytes", "at least 2 of each"});
  expect_refused(with({"text", "--vocab", "500", "--valid", "empty"}), {"and 0 held-out bytes", "name longer files"});
  for (const char* fraction : {"0", "1", "-0.1", "nan"}) {
    expect_refused(with({"text", "--vocab", "500", "--valid-fraction", fraction}),
                   {"--valid-fraction is ", "expected a number above 0 and below 1"});
  }
  expect_refused(with({"text", "--tokenizer", "nowhere"}), {"cannot read nowhere"});
  expect_refused(with({"text", "--tokenizer", "text"}), {"text is no tokenizer", "name a FILE.model"});
  expect_refused(with({"text", "--tokenizer", "empty"}), {"empty is no tokenizer", "name a FILE.model"});
}

class PreparedRun : public PrepareTest {
 protected:
  static Arguments run_on(const std::string& folder, const Arguments& more = {}) {
    return joined({"run", "experiment=plain", "dataset=tokens", "dataset.path=" + folder + "/train.bin",
                   "dataset.valid_path=" + folder + "/valid.bin", "dataset.vocabulary=" + folder + "/vocabulary.txt",
                   "model.vocab=500", "model.width=8", "train.population=16", "train.members_per_stream=8",
                   "train.steps=3", "backend=reference"},
                  more);
  }
};

TEST_F(PreparedRun, CountsBitsPerByteAndSamplesPieces) {
  const fs::path out = prepared({"--vocab", "500"});
  EXPECT_THAT(good(eggroll(run_on("out"))).out, HasSubstr("bits per byte after 3 steps"));

  const nlohmann::json record = record_in(run_folder());
  const std::vector<uint32_t> held_out = tokens_of(out, "valid");
  const size_t bytes = text_of(out, "valid").size();
  EXPECT_EQ(record.at("dataset").at("unit"), "byte");
  EXPECT_EQ(record.at("dataset").at("sizes").at("held_out"), bytes);
  EXPECT_EQ(record.at("dataset").at("facts").at("vocabulary_sha256"), sha256_file(out / "vocabulary.txt"));
  EXPECT_EQ(record.at("final").at("tokens"), held_out.size() - 1);
  EXPECT_EQ(record.at("final").at("bytes"), bytes - vocabulary_of(out).bytes(held_out.front()).size());
  EXPECT_LT(record.at("final").at("bits_per_unit"), 8.0);  // at most nine bits per token, and over two bytes in each

  const std::string samples = read_file(run_folder() / "samples.txt");
  EXPECT_THAT(samples, StartsWith(text_of(out, "valid").substr(0, 64)));
  const Result sampled = good(eggroll({"sample", run_folder().string(), "--prompt", "the \xff", "--count", "9"}));
  EXPECT_THAT(sampled.out, StartsWith("the \xff"));
  EXPECT_GT(sampled.out.size(), 5U + 9U);
  EXPECT_EQ(sampled.out, eggroll({"sample", run_folder().string(), "--prompt", "the \xff", "--count", "9"}).out);
  EXPECT_EQ(eggroll({"sample", run_folder().string(), "--count", "9"}).exit_code, 0);

  fs::rename(out / "vocabulary.txt", out / "v");
  refuses({"sample", run_folder().string()},
          {"out/vocabulary.txt', which does not exist, expected a file that can be read"});
  write_plainly(out / "vocabulary.txt", read_file(out / "v").replace(21, 0, "61"));  // the bytes of the unknown token
  refuses({"sample", run_folder().string()}, {"out/vocabulary.txt' has changed since the run in ", "restore it"});
  refuses({"resume", run_folder().string()}, {"the data have changed since the run in "});
}

// The vocabulary changes the unit that bits are counted by, and nothing else.
TEST_F(PreparedRun, TheVocabularyChangesNoWeights) {
  const fs::path out = prepared({"--vocab", "500"});
  const auto record_of = [&](const Arguments& more) {
    EXPECT_EQ(eggroll(run_on("out", more)).exit_code, 0);
    const nlohmann::json record = record_in(run_folder());
    fs::remove_all(runs());
    return record;
  };
  const nlohmann::json bytes = record_of({});
  const nlohmann::json tokens = record_of({"dataset.vocabulary=null"});
  EXPECT_EQ(bytes.at("weights_sha256"), tokens.at("weights_sha256"));
  EXPECT_EQ(tokens.at("final").at("unit"), "token");
  EXPECT_FALSE(tokens.at("final").contains("bytes"));
  const double covered = bytes.at("final").at("bytes").get<double>();
  EXPECT_DOUBLE_EQ(
      bytes.at("final").at("bits_per_unit").get<double>() * covered,
      tokens.at("final").at("bits_per_unit").get<double>() * tokens.at("final").at("tokens").get<double>());
}

TEST_F(PreparedRun, RefusesAnotherVocabulary) {
  prepared({"--vocab", "500"});
  prepared({"--vocab", "600"}, "larger");
  refuses(run_on("out", {"model.vocab=600"}),
          {"out/vocabulary.txt' has 500 tokens and the model's 600", "set model.vocab=500"});
  refuses(run_on("larger", {"dataset.vocabulary=out/vocabulary.txt"}),
          {"larger/train.bin', whose training part holds the token ", "out/vocabulary.txt' of 500",
           "set dataset.vocabulary to the one these tokens were made with"});
  refuses(run_on("out", {"dataset.vocabulary=out/manifest.json"}),
          {"/out/manifest.json', which is no vocabulary", "eggroll vocabulary 1"});
}

}  // namespace
}  // namespace eggroll::test
