// Int8NativeFormer as a model: what each token may see, its settings, its program.
#include <gtest/gtest.h>

#include <optional>

#include "record/scratch.h"
#include "support/host.h"

namespace eggroll::test {
namespace {

constexpr uint32_t kTokens = 10;
constexpr uint32_t kVocab = 13;
constexpr uint32_t kPopulation = 4;

// A small model with random weights and perturbed members.
class SmallFormer : public testing::TestWithParam<const char*> {
 protected:
  SmallFormer()
      : learner_(repository_config({"model=int8nativeformer", "model.width=16", "model.head_width=8", "model.layers=2",
                                    "model.vocab=13", "train.population=4", "train.members_per_stream=2",
                                    std::string("model.attention.kind=") + GetParam()}),
                 built_plugins()),
        session_(learner_.open_session()),
        draws_(11),
        stream_(draws_, kTokens, kVocab) {
    set_random_weights(session_, learner_.program->params(), draws_, [](const std::string&) { return 30U; });
  }

  // Each member's loss at the token of one position.
  std::vector<int64_t> losses_at(uint32_t position, const TestStream& stream) {
    std::vector<uint32_t> targets(kTokens, EGG_NO_TARGET);
    targets[position] = stream_.targets[position];
    std::vector<int64_t> losses(kPopulation);
    session_.evaluate(
        egg_evaluate{sizeof(egg_evaluate), kPopulation, 3, 0, kPopulation,
                     egg_batch{1, kTokens, stream.inputs.data(), targets.data(), stream.resets.data(), nullptr},
                     losses.data(), nullptr});
    return losses;
  }

  // The stream with another token at a position.
  TestStream changed_at(uint32_t position) const {
    TestStream other = stream_;
    other.inputs[position] = (other.inputs[position] + 1) % kVocab;
    return other;
  }

