// The calls that a step makes to the device, recorded by a device that computes nothing.
#include <gmock/gmock.h>
#include <sys/mman.h>

#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "eggroll/error.h"
#include "eggroll/row_voters.h"
#include "shim_device.h"
#include "small_program.h"
#include "threadgroup.h"

namespace eggroll::metal {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kGiB = uint64_t{1} << 30;

class FakeBuffer : public Buffer {
 public:
  explicit FakeBuffer(size_t bytes) {
    void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    contents_ = mapped;
    bytes_ = bytes;
  }
  FakeBuffer(const FakeBuffer&) = delete;
  FakeBuffer& operator=(const FakeBuffer&) = delete;
  ~FakeBuffer() override { munmap(contents_, bytes_); }
};

struct Recorded {
  std::vector<std::vector<Dispatch>> command_buffers;  // each is run and waited for before the next
  std::vector<size_t> new_buffers;                     // in bytes
};

class FakeDevice : public Device {
 public:
  FakeDevice(Recorded& recorded, uint64_t memory) : recorded_(recorded), memory_(memory) {}
  std::string name() const override { return "a fake"; }
  uint64_t free_memory() const override { return memory_; }
  uint64_t largest_buffer() const override { return memory_ / 2; }
  std::unique_ptr<Buffer> new_buffer(size_t bytes) override {
    recorded_.new_buffers.push_back(bytes);
    return std::make_unique<FakeBuffer>(bytes);
  }
  void run(const std::vector<Dispatch>& dispatches, int32_t) override {
    recorded_.command_buffers.push_back(dispatches);
  }

 private:
  Recorded& recorded_;
  uint64_t memory_;
};

template <class Arguments>
Arguments arguments_of(const Dispatch& d) {
  Arguments arguments;
  EXPECT_EQ(d.arguments.size(), sizeof(arguments));
  std::memcpy(&arguments, d.arguments.data(), sizeof(arguments));
  return arguments;
}

// A session of the GRU of 6 layers x 256, and steps of it.
class StepTest : public testing::Test {
 protected:
  static constexpr uint32_t kTokens = 100;

  explicit StepTest(uint64_t memory = 64 * kGiB)
      : learner_(
            test::repository_config({"model=gru", "model.width=256", "model.layers=6", "optimizer=es_adamw",
                                     "train.population=32768", "train.members_per_stream=32768", "backend=reference"}),
            test::built_plugins()),
        spec_(learner_.session_spec()),
        session_(std::make_shared<FakeDevice>(recorded_, memory), spec_),
        fitness_(spec_.population / 2, 1),
        losses_(spec_.population) {
    test::Draws draws(1);
    stream_ = std::make_unique<test::TestStream>(draws, kTokens, static_cast<uint32_t>(spec_.program->vocab));
    opened_ = recorded_.new_buffers;
    recorded_ = {};
  }

  void step(uint64_t number) {
    session_.evaluate(
        {sizeof(egg_evaluate), spec_.population, number, 0, spec_.population, stream_->batch(), losses_.data()});
    const std::vector<float> scalars(spec_.rule->scalar_count);
    const std::vector<float> stds(spec_.program->param_count);
    std::vector<int64_t> changed(spec_.program->param_count);
    session_.update({sizeof(egg_update), spec_.population / 2, number, fitness_.data(), scalars.data(), stds.data(),
                     changed.data(), nullptr, stream_->batch(), spec_.population, 0});
  }

