// One session, or several of the same program that share its members and its updates, as the processes of a run do.
#ifndef EGGROLL_CONFORMANCE_SESSION_PARTS_H
#define EGGROLL_CONFORMANCE_SESSION_PARTS_H

#include <cstdint>
#include <vector>

#include "plugin/instance.h"
#include "program/program.h"

namespace eggroll {

// Its user sees one session of the whole population; see BackendSession.
class SessionParts {
 public:
  // spec: of the whole; parts: from 1 to the number of pairs, or of streams if there are sites. Members
  // are shared out in order, and parameter i is updated in part i % parts.
  SessionParts(const BackendInstance& backend, const egg_session_spec& spec, const Program& program, uint32_t parts);

  void set_weights(uint32_t param, const int8_t* weights);
  void get_weights(uint32_t param, int8_t* weights);
  void set_slot(uint32_t param, uint32_t slot, const void* data);
  void get_slot(uint32_t param, uint32_t slot, void* data);
  void set_states(uint32_t first, uint32_t count, const int8_t* states);
  void get_states(uint32_t first, uint32_t count, int8_t* states);
  void evaluate(const egg_evaluate& call);
  // Throws Error if a part changes a parameter that was not chosen.
  void update(const egg_update& call);
  void infer(const egg_infer& call);

 private:
  BackendSession& owner(uint32_t param) { return sessions_[param % sessions_.size()]; }
  void exchange_sites();
  std::vector<int8_t> weights_of(BackendSession& session, uint32_t param) const;

  const Program& program_;
  std::vector<egg_session_spec> specs_;  // by part
  std::vector<BackendSession> sessions_;
};

}  // namespace eggroll

#endif
