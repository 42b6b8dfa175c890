// Runs a case through every entry point of a backend and writes down all that comes back.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>

#include "conformance/cases.h"
#include "eggroll/noise.h"
#include "eggroll/spec.h"
#include "program/op_info.h"
#include "program/program.h"
#include "program/rule.h"

namespace eggroll {
namespace {

constexpr uint32_t kPopulation = 12;
constexpr uint32_t kGroup = 4;
constexpr uint32_t kTokens = 3;
constexpr uint32_t kStreams = 5;  // of inference
constexpr uint32_t kPairs = kPopulation / 2;

// Random numbers that are the same everywhere.
class Draws {
 public:
  explicit Draws(uint64_t seed) : key_(egg_noise_key(seed, EGG_STEP_DATA, 0, 0, 0, 0)) {}
  uint32_t word() { return egg_noise_word(key_, count_++); }
  uint32_t below(uint32_t limit) { return word() % limit; }
  // Mostly anything, often an extreme.
  int8_t value() {
    const uint32_t w = word();
    if (w % 8 == 0) return 127;
    if (w % 8 == 1) return -127;
    return static_cast<int8_t>(static_cast<int32_t>((w >> 8) % 255) - 127);
  }

 private:
  uint64_t key_;
  uint32_t count_ = 0;
};

// Memory with known bytes around it. Byte-sized elements start at an odd address.
template <class T>
class Guarded {
 public:
  explicit Guarded(size_t count) : count_(count), bytes_(kGuard * 2 + count * sizeof(T) + 1, kMark) {}
  T* data() { return reinterpret_cast<T*>(bytes_.data() + offset()); }
  size_t size() const { return count_; }
  T& operator[](size_t i) { return data()[i]; }

  void append_to(Transcript& transcript, const std::string& name) {
    for (size_t i = 0; i < bytes_.size(); ++i) {
      const bool inside = i >= offset() && i < offset() + count_ * sizeof(T);
      if (!inside && bytes_[i] != kMark) throw Error(fmt::format("it wrote outside the buffer of {}", name));
    }
    const uint8_t* begin = bytes_.data() + offset();
    transcript.parts.push_back({name, std::vector<uint8_t>(begin, begin + count_ * sizeof(T))});
  }

 private:
  static constexpr size_t kGuard = 64;
  static constexpr uint8_t kMark = 0xA5;
  static constexpr size_t offset() { return sizeof(T) == 1 ? kGuard + 1 : kGuard; }
  size_t count_;
  std::vector<uint8_t> bytes_;
};

struct Batch {
  std::vector<uint32_t> inputs;
  std::vector<uint32_t> targets;
  std::vector<uint8_t> resets;
  egg_batch view{};

  Batch(Draws& draws, uint32_t streams, uint32_t vocab) {
    for (uint32_t i = 0; i < streams * kTokens; ++i) {
      inputs.push_back(draws.below(vocab));
      targets.push_back(draws.below(5) == 0 ? EGG_NO_TARGET : draws.below(vocab));
      resets.push_back(i > kTokens && draws.below(6) == 0 ? 1 : 0);
    }
    view = egg_batch{streams, kTokens, inputs.data(), targets.data(), resets.data()};
  }
};

// The rule of op cases: keeps the exact votes in a slot and moves the weight by their sign.
void vote_rule(RuleBuilder& rule) {
  const Node vote = rule.vote_i32();
  const Node slot = rule.slot("vote", 'i');
  rule.set_slot(slot, vote);
  const Node negative = rule.op(EGG_RULE_ILT, {vote, rule.constant(0)});
  const Node positive = rule.op(EGG_RULE_ILT, {rule.constant(0), vote});
  rule.delta(rule.op(EGG_RULE_ISUB, {positive, negative}));
}

// A session with random weights and states.
struct Harness {
  Harness(const BackendInstance& backend, const Program& made, const Rule& rule, const egg_noise& noise, int threads,
          Draws& draws)
      : program(made) {
    require_no_overflow(program.view(), noise);
    backend.require_support(program.view(), rule.view());
    session.emplace(backend.open_session(
        egg_session_spec{sizeof(egg_session_spec), threads, &program.view(), &rule.view(), noise, kPopulation, 0}));
    for (uint32_t p = 0; p < program.params().size(); ++p) {
      std::vector<int8_t> weights(weight_count(program.params()[p]));
      for (int8_t& weight : weights) weight = draws.value();
      session->set_weights(p, weights.data());
    }
    std::vector<int8_t> states(size_t{kPopulation} * program.state_bytes());
    for (int8_t& state : states) state = draws.value();
    session->set_states(0, kPopulation, states.data());
  }

