// Votes, Z = sum over voting pairs and ranks of f * A * B', and the rule applied to them. Sums are exact: int32 as far
// as that holds them, int64 beyond.
//
// If there are many pairs, or little to do, threads share the pairs, chunk by chunk, and each thread has its own sums.
// Otherwise threads share the rows of all matrices, in stripes: a thread makes all draws for a stripe and updates it,
// so no thread waits for another. Then each stripe of a matrix draws side B again.
#ifndef EGGROLL_TILE_VOTES_H
#define EGGROLL_TILE_VOTES_H

#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <set>

#include "eggroll/backend.h"
#include "eggroll/threads.h"
#include "idle.h"
#include "row_votes.h"
#include "rule_blocks.h"
#include "site_votes.h"
#include "vote_chunk.h"
#include "weights.h"

namespace eggroll::tile {

template <class S>
class Votes {
 public:
  Votes(const egg_session_spec& spec, const Plan& plan, const NoiseDraw<S>& noise, Weights<S>& weights,
        std::vector<Slots>& slots, const std::vector<SiteErrors>& sites)
      : spec_(spec),
        plan_(plan),
        noise_(noise),
        weights_(weights),
        slots_(slots),
        row_votes_(spec, plan, noise, weights, slots),
        site_votes_(spec, plan, weights, slots, sites) {}

  // Bytes of working memory for the votes of a session with this population.
  static uint64_t memory(const egg_session_spec& spec, const Plan& plan, uint32_t population) {
    uint64_t sums = 0;
    uint64_t most_of_thread = 0;
    uint64_t most_of_stripe = 0;
    std::set<std::pair<uint32_t, uint32_t>> ranges;
    uint64_t sorted = 0;
    uint64_t all = 0;  // weights of matrices
    for (const PlanParam& p : plan.forms) {
      if (p.perturbed && p.voters.masked == 0 && p.voters.site == 0 && !p.vector) all += uint64_t{p.rows} * p.cols;
    }
    for (const PlanParam& p : plan.forms) {
      if (!p.perturbed || p.voters.masked != 0 || p.voters.site != 0) continue;
      const uint32_t pairs = voting_pairs(p, population);
      const size_t places = SortedPairs::most_places(pairs, S::kLanes);
      if (ranges.insert({p.voters.first_pair, p.voters.pairs}).second) sorted += places * 3 * sizeof(uint32_t);
      // A matrix may be updated in either way, so this counts both.
      const Shape shape(p);
      if (p.vector || shape.rows * shape.cols <= kMostSums) {
        sums += shape.rows * shape.cols * sizeof(int64_t);
        const uint64_t chunk = p.vector ? 0 : Chunk::bytes(p, p.rows, chunk_bundles(p, p.rows));
        most_of_thread =
            std::max<uint64_t>(most_of_thread, chunk + shape.padded_rows * shape.sum_cols * sizeof(int32_t));
      }
      if (!p.vector) {
        const size_t rows = stripe_rows(p, all, Threads::number(spec.threads));
        most_of_stripe = std::max<uint64_t>(
            most_of_stripe, Chunk::bytes(p, rows, chunk_bundles(p, rows)) +
                                rows * shape.sum_cols * (sizeof(int32_t) + (is_long(p, places) ? sizeof(int64_t) : 0)));
      }
    }
    return sorted + sums + Threads::number(spec.threads) * (most_of_thread + most_of_stripe) +
           RowVotes<S>::memory(plan, population) + SiteVotes<S>::memory(spec, plan, population);
  }

