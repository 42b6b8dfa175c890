// Compares sites on a GPU with the reference: losses, sums of errors, weights, slots and logits. Sessions have one
// replica, three replicas that each own rows of the tables, or are shared by two processes.
#include <gtest/gtest.h>

#include "against_reference.h"
#include "eggroll/lowered_program.h"
#include "eggroll/site_errors.h"
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
    {"independent",
     {"perturb.groups=[{sites: [{value: output, draws: 40, orthogonal: false}], share: 0.97}, {params: [embedding, "
      "\"layer*\", \"norm_out*\"], share: 0.03}]",
      "model.width=1"}},
    // A token has several warps.
    {"independent_wide",
     {"perturb.groups=[{sites: [{value: output, draws: 9, orthogonal: false}], share: 0.75}, {params: [embedding, "
      "\"layer*\", \"norm_out*\"], share: 0.25}]",
      "model.width=32", "model.vocab=600"}},
    // The first replica has only members, and no stream of a site whose gates have biases.
    {"within",
     {"perturb.groups=[{params: [embedding, \"*gain\", \"layer0.down.w\"], share: 0.36}, {sites: [{value: output, "
      "draws: 16}, {value: layer0.forget, draws: 3, orthogonal: false}, {value: layer0.candidate, draws: complete}, "
      "{value: layer0.up, draws: 40}], share: 0.64}]",
      "model.width=48"}},
    // Few members and many, with the streams of sites between them.
    {"between_members",
     {"train.tokens=7", "train.population=1600", "model=int8nativeformer", "model.tied_head=false", "model.layers=2",
      "model.width=48", "model.head_width=16",
      "perturb.groups=[{params: [\"init_mlp*\"], share: 0.05}, {sites: [{value: output, draws: 16}, {value: "
      "layer0.mlp.up, draws: 5}], share: 0.25}, {params: [\"embedding*\", \"*attention*\", \"layer*norm*\", "
      "\"layer*down*\", \"layer1.mlp.up*\", \"norm_out*\"], share: 0.7}]"}},
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
      "model.width=48", "model.head_width=48",
      "perturb.groups=[{sites: [{value: output, draws: 16}, {value: layer0.attention.q.wide, draws: 24, orthogonal: "
      "false, amplitude: 900}, {value: layer1.attention.v.wide, draws: 64, amplitude: 700}, {value: layer0.mlp.sum, "
      "draws: 40, amplitude: 6}, {value: layer1.attention.sum, draws: 3, amplitude: 6}], share: 0.75}, {params: "
      "[\"embedding*\", \"init_mlp*\", \"*.b\", \"*gain\", \"*up*\", \"*.k.w\", \"layer0.attention.v.w\", "
      "\"layer1.attention.q.w\", \"layer0.attention.out.w\", \"layer1.mlp.down.w\"], share: 0.25}]"}},
    // Draws go on with keys and values of their own, in heads that are no whole units; those of the first layer are the
    // stream's where its MLP is drawn.
    {"horizons_of_attention",
     {"train.tokens=9", "train.population=320", "model=int8nativeformer", "model.tied_head=false", "model.layers=2",
      "model.width=48", "model.head_width=24",
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

Learner learner_of_sites(const SitesCase& test) {
  std::vector<std::string> overrides = {"model=gru",     "model.layers=1",       "model.context_tables=[]",
                                        kSitesTables,    "train.population=800", "train.members_per_stream=8",
                                        "train.tokens=5"};
  overrides.insert(overrides.end(), test.overrides.begin(), test.overrides.end());
  return learner_of(overrides);
}

TEST_P(SitesTest, OnSeveralReplicasIsTheReferences) {
  const Learner learner = learner_of_sites(GetParam());
  const std::vector<uint32_t> windows(4, learner.train.tokens);
  expect_equal(learner, windows, 3);
}

// Sessions as two processes have them, one of one replica and one of three.
class TwoProcesses {
 public:
  explicit TwoProcesses(const egg_session_spec& spec)
      : cut_(spec.population / kStreamMembers * 3 / 7 * kStreamMembers),
        specs_{part_of(spec, 0, cut_), part_of(spec, cut_, spec.population)},
        sessions_{open_session(specs_[0], {0}), open_session(specs_[1], {0, 0, 0})} {}

  void set_weights(uint32_t param, const int8_t* weights) {
    for (const auto& session : sessions_) session->set_weights(param, weights);
  }
  void get_weights(uint32_t param, int8_t* weights) { sessions_[1]->get_weights(param, weights); }
  void get_slot(uint32_t param, uint32_t slot, void* data) { sessions_[0]->get_slot(param, slot, data); }
  void get_states(uint32_t /*first*/, uint32_t count, int8_t* states) {
    const size_t bytes = LoweredProgram(specs_[0]).state_bytes;
    sessions_[0]->get_states(0, cut_, states);
    sessions_[1]->get_states(cut_, count - cut_, states + cut_ * bytes);
  }
  void infer(const egg_infer& call) { sessions_[0]->infer(call); }

  void evaluate(const egg_evaluate& call) {
    for (size_t i = 0; i < 2; ++i) {
      const size_t place = size_t{specs_[i].first / kStreamMembers} * call.batch.tokens;
      egg_evaluate own = call;
      own.first = specs_[i].first;
      own.count = specs_[i].members;
      own.next = nullptr;
      own.losses += own.first;
      own.batch = {own.count / kStreamMembers, call.batch.tokens,
                   call.batch.inputs + place,  call.batch.targets + place,
                   call.batch.resets + place,  call.batch.rows + place * specs_[i].program->index_count};
      sessions_[i]->evaluate(own);
    }
  }

  void update(const egg_update& call) {
    for (size_t i = 0; i < 2; ++i) {
      for (uint32_t site = 0; site < specs_[i].site_count; ++site) send(i, site);
    }
    std::vector<int64_t> changed(specs_[0].program->param_count);
    egg_update other = call;
    other.changed = changed.data();
    sessions_[0]->update(call);
    sessions_[1]->update(other);
    EXPECT_EQ(changed, std::vector<int64_t>(call.changed, call.changed + changed.size()));
  }

 private:
  static egg_session_spec part_of(egg_session_spec spec, uint32_t first, uint32_t end) {
    spec.first = first;
    spec.members = end - first;
    return spec;
  }

  void send(size_t from, uint32_t number) {
    const SiteShape site(specs_[from], number);
    if (site.own_streams == 0) return;
    std::vector<int16_t> errors(site.has_tables ? size_t{site.own_streams} * site.tokens * site.size : 0);
    std::vector<uint8_t> perturbed(errors.size() / site.size);
    std::vector<int64_t> votes(site.votes());
    const egg_site_part part{sizeof(egg_site_part),
                             number,
                             site.own_first,
                             site.own_streams,
                             errors.empty() ? nullptr : errors.data(),
                             errors.empty() ? nullptr : perturbed.data(),
                             votes.empty() ? nullptr : votes.data()};
    sessions_[from]->get_site_part(part);
    sessions_[1 - from]->add_site_part(part);
  }

  uint32_t cut_;  // the second one's first member
  egg_session_spec specs_[2];
  std::unique_ptr<Session> sessions_[2];
};

TEST_P(SitesTest, OfTwoProcessesIsTheReferences) {
  const Learner learner = learner_of_sites(GetParam());
  const egg_session_spec spec = learner.session_spec();
  const std::vector<uint32_t> windows(4, learner.train.tokens);
  BackendSession reference = learner.open_session();
  const Seen expected = run(reference, learner, spec, windows, 3);
  TwoProcesses processes(spec);
  expect_same(run(processes, learner, spec, windows, 3), expected, *spec.program);
}

}  // namespace
}  // namespace eggroll::cuda
