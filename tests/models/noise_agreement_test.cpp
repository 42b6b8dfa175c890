// The vote and the forward pass see the same noise, tensor by tensor; an unperturbed tensor never moves; the members of
// a pair mirror each other exactly. The noise comes from the specification, whose known answers come from an
// independent script, and the forward pass from the oracle, which shares no code with the project. Only the loss of the
// logits is made with eggroll/arithmetic.h, which tests/arithmetic/ tests by itself.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>

#include "eggroll/arithmetic.h"
#include "eggroll/noise_source.h"
#include "eggroll/program_builder.h"
#include "eggroll/rule_builder.h"
#include "models/former_oracle.h"
#include "models/gru_oracle.h"
#include "support/host.h"

namespace eggroll::test {
namespace {

constexpr int kWidth = 16;
constexpr uint32_t kVocab = 11;
constexpr uint32_t kPopulation = 8;
constexpr uint32_t kTokens = 12;
constexpr uint64_t kStep = 5;

const std::vector<std::string> kRun = {"model.width=16", "model.layers=2", "model.vocab=11", "train.population=8",
                                       "train.members_per_stream=2"};

struct TestedModel {
  const char* name;
  std::vector<std::string> overrides;  // these follow kRun
  std::unique_ptr<Oracle> (*oracle)();
  size_t tensors;
};

// Without this function the listed name of a test would hold addresses.
void PrintTo(const TestedModel& model, std::ostream* out) { *out << model.name; }

const TestedModel kGru{
    "gru",
    {"model=gru"},
    []() -> std::unique_ptr<Oracle> { return std::make_unique<GruOracle>(Peer::kProject, kWidth, 2, kVocab); },
    23};
const TestedModel kFormer{
    "int8nativeformer",
    {"model=int8nativeformer", "model.head_width=8", "model.logit_steps_per_bit=16"},
    []() -> std::unique_ptr<Oracle> { return std::make_unique<FormerOracle>(Peer::kProject, kWidth, 2, 8, kVocab); },
    34};

ConfigNode config_of(const TestedModel& model) {
  std::vector<std::string> overrides = kRun;
  overrides.insert(overrides.end(), model.overrides.begin(), model.overrides.end());
  return repository_config(overrides);
}

struct Draw {
  uint64_t step;
  uint32_t pair;
  uint32_t tensor;
};

OracleNoise noise_of(const NoiseSource& source, const egg_param& param, const Draw& draw) {
  const auto side = [&](uint32_t which, int32_t size) {
    std::vector<int8_t> values(static_cast<size_t>(size));
    source.fill(draw.step, draw.pair, draw.tensor, which, 0, values.data(), static_cast<uint32_t>(size));
    return Row(values.begin(), values.end());
  };
  return {side(EGG_SIDE_A, param.rows), side(EGG_SIDE_B, param.kind == EGG_PARAM_VECTOR ? param.rows : param.cols)};
}

// A rule that keeps the exact vote and moves every weight that has one.
const Rule& vote_rule() {
  static const Rule rule = [] {
    RuleBuilder builder;
    const Node vote = builder.vote_i32();
    builder.set_slot(builder.slot("vote", 'i'), vote);
    builder.delta(vote);
    return Rule(*builder.view());
  }();
  return rule;
}

// A model with one, all or no tensors perturbed, and with the same random weights each time.
class OneTensor {
 public:
  OneTensor(const TestedModel& model, std::optional<uint32_t> only, bool none = false)
      : learner_(config_of(model), built_plugins()), oracle_(model.oracle()), draws_(3) {
    params_ = learner_.program->params();
    for (uint32_t i = 0; i < params_.size(); ++i) params_[i].perturbed = !none && (!only || *only == i) ? 1 : 0;
    egg_program view = learner_.program->view();
    view.params = params_.data();
    program_.emplace(view);
    session_.emplace(learner_.backend->open_session(egg_session_spec{sizeof(egg_session_spec), 2, &program_->view(),
                                                                     &vote_rule().view(), learner_.noise, kPopulation,
                                                                     0, kPopulation, 0, nullptr}));
    oracle_->weights = set_random_weights(*session_, params_, draws_, [](const std::string&) { return 20U; });
  }

