// The conformance suite: small programs and rules around each op run on a backend, and every byte that comes out is
// compared. This room depends on plugin/, program/ and train/; `eggroll check` and the tests use it.
#ifndef EGGROLL_CONFORMANCE_CASES_H
#define EGGROLL_CONFORMANCE_CASES_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "conformance/scenario.h"
#include "conformance/transcript.h"
#include "eggroll/program_builder.h"
#include "eggroll/rule_builder.h"
#include "plugin/instance.h"

namespace eggroll {

// A program around one op. Its inputs are states, which the runner fills with random and with extreme values; what the
// op makes is stored, so that every byte can be read back.
struct OpCase {
  int32_t code;  // egg_op_code
  std::string name;
  int32_t vocab;
  int32_t rounding;
  int32_t context;  // of the program
  Scenario scenario;
  std::function<void(ProgramBuilder&)> build;
};

// A rule around one rule op. Its operands are slots a, b and c, which the runner fills; its result is slot "out". The
// program has a matrix (vocab, vocab), a vector (vocab) and a frozen vector.
struct RuleCase {
  int32_t code;  // egg_rule_code
  std::string name;
  int32_t vocab;
  Scenario scenario;
  std::function<void(RuleBuilder&)> build;
};

// Steps of a small model whose streams have sites (egg_site); a few other pairs perturb parameters.
struct SiteCase {
  struct Site {
    std::string value;
    uint32_t draws;
    bool orthogonal;
    int32_t amplitude;
    uint32_t horizon;
    int32_t shift;
  };
  std::string name;
  int32_t vocab;
  int32_t width;
  std::vector<Site> sites;
  uint32_t attentions = 0;  // one after another, on wide queries, keys, values and sums
  uint32_t tokens = 4;
  uint32_t streams = 36;  // of sites
};

// At least one case for every op of the lists; an op without cases does not link.
std::vector<OpCase> op_cases();
std::vector<RuleCase> rule_cases();
// Both kinds of draws at the value that the loss reads.
std::vector<SiteCase> output_site_cases();
// Both kinds of draws at a value within the program, together with orthogonal draws at the output.
std::vector<SiteCase> inner_site_cases(const std::vector<uint32_t>& horizons);
// Draws at wide values and others that enter an attention later, over more tokens than a warp has lanes.
std::vector<SiteCase> attention_site_cases();

// The number of shapes, and a scenario with one of them. A shape is a population, streams and a range of members: some
// fill whole tiles of members and some do not, some ranges begin or end within a tile, and some streams cross tiles.
uint32_t shape_count();
constexpr uint32_t kOnePair = 1;  // the shape of two members
Scenario shaped_scenario(uint32_t shape, const egg_noise& noise);

// The rule of programs: keeps the exact votes in a slot and moves the weight by their sign.
void build_vote_rule(RuleBuilder& rule);

// Throws Error if the backend fails or writes outside a buffer it was given.
Transcript run_case(const BackendInstance& backend, const OpCase& test, int threads);
Transcript run_case(const BackendInstance& backend, const RuleCase& test, int threads);
// sessions: the number of sessions that share its streams and its updates.
Transcript run_case(const BackendInstance& backend, const SiteCase& test, int threads, uint32_t sessions = 1);

// A site of a random program, compared with the reference (which may be null) and with itself on three threads and in
// sessions that share it.
struct RandomSites {
  bool has_run = false;    // false: the program has no sites, or the backend says that it lacks them
  std::string difference;  // empty if all agree, else a sentence
};
RandomSites random_sites(uint64_t seed, const BackendInstance& tested, const BackendInstance* reference);

}  // namespace eggroll

#endif
