// Cases for every op: awkward sizes, both roundings, each kind of noise, ranks 1 and 3, frozen parameters, saturation.
#include <fmt/format.h>

#include "conformance/cases.h"
#include "program/op_info.h"

namespace eggroll {
namespace {

// One, around the vector widths of every instruction set, primes.
constexpr int32_t kSizes[] = {1, 2, 3, 7, 8, 13, 15, 16, 17, 31, 32, 33, 61, 63, 64, 65, 127, 128, 129};

egg_noise noise_kind(uint32_t variant) {
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

  // build adds states, the op and a store; the rest of the program is common.
  void add(const std::string& what, std::function<void(ProgramBuilder&)> build, int32_t vocab = 5,
           bool own_loss = false) {
    const auto variant = static_cast<uint32_t>(cases_.size());
    OpCase test{op_,
                fmt::format("{} {}", kOpInfo[static_cast<size_t>(op_)].name, what),
                vocab,
                variant % 2 == 0 ? EGG_ROUND_NEAREST : EGG_ROUND_FLOOR,
                noise_kind(variant),
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
    cases_.push_back(std::move(test));
  }

  std::vector<OpCase> take() { return std::move(cases_); }

 private:
  int32_t op_;
  std::vector<OpCase> cases_;
};

// A state that keeps what the runner put there.
Value constant_state(ProgramBuilder& program, const std::string& name, int32_t size) {
  const Value state = program.state(name, size);
  program.store(state, state);
  return state;
}

void keep(ProgramBuilder& program, Value value) { program.store(program.state("kept", program.size(value)), value); }

std::vector<OpCase> cases_embed() {
  Cases cases(EGG_OP_EMBED);
  for (const int32_t size : kSizes) {
    for (const bool frozen : {false, true}) {
      cases.add(fmt::format("width {}{}", size, frozen ? " frozen" : ""), [=](ProgramBuilder& program) {
        const Param table = program.matrix("embedding", 5, size, 16);
        if (frozen) program.freeze(table);
        keep(program, program.embed("out", table));
      });
    }
  }
  return cases.take();
}

std::vector<OpCase> cases_linear() {
  Cases cases(EGG_OP_LINEAR);
  const auto add = [&](int32_t rows, int32_t cols, int32_t shift, bool bias, bool frozen) {
    cases.add(fmt::format("{} x {} shift {}{}{}", rows, cols, shift, bias ? " bias" : "", frozen ? " frozen" : ""),
              [=](ProgramBuilder& program) {
                const Param weight = program.matrix("weight", rows, cols, 16);
                if (frozen) program.freeze(weight);
                const Param b = bias ? program.vector("bias", rows, 3) : Param{};
                keep(program, program.linear("out", constant_state(program, "x", cols), weight, shift, b));
              });
  };
  for (const int32_t cols : kSizes)
    add(kSizes[static_cast<size_t>(cols) % std::size(kSizes)], cols, 5, cols % 2 == 0, false);
  for (const int32_t rows : kSizes) add(rows, 67, 7, rows % 2 == 1, false);
  for (const int32_t shift : {0, 1, 4, 11, 26}) add(9, 33, shift, true, false);
  add(17, 33, 6, true, true);
  add(19, 515, 8, true, false);
  add(3, 2048, 9, false, false);
  return cases.take();
}

std::vector<OpCase> cases_l1_norm() {
  Cases cases(EGG_OP_L1_NORM);
  for (const int32_t size : kSizes) {
    for (const int32_t division : {EGG_DIVIDE_RECIPROCAL, EGG_DIVIDE_TRUNCATE, EGG_DIVIDE_FLOOR}) {
      cases.add(fmt::format("size {} division {}", size, division), [=](ProgramBuilder& program) {
        const Param gain = program.vector("gain", size, 16);
        const Param bias = size % 2 == 0 ? program.vector("bias", size, -2) : Param{};
        keep(program, program.l1_norm("out", constant_state(program, "x", size), gain, division, bias));
      });
    }
  }
  return cases.take();
}

std::vector<OpCase> cases_add() {
  Cases cases(EGG_OP_ADD);
  for (const int32_t size : kSizes) {
    for (const int parts : {1, 2, 3}) {  // bit 0: a second input; bit 1: a bias
      cases.add(fmt::format("size {} parts {}", size, parts), [=](ProgramBuilder& program) {
        const Value a = constant_state(program, "a", size);
        const Value b = (parts & 1) != 0 ? constant_state(program, "b", size) : Value{};
        const Param bias = (parts & 2) != 0 ? program.vector("bias", size, 5) : Param{};
        keep(program, program.add("out", a, b, bias));
      });
    }
  }
  return cases.take();
}

std::vector<OpCase> cases_gru_gate() {
  Cases cases(EGG_OP_GRU_GATE);
  for (const int32_t size : kSizes) {
    cases.add(fmt::format("size {}", size), [=](ProgramBuilder& program) {
      const Value f = constant_state(program, "f", size);
      keep(program, program.gru_gate("out", f, constant_state(program, "h", size)));
    });
  }
  return cases.take();
}

std::vector<OpCase> cases_gru_mix() {
  Cases cases(EGG_OP_GRU_MIX);
  for (const int32_t size : kSizes) {
    cases.add(fmt::format("size {}", size), [=](ProgramBuilder& program) {
      const Value f = constant_state(program, "f", size);
      const Value h = program.state("h", size);  // runs on from token to token
      const Value next = program.gru_mix("out", f, h, constant_state(program, "c", size));
      program.store(h, next);
    });
  }
  return cases.take();
}

std::vector<OpCase> cases_store() {
  Cases cases(EGG_OP_STORE);
  for (const int32_t size : kSizes) {
    // Two states exchange their values each token: a store takes effect when the token ends, not before.
    cases.add(fmt::format("exchange size {}", size), [=](ProgramBuilder& program) {
      const Value a = program.state("a", size);
      const Value b = program.state("b", size);
      program.store(a, b);
      program.store(b, a);
    });
  }
  return cases.take();
}

std::vector<OpCase> cases_loss() {
  Cases cases(EGG_OP_LOSS);
  for (const int32_t vocab : {2, 3, 16, 17, 255, 256, 257, 1000}) {
    for (const int32_t unit : {1, 256, 4096, 65536, 1 << 18}) {
      cases.add(
          fmt::format("vocabulary {} unit {}", vocab, unit),
          [=](ProgramBuilder& program) { program.loss(constant_state(program, "logits", vocab), unit); }, vocab, true);
    }
  }
  return cases.take();
}

}  // namespace

std::vector<OpCase> op_cases() {
  std::vector<OpCase> all;
#define EGG_ADD_CASES(code, name, a, b, c, d, text) \
  for (OpCase & test : cases_##name()) all.push_back(std::move(test));
  EGG_OPS(EGG_ADD_CASES)
#undef EGG_ADD_CASES
  return all;
}

}  // namespace eggroll
