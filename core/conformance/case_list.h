// The building blocks of the cases for single ops.
#ifndef EGGROLL_CONFORMANCE_CASE_LIST_H
#define EGGROLL_CONFORMANCE_CASE_LIST_H

#include <fmt/format.h>

#include "conformance/cases.h"
#include "eggroll/arithmetic.h"
#include "program/op_info.h"

namespace eggroll {

// 1, primes, and sizes around the vector widths of every instruction set.
inline constexpr int32_t kSizes[] = {1, 2, 3, 7, 8, 13, 15, 16, 17, 31, 32, 33, 61, 63, 64, 65, 127, 128, 129};

inline egg_noise noise_kind(uint32_t variant) {
  egg_noise noise{};
  noise.seed = 0x9d2c5680 + variant;
  noise.source = variant % 2 == 0 ? EGG_NOISE_COUNTER : EGG_NOISE_TABLE;
  noise.table_log2 = noise.source == EGG_NOISE_TABLE ? 12 : 0;
  noise.distribution = static_cast<int32_t>(variant % 3);
  noise.rank = variant % 4 == 3 ? 3 : 1;
  noise.sigma_shift = static_cast<int32_t>(variant % 5);
  noise.sigma_vector_shift = static_cast<int32_t>((variant + 2) % 5);
  return noise;
}

class Cases {
 public:
  explicit Cases(int32_t op) : op_(op) {}

  // build adds states, the op and a store; the rest of the program is common. The case may be changed before the next
  // is added.
  OpCase& add(const std::string& what, std::function<void(ProgramBuilder&)> build, int32_t vocab = 5,
              bool own_loss = false) {
    const auto variant = static_cast<uint32_t>(cases_.size());
    OpCase test{op_,   fmt::format("{} {}", signature_of(op_).name, what),
                vocab, variant % 2 == 0 ? EGG_ROUND_NEAREST : EGG_ROUND_FLOOR,
                0,     shaped_scenario(variant, noise_kind(variant)),
                {}};
    test.build = [build = std::move(build), vocab, own_loss](ProgramBuilder& program) {
      const Param table = program.matrix("table", vocab, 3, 16);
      program.store(program.state("seen", 3), program.embed("embedded", table));
      build(program);
      if (own_loss) return;
      const Value logits = program.state("logits", vocab);
      program.store(logits, logits);
      program.loss(logits, 4096);
    };
    return cases_.emplace_back(std::move(test));
  }

  std::vector<OpCase> take() { return std::move(cases_); }

 private:
  int32_t op_;
  std::vector<OpCase> cases_;
};

// A state that keeps the values that the runner put there.
inline Value constant_state(ProgramBuilder& program, const std::string& name, int32_t size) {
  const Value state = program.state(name, size);
  program.store(state, state);
  return state;
}

inline void keep(ProgramBuilder& program, Value value) {
  program.store(program.state("kept", program.size(value)), value);
}

// More cases of two ops, with wide values: wide_cases.cpp.
void add_wide_linear_cases(Cases& cases);
void add_wide_add_cases(Cases& cases);

// The cases of each op: an op without cases does not link.
#define EGG_DECLARE_CASES(code, name, ...) std::vector<OpCase> cases_##name();
EGG_OPS(EGG_DECLARE_CASES)
#undef EGG_DECLARE_CASES

}  // namespace eggroll

#endif
