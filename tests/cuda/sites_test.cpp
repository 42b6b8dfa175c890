// Sites on a GPU against the reference, on one replica and shared as by three, each of which owns rows of
// the tables: losses, what errors sum up to, weights, slots and logits.
#include <gtest/gtest.h>

#include "against_reference.h"
#include "gpu_test.h"

namespace eggroll::cuda {
namespace {

struct SitesCase {
  const char* name;
  std::vector<std::string> overrides;
};

void PrintTo(const SitesCase& test, std::ostream* out) { *out << test.name; }

const char* const kSitesTables = "model.logit_tables=[{tokens: 1}, {tokens: 2, rows: 64}, {tokens: 3, rows: 1024}]";

const SitesCase kSitesCases[] = {
    {"tables_alone",
     {"perturb.groups=[{sites: [{value: output, draws: complete}], share: 0.97}, {params: [embedding, "
      "\"layer*\", \"norm_out*\"], share: 0.03}]",
      "model.width=1"}},
    {"beside_members",
     {"perturb.groups=[{params: [embedding, \"layer*\", \"norm_out*\"], share: 0.5}, {sites: [{value: "
      "output, draws: 16}], share: 0.5}]",
      "model.width=48"}},
    {"slots_of_adam",
     {"perturb.groups=[{sites: [{value: output, draws: 4}], share: 0.75}, {params: [embedding, "
      "\"layer*\", \"norm_out*\"], share: 0.25}]",
      "model.width=32", "optimizer=es_adamw"}},
    // The first replica has members alone, and no stream of a site whose gates have biases.
    {"within",
     {"perturb.groups=[{params: [embedding, \"*gain\", \"layer0.down.w\"], share: 0.36}, {sites: [{value: output, "
      "draws: 16}, {value: layer0.forget, draws: 3, orthogonal: false}, {value: layer0.candidate, draws: complete}, "
      "{value: layer0.up, draws: 40}], share: 0.64}]",
      "model.width=48"}},
    // A draw's attention reads its stream's earlier keys and values, of more positions than a warp has lanes.
    {"before_attention",
     {"train.tokens=40", "train.population=160", "model=int8nativeformer", "model.tied_head=false", "model.layers=2",
      "model.width=48", "model.head_width=16",
      "perturb.groups=[{sites: [{value: output, draws: 16}, {value: embedded, draws: 24, orthogonal: false}, {value: "
      "layer0.mlp.up, draws: 40}, {value: layer1.mlp.up, draws: 3}], share: 0.75}, {params: [\"init_mlp*\", "
      "\"*.b\", \"*gain\", \"*attention*\", \"*down*\"], share: 0.25}]"}},
    // Queries, values and sums are wide.
    {"wide",
     {"train.tokens=7", "train.population=320", "model=int8nativeformer", "model.tied_head=false", "model.layers=2",
      "model.width=48", "model.head_width=16",
      "perturb.groups=[{sites: [{value: output, draws: 16}, {value: layer0.attention.q.wide, draws: 24, orthogonal: "
      "false, amplitude: 900}, {value: layer1.attention.v.wide, draws: 64, amplitude: 700}, {value: layer0.mlp.sum, "
      "draws: 40, amplitude: 6}, {value: layer1.attention.sum, draws: 3, amplitude: 6}], share: 0.75}, {params: "
      "[\"embedding*\", \"init_mlp*\", \"*.b\", \"*gain\", \"*up*\", \"*.k.w\", \"layer0.attention.v.w\", "
      "\"layer1.attention.q.w\", \"layer0.attention.out.w\", \"layer1.mlp.down.w\"], share: 0.25}]"}},
    // Draws go on with keys and values of their own; those of the first layer are the stream's where its MLP is drawn.
    {"horizons_of_attention",
     {"train.tokens=9", "train.population=320", "model=int8nativeformer", "model.tied_head=false", "model.layers=2",
      "model.width=48", "model.head_width=16",
      "perturb.groups=[{sites: [{value: output, draws: 16}, {value: embedded, draws: 5, horizon: 4}, {value: "
      "layer0.attention.k.wide, draws: 24, orthogonal: false, amplitude: 900, horizon: 2}, {value: "
      "layer1.attention.v.wide, draws: 64, amplitude: 700, horizon: 8}, {value: layer0.mlp.sum, draws: 40, amplitude: "
      "6, horizon: 1}], share: 0.75}, {params: [\"init_mlp*\", \"*.b\", \"*gain\", \"*up*\", \"*.q.w\", "
      "\"layer0.attention.v.w\", \"layer1.attention.k.w\", \"*.out.w\", \"layer1.mlp.down.w\"], share: 0.25}]"}},
    // The states of one layer are as the stream has them, those of the other are not.
    {"horizons",
     {"perturb.groups=[{sites: [{value: output, draws: 16}, {value: layer1.forget, draws: 5, horizon: 2}, {value: "
      "layer0.candidate, draws: 40, orthogonal: false, horizon: 1}, {value: embedded, draws: 8, horizon: 4}], share: "
      "0.75}, {params: [\"*gain\", \"*.down.w\", \"*.up.w\", \"layer1.candidate*\", \"layer0.forget*\"], share: 0.25}]",
      "model.width=48", "model.layers=2"}},
};

class SitesTest : public GpuTest, public testing::WithParamInterface<SitesCase> {};
INSTANTIATE_TEST_SUITE_P(All, SitesTest, testing::ValuesIn(kSitesCases),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_P(SitesTest, OnSeveralReplicasIsTheReferences) {
  std::vector<std::string> overrides = {"model=gru",     "model.layers=1",       "model.context_tables=[]",
                                        kSitesTables,    "train.population=800", "train.members_per_stream=8",
                                        "train.tokens=5"};
  overrides.insert(overrides.end(), GetParam().overrides.begin(), GetParam().overrides.end());
  const Learner learner = learner_of(overrides);
  const std::vector<uint32_t> windows(4, learner.train.tokens);
  expect_equal(learner, windows, 3);
}

}  // namespace
}  // namespace eggroll::cuda
