// Runs a case through every entry point of a backend and records everything that comes back.
#include "conformance/scenario.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>

#include "conformance/draws.h"
#include "conformance/session_parts.h"
#include "eggroll/noise_source.h"

namespace eggroll {
namespace {

// Streams of random numbers. No number depends on how many others are drawn, so a case that shrinks keeps its numbers.
enum DrawStream : uint32_t { kWeights = 1, kSlots = 10000, kStates = 20000, kActions = 30000 };

int8_t filled(Draws& draws, Fill fill) {
  switch (fill) {
    case Fill::kMixed:
      return draws.value();
    case Fill::kExtreme:
      return draws.one_in(2) ? 127 : -127;
    case Fill::kLargest:
      return 127;
    case Fill::kSmallest:
      return -127;
    case Fill::kNegative:
      return static_cast<int8_t>(-1 - static_cast<int32_t>(draws.below(127)));
    case Fill::kSmall:
      return static_cast<int8_t>(static_cast<int32_t>(draws.below(7)) - 3);
    case Fill::kOutliers:
      if (draws.one_in(64)) return draws.one_in(2) ? 127 : -127;
      [[fallthrough]];
    case Fill::kTrained:
      return static_cast<int8_t>(static_cast<int32_t>(draws.below(65)) - 32);
    case Fill::kHalf:
      return static_cast<int8_t>(static_cast<int32_t>(draws.below(129)) - 64);
    case Fill::kZero:
      return 0;
  }
  return 0;
}

Array<int8_t> filled(Draws draws, Fill fill, size_t count) {
  Array<int8_t> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = filled(draws, fill);
  return values;
}

// All NaNs count as one value, because IEEE leaves their payload open.
uint32_t canonical(uint32_t bits, char type) {
  return type == 'f' && std::isnan(std::bit_cast<float>(bits)) ? 0x7fc00000U : bits;
}

uint32_t edge_or_random(Draws& draws, char type) {
  static constexpr int32_t kIntegers[] = {
      0, 1, -1, 127, -128, 65536, std::numeric_limits<int32_t>::max(), std::numeric_limits<int32_t>::min()};
  static constexpr float kFloats[] = {0.0F,
                                      -0.0F,
                                      1.0F,
                                      -1.0F,
                                      0.1F,
                                      1e-41F,
                                      -3e38F,
                                      2147483648.0F,
                                      2147483520.0F,
                                      -2147483648.0F,
                                      16777217.0F,
                                      std::numeric_limits<float>::infinity(),
                                      -std::numeric_limits<float>::infinity(),
                                      std::numeric_limits<float>::quiet_NaN()};
  const uint32_t w = draws.word();
  if (type == 'i') return w % 4 == 0 ? std::bit_cast<uint32_t>(draws.pick(kIntegers)) : draws.word() >> (w % 32);
  if (w % 4 == 0) return std::bit_cast<uint32_t>(draws.pick(kFloats));
  return std::bit_cast<uint32_t>(static_cast<float>(static_cast<int32_t>(draws.word())) /
                                 static_cast<float>(1 + (w >> 8) % 9999));
}

struct Batch {
  std::vector<uint32_t> inputs;
  std::vector<uint32_t> targets;
  Array<uint8_t> resets;
  std::vector<uint32_t> rows;
  egg_batch view{};

