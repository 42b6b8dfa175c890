// Token arrays: widths, views, and files that cannot be opened.
#include "data/tokens.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include "helpers.h"

namespace eggroll::tests {
namespace {

using testing::ElementsAre;

TEST(Tokens, OwnedOfEachWidth) {
  const Tokens bytes = Tokens::own(std::vector<uint8_t>{3, 255, 0}, "a");
  EXPECT_THAT(list_of(bytes), ElementsAre(3, 255, 0));
  EXPECT_EQ(bytes.max(), 255U);
  EXPECT_EQ(bytes.width(), 1U);
  EXPECT_EQ(bytes.source(), "a");
  const Tokens words = Tokens::own(std::vector<uint16_t>{7, 65535, 7}, "b");
  EXPECT_THAT(list_of(words), ElementsAre(7, 65535, 7));
  EXPECT_EQ(words.max(), 65535U);
  EXPECT_EQ(words.count(7), 2U);
  const Tokens wide = Tokens::own(std::vector<uint32_t>{70000, 4294967295U, 1}, "c");
  EXPECT_THAT(list_of(wide), ElementsAre(70000, 4294967295U, 1));
  EXPECT_EQ(wide.max(), 4294967295U);
  EXPECT_EQ(wide.bytes().size(), 12U);
}

TEST(Tokens, EmptyHasNoTokens) {
  const Tokens none;
  EXPECT_EQ(none.size(), 0U);
  EXPECT_EQ(none.max(), 0U);
  EXPECT_EQ(none.count(0), 0U);
}

TEST(Tokens, APartOutlivesTheWhole) {
  Tokens part;
  {
    const Tokens all = Tokens::own(std::vector<uint16_t>{1, 2, 3, 4, 5}, "a");
    part = all.part(1, 3).part(1, 2);
  }
  EXPECT_THAT(list_of(part), ElementsAre(3, 4));
  EXPECT_EQ(part.max(), 4U);
}

// Every lane and tail of a vectorised scan.
TEST(Tokens, MaxAndCountLookAtEveryToken) {
  for (uint64_t size = 1; size < 70; ++size) {
    for (uint64_t at = 0; at < size; ++at) {
      std::vector<uint8_t> values(size, 1);
      values[at] = 200;
      const Tokens tokens = Tokens::own(values, "a");
      ASSERT_EQ(tokens.max(), 200U);
      ASSERT_EQ(tokens.count(200), 1U);
      ASSERT_EQ(tokens.count(1), size - 1);
    }
  }
}

class TokenFiles : public FilesTest {
 protected:
  std::string refusal(const std::string& name, TokenFormat format = TokenFormat::kUint8) const {
    return error_of([&] { open_tokens({"path", path(name)}, format); });
  }
};

TEST_F(TokenFiles, AreMappedLittleEndian) {
  const std::string file = write("a.bin", std::string("\x01\x02\x03\x04\xff\xfe\xfd\xfc", 8));
  EXPECT_THAT(list_of(open_tokens({"path", file}, TokenFormat::kUint8)),
              ElementsAre(0x01, 0x02, 0x03, 0x04, 0xff, 0xfe, 0xfd, 0xfc));
  EXPECT_THAT(list_of(open_tokens({"path", file}, TokenFormat::kUint16)), ElementsAre(0x0201, 0x0403, 0xfeff, 0xfcfd));
  EXPECT_THAT(list_of(open_tokens({"path", file}, TokenFormat::kUint32)), ElementsAre(0x04030201, 0xfcfdfeff));
  EXPECT_EQ(open_tokens({"path", file}, TokenFormat::kUint8).source(), file);
}

TEST_F(TokenFiles, RefusedByName) {
  write("empty", "");
  std::filesystem::create_directory(path("folder"));
  const auto expected = [&](const std::string& name, const std::string& problem) {
    return "path: path is '" + path(name) + "', " + problem +
           ", expected a file that can be read; set dataset.path=FILE";
  };
  EXPECT_EQ(refusal("missing"), expected("missing", "which does not exist"));
  EXPECT_EQ(refusal("folder"), expected("folder", "which is a directory"));
  EXPECT_EQ(refusal("empty"), expected("empty", "which is empty"));
  const std::string long_name(300, 'a');
  EXPECT_EQ(refusal(long_name), expected(long_name, "which cannot be read (File name too long)"));
  EXPECT_EQ(error_of([] {
              open_tokens({"valid_path", "/dev/null"}, TokenFormat::kUint8);
            }),
            "valid_path: valid_path is '/dev/null', which is not a regular file, expected a file that can be "
            "read; set dataset.valid_path=FILE");
}

TEST_F(TokenFiles, RefusedWhenUnreadable) {
  const std::string file = write("secret", "abc");
  std::filesystem::permissions(file, std::filesystem::perms::none);
  // Root reads everything, so the test becomes user 65534 for a moment.
  const bool is_root = geteuid() == 0;
  if (is_root) {
    ASSERT_EQ(seteuid(65534), 0);
  }
  const std::string text = refusal("secret");
  if (is_root) {
    ASSERT_EQ(seteuid(0), 0);
  }
  EXPECT_EQ(text, "path: path is '" + file +
                      "', which cannot be read (Permission denied), expected a file that can be read; set "
                      "dataset.path=FILE");
}

TEST_F(TokenFiles, RefusedWhenATokenIsCut) {
  const std::string file = write("odd", "1234567");
  EXPECT_EQ(refusal("odd", TokenFormat::kUint16),
            "path: path is '" + file +
                "', whose 7 bytes are not a multiple of 2, expected whole uint16 tokens; correct dataset.dtype or the "
                "file");
  EXPECT_EQ(refusal("odd", TokenFormat::kUint32),
            "path: path is '" + file +
                "', whose 7 bytes are not a multiple of 4, expected whole uint32 tokens; correct dataset.dtype or the "
                "file");
}

}  // namespace
}  // namespace eggroll::tests
