#include "processes/packing.h"

#include <algorithm>

#include "eggroll/error.h"

namespace eggroll {

void pack_trits(std::span<const int8_t> values, std::vector<uint8_t>& bytes) {
  for (size_t begin = 0; begin < values.size(); begin += kTritsPerByte) {
    const size_t end = std::min(begin + kTritsPerByte, values.size());
    int byte = 0;
    for (size_t i = end; i-- > begin;) byte = 3 * byte + values[i] + 1;
    bytes.push_back(static_cast<uint8_t>(byte));
  }
}

void unpack_trits(std::span<const uint8_t> bytes, std::span<int8_t> values) {
  for (size_t i = 0; i < values.size();) {
    int byte = bytes[i / kTritsPerByte];
    if (byte > 242)
      throw Error("fitness of another process is damaged: a byte of five signs is above 242; start the job again");
    for (size_t digit = 0; digit < kTritsPerByte && i < values.size(); ++digit, ++i) {
      values[i] = static_cast<int8_t>(byte % 3 - 1);
      byte /= 3;
    }
  }
}

}  // namespace eggroll
