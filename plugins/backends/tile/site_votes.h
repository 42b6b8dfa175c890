// Votes with the errors of sites. A table's row adds up the errors of the tokens that read it, a matrix the products of
// error and input, a bias the errors. Reads are sorted by row, so that each row is touched once.
#ifndef EGGROLL_TILE_SITE_VOTES_H
#define EGGROLL_TILE_SITE_VOTES_H

#include <atomic>
#include <mutex>
#include <vector>

#include "eggroll/backend.h"
#include "eggroll/row_voters.h"
#include "eggroll/site_errors.h"
#include "eggroll/threads.h"
#include "row_votes.h"
#include "rule_blocks.h"
#include "weights.h"

namespace eggroll::tile {

template <class S>
class SiteVotes {
 public:
  SiteVotes(const egg_session_spec& spec, const Plan& plan, Weights<S>& weights, std::vector<Slots>& slots,
            const std::vector<SiteErrors>& sites)
      : spec_(spec), plan_(plan), weights_(weights), slots_(slots), sites_(sites), reads_(plan.forms.size()) {}

  // Bytes for the reads of all tables, and for the votes of the matrix that has the most.
  static uint64_t memory(const egg_session_spec& spec, const Plan& plan, uint32_t population) {
    uint64_t reads = 0;
    uint64_t votes = 0;
    for (const PlanParam& p : plan.forms) {
      if (p.voters.site == 0) continue;
      const uint64_t pairs = voting_pairs(p, population);
      if (p.by_lookup) reads += 2 * pairs / spec.members_per_stream * spec.tokens * 2 * sizeof(uint64_t);
      const uint64_t sums = Threads::number(spec.threads) * sizeof(int32_t);  // each thread's own
      if (!p.by_lookup) votes = std::max<uint64_t>(votes, uint64_t{p.rows} * p.cols * (sizeof(int64_t) + sums));
    }
    return reads + votes;
  }

  // params: the parameters that vote with sites.
  void update(const std::vector<uint32_t>& params, const egg_update& u, Threads& threads) {
    threads.split(params.size(), [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        if (plan_.forms[params[i]].by_lookup) find_reads(params[i], u);
      }
    });
    for (const uint32_t param : params) {
      const PlanParam& p = plan_.forms[param];
      u.changed[param] = p.by_lookup ? update_table(param, u, threads)
                         : p.vector  ? update_vector(param, u, threads)
                                     : update_matrix(param, u, threads);
    }
  }

  // See get_site_part() in plugin.h.
  void put_part(const egg_site_part& part, Threads& threads) const {
    const SiteErrors& site = sites_[part.site];
    site.put_errors(part);
    std::fill_n(part.votes, site.votes(), int64_t{0});
    for (const SummedVoter& voter : site.summed) {
      add_own_votes(site, voter, part.votes + voter.first_vote, part.votes + voter.first_square(), threads);
    }
  }

 private:
  static constexpr size_t kPart = 4096;         // reads, and the rest of those of their last row
  static constexpr size_t kMostReads = 65535;   // int32 holds the sum of this many errors: 2^15 * 2^16 = 2^31
  static constexpr size_t kMostProducts = 512;  // of an error and an input: 2^15 * 2^7 * 2^9 = 2^31
  static constexpr size_t kAhead = 6;           // reads whose errors are fetched ahead

  // The row above, the token's place below.
  struct Reads {
    std::vector<uint64_t> sorted;
    std::vector<uint64_t> other;
    std::vector<size_t> parts;  // where each part begins, at a row's first read; then the end
  };

  const SiteErrors& site_of(uint32_t param) const {
    return sites_[static_cast<size_t>(plan_.forms[param].voters.site - 1)];
  }
  static double moment_of(const SiteErrors& site, const egg_update& u) {
    return error_moment(u.sites[site.number], static_cast<int32_t>(site.size));
  }

  void find_reads(uint32_t param, const egg_update& u) {
    const SiteErrors& site = site_of(param);
    Reads& reads = reads_[param];
    reads.sorted.clear();
    for (const uint32_t i : site.ops) {
      const egg_op& op = plan_.program->ops[i];
      if (op.code != EGG_OP_EMBED || op.param[0] != static_cast<int32_t>(param)) continue;
      const size_t stride = op.attr == 0 ? 1 : plan_.program->index_count;
      const uint32_t* row = op.attr == 0 ? u.batch.inputs : u.batch.rows + (op.attr - 1);
      row += size_t{site.first_stream} * site.tokens * stride;
      for (size_t place = 0; place < site.perturbed.size(); ++place, row += stride) {
        if (*row == EGG_NO_ROW || site.perturbed[place] == 0) continue;
        reads.sorted.push_back(uint64_t{*row} << 32 | place);
      }
    }
    sort_by_row(reads.sorted, reads.other, plan_.forms[param].rows, row_of);
    reads.parts = {0};
    for (size_t at = kPart; at < reads.sorted.size(); at += kPart) {
      while (at < reads.sorted.size() && row_of(reads.sorted[at]) == row_of(reads.sorted[at - 1])) ++at;
      if (at < reads.sorted.size()) reads.parts.push_back(at);
    }
    reads.parts.push_back(reads.sorted.size());
  }

