#include "train/site_parts.h"

#include <algorithm>

#include "eggroll/site_errors.h"

namespace eggroll {

SiteParts::SiteParts(const Learner& learner, const std::vector<MemberShare>& shares, uint32_t own)
    : own_(own), places_(shares.size()), sizes_(shares.size()) {
  for (size_t process = 0; process < shares.size(); ++process) {
    uint64_t& size = sizes_[process];
    const auto room = [&](uint64_t bytes) {
      const uint64_t at = size;
      size = (size + bytes + 7) / 8 * 8;  // the largest numbers have 8 bytes
      return at;
    };
    for (uint32_t i = 0; i < learner.sites.size(); ++i) {
      const SiteShape shape(learner.session_spec(shares[process]), i);
      if (shape.own_streams == 0) continue;
      const uint64_t tokens = shape.has_tables ? uint64_t{shape.own_streams} * shape.tokens : 0;
      Place place{i, shape.own_first, shape.own_streams, shape.has_tables, shape.votes() > 0, 0, 0, 0};
      place.votes_at = room(shape.votes() * sizeof(int64_t));
      place.errors_at = room(tokens * shape.size * sizeof(int16_t));
      place.perturbed_at = room(tokens);
      places_[process].push_back(place);
    }
  }
}

egg_site_part SiteParts::Place::at(uint8_t* bytes) const {
  return {sizeof(egg_site_part),
          site,
          first_stream,
          streams,
          has_errors ? reinterpret_cast<int16_t*>(bytes + errors_at) : nullptr,
          has_errors ? bytes + perturbed_at : nullptr,
          has_votes ? reinterpret_cast<int64_t*>(bytes + votes_at) : nullptr};
}

uint64_t SiteParts::bytes_per_step() const { return *std::max_element(sizes_.begin(), sizes_.end()); }

void SiteParts::take(BackendSession& session) {
  mine_.resize(sizes_[own_]);
  for (const Place& place : places_[own_]) session.get_site_part(place.at(mine_.data()));
}

void SiteParts::gather(Processes& processes) { processes.gather(mine_, sizes_, all_); }

void SiteParts::give(BackendSession& session) {
  uint8_t* from = all_.data();
  for (uint32_t process = 0; process < places_.size(); from += sizes_[process++]) {
    if (process == own_) continue;
    for (const Place& place : places_[process]) session.add_site_part(place.at(from));
  }
}

}  // namespace eggroll
