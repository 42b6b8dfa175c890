// Options of a dataset as the host would hand them over, files to read, and the text of an error.
#ifndef EGGROLL_TESTS_DATA_HELPERS_H
#define EGGROLL_TESTS_DATA_HELPERS_H

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "data/dataset.h"
#include "eggroll/error.h"
#include "eggroll/settings.h"
#include "support/scratch_folder.h"

namespace eggroll::tests {

// The options of configs/dataset/<name>.yaml, and changes to them. Must outlive its settings.
class Options {
 public:
  explicit Options(const std::string& name) {
    const YAML::Node file = YAML::LoadFile(std::string(EGGROLL_SOURCE_DIR) + "/configs/dataset/" + name + ".yaml");
    for (const auto& item : file) {
      Value& value = values_[item.first.as<std::string>()];
      const YAML::Node& node = item.second;
      int64_t integer = 0;
      double real = 0.0;
      if (node.IsNull()) continue;
      if (YAML::convert<int64_t>::decode(node, integer)) {
        value = integer;
      } else if (YAML::convert<double>::decode(node, real)) {
        value = real;
      } else {
        value = node.as<std::string>();
      }
    }
  }

  template <class T>
  Options& set(const std::string& key, const T& value) {
    if constexpr (std::is_integral_v<T>) return put(key, static_cast<int64_t>(value));
    if constexpr (std::is_floating_point_v<T>) return put(key, value);
    if constexpr (std::is_convertible_v<T, std::string>) return put(key, std::string(value));
  }
  Options& set_null(const std::string& key) { return put(key, std::monostate()); }

  Dataset open() const {
    std::vector<egg_setting> items;
    for (const auto& [key, value] : values_) {
      egg_setting item{key.c_str(), EGG_SETTING_NULL, 0, 0, 0.0, nullptr};
      if (const auto* integer = std::get_if<int64_t>(&value)) {
        item.type = EGG_SETTING_INTEGER;
        item.integer = *integer;
        item.real = static_cast<double>(*integer);
      } else if (const auto* real = std::get_if<double>(&value)) {
        item.type = EGG_SETTING_REAL;
        item.real = *real;
      } else if (const auto* text = std::get_if<std::string>(&value)) {
        item.type = EGG_SETTING_TEXT;
        item.text = text->c_str();
      }
      items.push_back(item);
    }
    const egg_settings view{sizeof(egg_settings), static_cast<uint32_t>(items.size()), items.data()};
    Settings settings(&view);
    return open_dataset(settings);
  }

 private:
  using Value = std::variant<std::monostate, int64_t, double, std::string>;
  Options& put(const std::string& key, Value value) {
    values_[key] = std::move(value);
    return *this;
  }
  std::map<std::string, Value> values_;
};

// A folder of the test's own, removed with it.
class FilesTest : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (scratch_.path() / name).string(); }
  std::string write(const std::string& name, const std::string& content) const { return scratch_.put(name, content); }

 private:
  const test::ScratchFolder scratch_;
};

// "key: text" of the Error that body throws.
template <class Body>
std::string error_of(Body&& body) {
  try {
    body();
  } catch (const Error& e) {
    return e.key() + ": " + e.what();
  }
  return "no error";
}

// The vocabulary file of these tokens.
inline std::string vocabulary_text(const std::vector<std::string>& tokens) {
  std::string text = "eggroll vocabulary 1\n";
  for (const std::string& token : tokens) {
    for (const char c : token) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
    text += '\n';
  }
  return text;
}

template <class T>
std::vector<uint32_t> list_of(const T& tokens) {
  std::vector<uint32_t> values;
  for (uint64_t i = 0; i < tokens.size(); ++i) values.push_back(tokens[i]);
  return values;
}

}  // namespace eggroll::tests

#endif
