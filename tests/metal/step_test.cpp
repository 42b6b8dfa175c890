// The calls that a step makes to the device, recorded by a device that computes nothing.
#include <gmock/gmock.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <map>
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

template <class Arguments>
Arguments arguments_of(const Dispatch& d) {
  Arguments arguments;
  EXPECT_EQ(d.arguments.size(), sizeof(arguments));
  std::memcpy(&arguments, d.arguments.data(), sizeof(arguments));
  return arguments;
}

struct Recorded {
  std::vector<Dispatch> dispatches;  // each is a command buffer that ends before the next begins
  std::vector<double> seconds;       // that each dispatch took
  std::vector<size_t> new_buffers;   // in bytes
  // The time of a token of one tile, and of a threadgroup of votes. Each launch adds 0.1 ms.
  double tile_token = 0;
  double group = 0;
};

class FakeDevice : public Device {
 public:
  FakeDevice(Recorded& recorded, uint64_t memory) : recorded_(recorded), memory_(memory) {}
  std::string name() const override { return "a fake"; }
  std::string matrix_units() const override { return "none"; }
  uint64_t free_memory() const override { return memory_; }
  uint64_t largest_buffer() const override { return memory_ / 2; }
  std::unique_ptr<Buffer> new_buffer(size_t bytes) override {
    recorded_.new_buffers.push_back(bytes);
    return std::make_unique<FakeBuffer>(bytes);
  }
  double run(const Dispatch& d, int32_t) override {
    recorded_.dispatches.push_back(d);
    recorded_.seconds.push_back(seconds_of(d));
    return recorded_.seconds.back();
  }

 private:
  double seconds_of(const Dispatch& d) const {
    constexpr double kLaunch = 1e-4;
    if (d.kernel == Kernel::kVotes) return kLaunch + d.groups * recorded_.group;
    if (d.kernel != Kernel::kForward) return kLaunch;
    const auto args = arguments_of<ForwardArgs>(d);
    return kLaunch + d.groups * (args.end_token - args.first_token) * recorded_.tile_token;
  }

  Recorded& recorded_;
  uint64_t memory_;
};

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
    session_.evaluate({sizeof(egg_evaluate), spec_.population, number, 0, spec_.population, stream_->batch(),
                       losses_.data(), nullptr});
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

// Once the session knows that its work is short, a step is four command buffers.
TEST_F(StepTest, IsFourDispatches) {
  step(0);
  recorded_.dispatches.clear();
  step(1);
  const std::vector<Dispatch>& second = recorded_.dispatches;
  ASSERT_EQ(second.size(), 4U);
  const Dispatch& evaluation = second[0];
  EXPECT_EQ(evaluation.kernel, Kernel::kForward);
  EXPECT_EQ(evaluation.groups, 32768 / kTileRows);
  EXPECT_EQ(evaluation.threadgroup_memory, kStaging + 4 * kTileRows);
  const auto forward = arguments_of<ForwardArgs>(evaluation);
  EXPECT_EQ(forward.first_token, 0U);
  EXPECT_EQ(forward.end_token, kTokens);
  EXPECT_EQ(forward.tokens, kTokens);
  EXPECT_EQ(forward.rows, 32768U);
  EXPECT_EQ(forward.perturbed, 1U);

  const auto votes = arguments_of<VoteArgs>(second[1]);
  const auto rule = arguments_of<RuleArgs>(second[2]);
  EXPECT_EQ(second[1].kernel, Kernel::kVotes);
  EXPECT_EQ(second[1].groups, votes.pieces * rule.shares);
  EXPECT_EQ(votes.shares, rule.shares);
  EXPECT_EQ(second[2].kernel, Kernel::kRule);
  EXPECT_EQ(second[2].groups, kRuleGroups);
  EXPECT_EQ(rule.first_piece, 0U);
  // One stream: every pair votes on each row that it reads.
  const auto masked = arguments_of<MaskedArgs>(second[3]);
  EXPECT_EQ(second[3].kernel, Kernel::kMasked);
  EXPECT_EQ(second[3].groups, kRuleGroups);
  EXPECT_EQ(masked.first_row, 0U);
  EXPECT_EQ(masked.end_row, std::set<uint32_t>(stream_->inputs.begin(), stream_->inputs.end()).size());
  EXPECT_EQ(static_cast<const VotedRow*>(bound_buffer(second[3], kBindVotedRows).contents())->pairs,
            spec_.population / 2);
  for (const Dispatch& d : second) {
    EXPECT_LE(d.threadgroup_memory, kThreadgroupMemory);
    EXPECT_EQ(d.threadgroup_memory % 16, 0U);
    EXPECT_LE(d.arguments.size(), 4096U);  // the most that a command buffer takes by value
  }
}

