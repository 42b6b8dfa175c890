// JSON that is damaged or malicious is refused with a sentence that names the file, and does not end the process.
#include "record/json.h"

#include <limits>

#include <gmock/gmock.h>

#include "record/scratch.h"
#include "system/files.h"
#include "system/text.h"

namespace eggroll {
namespace {

using nlohmann::ordered_json;
using ::testing::HasSubstr;

std::string nested(size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); }

std::string members(size_t count) {
  std::string text = "{";
  for (size_t i = 0; i < count; ++i) text += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":0";
  return text + "}";
}

class JsonTest : public ScratchTest {
 protected:
  std::string refusal(const std::string& text) const {
    write_plainly(path_, text);
    return message_of([&] { read_json(path_, "mend it"); });
  }

  const std::filesystem::path path_ = folder_ / "x.json";
  const std::string bounds_ = path_.string() +
                              " has more than 100 levels or more than 10000 members in one object, expected a file "
                              "that eggroll wrote; mend it";
};

TEST_F(JsonTest, NestingHasALimit) {
  EXPECT_EQ(refusal(nested(kDeepestJson)), "");
  for (const size_t levels : {kDeepestJson + 1, size_t{100'000}, size_t{5'000'000}}) {
    EXPECT_EQ(refusal(nested(levels)), bounds_) << levels;
    EXPECT_TRUE(json_or_null(nested(levels)).is_null());
    EXPECT_EQ(message_of([&] { parse_json(nested(levels), "it", "mend it"); }).substr(0, 12), "it has more ");
  }
  std::string objects;
  for (size_t i = 0; i <= kDeepestJson; ++i) objects += "{\"a\":";
  EXPECT_EQ(refusal(objects), bounds_);
}

TEST_F(JsonTest, AnObjectHasALimit) {
  EXPECT_EQ(refusal(members(kMostJsonMembers)), "");
  EXPECT_EQ(refusal(members(kMostJsonMembers + 1)), bounds_);
  EXPECT_EQ(refusal(ordered_json(std::vector<int>(2 * kMostJsonMembers)).dump()), "");
}

TEST_F(JsonTest, BracketsAndCommasInTextsDoNotCount) {
  const std::string text(100'000, '[');
  EXPECT_EQ(refusal(ordered_json({{"a\"" + text, text + "\\\""}}).dump()), "");
  EXPECT_EQ(refusal(ordered_json({std::string(100'000, ',')}).dump()), "");
}

TEST_F(JsonTest, WhatIsNoJsonIsNamed) {
  EXPECT_EQ(refusal("{\"a\": 1"), path_.string() +
                                      " is not complete JSON: parse error at line 1, column 8: syntax error while "
                                      "parsing object - unexpected end of input; expected '}'; mend it");
  EXPECT_TRUE(parse_json("{", "it", "mend it").is_discarded());
  EXPECT_TRUE(json_or_null("{").is_null());
  EXPECT_EQ(json_or_null("{\"a\":1}").at("a"), 1);
}

TEST_F(JsonTest, TheReasonIsOnePrintableLine) {
  const std::string text = refusal("[\"\x1b[31m\xff" + std::string(100'000, 'x') + "\n\n\"]");
  EXPECT_LT(text.size(), path_.string().size() + 300);
  EXPECT_EQ(text, one_line(text, text.size()));
}

TEST_F(JsonTest, AMemberThatIsMissingOrOfAWrongTypeIsNamed) {
  const ordered_json json = {{"a", "text"}};
  const auto refusal_of = [&](auto&& read) { return message_of([&] { read_members("it", "mend it", read); }); };
  EXPECT_EQ(refusal_of([&] { return json.at("b"); }), "it is damaged: key 'b' not found; mend it");
  EXPECT_EQ(refusal_of([&] { return json.at("a").get<uint64_t>(); }),
            "it is damaged: type must be number, but is string; mend it");
  EXPECT_EQ(refusal_of([&] { return json.at("a").at("b"); }), "it is damaged: cannot use at() with string; mend it");
  EXPECT_EQ(refusal_of([&] { return object_at(json, "a").size(); }),
            "it is damaged: type of 'a' must be object, but is string; mend it");
  EXPECT_EQ(read_members("it", "mend it", [&] { return json.at("a").get<std::string>(); }), "text");
}

TEST_F(JsonTest, WholeNumbersAreWholeAndFit) {
  const auto as_uint32 = [](const ordered_json& json) { return uint32_t{whole(json)}; };
  EXPECT_EQ(as_uint32(0), 0U);
  EXPECT_EQ(as_uint32(4294967295U), 4294967295U);
  EXPECT_EQ(uint64_t{whole(ordered_json(std::numeric_limits<uint64_t>::max()))}, std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(int64_t{whole(ordered_json(std::numeric_limits<int64_t>::min()))}, std::numeric_limits<int64_t>::min());
  for (const ordered_json& json : {ordered_json(-1), ordered_json(1.5), ordered_json(1.0), ordered_json(1e50),
                                   ordered_json(4294967296), ordered_json("1"), ordered_json(true), ordered_json()}) {
    EXPECT_EQ(message_of([&] { read_members("it", "mend it", [&] { return as_uint32(json); }); }),
              "it is damaged: a whole number in range is expected, but it is " + json.dump() + "; mend it");
  }
}

}  // namespace
}  // namespace eggroll
