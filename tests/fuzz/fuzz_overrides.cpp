// The input is overrides, one a line: composed as they stand, and the first runs of their sweeps.
#include <sstream>

#include "config/compose.h"
#include "config/override.h"
#include "fuzz/input.h"
#include "fuzz/invariants.h"

using namespace eggroll;
using namespace eggroll::test;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const ConfigSearch search{{EGGROLL_SOURCE_DIR "/tests/config/fixture/configs"}};
  std::istringstream lines(std::string(text_of(data, size)));
  std::vector<std::string> overrides;
  for (std::string line; std::getline(lines, line);) overrides.push_back(line);
  for (const std::string& text : overrides) {
    succeeds([&] {
      const Override change = parse_override(text);
      if (!change.value) return;
      const OverrideValue value = parse_override_value(*change.value, change.source);
      for (size_t i = 0; i < value.choices.size() && i < 10; ++i) require_printable(value.choices[i]);
    });
  }
  succeeds([&] { require_printable(compose(search, overrides)); });
  succeeds([&] {
    const auto runs = expand_sweeps(search, overrides);
    if (runs.front() == overrides) return;
    for (size_t i = 0; i < runs.size() && i < 3; ++i) {
      succeeds([&] { require_printable(compose(search, runs[i])); });
    }
  });
  return 0;
}