  void update(const egg_update& u, Threads& threads) {
    std::map<std::pair<uint32_t, uint32_t>, SortedPairs> ranges;
    const auto sorted = [&](const egg_voters& voters) -> const SortedPairs& {
      return ranges.try_emplace({voters.first_pair, voters.pairs}, voters, u.fitness, S::kLanes).first->second;
    };
    std::deque<Task> tasks;
    std::vector<uint32_t> matrices;
    std::vector<uint32_t> masked;
    std::vector<uint32_t> of_sites;
    for (uint32_t i = 0; i < plan_.forms.size(); ++i) {
      const PlanParam& p = plan_.forms[i];
      u.changed[i] = 0;
      if (!p.perturbed || !is_chosen(u, i)) continue;
      if (p.voters.site != 0) {
        of_sites.push_back(i);
      } else if (p.voters.masked != 0) {
        masked.push_back(i);
      } else if (by_pairs(p, p.voters.pairs, Threads::number(spec_.threads))) {
        tasks.emplace_back(i, p, sorted(p.voters));
      } else {
        matrices.push_back(i);
      }
    }
    update_by_pairs(tasks, u, threads);
    update_by_rows(matrices, sorted, u, threads);
    row_votes_.update(masked, u, threads);
    site_votes_.update(of_sites, u, threads);
  }

  void put_site_part(const egg_site_part& part, Threads& threads) const { site_votes_.put_part(part, threads); }

 private:
  using Chunk = VoteChunk<S>;
  using Shape = typename Chunk::Shape;

  static constexpr size_t kChunkBytes = 1 << 19;  // of both sides, so that they stay in the cache
  static constexpr size_t kFewestDraws = 128;     // of a chunk, however large it is
  static constexpr size_t kVectorPairs = 1024;    // of a vector's chunk
  static constexpr size_t kMostSums = 1 << 18;    // in each thread's own memory
  static constexpr size_t kStripes = 4;           // for each thread
  static constexpr size_t kMostStripe = 1 << 17;  // weights of a stripe
  static constexpr size_t kFewestRows = 32;       // of a stripe
  static constexpr size_t kMostRows = 1024;
  static constexpr uint64_t kSmall = UINT64_C(1) << 23;  // products that are not worth sharing out

  static size_t chunk_bundles(const PlanParam& p, size_t rows) {
    return Chunk::bundles_of(std::max(kChunkBytes / (rows + p.cols), kFewestDraws), p);
  }

  static bool by_pairs(const PlanParam& p, uint32_t pairs, uint32_t threads) {
    const uint64_t size = uint64_t{p.rows} * p.cols;
    if (p.vector || size > kMostSums) return p.vector;
    return size * pairs * p.ranks < kSmall || pairs / (chunk_bundles(p, p.rows) * S::kLanes) >= 2 * threads;
  }

  // A parameter whose pairs the threads share.
  struct Task {
    Task(uint32_t the_param, const PlanParam& p, const SortedPairs& the_pairs)
        : param(the_param),
          shape(p),
          pairs(the_pairs),
          bundles(chunk_bundles(p, p.rows)),
          votes(shape.rows * shape.cols) {
      const size_t all = p.vector ? p.voters.pairs : pairs.size() / S::kLanes;
      const size_t chunk = p.vector ? kVectorPairs : bundles;
      chunks = std::max<size_t>(1, (all + chunk - 1) / chunk);
    }
    uint32_t param;
    Shape shape;
    const SortedPairs& pairs;
    size_t bundles;  // of a chunk
    size_t chunks;
    std::mutex mutex;
    std::vector<int64_t> votes;
    size_t chunks_added = 0;
  };

  // One thread's part of the tasks.
  class Worker {
   public:
    void add(const Votes& votes, const Task& task, size_t chunk, uint64_t step_key, const egg_update& u) {
      const PlanParam& p = votes.plan_.forms[task.param];
      const size_t size = task.shape.padded_rows * task.shape.sum_cols;
      if (sums_.size() < size) sums_ = Buffer<int32_t>(size);
      draws_ += Chunk::kDraws;
      ++chunks_;
      if (p.vector) {
        const auto first = static_cast<uint32_t>(p.voters.first_pair + chunk * kVectorPairs);
        const size_t last = std::min<size_t>(p.voters.first_pair + p.voters.pairs, first + kVectorPairs);
        Chunk::add_vector(votes.noise_, task.shape, task.param, step_key, u.fitness, first, static_cast<uint32_t>(last),
                          sums_.data());
        return;
      }
      const size_t first = chunk * task.bundles;
      const size_t last = std::min(task.pairs.size() / S::kLanes, first + task.bundles);
      chunk_.draw(votes.noise_, p, task.param, step_key, task.pairs, first, last, 0, p.rows);
      for (size_t row = 0; row < p.rows; row += Chunk::kRows) {
        chunk_.multiply(task.shape, row, sums_.data() + row * task.shape.sum_cols);
      }
    }