// The forward dispatches of a call go through every token of every tile once, in order. Each slice of tokens reads the
// states that the slice before it wrote.
void expect_all_slices(const std::vector<Dispatch>& dispatches, uint32_t tiles, uint32_t tokens) {
  uint32_t token = 0;
  uint32_t tile = 0;
  const Buffer* written = nullptr;
  for (const Dispatch& d : dispatches) {
    const auto args = arguments_of<ForwardArgs>(d);
    ASSERT_EQ(args.first_token, token);
    ASSERT_EQ(args.first_tile, tile);
    ASSERT_GT(args.end_token, token);
    ASSERT_NE(&bound_buffer(d, kBindStates), &bound_buffer(d, kBindStatesBefore));
    if (written != nullptr) {
      ASSERT_EQ(&bound_buffer(d, kBindStatesBefore), written);
    }
    tile += d.groups;
    if (tile < tiles) continue;
    ASSERT_EQ(tile, tiles);
    written = &bound_buffer(d, kBindStates);
    token = args.end_token;
    tile = 0;
  }
  EXPECT_EQ(token, tokens);
  EXPECT_EQ(tile, 0U);
}

// An M2 takes about 0.35 s per token, an M2 Max 0.08 s, and a chip that is ten times as fast 8 ms.
TEST_F(StepTest, NoCommandBufferTakesLongerThanAllowed) {
  const uint32_t tiles = 32768 / kTileRows;
  for (const double token : {0.35, 0.08, 0.008, 0.0001}) {
    recorded_.tile_token = token / tiles;
    recorded_.group = token / 100;
    for (uint64_t number = 0; number < 3; ++number) {
      recorded_.dispatches.clear();
      recorded_.seconds.clear();
      step(number);
      std::vector<Dispatch> forward;
      double sum = 0;
      for (size_t i = 0; i < recorded_.dispatches.size(); ++i) {
        // The session was at the pace of another chip.
        if (number > 0) {
          EXPECT_LE(recorded_.seconds[i], kMostSeconds) << token;
        }
        if (recorded_.dispatches[i].kernel != Kernel::kForward) continue;
        forward.push_back(recorded_.dispatches[i]);
        sum += recorded_.seconds[i];
      }
      expect_all_slices(forward, tiles, kTokens);
      EXPECT_LE(sum, 1.1 * token * kTokens + 0.02) << token;  // cutting adds only launches
    }
  }
}

// All weights are in one buffer, and every kernel reads or writes them there.
TEST_F(StepTest, WeightsStayWhereTheyAre) {
  const std::vector<int8_t> embedding(weight_count(learner_.program->params()[0]), 99);
  session_.set_weights(0, embedding.data());
  step(0);
  const auto first_of = [&](Kernel kernel) {
    return *std::find_if(recorded_.dispatches.begin(), recorded_.dispatches.end(),
                         [&](const Dispatch& d) { return d.kernel == kernel; });
  };
  const Dispatch forward = first_of(Kernel::kForward);
  const Dispatch votes = first_of(Kernel::kVotes);
  const Dispatch rule = first_of(Kernel::kRule);
  const Buffer* weights = &bound_buffer(forward, kBindWeights);
  EXPECT_EQ(&bound_buffer(rule, kBindWeights), weights);
  EXPECT_EQ(*static_cast<const int8_t*>(weights->contents()), 99);
  recorded_.new_buffers.clear();
  // The host must not even read weights, slots or the threadgroups' memory during a step.
  std::set<const Buffer*> locked;
  for (const Buffer* buffer : {weights, &bound_buffer(forward, kBindHalves), &bound_buffer(rule, kBindSlots),
                               &bound_buffer(forward, kBindWorkspace), &bound_buffer(votes, kBindVotes)}) {
    ASSERT_EQ(mprotect(buffer->contents(), buffer->bytes(), PROT_NONE), 0);
    locked.insert(buffer);
  }
  EXPECT_EQ(locked.size(), 5U);
  step(1);
  EXPECT_EQ(recorded_.new_buffers.size(), 0U);  // a step's tokens use the buffers of the step before
}

// The memory that an allocation takes: whole pages.
uint64_t pages(uint64_t bytes) { return (bytes + 16383) / 16384 * 16384; }

TEST_F(StepTest, TakesTheMemoryThatWasPlanned) {
  const Plan plan(spec_);
  const MemoryPlan memory(plan, spec_, 64 * kGiB, 32 * kGiB);
  uint64_t taken = 0;
  for (const size_t bytes : opened_) taken += bytes > 16 ? pages(bytes) : 0;
  taken += pages(RowVoters::bytes(spec_.population / 2));  // the host's own, because it shares its memory with the GPU
  EXPECT_EQ(memory.total, taken + (memory.total - taken) % 65536);  // except for buffers that are empty
  EXPECT_LT(memory.total - taken, 65536U);
  EXPECT_EQ(memory.tiles, 32768 / kTileRows);
}

// Members of the small program by the thousand, so that no buffer of sites is lost among pages that begin others.
class SitesOfAStep : public testing::Test {
 protected:
  static constexpr uint32_t kTimes = 256;

  SitesOfAStep() {
    spec_.population *= kTimes;
    spec_.members *= kTimes;
    for (egg_site& site : sites_) {
      site.first_pair *= kTimes;
      site.pairs *= kTimes;
    }
    spec_.sites = sites_.data();
  }

