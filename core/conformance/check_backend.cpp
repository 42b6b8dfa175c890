// The conformance suite over a backend.
#include <fmt/format.h>

#include <map>

#include "conformance/cases.h"
#include "conformance/check_plugin.h"
#include "eggroll/error.h"
#include "program/op_info.h"
#include "record/files.h"

namespace eggroll {
namespace {

constexpr size_t kMostFailures = 3;  // described of each op

// sha256 of all transcripts of an op's cases, in order.
const std::map<std::string, std::string> kGolden = {
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

// All cases of one op. Threads alternate, for no result may depend on them.
template <class Case>
Check check_op(const std::string& what, const std::vector<Case>& cases, const BackendInstance& tested,
               const BackendInstance* reference) {
  Check check{what, 0, {}};
  Sha256 hash;
  for (const Case& test : cases) {
    ++check.cases;
    try {
      const Transcript actual = run_case(tested, test, 1);
      add(hash, actual);
      const std::string threads = first_difference(actual, run_case(tested, test, 3));
      if (!threads.empty()) fail(check, test, "three threads give another result than one: " + threads);
      if (reference == nullptr) continue;
      const std::string difference = first_difference(run_case(*reference, test, 1), actual);
      if (!difference.empty()) fail(check, test, difference);
    } catch (const Error& error) {
      fail(check, test, error.what());
    }
  }
  if (!check.failures.empty()) return check;
  const auto golden = kGolden.find(what);
  const std::string expected = golden == kGolden.end() ? "none" : golden->second;
  const std::string actual = hash.hex();
  if (expected != actual) {
    check.failures.push_back(fmt::format("the results hash to {}, expected {}", actual, expected));
  }
  return check;
}

template <class Visit>
void each_op(Visit&& visit) {
  const std::vector<OpCase> ops = op_cases();
  for (int code = 0; code < EGG_OP_COUNT; ++code) {
    std::vector<OpCase> mine;
    for (const OpCase& test : ops) {
      if (test.op == code) mine.push_back(test);
    }
    visit(fmt::format("op {}", kOpInfo[static_cast<size_t>(code)].name), mine);
  }
  const std::vector<RuleCase> rules = rule_cases();
  for (int code = 0; code < EGG_RULE_COUNT; ++code) {
    std::vector<RuleCase> mine;
    for (const RuleCase& test : rules) {
      if (test.code == code) mine.push_back(test);
    }
    visit(fmt::format("rule {}", kRuleOpInfo[static_cast<size_t>(code)].name), mine);
  }
}

}  // namespace

std::vector<Check> check_backend(const BackendInstance& tested, const BackendInstance* reference) {
  std::vector<Check> checks;
  each_op(
      [&](const std::string& what, const auto& cases) { checks.push_back(check_op(what, cases, tested, reference)); });
  return checks;
}

std::vector<GoldenHash> golden_hashes(const BackendInstance& backend) {
  std::vector<GoldenHash> hashes;
  each_op([&](const std::string& what, const auto& cases) {
    Sha256 hash;
    for (const auto& test : cases) add(hash, run_case(backend, test, 1));
    hashes.push_back({what, hash.hex()});
  });
  return hashes;
}

}  // namespace eggroll