  Batch(Draws& draws, const Scenario& scenario, uint32_t streams, uint32_t tokens, const egg_program& program)
      : resets(size_t{streams} * tokens) {
    const auto vocab = static_cast<uint32_t>(program.vocab);
    for (size_t i = 0; i < resets.size(); ++i) {
      inputs.push_back(draws.below(vocab));
      const uint32_t target = draws.below(vocab);
      targets.push_back(scenario.no_target != 0 && draws.one_in(scenario.no_target) ? EGG_NO_TARGET : target);
      resets[i] = scenario.reset != 0 && draws.one_in(scenario.reset) ? 1 : 0;
    }
    for (size_t i = 0; i < resets.size(); ++i) {
      for (uint32_t k = 0; k < program.index_count; ++k) {
        rows.push_back(draws.one_in(6) ? EGG_NO_ROW : draws.below(static_cast<uint32_t>(program.indices[k].rows)));
      }
    }
    view = egg_batch{streams, tokens, inputs.data(), targets.data(), resets.data(), rows.data()};
  }
};

// By parameter; ranges that begin and end anywhere.
std::vector<egg_voters> voters_of(const Program& program, const Scenario& scenario) {
  const uint32_t pairs = scenario.population / 2;
  std::vector<egg_voters> voters;
  for (uint32_t i = 0; i < program.params().size(); ++i) {
    egg_voters own{0, pairs, 0};
    if (scenario.split != 0) {
      Draws draws(scenario.split, i);
      own.first_pair = draws.below(pairs);
      own.pairs = 1 + draws.below(pairs - own.first_pair);
    }
    own.masked = scenario.masked && program.params()[i].perturbed != 0 && is_table(program.view(), i) ? 1 : 0;
    voters.push_back(own);
  }
  return voters;
}

class CaseRun {
 public:
  CaseRun(const BackendInstance& backend, const Program& program, const Rule& rule, const Scenario& scenario,
          const Division& division)
      : program_(program),
        rule_(rule),
        scenario_(scenario),
        state_bytes_(program.state_bytes()),
        voters_(voters_of(program, scenario)),
        session_(backend,
                 egg_session_spec{sizeof(egg_session_spec), division.threads, &program.view(), &rule.view(),
                                  scenario.noise, scenario.population, 0, scenario.population, 0, voters_.data()},
                 program, std::min(division.sessions, scenario.population / 2)) {}

  Transcript run() {
    set_weights(0);
    each_slot([&](uint32_t p, uint32_t s, size_t count, char type) {
      Draws draws(scenario_.seed, kSlots + p * 16 + s);
      std::vector<uint32_t> cells(count);
      for (uint32_t& cell : cells) cell = edge_or_random(draws, type);
      session_.set_slot(p, s, cells.data());
    });
    Array<int8_t> states =
        filled(Draws(scenario_.seed, kStates), scenario_.states, scenario_.population * state_bytes_);
    session_.set_states(0, scenario_.population, states.data());
    for (uint32_t i = 0; i < scenario_.actions.size(); ++i) {
      Draws draws(scenario_.seed, kActions + i);
      act(scenario_.actions[i], i, draws);
    }
    get_states(0, scenario_.population, "at the end");
    get_weights("at the end");
    get_slots();
    return std::move(transcript_);
  }

 private:
  void act(const Action& action, uint32_t number, Draws& draws) {
    const std::string when = fmt::format("of action {}", number);
    switch (action.kind) {
      case ActionKind::kEvaluate:
        evaluate(action, when, draws);
        break;
      case ActionKind::kUpdate:
        update(action, when, draws);
        get_weights(when);
        break;
      case ActionKind::kInfer:
        infer(action, when, draws);
        break;
      case ActionKind::kSetWeights:
        set_weights(number + 1);
        break;
      case ActionKind::kSetStates: {
        Array<int8_t> states = filled(draws, scenario_.states, action.count * state_bytes_);
        session_.set_states(action.first, action.count, states.data());
        break;
      }
      case ActionKind::kGetStates:
        get_states(action.first, action.count, when);
        break;
    }
  }

  void evaluate(const Action& action, const std::string& when, Draws& draws) {
    const uint32_t streams =
        (action.count + action.members_per_stream - 1) / action.members_per_stream + action.streams;
    Batch batch(draws, scenario_, streams, action.tokens, program_.view());
    Array<int64_t> losses(action.count);
    session_.evaluate(egg_evaluate{sizeof(egg_evaluate), action.members_per_stream, action.step, action.first,
                                   action.count, batch.view, losses.data(), nullptr});
    losses.append_to(transcript_, fmt::format("losses {} (step {}, members {} to {})", when, action.step, action.first,
                                              action.first + action.count - 1));
  }

  void infer(const Action& action, const std::string& when, Draws& draws) {
    Batch batch(draws, scenario_, action.streams, action.tokens, program_.view());
    Array<int8_t> states = filled(draws, scenario_.states, action.streams * state_bytes_);
    Array<int64_t> losses(action.streams);
    Array<int8_t> logits(action.logits ? size_t{action.streams} * vocab() : 0);
    session_.infer(egg_infer{sizeof(egg_infer), 0, batch.view, states.data(), losses.data(),
                             action.logits ? logits.data() : nullptr});
    states.append_to(transcript_, "states of inference " + when);
    losses.append_to(transcript_, "losses of inference " + when);
    logits.append_to(transcript_, "logits of inference " + when);
  }