  const std::vector<egg_param>& params() const { return params_; }
  const egg_noise& noise() const { return learner_.noise; }
  BackendSession& session() { return *session_; }

  struct Forward {
    std::vector<int64_t> losses;
    std::vector<int8_t> states;
    bool operator==(const Forward&) const = default;
  };

  // Losses of every member from zero states, all on the same tokens.
  Forward forward(const TestStream& stream) {
    Forward result;
    result.losses.resize(kPopulation);
    result.states.resize(size_t{kPopulation} * program_->state_bytes());
    session_->set_states(0, kPopulation, result.states.data());
    session_->evaluate(egg_evaluate{sizeof(egg_evaluate), kPopulation, kStep, 0, kPopulation, stream.batch(),
                                    result.losses.data(), nullptr});
    session_->get_states(0, kPopulation, result.states.data());
    return result;
  }

  // The same losses from the oracle; the noise of pair p and tensor t is draw(p, t).
  template <class DrawOf>
  Forward oracle_forward(const TestStream& stream, const NoiseSource& source, DrawOf&& draw) {
    egg_loss_tables tables;
    egg_fill_loss_tables(&tables, 4096);
    Forward result;
    for (uint32_t member = 0; member < kPopulation; ++member) {
      oracle_->reset();
      oracle_->noise.clear();
      oracle_->sign = member % 2 == 0 ? 1 : -1;
      for (uint32_t t = 0; t < params_.size(); ++t) {
        if (params_[t].perturbed != 0)
          oracle_->noise[params_[t].name] = noise_of(source, params_[t], draw(member / 2, t));
      }
      int64_t loss = 0;
      for (size_t i = 0; i < stream.inputs.size(); ++i) {
        const Row logits = oracle_->step(static_cast<int>(stream.inputs[i]));
        const int64_t largest = *std::max_element(logits.begin(), logits.end());
        uint64_t sum = 0;
        for (const int64_t logit : logits) sum += tables.exp2_q30[largest - logit];
        loss += egg_loss_q16(sum, static_cast<int32_t>(largest), static_cast<int32_t>(logits[stream.targets[i]]), 4096,
                             tables.log2_q24);
      }
      result.losses.push_back(loss);
      for (const int64_t value : oracle_->state()) result.states.push_back(static_cast<int8_t>(value));
    }
    return result;
  }

  // The exact votes of every perturbed tensor for this fitness.
  std::map<uint32_t, std::vector<int32_t>> votes(const std::vector<int8_t>& fitness) {
    const std::vector<float> stds(params_.size(), 1.0F);
    std::vector<int64_t> changed(params_.size());
    session_->update(egg_update{sizeof(egg_update),
                                kPopulation / 2,
                                kStep,
                                fitness.data(),
                                nullptr,
                                stds.data(),
                                changed.data(),
                                nullptr,
                                {},
                                2,
                                0});
    std::map<uint32_t, std::vector<int32_t>> result;
    for (uint32_t t = 0; t < params_.size(); ++t) {
      if (params_[t].perturbed == 0) continue;
      result[t].resize(weight_count(params_[t]));
      session_->get_slot(t, 0, result[t].data());
    }
    return result;
  }

