// Turns losses into fitness: one int8 for each pair, which says how much better one of its two members is.
#ifndef EGGROLL_TRAIN_FITNESS_H
#define EGGROLL_TRAIN_FITNESS_H

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "eggroll/plugin.h"
#include "eggroll/settings.h"

namespace eggroll {

class Threads;

// How a form turns loss differences into fitness. train/fitness_forms.h lists the forms.
struct FitnessForm {
  // d: the difference of each pair that is compared with the others: the odd member's loss less the even member's.
  // Sets a value in [-127, 127] for each. A negated difference negates its own value and changes no other. threads may
  // be null.
  std::function<void(std::span<const int64_t> d, std::span<int8_t> fitness, Threads* threads)> values;
  // Each value is -1, 0 or 1, and depends on its own pair alone. Processes then send values and not differences.
  bool is_sign = false;
};

// In the order in which messages name them.
std::vector<std::string> fitness_form_names();

// Every form is odd: if a pair's members change places, its fitness flips its sign and no other fitness changes.
class Fitness {
 public:
  // Reads the config section `fitness`.
  // group_pairs: pairs of each group that is compared within itself, in their order; none: all with all.
  explicit Fitness(Settings& settings, std::vector<uint32_t> group_pairs = {});

  // losses: of members 0, 1, 2, ...; an even member has sign +1. Returns (losses / 2) values in [-127, 127]; positive
  // if the even member's loss is the lower. A pair whose losses are equal gets 0.
  std::vector<int8_t> of(const std::vector<int64_t>& losses) const;
  // The same from a pair's difference, the odd member's loss less the even member's; on these threads or the caller's.
  void of_differences(std::span<const int64_t> d, std::vector<int8_t>& fitness, Threads* threads = nullptr) const;

  // The same in two parts, for processes that each know the losses of some pairs: pack() packs what a share of the
  // pairs has to send, and of_packed() makes the fitness of all pairs from all shares. A form whose fitness is a sign
  // packs signs, the others pack differences.
  uint64_t packed_bytes(uint32_t pairs) const;
  void pack(std::span<const int64_t> d, std::vector<uint8_t>& bytes) const;  // appends packed_bytes(pairs)
  // pairs: of each part, in order.
  void of_packed(const std::vector<std::span<const uint8_t>>& parts, const std::vector<uint32_t>& pairs,
                 std::vector<int8_t>& fitness, Threads* threads = nullptr) const;

 private:
  FitnessForm form_;
  std::vector<uint32_t> group_pairs_;
};

// The difference of each pair: the odd member's loss less the even member's.
std::vector<int64_t> differences(std::span<const int64_t> losses);

// How many pairs have the fitness 0.
uint64_t pairs_without(std::span<const int8_t> fitness);

// By parameter, the standard deviation of its votes if fitness is independent of noise: sqrt(sum f^2 * ranks) times the
// noise's second moment (a vote is a sum of f * a * b with independent a and b). 0 for a frozen parameter. voters: who
// votes on each; none: all pairs.
std::vector<float> vote_stds(const std::vector<int8_t>& fitness, std::span<const egg_param> params,
                             const egg_noise& noise, std::span<const egg_voters> voters = {});

}  // namespace eggroll

#endif
