// Vocabularies: what each token stands for, texts cut into tokens, and files that are none.
#include "data/vocabulary.h"

#include <gmock/gmock.h>

#include "helpers.h"

namespace eggroll::tests {
namespace {

using testing::ElementsAre;

const std::string kHead = "eggroll vocabulary 1\n";

class VocabularyFiles : public FilesTest {
 protected:
  Vocabulary read(const std::string& content) const {
    return Vocabulary(NamedFile{"vocabulary", write("v.txt", content)});
  }
  std::string refusal(const std::string& content) const {
    return error_of([&] { read(content); });
  }
  std::string expected(const std::string& rest) const {
    return "vocabulary: vocabulary is '" + path("v.txt") + "', " + rest;
  }
};

TEST_F(VocabularyFiles, HoldTheExactBytesOfEachToken) {
  const Vocabulary vocabulary = read(kHead + "\n00\n2074686520ff\n0a\n");
  EXPECT_EQ(vocabulary.size(), 4U);
  EXPECT_EQ(vocabulary.bytes(0), "");
  EXPECT_EQ(vocabulary.bytes(1), std::string(1, '\0'));
  EXPECT_EQ(vocabulary.bytes(2), " the \xff");
  EXPECT_EQ(vocabulary.bytes(3), "\n");
  EXPECT_EQ(vocabulary.source(), path("v.txt"));
  // printf 'eggroll vocabulary 1\n\n00\n2074686520ff\n0a\n' | sha256sum
  EXPECT_EQ(vocabulary.sha256(), "6c7984cb4d5fc50a7875e714c59df743e749e5821e437796fa63e42d22e6b683");
  EXPECT_EQ(vocabulary.text({2, 3, 0, 2}), " the \xff\n the \xff");
  EXPECT_EQ(vocabulary.text({}), "");
  EXPECT_EQ(vocabulary.text({3, 4, 4000000000U}), "\n\ufffd\ufffd");
  EXPECT_EQ(read(kHead).size(), 0U);
  EXPECT_EQ(read(kHead + "\n").size(), 1U);
}

TEST_F(VocabularyFiles, RefusedWhenTheyAreNone) {
  const std::string no_vocabulary = expected(
      "which is no vocabulary, expected the first line 'eggroll vocabulary 1'; name the vocabulary.txt that "
      "tools/prepare_dataset wrote");
  for (const char* content : {"a", "eggroll vocabulary 1", "eggroll vocabulary 2\n61\n", "\neggroll vocabulary 1\n"}) {
    EXPECT_EQ(refusal(content), no_vocabulary);
  }
  EXPECT_EQ(refusal(kHead + "61\n62"),
            expected("whose last line is cut short, expected all of it; make it again with tools/prepare_dataset"));
  const std::string no_token =
      " is no token, expected two lower-case hexadecimal digits for each of at most 4096 bytes; make it again with "
      "tools/prepare_dataset";
  for (const std::string token : {"6", "616", "6A", "0x61", " 61", "61\r", "zz"}) {
    EXPECT_EQ(refusal(kHead + "61\n" + token + "\n"), expected("whose line 3" + no_token)) << token;
  }
  EXPECT_EQ(read(kHead + std::string(8192, '6') + "\n").bytes(0).size(), 4096U);
  EXPECT_EQ(refusal(kHead + std::string(8194, '6') + "\n"), expected("whose line 2" + no_token));
  EXPECT_EQ(error_of([&] {
              Vocabulary(NamedFile{"vocabulary", path("none")});
            }),
            "vocabulary: vocabulary is '" + path("none") +
                "', which does not exist, expected a file that can be read; set dataset.vocabulary=FILE");
}

TEST_F(VocabularyFiles, CutATextIntoTheLongestTokensThatFit) {
  std::string bytes = "\n";  // token 0 has none, token 1 + b is the byte b
  for (int byte = 0; byte < 256; ++byte) bytes += fmt::format("{:02x}\n", byte);
  EXPECT_FALSE(read(kHead + bytes.substr(0, bytes.size() - 3)).spells_every_byte());
  // 257 "a" once more, 258 "ab", 259 "abcd", 260 "bc", 261 "ab" once more
  const Vocabulary vocabulary = read(kHead + bytes + "61\n6162\n61626364\n6263\n6162\n");
  EXPECT_TRUE(vocabulary.spells_every_byte());
  EXPECT_THAT(vocabulary.tokens_of("abcd"), ElementsAre(259));
  EXPECT_THAT(vocabulary.tokens_of("abc"), ElementsAre(261, 1 + 'c'));
  EXPECT_THAT(vocabulary.tokens_of("bcab"), ElementsAre(260, 261));
  EXPECT_THAT(vocabulary.tokens_of("aa"), ElementsAre(257, 257));
  EXPECT_THAT(vocabulary.tokens_of(std::string("\0\xff", 2)), ElementsAre(1, 256));
  EXPECT_THAT(vocabulary.tokens_of(""), testing::IsEmpty());
}

TEST(Vocabulary, OfATextIsItsBytes) {
  const Vocabulary vocabulary = Vocabulary::of_bytes();
  EXPECT_EQ(vocabulary.size(), 256U);
  EXPECT_TRUE(vocabulary.spells_every_byte());
  EXPECT_THAT(vocabulary.tokens_of("a\xfe"), ElementsAre('a', 0xfe));
  EXPECT_EQ(vocabulary.text({0, 'a', 0xfe}), std::string("\0a\xfe", 3));
}

}  // namespace
}  // namespace eggroll::tests
