// Tries each promise of models and optimizers on the reference backend. Backends: check_backend.cpp.
#include "conformance/check_plugin.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "data/rows.h"
#include "eggroll/error.h"
#include "eggroll/program_builder.h"
#include "program/initial_weights.h"
#include "program/program.h"
#include "program/rule.h"

namespace eggroll {
namespace {

constexpr uint32_t kPopulation = 4;
constexpr uint32_t kTokens = 8;

egg_noise default_noise() {
  egg_noise noise{};
  noise.seed = 1;
  noise.rank = 1;
  noise.sigma_shift = 4;
  noise.sigma_vector_shift = 4;
  return noise;
}

// Runs body as one case; an exception is the failure.
template <class Body>
void attempt(Check& check, Body&& body) {
  ++check.cases;
  try {
    body();
  } catch (const std::exception& error) {
    check.failures.emplace_back(error.what());
  }
}

// Opening must fail and name the key.
template <class Instance>
void must_refuse(Check& check, const ChosenPlugin& plugin, const std::vector<egg_setting>& items,
                 const std::string& key) {
  attempt(check, [&] {
    const egg_settings settings{sizeof(egg_settings), static_cast<uint32_t>(items.size()), items.data()};
    std::optional<Instance> opened;
    try {
      opened.emplace(plugin, settings);
    } catch (const Error& error) {
      if (error.key() == key) return;
      throw Error(
          fmt::format("it refuses a wrong '{}' but names the key '{}'; name the one at fault", key, error.key()));
    }
    throw Error(fmt::format("it accepts a wrong or missing '{}'; read every setting and call finish()", key));
  });
}

template <class Instance>
Check check_settings(const ChosenPlugin& plugin, const egg_settings& settings) {
  Check check{"unknown and missing settings are refused by name", 0, {}};
  std::vector<egg_setting> items(settings.items, settings.items + settings.count);
  for (size_t i = 0; i < items.size(); ++i) {
    std::vector<egg_setting> fewer = items;
    fewer.erase(fewer.begin() + static_cast<ptrdiff_t>(i));
    must_refuse<Instance>(check, plugin, fewer, items[i].key);
  }
  items.push_back(egg_setting{"no_such_setting", EGG_SETTING_INTEGER, 0, 1, 1.0, nullptr});
  must_refuse<Instance>(check, plugin, items, "no_such_setting");
  return check;
}

void run_model(const Program& program, const BackendInstance& reference) {
  const Rule rule = idle_rule();
  BackendSession session =
      reference.open_session(egg_session_spec{sizeof(egg_session_spec), 1, &program.view(), &rule.view(),
                                              default_noise(), kPopulation, 0, kPopulation, 0, nullptr});
  for (uint32_t i = 0; i < program.params().size(); ++i) {
    session.set_weights(i, initial_weights(program.params()[i], i, 1).data());
  }
  const auto context = static_cast<uint32_t>(program.view().context);
  const uint32_t count = context == 0 ? kTokens : std::min(kTokens, context);
  std::vector<uint32_t> tokens(count);
  for (uint32_t t = 0; t < count; ++t) tokens[t] = t % static_cast<uint32_t>(program.view().vocab);
  const std::vector<uint8_t> resets(count);
  std::vector<uint32_t> rows(count * program.indices().size());
  for (uint32_t t = 0; t < count; ++t) {
    put_rows(
        program.indices(), t + 1, std::nullopt, [&](uint32_t j) { return tokens[t - j]; },
        rows.data() + t * program.indices().size());
  }
  std::vector<int64_t> losses(kPopulation);
  session.evaluate(egg_evaluate{sizeof(egg_evaluate), kPopulation, 0, 0, kPopulation,
                                egg_batch{1, count, tokens.data(), tokens.data(), resets.data(), rows.data()},
                                losses.data(), nullptr});
  for (const int64_t loss : losses) {
    if (loss < 0) throw Error(fmt::format("a member's loss is {}, expected at least 0", loss));
  }
}

// A loss that falls for a while and then stays.
std::vector<egg_evaluation> evaluations_before(uint64_t step) {
  std::vector<egg_evaluation> evaluations;
  for (uint64_t at = 0; at <= std::min<uint64_t>(step, 1000); at += 10) {
    evaluations.push_back({at, (int64_t{8} << 16) * 100 / static_cast<int64_t>(1 + std::min<uint64_t>(at, 300)), 100});
  }
  return evaluations;
}

// A rule's updates from random votes and extreme weights.
void run_optimizer(const OptimizerInstance& optimizer, const Rule& rule, const BackendInstance& reference) {
  ProgramBuilder builder(7, 4, EGG_ROUND_NEAREST);
  builder.loss(builder.embed("logits", builder.matrix("table", 7, 7, 16)), 4096);
  const Program program(*builder.view());
  BackendSession session =
      reference.open_session(egg_session_spec{sizeof(egg_session_spec), 1, &program.view(), &rule.view(),
                                              default_noise(), kPopulation, 0, kPopulation, 0, nullptr});
  std::vector<int8_t> weights(49);
  for (size_t i = 0; i < weights.size(); ++i)
    weights[i] = i % 3 == 0 ? int8_t{127} : i % 3 == 1 ? int8_t{-127} : int8_t{0};
  session.set_weights(0, weights.data());
  for (uint64_t step = 0; step < 8; ++step) {
    const std::vector<int8_t> fitness = step % 4 == 3 ? std::vector<int8_t>{0, 0} : std::vector<int8_t>{127, -1};
    const std::vector<float> scalars = optimizer.scalars(step, {});
    const float std = step % 4 == 3 ? 0.0F : 32000.0F;
    int64_t changed = 0;
    session.update(
        egg_update{sizeof(egg_update), 2, step, fitness.data(), scalars.data(), &std, &changed, nullptr, {}, 2, 0});
    session.get_weights(0, weights.data());
    if (std::any_of(weights.begin(), weights.end(), [](int8_t w) { return w == -128; })) {
      throw Error("an update left a weight of -128, expected -127 to 127");
    }
    for (uint32_t s = 0; s < rule.slots().size(); ++s) {
      if (rule.slots()[s].type != 'f') continue;
      std::vector<float> cells(weights.size());
      session.get_slot(0, s, cells.data());
      if (!std::all_of(cells.begin(), cells.end(), [](float x) { return std::isfinite(x); })) {
        throw Error(fmt::format("slot '{}' is not finite after step {}; guard its divisions (vote_std may be 0)",
                                rule.slots()[s].name, step));
      }
    }
  }
}

}  // namespace

std::vector<Check> check_model(const ChosenPlugin& plugin, const egg_settings& settings,
                               const BackendInstance& reference) {
  Check program_check{"its program is valid, free of overflow and the same each time", 0, {}};
  Check run_check{"its program runs on the reference backend", 0, {}};
  attempt(program_check, [&] {
    const ModelInstance first(plugin, settings);
    const Program program(first.program());
    require_no_overflow(program.view(), default_noise());
    const ModelInstance second(plugin, settings);
    if (Program(second.program()).text() != program.text()) {
      throw Error(
          "opened twice with the same settings it gives two different programs; a program must follow from its "
          "settings alone");
    }
    attempt(run_check, [&] {
      reference.require_support(program.view(), egg_rule{});
      run_model(program, reference);
    });
  });
  return {program_check, run_check, check_settings<ModelInstance>(plugin, settings)};
}

std::vector<Check> check_optimizer(const ChosenPlugin& plugin, const egg_settings& settings,
                                   const BackendInstance& reference) {
  Check rule_check{"its rule is valid and the same each time", 0, {}};
  Check scalar_check{"its scalars are finite and follow from the step and the evaluations alone", 0, {}};
  Check run_check{"its updates keep weights in range and slots finite", 0, {}};
  attempt(rule_check, [&] {
    const OptimizerInstance first(plugin, settings);
    const Rule rule(first.rule());
    const OptimizerInstance second(plugin, settings);
    if (Rule(second.rule()).text() != rule.text()) {
      throw Error(
          "opened twice with the same settings it gives two different rules; a rule must follow from its settings "
          "alone");
    }
    for (const uint64_t step : {uint64_t{0}, uint64_t{1}, uint64_t{1000}, uint64_t{1} << 40}) {
      attempt(scalar_check, [&] {
        const std::vector<egg_evaluation> evaluations = evaluations_before(step);
        const std::vector<float> once = first.scalars(step, evaluations);
        if (once != first.scalars(step, evaluations))
          throw Error(fmt::format("the scalars of step {} differ between two calls", step));
        if (!std::all_of(once.begin(), once.end(), [](float x) { return std::isfinite(x); })) {
          throw Error(fmt::format("a scalar of step {} is not finite", step));
        }
      });
    }
    attempt(run_check, [&] { run_optimizer(first, rule, reference); });
  });
  return {rule_check, scalar_check, run_check, check_settings<OptimizerInstance>(plugin, settings)};
}

}  // namespace eggroll
