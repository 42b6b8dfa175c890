// A replica's forward passes: the states and losses of its members, and the results of the streams of sites.
#ifndef EGGROLL_CUDA_REPLICA_FORWARD_H
#define EGGROLL_CUDA_REPLICA_FORWARD_H

#include <deque>
#include <functional>
#include <vector>

#include "replica_passes.h"
#include "sites.h"

namespace eggroll::cuda {

// A function that ends in _async returns before its work is done. The finish_ function of that name waits.
class ReplicaForward : public ReplicaPart {
 public:
  ReplicaForward(ReplicaDevice& device, const ReplicaPasses& passes, ReplicaNoise& noise, ReplicaBatch& batch)
      : ReplicaPart(device), passes_(passes), noise_(noise), batch_(batch) {
    states_.zero(stream_);
    perturbed_.zero(stream_);
  }
  // Set and get the states of this replica's members in the range. `states` begins with the first member of the range.
  void set_states(uint32_t first, uint32_t count, const int8_t* states);
  void get_states(uint32_t first, uint32_t count, int8_t* states);
  // Evaluates the call's members that are this replica's.
  void evaluate_async(const egg_evaluate& e);
  void finish_evaluate(const egg_evaluate& e);
  // Adds the sums of this replica's streams of sites.
  void add_site_sums(const egg_evaluate& e) const;
  void infer(const egg_infer& i);

  // The errors of a site's draws, from this place on.
  int16_t* errors(const SiteShape& site, size_t place = 0) const {
    return errors_.get() + plan_.sites.errors_before(site.number) + place * SitePlan::error_stride(site);
  }
  uint8_t* perturbed(const SiteShape& site, size_t place = 0) const {
    return perturbed_.get() + plan_.sites.places_before(site.number) + place;
  }
  // The rows of a value, as the streams of sites keep them.
  int8_t* kept(int32_t value) const { return kept_.get() + plan_.sites.kept_offset(value); }

 private:
  // Own members that are evaluated in one way. first_block: of the workspace; above 0 if they run at the same time as
  // the streams of sites.
  struct Part {
    Range members;
    bool is_of_sites;
    uint32_t first_block = 0;
  };

  template <class Body>
  void each_piece(size_t count, const Body& body);
  template <class Copy>
  void each_state(size_t members, const Copy& copy);
  void upload_states(int8_t* to, const int8_t* from, size_t count);
  void download_states(int8_t* to, const int8_t* from, size_t count);
  int8_t* states_of(uint32_t member) const {
    return states_.get() + (member - own_.first_member()) * plan_.state_stride;
  }
  bool needs_whole_workspace() const;
  std::vector<Part> parts_of(Range own) const;
  void evaluate_members(const egg_evaluate& e, Range own, const Part& part, uint32_t first_stream,
                        const std::function<void()>& bring_batch);
  void download_losses(Range rows, cudaStream_t stream);
  void evaluate_sites(const egg_evaluate& e, Range part, uint32_t first_sent);
  void draw_at_loss(const egg_evaluate& e, const SiteShape& site, uint32_t stream, uint32_t streams, uint32_t in_batch);
  void draw_within(const egg_evaluate& e, size_t behind, uint32_t stream, uint32_t streams, uint32_t in_batch);
  MoveArgs move_args(const egg_evaluate& e, const SiteShape& site, uint32_t stream, uint32_t place) const;
  void make_errors(const ForwardArgs& args, const SiteShape& site, size_t first_place);
  void draw_later(const ForwardArgs& at_token, uint32_t horizon, size_t behind);
  void finish_sites(const egg_evaluate& e, const std::vector<Part>& parts) const;

  const ReplicaPasses& passes_;
  ReplicaNoise& noise_;
  ReplicaBatch& batch_;
  DeviceArray<int8_t> states_ = take(Area::kStates);
  DeviceArray<int64_t> losses_ = take(Area::kLosses);
  HostArray<int64_t> host_losses_;
  std::vector<Range> downloads_;  // of losses in this call, from the first own one on
  std::deque<Event> download_events_;
  Event evaluated_;
  DeviceArray<int8_t> infer_states_;
  DeviceArray<int8_t> logits_;
  // What sites need; SitePlan explains it.
  DeviceArray<int8_t> kept_ = take(Area::kKept);
  DeviceArray<int16_t> errors_ = take(Area::kSiteErrors);
  DeviceArray<uint8_t> perturbed_ = take(Area::kSitePerturbed);
  DeviceArray<int64_t> site_losses_ = take(Area::kSiteLosses);  // of the plan's streams
  HostArray<int64_t> host_site_losses_{plan_.sites.streams};
  DeviceArray<egg_site_sums> sums_ = take(Area::kSiteSums);
  HostArray<egg_site_sums> host_sums_{plan_.sites.sites.size()};
  DeviceArray<int64_t> behind_losses_ = take(Area::kBehindLosses);
  // For draws with a horizon; see Area.
  DeviceArray<int8_t> behind_states_ = take(Area::kBehindStates);
  DeviceArray<int64_t> later_losses_ = take(Area::kLaterLosses);
  DeviceArray<uint32_t> later_inputs_ = take(Area::kLaterInputs);
  DeviceArray<uint32_t> later_targets_ = take(Area::kLaterTargets);
  DeviceArray<uint8_t> later_resets_ = take(Area::kLaterResets);
  DeviceArray<uint32_t> later_rows_ = take(Area::kLaterRows);
  DeviceArray<int8_t> later_cache_ = take(Area::kLaterCache);
};

}  // namespace eggroll::cuda

#endif
