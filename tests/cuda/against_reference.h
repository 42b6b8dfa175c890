// Everything that a session computes in some steps, to compare a GPU's with the reference's.
#ifndef EGGROLL_TESTS_CUDA_AGAINST_REFERENCE_H
#define EGGROLL_TESTS_CUDA_AGAINST_REFERENCE_H

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "eggroll/noise.h"
#include "gpu_test.h"
#include "learner.h"

namespace eggroll::cuda {

constexpr uint32_t kStreamMembers = 8;

// The tokens of some streams. In each index, one row in eight is none.
struct Tokens {
  Tokens(const egg_program& program, uint64_t seed, uint32_t the_streams, uint32_t the_tokens)
      : streams(the_streams), tokens(the_tokens) {
    test::Draws draws(seed);
    const auto vocab = static_cast<uint32_t>(program.vocab);
    for (uint32_t i = 0; i < streams * tokens; ++i) {
      inputs.push_back(draws.below(draws.below(2) == 0 ? 4 : vocab));
      targets.push_back(draws.below(6) == 0 ? EGG_NO_TARGET : draws.below(vocab));
      resets.push_back(draws.below(7) == 0 ? 1 : 0);
      for (uint32_t k = 0; k < program.index_count; ++k) {
        const auto limit = static_cast<uint32_t>(program.indices[k].rows);
        rows.push_back(draws.below(8) == 0 ? EGG_NO_ROW : draws.below(draws.below(2) == 0 ? 3 : limit));
      }
    }
  }
  egg_batch view() const { return {streams, tokens, inputs.data(), targets.data(), resets.data(), rows.data()}; }