  static uint32_t row_of(uint64_t read) { return static_cast<uint32_t>(read >> 32); }

  int64_t update_table(uint32_t param, const egg_update& u, Threads& threads) {
    const SiteErrors& site = site_of(param);
    const Reads& reads = reads_[param];
    const double moment = moment_of(site, u);
    std::atomic<int64_t> changed = 0;
    threads.split(reads.parts.size() - 1, [&](size_t begin, size_t end) {
      RuleBlocks<S> rule(*spec_.rule, u.scalars);
      Buffer<int32_t> sums(site.size);
      Buffer<int64_t> long_sums(site.size);
      int64_t mine = 0;
      const size_t last = reads.parts[end];
      for (size_t at = reads.parts[begin]; at < last;) {
        const uint32_t row = row_of(reads.sorted[at]);
        size_t count = 0;
        bool is_long = false;
        std::fill(sums.begin(), sums.end(), 0);
        for (; at < last && row_of(reads.sorted[at]) == row; ++at, ++count) {
          if (at + kAhead < last) fetch(param, site, reads.sorted[at + kAhead]);
          if (count > 0 && count % kMostReads == 0) {
            if (!is_long) std::fill(long_sums.begin(), long_sums.end(), 0);
            is_long = true;
            move(sums, long_sums);
          }
          add(site.error(static_cast<uint32_t>(reads.sorted[at])), site.size, sums.data());
        }
        if (is_long) move(sums, long_sums);
        const float std = site_vote_std(static_cast<int64_t>(count), moment);
        mine += is_long ? rule.run_all(run_of(param, row, long_sums.data(), std), weights_.size(param))
                        : rule.run_all(run_of(param, row, sums.data(), std), weights_.size(param));
        weights_.pack_rows(param, row, row + size_t{1});
      }
      changed += mine;
    });
    return changed;
  }

  // Sizes are passed by value: what lies in memory might be what is written.
  static void add(const int16_t* __restrict error, size_t size, int32_t* __restrict sums) {
    for (size_t i = 0; i < size; ++i) sums[i] += error[i];
  }
  static void add_product(const int16_t* __restrict error, int32_t x, size_t size, int32_t* __restrict sums) {
    for (size_t i = 0; i < size; ++i) sums[i] += error[i] * x;
  }

  static void move(Buffer<int32_t>& from, Buffer<int64_t>& to) {
    for (size_t i = 0; i < to.size(); ++i) to[i] += from[i];
    std::fill(from.begin(), from.end(), 0);
  }

  // Errors and rows lie anywhere in memory.
  void fetch(uint32_t param, const SiteErrors& site, uint64_t read) {
    const int16_t* error = site.error(static_cast<uint32_t>(read));
    for (size_t i = 0; i < site.size; i += 32) __builtin_prefetch(error + i);
    run_of<int32_t>(param, row_of(read), nullptr, 0.0F).prefetch(spec_.rule->slot_count, weights_.size(param));
  }

  template <class Vote>
  RuleRun<Vote> run_of(uint32_t param, size_t row, const Vote* votes, float std) {
    const size_t cols = plan_.forms[param].cols;
    return {cols, votes, weights_.plain(param) + row * cols, slots_[param].cells.data() + row * cols, std};
  }

