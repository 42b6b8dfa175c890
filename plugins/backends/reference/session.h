// A session: weights, slots and states in plain vectors.
#ifndef EGGROLL_REFERENCE_SESSION_H
#define EGGROLL_REFERENCE_SESSION_H

#include <vector>

#include "eggroll/backend.h"
#include "eggroll/noise_source.h"
#include "eggroll/row_voters.h"
#include "eggroll/threads.h"
#include "member.h"
#include "rule.h"
#include "sites.h"

namespace eggroll::reference {

class ReferenceSession : public Session {
 public:
  explicit ReferenceSession(const egg_session_spec& spec);
  // Bytes that a session of the spec takes with this population: weights, slots, states, the table of noise, the votes'
  // draws of the parameter that has most, and what each thread works in.
  static uint64_t memory(const egg_session_spec& spec, uint32_t population);
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
  void add_site_part(const egg_site_part& part) override { sites_[part.site].take(part); }

 private:
  int8_t* state_of(size_t member) { return states_.data() + (member - first_) * model_.state_bytes; }
  int64_t update_param(uint32_t param, const egg_update& arguments);
  int64_t update_all_rows(uint32_t param, const egg_update& arguments);
  int64_t update_masked_rows(uint32_t param, const egg_update& arguments);
  void evaluate_pairs(const egg_evaluate& arguments);
  void evaluate_sites(const egg_evaluate& arguments);
  // Updates a parameter that votes with a site's errors.
  int64_t update_by_site(uint32_t param, const egg_update& arguments);
  int64_t update_table_by_site(uint32_t param, const egg_update& arguments);
  int64_t update_sums_by_site(uint32_t param, const egg_update& arguments);
  // Adds the votes of own streams, and of a matrix the squares of the inputs.
  void add_own_votes(const SiteErrors& site, const SummedVoter& voter, int64_t* votes, int64_t* squares);
  // Moves a weight by the rule. Returns whether it changed.
  bool move(uint32_t param, size_t index, int64_t vote, float vote_std, const float* scalars,
            std::vector<uint32_t>& nodes);

  egg_session_spec spec_;
  Model model_;
  const egg_rule* rule_;
  NoiseSource noise_;
  Threads threads_;
  std::vector<std::vector<uint32_t>> slots_;  // by parameter, (weights, slots)
  uint32_t first_;                            // own member
  std::vector<int8_t> states_;                // (own members, state bytes)
  std::vector<SiteErrors> sites_;
};

}  // namespace eggroll::reference

#endif
