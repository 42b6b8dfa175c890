// Reading JSON that may be damaged, half written or made to do harm. Every reader of JSON files uses these functions.
#ifndef EGGROLL_RECORD_JSON_H
#define EGGROLL_RECORD_JSON_H

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "eggroll/error.h"

namespace eggroll {

// The library copies and writes nested values by recursion and searches the members of an ordered object one by one, so
// that a file beyond these bounds could end the process or take hours. What eggroll writes stays far below them.
inline constexpr size_t kDeepestJson = 100;                   // levels
inline constexpr size_t kMostJsonMembers = 10'000;            // of one object
inline constexpr uint64_t kLargestJson = uint64_t{64} << 20;  // bytes of a file

bool is_bounded_json(std::string_view text);

// Returns a value that is_discarded() if the text is not complete JSON. Throws if it goes beyond the bounds. `what`
// begins the sentence and names the file, `cure` ends it.
nlohmann::ordered_json parse_json(std::string_view text, const std::string& what, const std::string& cure);

// Reads a file, which must be no link. Throws also if it is not complete JSON or has more than `most` bytes.
nlohmann::ordered_json read_json(const std::filesystem::path& path, const std::string& cure,
                                 uint64_t most = kLargestJson);

// Returns null if the text is not complete or beyond the bounds: for lines that may be half written.
nlohmann::ordered_json json_or_null(std::string_view text);

// Null if there is no value.
template <class T>
nlohmann::ordered_json or_null(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

// The member, which must be an object. Throws as json::at() and json::get() do.
const nlohmann::ordered_json& object_at(const nlohmann::ordered_json& json, const char* key);

// A number that must be whole and fit the type that it is assigned to; otherwise it throws as json::get() does. The
// library itself would read -1 as 2^64-1 and 1.5 as 1.
struct Whole {
  const nlohmann::ordered_json& json;
  template <std::integral T>
  operator T() const;
};
inline Whole whole(const nlohmann::ordered_json& json) { return Whole{json}; }

// The library's message in an exception, on one line of bounded length and without the library's own names.
std::string reason_of(const nlohmann::json::exception& error);

[[noreturn]] void refuse_whole(const nlohmann::ordered_json& json);

template <std::integral T>
Whole::operator T() const {
  if (json.is_number_unsigned()) {
    const auto value = json.get<uint64_t>();
    if (std::in_range<T>(value)) return static_cast<T>(value);
  } else if (json.is_number_integer()) {
    const auto value = json.get<int64_t>();
    if (std::in_range<T>(value)) return static_cast<T>(value);
  }
  refuse_whole(json);
}

// The sentence "WHAT is damaged: the reason; CURE" for an exception of json::at() or json::get().
Error damaged_json(const nlohmann::json::exception& error, const std::string& what, const std::string& cure);

// Returns read(), which takes values out of JSON. A member that is missing or of a wrong type throws that sentence.
template <class Read>
auto read_members(const std::string& what, const std::string& cure, Read&& read) {
  try {
    return read();
  } catch (const nlohmann::json::exception& error) {
    throw damaged_json(error, what, cure);
  }
}

}  // namespace eggroll

#endif
