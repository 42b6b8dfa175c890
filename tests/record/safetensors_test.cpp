#include "train/safetensors.h"

#include <gmock/gmock.h>

#include <cstring>

#include "record/scratch.h"

namespace eggroll {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::StartsWith;

std::string file_of(const std::string& header, const std::string& data) {
  const uint64_t size = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &size, 8);
  return bytes + header + data;
}

std::string small_file() {
  return file_of(R"({"__metadata__":{"step":"8"},"w":{"dtype":"I8","shape":[2,2],"data_offsets":[0,4]},)"
                 R"("m":{"dtype":"F32","shape":[2],"data_offsets":[4,12]},)"
                 R"("v":{"dtype":"I32","shape":[],"data_offsets":[12,16]}})",
                 "abcdefghijklmnop");
}

// The reason in the middle of the sentence.
std::string reason(const std::string& bytes) {
  const std::string text = message_of([&] { parse_safetensors(bytes, "m.safetensors"); });
  const std::string head = "m.safetensors is not a usable safetensors file: ";
  const std::string tail = "; restore it from a copy or delete it";
  if (text.empty()) return text;
  EXPECT_THAT(text, AllOf(StartsWith(head), EndsWith(tail)));
  return text.substr(head.size(), text.size() - head.size() - tail.size());
}

std::string reason_for(const std::string& entries, const std::string& data = "") {
  return reason(file_of(entries, data));
}

TEST(SafetensorsTest, ReadsAFileOfTheFormat) {
  const std::string bytes = small_file();
  const Safetensors file = parse_safetensors(bytes, "m.safetensors");
  ASSERT_EQ(file.tensors.size(), 3U);
  EXPECT_EQ(file.tensors[0].name, "w");
  EXPECT_EQ(file.tensors[0].type, TensorType::kI8);
  EXPECT_EQ(file.tensors[0].shape, (std::vector<uint64_t>{2, 2}));
  EXPECT_EQ(file.tensors[0].data, "abcd");
  EXPECT_EQ(file.tensors[1].type, TensorType::kF32);
  EXPECT_EQ(file.tensors[1].data, "efghijkl");
  EXPECT_EQ(file.tensors[2].type, TensorType::kI32);
  EXPECT_EQ(file.tensors[2].shape, std::vector<uint64_t>{});
  EXPECT_EQ(file.tensors[2].data, "mnop");
  EXPECT_EQ(file.metadata, (std::map<std::string, std::string>{{"step", "8"}}));
}

TEST(SafetensorsTest, ReadsWhatItWroteInTheSameOrder) {
  const Safetensors file{{{{"z \"quoted\"", TensorType::kI8, {1, 3}}, "abc"},
                          {{"a", TensorType::kI32, {2}}, "efghijkl"},
                          {{"empty", TensorType::kF32, {0, 4}}, ""}},
                         {{"format", "eggroll"}}};
  const std::string header = safetensors_header({file.tensors.begin(), file.tensors.end()}, file.metadata);
  EXPECT_EQ(header.size() % 8, 0U);
  const std::string bytes = header + "abcefghijkl";
  const Safetensors read = parse_safetensors(bytes, "m");
  ASSERT_EQ(read.tensors.size(), 3U);
  EXPECT_EQ(read.metadata, file.metadata);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(read.tensors[i].name, file.tensors[i].name);
    EXPECT_EQ(read.tensors[i].type, file.tensors[i].type);
    EXPECT_EQ(read.tensors[i].shape, file.tensors[i].shape);
    EXPECT_EQ(read.tensors[i].data, file.tensors[i].data);
  }
  EXPECT_TRUE(parse_safetensors(safetensors_header({}, {}), "m").tensors.empty());
}

TEST(SafetensorsTest, RefusesToWriteWhatCouldNotBeRead) {
  const TensorHead tensor{"w", TensorType::kI8, {1}};
  EXPECT_EQ(message_of([&] {
              safetensors_header({tensor, tensor}, {});
            }),
            "two tensors are named 'w', expected distinct names; rename one in its plugin");
  EXPECT_EQ(message_of([&] {
              safetensors_header({{"__metadata__", TensorType::kI8, {1}}}, {});
            }),
            "two tensors are named '__metadata__', expected distinct names; rename one in its plugin");
}

TEST(SafetensorsTest, RefusesForeignAndDamagedFiles) {
  EXPECT_EQ(reason(""), "it has 0 bytes, too few for a header");
  EXPECT_EQ(reason("\x89PNG\r\n"), "it has 6 bytes, too few for a header");
  EXPECT_EQ(reason("\x89PNG\r\n\x1a\n and so on"),
            "its header claims 727905341920923785 bytes, expected at most 16777216");
  EXPECT_EQ(reason(file_of("{}", "").substr(0, 9)), "it ends within its header of 2 bytes");
  EXPECT_EQ(reason_for("[]"), "its header is not a JSON object");
  EXPECT_EQ(reason_for("{\"w\":"), "its header is not a JSON object");
  EXPECT_EQ(reason_for("{}", "abc"), "its last 3 bytes belong to no tensor");
  EXPECT_EQ(reason_for("{\"__metadata__\":1}"), "its __metadata__ is not an object");
  EXPECT_EQ(reason_for("{\"__metadata__\":{\"a\":1}}"), "its __metadata__ holds something that is not text");
  EXPECT_EQ(reason_for(std::string(1 << 20, '[')), "its header is not a JSON object");
}

