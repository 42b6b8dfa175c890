// Compares baselines with values computed by hand, and the two ways of counting pairs with each other.
#include "data/baselines.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <cstdlib>

#include "eggroll/noise.h"
#include "helpers.h"

namespace eggroll::tests {
namespace {

template <class T>
Dataset dataset_of(std::vector<T> train, std::vector<T> valid, uint32_t vocab) {
  Dataset dataset;
  dataset.train = Tokens::own(std::move(train), "a");
  dataset.valid = Tokens::own(std::move(valid), "a");
  dataset.vocab_needed = vocab;
  return dataset;
}

double bits(double probability) { return -std::log2(probability); }

TEST(Baselines, ByHand) {
  // Training: 0 0 1 0, counts 3 and 1; pairs 00, 01, 10. Held out: 1 0 1 1.
  const Baselines baselines = measure_baselines(dataset_of<uint8_t>({0, 0, 1, 0}, {1, 0, 1, 1}, 2));
  const double one = bits(1.01 / 4.02);
  EXPECT_NEAR(baselines.unigram, (one + bits(3.01 / 4.02) + one + one) / 4, 1e-14);
  // 1 alone, then 0 after 1 (1 of 1), 1 after 0 (1 of 2), 1 after 1 (0 of 1).
  EXPECT_NEAR(baselines.bigram, (one + bits(1.01 / 1.02) + bits(1.01 / 2.02) + bits(0.01 / 1.02)) / 4, 1e-14);
}

TEST(Baselines, TheVocabularySmoothsMoreThanItUses) {
  const Baselines baselines = measure_baselines(dataset_of<uint8_t>({0, 0, 1, 0}, {5, 5}, 256));
  EXPECT_NEAR(baselines.unigram, bits(0.01 / 6.56), 1e-14);
  EXPECT_NEAR(baselines.bigram, (bits(0.01 / 6.56) + bits(0.01 / 2.56)) / 2, 1e-14);
}

TEST(Baselines, PairsDoNotCrossRows) {
  // Training rows 0 1 | 1 0: pairs 01 and 10, never 11. Held-out rows 0 1 1 | 1 0 0.
  Dataset dataset = dataset_of<uint8_t>({0, 1, 1, 0}, {0, 1, 1, 1, 0, 0}, 2);
  dataset.train_row = 2;
  dataset.valid_row = 3;
  const Baselines baselines = measure_baselines(dataset);
  const double half = bits(2.01 / 4.02);
  EXPECT_NEAR(baselines.unigram, half, 1e-14);
  EXPECT_NEAR(baselines.bigram, (2 * half + 2 * bits(1.01 / 1.02) + 2 * bits(0.01 / 1.02)) / 6, 1e-14);
}

TEST(Baselines, WideVocabulariesCountAlike) {
  // The same text under two numberings of its 700 tokens: dense counts for one, a hash table for the other. A little
  // smoothing goes to tokens that never occur, so the vocabularies are made equal by hand below.
  const uint32_t used = 700;
  std::vector<uint32_t> train(40000);
  std::vector<uint32_t> valid(9000);
  for (uint32_t i = 0; i < train.size(); ++i)
    train[i] = egg_noise_word(1, i) % used % (1 + egg_noise_word(2, i) % used);
  for (uint32_t i = 0; i < valid.size(); ++i)
    valid[i] = egg_noise_word(3, i) % used % (1 + egg_noise_word(4, i) % used);
  const Baselines dense = measure_baselines(dataset_of(train, valid, 1024));

  const uint32_t vocab = 1025;
  std::vector<double> counts(vocab);
  std::vector<double> followed(vocab);
  std::vector<double> pairs(size_t{vocab} * vocab);
  for (size_t i = 0; i < train.size(); ++i) {
    counts[train[i]] += 1;
    if (i == 0) continue;
    followed[train[i - 1]] += 1;
    pairs[size_t{train[i - 1]} * vocab + train[i]] += 1;
  }
  double unigram = 0;
  double bigram = 0;
  for (size_t i = 0; i < valid.size(); ++i) {
    const double alone = bits((counts[valid[i]] + 0.01) / (40000 + 0.01 * vocab));
    unigram += alone;
    if (i == 0) {
      bigram += alone;
      continue;
    }
    const double pair = pairs[size_t{valid[i - 1]} * vocab + valid[i]];
    bigram += bits((pair + 0.01) / (followed[valid[i - 1]] + 0.01 * vocab));
  }
  const Baselines sparse = measure_baselines(dataset_of(train, valid, vocab));
  EXPECT_NEAR(sparse.unigram, unigram / 9000, 1e-10);
  EXPECT_NEAR(sparse.bigram, bigram / 9000, 1e-10);
  EXPECT_NEAR(sparse.unigram, dense.unigram, 1e-4);
  EXPECT_NEAR(sparse.bigram, dense.bigram, 0.05);
  EXPECT_EQ(sparse.gzip, dense.gzip);
}

// The size of one gzip member that zlib makes in one call, with the settings of the program gzip -9.
uint64_t gzip_size(const void* data, size_t size) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, 31, 9, Z_DEFAULT_STRATEGY), Z_OK);
  std::vector<Bytef> out(deflateBound(&stream, size));
  std::vector<Bytef> in(static_cast<const Bytef*>(data), static_cast<const Bytef*>(data) + size);
  stream.next_in = in.data();
  stream.avail_in = static_cast<uInt>(size);
  stream.next_out = out.data();
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  deflateEnd(&stream);
  return stream.total_out;
}