  Learner learner_;
  BackendSession session_;
  Draws draws_;
  TestStream stream_;
};

TEST_P(SmallFormer, ALossDependsOnItsTokenAndThoseBeforeItAlone) {
  for (uint32_t position = 0; position < kTokens; ++position) {
    const std::vector<int64_t> losses = losses_at(position, stream_);
    for (uint32_t changed = 0; changed < kTokens; ++changed) {
      const bool sees = changed <= position;
      EXPECT_EQ(losses_at(position, changed_at(changed)) != losses, sees) << position << " " << changed;
    }
  }
}

TEST_P(SmallFormer, AResetHidesWhatIsBeforeIt) {
  constexpr uint32_t kReset = 4;
  for (uint32_t position = kReset; position < kTokens; ++position) {
    for (uint32_t changed = 0; changed < kReset; ++changed) {
      TestStream stream = stream_;
      TestStream other = changed_at(changed);
      EXPECT_NE(losses_at(position, other), losses_at(position, stream)) << position << " " << changed;
      stream.resets[kReset] = 1;
      other.resets[kReset] = 1;
      EXPECT_EQ(losses_at(position, other), losses_at(position, stream)) << position << " " << changed;
    }
  }
}

// A call begins with an empty cache: what the call before it read changes nothing.
TEST_P(SmallFormer, ACallSeesNothingOfTheOneBeforeIt) {
  const std::vector<int64_t> losses = losses_at(kTokens - 1, stream_);
  for (uint32_t changed = 0; changed < kTokens; ++changed) losses_at(kTokens - 1, changed_at(changed));
  EXPECT_EQ(losses_at(kTokens - 1, stream_), losses);
  EXPECT_EQ(learner_.program->state_bytes(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Weightings, SmallFormer, testing::Values("softmax", "sigmoid"),
                         [](const auto& kind) { return std::string(kind.param); });

std::string refusal(const std::vector<std::string>& overrides) {
  std::vector<std::string> all = {"model=int8nativeformer"};
  all.insert(all.end(), overrides.begin(), overrides.end());
  return message_of([&] { Learner(repository_config(all), built_plugins()); });
}

TEST(FormerSettings, WrongOnesAreRefusedWithTheCure) {
  const auto expect = [](const std::vector<std::string>& overrides, const std::string& sentence) {
    const std::string text = refusal(overrides);
    EXPECT_NE(text.find(sentence), std::string::npos) << sentence << "\nis not in\n" << text;
  };
  EXPECT_EQ(refusal({}), "");
  expect({"model.head_width=24"},
         "model.head_width is 24, expected a multiple of 4 that divides the width, 64; change one of them");
  expect({"model.width=12", "model.head_width=6"},
         "model.head_width is 6, expected a multiple of 4 that divides the width, 12; change one of them");
  expect(
      {"model.context=1024"},
      "model.attention.softmax.scale is 14, expected at most 13 for a context of 1024, so that its sums fit 32 bits; "
      "lower one of them");
  expect({"model.context=1024", "model.attention.kind=sigmoid"}, "model.attention.sigmoid.scale is 14");
  expect({"model.shift_up=3"}, "model.shift_up is given, expected null unless shift_rule is fixed; change one of them");
  expect({"model.shift_rule=fixed"}, "model.shift_up is null, expected an integer from 0 to 26");
  expect(
      {"model.shift_rule=fixed", "model.shift_up=7", "model.shift_down=8", "model.shift_out=7", "model.shift_logits=7"},
      "model.attention.shift is null, expected an integer from 0 to 26 where shift_rule is fixed");
  expect({"model.attention.kind=relu"}, "model.attention.kind is 'relu', expected one of softmax, sigmoid");
  expect({"model.gelu_scale=0"}, "model.gelu_scale is 0, expected an integer from 1 to 127");
  expect({"train.tokens=64", "model.context=32"}, "train.tokens is 64, expected at most 32");
}

// The settings refuse exactly the scales that the host's proof refuses.
TEST(FormerSettings, TheLargestScaleIsTheHostsOwn) {
  for (const int32_t context : {32, 100, 512, 65536}) {
    int32_t largest = 20;
    while (int64_t{255} * context << largest > INT32_MAX) --largest;
    const auto with_scale = [&](int32_t scale) {
      return refusal(
          {"model.context=" + std::to_string(context), "model.attention.softmax.scale=" + std::to_string(scale)});
    };
    EXPECT_EQ(with_scale(largest), "");
    EXPECT_NE(with_scale(largest + 1).find("expected at most " + std::to_string(largest)), std::string::npos);
  }
}

TEST(FormerProgram, Golden) {
  const Learner learner(repository_config({"model=int8nativeformer", "model.vocab=11", "model.width=8",
                                           "model.head_width=4", "train.tokens=16"}),
                        built_plugins());
  EXPECT_EQ(learner.program->text(), R"(program vocab 11, fixed point 4, rounding nearest, context 16
param embedding                matrix 11 x 8       init normal 16
param embedding.b              vector 8            init constant 0
param init_mlp.norm.gain       vector 8            init constant 16
param init_mlp.norm.b          vector 8            init constant 0
param init_mlp.up.w            matrix 32 x 8       init normal 16
param init_mlp.up.b            vector 32           init constant 0
param init_mlp.down.w          matrix 8 x 32       init normal 16
param init_mlp.down.b          vector 8            init constant 0
param layer0.attention.norm.gain vector 8            init constant 16
param layer0.attention.norm.b  vector 8            init constant 0
param layer0.attention.q.w     matrix 8 x 8        init normal 16
param layer0.attention.k.w     matrix 8 x 8        init normal 16
param layer0.attention.v.w     matrix 8 x 8        init normal 16
param layer0.attention.out.w   matrix 8 x 8        init normal 16
param layer0.mlp.norm.gain     vector 8            init constant 16
param layer0.mlp.norm.b        vector 8            init constant 0
param layer0.mlp.up.w          matrix 32 x 8       init normal 16
param layer0.mlp.up.b          vector 32           init constant 0
param layer0.mlp.down.w        matrix 8 x 32       init normal 16
param layer0.mlp.down.b        vector 8            init constant 0
param norm_out.gain            vector 8            init constant 16
param norm_out.b               vector 8            init constant 0
table gelu                     256 entries, sha256 3eb72af88bfe20a3b8ca11bad7c9e6a9c23ecdd48843a1e2ba54ab52ddcda80e
table rope                     64 entries, sha256 82613dea33541e05e264fac7c17c067e01b8434b401a8bb43fdf67087938b32d
table attention                256 entries, sha256 18a540da8b051e9b4e42e022222d4e4ef2e4817e2c7668e144f332c0986bc612
op    embedded[8]              = embed(token, embedding)
op    embedded.biased[8]       = add(embedded, bias embedding.b)
op    init_mlp.norm[8]         = l1_norm(embedded.biased, init_mlp.norm.gain, bias init_mlp.norm.b, reciprocal)
op    init_mlp.up[32]          = linear(init_mlp.norm, init_mlp.up.w, bias init_mlp.up.b, shift 6)
op    init_mlp.gelu[32]        = lut(init_mlp.up, gelu)
op    init_mlp.down[8] wide    = linear(init_mlp.gelu, init_mlp.down.w, bias init_mlp.down.b, shift 7)
op    init_mlp.sum[8] wide     = add(embedded.biased, init_mlp.down)
op    init_mlp.residual[8]     = max_norm(init_mlp.sum)
op    layer0.attention.norm[8] = l1_norm(init_mlp.residual, layer0.attention.norm.gain, bias layer0.attention.norm.b, reciprocal)
op    layer0.attention.q.wide[8] wide = linear(layer0.attention.norm, layer0.attention.q.w, shift 0)
op    layer0.attention.q.rotated[8] wide = rope(layer0.attention.q.wide, rope, head 4)
op    layer0.attention.q[8]    = max_norm(layer0.attention.q.rotated)
op    layer0.attention.k.wide[8] wide = linear(layer0.attention.norm, layer0.attention.k.w, shift 0)
op    layer0.attention.k.rotated[8] wide = rope(layer0.attention.k.wide, rope, head 4)
op    layer0.attention.k[8]    = max_norm(layer0.attention.k.rotated)
op    layer0.attention.v.wide[8] wide = linear(layer0.attention.norm, layer0.attention.v.w, shift 0)
op    layer0.attention.v[8]    = max_norm(layer0.attention.v.wide)
op    layer0.attention.mixed[8] = attention(layer0.attention.q, layer0.attention.k, layer0.attention.v, attention, head 4, softmax, shift 8)
op    layer0.attention.out[8] wide = linear(layer0.attention.mixed, layer0.attention.out.w, shift 6)
op    layer0.attention.sum[8] wide = add(init_mlp.residual, layer0.attention.out)
op    layer0.attention.residual[8] = max_norm(layer0.attention.sum)
op    layer0.mlp.norm[8]       = l1_norm(layer0.attention.residual, layer0.mlp.norm.gain, bias layer0.mlp.norm.b, reciprocal)
op    layer0.mlp.up[32]        = linear(layer0.mlp.norm, layer0.mlp.up.w, bias layer0.mlp.up.b, shift 6)
op    layer0.mlp.gelu[32]      = lut(layer0.mlp.up, gelu)
op    layer0.mlp.down[8] wide  = linear(layer0.mlp.gelu, layer0.mlp.down.w, bias layer0.mlp.down.b, shift 7)
op    layer0.mlp.sum[8] wide   = add(layer0.attention.residual, layer0.mlp.down)
op    layer0.mlp.residual[8]   = max_norm(layer0.mlp.sum)
op    norm_out[8]              = l1_norm(layer0.mlp.residual, norm_out.gain, bias norm_out.b, reciprocal)
op    logits[11]               = linear(norm_out, embedding, shift 6)
op    loss                     = loss(logits, target, unit 8192/65536 bits)
)");
}

}  // namespace
}  // namespace eggroll::test
