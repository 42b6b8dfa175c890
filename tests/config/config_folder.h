// The shared parts of the configuration's tests: a scratch copy of the folder fixture/, and error texts.
#ifndef EGGROLL_TESTS_CONFIG_CONFIG_FOLDER_H
#define EGGROLL_TESTS_CONFIG_CONFIG_FOLDER_H

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "config/compose.h"
#include "config/hash.h"
#include "config/yaml.h"
#include "support/scratch_folder.h"

namespace eggroll::test {

// The sentence that the call throws; "" where it throws nothing.
template <class Call>
std::string config_error_of(Call&& call) {
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
    std::filesystem::copy(EGGROLL_SOURCE_DIR "/tests/config/fixture", folder_,
                          std::filesystem::copy_options::recursive);
  }

  void write(const std::string& path, const std::string& text) const { scratch_.put(path, text); }

  ConfigNode composed(const std::vector<std::string>& overrides = {}) const { return compose(search_, overrides); }

  // The text with paths from the scratch folder.
  std::string shortened(std::string text) const {
    const std::string prefix = folder_.string() + "/";
    for (size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix)) text.erase(at, prefix.size());
    return text;
  }

  // The sentence that composing throws, paths from the scratch folder.
  std::string complaint(const std::vector<std::string>& overrides = {}) const {
    return shortened(config_error_of([&] { composed(overrides); }));
  }

  std::string source_of(const ConfigNode& config, const std::string& path) const {
    return shortened(config.at(path).source().text());
  }

  const ScratchFolder scratch_;
  const std::filesystem::path folder_ = scratch_.path();
  ConfigSearch search_{{folder_ / "configs"}};
};

}  // namespace eggroll::test

#endif
