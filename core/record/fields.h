// The fields of a struct as JSON. One list both writes and reads them, so a key is typed once:
//
//   void fields(auto& list, Either<Evaluation> auto& evaluation) {
//     list("step", evaluation.step);
//     list("bytes", evaluation.bytes, Key::kWhereKnown);
//   }
//
// The list stands in namespace eggroll, before the lists of the structs that hold this one. numbers_of() returns the
// members of a struct that the file holds as a row of numbers. docs/adding.md says what a new field takes.
#ifndef EGGROLL_RECORD_FIELDS_H
#define EGGROLL_RECORD_FIELDS_H

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "eggroll/error.h"
#include "record/json.h"

namespace eggroll {

// The struct as a list writes it (const) or reads into it.
template <class T, class Struct>
concept Either = std::same_as<std::remove_const_t<T>, Struct>;

template <class T>
nlohmann::ordered_json field_json(const T& value, const char* key);
// Throws nlohmann's exceptions, as read_members() expects.
template <class T>
void read_field(const nlohmann::ordered_json& json, T&& value);

// Throws as json::get() does. The number kFieldRefused says that the reason begins with a key.
inline constexpr int kValueRefused = 501;
inline constexpr int kFieldRefused = 502;
[[noreturn]] inline void refuse_value(const std::string& reason, int number = kValueRefused) {
  throw nlohmann::json::other_error::create(number, reason, nullptr);
}

// Throws Error for infinity and NaN: JSON has neither, and readers take a null for "not known".
inline double finite_number(double value, const std::string& key) {
  if (std::isfinite(value)) return value;
  throw Error(fmt::format("{} of the record is {}, expected a finite number; report this as a bug", key, value));
}

// kAlways: every file has the key. kLater: files of older versions lack it. kWhereKnown: the file has it only if the
// value is not null and no empty list or object.
enum class Key { kAlways, kLater, kWhereKnown };

class FieldWriter {
 public:
  explicit FieldWriter(nlohmann::ordered_json& json) : json_(json) {}

  template <class T>
  void operator()(const char* key, const T& value, Key when = Key::kAlways) {
    const nlohmann::ordered_json json = field_json(value, key);
    if (when != Key::kWhereKnown || !json.empty()) json_[key] = json;
  }
  // An object in the file that is no struct of its own in the source.
  template <class Inner>
  void object(const char* key, const Inner& inner) {
    inner(FieldWriter(json_[key]));
  }

 private:
  nlohmann::ordered_json& json_;
};

class FieldReader {
 public:
  explicit FieldReader(const nlohmann::ordered_json& json) : json_(json) {}

  template <class T>
  void operator()(const char* key, T&& value, Key when = Key::kAlways) {
    if (when != Key::kAlways && !json_.contains(key)) return;
    const nlohmann::ordered_json& field = json_.at(key);
    try {
      read_field(field, value);
    } catch (const nlohmann::json::exception& error) {  // "processes.update: key 'method' not found"
      const char* after = error.id == kFieldRefused ? "." : ": ";
      refuse_value(key + (after + reason_of(error)), kFieldRefused);
    }
  }
  template <class Inner>
  void object(const char* key, const Inner& inner) {
    inner(FieldReader(json_.at(key)));
  }

 private:
  const nlohmann::ordered_json& json_;
};

// A value that the file holds as one of these names.
template <class T, size_t n>
struct Named {
  Named(T& named, const std::array<const char*, n>& all) : value(named), names(all) {}

  nlohmann::ordered_json written(const char*) const { return names[static_cast<size_t>(value)]; }
  void read(const nlohmann::ordered_json& json) const {
    const auto found = std::find(names.begin(), names.end(), json);
    if (found == names.end()) {
      refuse_value(fmt::format("one of {} is expected, but it is {}", fmt::join(names, ", "), json.dump()));
    }
    value = static_cast<T>(found - names.begin());
  }

  T& value;
  const std::array<const char*, n>& names;
};

template <class T>
concept HasFields = requires(FieldWriter& list, const T& value) {
  fields(list, value);
};
template <class T>
concept IsRow = requires(const T& value) {
  numbers_of(value);
};
template <class T>
concept IsOptional = std::same_as<T, std::optional<typename T::value_type>>;
template <class T>
concept IsList = std::same_as<T, std::vector<typename T::value_type>>;
// The file has an object, with the names in the order of the list.
template <class T>
concept IsNamedNumbers = std::same_as<T, std::vector<std::pair<std::string, double>>>;

template <class T>
nlohmann::ordered_json field_json(const T& value, const char* key) {
  using nlohmann::ordered_json;
  if constexpr (requires { value.written(key); }) {
    return value.written(key);
  } else if constexpr (std::floating_point<T>) {
    return finite_number(value, key);
  } else if constexpr (IsOptional<T>) {
    return value ? field_json(*value, key) : ordered_json();
  } else if constexpr (IsRow<T>) {
    return std::apply([&](auto... number) { return ordered_json{finite_number(number, key)...}; }, numbers_of(value));
  } else if constexpr (IsNamedNumbers<T>) {
    ordered_json numbers = ordered_json::object();
    for (const auto& [name, number] : value) numbers[name] = finite_number(number, name);
    return numbers;
  } else if constexpr (HasFields<T>) {
    ordered_json json = ordered_json::object();
    FieldWriter list(json);
    fields(list, value);
    return json;
  } else if constexpr (IsList<T>) {
    ordered_json list = ordered_json::array();
    for (const auto& element : value) list.push_back(field_json(element, key));
    return list;
  } else {
    return value;
  }
}

template <class T>
void read_field(const nlohmann::ordered_json& json, T&& value) {
  using Value = std::remove_cvref_t<T>;
  if constexpr (requires { value.read(json); }) {
    value.read(json);
  } else if constexpr (IsOptional<Value>) {
    value.reset();
    if (!json.is_null()) read_field(json, value.emplace());
  } else if constexpr (IsRow<Value>) {
    size_t next = 0;
    std::apply([&](auto&... number) { (read_field(json.at(next++), number), ...); }, numbers_of(value));
  } else if constexpr (IsNamedNumbers<Value>) {
    for (const auto& [name, number] : json.get_ref<const nlohmann::ordered_json::object_t&>()) {
      value.emplace_back(name, number.template get<double>());
    }
  } else if constexpr (HasFields<Value>) {
    FieldReader list(json);
    fields(list, value);
  } else if constexpr (IsList<Value>) {
    if (!json.is_array()) refuse_value(fmt::format("type must be array, but is {}", json.type_name()));
    value.clear();
    for (const auto& element : json) read_field(element, value.emplace_back());
  } else if constexpr (requires { value.is_object(); }) {
    if (value.is_object()) json.get_ref<const nlohmann::ordered_json::object_t&>();  // throws if it is none
    value = json;
  } else if constexpr (std::integral<Value>) {
    value = whole(json);
  } else {
    value = json.get<Value>();
  }
}

// Reads the struct from this JSON.
template <HasFields Struct>
Struct read_fields(const nlohmann::ordered_json& json) {
  Struct read;
  read_field(json, read);
  return read;
}

}  // namespace eggroll

#endif
