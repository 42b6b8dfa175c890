// Runs the conformance suite on a backend.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <type_traits>

#include "conformance/cases.h"
#include "conformance/check_plugin.h"
#include "conformance/random_program.h"
#include "eggroll/error.h"
#include "program/op_info.h"
#include "system/files.h"

namespace eggroll {
namespace {

constexpr size_t kMostFailures = 3;  // described of each op

// sha256 of all transcripts of an op's cases, in order.
const std::map<std::string, std::string> kGoldenHashes = {
#include "conformance/golden.inc"
};

void add(Sha256& hash, const Transcript& transcript) {
  for (const Transcript::Part& part : transcript.parts) {
    hash.update(part.name);
    hash.update({reinterpret_cast<const char*>(part.bytes.data()), part.bytes.size()});
  }
}

template <class Case>
void fail(Check& check, const Case& test, const std::string& why) {
  if (check.failures.size() < kMostFailures) check.failures.push_back(fmt::format("{}: {}", test.name, why));
}

// Names the cases whose results differ from the reference's.
template <class Case>
void find_differences(Check& check, const std::vector<Case>& cases, const BackendInstance& tested,
                      const BackendInstance& reference) {
  for (const Case& test : cases) {
    try {
      const std::string difference = first_difference(run_case(reference, test, 1), run_case(tested, test, 1));
      if (!difference.empty()) fail(check, test, difference);
    } catch (const Error& error) {
      fail(check, test, error.what());
    }
  }
}

// Whether the backend says that it lacks such sites.
bool lacks(const BackendInstance& tested, const SiteCase& test) try {
  run_case(tested, test, 1);
  return false;
} catch (const Error& error) {
  return error.code() == EGG_ERROR_UNSUPPORTED;
}

// Runs all cases of one op, with one thread and with three. The kept hash of the reference's results tells whether they
// are the same; the reference itself runs only to find where they differ.
template <class Case>
Check check_op(const std::string& what, const std::vector<Case>& cases, const BackendInstance& tested,
               const BackendInstance* reference) {
  Check check{what, 0, {}};
  constexpr bool kHasSites = std::is_same_v<Case, SiteCase>;
  if constexpr (kHasSites) {
    if (lacks(tested, cases.front())) return {what + " are refused", 1, {}};
  }
  Sha256 hash;
  for (const Case& test : cases) {
    ++check.cases;
    try {
      const Transcript actual = run_case(tested, test, 1);
      add(hash, actual);
      const std::string threads = first_difference(actual, run_case(tested, test, 3));
      if (!threads.empty()) fail(check, test, "three threads give another result than one: " + threads);
      // Random programs are shared among sessions, but single ops are not.
      if constexpr (kHasSites) {
        const std::string sessions = first_difference(actual, run_case(tested, test, 1, 3));
        if (!sessions.empty())
          fail(check, test, "three sessions that share sites give another result than one: " + sessions);
      }
    } catch (const Error& error) {
      fail(check, test, error.what());
    }
  }
  if (!check.failures.empty()) return check;
  const std::string expected = kept_hash(what);
  const std::string actual = hash.hex();
  if (expected == actual) return check;
  if (reference != nullptr) find_differences(check, cases, tested, *reference);
  if (check.failures.empty()) {
    check.failures.push_back(fmt::format("the results hash to {}, expected {}", actual, expected));
  }
  return check;
}

template <class Case>
std::vector<Case> of_code(const std::vector<Case>& cases, int code) {
  std::vector<Case> mine;
  std::copy_if(cases.begin(), cases.end(), std::back_inserter(mine),
               [&](const Case& test) { return test.code == code; });
  return mine;
}

template <class Visit>
void each_op(Visit&& visit) {
  const std::vector<OpCase> ops = op_cases();
  for (int code = 0; code < EGG_OP_COUNT; ++code) {
    visit(fmt::format("op {}", signature_of(code).name), of_code(ops, code));
  }
  const std::vector<RuleCase> rules = rule_cases();
  for (int code = 0; code < EGG_RULE_COUNT; ++code) {
    visit(fmt::format("rule {}", kRuleOpInfo[static_cast<size_t>(code)].name), of_code(rules, code));
  }
  visit("sites at the output", output_site_cases());
  visit("sites within", inner_site_cases({0}));
  visit("sites within, with a horizon", inner_site_cases({1, 9}));
  visit("sites within, at attention", attention_site_cases());
}

Check check_random_cases(const std::string& what, RandomCase (*make)(uint64_t seed), const BackendInstance& tested,
                         const BackendInstance* reference, const RandomCases& random) {
  Check check{what, 0, {}};
  for (uint64_t i = 0; i < random.count && check.failures.size() < kMostFailures; ++i) {
    ++check.cases;
    const uint64_t seed = random.seed + i;
    const RandomCase test = make(seed);
    const std::string difference = disagreement(test, tested, reference);
    if (difference.empty()) continue;
    const RandomCase small =
        shrink(test, [&](const RandomCase& smaller) { return !disagreement(smaller, tested, reference).empty(); });
    check.failures.push_back(
        fmt::format("seed {0} (eggroll check PLUGIN --seed {0} --cases 1): {1}\ncut down to this, where {2}\n{3}", seed,
                    difference, disagreement(small, tested, reference), text(small)));
  }
  return check;
}

Check check_random_sites(const BackendInstance& tested, const BackendInstance* reference, const RandomCases& random) {
  Check check{"random sites", 0, {}};
  // Each draw of the reference is a forward pass of its own.
  for (uint64_t i = 0; i < (random.count + 7) / 8 && check.failures.size() < kMostFailures; ++i) {
    const uint64_t seed = random.seed + i;
    const RandomSites sites = random_sites(seed, tested, reference);
    check.cases += sites.has_run ? 1 : 0;
    if (sites.difference.empty()) continue;
    check.failures.push_back(
        fmt::format("seed {0} (eggroll check PLUGIN --seed {0} --cases 1): {1}", seed, sites.difference));
  }
  if (check.cases == 0) return {"no random site that it has", 1, {}};
  return check;
}

}  // namespace

std::vector<Check> check_backend(const BackendInstance& tested, const BackendInstance* reference,
                                 const RandomCases& random) {
  std::vector<Check> checks;
  each_op(
      [&](const std::string& what, const auto& cases) { checks.push_back(check_op(what, cases, tested, reference)); });
  for (Check& check : check_random(tested, reference, random)) checks.push_back(std::move(check));
  return checks;
}

std::vector<Check> check_random(const BackendInstance& tested, const BackendInstance* reference,
                                const RandomCases& random) {
  return {check_random_cases("random programs", &random_program_case, tested, reference, random),
          check_random_cases("random rules", &random_rule_case, tested, reference, random),
          check_random_sites(tested, reference, random)};
}

std::string kept_hash(const std::string& what) {
  const auto golden = kGoldenHashes.find(what);
  return golden == kGoldenHashes.end() ? "none" : golden->second;
}

std::string random_cases_hash() {
  Sha256 hash;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    hash.update(text(random_program_case(seed)));
    hash.update(text(random_rule_case(seed)));
  }
  return hash.hex();
}

std::vector<GoldenHash> golden_hashes(const BackendInstance& backend) {
  std::vector<GoldenHash> hashes;
  each_op([&](const std::string& what, const auto& cases) {
    Sha256 hash;
    for (const auto& test : cases) add(hash, run_case(backend, test, 1));
    hashes.push_back({what, hash.hex()});
  });
  hashes.push_back({kRandomCases, random_cases_hash()});
  return hashes;
}

}  // namespace eggroll
