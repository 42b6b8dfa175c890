// Random damage of a file's bytes.
#ifndef EGGROLL_TESTS_DAMAGE_MUTATION_H
#define EGGROLL_TESTS_DAMAGE_MUTATION_H

#include <algorithm>
#include <string>

#include "damage/campaign.h"

namespace eggroll::test {

// Damages the bytes and says how: "12 bytes from 34 on doubled". The damage may leave them as they were.
inline std::string mutate(std::string& bytes, TrialDraws& draws) {
  if (bytes.empty()) return bytes = static_cast<char>(draws.below(256)), "a byte put into an empty file";
  constexpr uint64_t kLongest = 64;
  size_t begin = draws.below(bytes.size());
  size_t count = 1 + draws.below(std::min<uint64_t>(kLongest, bytes.size() - begin));
  // Damage of whole lines leaves text that is well formed.
  if (draws.below(2) == 0 && bytes.find('\n') != std::string::npos) {
    const size_t before = begin == 0 ? std::string::npos : bytes.rfind('\n', begin - 1);
    begin = before == std::string::npos ? 0 : before + 1;
    count = std::min(bytes.find('\n', begin), bytes.size() - 1) + 1 - begin;
  }
  const std::string place = std::to_string(count) + " bytes from " + std::to_string(begin) + " on ";
  switch (draws.below(6)) {
    case 0:
      bytes[begin] = static_cast<char>(bytes[begin] ^ (1 << draws.below(8)));
      return "a bit of byte " + std::to_string(begin) + " flipped";
    case 1:
      bytes.erase(begin, count);
      return place + "removed";
    case 2:
      bytes.insert(begin, bytes.substr(begin, count));
      return place + "doubled";
    case 3:
      bytes.replace(begin, count, count, '\0');
      return place + "zeroed";
    case 4: {
      const size_t digit = bytes.find_first_of("0123456789", begin);
      if (digit == std::string::npos) return "nothing";
      bytes[digit] = static_cast<char>('0' + draws.below(10));
      return "the digit at " + std::to_string(digit) + " changed";
    }
    default:
      bytes.resize(begin);
      return "cut short to " + std::to_string(begin) + " bytes";
  }
}

}  // namespace eggroll::test

#endif
