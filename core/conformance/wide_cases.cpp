// Cases for the ops on wide values, and for ops that use positions.
#include "conformance/case_list.h"
#include "conformance/tables.h"

namespace eggroll {
namespace {

constexpr int32_t kPositions = 3;  // of a shaped scenario's calls

// Stores what int8 can show of a wide value: the value clipped, scaled, and shifted down by several bits.
void keep_wide(ProgramBuilder& program, Value value) {
  const auto store = [&](const std::string& name, Value seen) {
    program.store(program.state("kept_" + name, program.size(seen)), seen);
  };
  store("clipped", program.add("clipped", value));
  store("scaled", program.max_norm("scaled", value));
  if (program.size(value) % 2 != 0) return;
  for (const int32_t bits : {5, 10, 16}) {
    std::vector<int32_t> angles;
    for (int32_t position = 0; position < kPositions; ++position) {
      angles.push_back(1 << (EGG_ROPE_BITS - bits));
      angles.push_back(0);
    }
    const std::string name = fmt::format("down_{}", bits);
    const Value shifted = program.rope(name, value, program.table(name + "_angles", angles), 2);
    store(name, program.add(name + "_clipped", shifted));
  }
}

Value wide_product(ProgramBuilder& program, const std::string& name, int32_t size, int32_t shift) {
  const Param weight = program.matrix(name + "_weight", size, 21, 16);
  return program.wide_linear(name, constant_state(program, name + "_x", 21), weight, shift);
}

void fill_all(OpCase& test, Fill fill) {
  test.scenario.states = fill;
  test.scenario.weights = fill;
}

// Makes every call read this number of tokens.
void read_tokens(OpCase& test, uint32_t tokens) {
  for (Action& action : test.scenario.actions) action.tokens = tokens;
}

}  // namespace

void add_wide_linear_cases(Cases& cases) {
  for (const int32_t shift : {0, 1, 4, 9, 26}) {
    for (const int32_t rows : {1, 7, 16, 33, 64}) {
      for (const bool bias : {false, true}) {
        cases
            .add(fmt::format("wide {} x 37 shift {}{}", rows, shift, bias ? " bias" : ""),
                 [=](ProgramBuilder& program) {
                   const Param weight = program.matrix("weight", rows, 37, 16);
                   const Param b = bias ? program.vector("bias", rows, 3) : Param{};
                   keep_wide(program, program.wide_linear("out", constant_state(program, "x", 37), weight, shift, b));
                 })
            .context = kPositions;
      }
    }
  }
  // Small sums, of which every bit shows, and the largest.
  for (const Fill fill : {Fill::kSmall, Fill::kLargest, Fill::kSmallest}) {
    for (const int32_t shift : {0, 2, 5}) {
      OpCase& test =
          cases.add(fmt::format("wide, fill {} shift {}", static_cast<int>(fill), shift), [=](ProgramBuilder& program) {
            const Param weight = program.matrix("weight", 10, 515, 16);
            keep_wide(program, program.wide_linear("out", constant_state(program, "x", 515), weight, shift));
          });
      test.context = kPositions;
      fill_all(test, fill);
    }
  }
  OpCase& ranks = cases.add("wide rank 5",
                            [=](ProgramBuilder& program) { keep_wide(program, wide_product(program, "out", 18, 3)); });
  ranks.context = kPositions;
  ranks.scenario.noise.rank = 5;
}

void add_wide_add_cases(Cases& cases) {
  for (const int32_t size : kSizes) {
    for (const int parts : {0, 1, 2, 3}) {  // bit 0: the second input is wide; bit 1: a bias
      cases
          .add(fmt::format("wide size {} parts {}", size, parts),
               [=](ProgramBuilder& program) {
                 const Value a = wide_product(program, "a", size, 3);
                 const Value b =
                     (parts & 1) != 0 ? wide_product(program, "b", size, 2) : constant_state(program, "b", size);
                 const Param bias = (parts & 2) != 0 ? program.vector("bias", size, 5) : Param{};
                 keep_wide(program, program.wide_add("out", b, a, bias));
                 keep(program, program.add("narrow", a, b, bias));
               })
          .context = kPositions;
    }
  }
  for (const Fill fill : {Fill::kSmall, Fill::kExtreme}) {
    OpCase& test =
        cases.add(fmt::format("wide of int8, fill {}", static_cast<int>(fill)), [=](ProgramBuilder& program) {
          const Value a = constant_state(program, "a", 70);
          const Value sum = program.wide_add("sum", a, constant_state(program, "b", 70), program.vector("bias", 70, 5));
          keep_wide(program, program.wide_add("twice", sum, sum));
          keep(program, program.add("back", sum, a));
        });
    test.context = kPositions;
    fill_all(test, fill);
  }
}

std::vector<OpCase> cases_lut() {
  Cases cases(EGG_OP_LUT);
  for (const int32_t size : kSizes) {
    for (const Fill fill : {Fill::kMixed, Fill::kExtreme, Fill::kSmall}) {
      cases
          .add(fmt::format("size {} fill {}", size, static_cast<int>(fill)),
               [=](ProgramBuilder& program) {
                 Draws draws(static_cast<uint64_t>(size));
                 const Table table = program.table("entries", random_lut(draws));
                 const Value y = program.lut("out", constant_state(program, "x", size), table);
                 keep(program, y);
                 // Sums must not include numbers beyond the size.
                 const Param gain = program.vector("gain", size, 16);
                 program.store(program.state("normed", size), program.l1_norm("norm", y, gain, EGG_DIVIDE_TRUNCATE));
               })
          .scenario.states = fill;
    }
  }
  cases.add("two tables, one twice", [=](ProgramBuilder& program) {
    Draws draws(7);
    const Table one = program.table("one", random_lut(draws));
    const Table two = program.table("two", random_lut(draws));
    const Value x = constant_state(program, "x", 19);
    keep(program, program.lut("c", program.lut("b", program.lut("a", x, one), two), one));
  });
  return cases.take();
}

std::vector<OpCase> cases_max_norm() {
  Cases cases(EGG_OP_MAX_NORM);
  for (const int32_t size : kSizes) {
    cases.add(fmt::format("of int8, size {}", size), [=](ProgramBuilder& program) {
      keep(program, program.max_norm("out", constant_state(program, "x", size)));
    });
    for (const int32_t shift : {0, 4, 11}) {
      cases.add(fmt::format("size {} shift {}", size, shift), [=](ProgramBuilder& program) {
        keep(program, program.max_norm("out", wide_product(program, "x", size, shift)));
      });
    }
  }
  // One value that is the largest, equal values, zeros, and quotients that end in a half.
  for (const Fill fill : {Fill::kOutliers, Fill::kSmallest, Fill::kZero, Fill::kSmall, Fill::kHalf}) {
    for (const int32_t size : {5, 64, 97}) {
      cases
          .add(fmt::format("of int8, size {} fill {}", size, static_cast<int>(fill)),
               [=](ProgramBuilder& program) {
                 const Value x = constant_state(program, "x", size);
                 keep(program, program.max_norm("out", x));
                 const Value y = program.wide_add("twice", x, x);
                 program.store(program.state("of_twice", size), program.max_norm("again", y));
               })
          .scenario.states = fill;
    }
  }
  // Near the largest that a wide value may be: 127^2 * 8300, doubled.
  for (const Fill fill : {Fill::kLargest, Fill::kExtreme, Fill::kMixed}) {
    OpCase& test =
        cases.add(fmt::format("of large sums, fill {}", static_cast<int>(fill)), [=](ProgramBuilder& program) {
          const Param weight = program.matrix("weight", 6, 8300, 16);
          const Value sum = program.wide_linear("sum", constant_state(program, "x", 8300), weight, 0);
          keep(program, program.max_norm("out", program.wide_add("twice", sum, sum)));
        });
    test.scenario = shaped_scenario(kOnePair, noise_kind(0));
    test.scenario.states = fill;
    test.scenario.weights = fill == Fill::kExtreme ? Fill::kSmallest : fill;
  }
  return cases.take();
}

std::vector<OpCase> cases_rope() {
  Cases cases(EGG_OP_ROPE);
  const auto add = [&](int32_t size, int32_t head, bool wide) -> OpCase& {
    OpCase& test =
        cases.add(fmt::format("size {} head {}{}", size, head, wide ? " wide" : ""), [=](ProgramBuilder& program) {
          Draws draws(static_cast<uint64_t>(size * 1000 + head));
          const Table angles = program.table("angles", random_angles(draws, 6, head));
          const Value x = wide ? wide_product(program, "x", size, 0) : constant_state(program, "x", size);
          const Value y = program.rope("out", x, angles, head);
          keep(program, wide ? program.max_norm("scaled", y) : y);
          if (wide) program.store(program.state("clipped", size), program.add("clip", y));
        });
    test.context = 6;
    read_tokens(test, 5);
    return test;
  };
  for (const auto& [size, head] : {std::pair{2, 2},
                                   {6, 6},
                                   {6, 2},
                                   {8, 4},
                                   {12, 6},
                                   {16, 16},
                                   {30, 10},
                                   {34, 34},
                                   {64, 32},
                                   {66, 22},
                                   {128, 64}}) {
    for (const bool wide : {false, true}) add(size, head, wide);
  }
  for (const Fill fill : {Fill::kExtreme, Fill::kSmall, Fill::kLargest}) {
    for (const bool wide : {false, true}) {
      OpCase& test = add(36, 12, wide);
      test.name += fmt::format(" fill {}", static_cast<int>(fill));
      fill_all(test, fill);
    }
  }
  return cases.take();
}

namespace {

void add_attention_programs(Cases& cases) {
  // Two attentions keep two caches; a call of fewer tokens than the context.
  OpCase& two = cases.add("twice", [=](ProgramBuilder& program) {
    Draws draws(3);
    const Table weights = program.table("weights", random_weights(draws, 900));
    const Value token = program.embed("token", program.matrix("tokens", 5, 16, 60));
    const Value q = constant_state(program, "q", 16);
    const Value once = program.attention("once", q, token, q, weights, 8, EGG_WEIGHT_SOFTMAX, 4);
    keep(program, program.attention("again", once, once, token, weights, 4, EGG_WEIGHT_SIGMOID, 4));
  });
  two.context = 19;
  read_tokens(two, 13);
  // Weights of 800 KiB: a backend may take a part of them through several tokens before the next part.
  OpCase& parts = cases.add("between products of 520 x 520", [=](ProgramBuilder& program) {
    Draws draws(5);
    const auto product = [&](const std::string& name, Value x) {
      return program.linear(name, x, program.matrix(name + "_weight", 520, 520, 16), 10);
    };
    const Value h = program.state("h", 520);
    const Value x = product("x", h);
    program.store(h, program.add("next_h", x, program.embed("token", program.matrix("tokens", 5, 520, 60))));
    const Value y = program.wide_linear("y", x, program.matrix("y_weight", 520, 520, 16), 6);
    const Value v = program.max_norm("v", y);
    const Table weights = program.table("weights", random_weights(draws, 900));
    const Value attended = program.attention("attended", x, v, v, weights, 52, EGG_WEIGHT_SOFTMAX, 7);
    const Value g = program.state("g", 520);
    const Value sum = program.add("sum", g, product("z", attended));
    program.store(g, program.add("next_g", sum, program.max_norm("late", y)));
  });
  parts.context = 21;
  parts.scenario = shaped_scenario(kOnePair, noise_kind(0));
  read_tokens(parts, 19);
}

}  // namespace

std::vector<OpCase> cases_attention() {
  Cases cases(EGG_OP_ATTENTION);
  // Keys and values follow the tokens.
  const auto add = [&](int32_t size, int32_t head, int32_t weighting, int32_t shift, int32_t largest,
                       int32_t context) -> OpCase& {
    OpCase& test = cases.add(fmt::format("size {} head {} weighting {} shift {} weights to {} context {}", size, head,
                                         weighting, shift, largest, context),
                             [=](ProgramBuilder& program) {
                               Draws draws(static_cast<uint64_t>(size * 1000 + context));
                               const Table weights = program.table("weights", random_weights(draws, largest));
                               const Value token = program.embed("token", program.matrix("tokens", 5, size, 60));
                               const Value q = constant_state(program, "q", size);
                               const Value k = program.add("k", token, constant_state(program, "k_offset", size));
                               const Value v = program.add("v", token, constant_state(program, "v_offset", size));
                               keep(program, program.attention("out", q, k, v, weights, head, weighting, shift));
                             });
    test.context = context;
    read_tokens(test, static_cast<uint32_t>(context));
    return test;
  };
  for (const int32_t weighting : {EGG_WEIGHT_SOFTMAX, EGG_WEIGHT_SIGMOID}) {
    for (const auto& [size, head] :
         {std::pair{4, 4}, {8, 4}, {12, 12}, {24, 8}, {32, 32}, {60, 20}, {64, 16}, {68, 68}, {128, 64}}) {
      add(size, head, weighting, 7, 1 << 14, 7);
    }
    for (const int32_t shift : {0, 3, 10, 26}) add(20, 20, weighting, shift, 1 << 10, 5);
    // One, two and three digits; the largest sum that the host lets pass.
    for (const int32_t largest : {0, 1, 127, 128, 16383, 16384, (1 << 21) - 1}) add(16, 8, weighting, 6, largest, 4);
    for (const int32_t context : {1, 2, 3, 4, 5, 8, 9, 33}) add(12, 4, weighting, 8, (1 << 23) / 40, context);
    for (const Fill fill : {Fill::kExtreme, Fill::kLargest, Fill::kSmall, Fill::kZero}) {
      OpCase& test = add(16, 8, weighting, 5, (1 << 23) / 7, 6);
      test.name += fmt::format(" fill {}", static_cast<int>(fill));
      fill_all(test, fill);
    }
    for (const uint32_t one_in : {0U, 1U, 2U, 3U}) {
      OpCase& test = add(16, 8, weighting, 5, 5000, 11);
      test.name += fmt::format(" a reset at one in {}", one_in);
      test.scenario.reset = one_in;
    }
  }
  add_attention_programs(cases);
  return cases.take();
}

}  // namespace eggroll