  uint32_t streams;
  uint32_t tokens;
  std::vector<uint32_t> inputs;
  std::vector<uint32_t> targets;
  std::vector<uint8_t> resets;
  std::vector<uint32_t> rows;
};

inline std::vector<int8_t> fitness_of(uint32_t population, uint64_t seed, bool small) {
  test::Draws draws(seed);
  std::vector<int8_t> fitness(population / 2);
  for (int8_t& f : fitness) f = small ? static_cast<int8_t>(static_cast<int>(draws.below(3)) - 1) : draws.weight();
  std::fill_n(fitness.begin(), kStreamMembers / 2, int8_t{0});  // all members of one stream have no fitness
  return fitness;
}

// Everything that a session holds and returns.
struct Seen {
  std::vector<std::vector<int8_t>> weights;
  std::vector<std::vector<uint32_t>> slots;
  std::vector<int8_t> states;
  std::vector<std::vector<int64_t>> numbers;  // losses, and counts of changed weights
  std::vector<int8_t> logits;
};

// Evaluates and updates once for each number of tokens, and runs the unperturbed model after each and then on `last`
// tokens. Each evaluation is told what the next one reads.
template <class AnySession>
Seen run(AnySession& session, const Learner& learner, const egg_session_spec& spec, std::span<const uint32_t> windows,
         uint32_t last) {
  const egg_program& program = *spec.program;
  const uint32_t population = spec.population;
  Seen seen;
  set_initial_weights(session, program, 7);
  uint64_t step = 3;
  std::vector<egg_site_sums> sites(spec.site_count);
  std::vector<Tokens> reads;
  for (size_t w = 0; w < windows.size(); ++w) {
    reads.emplace_back(program, step + w, population / kStreamMembers, windows[w]);
  }
  const auto call = [&](size_t w, int64_t* losses, const egg_evaluate* next) {
    return egg_evaluate{sizeof(egg_evaluate), kStreamMembers, 3 + w, 0,           population,
                        reads[w].view(),      losses,         next,  sites.data()};
  };
  const auto infer = [&](uint64_t seed, uint32_t streams, uint32_t tokens) {
    const Tokens read(program, seed, streams, tokens);
    std::vector<int8_t> states(streams * size_t{learner.program->state_bytes()});
    seen.logits.resize(streams * static_cast<size_t>(program.vocab));
    session.infer({sizeof(egg_infer), 0, read.view(), states.data(), seen.numbers.emplace_back(streams).data(),
                   seen.logits.data()});
    seen.states.insert(seen.states.end(), states.begin(), states.end());
  };
  for (size_t w = 0; w < windows.size(); ++w) {
    const Tokens& read = reads[w];
    std::vector<int64_t>& losses = seen.numbers.emplace_back(population);
    const bool is_last = w + 1 == windows.size();
    const egg_evaluate next = call(is_last ? w : w + 1, nullptr, nullptr);
    std::fill(sites.begin(), sites.end(), egg_site_sums{});
    session.evaluate(call(w, losses.data(), is_last ? nullptr : &next));
    for (const egg_site_sums& of_site : sites) {
      seen.numbers.push_back({static_cast<int64_t>(of_site.tokens), of_site.squares});
    }
    const std::vector<int8_t> fitness = fitness_of(population, step, w == 1);
    const std::vector<float> stds = learner.vote_stds(fitness);
    const std::vector<float> scalars = learner.scalars(step, {});
    std::vector<int64_t>& changed = seen.numbers.emplace_back(program.param_count);
    // The third update votes with pairs whose noise is no longer in memory.
    session.update({sizeof(egg_update), population / 2, step + (w == 2 ? 1 : 0), fitness.data(), scalars.data(),
                    stds.data(), changed.data(), nullptr, read.view(), kStreamMembers, 0, sites.data()});
    infer(98, 5, 2);  // while the next evaluation's batch is there
    ++step;
  }
  seen.weights = weights_of(session, program);
  for (uint32_t i = 0; i < program.param_count; ++i) {
    for (uint32_t slot = 0; slot < spec.rule->slot_count && program.params[i].perturbed != 0; ++slot) {
      std::vector<uint32_t>& cells = seen.slots.emplace_back(seen.weights[i].size());
      session.get_slot(i, slot, cells.data());
    }
  }
  std::vector<int8_t> states(population * size_t{learner.program->state_bytes()});
  session.get_states(0, population, states.data());
  seen.states.insert(seen.states.end(), states.begin(), states.end());
  infer(99, 150, last);  // enough streams that tiles are cut if there are two blocks
  return seen;
}

inline void expect_same(const Seen& seen, const Seen& expected, const egg_program& program) {
  EXPECT_EQ(seen.numbers, expected.numbers);
  EXPECT_EQ(seen.states, expected.states);
  EXPECT_EQ(seen.logits, expected.logits);
  EXPECT_EQ(seen.slots, expected.slots);
  for (size_t i = 0; i < seen.weights.size(); ++i) {
    EXPECT_EQ(seen.weights[i], expected.weights[i]) << program.params[i].name;
  }
}

// Compares these sessions of a program on one GPU with the reference: one replica, three replicas, two blocks, no noise
// ahead and, if there are many members, noise in pieces.
inline void expect_equal(const Learner& learner, std::span<const uint32_t> windows, uint32_t last) {
  const egg_session_spec spec = learner.session_spec();
  BackendSession reference = learner.open_session();
  const Seen expected = run(reference, learner, spec, windows, last);
  std::vector<std::unique_ptr<Session>> sessions;
  sessions.push_back(open_session(spec, {0}));
  sessions.push_back(open_session(spec, {0, 0, 0}));
  sessions.push_back(open_session_of_two_blocks(spec));
  sessions.push_back(open_session_with_noise_in_time(spec));
  constexpr uint32_t kManyMembers = 4096;  // their noise takes more memory than votes on rows
  if (spec.population >= kManyMembers) sessions.push_back(open_session_in_pieces(spec));
  for (const auto& session : sessions) {
    expect_same(run(*session, learner, spec, windows, last), expected, *spec.program);
  }
}

}  // namespace eggroll::cuda

#endif