  void update(const Action& action, const std::string& when, Draws& draws) {
    static constexpr float kScalars[] = {0.0F, -0.0F, 1.0F, 0.75F, -1e-30F, 1e-41F, 3e38F, -2147483648.0F};
    static constexpr float kStds[] = {0.0F, 777.25F, 32000.0F, 1e9F};
    Array<int8_t> fitness = fitness_of(action, draws);
    std::vector<float> scalars(rule_.scalar_names().size());
    for (float& scalar : scalars) scalar = draws.pick(kScalars);
    std::vector<float> stds(program_.params().size());
    for (float& std : stds) std = draws.pick(kStds);
    Array<int64_t> changed(program_.params().size());
    const uint32_t streams = (scenario_.population + action.members_per_stream - 1) / action.members_per_stream;
    Batch batch(draws, scenario_, streams, action.tokens, program_.view());
    session_.update(egg_update{sizeof(egg_update), static_cast<uint32_t>(fitness.size()), action.step, fitness.data(),
                               scalars.data(), stds.data(), changed.data(), nullptr, batch.view,
                               action.members_per_stream, 0});
    changed.append_to(transcript_, "changed counts " + when);
  }

  Array<int8_t> fitness_of(const Action& action, Draws& draws) const {
    Array<int8_t> fitness(scenario_.population / 2);
    const auto pairs = static_cast<uint32_t>(fitness.size());
    if (scenario_.votes == Votes::kAligned || scenario_.votes == Votes::kOpposed) {
      const int32_t way = scenario_.votes == Votes::kAligned ? 127 : -127;
      const NoiseSource noise(scenario_.noise);
      for (uint32_t k = 0; k < pairs; ++k) {
        const int32_t a = noise.value(action.step, k, 0, EGG_SIDE_A, 0, 0);
        const int32_t b = noise.value(action.step, k, 0, EGG_SIDE_B, 0, 0);
        fitness[k] = static_cast<int8_t>(a * b < 0 ? -way : way);
      }
      return fitness;
    }
    for (uint32_t k = 0; k < pairs; ++k) fitness[k] = scenario_.votes == Votes::kMixed ? draws.value() : int8_t{0};
    if (scenario_.votes == Votes::kOne) fitness[draws.below(pairs)] = -127;
    return fitness;
  }

  void set_weights(uint32_t version) {
    for (uint32_t p = 0; p < program_.params().size(); ++p) {
      Array<int8_t> weights = filled(Draws(scenario_.seed, kWeights + version * 64 + p), scenario_.weights,
                                     weight_count(program_.params()[p]));
      session_.set_weights(p, weights.data());
    }
  }

  void get_weights(const std::string& when) {
    for (uint32_t p = 0; p < program_.params().size(); ++p) {
      Array<int8_t> weights(weight_count(program_.params()[p]));
      session_.get_weights(p, weights.data());
      weights.append_to(transcript_, fmt::format("weights of '{}' {}", program_.params()[p].name, when));
    }
  }

  void get_states(uint32_t first, uint32_t count, const std::string& when) {
    Array<int8_t> states(count * state_bytes_);
    session_.get_states(first, count, states.data());
    states.append_to(transcript_, fmt::format("states of {} members from {} on, {}", count, first, when));
  }

  void get_slots() {
    each_slot([&](uint32_t p, uint32_t s, size_t count, char type) {
      Array<uint32_t> cells(count);
      session_.get_slot(p, s, cells.data());
      for (size_t i = 0; i < count; ++i) cells[i] = canonical(cells[i], type);
      cells.append_to(transcript_, fmt::format("slot '{}' of '{}'", rule_.slots()[s].name, program_.params()[p].name));
    });
  }

  // body(parameter, slot, weights, type)
  template <class Body>
  void each_slot(Body&& body) {
    for (uint32_t p = 0; p < program_.params().size(); ++p) {
      if (program_.params()[p].perturbed == 0) continue;
      for (uint32_t s = 0; s < rule_.slots().size(); ++s) {
        body(p, s, weight_count(program_.params()[p]), static_cast<char>(rule_.slots()[s].type));
      }
    }
  }

