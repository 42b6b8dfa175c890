#include "conformance/session_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "eggroll/error.h"
#include "eggroll/site_errors.h"
#include "train/members.h"

namespace eggroll {
namespace {

// Calls visit(session, first, count) for each session with its own members in the range.
template <class Visit>
void each_part(std::vector<BackendSession>& sessions, uint32_t first, uint32_t count, const Visit& visit) {
  for (BackendSession& session : sessions) {
    const uint32_t begin = std::max(first, session.first_member());
    const uint32_t end = std::min(first + count, session.first_member() + session.members());
    if (begin < end) visit(session, begin, end - begin);
  }
}

}  // namespace

SessionParts::SessionParts(const BackendInstance& backend, const egg_session_spec& spec, const Program& program,
                           uint32_t parts)
    : program_(program) {
  const uint64_t together = spec.site_count > 0 ? spec.members_per_stream : 2;
  const uint64_t units = spec.population / together;
  for (uint64_t i = 0; i < parts; ++i) {
    egg_session_spec& own = specs_.emplace_back(spec);
    own.first = static_cast<uint32_t>(together * (units * i / parts));
    own.members = static_cast<uint32_t>(together * (units * (i + 1) / parts)) - own.first;
    sessions_.push_back(backend.open_session(own));
  }
}

void SessionParts::set_weights(uint32_t param, const int8_t* weights) {
  for (BackendSession& session : sessions_) session.set_weights(param, weights);
}

// The weights of a part that did not update the parameter itself, which shows that the other part's update reached it.
void SessionParts::get_weights(uint32_t param, int8_t* weights) { owner(param + 1).get_weights(param, weights); }

void SessionParts::set_slot(uint32_t param, uint32_t slot, const void* data) {
  for (BackendSession& session : sessions_) session.set_slot(param, slot, data);
}

void SessionParts::get_slot(uint32_t param, uint32_t slot, void* data) { owner(param).get_slot(param, slot, data); }

void SessionParts::set_states(uint32_t first, uint32_t count, const int8_t* states) {
  each_part(sessions_, first, count, [&](BackendSession& session, uint32_t begin, uint32_t members) {
    session.set_states(begin, members, states + (begin - first) * program_.state_bytes());
  });
}

void SessionParts::get_states(uint32_t first, uint32_t count, int8_t* states) {
  each_part(sessions_, first, count, [&](BackendSession& session, uint32_t begin, uint32_t members) {
    session.get_states(begin, members, states + (begin - first) * program_.state_bytes());
  });
}

void SessionParts::evaluate(const egg_evaluate& call) {
  each_part(sessions_, call.first, call.count, [&](BackendSession& session, uint32_t begin, uint32_t members) {
    each_call(call, program_.view().index_count, begin, members,
              [&](const egg_evaluate& part) { session.evaluate(part); });
  });
}

// Gives each session what streams of sites have left in the others.
void SessionParts::exchange_sites() {
  for (size_t from = 0; from < sessions_.size(); ++from) {
    for (uint32_t i = 0; i < specs_[from].site_count; ++i) {
      const SiteShape shape(specs_[from], i);
      if (shape.own_streams == 0) continue;
      const size_t places = shape.has_tables ? size_t{shape.own_streams} * shape.tokens : 0;
      std::vector<int16_t> errors(places * shape.size);
      std::vector<uint8_t> perturbed(places);
      std::vector<int64_t> votes(shape.votes());
      const egg_site_part part{sizeof(egg_site_part),
                               i,
                               shape.own_first,
                               shape.own_streams,
                               errors.empty() ? nullptr : errors.data(),
                               errors.empty() ? nullptr : perturbed.data(),
                               votes.empty() ? nullptr : votes.data()};
      sessions_[from].get_site_part(part);
      for (size_t to = 0; to < sessions_.size(); ++to) {
        if (to != from) sessions_[to].add_site_part(part);
      }
    }
  }
}

void SessionParts::update(const egg_update& call) {
  if (sessions_.size() == 1) return sessions_[0].update(call);
  exchange_sites();
  const auto params = static_cast<uint32_t>(program_.params().size());
  for (uint32_t part = 0; part < sessions_.size(); ++part) {
    std::vector<uint8_t> chosen;
    std::vector<std::vector<int8_t>> before;
    for (uint32_t i = 0; i < params; ++i) {
      chosen.push_back(i % sessions_.size() == part ? 1 : 0);
      before.push_back(weights_of(sessions_[part], i));
    }
    std::vector<int64_t> changed(params, -1);
    egg_update own = call;
    own.chosen = chosen.data();
    own.changed = changed.data();
    sessions_[part].update(own);
    for (uint32_t i = 0; i < params; ++i) {
      if (chosen[i] != 0) {
        call.changed[i] = changed[i];
      } else if (changed[i] != 0 || weights_of(sessions_[part], i) != before[i]) {
        throw Error(fmt::format("an update moved '{}', which was not chosen", program_.params()[i].name));
      }
    }
  }
  for (uint32_t i = 0; i < params; ++i) {
    const std::vector<int8_t> weights = weights_of(owner(i), i);
    for (BackendSession& session : sessions_) {
      if (&session != &owner(i)) session.set_weights(i, weights.data());
    }
  }
}

void SessionParts::infer(const egg_infer& call) { sessions_.back().infer(call); }

std::vector<int8_t> SessionParts::weights_of(BackendSession& session, uint32_t param) const {
  std::vector<int8_t> weights(weight_count(program_.params()[param]));
  session.get_weights(param, weights.data());
  return weights;
}

}  // namespace eggroll
