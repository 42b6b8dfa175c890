// Checks a processes plugin. All its processes run this, and each knows which bytes the others must send.
#include <fmt/format.h>

#include <numeric>

#include "conformance/check_plugin.h"
#include "eggroll/error.h"

namespace eggroll {
namespace {

constexpr uint64_t kLarge = 3 << 20;
constexpr uint64_t kLargest = 65 << 20;  // from one process, as much as the weights of a large model

uint8_t byte_of(uint64_t round, uint64_t process, uint64_t at) {
  return static_cast<uint8_t>(31 * round + 7 * process + at);
}

// What processes [0, sizes.size()) send in a round, one after another.
std::vector<uint8_t> expected_of(uint64_t round, const std::vector<uint64_t>& sizes) {
  std::vector<uint8_t> all(std::accumulate(sizes.begin(), sizes.end(), uint64_t{0}));
  uint8_t* to = all.data();
  for (uint64_t process = 0; process < sizes.size(); ++process) {
    for (uint64_t at = 0; at < sizes[process]; ++at) *to++ = byte_of(round, process, at);
  }
  return all;
}

class ProcessesCheck {
 public:
  explicit ProcessesCheck(ProcessesInstance& tested) : tested_(tested) { tested_.join(index_, size_); }

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
      std::vector<uint8_t> all(index_ == 0 ? std::accumulate(sizes.begin(), sizes.end(), uint64_t{0}) : 0);
      tested_.collect(mine.data(), sizes.data(), index_ == 0 ? all.data() : nullptr);
      return index_ != 0 || all == expected_of(round, sizes);
    });
  }

  Check broadcasts() {
    return over_sizes("broadcasts", [&](uint64_t round, const std::vector<uint64_t>& sizes) {
      const std::vector<uint8_t> sent = expected_of(round, {sizes[0]});
      std::vector<uint8_t> got = index_ == 0 ? sent : std::vector<uint8_t>(sent.size());
      tested_.broadcast(got.data(), got.size());
      return got == sent;
    });
  }

  // Process 0 learns of every process's failures.
  Check of_all(Check check) {
    std::vector<uint64_t> failed(size_);
    const uint64_t own_failures = check.failures.size();
    const std::vector<uint64_t> sizes(size_, sizeof(uint64_t));
    tested_.gather_begin(&own_failures, sizes.data(), failed.data());
    tested_.gather_end();
    for (uint32_t process = 1; process < size_; ++process) {
      if (failed[process] > 0) check.failures.push_back(fmt::format("process {}: {} cases", process, failed[process]));
    }
    return check;
  }

  bool is_first() const { return index_ == 0; }

 private:
  std::vector<uint8_t> own(uint64_t round, const std::vector<uint64_t>& sizes) const {
    std::vector<uint8_t> bytes(sizes[index_]);
    for (uint64_t at = 0; at < bytes.size(); ++at) bytes[at] = byte_of(round, index_, at);
    return bytes;
  }

  // Sizes that are equal, unequal and zero, and one that exceeds a message.
  template <class Case>
  Check over_sizes(const std::string& what, Case&& holds) {
    Check check{fmt::format("{}, {} processes", what, size_), 0, {}};
    constexpr uint64_t kRounds = 24;
    for (uint64_t round = 0; round < kRounds; ++round) {
      std::vector<uint64_t> sizes(size_);
      for (uint64_t process = 0; process < size_; ++process) {
        sizes[process] = round == 0 ? 0 : round == 1 ? kLarge : round % 2 == 0 ? round : (process + round) % 3 * 100;
      }
      if (round + 1 == kRounds) sizes[0] = kLargest;
      ++check.cases;
      if (!holds(round, sizes))
        check.failures.push_back(fmt::format("process {}: the bytes of round {} differ", index_, round));
    }
    return check;
  }

  ProcessesInstance& tested_;
  uint32_t index_ = 0;
  uint32_t size_ = 1;
};

}  // namespace

std::vector<Check> check_processes(const ChosenPlugin& plugin) {
  ProcessesInstance tested(plugin, egg_settings{sizeof(egg_settings), 0, nullptr});
  ProcessesCheck check(tested);
  std::vector<Check> checks;
  for (const Check& one : {check.gathers(), check.collects(), check.broadcasts()}) checks.push_back(check.of_all(one));
  tested.leave();
  if (!check.is_first()) checks.clear();
  return checks;
}

}  // namespace eggroll