  void update(Draws& draws, Transcript& transcript, const std::vector<float>& scalars) {
    Guarded<int8_t> fitness(kPairs);
    for (size_t i = 0; i < kPairs; ++i) fitness[i] = draws.value();
    std::vector<float> stds(program.params().size(), 777.25F);
    Guarded<int64_t> changed(program.params().size());
    session->update(
        egg_update{sizeof(egg_update), kPairs, 41, fitness.data(), scalars.data(), stds.data(), changed.data()});
    changed.append_to(transcript, "changed counts");
    for (uint32_t p = 0; p < program.params().size(); ++p) {
      Guarded<int8_t> weights(weight_count(program.params()[p]));
      session->get_weights(p, weights.data());
      weights.append_to(transcript, fmt::format("weights of '{}'", program.params()[p].name));
    }
  }

  const Program& program;
  std::optional<BackendSession> session;
};

// Every NaN is one value: IEEE leaves its payload open.
uint32_t canonical(uint32_t bits, char type) {
  return type == 'f' && std::isnan(std::bit_cast<float>(bits)) ? 0x7fc00000U : bits;
}

uint32_t edge_or_random(Draws& draws, char type) {
  static constexpr int32_t kIntegers[] = {
      0, 1, -1, 127, -128, 65536, std::numeric_limits<int32_t>::max(), std::numeric_limits<int32_t>::min()};
  static const float kFloats[] = {0.0F,
                                  -0.0F,
                                  1.0F,
                                  -1.0F,
                                  0.1F,
                                  1e-41F,
                                  -3e38F,
                                  2147483648.0F,
                                  -2147483648.0F,
                                  16777217.0F,
                                  std::numeric_limits<float>::infinity(),
                                  -std::numeric_limits<float>::infinity(),
                                  std::numeric_limits<float>::quiet_NaN()};
  const uint32_t w = draws.word();
  if (type == 'i') {
    return w % 4 == 0 ? std::bit_cast<uint32_t>(kIntegers[(w >> 8) % std::size(kIntegers)]) : draws.word() >> (w % 32);
  }
  if (w % 4 == 0) return std::bit_cast<uint32_t>(kFloats[(w >> 8) % std::size(kFloats)]);
  return std::bit_cast<uint32_t>(static_cast<float>(static_cast<int32_t>(draws.word())) /
                                 static_cast<float>(1 + (w >> 8) % 9999));
}

}  // namespace

Transcript run_case(const BackendInstance& backend, const OpCase& test, int threads) {
  Draws draws(fnv1a(test.name));
  ProgramBuilder builder(test.vocab, 4, test.rounding);
  test.build(builder);
  const Program program(*builder.view());
  RuleBuilder rule_builder;
  vote_rule(rule_builder);
  const Rule rule(*rule_builder.view());
  Harness harness(backend, program, rule, test.noise, threads, draws);
  Transcript transcript;

  // Two ranges of members, the second call going on from the first one's states.
  for (const uint64_t step : {uint64_t{7}, uint64_t{1} << 40}) {
    for (const auto& [first, count] : {std::pair{0U, 8U}, std::pair{8U, 4U}}) {
      const Batch batch(draws, count / kGroup, static_cast<uint32_t>(test.vocab));
      Guarded<int64_t> losses(count);
      harness.session->evaluate(
          egg_evaluate{sizeof(egg_evaluate), kGroup, step, first, count, batch.view, losses.data()});
      losses.append_to(transcript, fmt::format("losses of step {} members {} on", step, first));
    }
    Guarded<int8_t> states(size_t{kPopulation} * program.state_bytes());
    harness.session->get_states(0, kPopulation, states.data());
    states.append_to(transcript, fmt::format("states after step {}", step));
  }

  const Batch batch(draws, kStreams, static_cast<uint32_t>(test.vocab));
  Guarded<int8_t> states(size_t{kStreams} * program.state_bytes());
  for (size_t i = 0; i < states.size(); ++i) states[i] = draws.value();
  Guarded<int64_t> losses(kStreams);
  Guarded<int8_t> logits(size_t{kStreams} * static_cast<size_t>(test.vocab));
  harness.session->infer(egg_infer{sizeof(egg_infer), 0, batch.view, states.data(), losses.data(), logits.data()});
  states.append_to(transcript, "states of inference");
  losses.append_to(transcript, "losses of inference");
  logits.append_to(transcript, "logits of inference");

  harness.update(draws, transcript, {});
  for (uint32_t p = 0; p < program.params().size(); ++p) {
    if (program.params()[p].perturbed == 0) continue;
    Guarded<int32_t> votes(weight_count(program.params()[p]));
    harness.session->get_slot(p, 0, votes.data());
    votes.append_to(transcript, fmt::format("votes of '{}'", program.params()[p].name));
  }
  return transcript;
}

Transcript run_case(const BackendInstance& backend, const RuleCase& test, int threads) {
  Draws draws(fnv1a(test.name));
  ProgramBuilder builder(61, 4, EGG_ROUND_NEAREST);
  const Param table = builder.matrix("table", 61, 61, 16);
  builder.loss(builder.embed("logits", table), 4096);
  const Program program(*builder.view());
  RuleBuilder rule_builder;
  test.build(rule_builder);
  const Rule rule(*rule_builder.view());
  egg_noise noise{};
  noise.seed = 5;
  noise.rank = 1;
  noise.sigma_shift = 4;
  noise.sigma_vector_shift = 4;
  Harness harness(backend, program, rule, noise, threads, draws);

  const size_t count = weight_count(program.params()[0]);
  for (uint32_t s = 0; s < rule.slots().size(); ++s) {
    std::vector<uint32_t> cells(count);
    for (uint32_t& cell : cells) cell = edge_or_random(draws, static_cast<char>(rule.slots()[s].type));
    harness.session->set_slot(0, s, cells.data());
  }
  Transcript transcript;
  harness.update(draws, transcript, {0.75F, -1e-30F});
  for (uint32_t s = 0; s < rule.slots().size(); ++s) {
    Guarded<uint32_t> cells(count);
    harness.session->get_slot(0, s, cells.data());
    for (size_t i = 0; i < count; ++i) cells[i] = canonical(cells[i], static_cast<char>(rule.slots()[s].type));
    cells.append_to(transcript, fmt::format("slot '{}'", rule.slots()[s].name));
  }
  return transcript;
}

std::string first_difference(const Transcript& expected, const Transcript& actual) {
  if (expected.parts.size() != actual.parts.size()) return "it returned another number of parts";
  for (size_t p = 0; p < expected.parts.size(); ++p) {
    const Transcript::Part& e = expected.parts[p];
    const Transcript::Part& a = actual.parts[p];
    if (e.bytes == a.bytes) continue;
    const auto [at, other] = std::mismatch(e.bytes.begin(), e.bytes.end(), a.bytes.begin(), a.bytes.end());
    const auto total = std::inner_product(e.bytes.begin(), e.bytes.end(), a.bytes.begin(), size_t{0}, std::plus<>(),
                                          [](uint8_t x, uint8_t y) { return x != y ? size_t{1} : size_t{0}; });
    return fmt::format("{}: byte {} is {}, expected {}; {} of {} bytes differ", e.name, at - e.bytes.begin(), *other,
                       *at, total, e.bytes.size());
  }
  return "";
}

}  // namespace eggroll
