// A session on one device: weights, slots, states and optimizer state stay in its memory; a call is cut into command
// buffers that macOS lets run beside a display: see pace.h.
#ifndef EGGROLL_METAL_SESSION_H
#define EGGROLL_METAL_SESSION_H

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "device.h"
#include "eggroll/backend.h"
#include "eggroll/row_voters.h"
#include "memory.h"
#include "pace.h"
#include "plan.h"

namespace eggroll::metal {

// The first command buffer of a kind is small: nothing is known of its time.
constexpr uint64_t kFirstTiles = 8;
constexpr uint64_t kFirstGroups = 256;

class MetalSession : public Session {
 public:
  // block_inputs: see Plan.
  MetalSession(std::shared_ptr<Device> device, const egg_session_spec& spec, uint32_t block_inputs = kBlockInputs);
  void set_weights(uint32_t param, const int8_t* weights) override;
  void get_weights(uint32_t param, int8_t* weights) override;
  void set_slot(uint32_t param, uint32_t slot, const void* data) override;
  void get_slot(uint32_t param, uint32_t slot, void* data) override;
  void set_states(uint32_t first, uint32_t count, const int8_t* states) override;
  void get_states(uint32_t first, uint32_t count, int8_t* states) override;
  void evaluate(const egg_evaluate& arguments) override;
  void update(const egg_update& arguments) override;
  void infer(const egg_infer& arguments) override;
  void get_site_part(const egg_site_part& part) override;
  void add_site_part(const egg_site_part& part) override;

 private:
  using Memory = std::unique_ptr<Buffer>;

  // What a forward pass runs, and what it leaves.
  struct Pass {
    const Memory& ops;
    Memory& states;
    Memory& other_states;
    const Memory& kept;
    Pace& pace;
  };

  Memory allocate(size_t bytes) const;
  template <class T>
  Memory uploaded(const std::vector<T>& from) const;
  // Makes no call to the device, because host and device see the same memory.
  template <class T>
  void write(const Memory& memory, const std::vector<T>& from) const;
  void reserve(Memory& memory, size_t bytes) const;
  void upload_batch(const egg_batch& batch);
  NoiseArgs noise_args(uint64_t step, uint32_t first_pair) const;
  ForwardArgs forward_args(const egg_batch& batch) const;
  // Runs a kernel, its arguments as they lie in memory: see Device::run.
  template <class Arguments>
  double run(Kernel kernel, uint32_t groups, uint32_t threadgroup_memory, const Arguments& arguments,
             std::vector<BoundBuffer> buffers) const;
  // Runs the rows of args, as many tiles at a time as there are workspaces. pass.states: before, and in the end after.
  void run_forward(ForwardArgs args, const Pass& pass);
  void run_slice(ForwardArgs& args, uint32_t tiles, const Pass& pass, const Buffer& before, const Buffer& after);
  // Members [first, first + count) of a call: those of pairs, or those of whole streams of sites.
  void evaluate_members(const egg_evaluate& e, uint32_t first, uint32_t count);
  void evaluate_streams(const egg_evaluate& e, uint32_t first, uint32_t count);
  // A site's draws in streams [begin, end) of the step, whose first target in the call is first_target.
  void draw(const egg_evaluate& e, const SiteShape& site, uint32_t begin, uint32_t end, uint32_t first_target);
  void draw_at_loss(const egg_evaluate& e, const SiteShape& site, uint32_t begin, uint32_t places,
                    uint32_t first_target);
  void draw_within(const egg_evaluate& e, const SiteShape& site, uint32_t begin, uint32_t places,
                   uint32_t first_target);
  Places places_of(const egg_evaluate& e, const SiteShape& site, uint32_t begin, uint32_t first) const;
  void copy_losses(const Memory& states, uint32_t first, uint32_t count, int64_t* losses) const;
  template <class Run>
  void run_pieces(uint64_t count, Pace& pace, bool is_repeatable, const Run& work) const;
  RuleShape rule_shape() const;
  // What moves the parameters that have votes for all of their rows; then the rows of masked tables that were read.
  void run_votes(const egg_update& update);
  void run_site_votes(const egg_update& update);
  void make_site_votes(const egg_update& update);
  void add_votes_of_others();
  void find_site_stds(const egg_update& update);
  void run_rule(const egg_update& update);
  void run_masked_votes(const egg_update& update);
  // Rows in site_rows_, of which those from first_cut on are cut, and pieces in site_pieces_.
  struct SiteRows {
    uint32_t rows;
    uint32_t first_cut;
    uint32_t pieces;
  };
  SiteRows list_site_rows(const egg_update& update, const SiteShape& site);
  void run_site_rows(const egg_update& update, const SiteShape& site);
  void list_reads(const SiteTable& table, const SiteShape& site, const egg_batch& batch);

