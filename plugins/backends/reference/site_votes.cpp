// Votes with the errors of a site: a table's row adds up those of the tokens that read it, a matrix error times input,
// a bias the errors. What no token reads, rows and columns, keeps its weights and slots.
#include <map>

#include "session.h"

namespace eggroll::reference {
namespace {

struct RowVotes {
  std::vector<int64_t> sums;
  int64_t reads = 0;
};

// Calls body(place) for each token of these places that was perturbed.
template <class Body>
void each_token(const SiteErrors& site, size_t first, size_t end, const Body& body) {
  for (size_t place = first; place < end; ++place) {
    if (site.perturbed[place] != 0) body(place);
  }
}

}  // namespace

int64_t ReferenceSession::update_by_site(uint32_t param, const egg_update& u) {
  return model_.params[param].by_lookup ? update_table_by_site(param, u) : update_sums_by_site(param, u);
}

int64_t ReferenceSession::update_table_by_site(uint32_t param, const egg_update& u) {
  const SiteErrors& site = sites_[static_cast<size_t>(model_.params[param].voters.site - 1)];
  std::map<uint32_t, RowVotes> rows;
  for (const uint32_t i : site.ops) {
    const egg_op& op = model_.program->ops[i];
    if (op.param[0] != static_cast<int32_t>(param)) continue;
    each_token(site, 0, site.places(), [&](size_t place) {
      const size_t at = size_t{site.first_stream} * site.tokens + place;
      const uint32_t row = op.attr == 0
                               ? u.batch.inputs[at]
                               : u.batch.rows[at * model_.program->index_count + static_cast<size_t>(op.attr - 1)];
      if (row == EGG_NO_ROW) return;
      RowVotes& votes = rows[row];
      votes.sums.resize(site.size);
      ++votes.reads;
      for (uint32_t j = 0; j < site.size; ++j) votes.sums[j] += site.errors[place * site.size + j];
    });
  }
  const double moment = error_moment(u.sites[site.number], static_cast<int32_t>(site.size));
  int64_t changed = 0;
  std::vector<uint32_t> nodes(rule_->node_count);
  for (const auto& [row, votes] : rows) {
    const float std = site_vote_std(votes.reads, moment);
    for (uint32_t j = 0; j < site.size; ++j) {
      changed += move(param, size_t{row} * site.size + j, votes.sums[j], std, u.scalars, nodes) ? 1 : 0;
    }
  }
  return changed;
}

void ReferenceSession::add_own_votes(const SiteErrors& site, const SummedVoter& voter, int64_t* votes,
                                     int64_t* squares) {
  const size_t first = site.own_begin();
  const size_t end = site.own_end();
  if (voter.is_vector) {
    each_token(site, first, end, [&](size_t place) {
      for (uint32_t j = 0; j < site.size; ++j) votes[j] += int64_t{voter.readers} * site.error(place)[j];
    });
    return;
  }
  for (const SiteErrors::Input& input : site.inputs) {
    if (model_.program->ops[input.op].param[0] != static_cast<int32_t>(voter.param)) continue;
    threads_.split(voter.cols, [&](size_t begin_column, size_t end_column) {
      each_token(site, first, end, [&](size_t place) {
        for (size_t j = begin_column; j < end_column; ++j) {
          const int32_t x = input.values[place * voter.cols + j];
          squares[j] += x * x;
          for (size_t i = 0; i < site.size; ++i) votes[i * voter.cols + j] += x * site.error(place)[i];
        }
      });
    });
  }
}

void ReferenceSession::get_site_part(const egg_site_part& part) {
  const SiteErrors& site = sites_[part.site];
  site.put_errors(part);
  std::fill_n(part.votes, site.votes(), int64_t{0});
  for (const SummedVoter& voter : site.summed) {
    add_own_votes(site, voter, part.votes + voter.first_vote, part.votes + voter.first_square());
  }
}

int64_t ReferenceSession::update_sums_by_site(uint32_t param, const egg_update& u) {
  const SiteErrors& site = sites_[static_cast<size_t>(model_.params[param].voters.site - 1)];
  const SummedVoter& voter = site.summed_voter(param);
  std::vector<int64_t> votes(size_t{voter.rows} * voter.cols);
  std::vector<int64_t> squares(voter.cols);
  add_own_votes(site, voter, votes.data(), squares.data());
  site.add_others(voter, votes.data(), squares.data());
  if (voter.is_vector) squares[0] = static_cast<int64_t>(u.sites[site.number].tokens * voter.readers);
  const double moment = error_moment(u.sites[site.number], static_cast<int32_t>(site.size));
  int64_t changed = 0;
  std::vector<uint32_t> nodes(rule_->node_count);
  for (uint32_t j = 0; j < voter.cols; ++j) {
    if (squares[j] == 0) continue;
    const float std = site_vote_std(squares[j], moment);
    for (size_t i = j; i < votes.size(); i += voter.cols) {
      changed += move(param, i, votes[i], std, u.scalars, nodes) ? 1 : 0;
    }
  }
  return changed;
}

}  // namespace eggroll::reference
