// Cases for every op: awkward sizes and populations, both roundings, each kind of noise, ranks 1 to 64, frozen
// parameters, saturation.
#include "conformance/case_list.h"

namespace eggroll {
namespace {

// Readers of the row vote, out of all pairs or out of a range of them.
void add_masked_embed_cases(Cases& cases) {
  uint32_t split = 0;
  for (const int32_t size : {1, 5, 16, 33, 64, 130}) {
    for (const int32_t rank : {1, 3}) {
      for (const uint32_t tokens : {1U, 2U, 7U}) {
        OpCase& test = cases.add(fmt::format("masked, width {}, rank {}, {} tokens", size, rank, tokens),
                                 [=](ProgramBuilder& program) {
                                   const Index two = program.index(2, 64);
                                   const Index three = program.index(3, 2048);
                                   const Param table = program.matrix("rows", 64, size, 16);
                                   const Value token = program.embed("first", program.matrix("embedding", 5, size, 16));
                                   const Value both = program.embed("second", table, two, token);
                                   keep(program, program.embed("third", program.matrix("more_rows", 2048, size, 16),
                                                               three, program.embed("again", table, two, both)));
                                 });
        ++split;
        test.scenario.noise.rank = rank;
        test.scenario.masked = true;
        test.scenario.split = split % 3 == 0 ? split : 0;
        for (Action& action : test.scenario.actions) {
          if (action.kind != ActionKind::kUpdate) continue;
          action.tokens = tokens;
          action.members_per_stream = 2 * (1 + split % 5);
        }
      }
    }
  }
  // All pairs vote on a table that a linear reads as well.
  cases
      .add("masked, with a tied head",
           [=](ProgramBuilder& program) {
             const Param tied = program.matrix("tied", 5, 19, 16);
             keep(program, program.linear("scores", program.embed("out", tied), tied, 6));
           })
      .scenario.masked = true;
}

// Parameters that more than one op reads, and a frozen one together with one that is not.
void add_shared_linear_cases(Cases& cases) {
  cases.add(
      "tied to the embedding",
      [=](ProgramBuilder& program) {
        const Param tied = program.matrix("tied", 19, 26, 16);
        program.loss(program.linear("logits", program.embed("token", tied), tied, 6), 4096);
      },
      19, true);
  cases.add("one weight, bias and input twice", [=](ProgramBuilder& program) {
    const Param weight = program.matrix("weight", 14, 14, 16);
    const Param bias = program.vector("bias", 14, 3);
    const Value x = constant_state(program, "x", 14);
    const Value once = program.linear("once", x, weight, 6, bias);
    const Value twice = program.linear("twice", once, weight, 7, bias);
    program.store(program.state("kept_once", 14), once);
    keep(program, program.add("both", program.linear("again", x, weight, 5), twice, bias));
  });
  cases.add("a frozen weight under a perturbed bias", [=](ProgramBuilder& program) {
    const Param weight = program.matrix("weight", 9, 21, 16);
    program.freeze(weight);
    keep(program, program.linear("out", constant_state(program, "x", 21), weight, 6, program.vector("bias", 9, 3)));
  });
  cases.add("a perturbed weight under a frozen bias", [=](ProgramBuilder& program) {
    const Param bias = program.vector("bias", 9, 3);
    program.freeze(bias);
    keep(program,
         program.linear("out", constant_state(program, "x", 21), program.matrix("weight", 9, 21, 16), 6, bias));
  });
}

}  // namespace

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
  for (const int32_t rank : {2, 5, 64}) {
    cases
        .add(fmt::format("rank {}", rank),
             [=](ProgramBuilder& program) {
               keep(program, program.embed("out", program.matrix("embedding", 5, 21, 16)));
             })
        .scenario.noise.rank = rank;
  }
  // On either side the noise passes the end of its half of a table.
  cases
      .add(
          "vocabulary and width over 256",
          [=](ProgramBuilder& program) {
            keep(program, program.embed("out", program.matrix("embedding", 1031, 517, 16)));
          },
          1031)
      .scenario.noise = noise_kind(7);
  cases.add("one table twice", [=](ProgramBuilder& program) {
    const Param table = program.matrix("embedding", 5, 11, 16);
    const Value once = program.embed("once", table);
    keep(program, program.add("both", once, program.embed("again", table)));
  });
  for (const int32_t size : kSizes) {
    cases.add(fmt::format("width {} on top of a value", size), [=](ProgramBuilder& program) {
      const Param table = program.matrix("embedding", 5, size, 16);
      keep(program, program.embed("out", table, {}, constant_state(program, "x", size)));
    });
    for (const bool on_top : {false, true}) {
      cases.add(fmt::format("width {} by an index{}", size, on_top ? " on top of a value" : ""),
                [=](ProgramBuilder& program) {
                  const Index index = program.index(2, 8);
                  const Param table = program.matrix("rows", 8, size, 16);
                  const Value x = on_top ? constant_state(program, "x", size) : Value{};
                  keep(program, program.embed("out", table, index, x));
                });
    }
  }
  add_masked_embed_cases(cases);
  return cases.take();
}

