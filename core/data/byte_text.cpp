#include "data/byte_text.h"

#include <cstdint>

namespace eggroll {
namespace {

constexpr uint32_t kBytes = 256;

}  // namespace

bool is_byte_text(const Dataset& dataset) {
  const bool is_of_rows = dataset.train_row > 0 || dataset.valid_row > 0;
  return !is_of_rows && (dataset.vocabulary || dataset.vocab_needed <= kBytes);
}

std::span<const std::byte> bytes_of(const Dataset& dataset, const Tokens& tokens, std::string& own) {
  if (!dataset.vocabulary && (dataset.vocab_needed > kBytes || tokens.width() == 1)) return tokens.bytes();
  own.clear();
  for (uint64_t i = 0; i < tokens.size(); ++i) {
    if (dataset.vocabulary) {
      own += dataset.vocabulary->bytes(tokens[i]);
    } else {
      own += static_cast<char>(tokens[i]);
    }
  }
  return std::as_bytes(std::span(own));
}

}  // namespace eggroll
