// Signs are packed, five in a byte, and unpacked; and fitness can be made where pairs are known in several places.
#include "processes/packing.h"

#include <gmock/gmock.h>

#include <random>

#include "eggroll/error.h"
#include "train/fitness.h"
#include "train/small_run.h"

namespace eggroll::test {
namespace {

TEST(Packing, FiveSignsAreTheDigitsOfAByte) {
  std::vector<uint8_t> bytes = {7};
  pack_trits(std::vector<int8_t>{1, 1, 1, 1, 1, -1, 0}, bytes);
  // 2 * (1 + 3 + 9 + 27 + 81); 0 + 1 * 3.
  EXPECT_EQ(bytes, (std::vector<uint8_t>{7, 242, 3}));
}

TEST(Packing, EveryLengthComesBack) {
  std::mt19937 random(3);
  for (size_t size = 0; size < 70; ++size) {
    std::vector<int8_t> values(size);
    for (int8_t& value : values) value = static_cast<int8_t>(static_cast<int>(random() % 3) - 1);
    std::vector<uint8_t> bytes;
    pack_trits(values, bytes);
    EXPECT_EQ(bytes.size(), packed_trits(size));
    std::vector<int8_t> back(size, 5);
    unpack_trits(bytes, back);
    EXPECT_EQ(back, values);
  }
}

TEST(Packing, AByteAboveFiveSignsIsRefused) {
  std::vector<int8_t> values(3);
  EXPECT_THROW(unpack_trits(std::vector<uint8_t>{243}, values), Error);
}

TEST(Packing, FitnessOfSharesIsFitnessOfAll) {
  std::mt19937 random(4);
  std::vector<int64_t> losses(2 * 23);
  for (int64_t& loss : losses) loss = static_cast<int64_t>(random() % 50);
  for (const Fitness& fitness : all_fitness_forms()) {
    const std::vector<uint32_t> pairs = {7, 1, 15};
    std::vector<std::vector<uint8_t>> said(pairs.size());
    auto at = losses.begin();
    for (size_t i = 0; i < pairs.size(); ++i) {
      fitness.pack(differences({at, at + 2 * pairs[i]}), said[i]);
      EXPECT_EQ(said[i].size(), fitness.packed_bytes(pairs[i]));
      at += 2 * pairs[i];
    }
    std::vector<int8_t> gathered;
    fitness.of_packed({said.begin(), said.end()}, pairs, gathered);
    EXPECT_EQ(gathered, fitness.of(losses));
  }
}

}  // namespace
}  // namespace eggroll::test
