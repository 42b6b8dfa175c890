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
#include "eggroll/program_builder.h"
#include "eggroll/row_voters.h"
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

// Evenly spread losses, two for each pair.
std::vector<int64_t> random_losses(uint32_t pairs) {
  std::minstd_rand draw(pairs);
  std::vector<int64_t> losses(size_t{2} * pairs);
  for (int64_t& loss : losses) loss = static_cast<int64_t>(draw());
  return losses;
}

// A journal of one step, in a folder that is removed with this object.
class OneStepJournal {
 public:
  explicit OneStepJournal(const std::vector<int8_t>& fitness)
      : folder_(fs::temp_directory_path() / ("eggroll-bench-" + std::to_string(::getpid()))),
        pairs_(static_cast<uint32_t>(fitness.size())) {
    fs::create_directories(folder_);
    JournalWriter(path(), pairs_, "", 0).append(0, std::nullopt, fitness);
  }
  OneStepJournal(const OneStepJournal&) = delete;
  OneStepJournal& operator=(const OneStepJournal&) = delete;
  ~OneStepJournal() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  // Returns the seconds that a second step takes to write; the next call cuts it off again.
  double append(const std::vector<int8_t>& fitness) const {
    JournalWriter journal(path(), pairs_, "", 1);
    return seconds_of([&] { journal.append(1, std::nullopt, fitness); });
  }

 private:
  fs::path path() const { return folder_ / "journal.bin"; }

  fs::path folder_;
  uint32_t pairs_;
};

// Finds the voters on the rows of a masked table, as a backend does in every update.
class VoterSearch {
 public:
  explicit VoterSearch(const std::vector<int8_t>& fitness) {
    const auto pairs = static_cast<uint32_t>(fitness.size());
    builder_.loss(builder_.embed("logits", builder_.matrix("table", kRows, 1, 16), builder_.index(2, kRows)), 4096);
    spec_.program = builder_.view();
    spec_.noise.rank = 1;
    spec_.population = 2 * pairs;
    batch_ = random_batch(*spec_.program, pairs / (kMembersPerStream / 2), kTokens);
    update_.pairs = pairs;
    update_.fitness = fitness.data();
    update_.batch = batch_.view();
    update_.members_per_stream = kMembersPerStream;
  }

  void find() { voters_.find(spec_, 0, update_); }

 private:
  static constexpr int32_t kRows = 65536;
  static constexpr uint32_t kMembersPerStream = 16;
  static constexpr uint32_t kTokens = 8;

  ProgramBuilder builder_{1, 4, EGG_ROUND_NEAREST};
  egg_session_spec spec_{};
  egg_update update_{};
  BatchBuffer batch_;
  RowVoters voters_;
};

class HostCase : public Case {
 public:
  HostCase(const Host& host, const std::string& work, uint32_t pairs)
      : pairs_(pairs), fitness_(sign_fitness(host)), d_(differences(random_losses(pairs))) {
    fitness_.of_differences(d_, of_pairs_);
    fitness_.pack(d_, packed_);
    if (work == "journal") journal_.emplace(of_pairs_);
    if (work == "voters") voters_.emplace(of_pairs_);
    const std::map<std::string, std::function<double()>> timed = {
        {"pack", [this] { return seconds_of([&] { pack(); }); }},
        {"unpack", [this] { return seconds_of([&] { unpack(); }); }},
        {"spread", [this] { return seconds_of([&] { spread(); }); }},
        {"voters", [this] { return seconds_of([&] { voters_->find(); }); }},
        {"journal", [this] { return journal_->append(of_pairs_); }}};
    work_ = timed.at(work);
  }

  void run(benchmark::State& state) override {
    double seconds = 0.0;
    for ([[maybe_unused]] auto _ : state) {
      const double once = work_();
      state.SetIterationTime(once);
      seconds += once;
    }
    state.counters["ns_per_pair"] = 1e9 * seconds / static_cast<double>(state.iterations()) / pairs_;
  }

 private:
  void pack() {
    packed_.clear();
    fitness_.pack(d_, packed_);
  }

  void unpack() {
    fitness_.of_packed({packed_}, {pairs_}, unpacked_);
    benchmark::DoNotOptimize(unpacked_.data());
  }

  void spread() {
    benchmark::DoNotOptimize(vote_stds(of_pairs_, {}, {}));
    benchmark::DoNotOptimize(std::count(of_pairs_.begin(), of_pairs_.end(), int8_t{0}));
  }

  uint32_t pairs_;
  Fitness fitness_;
  std::vector<int64_t> d_;  // differences of losses
  std::vector<int8_t> of_pairs_;
  std::vector<int8_t> unpacked_;
  std::vector<uint8_t> packed_;
  std::optional<OneStepJournal> journal_;
  std::optional<VoterSearch> voters_;
  std::function<double()> work_;
};

}  // namespace

const std::vector<std::string>& benchmarked_host_work() {
  static const std::vector<std::string> kWork = {"pack", "unpack", "spread", "voters", "journal"};
  return kWork;
}

std::unique_ptr<Case> open_host_case(const Host& host, const std::string& work, uint32_t pairs) {
  return std::make_unique<HostCase>(host, work, pairs);
}

}  // namespace eggroll::bench
