#include "conformance/trajectory.h"

#include <fmt/format.h>

#include <map>

#include "eggroll/error.h"
#include "train/checkpoint.h"
#include "train/session_io.h"
#include "train/setup.h"

namespace eggroll {
namespace {

const std::map<std::string, std::vector<std::string>> kGoldenTrajectories = {
#include "conformance/trajectories.inc"
};

// Sizes that fill neither a vector unit nor a tile of members, and steps that move weights from the first on.
const std::vector<std::string> kCommon = {"name=trajectory",
                                          "seed=11",
                                          "train.steps=20",
                                          "train.population=70",
                                          "train.members_per_stream=14",
                                          "train.tokens=7",
                                          "eval.every=20",
                                          "eval.tokens=64",
                                          "eval.streams=2",
                                          "backend=reference",
                                          "backend.threads=2",
                                          "noise.sigma_shift=2",
                                          "noise.sigma_vector_shift=2"};

// The settings from before there were tables, so that the hashes of that time still hold.
const std::vector<std::string> kPlain = {"votes.masked=false", "noise.distribution=gaussian"};

struct Preset {
  const char* name;
  std::vector<std::string> overrides;
};

const std::vector<Preset> kModels = {
    {"gru",
     {"model=gru", "model.width=22", "model.layers=2", "model.vocab=61", "model.tied_head=true", "noise=table",
      "noise.table_log2=12", "noise.rank=3"}},
    {"nano_egg", {"model=nano_egg", "model.width=16", "model.layers=2"}},
    {"egg_c", {"model=egg_c", "model.width=27", "model.layers=1", "model.vocab=259", "noise.distribution=uniform"}},
    {"int8nativeformer",
     {"model=int8nativeformer", "model.width=36", "model.head_width=12", "model.layers=2", "model.vocab=61",
      "model.attention.kind=sigmoid", "model.logit_steps_per_bit=16", "noise.rank=2"}},
    {"egg_c_former",
     {"model=egg_c_former", "model.width=20", "model.head_width=20", "model.layers=1", "model.mlp_ratio=3",
      "model.vocab=257", "model.context=9"}},
    {"gru_tables",
     {"model=gru_tables", "model.width=21", "model.vocab=61", "train.population=140",
      "model.context_tables=[{tokens: 2, rows: 64}, {tokens: 4, rows: 512}]",
      "model.logit_tables=[{tokens: 1}, {tokens: 3, rows: 128}]", "votes.masked=true", "noise.distribution=rademacher",
      "perturb.groups=[{params: [embedding, \"context*\"], share: 0.4}, {params: [\"logit_context*\"], share: 0.4}, "
      "{params: [\"layer*\", norm_out.gain, head], share: 0.2}]"}},
    {"int8nativeformer with tables",
     {"model=int8nativeformer", "model.width=20", "model.head_width=20", "model.layers=1", "model.vocab=61",
      "model.tied_head=false", "model.context_tables=[{tokens: 2, rows: 32}, {tokens: 3, rows: 256}]",
      "model.residual_init_std=0", "votes.masked=true", "noise.rank=2"}}};

// Data of both sorts: one continuous text, and rows that begin with a reset.
const std::vector<Preset> kOptimizers = {
    {"sign_es with residual",
     {"optimizer=sign_es", "optimizer.schedule.inverse_time.anneal=15.0", "optimizer.schedule.inverse_time.decay=5",
      "optimizer.residual=0.5", "dataset=markov", "dataset.vocab=53", "dataset.tokens=4000", "dataset.valid_tokens=80",
      "fitness=zscore"}},
    {"sign_es without residual",
     {"optimizer=sign_es_plain", "optimizer.schedule.inverse_time.decay=5", "optimizer.residual=0", "dataset=count",
      "dataset.vocab=31", "dataset.rows=64", "dataset.valid_rows=4", "fitness=centered_rank"}},
    // Steps that take many weights to their bounds.
    {"es_adamw",
     {"optimizer=es_adamw", "optimizer.learning_rate=20.0", "optimizer.beta1=0.9", "optimizer.beta2=0.99",
      "optimizer.weight_decay=0.002", "optimizer.schedule.kind=cosine", "optimizer.schedule.cosine.final=0.1",
      "dataset=markov", "dataset.vocab=53", "dataset.tokens=4000", "dataset.valid_tokens=80", "fitness=zscore"}},
    {"es_sgd",
     {"optimizer=es_sgd", "optimizer.learning_rate=2.0", "optimizer.momentum=0.9", "optimizer.schedule.kind=steps",
      "optimizer.schedule.steps.milestones=[{step: 7, factor: 0.3}]", "dataset=count", "dataset.vocab=31",
      "dataset.rows=64", "dataset.valid_rows=4", "fitness=centered_rank"}},
    {"es_adagrad",
     {"optimizer=es_adagrad", "optimizer.learning_rate=6.0", "optimizer.initial=0.5", "dataset=markov",
      "dataset.vocab=53", "dataset.tokens=4000", "dataset.valid_tokens=80", "fitness=zscore"}}};

// Groups that perturb the logits in place of parameters. Three of five streams have sites.
const std::vector<Preset> kSites = {
    {"gru_tables",
     {"perturb.groups=[{sites: [{value: output, draws: complete}], share: 0.6}, "
      "{params: [embedding, \"context*\", \"layer*\", \"norm_out*\"], share: 0.4}]"}},
    {"int8nativeformer with tables",
     {"model.logit_tables=[{tokens: 2, rows: 64}]",
      "perturb.groups=[{sites: [{value: output, draws: 9, amplitude: 3}], share: 0.6}, "
      "{params: [\"embedding*\", \"context*\", \"init_mlp*\", \"layer*\", \"norm_out*\"], share: 0.4}]"}}};

Trajectory make_trajectory(const Preset& model, const Preset& optimizer, const Preset* sites) {
  const char* with = sites != nullptr ? " and sites" : "";
  Trajectory trajectory{fmt::format("{}{}, {}", model.name, with, optimizer.name), kCommon, sites != nullptr};
  const auto add = [&](const std::vector<std::string>& overrides) {
    trajectory.overrides.insert(trajectory.overrides.end(), overrides.begin(), overrides.end());
  };
  add(kPlain);
  add(model.overrides);
  add(optimizer.overrides);
  if (sites != nullptr) add(sites->overrides);
  return trajectory;
}

std::vector<Trajectory> make_trajectories() {
  std::vector<Trajectory> made;
  for (const Preset& model : kModels) {
    for (const Preset& optimizer : kOptimizers) made.push_back(make_trajectory(model, optimizer, nullptr));
    for (const Preset& sites : kSites) {
      if (sites.name == std::string(model.name)) made.push_back(make_trajectory(model, kOptimizers.back(), &sites));
    }
  }
  return made;
}

// Empty if the hashes equal the kept ones.
std::string difference(const Trajectory& trajectory, const std::vector<std::string>& actual) {
  const auto golden = kGoldenTrajectories.find(trajectory.name);
  if (golden == kGoldenTrajectories.end()) return "no hashes are kept for it";
  for (size_t step = 0; step < actual.size(); ++step) {
    if (actual[step] == golden->second.at(step)) continue;
    return fmt::format("after step {} of {} the weights hash to {}, expected {}", step + 1, actual.size(), actual[step],
                       golden->second[step]);
  }
  return "";
}

void use_backend(Learner& learner, const ChosenPlugin& backend) {
  learner.backend = std::make_unique<BackendInstance>(backend, egg_settings{sizeof(egg_settings), 0, nullptr});
  learner.backend->require_support(learner.program->view(), learner.rule->view());
}

// fault(trajectory): says what is wrong with it; empty if nothing is.
template <class Fault>
Check check_each(const char* what, const Fault& fault) {
  Check check{what, 0, {}};
  size_t refused = 0;
  for (const Trajectory& trajectory : trajectories()) {
    ++check.cases;
    try {
      const std::string found = fault(trajectory);
      if (!found.empty()) check.failures.push_back(fmt::format("{}: {}", trajectory.name, found));
    } catch (const Error& error) {
      const bool is_refusal = trajectory.has_sites && error.code() == EGG_ERROR_UNSUPPORTED;
      refused += is_refusal ? 1U : 0U;
      if (!is_refusal) check.failures.push_back(fmt::format("{}: {}", trajectory.name, error.what()));
    }
  }
  if (refused > 0) check.what += fmt::format("; {} with sites are refused", refused);
  return check;
}

}  // namespace

const std::vector<Trajectory>& trajectories() {
  static const std::vector<Trajectory> all = make_trajectories();
  return all;
}

std::vector<std::string> weights_after_each_step(const Trajectory& trajectory, const ConfigSearch& configs,
                                                 const Registry& models, const ChosenPlugin& backend) {
  Setup setup(compose(configs, trajectory.overrides), models);
  Learner& learner = setup.learner;
  use_backend(learner, backend);
  BackendSession session = learner.open_session();
  BatchBuffer batch;
  std::vector<int64_t> losses(learner.train.population);
  std::vector<std::string> hashes;
  for (uint64_t step = 0; step < kTrajectorySteps; ++step) {
    setup.streams.fill(step, batch);
    std::vector<egg_site_sums> sums(learner.sites.size());
    session.evaluate(egg_evaluate{sizeof(egg_evaluate), learner.train.members_per_stream, step, 0,
                                  learner.train.population, batch.view(), losses.data(), nullptr, sums.data()});
    learner.update(session, step, {}, setup.fitness.of(losses), batch, {}, sums);
    hashes.push_back(weights_sha256(read_weights(session, *learner.program)));
  }
  return hashes;
}

Check check_trajectories(const ConfigSearch& configs, const Registry& models, const ChosenPlugin& backend) {
  return check_each("golden trajectories", [&](const Trajectory& trajectory) {
    return difference(trajectory, weights_after_each_step(trajectory, configs, models, backend));
  });
}

Check check_plans(const ConfigSearch& configs, const Registry& models, const ChosenPlugin& backend) {
  return check_each("session plans", [&](const Trajectory& trajectory) {
    Learner learner(compose(configs, trajectory.overrides), models);
    use_backend(learner, backend);
    learner.plan_session();
    return std::string();
  });
}

}  // namespace eggroll
