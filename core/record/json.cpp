#include "record/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "system/files.h"
#include "system/text.h"

namespace eggroll {
namespace {

using nlohmann::ordered_json;

constexpr size_t kLongestReason = 200;  // bytes; the library repeats the text that it could not read

Error unbounded(const std::string& what, const std::string& cure) {
  return Error(
      fmt::format("{} has more than {} levels or more than {} members in one object, expected a file that "
                  "eggroll wrote; {}",
                  what, kDeepestJson, kMostJsonMembers, cure));
}

}  // namespace

std::string reason_of(const nlohmann::json::exception& error) {
  const std::string text = error.what();  // "[json.exception.NAME.NUMBER] text"
  const size_t number_end = text.find("] ");
  return one_line(number_end == std::string::npos ? text : text.substr(number_end + 2), kLongestReason);
}

void refuse_whole(const ordered_json& json) {
  throw nlohmann::json::out_of_range::create(
      406, "a whole number in range is expected, but it is " + one_line(json.dump(), kLongestReason), nullptr);
}

// Up to the first error of syntax this counts as the parser does.
bool is_bounded_json(std::string_view text) {
  struct Level {
    bool is_object;
    size_t commas;
  };
  std::vector<Level> levels;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (levels.size() == kDeepestJson) return false;
      levels.push_back({c == '{', 0});
    } else if ((c == '}' || c == ']') && !levels.empty()) {
      levels.pop_back();
    } else if (c == ',' && !levels.empty()) {
      if (++levels.back().commas == kMostJsonMembers && levels.back().is_object) return false;
    }
  }
  return true;
}

ordered_json parse_json(std::string_view text, const std::string& what, const std::string& cure) {
  if (!is_bounded_json(text)) throw unbounded(what, cure);
  return ordered_json::parse(text, nullptr, false);
}

ordered_json read_json(const std::filesystem::path& path, const std::string& cure, uint64_t most) try {
  const std::string text = read_bounded(path, most);
  if (!is_bounded_json(text)) throw unbounded(path.string(), cure);
  return ordered_json::parse(text);
} catch (const nlohmann::json::exception& error) {
  throw Error(fmt::format("{} is not complete JSON: {}; {}", path.string(), reason_of(error), cure));
}

ordered_json json_or_null(std::string_view text) {
  if (!is_bounded_json(text)) return nullptr;
  ordered_json json = ordered_json::parse(text, nullptr, false);
  return json.is_discarded() ? ordered_json() : json;
}

const ordered_json& object_at(const ordered_json& json, const char* key) {
  const ordered_json& member = json.at(key);
  if (!member.is_object()) {
    throw nlohmann::json::type_error::create(
        302, fmt::format("type of '{}' must be object, but is {}", key, member.type_name()), &json);
  }
  return member;
}

Error damaged_json(const nlohmann::json::exception& error, const std::string& what, const std::string& cure) {
  return Error(fmt::format("{} is damaged: {}; {}", what, reason_of(error), cure));
}

}  // namespace eggroll