  SmallProgram small_;
  egg_session_spec spec_ = small_.spec();
  std::vector<egg_site> sites_{spec_.sites, spec_.sites + spec_.site_count};
  Recorded recorded_;
};

TEST_F(SitesOfAStep, TakeTheMemoryThatWasPlanned) {
  const MetalSession session(std::make_shared<FakeDevice>(recorded_, 64 * kGiB), spec_);
  const Plan plan(spec_);
  const MemoryPlan memory(plan, spec_, 64 * kGiB, 32 * kGiB);
  uint64_t taken = 0;
  for (const size_t bytes : recorded_.new_buffers) taken += pages(bytes);
  constexpr uint64_t kPlaces = uint64_t{SmallProgram::kOfSite} * kTimes * SmallProgram::kTokens;
  taken += pages(RowVoters::bytes(spec_.population / 2)) + pages(kPlaces) + 2 * pages(kPlaces * sizeof(SiteRead));
  EXPECT_EQ(memory.sites.places, kPlaces);
  EXPECT_EQ(taken - memory.total, 2 * 16384U);  // empty: logits of a call, and what is behind the output
}

// Members that keep states, in as many calls as their records have room for: of 2,560 places 537 a call.
TEST_F(SitesOfAStep, DrawTheirPlacesInPieces) {
  sites_[1].draws = 300;
  MetalSession session(std::make_shared<FakeDevice>(recorded_, 64 * kGiB), spec_);
  constexpr uint32_t kStreams = SmallProgram::kStreams * kTimes;
  const std::vector<uint32_t> tokens(size_t{kStreams} * SmallProgram::kTokens);
  const std::vector<uint32_t> rows(tokens.size() * spec_.program->index_count);
  const std::vector<uint8_t> resets(tokens.size());
  std::vector<int64_t> losses(spec_.members);
  std::vector<egg_site_sums> sums(sites_.size());
  const egg_batch batch{kStreams, SmallProgram::kTokens, tokens.data(), tokens.data(), resets.data(), rows.data()};
  session.evaluate({sizeof(egg_evaluate), 2, 1, 0, spec_.members, batch, losses.data(), nullptr, sums.data()});
  std::map<uint32_t, uint32_t> rows_of;  // the key is a call's first place
  for (const Dispatch& d : recorded_.dispatches) {
    if (d.kernel != Kernel::kForward) continue;
    const auto args = arguments_of<ForwardArgs>(d);
    if (args.place_ops == 0) continue;
    EXPECT_EQ(args.tokens, 3U);
    EXPECT_LE((args.first_member + args.rows) * args.state_stride, bound_buffer(d, kBindStates).bytes());
    uint32_t& most = rows_of[args.move.places.first];
    most = std::max(most, args.first_member + args.rows);
  }
  const std::map<uint32_t, uint32_t> expected = {
      {0, 537 * 600}, {537, 537 * 600}, {1074, 537 * 600}, {1611, 537 * 600}, {2148, 412 * 600}};
  EXPECT_EQ(rows_of, expected);
}

// A masked table of a million rows takes memory for its weights and slots. Its other memory grows neither with its
// votes nor with the noise of all rows.
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
  const std::vector<egg_voters> voters = {{0, 500, 1}, {0, 500, 0}};
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

TEST_F(NarrowStepTest, GoesThroughItsTilesInChunks) {
  step(0);
  uint32_t done = 0;
  std::vector<Dispatch> chunk;
  const auto end_chunk = [&] {
    const auto args = arguments_of<ForwardArgs>(chunk[0]);
    EXPECT_EQ(args.first_member, done);
    EXPECT_EQ(args.noise.first_pair, done / 2);
    const uint32_t tiles = divide_up(args.rows, kTileRows);
    EXPECT_LE(tiles * args.workspace_stride, bound_buffer(chunk[0], kBindWorkspace).bytes());
    expect_all_slices(chunk, tiles, kTokens);
    done += args.rows;
    chunk.clear();
  };
  uint32_t chunks = 1;
  for (const Dispatch& d : recorded_.dispatches) {
    if (d.kernel != Kernel::kForward) continue;
    if (!chunk.empty() && arguments_of<ForwardArgs>(d).first_row != arguments_of<ForwardArgs>(chunk[0]).first_row) {
      end_chunk();
      ++chunks;
    }
    chunk.push_back(d);
  }
  end_chunk();
  EXPECT_GT(chunks, 1U);
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

// Members have the same results in two dispatches as in one.
TEST(Tiles, OfSeveralDispatches) {
  constexpr uint32_t kPopulation = 2 * (kFewestTiles + 5) * kTilePairs;
  TableOfLogits table;
  const egg_session_spec spec = table.spec(kPopulation);
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
                      egg_batch{1, 2, tokens.data(), tokens.data(), resets.data(), nullptr}, losses.back().data(),
                      nullptr});
  }
  shim_faults() = ShimFaults{};
  EXPECT_EQ(losses[0], losses[1]);
  EXPECT_GT(std::set<int64_t>(losses[0].begin(), losses[0].end()).size(), 100U);
}

}  // namespace
}  // namespace eggroll::metal
