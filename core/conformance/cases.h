// The conformance suite: small programs and rules around each op, run on a backend, every byte that comes out compared.
// Depends on plugin/ and program/; used by `eggroll check` and by the tests.
#ifndef EGGROLL_CONFORMANCE_CASES_H
#define EGGROLL_CONFORMANCE_CASES_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "eggroll/program_builder.h"
#include "eggroll/rule_builder.h"
#include "plugin/instance.h"

namespace eggroll {

// A program around one op. Its inputs are states, which the runner fills with random and with extreme values; what the
// op makes is stored, so that every byte can be read back.
struct OpCase {
  int32_t op;  // egg_op_code
  std::string name;
  int32_t vocab;
  int32_t rounding;
  egg_noise noise;
  std::function<void(ProgramBuilder&)> build;
};

// A rule around one rule op. Its operands are slots a, b and c, which the runner fills; its result is slot "out".
struct RuleCase {
  int32_t code;  // egg_rule_code
  std::string name;
  std::function<void(RuleBuilder&)> build;
};

// At least one case for every op of the lists; an op without cases does not link.
std::vector<OpCase> op_cases();
std::vector<RuleCase> rule_cases();

// Everything a backend returned for a case, in named parts.
struct Transcript {
  struct Part {
    std::string name;
    std::vector<uint8_t> bytes;
  };
  std::vector<Part> parts;
};

// Throws Error if the backend fails or writes outside a buffer it was given.
Transcript run_case(const BackendInstance& backend, const OpCase& test, int threads);
Transcript run_case(const BackendInstance& backend, const RuleCase& test, int threads);

// Empty where both are equal byte by byte, else a sentence saying where they first differ.
std::string first_difference(const Transcript& expected, const Transcript& actual);

}  // namespace eggroll

#endif