std::vector<OpCase> cases_linear() {
  Cases cases(EGG_OP_LINEAR);
  int number = 0;
  const auto add = [&](int32_t rows, int32_t cols, int32_t shift, bool bias, bool frozen) -> OpCase& {
    return cases.add(fmt::format("{}: {} x {} shift {}{}{}", number++, rows, cols, shift, bias ? " bias" : "",
                                 frozen ? " frozen" : ""),
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
  for (const int32_t rank : {2, 4, 5, 8, 64}) add(23, 37, 6, true, false).scenario.noise.rank = rank;
  // Small sums under small shifts: nothing saturates, so every rounding shows.
  for (const int32_t rounding : {EGG_ROUND_NEAREST, EGG_ROUND_FLOOR}) {
    for (const int32_t shift : {0, 1, 2, 3}) {
      OpCase& test = add(13, 5, shift, shift % 2 == 0, false);
      test.rounding = rounding;
      test.scenario.weights = Fill::kSmall;
      test.scenario.states = Fill::kSmall;
    }
  }
  // Products of one sign: the largest sums that the host lets pass, and everything that saturates on the way.
  for (const Fill weights : {Fill::kLargest, Fill::kSmallest}) {
    for (const Fill states : {Fill::kLargest, Fill::kSmallest}) {
      for (const auto& [cols, shift] : {std::pair{64, 13}, std::pair{515, 16}, std::pair{8251, 20}}) {
        OpCase& test = add(5, cols, shift, true, false);
        test.scenario.weights = weights;
        test.scenario.states = states;
        test.scenario.reset = 0;
        test.scenario.noise = noise_kind(0);
      }
    }
  }
  // q of a perturbation is cut at 16 bits.
  OpCase& cut = add(7, 1500, 11, false, false);
  cut.scenario.noise = noise_kind(0);
  cut.scenario.states = Fill::kExtreme;
  add_shared_linear_cases(cases);
  add_wide_linear_cases(cases);
  // Several blocks of outputs and of inputs, with more than one rank.
  for (const bool bias : {false, true}) add(97, 134, 11, bias, false).scenario.noise.rank = 4;
  for (const int32_t shift : {6, 8, 11}) add(135, 197, shift, false, false).scenario.noise = noise_kind(0);
  return cases.take();
}

std::vector<OpCase> cases_l1_norm() {
  Cases cases(EGG_OP_L1_NORM);
  const auto add = [&](const std::string& what, int32_t size, int32_t division, bool bias) -> Scenario& {
    return cases
        .add(what,
             [=](ProgramBuilder& program) {
               const Param gain = program.vector("gain", size, 16);
               const Param b = bias ? program.vector("bias", size, -2) : Param{};
               keep(program, program.l1_norm("out", constant_state(program, "x", size), gain, division, b));
             })
        .scenario;
  };
  for (const int32_t size : kSizes) {
    for (const int32_t division : {EGG_DIVIDE_RECIPROCAL, EGG_DIVIDE_TRUNCATE, EGG_DIVIDE_FLOOR}) {
      add(fmt::format("size {} division {}", size, division), size, division, size % 2 == 0);
    }
  }
  // Means of 127, 0 (which counts as 1) and about 2, over sizes that leave lanes empty.
  for (const Fill states : {Fill::kSmallest, Fill::kZero, Fill::kSmall}) {
    for (const int32_t size : {5, 30, 41, 49, 55, 67, 83, 97, 107, 1001}) {
      for (const int32_t division : {EGG_DIVIDE_RECIPROCAL, EGG_DIVIDE_TRUNCATE, EGG_DIVIDE_FLOOR}) {
        add(fmt::format("size {} division {} states {}", size, division, static_cast<int>(states)), size, division,
            false)
            .states = states;
      }
    }
  }
  // 127 n, not a float32, is the smallest sum with a mean of 127.
  Scenario& large = add("size 140003", 140003, EGG_DIVIDE_RECIPROCAL, false);
  large = shaped_scenario(kOnePair, noise_kind(0));
  large.states = Fill::kSmallest;
  cases.add("gain and bias are one vector", [=](ProgramBuilder& program) {
    const Param both = program.vector("both", 29, 16);
    keep(program, program.l1_norm("out", constant_state(program, "x", 29), both, EGG_DIVIDE_FLOOR, both));
  });
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
  for (const Fill fill : {Fill::kExtreme, Fill::kLargest, Fill::kSmallest}) {
    OpCase& test = cases.add(fmt::format("saturating {}", static_cast<int>(fill)), [=](ProgramBuilder& program) {
      const Value a = constant_state(program, "a", 70);
      keep(program, program.add("out", a, constant_state(program, "b", 70), program.vector("bias", 70, 5)));
    });
    test.scenario.states = fill;
    test.scenario.weights = Fill::kExtreme;
  }
  // Nothing but the sign of a perturbation can be left.
  for (const int32_t rounding : {EGG_ROUND_NEAREST, EGG_ROUND_FLOOR}) {
    OpCase& test = cases.add(fmt::format("smallest noise, rounding {}", rounding), [=](ProgramBuilder& program) {
      keep(program, program.add("out", constant_state(program, "a", 26), {}, program.vector("bias", 26, 5)));
    });
    test.rounding = rounding;
    test.scenario.noise.sigma_vector_shift = 12;
    test.scenario.noise.sigma_shift = 12;
  }
  cases.add("a value to itself", [=](ProgramBuilder& program) {
    const Value a = constant_state(program, "a", 18);
    keep(program, program.add("out", a, a));
  });
  cases.add("a value alone",
            [=](ProgramBuilder& program) { keep(program, program.add("out", constant_state(program, "a", 18))); });
  add_wide_add_cases(cases);
  return cases.take();
}

std::vector<OpCase> cases_gru_gate() {
  Cases cases(EGG_OP_GRU_GATE);
  const auto add = [&](const std::string& what, int32_t size) -> OpCase& {
    return cases.add(what, [=](ProgramBuilder& program) {
      const Value f = constant_state(program, "f", size);
      keep(program, program.gru_gate("out", f, constant_state(program, "h", size)));
    });
  };
  for (const int32_t size : kSizes) add(fmt::format("size {}", size), size);
  // Every pair of extremes, and one value as both inputs.
  add("of extremes", 70).scenario.states = Fill::kExtreme;
  cases.add("of one value", [=](ProgramBuilder& program) {
    const Value f = constant_state(program, "f", 70);
    keep(program, program.gru_gate("out", f, f));
  });
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
  cases
      .add("of extremes",
           [=](ProgramBuilder& program) {
             const Value f = constant_state(program, "f", 70);
             const Value h = constant_state(program, "h", 70);
             keep(program, program.gru_mix("out", f, h, constant_state(program, "c", 70)));
           })
      .scenario.states = Fill::kExtreme;
  cases.add("of one value", [=](ProgramBuilder& program) {
    const Value f = constant_state(program, "f", 70);
    keep(program, program.gru_mix("out", f, f, f));
  });
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
    cases.add(fmt::format("before it is read size {}", size), [=](ProgramBuilder& program) {
      const Value a = program.state("a", size);
      const Value b = program.state("b", size);
      const Value sum = program.add("sum", a, b);
      program.store(a, sum);
      const Value again = program.add("again", a, sum);  // a is still what it was
      program.store(b, again);
      keep(program, program.add("last", again, b));
      program.store(program.state("copy", size), sum);
    });
  }
  return cases.take();
}

std::vector<OpCase> cases_loss() {
  Cases cases(EGG_OP_LOSS);
  const auto add = [&](const std::string& what, int32_t vocab, int32_t unit) -> Scenario& {
    return cases
        .add(
            what, [=](ProgramBuilder& program) { program.loss(constant_state(program, "logits", vocab), unit); }, vocab,
            true)
        .scenario;
  };
  for (const int32_t vocab : {2, 3, 16, 17, 255, 256, 257, 1000}) {
    for (const int32_t unit : {1, 256, 4096, 65536, 1 << 18}) {
      add(fmt::format("vocabulary {} unit {}", vocab, unit), vocab, unit);
    }
  }
  // Lanes beyond the vocabulary may count neither as the largest logit nor towards the sum.
  for (const int32_t vocab : {2, 3, 5, 17, 33, 66, 259}) {
    Scenario& negative = add(fmt::format("vocabulary {} of negative logits", vocab), vocab, 4096);
    negative.states = Fill::kNegative;
    negative.reset = 0;
    Scenario& smallest = add(fmt::format("vocabulary {} of -127", vocab), vocab, 65536);
    smallest.states = Fill::kSmallest;
    smallest.reset = 0;
    add(fmt::format("vocabulary {} of +-127", vocab), vocab, 1 << 18).states = Fill::kExtreme;
  }
  // The largest vocabulary of all, and the largest sum.
  Scenario& most = add("vocabulary 262144", EGG_LOSS_VOCAB_MAX, 4096);
  most = shaped_scenario(kOnePair, noise_kind(0));
  most.states = Fill::kSmallest;
  most.reset = 0;
  // The loss has more bits in Q16 than an int32 holds.
  for (const int32_t vocab : {2, 7}) {
    Scenario& scenario = add(fmt::format("vocabulary {} over many tokens", vocab), vocab, 1 << 18);
    scenario.states = Fill::kExtreme;
    scenario.reset = 0;
    for (Action& action : scenario.actions) action.tokens = 200;
  }
  for (const uint32_t one_in : {1U, 2U}) {
    add(fmt::format("no target for one in {}", one_in), 12, 4096).no_target = one_in;
    add(fmt::format("a reset at one in {}", one_in), 12, 4096).reset = one_in;
  }
  return cases.take();
}

std::vector<OpCase> op_cases() {
  std::vector<OpCase> all;
#define EGG_ADD_CASES(code, name, ...) \
  for (OpCase & test : cases_##name()) all.push_back(std::move(test));
  EGG_OPS(EGG_ADD_CASES)
#undef EGG_ADD_CASES
  return all;
}

}  // namespace eggroll