  Recorded recorded_;
  Learner learner_;
  egg_session_spec spec_;
  MetalSession session_;
  std::vector<int8_t> fitness_;
  std::vector<int64_t> losses_;
  std::unique_ptr<test::TestStream> stream_;
  std::vector<size_t> opened_;
};

TEST_F(StepTest, IsTwoCommandBuffersOfFourDispatches) {
  step(0);
  ASSERT_EQ(recorded_.command_buffers.size(), 2U);  // and so two waits, because fitness needs the losses
  const std::vector<Dispatch>& evaluation = recorded_.command_buffers[0];
  const std::vector<Dispatch>& update = recorded_.command_buffers[1];
  ASSERT_EQ(evaluation.size(), 1U);
  ASSERT_EQ(update.size(), 3U);
  EXPECT_LE(evaluation.size() + update.size(), 40U);

  EXPECT_EQ(evaluation[0].kernel, Kernel::kForward);
  EXPECT_EQ(evaluation[0].groups, 1024U);
  EXPECT_EQ(evaluation[0].threadgroup_memory, kStaging + 4 * kTileRows);
  const auto forward = arguments_of<ForwardArgs>(evaluation[0]);
  EXPECT_EQ(forward.tokens, kTokens);
  EXPECT_EQ(forward.rows, 32768U);
  EXPECT_EQ(forward.perturbed, 1U);

  const auto votes = arguments_of<VoteArgs>(update[0]);
  const auto rule = arguments_of<RuleArgs>(update[1]);
  EXPECT_EQ(update[0].kernel, Kernel::kVotes);
  EXPECT_EQ(update[0].groups, votes.pieces * rule.shares);
  EXPECT_EQ(votes.shares, rule.shares);
  EXPECT_EQ(update[1].kernel, Kernel::kRule);
  EXPECT_EQ(update[1].groups, kRuleGroups);
  // One stream: every pair votes on each row that it reads.
  const auto masked = arguments_of<MaskedArgs>(update[2]);
  EXPECT_EQ(update[2].kernel, Kernel::kMasked);
  EXPECT_EQ(update[2].groups, kRuleGroups);
  EXPECT_EQ(masked.rows, std::set<uint32_t>(stream_->inputs.begin(), stream_->inputs.end()).size());
  EXPECT_EQ(static_cast<const VotedRow*>(bound_buffer(update[2], kBindVotedRows).contents())->pairs,
            spec_.population / 2);
  for (const Dispatch& d : {evaluation[0], update[0], update[1], update[2]}) {
    EXPECT_LE(d.threadgroup_memory, 32U << 10);  // the limit of Apple's GPUs
    EXPECT_EQ(d.threadgroup_memory % 16, 0U);
    EXPECT_LE(d.arguments.size(), 4096U);  // the most that a command buffer takes by value
  }
}

// All weights are in one buffer, which every kernel reads or writes where it is.
TEST_F(StepTest, WeightsStayWhereTheyAre) {
  const std::vector<int8_t> embedding(weight_count(learner_.program->params()[0]), 99);
  session_.set_weights(0, embedding.data());
  step(0);
  const Dispatch& forward = recorded_.command_buffers[0][0];
  const Dispatch& votes = recorded_.command_buffers[1][0];
  const Dispatch& rule = recorded_.command_buffers[1][1];
  const Buffer* weights = &bound_buffer(forward, kBindWeights);
  EXPECT_EQ(&bound_buffer(rule, kBindWeights), weights);
  EXPECT_EQ(*static_cast<const int8_t*>(weights->contents()), 99);
  recorded_.new_buffers.clear();
  // The host must not even read weights, slots or the threadgroups' memory during a step.
  std::set<const Buffer*> locked;
  for (const Buffer* buffer : {weights, &bound_buffer(rule, kBindSlots), &bound_buffer(forward, kBindStates),
                               &bound_buffer(forward, kBindWorkspace), &bound_buffer(votes, kBindVotes)}) {
    ASSERT_EQ(mprotect(buffer->contents(), buffer->bytes(), PROT_NONE), 0);
    locked.insert(buffer);
  }
  EXPECT_EQ(locked.size(), 5U);
  step(1);
  EXPECT_EQ(recorded_.new_buffers.size(), 0U);  // a step's tokens lie where those of the step before lay
  EXPECT_EQ(recorded_.command_buffers.size(), 4U);
}

TEST_F(StepTest, TakesTheMemoryThatWasPlanned) {
  const Plan plan(spec_);
  const MemoryPlan memory(plan, spec_, 64 * kGiB, 32 * kGiB);
  uint64_t taken = 0;
  const auto pages = [](uint64_t bytes) { return (bytes + 16383) / 16384 * 16384; };
  for (const size_t bytes : opened_) taken += bytes > 16 ? pages(bytes) : 0;
  taken += pages(RowVoters::bytes(spec_.population / 2));  // the host's own, because it shares its memory with the GPU
  EXPECT_EQ(memory.total, taken + (memory.total - taken) % 65536);  // except for buffers that are empty
  EXPECT_LT(memory.total - taken, 65536U);
  EXPECT_EQ(memory.tiles, 1024U);
}

// The memory that a masked table of a million rows takes beside its weights and slots grows neither with its votes nor
// with the noise of all rows.
TEST(MaskedTable, TakesLittleARow) {
  constexpr int32_t kRows = 1 << 20;
  constexpr int32_t kWidth = 64;
  ProgramBuilder program(7, 4, EGG_ROUND_NEAREST);
  const Value read = program.embed("read", program.matrix("table", kRows, kWidth, 16), program.index(2, kRows));
  program.loss(program.linear("logits", read, program.matrix("head", 7, kWidth, 16), 6), 4096);
  RuleBuilder rule;
  const Node slot = rule.slot("slot", 'f');
  rule.set_slot(slot, rule.vote_f32());
  rule.delta(rule.constant(0));
  egg_noise noise{};
  noise.rank = 4;
  const std::vector<egg_voters> voters = {{0, 500, 1, 0}, {0, 500, 0, 0}};
  const egg_session_spec spec{
      sizeof(egg_session_spec), 1, program.view(), rule.view(), noise, 1000, 0, 1000, 0, voters.data()};
  const Plan plan(spec);
  EXPECT_LE(plan.noise_bytes, 64 * (1 + 4 + 4 + 4));  // keys, and side B; both sides of the head
  EXPECT_EQ(plan.cells, 7U * kWidth);
  const MemoryPlan memory(plan, spec, 64 * kGiB, 32 * kGiB);
  const uint64_t weights_and_slots = uint64_t{kRows} * kWidth * (1 + sizeof(float));
  const uint64_t rows = uint64_t{kRows} * sizeof(VotedRow);
  EXPECT_GE(memory.total, weights_and_slots + rows);
  EXPECT_LT(memory.total, weights_and_slots + rows + (uint64_t{16} << 20));
}

class NarrowStepTest : public StepTest {
 protected:
  NarrowStepTest() : StepTest(kCallReserve + (uint64_t{800} << 20)) {}
};

TEST_F(NarrowStepTest, HasMoreDispatchesInTheSameCommandBuffer) {
  step(0);
  ASSERT_EQ(recorded_.command_buffers.size(), 2U);
  const std::vector<Dispatch>& evaluation = recorded_.command_buffers[0];
  EXPECT_GT(evaluation.size(), 1U);
  EXPECT_LE(evaluation.size() + 3, 40U);
  uint32_t done = 0;
  for (const Dispatch& d : evaluation) {
    const auto args = arguments_of<ForwardArgs>(d);
    EXPECT_EQ(args.first_row, done);
    EXPECT_EQ(args.first_member, done);
    EXPECT_EQ(args.noise.first_pair, done / 2);
    EXPECT_EQ(d.groups, divide_up(args.rows, kTileRows));
    EXPECT_LE(d.groups * args.workspace_stride, bound_buffer(d, kBindWorkspace).bytes());
    done += args.rows;
  }
  EXPECT_EQ(done, spec_.population);
}

TEST_F(StepTest, ARefusalNamesTheLargestPopulationThatFits) {
  const Plan plan(spec_);
  const auto refusal = [&](uint32_t population, uint64_t free, uint64_t largest) -> std::string {
    try {
      egg_session_spec spec = spec_;
      spec.population = population;
      spec.members = population;
      MemoryPlan(plan, spec, free, largest);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), EGG_ERROR_MEMORY);
      return error.what();
    }
    return "";
  };
  for (const auto& [free, largest] : {std::pair{2 * kGiB, 64 * kGiB}, std::pair{64 * kGiB, kGiB}}) {
    const std::string text = refusal(1U << 30, free, largest);
    EXPECT_THAT(text, HasSubstr("a population of 1073741824 takes "));
    const std::string words = "use at most ";
    ASSERT_NE(text.find(words), std::string::npos) << text;
    const auto most = static_cast<uint32_t>(std::stoul(text.substr(text.find(words) + words.size())));
    EXPECT_GE(most, 1000U);
    EXPECT_EQ(refusal(most, free, largest), "");
    EXPECT_NE(refusal(most + 2, free, largest), "");
  }
  EXPECT_THAT(refusal(2, kCallReserve + 1000, kGiB), HasSubstr("; use a smaller model"));
}

