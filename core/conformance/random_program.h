// Random programs and random rules, each made from one number, and the function that cuts a failing one down. They are
// plain lists, so that without a piece the rest can still be valid.
#ifndef EGGROLL_CONFORMANCE_RANDOM_PROGRAM_H
#define EGGROLL_CONFORMANCE_RANDOM_PROGRAM_H

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "conformance/draws.h"
#include "conformance/scenario.h"

namespace eggroll {

// Sizes are numbers of `dims`, so that one of them changes everywhere at once; dims[0] is the vocabulary.
struct RandomProgram {
  struct Param {
    bool vector;
    int32_t rows;
    int32_t cols;  // -1 for a vector
    bool frozen;
    int32_t index = -1;  // a table with as many rows as this index has, whatever `rows` says
  };
  struct Value {
    int32_t dim;
    bool state;
    bool wide;
  };
  int32_t fixed_point = 4;
  int32_t rounding = EGG_ROUND_NEAREST;
  int32_t context = 0;
  struct Index {
    int32_t tokens;
    int32_t log2_rows;
  };
  std::vector<int32_t> dims;
  std::vector<Index> indices;
  std::vector<Param> params;
  std::vector<Value> values;
  std::vector<egg_op> ops;  // table: the seed of a table of its own; head: the number of heads
};

struct RandomRule {
  struct Slot {
    char type;
    int32_t node;  // its new value
  };
  std::vector<egg_rule_node> nodes;
  std::vector<Slot> slots;
  int32_t scalars = 0;
  int32_t delta = 0;
};

struct RandomCase {
  RandomProgram program;
  RandomRule rule;
  Scenario scenario;
};

// A random program with the rule that keeps its votes; a random rule with a small program. The same seed gives the same
// case everywhere. The host accepts both.
RandomCase random_program_case(uint64_t seed);
RandomCase random_rule_case(uint64_t seed);

// Parts of the generators: noise, members and calls for a program; the work of its token step; a smaller program.
void make_random_scenario(RandomCase& test, Draws& draws);
int64_t macs_per_token(const RandomProgram& program);
void cut_largest_size(RandomProgram& program);

// The case as the host holds it. Throws Error if it is not valid.
std::unique_ptr<Program> make_program(const RandomProgram& program);
std::unique_ptr<Rule> make_rule(const RandomRule& rule);
void require_valid(const RandomCase& test);

Transcript run_case(const BackendInstance& backend, const RandomCase& test, const Division& division);

// Empty if one thread, three threads and the reference agree, else a sentence. reference may be null.
std::string disagreement(const RandomCase& test, const BackendInstance& tested, const BackendInstance* reference);

// Removes as much as it can while fails() stays true: ops, slots, sizes, members, tokens, streams, the rank, calls.
RandomCase shrink(const RandomCase& test, const std::function<bool(const RandomCase&)>& fails);

// The program and the rule in the project's printed form, then the scenario.
std::string text(const RandomCase& test);

}  // namespace eggroll

#endif
