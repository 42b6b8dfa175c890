// Strict reading of a plugin's settings: every key has a type and a range, must be present, and must be read.
#ifndef EGGROLL_SETTINGS_H
#define EGGROLL_SETTINGS_H

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "eggroll/error.h"
#include "eggroll/plugin.h"
#include "eggroll/suggest.h"

namespace eggroll {

// The integer of 64 bits that a real without a fraction stands for: 1000 for 1e3.
inline std::optional<int64_t> whole_number(double real) {
  if (!(real >= -0x1p63 && real < 0x1p63) || real != std::trunc(real)) return std::nullopt;
  return static_cast<int64_t>(real);
}

class Settings {
 public:
  explicit Settings(const egg_settings* settings)
      : items_(settings->items, settings->items + settings->count), read_(items_.size(), false) {}

  bool has(const std::string& key) const { return find(key) != kNone; }

  bool is_null(const std::string& key) {
    const egg_setting& item = take(key, "a value or null");
    return item.type == EGG_SETTING_NULL;
  }

  // Whether the key is there and holds text.
  bool is_text(const std::string& key) const { return has(key) && items_[find(key)].type == EGG_SETTING_TEXT; }

  // Reals without a fraction are accepted as integers.
  int64_t integer(const std::string& key, int64_t low, int64_t high) {
    const egg_setting& item = take(key, "an integer" + range(low, high));
    if (item.type == EGG_SETTING_INTEGER && item.integer >= low && item.integer <= high) return item.integer;
    const std::optional<int64_t> whole = item.type == EGG_SETTING_REAL ? whole_number(item.real) : std::nullopt;
    if (whole && *whole >= low && *whole <= high) return *whole;
    const bool is_number = item.type == EGG_SETTING_INTEGER || item.type == EGG_SETTING_REAL;
    wrong(key, item, "an integer" + range(low, high, is_number && item.real > static_cast<double>(high)));
  }

  int32_t int32(const std::string& key, int32_t low, int32_t high = std::numeric_limits<int32_t>::max()) {
    return static_cast<int32_t>(integer(key, low, high));
  }

  // Integers are accepted as reals.
  double real(const std::string& key, double low, double high) {
    const std::string expected = "a number" + range(low, high);
    const egg_setting& item = take(key, expected);
    if (item.type != EGG_SETTING_REAL && item.type != EGG_SETTING_INTEGER) wrong(key, item, expected);
    if (!(item.real >= low && item.real <= high)) wrong(key, item, expected);
    return item.real;
  }

  bool boolean(const std::string& key) {
    const egg_setting& item = take(key, "true or false");
    if (item.type != EGG_SETTING_BOOLEAN) wrong(key, item, "true or false");
    return item.integer != 0;
  }

  std::string text(const std::string& key) {
    const egg_setting& item = take(key, "text");
    if (item.type != EGG_SETTING_TEXT) wrong(key, item, "text");
    return item.text;
  }

  // The index of the value among choices.
  int32_t choice(const std::string& key, const std::vector<std::string>& choices) {
    std::string expected = "one of";
    for (size_t i = 0; i < choices.size(); ++i) expected += (i > 0 ? ", " : " ") + choices[i];
    const egg_setting& item = take(key, expected);
    if (item.type == EGG_SETTING_TEXT) {
      for (size_t i = 0; i < choices.size(); ++i) {
        if (choices[i] == item.text) return static_cast<int32_t>(i);
      }
      throw setting_error(key, key + " is '" + item.text + "', expected " + expected + near_name(item.text, choices));
    }
    wrong(key, item, expected);
  }

  // The number of elements of the list, each with keys that begin with LIST.0, LIST.1 and so on. After this call the
  // list is a known key, even if it is empty.
  size_t elements(const std::string& list) {
    lists_.push_back(list);
    size_t count = 0;
    for (const egg_setting& item : items_) {
      const std::string key = std::string(item.key) + ".";
      while (key.starts_with(list + "." + std::to_string(count) + ".")) ++count;
    }
    return count;
  }

  // Throws Error if a key was not read: no key is ever ignored. If a plugin does not call this last, its adapter does.
  void finish() const {
    for (size_t i = 0; i < items_.size(); ++i) {
      if (read_[i]) continue;
      std::vector<std::string> known = lists_;
      for (size_t j = 0; j < items_.size(); ++j) {
        if (read_[j]) known.emplace_back(items_[j].key);
      }
      throw setting_error(items_[i].key, std::string("unknown key '") + items_[i].key + "'" +
                                             suggestion(items_[i].key, known) + " (correct or remove it)");
    }
  }

 private:
  static constexpr size_t kNone = static_cast<size_t>(-1);

  size_t find(const std::string& key) const {
    for (size_t i = 0; i < items_.size(); ++i) {
      if (key == items_[i].key) return i;
    }
    return kNone;
  }

  const egg_setting& take(const std::string& key, const std::string& expected) {
    const size_t i = find(key);
    if (i == kNone) {
      std::string hint;
      for (const egg_setting& item : items_) {
        if (edit_distance(key, item.key) <= 2) hint = std::string("; '") + item.key + "' is near: is it misspelt?";
      }
      throw setting_error(key, "missing key '" + key + "', expected " + expected + "; add it" + hint);
    }
    read_[i] = true;
    return items_[i];
  }

  [[noreturn]] static void wrong(const std::string& key, const egg_setting& item, const std::string& expected) {
    throw setting_error(key, key + " is " + shown(item) + ", expected " + expected);
  }

  static std::string shown(const egg_setting& item) {
    switch (item.type) {
      case EGG_SETTING_INTEGER:
        return std::to_string(item.integer);
      case EGG_SETTING_REAL:
        return text_of(item.real);
      case EGG_SETTING_BOOLEAN:
        return item.integer != 0 ? "true" : "false";
      case EGG_SETTING_TEXT:
        return std::string("the text '") + item.text + "'";
      default:
        return "null";
    }
  }

  // With enough digits to read back as the same number: "0.1", "1000", "1e-12".
  static std::string text_of(double value) {
    char text[32];
    for (int digits = 15; digits <= 17; ++digits) {
      std::snprintf(text, sizeof(text), "%.*g", digits, value);
      if (std::strtod(text, nullptr) == value) break;
    }
    return text;
  }

  static std::string range(double low, double high) {
    if (low == std::numeric_limits<double>::lowest()) return "";
    return " from " + text_of(low) + " to " + text_of(high);
  }

  // Names a very large upper bound only to those who exceed it.
  static std::string range(int64_t low, int64_t high, bool is_too_large = false) {
    const bool is_huge = high >= std::numeric_limits<int32_t>::max();
    if (is_too_large && is_huge) return " of at most " + std::to_string(high);
    if (low == std::numeric_limits<int64_t>::min()) return "";
    if (is_huge) return " of at least " + std::to_string(low);
    return " from " + std::to_string(low) + " to " + std::to_string(high);
  }

  std::vector<egg_setting> items_;
  std::vector<bool> read_;
  std::vector<std::string> lists_;  // that elements() was asked for
};

}  // namespace eggroll

#endif
