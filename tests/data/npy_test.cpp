// .npy headers: those NumPy writes, and every kind that is refused.
#include "data/npy.h"

#include <gmock/gmock.h>

#include "data/tokens.h"
#include "helpers.h"

namespace eggroll::tests {
namespace {

using testing::ElementsAre;

const std::string kU2 = "{'descr': '<u2', 'fortran_order': False, 'shape': (3,), }\n";
const std::string kData("\x01\x00\x02\x00\xff\xff", 6);

// A file of that version with the header's length as it is.
std::string npy(const std::string& header, const std::string& data, char major = 1, char minor = 0) {
  std::string text = "\x93NUMPY";
  text += major;
  text += minor;
  const size_t length_bytes = major == 1 ? 2 : 4;
  for (size_t i = 0; i < length_bytes; ++i) text += static_cast<char>((header.size() >> (8 * i)) & 255);
  return text + header + data;
}

NpyHeader parse(const std::string& content) {
  return parse_npy_header(std::as_bytes(std::span(content)), {"path", "a.npy"});
}

std::string refusal(const std::string& content) {
  return error_of([&] { parse(content); });
}

std::string sentence(const std::string& rest) { return "path: path is 'a.npy', " + rest; }

TEST(Npy, EveryVersionAndWidth) {
  for (const char major : {'\1', '\2', '\3'}) {
    const NpyHeader header = parse(npy(kU2, kData, major));
    EXPECT_EQ(header.offset, (major == '\1' ? 10U : 12U) + kU2.size());
    EXPECT_EQ(header.width, 2U);
    EXPECT_EQ(header.count, 3U);
  }
  EXPECT_EQ(parse(npy("{'descr': '|u1', 'fortran_order': False, 'shape': (6,), }", kData)).width, 1U);
  const NpyHeader wide = parse(npy("{'descr': '<u4', 'fortran_order': False, 'shape': (2,), }", "12345678"));
  EXPECT_EQ(wide.width, 4U);
  EXPECT_EQ(wide.count, 2U);
}

TEST(Npy, AnyOrderQuotesAndSpace) {
  const NpyHeader header = parse(npy("  {\"shape\":(3,),\"fortran_order\" : False ,'descr':\"<u2\"}   \n", kData));
  EXPECT_EQ(header.width, 2U);
  EXPECT_EQ(header.count, 3U);
}

TEST(Npy, NotOne) {
  const std::string text =
      sentence("which is not a .npy file, expected one; set dataset.dtype to the type of a raw file's tokens");
  EXPECT_EQ(refusal("plain text, long enough"), text);
  EXPECT_EQ(refusal("\x93NUMP"), text);
  EXPECT_EQ(refusal(""), text);
}

TEST(Npy, CutAnywhereInItsHeader) {
  const std::string whole = npy(kU2, "");
  for (size_t size = 6; size < whole.size(); ++size) {
    ASSERT_EQ(refusal(whole.substr(0, size)),
              sentence("whose .npy header is cut short, expected all of it; save it again with numpy.save"))
        << size;
  }
  EXPECT_EQ(refusal(std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff{}", 14)),
            sentence("whose .npy header is cut short, expected all of it; save it again with numpy.save"));
}

TEST(Npy, OtherVersions) {
  for (const auto& [major, minor, shown] : {std::tuple{0, 0, "0.0"}, {4, 0, "4.0"}, {1, 1, "1.1"}}) {
    EXPECT_EQ(refusal(npy(kU2, kData, static_cast<char>(major), static_cast<char>(minor))),
              sentence(std::string("whose .npy version is ") + shown +
                       ", expected 1.0, 2.0 or 3.0; save it again with numpy.save"));
  }
}

TEST(Npy, MalformedHeaders) {
  for (const char* header : {
           "",
           "{",
           "{}",
           "[1, 2]",
           "{'descr': '<u2', 'fortran_order': False, 'shape': (3,)",
           "{'descr': '<u2', 'fortran_order': False, 'shape': (3,)} x",
           "{'descr': '<u2', 'fortran_order': False}",
           "{'descr': '<u2', 'shape': (3,)}",
           "{'fortran_order': False, 'shape': (3,)}",
           "{'descr': '<u2', 'descr': '<u2', 'fortran_order': False, 'shape': (3,)}",
           "{'descr': '<u2', 'fortran_order': False, 'shape': (3,), 'more': 1}",
           "{'descr': '<u2, 'fortran_order': False, 'shape': (3,)}",
           "{'descr': \"<u2', 'fortran_order': False, 'shape': (3,)}",
           "{'descr': [('a', '<u2')], 'fortran_order': False, 'shape': (3,)}",
           "{'descr': '<u2', 'fortran_order': 0, 'shape': (3,)}",
           "{'descr': '<u2', 'fortran_order': False, 'shape': (3)}",
           "{'descr': '<u2', 'fortran_order': False, 'shape': 3}",
           "{'descr': '<u2', 'fortran_order': False, 'shape': (-3,)}",
           "{'descr': '<u2', 'fortran_order': False, 'shape': (3.0,)}",
           "{'descr': '<u2', 'fortran_order': False, 'shape': (3,}",
           "{'descr': '<u2', 'fortran_order': False, 'shape': (99999999999999999999,)}",
           "{'descr': '<u2' 'fortran_order': False, 'shape': (3,)}",
       }) {
    EXPECT_EQ(refusal(npy(header, kData)),
              sentence("whose .npy header is malformed, expected a dictionary of descr, fortran_order and shape; save "
                       "it again with numpy.save"))
        << header;
  }
}

TEST(Npy, OtherItems) {
  for (const std::string descr : {"<i2", ">u2", "<u8", "|b1", "<f4", "u1", ""}) {
    EXPECT_EQ(
        refusal(npy("{'descr': '" + descr + "', 'fortran_order': False, 'shape': (3,)}", kData)),
        sentence("whose items are '" + descr +
                 "', expected '|u1', '<u2' or '<u4'; convert the array to little-endian uint8, uint16 or uint32"));
  }
}

TEST(Npy, OtherShapes) {
  EXPECT_EQ(refusal(npy("{'descr': '<u2', 'fortran_order': False, 'shape': (3, 1)}", kData)),
            sentence("which has 2 dimensions, expected one; save array.ravel()"));
  EXPECT_EQ(refusal(npy("{'descr': '<u2', 'fortran_order': False, 'shape': ()}", kData)),
            sentence("which has 0 dimensions, expected one; save array.ravel()"));
  EXPECT_EQ(refusal(npy("{'descr': '<u2', 'fortran_order': True, 'shape': (3,)}", kData)),
            sentence("which is in Fortran order, expected C order; save it again with numpy.save"));
}

TEST(Npy, DataOfAnotherSize) {
  for (const size_t size : {0U, 4U, 5U, 7U, 8U}) {
    EXPECT_EQ(refusal(npy(kU2, std::string(size, 'a'))),
              sentence("which holds " + std::to_string(size) +
                       " bytes of data, expected 3 tokens of 2 bytes; save it again with numpy.save"));
  }
  EXPECT_EQ(refusal(npy("{'descr': '<u2', 'fortran_order': False, 'shape': (9223372036854775811,)}", kData)),
            sentence("which holds 6 bytes of data, expected 9223372036854775811 tokens of 2 bytes; save it again with "
                     "numpy.save"));
}

using NpyFiles = FilesTest;

// The header's length here leaves the data at an odd offset.
TEST_F(NpyFiles, AreReadAtAnyAlignment) {
  ASSERT_EQ(parse(npy(kU2 + "\n", kData)).offset % 2, 1U);
  const std::string file = write("odd.npy", npy(kU2 + "\n", kData));
  const Tokens tokens = open_tokens({"path", file}, TokenFormat::kNpy);
  EXPECT_THAT(list_of(tokens), ElementsAre(1, 2, 65535));
  EXPECT_EQ(tokens.max(), 65535U);
}

}  // namespace
}  // namespace eggroll::tests
