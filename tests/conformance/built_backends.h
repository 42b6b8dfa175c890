// The backends of this build as parameters of tests.
#ifndef EGGROLL_TESTS_CONFORMANCE_BUILT_BACKENDS_H
#define EGGROLL_TESTS_CONFORMANCE_BUILT_BACKENDS_H

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "conformance/check_plugin.h"
#include "support/host.h"

namespace eggroll::test {

inline const ConfigSearch kConfigs{{EGGROLL_SOURCE_DIR "/configs"}};
inline const egg_settings kNoSettings{sizeof(egg_settings), 0, nullptr};

inline std::vector<std::string> built_backends() {
  std::vector<std::string> names;
  for (const PluginFile& file : built_plugins().files()) {
    if (file.kind == EGG_KIND_BACKEND) names.push_back(file.name);
  }
  return names;
}

// Skips the test, with the reason, where this machine cannot run the backend; a rejected plugin fails the test instead.
class BuiltBackend : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    for (const PluginFile& file : built_plugins().files()) {
      if (file.kind == EGG_KIND_BACKEND && file.name == GetParam() && file.verdict == Verdict::kCannotRun) {
        GTEST_SKIP() << file.reason;
      }
    }
  }
  ChosenPlugin chosen() const { return built_plugins().choose(EGG_KIND_BACKEND, GetParam()); }
};

}  // namespace eggroll::test

#endif
