// Votes of masked tables: only on rows that a step reads, each row by the pairs that read it (row_voters.h).
//
// The draws of all voters of all rows (row_draws.h) make one list, which is cut into equal parts for the threads. Rows
// that a cut divides are finished at the end.
#ifndef EGGROLL_TILE_ROW_VOTES_H
#define EGGROLL_TILE_ROW_VOTES_H

#include <atomic>
#include <mutex>
#include <vector>

#include "eggroll/session_plan.h"
#include "row_draws.h"
#include "rule_blocks.h"
#include "weights.h"

namespace eggroll::tile {

struct Slots {
  Buffer<uint32_t> cells;  // (slots, weights)
};

// The largest number of pairs that vote in a population of this size. The plan only has it for the spec's population.
inline uint32_t voting_pairs(const PlanParam& p, uint32_t population) {
  return std::min(p.voters.pairs, population / 2);
}

template <class S>
class RowVotes {
 public:
  RowVotes(const egg_session_spec& spec, const Plan& plan, const NoiseDraw<S>& noise, Weights<S>& weights,
           std::vector<Slots>& slots)
      : spec_(spec), plan_(plan), noise_(noise), weights_(weights), slots_(slots), tables_(plan.forms.size()) {}

  // Bytes for the draws of the largest table, and for the rows and voters of every table. The count is for streams of
  // one pair and one token, because a session is not told of other streams.
  static uint64_t memory(const Plan& plan, uint32_t population) {
    uint64_t bytes = 0;
    uint64_t draws = 0;
    for (const PlanParam& p : plan.forms) {
      if (!p.perturbed || p.voters.masked == 0 || p.voters.site != 0) continue;
      const uint32_t pairs = voting_pairs(p, population);
      bytes += RowVoters::bytes(pairs) + pairs * uint64_t{sizeof(size_t)};
      draws = std::max(draws, RowDraws<S>::bytes(p, pairs));
    }
    return bytes + draws;
  }

  // params: the parameters that are masked tables.
  void update(const std::vector<uint32_t>& params, const egg_update& u, Threads& threads) {
    threads.split(params.size(), [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) tables_[params[i]].find(spec_, params[i], u);
    });
    for (const uint32_t param : params) {
      draws_.draw(noise_, plan_.forms[param], param, u, threads);
      vote(param, u, threads);
    }
  }

 private:
  static constexpr size_t kPart = 2048;  // draws

  struct Table {
    void find(const egg_session_spec& spec, uint32_t param, const egg_update& u) { voters.find(spec, param, u); }

    void count(const RowDraws<S>& draws, const PlanParam& p) {
      first_draw.clear();
      size_t before = 0;
      for (const RowVoters::Pairs& pairs : voters.voters()) {
        first_draw.push_back(before);
        before += draws.draws(p, pairs);
      }
      first_draw.push_back(before);
    }

    RowVoters voters;
    std::vector<size_t> first_draw;  // of each of the rows' voters, counted over all; and the end
  };

  void vote(uint32_t param, const egg_update& u, Threads& threads) {
    Table& table = tables_[param];
    if (table.voters.size() == 0) return;
    table.count(draws_, plan_.forms[param]);
    const size_t all = table.first_draw.back();
    const size_t parts = (all + kPart - 1) / kPart;
    const size_t cols = plan_.forms[param].cols;
    cut_.assign((parts - 1) * cols, 0);
    std::atomic<int64_t> changed = 0;
    threads.split(parts, [&](size_t begin, size_t end) {
      Part part(*this, param, u);
      for (size_t i = begin; i < end; ++i) part.run(i * kPart, std::min(all, (i + 1) * kPart));
      changed += part.changed();
    });
    Part part(*this, param, u);
    for (size_t i = 0; i + 1 < parts; ++i) part.finish_cut(i);
    u.changed[param] = changed + part.changed();
  }

  // One thread's work on a table's draws, part by part.
  class Part {
   public:
    Part(RowVotes& votes, uint32_t param, const egg_update& u)
        : votes_(votes),
          param_(param),
          p_(votes.plan_.forms[param]),
          table_(votes.tables_[param]),
          block_(votes.draws_, votes.noise_, p_),
          rule_(*votes.spec_.rule, u.scalars),
          padded_cols_((p_.cols + kPiece - 1) / kPiece * kPiece),
          line_(padded_cols_),
          carried_(p_.cols),
          staged_votes_(std::max(kRuleBlock, padded_cols_)) {}

    int64_t changed() const { return changed_; }

    // Takes draws [first, last), which belong to neighbouring rows.
    void run(size_t first, size_t last) {
      size_t entry = entry_of(first);
      size_t row = row_of(entry);
      for (size_t at = first; at < last; ++row) {
        const size_t end = std::min(last, end_of(row));
        while (at < end) {
          if (block_.size() == RowDraws<S>::kBlock) add_block();
          const size_t stop = std::min(end, at + RowDraws<S>::kBlock - block_.size());
          for (size_t next = at; next < stop; ++entry) {
            const size_t upto = std::min(stop, table_.first_draw[entry + 1]);
            const size_t before = table_.first_draw[entry];
            block_.take(table_.voters.voters()[entry], next - before, upto - before, rows()[row].row);
            next = upto;
            if (upto < table_.first_draw[entry + 1]) break;
          }
          shares_.push_back({row, block_.size(), at, stop, stop == end});
          at = stop;
        }
      }
      add_block();
      run_staged();
    }

