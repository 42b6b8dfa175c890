// The input is a YAML file: read alone, then composed as an experiment over the fixture's configuration.
#include "config/compose.h"
#include "fuzz/input.h"
#include "fuzz/invariants.h"

using namespace eggroll;
using namespace eggroll::test;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::filesystem::path& folder = scratch().path();
  static const bool is_copied [[maybe_unused]] = [&] {
    std::filesystem::copy(EGGROLL_SOURCE_DIR "/tests/config/fixture", folder, std::filesystem::copy_options::recursive);
    return true;
  }();
  const std::string text(text_of(data, size));
  if (!succeeds([&] { require_printable(parse_yaml(text, "input.yaml")); })) return 0;
  scratch().put("experiments/fuzz.yaml", text);
  succeeds([&] { require_printable(compose({{folder / "configs"}}, {"experiment=fuzz"})); });
  return 0;
}