 private:
  Learner learner_;
  std::unique_ptr<Oracle> oracle_;
  Draws draws_;
  std::vector<egg_param> params_;
  std::optional<Program> program_;
  std::optional<BackendSession> session_;
};

TestStream test_stream() {
  Draws draws(29);
  return TestStream(draws, kTokens, kVocab);
}

std::vector<int32_t> outer_product(const egg_param& param, const OracleNoise& noise) {
  std::vector<int32_t> z;
  for (size_t i = 0; i < noise.a.size(); ++i) {
    if (param.kind == EGG_PARAM_VECTOR) {
      z.push_back(static_cast<int32_t>(noise.a[i] * noise.b[i]));
      continue;
    }
    for (const int64_t b : noise.b) z.push_back(static_cast<int32_t>(noise.a[i] * b));
  }
  return z;
}

class NoiseAgreement : public testing::TestWithParam<TestedModel> {};

TEST_P(NoiseAgreement, ForwardPassAndVoteSeeTheSpecifiedNoiseOfEveryTensor) {
  const TestStream stream = test_stream();
  const auto tensors = static_cast<uint32_t>(OneTensor(GetParam(), std::nullopt).params().size());
  ASSERT_EQ(tensors, GetParam().tensors);
  for (uint32_t tensor = 0; tensor < tensors; ++tensor) {
    OneTensor model(GetParam(), tensor);
    const NoiseSource source(model.noise());
    const std::string name = model.params()[tensor].name;
    const OneTensor::Forward seen = model.forward(stream);
    EXPECT_EQ(seen, model.oracle_forward(stream, source, [](uint32_t pair, uint32_t t) {
      return Draw{kStep, pair, t};
    })) << name;
    // Shows that the comparison can fail: the noise of another step, pair or tensor gives other losses.
    EXPECT_NE(seen, model.oracle_forward(stream, source, [](uint32_t pair, uint32_t t) {
      return Draw{kStep + 1, pair, t};
    })) << name;
    EXPECT_NE(seen, model.oracle_forward(stream, source, [](uint32_t pair, uint32_t t) {
      return Draw{kStep, pair + 1, t};
    })) << name;
    EXPECT_NE(seen, model.oracle_forward(stream, source, [](uint32_t pair, uint32_t t) {
      return Draw{kStep, pair, t + 1};
    })) << name;

    for (uint32_t pair = 0; pair < kPopulation / 2; ++pair) {
      std::vector<int8_t> fitness(kPopulation / 2);
      fitness[pair] = 1;
      const auto votes = model.votes(fitness);
      ASSERT_EQ(votes.size(), 1U);
      EXPECT_EQ(votes.at(tensor),
                outer_product(model.params()[tensor], noise_of(source, model.params()[tensor], {kStep, pair, tensor})))
          << name << " pair " << pair;
    }
  }
}

TEST_P(NoiseAgreement, AllTensorsTogetherFollowTheOracle) {
  const TestStream stream = test_stream();
  OneTensor model(GetParam(), std::nullopt);
  const NoiseSource source(model.noise());
  EXPECT_EQ(model.forward(stream), model.oracle_forward(stream, source, [](uint32_t pair, uint32_t t) {
    return Draw{kStep, pair, t};
  }));
}

TEST_P(NoiseAgreement, UnperturbedTensorsNeverMoveAndPerturbedOnesDo) {
  const auto tensors = static_cast<uint32_t>(OneTensor(GetParam(), std::nullopt).params().size());
  for (uint32_t tensor = 0; tensor < tensors; ++tensor) {
    OneTensor model(GetParam(), tensor);
    const auto all_weights = [&] {
      std::vector<std::vector<int8_t>> weights;
      for (uint32_t i = 0; i < tensors; ++i) {
        weights.emplace_back(weight_count(model.params()[i]));
        model.session().get_weights(i, weights.back().data());
      }
      return weights;
    };
    const auto before = all_weights();
    model.votes({1, -1, 1, 1});
    const auto after = all_weights();
    for (uint32_t i = 0; i < tensors; ++i) EXPECT_EQ(before[i] == after[i], i != tensor) << model.params()[i].name;
  }
}

TEST_P(NoiseAgreement, WithNothingPerturbedAllMembersAreTheUnperturbedModel) {
  const TestStream stream = test_stream();
  OneTensor model(GetParam(), std::nullopt, true);
  const OneTensor::Forward seen = model.forward(stream);
  std::vector<int8_t> states(seen.states.size() / kPopulation);
  int64_t loss = 0;
  model.session().infer(egg_infer{sizeof(egg_infer), 0, stream.batch(), states.data(), &loss, nullptr});
  EXPECT_EQ(seen.losses, std::vector<int64_t>(kPopulation, loss));
}

INSTANTIATE_TEST_SUITE_P(Models, NoiseAgreement, testing::Values(kGru, kFormer),
                         [](const auto& model) { return std::string(model.param.name); });

// Small programs that show a perturbation bare. An embedding and a bias lie symmetrically about the unperturbed value;
// a product with zero weights is +v and -v over 16 for one and the same v = q*A, each rounded to nearest.
TEST(NoiseAgreementOfOps, APairIsExactlyMirrored) {
  constexpr int32_t kSize = 64;
  ProgramBuilder builder(kVocab, 4, EGG_ROUND_NEAREST);
  const Value embedded = builder.embed("embedded", builder.matrix("embedding", kVocab, kSize, 16));
  const Value x = builder.state("x", kSize);
  builder.store(x, x);
  builder.store(builder.state("kept_embedded", kSize), embedded);
  builder.store(builder.state("kept_biased", kSize),
                builder.add("biased", x, Value{}, builder.vector("bias", kSize, 0)));
  builder.store(builder.state("kept_product", kSize),
                builder.linear("product", x, builder.matrix("weight", kSize, kSize, 0), 0));
  const Value logits = builder.state("logits", kVocab);
  builder.store(logits, logits);
  builder.loss(logits, 4096);
  const Program program(*builder.view());

  const Learner learner(repository_config(kRun), built_plugins());
  BackendSession session =
      learner.backend->open_session(egg_session_spec{sizeof(egg_session_spec), 1, &program.view(), &vote_rule().view(),
                                                     learner.noise, kPopulation, 0, kPopulation, 0, nullptr});
  const std::vector<int8_t> embedding(size_t{kVocab} * kSize, int8_t{9});
  session.set_weights(0, embedding.data());
  const size_t bytes = program.state_bytes();
  std::vector<int8_t> states(kPopulation * bytes);
  Draws draws(31);
  Row x_values;
  for (int32_t i = 0; i < kSize; ++i) x_values.push_back(static_cast<int64_t>(draws.below(21)) - 10);
  for (size_t member = 0; member < kPopulation; ++member) {
    std::copy(x_values.begin(), x_values.end(), states.begin() + static_cast<ptrdiff_t>(member * bytes));
  }
  session.set_states(0, kPopulation, states.data());
  const uint32_t token = 7;
  const uint8_t reset = 0;
  std::vector<int64_t> losses(kPopulation);
  session.evaluate(egg_evaluate{sizeof(egg_evaluate), kPopulation, kStep, 0, kPopulation,
                                egg_batch{1, 1, &token, &token, &reset, nullptr}, losses.data(), nullptr});
  session.get_states(0, kPopulation, states.data());

  const NoiseSource source(learner.noise);
  const auto floor_div = [](int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); };
  const auto at = [&](size_t member, size_t part, size_t i) {
    return int64_t{states[member * bytes + part * kSize + i]};
  };
  size_t moved[3] = {0, 0, 0};
  for (size_t member = 0; member < kPopulation; member += 2) {
    const auto pair = static_cast<uint32_t>(member / 2);
    const OracleNoise noise = noise_of(source, program.params()[2], {kStep, pair, 2});
    int64_t xb = 0;
    for (size_t i = 0; i < kSize; ++i) xb += x_values[i] * noise.b[i];
    const int64_t q = floor_div(xb + 8, 16);
    for (size_t i = 0; i < kSize; ++i) {
      EXPECT_EQ(at(member, 1, i) + at(member + 1, 1, i), 2 * 9);
      EXPECT_EQ(at(member, 2, i) + at(member + 1, 2, i), 2 * x_values[i]);
      const int64_t v = q * noise.a[i];
      EXPECT_EQ(at(member, 3, i), std::clamp<int64_t>(floor_div(v + 8, 16), -127, 127));
      EXPECT_EQ(at(member + 1, 3, i), std::clamp<int64_t>(floor_div(-v + 8, 16), -127, 127));
      for (size_t part = 1; part <= 3; ++part)
        moved[part - 1] += at(member, part, i) != at(member + 1, part, i) ? size_t{1} : size_t{0};
    }
  }
  for (const size_t count : moved) EXPECT_GT(count, size_t{kSize});
}

}  // namespace
}  // namespace eggroll::test
