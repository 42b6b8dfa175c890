#include "bench/step_case.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <regex>

#include "bench/peak_meter.h"
#include "config/settings_block.h"
#include "eggroll/error.h"
#include "eggroll/rule_builder.h"
#include "eggroll/settings.h"
#include "record/run_metrics.h"
#include "system/machine.h"

namespace eggroll::bench {
namespace {

constexpr uint32_t kMembersPerStream = 16;  // members in a stream, if this divides the population
constexpr uint32_t kFewStreams = 64;        // the held-out streams of configs/config.yaml
constexpr uint32_t kManyStreams = 2048;     // fill every thread of a machine of some dozen cores
constexpr uint64_t kFirstStep = 1000;       // sign_es moves most weights in the first steps
constexpr int kShortCalls = 3;              // calls of each short part in a round

std::vector<std::string> overrides_of(const StepShape& shape) {
  std::vector<std::string> overrides = {
      fmt::format("model.layers={}", shape.layers), fmt::format("model.width={}", shape.width),
      fmt::format("train.population={}", shape.population), fmt::format("train.tokens={}", shape.tokens),
      fmt::format("train.members_per_stream={}", shape.population % kMembersPerStream == 0 ? kMembersPerStream : 2)};
  if (shape.tables) {
    overrides.emplace_back("votes.masked=true");
    overrides.emplace_back("model.context_tables=[{tokens: 2, rows: 65536}, {tokens: 3, rows: 65536}]");
  }
  return overrides;
}

// Another number of tokens, far enough from a step's to tell which part of the time does not depend on tokens.
uint32_t other_tokens(uint32_t tokens) { return tokens == 1 ? 2 : std::max(1U, tokens / 8); }

// Reads the votes as any rule does, and never moves a weight.
Rule still_rule() {
  RuleBuilder builder;
  const Node nothing = builder.op(EGG_RULE_FMUL, {builder.vote_f32(), builder.constant(0.0F)});
  builder.delta(builder.op(EGG_RULE_TRUNC_I32, {nothing}));
  return Rule(*builder.view());
}

Fitness read_fitness(const ConfigNode& config, std::vector<uint32_t> group_pairs) {
  const SettingsBlock block(config, "fitness");
  Settings settings(block.view());
  return Fitness(settings, std::move(group_pairs));
}

double mib(uint64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

class StepCase : public Case {
 public:
  StepCase(const Host& host, const std::string& backend, const StepShape& shape)
      : shape_(shape),
        memory_before_(mib(memory_of(::getpid()))),
        learner_(open_learner(host, backend, overrides_of(shape))),
        fitness_(read_fitness(compose(host.search, host.overrides), learner_.group_pairs())),
        peak_(peak_of(backend), host.threads),
        batch_(training_batch(shape.tokens)),
        other_batch_(training_batch(other_tokens(shape.tokens))),
        losses_(shape.population),
        plan_(learner_.plan_session()),
        session_(learner_.open_session()) {
    evaluate(other_batch_);  // memory is touched for the first time here
    update();
  }

  void run(benchmark::State& state) override {
    double evaluation = 0.0;
    double whole = 0.0;
    peak_.reset();
    peak_.take_slice();
    for ([[maybe_unused]] auto _ : state) {
      peak_.between_iterations();
      double forward = 0.0;
      const double seconds = seconds_of([&] {
        forward = seconds_of([&] { evaluate(batch_); });
        update();
      });
      state.SetIterationTime(seconds);
      evaluation += forward;
      whole += seconds;
      ++step_;
    }
    peak_.take_slice();
    const auto steps = static_cast<double>(state.iterations());
    if (memory_ == 0.0) memory_ = mib(peak_memory());
    measure_parts();
    report(state, whole / steps, evaluation / steps);
  }

 private:
  // Seconds of a step's parts, one entry for each round.
  struct Parts {
    std::vector<double> other_evaluate;  // with other_tokens
    std::vector<double> update;
    std::vector<double> still_update;
    std::vector<double> few_streams;
    std::vector<double> many_streams;
  };

  BatchBuffer training_batch(uint32_t tokens) const {
    return random_batch(learner_.program->view(), shape_.population / learner_.train.members_per_stream, tokens);
  }

  void evaluate(const BatchBuffer& batch) {
    session_.evaluate(egg_evaluate{sizeof(egg_evaluate), learner_.train.members_per_stream, step_, 0, shape_.population,
                                   batch.view(), losses_.data(), nullptr});
  }

  void update() { learner_.update(session_, step_, {}, last_fitness_ = fitness_.of(losses_), batch_); }

  // The votes of the last step under a rule that moves nothing.
  double still_update(BackendSession& session) {
    return seconds_of([&] {
      const std::vector<float> stds = learner_.vote_stds(last_fitness_);
      std::vector<int64_t> changed(stds.size());
      session.update(egg_update{sizeof(egg_update), shape_.population / 2, step_, last_fitness_.data(), nullptr,
                                stds.data(), changed.data(), nullptr, batch_.view(), learner_.train.members_per_stream,
                                0});
    });
  }

  // A call of the unperturbed model.
  double infer(uint32_t streams) {
    const BatchBuffer batch = random_batch(learner_.program->view(), streams, shape_.tokens);
    std::vector<int8_t> states(size_t{streams} * learner_.program->state_bytes());
    std::vector<int64_t> losses(streams);
    return seconds_of([&] {
      session_.infer(egg_infer{sizeof(egg_infer), 0, batch.view(), states.data(), losses.data(), nullptr});
    });
  }

  uint32_t many_streams() const { return std::min(shape_.population, kManyStreams); }

  void measure_parts() {
    parts_.other_evaluate.push_back(seconds_of([&] { evaluate(other_batch_); }));
    const Rule rule = still_rule();
    egg_session_spec spec = learner_.session_spec();
    spec.rule = &rule.view();
    BackendSession still = learner_.backend->open_session(spec);
    still_update(still);  // touches the session's memory for the first time
    for (int i = 0; i < kShortCalls; ++i) {
      parts_.update.push_back(seconds_of([&] { learner_.update(session_, step_, {}, last_fitness_, batch_); }));
      parts_.still_update.push_back(still_update(still));
    }
    for (int i = 0; i < kShortCalls; ++i) parts_.few_streams.push_back(infer(kFewStreams));
    parts_.many_streams.push_back(infer(many_streams()));
  }

  void report(benchmark::State& state, double step, double evaluation) {
    const double member_tokens = static_cast<double>(shape_.population) * shape_.tokens;
    const double gmacs = static_cast<double>(learner_.program->macs_per_token()) * member_tokens / step / 1e9;
    auto& counters = state.counters;
    counters["GMAC/s"] = gmacs;
    counters["peak_GMAC/s"] = peak_.mean();
    counters["peak_ratio"] = gmacs / peak_.mean();
    counters["member_tokens/s"] = member_tokens / step;
    counters["ns_per_member_token"] = step * 1e9 / member_tokens;

    // A line through the times of both numbers of tokens gives the time at no tokens.
    const double tokens = shape_.tokens;
    const double others = other_tokens(shape_.tokens);
    const double at_others = quantile(parts_.other_evaluate, 0.5);
    const double noise = (tokens * at_others - others * evaluation) / (tokens - others);
    const double votes = quantile(parts_.still_update, 0.5);
    const double rule = quantile(parts_.update, 0.5) - votes;
    counters["noise_share"] = noise / step;
    counters["forward_share"] = (evaluation - noise) / step;
    counters["votes_share"] = votes / step;
    counters["rule_share"] = rule / step;
    const auto against_training = [&](const std::vector<double>& seconds, uint32_t streams) {
      return quantile(seconds, 0.5) / (static_cast<double>(streams) * tokens) / (step / member_tokens);
    };
    counters["evaluation_64_streams"] = against_training(parts_.few_streams, kFewStreams);
    counters["evaluation_many_streams"] = against_training(parts_.many_streams, many_streams());
    counters["memory_MiB"] = memory_;
    counters["memory_before_MiB"] = memory_before_;
    state.SetLabel(fmt::format("peak of {}; {}: {}", peak_.name(), plan_.device, plan_.plan));
  }

  StepShape shape_;
  double memory_before_;
  Learner learner_;
  Fitness fitness_;
  PeakMeter peak_;
  BatchBuffer batch_;
  BatchBuffer other_batch_;
  std::vector<int64_t> losses_;
  std::vector<int8_t> last_fitness_;
  SessionPlan plan_;
  BackendSession session_;
  uint64_t step_ = kFirstStep;
  Parts parts_;
  double memory_ = 0.0;  // high-water mark after the first run's steps
};

}  // namespace

std::string StepShape::name() const {
  return fmt::format("{}x{}/pop{}/tokens{}{}", layers, width, population, tokens, tables ? "/tables" : "");
}

StepShape parse_step_shape(const std::string& name) {
  static const std::regex form(
      "([1-9][0-9]{0,3})x([1-9][0-9]{0,4})/pop([1-9][0-9]{0,7})/tokens([1-9][0-9]{0,6})(/tables)?");
  std::smatch match;
  if (!std::regex_match(name, match, form)) {
    throw Error(fmt::format(
        "'{}' is no step, expected LAYERSxWIDTH/popMEMBERS/tokensTOKENS[/tables] as in 6x256/pop2048/tokens32", name));
  }
  const auto number = [&](size_t group) { return static_cast<uint32_t>(std::stoul(match[group])); };
  return StepShape{number(1), number(2), number(3), number(4), match[5].matched};
}

std::vector<StepShape> default_step_shapes(const std::string& backend) {
  std::vector<StepShape> shapes;
  if (backend == "reference") {  // hundreds of times slower than the others
    for (const uint32_t width : {64U, 128U, 256U}) shapes.push_back({6, width, 64, 32});
    return shapes;
  }
  shapes.push_back({6, 256, 2048, 100});
  shapes.push_back({6, 256, 2048, 32, true});
  for (const uint32_t width : {64U, 128U, 256U, 512U}) {
    for (const uint32_t population : {64U, 1024U, 2048U, 16384U, 65536U}) shapes.push_back({6, width, population, 32});
  }
  return shapes;
}

std::unique_ptr<Case> open_step_case(const Host& host, const std::string& backend, const StepShape& shape) {
  return std::make_unique<StepCase>(host, backend, shape);
}

}  // namespace eggroll::bench