// Members that go through in two dispatches come out as they do in one.
TEST(Tiles, OfSeveralDispatches) {
  ProgramBuilder program(7, 4, EGG_ROUND_NEAREST);
  program.loss(program.embed("logits", program.matrix("table", 7, 7, 16)), 4096);
  RuleBuilder rule;
  rule.delta(rule.constant(0));
  egg_noise noise{};
  noise.rank = 1;
  constexpr uint32_t kPopulation = 2 * (kFewestTiles + 5) * kTilePairs;
  const egg_session_spec spec{
      sizeof(egg_session_spec), 1, program.view(), rule.view(), noise, kPopulation, 0, kPopulation, 0, nullptr};
  const std::vector<uint32_t> tokens = {3, 1};
  const std::vector<uint8_t> resets(2);
  const std::vector<int8_t> weights(49, 20);
  std::vector<std::vector<int64_t>> losses;
  for (const uint64_t free_memory : {kGiB, kCallReserve + (uint64_t{2} << 20)}) {
    shim_faults().free_memory = free_memory;
    MetalSession session(open_shim_device(), spec);
    session.set_weights(0, weights.data());
    losses.emplace_back(kPopulation);
    session.evaluate({sizeof(egg_evaluate), kPopulation, 1, 0, kPopulation,
                      egg_batch{1, 2, tokens.data(), tokens.data(), resets.data(), nullptr}, losses.back().data()});
  }
  shim_faults() = ShimFaults{};
  EXPECT_EQ(losses[0], losses[1]);
  EXPECT_GT(std::set<int64_t>(losses[0].begin(), losses[0].end()).size(), 100U);
}

}  // namespace
}  // namespace eggroll::metal
