// A reader notices every change of a sealed file's bytes.
#include "record/seal.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "record/json.h"
#include "record/scratch.h"

namespace eggroll {
namespace {

using nlohmann::ordered_json;

const ordered_json object = {
    {"step", 7}, {"bits", 4.0999999999999996}, {"nested", {{"b", "\xff"}, {"a", {1, nullptr}}}}};

TEST(SealTest, AnObjectIsWholeAsItWasSealed) {
  const ordered_json with_seal = sealed(object);
  EXPECT_EQ(seal_of(object), Seal::kAbsent);
  EXPECT_EQ(seal_of(with_seal), Seal::kWhole);
  EXPECT_EQ(sealed(with_seal), with_seal);
  for (const int indent : {-1, 2}) {
    const std::string text = with_seal.dump(indent, ' ', false, ordered_json::error_handler_t::replace);
    EXPECT_EQ(seal_of(ordered_json::parse(text)), Seal::kWhole);
  }
}

TEST(SealTest, AnObjectWithAFlippedBitIsNot) {
  const ordered_json with_seal =
      ordered_json::parse(sealed(object).dump(-1, ' ', false, ordered_json::error_handler_t::replace));
  const std::string text = with_seal.dump();
  for (size_t i = 0; i < text.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = text;
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
      const ordered_json read = json_or_null(flipped);
      // An object seems to have no seal only if the seal's name is damaged.
      if (read.is_object() && seal_of(read) == Seal::kAbsent) {
        EXPECT_EQ(read.size(), with_seal.size());
        continue;
      }
      EXPECT_TRUE(!read.is_object() || read == with_seal || seal_of(read) == Seal::kBroken) << flipped;
    }
  }
}

TEST(SealTest, TextWithAFlippedBitIsNotWhole) {
  const std::string text = "seed: 3\nname: a\n";
  const std::string with_seal = sealed_text(text);
  EXPECT_EQ(seal_of_text(text), Seal::kAbsent);
  EXPECT_EQ(seal_of_text(with_seal), Seal::kWhole);
  EXPECT_EQ(with_seal.substr(with_seal.find('\n') + 1), text);
  const size_t name = std::string("# sha256").size();
  for (size_t i = 0; i < with_seal.size(); ++i) {
    std::string flipped = with_seal;
    flipped[i] = static_cast<char>(flipped[i] ^ 1);
    EXPECT_EQ(seal_of_text(flipped), i < name ? Seal::kAbsent : Seal::kBroken) << flipped;
  }
  for (size_t size = 1; size < with_seal.size(); ++size) {
    EXPECT_EQ(seal_of_text(with_seal.substr(0, size)), Seal::kBroken) << size;
  }
}

TEST(SealTest, ALineWithAFlippedBitIsNotWhole) {
  const std::string line = sealed_line({{"step", 7}, {"monitor", {{"verdicts", {"a"}}}}});
  EXPECT_EQ(seal_of_line(line), Seal::kWhole);
  EXPECT_EQ(ordered_json::parse(line).at("step"), 7);
  for (const char* other : {"", "{\"step\":7}", "{\"a\":\"}", "{\"a\":\"0123456789\"}"}) {
    EXPECT_EQ(seal_of_line(other), Seal::kAbsent) << other;
  }
  for (size_t i = 0; i < line.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = line;
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
      EXPECT_NE(seal_of_line(flipped), Seal::kWhole) << flipped;
    }
    std::string shorter = line;
    shorter.erase(i, 1);
    EXPECT_NE(seal_of_line(shorter), Seal::kWhole) << shorter;
  }
}

TEST(SealTest, EachWholeLineOfAFileIsRead) {
  const std::string first = sealed_line({{"step", 1}}) + "\n";
  const std::string second = sealed_line({{"step", 2}}) + "\n";
  const auto read = [](const std::string& text) {
    std::string said;
    each_sealed_line("a/log", text, "restore it", [&](const ordered_json& line, const std::string& name) {
      said += fmt::format("{}: {}, ", name, line.at("step").get<int>());
    });
    return said;
  };
  EXPECT_EQ(read(first + second), "line 1 of a/log: 1, line 2 of a/log: 2, ");
  EXPECT_EQ(read(first + second.substr(0, second.size() - 1)), "line 1 of a/log: 1, ") << "a write was cut short";
  EXPECT_EQ(read(""), "");
  for (const char* line : {"{\"step\":2}\n", "\n"}) {
    EXPECT_EQ(message_of([&] { read(first + line); }), "line 2 of a/log is damaged: it has no checksum; restore it")
        << line;
  }
  EXPECT_EQ(message_of([&] { read(first + "x" + second); }),
            "line 2 of a/log is damaged: its checksum is not that of the line; restore it");
}

}  // namespace
}  // namespace eggroll
