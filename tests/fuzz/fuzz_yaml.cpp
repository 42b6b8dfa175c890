// The input is a YAML file: read alone, then composed as an experiment over the fixture's configuration.
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>

#include "config/compose.h"
#include "fuzz/invariants.h"

namespace {

namespace fs = std::filesystem;
using namespace eggroll;
using namespace eggroll::test;

// A copy of the fixture, to hold the input too.
class Scratch {
 public:
  Scratch() {
    std::string pattern = (fs::temp_directory_path() / "eggroll-fuzz-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    fs::copy(EGGROLL_SOURCE_DIR "/tests/config/fixture", folder_, fs::copy_options::recursive);
  }
  ~Scratch() { fs::remove_all(folder_); }

  ConfigNode composed(const std::string& text) const {
    std::ofstream(folder_ / "experiments/fuzz.yaml", std::ios::binary) << text;
    return compose({{folder_ / "configs"}}, {"experiment=fuzz"});
  }

 private:
  fs::path folder_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Scratch scratch;
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (!succeeds([&] { require_printable(parse_yaml(text, "input.yaml")); })) return 0;
  succeeds([&] { require_printable(scratch.composed(text)); });
  return 0;
}