TEST(Baselines, GzipOfALongTextIsThatOfOneCall) {
  std::vector<uint8_t> valid(300000);  // two chunks, hard to compress: more than one buffer of output each
  for (uint32_t i = 0; i < valid.size(); ++i) valid[i] = static_cast<uint8_t>(egg_noise_byte(9, i) & 63);
  const double expected = 8.0 * static_cast<double>(gzip_size(valid.data(), valid.size())) / 300000;
  EXPECT_EQ(measure_baselines(dataset_of<uint8_t>({0, 1}, valid, 64)).gzip, expected);
  // Wider tokens of the same vocabulary compress as bytes.
  std::vector<uint16_t> wide(valid.begin(), valid.end());
  EXPECT_EQ(measure_baselines(dataset_of<uint16_t>({0, 1}, wide, 64)).gzip, expected);
}

TEST(Baselines, GzipOfWideTokensTakesTheirBytes) {
  const std::vector<uint16_t> valid = {300, 1, 2, 3, 300, 1, 2, 3};
  const double expected = 8.0 * static_cast<double>(gzip_size(valid.data(), 16)) / 8;
  EXPECT_EQ(measure_baselines(dataset_of<uint16_t>({0, 1}, valid, 301)).gzip, expected);
}

class VocabularyBaselines : public FilesTest {};

// The token figures, counted per byte of the whole held-out part and smoothed over the whole vocabulary.
TEST_F(VocabularyBaselines, ArePerByte) {
  Dataset dataset = dataset_of<uint16_t>({0, 0, 1, 0}, {1, 0, 1, 1}, 3);
  const Baselines tokens = measure_baselines(dataset);
  dataset.vocabulary = std::make_shared<const Vocabulary>(
      NamedFile{"vocabulary", write("v.txt", vocabulary_text({"aaaaa", "bb", "never"}))});
  const Baselines bytes = measure_baselines(dataset);
  EXPECT_DOUBLE_EQ(bytes.unigram, tokens.unigram * 4 / 11);
  EXPECT_DOUBLE_EQ(bytes.bigram, tokens.bigram * 4 / 11);
  EXPECT_EQ(bytes.gzip, 8.0 * static_cast<double>(gzip_size("bbaaaaabbbb", 11)) / 11);
}

// The test has several chunks of tokens; each token has several bytes.
TEST_F(VocabularyBaselines, GzipOfADecodedTextIsThatOfOneCall) {
  std::vector<uint32_t> valid(600000);
  std::string text;
  const std::vector<std::string> pieces = {"the ", "quick", "\n", std::string("\0\xff", 2)};
  for (uint32_t i = 0; i < valid.size(); ++i) {
    valid[i] = egg_noise_byte(9, i) & 3;
    text += pieces[valid[i]];
  }
  Dataset dataset = dataset_of<uint32_t>({0, 1}, valid, 4);
  dataset.vocabulary =
      std::make_shared<const Vocabulary>(NamedFile{"vocabulary", write("v.txt", vocabulary_text(pieces))});
  EXPECT_EQ(measure_baselines(dataset).gzip,
            8.0 * static_cast<double>(gzip_size(text.data(), text.size())) / static_cast<double>(text.size()));
}

// The data are 64 kinds of bytes in no order, which zlib's usual memory level packs into other blocks than gzip does.
std::vector<uint8_t> restless_bytes() {
  std::vector<uint8_t> bytes(200000);
  for (uint32_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(egg_noise_byte(9, i) & 63);
  return bytes;
}

TEST(Baselines, GzipOfKnownBytesIsWhatTheProgramMakesOfThem) {
  // gzip 1.12: gzip -9 < FILE | wc -c
  EXPECT_EQ(measure_baselines(dataset_of<uint8_t>({0, 1}, restless_bytes(), 64)).gzip, 8.0 * 151336 / 200000);
}

class ProgramGzip : public FilesTest {};

TEST_F(ProgramGzip, MakesWhatTheBaselineSays) {
  if (std::system("gzip --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "there is no program gzip here";
  const std::vector<uint8_t> bytes = restless_bytes();
  const std::filesystem::path file = write("bytes", std::string(bytes.begin(), bytes.end()));
  ASSERT_EQ(std::system(("gzip -9 < '" + file.string() + "' > '" + file.string() + ".gz'").c_str()), 0);
  EXPECT_EQ(measure_baselines(dataset_of<uint8_t>({0, 1}, bytes, 64)).gzip,
            8.0 * static_cast<double>(std::filesystem::file_size(file.string() + ".gz")) / 200000);
}

TEST(Baselines, GzipOfKnownSize) {
  // printf aaaaaaaaaa | gzip -9 | wc -c
  EXPECT_EQ(measure_baselines(dataset_of<uint8_t>({0, 97}, std::vector<uint8_t>(10, 97), 98)).gzip, 8.0 * 23 / 10);
}

TEST(Baselines, CountIsSolvedByItsBigrams) {
  const Dataset dataset = Options("count").set("length", 32).set("seed", 0).open();
  const Baselines baselines = measure_baselines(dataset);
  EXPECT_NEAR(baselines.unigram, 4.0, 0.01);
  // The 65 tokens of a row are known, except the first.
  EXPECT_NEAR(baselines.bigram, 4.0 / 65, 0.01);
}

}  // namespace
}  // namespace eggroll::tests