  int64_t update_matrix(uint32_t param, const egg_update& u, Threads& threads) {
    const SiteErrors& site = site_of(param);
    const PlanParam& p = plan_.forms[param];
    const SummedVoter& voter = site.summed_voter(param);
    Buffer<int64_t> votes(size_t{p.rows} * p.cols);
    std::vector<int64_t> squares(p.cols);
    add_own_votes(site, voter, votes.data(), squares.data(), threads);
    site.add_others(voter, votes.data(), squares.data());
    const double moment = moment_of(site, u);
    std::vector<float> stds(p.cols);
    for (size_t j = 0; j < p.cols; ++j) stds[j] = site_vote_std(squares[j], moment);
    std::atomic<int64_t> changed = 0;
    threads.split(p.rows, [&](size_t begin, size_t end) {
      RuleBlocks<S> rule(*spec_.rule, u.scalars);
      int64_t mine = 0;
      for (size_t row = begin; row < end; ++row) {
        // Columns without an input keep their weights and slots.
        for (size_t j = 0; j < p.cols;) {
          const size_t first = j;
          while (j < p.cols && (squares[j] == 0) == (squares[first] == 0)) ++j;
          if (squares[first] == 0) continue;
          RuleRun<int64_t> run = run_of<int64_t>(param, row, votes.data() + row * p.cols + first, 0.0F);
          run.count = j - first;
          run.weights += first;
          run.slots += first;
          run.vote_stds = stds.data() + first;
          mine += rule.run_all(run, weights_.size(param));
        }
      }
      changed += mine;
    });
    weights_.pack_rows(param, 0, p.rows);
    return changed;
  }

  // Adds the votes of own streams and, for a matrix, the squares of the inputs.
  void add_own_votes(const SiteErrors& site, const SummedVoter& voter, int64_t* votes, int64_t* squares,
                     Threads& threads) const {
    if (voter.is_vector) {
      for (size_t place = site.own_begin(); place < site.own_end(); ++place) {
        if (site.perturbed[place] == 0) continue;
        for (size_t j = 0; j < site.size; ++j) votes[j] += int64_t{voter.readers} * site.error(place)[j];
      }
      return;
    }
    for (const SiteErrors::Input& input : site.inputs) {
      if (plan_.program->ops[input.op].param[0] != static_cast<int32_t>(voter.param)) continue;
      for (size_t place = site.own_begin(); place < site.own_end(); ++place) {
        if (site.perturbed[place] == 0) continue;
        const int8_t* x = input.values.data() + place * voter.cols;
        for (size_t j = 0; j < voter.cols; ++j) squares[j] += int32_t{x[j]} * x[j];
      }
      std::mutex adding;
      threads.split(site.own_end() - site.own_begin(), kMostProducts, [&](size_t begin, size_t end) {
        add_products(site, input, site.own_begin() + begin, site.own_begin() + end, votes, adding);
      });
    }
  }

  // Adds the products of places [begin, end).
  void add_products(const SiteErrors& site, const SiteErrors::Input& input, size_t begin, size_t end, int64_t* votes,
                    std::mutex& adding) const {
    const size_t cols = input.size;
    const size_t rows = site.size;
    Buffer<int32_t> sums(cols * rows);  // by column
    const auto hand_over = [&] {
      const std::lock_guard<std::mutex> lock(adding);
      for (size_t j = 0; j < cols; ++j) {
        for (size_t i = 0; i < rows; ++i) votes[i * cols + j] += sums[j * rows + i];
      }
      std::fill(sums.begin(), sums.end(), 0);
    };
    size_t added = 0;
    for (size_t place = begin; place < end; ++place) {
      if (site.perturbed[place] == 0) continue;
      const int8_t* x = input.values.data() + place * cols;
      for (size_t j = 0; j < cols; ++j) {
        if (x[j] != 0) add_product(site.error(place), x[j], rows, sums.data() + j * rows);
      }
      if (++added % kMostProducts == 0) hand_over();
    }
    hand_over();
  }

  int64_t update_vector(uint32_t param, const egg_update& u, Threads& threads) {
    const SiteErrors& site = site_of(param);
    const SummedVoter& voter = site.summed_voter(param);
    const auto reads = static_cast<int64_t>(u.sites[site.number].tokens * voter.readers);
    if (reads == 0) return 0;
    Buffer<int64_t> votes(site.size);
    add_own_votes(site, voter, votes.data(), nullptr, threads);
    site.add_others(voter, votes.data(), nullptr);
    RuleBlocks<S> rule(*spec_.rule, u.scalars);
    const RuleRun<int64_t> run{site.size, votes.data(), weights_.plain(param), slots_[param].cells.data(),
                               site_vote_std(reads, moment_of(site, u))};
    const int64_t changed = rule.run_all(run, weights_.size(param));
    weights_.pack_rows(param, 0, plan_.forms[param].rows);
    return changed;
  }

  const egg_session_spec& spec_;
  const Plan& plan_;
  Weights<S>& weights_;
  std::vector<Slots>& slots_;
  const std::vector<SiteErrors>& sites_;
  std::vector<Reads> reads_;  // by parameter
};

}  // namespace eggroll::tile

#endif
