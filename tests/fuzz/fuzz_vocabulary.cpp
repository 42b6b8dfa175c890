// The input is a vocabulary file.
#include <optional>

#include "data/vocabulary.h"
#include "fuzz/input.h"
#include "fuzz/outcome.h"

using namespace eggroll;
using namespace eggroll::test;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes = text_of(data, size);
  const NamedFile file{"vocabulary", scratch().put("vocabulary.txt", bytes).string()};
  std::optional<Vocabulary> vocabulary;
  if (!accepts([&] { vocabulary.emplace(file); })) return 0;
  std::string written = "eggroll vocabulary 1\n";
  for (uint32_t token = 0; token < vocabulary->size(); ++token) {
    for (const char byte : vocabulary->bytes(token)) {
      for (const int shift : {4, 0}) written += "0123456789abcdef"[(static_cast<unsigned char>(byte) >> shift) & 15];
    }
    written += '\n';
  }
  require(written == bytes, "the tokens are not those of the file");
  if (vocabulary->spells_every_byte()) {
    require(vocabulary->text(vocabulary->tokens_of(bytes)) == bytes, "a text in tokens is another text");
  }
  return 0;
}