  std::shared_ptr<Device> device_;
  const egg_session_spec& spec_;
  Plan plan_;
  MemoryPlan memory_;
  Memory ops_ = uploaded(plan_.ops);
  Memory parts_ = uploaded(plan_.parts);
  Memory tables_ = uploaded(plan_.tables);
  Memory loss_tables_;
  Memory noise_;
  Memory vote_jobs_ = uploaded(plan_.votes.jobs);
  Memory rule_jobs_ = uploaded(plan_.rules.jobs);
  Memory masked_jobs_ = uploaded(plan_.masked);
  Memory rule_nodes_;
  Memory slot_nodes_;
  Memory weights_ = allocate(plan_.weight_bytes);
  Memory halves_ = allocate(plan_.halves * kHalfBytes);
  Memory slots_ = allocate(plan_.slot_cells * sizeof(uint32_t));
  Memory states_ = allocate(size_t{spec_.members} * plan_.state_stride);        // with their losses: see ForwardArgs
  Memory other_states_ = allocate(size_t{spec_.members} * plan_.state_stride);  // of every other slice
  Memory workspace_ = allocate(memory_.tiles * plan_.workspace);
  Memory fitness_ = allocate(spec_.population / 2);
  Memory votes_ = allocate(memory_.vote_shares * plan_.cells * sizeof(int64_t));
  Memory scalars_ = allocate(spec_.rule->scalar_count * sizeof(float));
  Memory vote_stds_ = allocate((plan_.places.size() + plan_.sites.stds) * sizeof(float));
  Memory changed_ = allocate(plan_.places.size() * sizeof(uint32_t));
  Memory rule_scratch_ = allocate(memory_.rule_scratch);
  Memory voted_rows_ = allocate(plan_.masked_rows * sizeof(VotedRow));
  Memory row_voters_;
  Memory inputs_;
  Memory targets_;
  Memory resets_;
  Memory index_rows_;
  Memory infer_states_;
  Memory other_infer_states_;
  Memory logits_ = allocate(0);
  Memory site_ops_ = uploaded(plan_.sites.ops);
  Memory site_states_ = allocate(memory_.sites.streams * plan_.state_stride);  // of streams, as states_
  Memory other_site_states_ = allocate(memory_.sites.streams * plan_.state_stride);
  Memory kept_ = allocate(memory_.sites.places * plan_.sites.kept_bytes);
  Memory errors_ = allocate(memory_.sites.errors);
  Memory site_vote_jobs_ = uploaded(plan_.sites.votes.jobs);
  Memory site_tables_;
  Memory site_reads_ = allocate(memory_.sites.reads * sizeof(uint32_t));
  Memory site_rows_ = allocate(memory_.sites.rows * sizeof(VotedRow));
  Memory site_pieces_ = allocate(memory_.sites.pieces * sizeof(VotedRow));
  Memory piece_votes_ = allocate(memory_.sites.piece_votes * sizeof(int32_t));
  std::vector<Memory> draw_ops_;                             // by site
  Memory draw_states_ = allocate(memory_.sites.draw_bytes);  // as states_; records of DrawPlan::record_bytes
  Memory other_draw_states_ = allocate(memory_.sites.draw_bytes);
  Pace evaluate_pace_{kFirstTiles};  // in tokens of tiles
  Pace infer_pace_{kFirstTiles};
  Pace votes_pace_{kFirstGroups};                                             // in threadgroups
  Pace rule_pace_{kFirstGroups};                                              // in pieces
  Pace masked_pace_{kFirstGroups};                                            // in rows
  Pace streams_pace_{kFirstTiles};                                            // as evaluate_pace_
  Pace draws_pace_{kFirstGroups};                                             // in threadgroups
  Pace within_pace_{kFirstTiles};                                             // as evaluate_pace_
  Pace site_errors_pace_{kFirstGroups};                                       // in threadgroups
  Pace site_votes_pace_{kFirstGroups};                                        // likewise
  Pace site_pieces_pace_{kFirstGroups};                                       // in pieces
  Pace site_rows_pace_{kFirstGroups};                                         // in rows
  RowVoters find_voters_;                                                     // keeps its memory from step to step
  std::vector<uint8_t> scored_ = std::vector<uint8_t>(memory_.sites.places);  // by place of streams of sites
  std::vector<std::vector<int64_t>> others_;  // by site: votes of other sessions' streams, as in egg_site_part
  std::vector<SiteRead> reads_;
  std::vector<SiteRead> sorted_reads_;
};

template <class T>
T* of(const std::unique_ptr<Buffer>& buffer) {
  return static_cast<T*>(buffer->contents());
}

template <class T>
void MetalSession::write(const Memory& memory, const std::vector<T>& from) const {
  if (!from.empty()) std::memcpy(memory->contents(), from.data(), from.size() * sizeof(T));
}

template <class Arguments>
double MetalSession::run(Kernel kernel, uint32_t groups, uint32_t threadgroup_memory, const Arguments& arguments,
                         std::vector<BoundBuffer> buffers) const {
  std::vector<std::byte> bytes(sizeof(Arguments));
  std::memcpy(bytes.data(), &arguments, sizeof(Arguments));
  return device_->run({kernel, groups, threadgroup_memory, std::move(bytes), std::move(buffers)}, spec_.threads);
}

// Cuts work of `count` pieces into command buffers: work(first, end) runs those, and returns the seconds that they
// took. is_repeatable: whether pieces may run again that have run in part.
template <class Run>
void MetalSession::run_pieces(uint64_t count, Pace& pace, bool is_repeatable, const Run& work) const {
  for (uint64_t done = 0; done < count;) {
    const uint64_t end = std::min(count, done + pace.units());
    try {
      pace.took(end - done, work(static_cast<uint32_t>(done), static_cast<uint32_t>(end)));
      done = end;
    } catch (const Refused& refused) {
      if (!is_repeatable) {
        throw Error("the system stopped the GPU while it moved the weights (" + std::string(refused.what()) +
                        "), which leaves them half moved; resume the run, which goes on from its last checkpoint",
                    EGG_ERROR_DEVICE);
      }
      pace.refused(end - done, refused);
    }
  }
}

}  // namespace eggroll::metal

#endif
