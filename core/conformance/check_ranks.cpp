// What carries bytes between ranks, by all of its ranks: each knows what the others send.
#include <fmt/format.h>

#include <numeric>

#include "conformance/check_plugin.h"
#include "eggroll/error.h"

namespace eggroll {
namespace {

constexpr uint64_t kLarge = 3 << 20;

uint8_t byte_of(uint64_t round, uint64_t rank, uint64_t at) { return static_cast<uint8_t>(31 * round + 7 * rank + at); }

// What ranks [0, sizes.size()) send in a round, one after another.
std::vector<uint8_t> expected_of(uint64_t round, const std::vector<uint64_t>& sizes) {
  std::vector<uint8_t> all;
  for (uint64_t rank = 0; rank < sizes.size(); ++rank) {
    for (uint64_t at = 0; at < sizes[rank]; ++at) all.push_back(byte_of(round, rank, at));
  }
  return all;
}

class RanksCheck {
 public:
  explicit RanksCheck(RanksInstance& tested) : tested_(tested) { tested_.join(rank_, size_); }

  Check gathers() {
    return over_sizes("gathers", [&](uint64_t round, const std::vector<uint64_t>& sizes) {
      const std::vector<uint8_t> mine = own(round, sizes);
      std::vector<uint8_t> all(std::accumulate(sizes.begin(), sizes.end(), uint64_t{0}));
      tested_.gather_begin(mine.data(), sizes.data(), all.data());
      tested_.gather_end();
      return all == expected_of(round, sizes);
    });
  }

  Check collects() {
    return over_sizes("collects", [&](uint64_t round, const std::vector<uint64_t>& sizes) {
      const std::vector<uint8_t> mine = own(round, sizes);
      std::vector<uint8_t> all(rank_ == 0 ? std::accumulate(sizes.begin(), sizes.end(), uint64_t{0}) : 0);
      tested_.collect(mine.data(), sizes.data(), rank_ == 0 ? all.data() : nullptr);
      return rank_ != 0 || all == expected_of(round, sizes);
    });
  }

  Check broadcasts() {
    return over_sizes("broadcasts", [&](uint64_t round, const std::vector<uint64_t>& sizes) {
      const std::vector<uint8_t> sent = expected_of(round, {sizes[0]});
      std::vector<uint8_t> got = rank_ == 0 ? sent : std::vector<uint8_t>(sent.size());
      tested_.broadcast(got.data(), got.size());
      return got == sent;
    });
  }

  // Rank 0 learns of every rank's failures.
  Check of_all(Check check) {
    std::vector<uint64_t> failed(size_);
    const uint64_t own_failures = check.failures.size();
    const std::vector<uint64_t> sizes(size_, sizeof(uint64_t));
    tested_.gather_begin(&own_failures, sizes.data(), failed.data());
    tested_.gather_end();
    for (uint32_t rank = 1; rank < size_; ++rank) {
      if (failed[rank] > 0) check.failures.push_back(fmt::format("rank {}: {} cases", rank, failed[rank]));
    }
    return check;
  }

  bool leads() const { return rank_ == 0; }

 private:
  std::vector<uint8_t> own(uint64_t round, const std::vector<uint64_t>& sizes) const {
    std::vector<uint8_t> bytes(sizes[rank_]);
    for (uint64_t at = 0; at < bytes.size(); ++at) bytes[at] = byte_of(round, rank_, at);
    return bytes;
  }

  // Equal and unequal sizes, none, and more than one message holds.
  template <class Case>
  Check over_sizes(const std::string& what, Case&& holds) {
    Check check{fmt::format("{}, {} ranks", what, size_), 0, {}};
    for (uint64_t round = 0; round < 24; ++round) {
      std::vector<uint64_t> sizes(size_);
      for (uint64_t rank = 0; rank < size_; ++rank) {
        sizes[rank] = round == 0 ? 0 : round == 1 ? kLarge : round % 2 == 0 ? round : (rank + round) % 3 * 100;
      }
      ++check.cases;
      if (!holds(round, sizes))
        check.failures.push_back(fmt::format("rank {}: the bytes of round {} differ", rank_, round));
    }
    return check;
  }

  RanksInstance& tested_;
  uint32_t rank_ = 0;
  uint32_t size_ = 1;
};

}  // namespace

std::vector<Check> check_ranks(const ChosenPlugin& plugin) {
  RanksInstance tested(plugin, egg_settings{sizeof(egg_settings), 0, nullptr});
  RanksCheck check(tested);
  std::vector<Check> checks;
  for (const Check& one : {check.gathers(), check.collects(), check.broadcasts()}) checks.push_back(check.of_all(one));
  tested.leave();
  if (!check.leads()) checks.clear();
  return checks;
}

}  // namespace eggroll