    // Whether another chunk might make the sums leave int32.
    bool full() const { return draws_ + Chunk::kDraws > Chunk::kMostDraws; }

    // Adds the sums to the task's. Returns whether they were the task's last sums.
    bool hand_over(Task& task) {
      const std::lock_guard<std::mutex> lock(task.mutex);
      for (size_t row = 0; row < task.shape.rows; ++row) {
        const int32_t* from = sums_.data() + row * task.shape.sum_cols;
        int64_t* to = task.votes.data() + row * task.shape.cols;
        for (size_t j = 0; j < task.shape.cols; ++j) to[j] += from[j];
      }
      std::fill_n(sums_.data(), task.shape.padded_rows * task.shape.sum_cols, 0);
      task.chunks_added += chunks_;
      draws_ = 0;
      chunks_ = 0;
      return task.chunks_added == task.chunks;
    }

   private:
    Chunk chunk_;
    Buffer<int32_t> sums_;
    size_t draws_ = 0;
    size_t chunks_ = 0;
  };

  void update_by_pairs(std::deque<Task>& tasks, const egg_update& u, Threads& threads) {
    struct Job {
      Task* task;
      size_t chunk;
    };
    std::vector<Job> jobs;
    for (Task& task : tasks) {
      for (size_t c = 0; c < task.chunks; ++c) jobs.push_back({&task, c});
    }
    const uint64_t step_key = noise_.step_key(u.step);
    threads.split(jobs.size(), [&](size_t begin, size_t end) {
      workers_.with([&](Worker& worker) {
        for (size_t j = begin; j < end; ++j) {
          Task& task = *jobs[j].task;
          worker.add(*this, task, jobs[j].chunk, step_key, u);
          const bool more = j + 1 < end && jobs[j + 1].task == &task;
          if (more && !worker.full()) continue;
          if (worker.hand_over(task)) finish(task, u);
        }
      });
    });
  }

  void finish(const Task& task, const egg_update& u) {
    RuleBlocks<S> rule(*spec_.rule, u.scalars);
    u.changed[task.param] =
        rule.run_all(run_of(task.param, 0, task.votes.data(), task.votes.size(), u), weights_.size(task.param));
    weights_.pack_rows(task.param, 0, plan_.forms[task.param].rows);
  }

  template <class Vote>
  RuleRun<Vote> run_of(uint32_t param, size_t first, const Vote* votes, size_t count, const egg_update& u) {
    return {count, votes, weights_.plain(param) + first, slots_[param].cells.data() + first, u.vote_stds[param]};
  }

  // Rows of a stripe, if matrices with `all` weights together share the threads. Each thread gets a few stripes, which
  // must not be so small that drawing side B is most of the work.
  static size_t stripe_rows(const PlanParam& p, uint64_t all, uint32_t threads) {
    const size_t weights = std::min<uint64_t>(all / (uint64_t{threads} * kStripes), kMostStripe);
    const size_t most = std::clamp(weights / p.cols, kFewestRows, kMostRows);
    const size_t stripes = (p.rows + most - 1) / most;
    const size_t rows = (p.rows + stripes - 1) / stripes;
    return (rows + Chunk::kRows - 1) / Chunk::kRows * Chunk::kRows;
  }
  // Whether the votes may leave int32.
  static bool is_long(const PlanParam& p, size_t places) { return places * p.ranks > Chunk::kMostDraws; }

  // Rows of a matrix that one thread votes on and updates.
  struct Stripe {
    uint32_t param;
    size_t first;
    size_t last;
    const SortedPairs* pairs;
    std::atomic<int64_t>* changed;
  };