TEST(SafetensorsTest, RefusesBadTensors) {
  const auto tensor = [](const std::string& dtype, const std::string& shape, const std::string& offsets) {
    return "{\"w\":{\"dtype\":" + dtype + ",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}}";
  };
  EXPECT_EQ(reason_for("{\"w\":1}"), "tensor 'w' lacks one of dtype, shape and data_offsets, or has more");
  EXPECT_EQ(reason_for("{\"w\":{\"dtype\":\"I8\",\"shape\":[0]}}"),
            "tensor 'w' lacks one of dtype, shape and data_offsets, or has more");
  EXPECT_EQ(reason_for(tensor("\"BF16\"", "[1]", "[0,2]"), "ab"), "tensor 'w' is not of type I8, I32 or F32");
  EXPECT_EQ(reason_for(tensor("8", "[1]", "[0,2]"), "ab"), "tensor 'w' is not of type I8, I32 or F32");
  EXPECT_EQ(reason_for(tensor("\"I8\"", "1", "[0,1]"), "a"), "tensor 'w' has a shape that is no list");
  EXPECT_EQ(reason_for(tensor("\"I8\"", "[-1]", "[0,1]"), "a"), "tensor 'w' has a shape that is not of whole numbers");
  EXPECT_EQ(reason_for(tensor("\"I8\"", "[1.0]", "[0,1]"), "a"), "tensor 'w' has a shape that is not of whole numbers");
  EXPECT_EQ(reason_for(tensor("\"I32\"", "[4611686018427387904]", "[0,0]")),
            "tensor 'w' has a shape too large for any file");
  EXPECT_EQ(reason_for(tensor("\"I8\"", "[4294967296,4294967296]", "[0,0]")),
            "tensor 'w' has a shape too large for any file");
  EXPECT_EQ(reason_for(tensor("\"I8\"", "[1]", "[0]"), "a"),
            "tensor 'w' has data_offsets that are not two whole numbers");
  EXPECT_EQ(reason_for(tensor("\"I8\"", "[1]", "[-1,0]"), "a"),
            "tensor 'w' has data_offsets that are not two whole numbers");
  EXPECT_EQ(reason_for(tensor("\"I8\"", "[1]", "[1,0]"), "a"),
            "tensor 'w' has the data_offsets 1 and 0, which are not the 1 bytes of its shape apart");
  EXPECT_EQ(reason_for(tensor("\"I8\"", "[2]", "[0,1]"), "a"),
            "tensor 'w' has the data_offsets 0 and 1, which are not the 2 bytes of its shape apart");
  EXPECT_EQ(reason_for(tensor("\"I8\"", "[4]", "[0,4]"), "abc"),
            "tensor 'w' ends at byte 4 of the data, of which the file has 3: it is truncated");
  EXPECT_EQ(reason_for(tensor("\"I8\"", "[0]", "[18446744073709551615,18446744073709551615]"), "abc"),
            "tensor 'w' ends at byte 18446744073709551615 of the data, of which the file has 3: it is truncated");
}

TEST(SafetensorsTest, RefusesGapsAndOverlaps) {
  const auto two = [](const std::string& first, const std::string& second) {
    return "{\"a\":{\"dtype\":\"I8\",\"shape\":[2],\"data_offsets\":" + first +
           "},\"b\":{\"dtype\":\"I8\",\"shape\":[2],\"data_offsets\":" + second + "}}";
  };
  EXPECT_EQ(reason_for(two("[0,2]", "[2,4]"), "abcd"), "");
  EXPECT_EQ(reason_for(two("[2,4]", "[0,2]"), "abcd"), "");
  EXPECT_EQ(reason_for(two("[0,2]", "[1,3]"), "abc"), "tensor 'b' overlaps another");
  EXPECT_EQ(reason_for(two("[0,2]", "[0,2]"), "ab"), "tensor 'b' overlaps another");
  EXPECT_EQ(reason_for(two("[0,2]", "[3,5]"), "abcde"), "there is a gap before tensor 'b'");
  EXPECT_EQ(reason_for(two("[1,3]", "[3,5]"), "abcde"), "there is a gap before tensor 'a'");
  EXPECT_EQ(reason_for(two("[0,2]", "[2,4]"), "abcde"), "its last 1 bytes belong to no tensor");
}

// Whatever the bytes, parsing ends with tensors inside the file or with one sentence.
void expect_safe(const std::string& bytes) {
  try {
    // A copy of exact size, so that the address sanitizer sees a read beyond it.
    const std::vector<char> copy(bytes.begin(), bytes.end());
    const Safetensors file = parse_safetensors({copy.data(), copy.size()}, "m");
    size_t total = 0;
    unsigned sum = 0;
    for (const TensorView& tensor : file.tensors) {
      total += tensor.data.size();
      for (const char c : tensor.data) sum += static_cast<unsigned char>(c);
    }
    EXPECT_LE(total, bytes.size());
    EXPECT_LE(sum, 255 * total);
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), StartsWith("m is not a usable safetensors file: "));
  }
}

TEST(SafetensorsTest, EveryTruncationIsRefused) {
  const std::string bytes = small_file();
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_NE(reason(bytes.substr(0, size)), "") << size;
    expect_safe(bytes.substr(0, size));
  }
}

TEST(SafetensorsTest, EveryChangedByteIsSafe) {
  const std::string bytes = small_file();
  for (size_t place = 0; place < bytes.size(); ++place) {
    for (int value = 0; value < 256; ++value) {
      std::string changed = bytes;
      changed[place] = static_cast<char>(value);
      expect_safe(changed);
    }
  }
}

TEST(SafetensorsTest, EveryRemovedAndInsertedByteIsSafe) {
  const std::string bytes = small_file();
  for (size_t place = 0; place < bytes.size(); ++place) {
    expect_safe(bytes.substr(0, place) + bytes.substr(place + 1));
    for (const char c : {'\0', '0', '9', '[', '{', '"', ',', '\xff'}) {
      expect_safe(bytes.substr(0, place) + c + bytes.substr(place));
    }
  }
}

}  // namespace
}  // namespace eggroll
