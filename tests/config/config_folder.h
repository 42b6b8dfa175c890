// What the configuration's tests share: a scratch folder with a small set of config files, and error texts.
#ifndef EGGROLL_TESTS_CONFIG_CONFIG_FOLDER_H
#define EGGROLL_TESTS_CONFIG_CONFIG_FOLDER_H

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "config/compose.h"
#include "config/hash.h"
#include "config/yaml.h"
#include "eggroll/error.h"

namespace eggroll::test {

// The sentence that the call throws; "" where it throws nothing.
template <class Call>
std::string message_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), EGG_ERROR_CONFIG) << error.what();
    return error.what();
  }
  return "";
}

inline std::string json_of(const ConfigNode& node) { return to_json(node).dump(); }

class ConfigFolderTest : public ::testing::Test {
 protected:
  ConfigFolderTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "eggroll-config-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    search_.config_dirs = {folder_ / "configs"};
    write("configs/config.yaml",
          "defaults:\n"
          "  - backend: auto\n"
          "  - model: gru\n"
          "  - dataset: text\n"
          "  - _self_\n"
          "name: run\n"
          "seed: 7\n"
          "train:\n"
          "  steps: 800\n"
          "  rate: 0.5\n"
          "  tokens: 32\n");
    write("configs/backend/auto.yaml", "name: auto\n");
    write("configs/backend/reference.yaml", "name: reference\n");
    write("configs/model/gru.yaml", "name: gru\nwidth: 64\nlayers: 1\ntied: false\nshift: null\n");
    write("configs/model/nano.yaml", "defaults:\n  - gru\n  - _self_\nwidth: 256\nshift: 8\n");
    write("configs/dataset/text.yaml", "name: text\npath: null\n");
    write("configs/dataset/count.yaml", "name: count\nlength: ${train.tokens}\nseed: ${seed}\n");
    write("experiments/count.yaml",
          "defaults:\n"
          "  - override dataset: count\n"
          "  - _self_\n"
          "name: count\n"
          "train:\n"
          "  steps: 150\n");
  }
  ~ConfigFolderTest() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((folder_ / path).parent_path());
    std::ofstream(folder_ / path) << text;
  }

  ConfigNode composed(const std::vector<std::string>& overrides = {}) const { return compose(search_, overrides); }

  // The text with paths from the scratch folder.
  std::string shortened(std::string text) const {
    const std::string prefix = folder_.string() + "/";
    for (size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix)) text.erase(at, prefix.size());
    return text;
  }

  // The sentence that composing throws, paths from the scratch folder.
  std::string complaint(const std::vector<std::string>& overrides = {}) const {
    return shortened(message_of([&] { composed(overrides); }));
  }

  std::string source_of(const ConfigNode& config, const std::string& path) const {
    return shortened(config.at(path).source().text());
  }

  std::filesystem::path folder_;
  ConfigSearch search_;
};

}  // namespace eggroll::test

#endif