  template <class Sorted>
  void update_by_rows(const std::vector<uint32_t>& matrices, const Sorted& sorted, const egg_update& u,
                      Threads& threads) {
    uint64_t all = 0;
    for (const uint32_t i : matrices) all += weights_.size(i);
    std::vector<std::atomic<int64_t>> changed(matrices.size());
    std::vector<Stripe> stripes;
    for (size_t k = 0; k < matrices.size(); ++k) {
      const PlanParam& p = plan_.forms[matrices[k]];
      const size_t rows = stripe_rows(p, all, Threads::number(spec_.threads));
      for (size_t first = 0; first < p.rows; first += rows) {
        stripes.push_back({matrices[k], first, std::min<size_t>(p.rows, first + rows), &sorted(p.voters), &changed[k]});
      }
    }
    threads.split(stripes.size(), [&](size_t begin, size_t end) {
      stripe_workers_.with([&](StripeWorker& worker) {
        for (size_t s = begin; s < end; ++s) worker.update(*this, stripes[s], u);
      });
    });
    for (size_t k = 0; k < matrices.size(); ++k) u.changed[matrices[k]] = changed[k];
  }

  class StripeWorker {
   public:
    void update(Votes& votes, const Stripe& stripe, const egg_update& u) {
      const PlanParam& p = votes.plan_.forms[stripe.param];
      const Shape shape(p);
      const size_t rows = stripe.last - stripe.first;
      const size_t size = (rows + 3) / 4 * 4 * shape.sum_cols;
      if (sums_.size() < size) sums_ = Buffer<int32_t>(size);
      std::fill_n(sums_.data(), size, 0);
      const bool wide = is_long(p, stripe.pairs->size());
      if (wide && totals_.size() < size) totals_ = Buffer<int64_t>(size);
      if (wide) std::fill_n(totals_.data(), size, 0);
      const uint64_t step_key = votes.noise_.step_key(u.step);
      const size_t bundles = chunk_bundles(p, rows);
      const size_t all = stripe.pairs->size() / S::kLanes;
      size_t draws = 0;
      for (size_t first = 0; first < all; first += bundles) {
        const size_t last = std::min(all, first + bundles);
        const size_t more = (last - first) * S::kLanes * p.ranks;
        if (draws + more > Chunk::kMostDraws) {
          add_to_totals(size);
          draws = 0;
        }
        draws += more;
        chunk_.draw(votes.noise_, p, stripe.param, step_key, *stripe.pairs, first, last, stripe.first, stripe.last);
        for (size_t row = stripe.first; row < stripe.last; row += Chunk::kRows) {
          chunk_.multiply(shape, row, sums_.data() + (row - stripe.first) * shape.sum_cols);
        }
      }
      if (wide) add_to_totals(size);
      RuleBlocks<S> rule(*votes.spec_.rule, u.scalars);
      int64_t changed = 0;
      for (size_t i = 0; i < rows; ++i) {
        const size_t from = i * shape.sum_cols;
        const auto run = [&](const auto* mine) {
          changed += rule.run_all(votes.run_of(stripe.param, (stripe.first + i) * p.cols, mine, p.cols, u),
                                  votes.weights_.size(stripe.param));
        };
        wide ? run(totals_.data() + from) : run(sums_.data() + from);
      }
      votes.weights_.pack_rows(stripe.param, stripe.first, stripe.last);
      *stripe.changed += changed;
    }

   private:
    void add_to_totals(size_t size) {
      for (size_t i = 0; i < size; ++i) totals_[i] += sums_[i];
      std::fill_n(sums_.data(), size, 0);
    }

    Chunk chunk_;
    Buffer<int32_t> sums_;
    Buffer<int64_t> totals_;  // used if the votes may leave int32
  };

  const egg_session_spec& spec_;
  const Plan& plan_;
  const NoiseDraw<S>& noise_;
  Weights<S>& weights_;
  std::vector<Slots>& slots_;
  Idle<Worker> workers_;
  Idle<StripeWorker> stripe_workers_;
  RowVotes<S> row_votes_;
  SiteVotes<S> site_votes_;
};

}  // namespace eggroll::tile

#endif
