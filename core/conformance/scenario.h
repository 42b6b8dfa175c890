// The calls and the numbers with which a case tries a program and a rule on a backend, whatever the op.
#ifndef EGGROLL_CONFORMANCE_SCENARIO_H
#define EGGROLL_CONFORMANCE_SCENARIO_H

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/transcript.h"
#include "plugin/instance.h"
#include "program/program.h"
#include "program/rule.h"

namespace eggroll {

// The int8 numbers of weights and of states.
enum class Fill {
  kMixed,     // anything, often +-127
  kExtreme,   // +-127
  kLargest,   // 127
  kSmallest,  // -127
  kNegative,  // -127 to -1
  kSmall,     // -3 to 3
  kZero,
  kTrained,  // -32 to 32: what a backend may take for the usual, and hurry through
  kHalf,     // -64 to 64
  kOutliers  // -32 to 32, one in 64 of them +-127
};

// The fitness of an update.
enum class Votes {
  kMixed,
  kZero,
  kOne,      // one pair alone has a fitness
  kAligned,  // +-127 such that the first weight's vote grows with each pair
  kOpposed   // the same, downwards
};

enum class ActionKind { kEvaluate, kUpdate, kInfer, kSetWeights, kSetStates, kGetStates };

// One call of a session. Fields that a kind does not name are not read.
struct Action {
  ActionKind kind;
  uint64_t step = 0;   // evaluate, update
  uint32_t first = 0;  // evaluate, set and get states: members [first, first + count)
  uint32_t count = 0;
  uint32_t members_per_stream = 2;  // evaluate, update
  uint32_t streams = 0;             // infer; evaluate: streams that no member reads, after those that are
  uint32_t tokens = 1;              // evaluate, infer, update
  bool logits = true;               // infer: asked for
};

struct Scenario {
  uint64_t seed = 0;  // of weights, states, tokens, fitness; not of the noise
  egg_noise noise{};
  uint32_t population = 2;
  Fill weights = Fill::kMixed;
  Fill states = Fill::kMixed;
  Votes votes = Votes::kMixed;
  uint32_t no_target = 5;  // one token in this number is not scored; 0: all are
  uint32_t reset = 6;      // one token in this number resets its stream; 0: none
  bool masked = false;     // tables are voted on by the pairs that read them
  uint32_t split = 0;      // 0: all pairs perturb all parameters; else what draws each parameter's own range of pairs
  std::vector<Action> actions;
};

// Throws Error if the host would refuse to run this.
void require_valid(const Program& program, const Rule& rule, const Scenario& scenario);

// How the work of a scenario is divided; no result may depend on the division.
struct Division {
  int threads = 1;
  uint32_t sessions = 1;  // that share its members and its updates, each with `threads` threads
};

// Opens sessions, fills them, does the actions and reads everything back. Throws Error if the backend fails or writes
// outside a buffer it was given.
Transcript run_scenario(const BackendInstance& backend, const Program& program, const Rule& rule,
                        const Scenario& scenario, const Division& division);

// One line for each fact, for the report of a failure.
std::string text(const Scenario& scenario);

}  // namespace eggroll

#endif