    // Applies the votes of the row that the cut after part `part` divides, if the row begins in that part.
    void finish_cut(size_t part) {
      const size_t row = row_of(entry_of((part + 1) * kPart));
      const size_t begin = begin_of(row);
      if (begin / kPart == part) apply(row, votes_.cut_.data() + part * p_.cols);
    }

   private:
    static constexpr size_t kPiece = RowDraws<S>::kPiece;

    // One row's draws in a block. end: where they end in the block. first, last: their numbers among all draws.
    struct Share {
      size_t row;
      size_t end;
      size_t first;
      size_t last;
      bool is_last;  // of this part
    };

    const std::vector<RowVoters::Row>& rows() const { return table_.voters.rows(); }
    size_t begin_of(size_t row) const { return table_.first_draw[rows()[row].first_voters]; }
    size_t end_of(size_t row) const { return begin_of(row + 1); }
    size_t entry_of(size_t draw) const {
      const auto after = std::upper_bound(table_.first_draw.begin(), table_.first_draw.end(), draw);
      return static_cast<size_t>(after - table_.first_draw.begin()) - 1;
    }
    size_t row_of(size_t entry) const {
      const auto after = std::upper_bound(rows().begin(), rows().end(), entry,
                                          [](size_t e, const RowVoters::Row& row) { return e < row.first_voters; });
      return static_cast<size_t>(after - rows().begin()) - 1;
    }

    // Adds up the votes of the block's draws, and passes them to the rule or carries them on.
    void add_block() {
      block_.prepare();
      const size_t ahead = 2048 / p_.cols + 4;
      for (size_t i = 0; i < std::min(ahead, shares_.size()); ++i) prefetch(shares_[i].row);
      size_t begin = 0;
      for (size_t i = 0; i < shares_.size(); ++i) {
        const Share& share = shares_[i];
        if (i + ahead < shares_.size()) prefetch(shares_[i + ahead].row);
        const bool whole = share.first == begin_of(share.row) && share.last == end_of(share.row);
        if (whole && p_.cols <= kRuleBlock) {
          int32_t* to = stage(share.row);
          block_.add_up(begin, share.end, to);
        } else {
          block_.add_up(begin, share.end, line_.data());
          for (size_t j = 0; j < p_.cols; ++j) carried_[j] += line_[j];
          if (share.is_last) pass_on(share);
        }
        begin = share.end;
      }
      shares_.clear();
      block_.clear();
    }

    EGG_INLINE void prefetch(size_t row) const {
      run_of<int32_t>(row, nullptr).prefetch(votes_.spec_.rule->slot_count, votes_.weights_.size(param_));
    }

    void pass_on(const Share& share) {
      const size_t begin = begin_of(share.row);
      const size_t part = begin / kPart;
      if (end_of(share.row) <= (part + 1) * kPart) {
        apply(share.row, carried_.data());
      } else {
        const std::lock_guard<std::mutex> lock(votes_.mutex_);
        int64_t* total = votes_.cut_.data() + part * p_.cols;
        for (size_t j = 0; j < p_.cols; ++j) total[j] += carried_[j];
      }
      std::fill(carried_.begin(), carried_.end(), 0);
    }

    template <class Vote>
    RuleRun<Vote> run_of(size_t row, const Vote* votes) const {
      const size_t at = rows()[row].row * size_t{p_.cols};
      return {p_.cols, votes, votes_.weights_.plain(param_) + at, votes_.slots_[param_].cells.data() + at,
              rows()[row].vote_std};
    }
    void pack(size_t row) const { votes_.weights_.pack_rows(param_, rows()[row].row, rows()[row].row + size_t{1}); }

    template <class Vote>
    void apply(size_t row, const Vote* votes) {
      changed_ += rule_.run_all(run_of(row, votes), votes_.weights_.size(param_));
      pack(row);
    }

    // Makes a row wait until rows fill a block of the rule. Returns the place for the row's votes.
    int32_t* stage(size_t row) {
      const size_t size = padded_cols_;
      if ((staged_.size() + 1) * size > staged_votes_.size()) run_staged();
      int32_t* votes = staged_votes_.data() + staged_.size() * size;
      staged_.push_back(run_of(row, static_cast<const int32_t*>(votes)));
      staged_rows_.push_back(row);
      return votes;
    }
    void run_staged() {
      if (staged_.empty()) return;
      changed_ += rule_.run_block(staged_.data(), staged_.size(), votes_.weights_.size(param_));
      for (const size_t row : staged_rows_) pack(row);
      staged_.clear();
      staged_rows_.clear();
    }

    RowVotes& votes_;
    uint32_t param_;
    const PlanParam& p_;
    const Table& table_;
    typename RowDraws<S>::Block block_;
    RuleBlocks<S> rule_;
    size_t padded_cols_;
    Buffer<int32_t> line_;
    Buffer<int64_t> carried_;  // votes of a row whose draws go on in the next block
    Buffer<int32_t> staged_votes_;
    std::vector<RuleRun<int32_t>> staged_;
    std::vector<size_t> staged_rows_;
    std::vector<Share> shares_;  // of the block
    int64_t changed_ = 0;
  };

  const egg_session_spec& spec_;
  const Plan& plan_;
  const NoiseDraw<S>& noise_;
  Weights<S>& weights_;
  std::vector<Slots>& slots_;
  std::vector<Table> tables_;  // by parameter
  RowDraws<S> draws_;          // of the table in hand
  std::vector<int64_t> cut_;   // (parts - 1, columns): votes of the row that begins in a part and goes on
  std::mutex mutex_;           // of cut_
};

}  // namespace eggroll::tile

#endif
