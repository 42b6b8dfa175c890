#include "bench/host_case.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <system_error>

#include "config/settings_block.h"
#include "eggroll/settings.h"
#include "train/journal.h"

namespace eggroll::bench {
namespace {

namespace fs = std::filesystem;

Fitness sign_fitness(const Host& host) {
  const SettingsBlock block(compose(host.search, {"fitness=sign"}), "fitness");
  Settings settings(block.view());
  return Fitness(settings);
}

// Evenly spread losses of two members a pair.
std::vector<int64_t> random_losses(uint32_t pairs) {
  std::minstd_rand draw(pairs);
  std::vector<int64_t> losses(size_t{2} * pairs);
  for (int64_t& loss : losses) loss = static_cast<int64_t>(draw());
  return losses;
}

// A journal of one step, in a folder that ends with this object.
class OneStepJournal {
 public:
  explicit OneStepJournal(const std::vector<int8_t>& fitness)
      : folder_(fs::temp_directory_path() / ("eggroll-bench-" + std::to_string(::getpid()))),
        pairs_(static_cast<uint32_t>(fitness.size())) {
    fs::create_directories(folder_);
    JournalWriter(path(), pairs_, "", 0).append({0, std::nullopt, fitness});
  }
  OneStepJournal(const OneStepJournal&) = delete;
  OneStepJournal& operator=(const OneStepJournal&) = delete;
  ~OneStepJournal() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  // Seconds to add a second step, which the next call cuts off again.
  double append(const std::vector<int8_t>& fitness) const {
    JournalWriter journal(path(), pairs_, "", 1);
    const JournalEntry entry{1, std::nullopt, fitness};
    return seconds_of([&] { journal.append(entry); });
  }

 private:
  fs::path path() const { return folder_ / "journal.bin"; }

  fs::path folder_;
  uint32_t pairs_;
};

class HostCase : public Case {
 public:
  HostCase(const Host& host, const std::string& work, uint32_t pairs)
      : pairs_(pairs), fitness_(sign_fitness(host)), losses_(random_losses(pairs)), of_pairs_(fitness_.of(losses_)) {
    fitness_.pack(losses_, packed_);
    if (work == "journal") journal_.emplace(of_pairs_);
    const std::map<std::string, std::function<double()>> timed = {
        {"pack", [this] { return seconds_of([&] { pack(); }); }},
        {"unpack", [this] { return seconds_of([&] { unpack(); }); }},
        {"spread", [this] { return seconds_of([&] { spread(); }); }},
        {"journal", [this] { return journal_->append(of_pairs_); }}};
    work_ = timed.at(work);
  }

  void run(benchmark::State& state) override {
    double seconds = 0.0;
    for (auto _ : state) {
      const double once = work_();
      state.SetIterationTime(once);
      seconds += once;
    }
    state.counters["ns_per_pair"] = 1e9 * seconds / static_cast<double>(state.iterations()) / pairs_;
  }

 private:
  void pack() {
    packed_.clear();
    fitness_.pack(losses_, packed_);
  }

  void unpack() {
    const std::vector<int8_t> all = fitness_.of_packed({packed_}, {pairs_});
    benchmark::DoNotOptimize(all.data());
  }

  void spread() {
    benchmark::DoNotOptimize(vote_stds(of_pairs_, {}, {}));
    benchmark::DoNotOptimize(std::count(of_pairs_.begin(), of_pairs_.end(), int8_t{0}));
  }

  uint32_t pairs_;
  Fitness fitness_;
  std::vector<int64_t> losses_;
  std::vector<int8_t> of_pairs_;
  std::vector<uint8_t> packed_;
  std::optional<OneStepJournal> journal_;
  std::function<double()> work_;
};

}  // namespace

const std::vector<std::string>& benchmarked_host_work() {
  static const std::vector<std::string> kWork = {"pack", "unpack", "spread", "journal"};
  return kWork;
}

std::unique_ptr<Case> open_host_case(const Host& host, const std::string& work, uint32_t pairs) {
  return std::make_unique<HostCase>(host, work, pairs);
}

}  // namespace eggroll::bench
