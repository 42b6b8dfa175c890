// Votes with the errors of a site: a table's row adds up those of the tokens that read it, a matrix error times input,
// a bias the errors. What no token reads, rows and columns, keeps its weights and slots.
#include <map>

#include "session.h"

namespace eggroll::reference {
namespace {

struct Votes {
  std::vector<int64_t> sums;
  int64_t squares = 0;  // of the factors of the errors
};

// Calls body(place) for each token that was perturbed.
template <class Body>
void each_token(const SiteErrors& site, const Body& body) {
  for (size_t place = 0; place < site.perturbed.size(); ++place) {
    if (site.perturbed[place] != 0) body(place);
  }
}

}  // namespace

int64_t ReferenceSession::update_by_site(uint32_t param, const egg_update& u) {
  const LoweredParam& p = model_.params[param];
  if (p.by_lookup) return update_table_by_site(param, u);
  return p.vector ? update_bias_by_site(param, u) : update_matrix_by_site(param, u);
}

int64_t ReferenceSession::update_table_by_site(uint32_t param, const egg_update& u) {
  const SiteErrors& site = sites_[static_cast<size_t>(model_.params[param].voters.site - 1)];
  std::map<uint32_t, Votes> rows;
  for (const uint32_t i : site.ops) {
    const egg_op& op = model_.program->ops[i];
    if (op.param[0] != static_cast<int32_t>(param)) continue;
    each_token(site, [&](size_t place) {
      const size_t at = size_t{site.first_stream} * site.tokens + place;
      const uint32_t row = op.attr == 0
                               ? u.batch.inputs[at]
                               : u.batch.rows[at * model_.program->index_count + static_cast<size_t>(op.attr - 1)];
      if (row == EGG_NO_ROW) return;
      Votes& votes = rows[row];
      votes.sums.resize(site.size);
      ++votes.squares;
      for (uint32_t j = 0; j < site.size; ++j) votes.sums[j] += site.errors[place * site.size + j];
    });
  }
  const double moment = error_moment(u.sites[site.number], static_cast<int32_t>(site.size));
  int64_t changed = 0;
  std::vector<uint32_t> nodes(rule_->node_count);
  for (const auto& [row, votes] : rows) {
    const float std = site_vote_std(votes.squares, moment);
    for (uint32_t j = 0; j < site.size; ++j) {
      changed += move(param, size_t{row} * site.size + j, votes.sums[j], std, u.scalars, nodes) ? 1 : 0;
    }
  }
  return changed;
}

int64_t ReferenceSession::update_matrix_by_site(uint32_t param, const egg_update& u) {
  const SiteErrors& site = sites_[static_cast<size_t>(model_.params[param].voters.site - 1)];
  const uint32_t cols = model_.params[param].cols;
  std::vector<Votes> columns(cols, Votes{std::vector<int64_t>(site.size)});
  for (const SiteErrors::Input& input : site.inputs) {
    if (model_.program->ops[input.op].param[0] != static_cast<int32_t>(param)) continue;
    threads_.split(cols, [&](size_t begin, size_t end) {
      each_token(site, [&](size_t place) {
        for (size_t j = begin; j < end; ++j) {
          const int32_t x = input.values[place * cols + j];
          columns[j].squares += x * x;
          for (uint32_t i = 0; i < site.size; ++i) columns[j].sums[i] += x * site.errors[place * site.size + i];
        }
      });
    });
  }
  const double moment = error_moment(u.sites[site.number], static_cast<int32_t>(site.size));
  int64_t changed = 0;
  std::vector<uint32_t> nodes(rule_->node_count);
  for (uint32_t j = 0; j < cols; ++j) {
    if (columns[j].squares == 0) continue;
    const float std = site_vote_std(columns[j].squares, moment);
    for (uint32_t i = 0; i < site.size; ++i) {
      changed += move(param, size_t{i} * cols + j, columns[j].sums[i], std, u.scalars, nodes) ? 1 : 0;
    }
  }
  return changed;
}

int64_t ReferenceSession::update_bias_by_site(uint32_t param, const egg_update& u) {
  const SiteErrors& site = sites_[static_cast<size_t>(model_.params[param].voters.site - 1)];
  Votes votes{std::vector<int64_t>(site.size)};
  for (const uint32_t i : site.ops) {
    if (model_.program->ops[i].param[1] != static_cast<int32_t>(param)) continue;
    each_token(site, [&](size_t place) {
      ++votes.squares;
      for (uint32_t j = 0; j < site.size; ++j) votes.sums[j] += site.errors[place * site.size + j];
    });
  }
  if (votes.squares == 0) return 0;
  const float std = site_vote_std(votes.squares, error_moment(u.sites[site.number], static_cast<int32_t>(site.size)));
  int64_t changed = 0;
  std::vector<uint32_t> nodes(rule_->node_count);
  for (uint32_t j = 0; j < site.size; ++j) {
    changed += move(param, j, votes.sums[j], std, u.scalars, nodes) ? 1 : 0;
  }
  return changed;
}

}  // namespace eggroll::reference