  uint32_t vocab() const { return static_cast<uint32_t>(program_.view().vocab); }

  const Program& program_;
  const Rule& rule_;
  const Scenario& scenario_;
  size_t state_bytes_;
  std::vector<egg_voters> voters_;
  SessionParts session_;
  Transcript transcript_;
};

const char* name_of(Fill fill) {
  static constexpr const char* kNames[] = {"mixed", "extreme", "largest", "smallest", "negative",
                                           "small", "zero",    "trained", "half",     "with outliers"};
  return kNames[static_cast<size_t>(fill)];
}

const char* name_of(Votes votes) {
  static constexpr const char* kNames[] = {"mixed", "zero", "of one pair", "aligned", "opposed"};
  return kNames[static_cast<size_t>(votes)];
}

std::string action_text(const Action& action) {
  switch (action.kind) {
    case ActionKind::kEvaluate:
      return fmt::format("evaluate members {} to {}, step {}, {} members a stream, {} tokens{}", action.first,
                         action.first + action.count - 1, action.step, action.members_per_stream, action.tokens,
                         action.streams == 0 ? "" : fmt::format(", {} streams too many", action.streams));
    case ActionKind::kUpdate:
      return fmt::format("update, step {}, {} members a stream, {} tokens", action.step, action.members_per_stream,
                         action.tokens);
    case ActionKind::kInfer:
      return fmt::format("infer {} streams, {} tokens, {} logits", action.streams, action.tokens,
                         action.logits ? "with" : "without");
    case ActionKind::kSetWeights:
      return "set other weights";
    case ActionKind::kSetStates:
      return fmt::format("set the states of {} members from {} on", action.count, action.first);
    case ActionKind::kGetStates:
      return fmt::format("get the states of {} members from {} on", action.count, action.first);
  }
  return "";
}

}  // namespace

void require_valid(const Program& program, const Rule& rule, const Scenario& scenario) {
  require_table_covers(program.view(), scenario.noise);
  require_no_overflow(program.view(), scenario.noise);
  require_votes_fit(rule.view(), scenario.noise, scenario.population / 2);
  const auto context = static_cast<uint32_t>(program.view().context);
  for (const Action& action : scenario.actions) {
    if (context == 0 || action.tokens <= context) continue;
    throw Error(
        fmt::format("an action reads {} tokens, expected at most {}, the program's context", action.tokens, context));
  }
}

Transcript run_scenario(const BackendInstance& backend, const Program& program, const Rule& rule,
                        const Scenario& scenario, const Division& division) {
  backend.require_support(program.view(), rule.view());
  return CaseRun(backend, program, rule, scenario, division).run();
}

std::string text(const Scenario& scenario) {
  static constexpr const char* kDistributions[] = {"gaussian", "uniform", "rademacher"};
  const egg_noise& noise = scenario.noise;
  std::string text = fmt::format(
      "population {}; weights {}, states {}, fitness {}; no target {} in {}, reset {} in {}\n"
      "noise {} {}, rank {}, sigma shift {}, of vectors {}, seed {}{}\n",
      scenario.population, name_of(scenario.weights), name_of(scenario.states), name_of(scenario.votes),
      scenario.no_target == 0 ? 0 : 1, scenario.no_target, scenario.reset == 0 ? 0 : 1, scenario.reset,
      noise.source == EGG_NOISE_TABLE ? "table" : "counter", kDistributions[noise.distribution], noise.rank,
      noise.sigma_shift, noise.sigma_vector_shift, noise.seed,
      noise.source == EGG_NOISE_TABLE ? fmt::format(", table_log2 {}", noise.table_log2) : "");
  if (scenario.masked) text += "tables are voted on by the pairs that read them\n";
  if (scenario.split != 0) text += fmt::format("each parameter has a range of pairs, drawn from {}\n", scenario.split);
  for (size_t i = 0; i < scenario.actions.size(); ++i) {
    text += fmt::format("action {}: {}\n", i, action_text(scenario.actions[i]));
  }
  return text;
}

}  // namespace eggroll
