// Votes, Z = sum over voting pairs and ranks of f * A * B', and the rule applied to them. Sums are exact: int32 as far
// as that holds them, int64 beyond.
//
// Pairs of a small parameter are shared out to threads, chunk by chunk, each thread with sums of its own; of a large
// one all threads draw a chunk together and share its rows out.
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
#include "vote_chunk.h"
#include "weights.h"

namespace eggroll::tile {

template <class S>
class Votes {
 public:
  Votes(const egg_session_spec& spec, const Plan& plan, const NoiseDraw<S>& noise, Weights<S>& weights,
        std::vector<Slots>& slots)
      : spec_(spec),
        plan_(plan),
        noise_(noise),
        weights_(weights),
        slots_(slots),
        row_votes_(spec, plan, noise, weights, slots) {}

  // What the votes of a session with this population work in.
  static uint64_t memory(const egg_session_spec& spec, const Plan& plan, uint32_t population) {
    uint64_t sums = 0;
    uint64_t most_of_thread = 0;
    uint64_t most_of_large = 0;
    std::set<std::pair<uint32_t, uint32_t>> ranges;
    uint64_t sorted = 0;
    for (const PlanParam& p : plan.forms) {
      if (!p.perturbed || p.voters.masked != 0) continue;
      const uint32_t pairs = voting_pairs(p, population);
      const size_t places = SortedPairs::most_places(pairs, S::kLanes);
      if (ranges.insert({p.voters.first_pair, p.voters.pairs}).second) sorted += places * 3 * sizeof(uint32_t);
      // A matrix may be updated in either way, so that both are counted.
      const Shape shape(p);
      if (p.vector || shape.rows * shape.cols <= kMostSums) {
        sums += shape.rows * shape.cols * sizeof(int64_t);
        const uint64_t chunk = p.vector ? 0 : Chunk::bytes(p, p.rows, chunk_bundles(p));
        most_of_thread =
            std::max<uint64_t>(most_of_thread, chunk + shape.padded_rows * shape.sum_cols * sizeof(int32_t));
      }
      if (!p.vector) {
        const Large large(p, places);
        most_of_large = std::max<uint64_t>(
            most_of_large, Chunk::bytes(p, large.stripe, large.bundles) + large.carried * sizeof(int64_t));
      }
    }
    return sorted + sums + Threads::number(spec.threads) * most_of_thread + most_of_large +
           RowVotes<S>::memory(plan, population);
  }

  void update(const egg_update& u, Threads& threads) {
    std::map<std::pair<uint32_t, uint32_t>, SortedPairs> ranges;
    const auto sorted = [&](const egg_voters& voters) -> const SortedPairs& {
      return ranges.try_emplace({voters.first_pair, voters.pairs}, voters, u.fitness, S::kLanes).first->second;
    };
    std::deque<Task> tasks;
    std::vector<uint32_t> masked;
    for (uint32_t i = 0; i < plan_.forms.size(); ++i) {
      const PlanParam& p = plan_.forms[i];
      u.changed[i] = 0;
      if (!p.perturbed || !is_chosen(u, i)) continue;
      if (p.voters.masked != 0) {
        masked.push_back(i);
      } else if (by_pairs(p, p.voters.pairs, Threads::number(spec_.threads))) {
        tasks.emplace_back(i, p, sorted(p.voters));
      } else {
        u.changed[i] = update_large(i, sorted(p.voters), u, threads);
      }
    }
    update_by_pairs(tasks, u, threads);
    row_votes_.update(masked, u, threads);
  }

 private:
  using Chunk = VoteChunk<S>;
  using Shape = typename Chunk::Shape;

  static constexpr size_t kChunkBytes = 1 << 19;         // of both sides, so that they stay in the cache
  static constexpr size_t kVectorPairs = 1024;           // of a vector's chunk
  static constexpr size_t kMostSums = 1 << 18;           // that each thread has of its own
  static constexpr uint64_t kSmall = UINT64_C(1) << 23;  // products that are not worth sharing out

  static size_t chunk_bundles(const PlanParam& p) {
    return Chunk::bundles_of(kChunkBytes / (size_t{p.rows} + p.cols), p);
  }

  static bool by_pairs(const PlanParam& p, uint32_t pairs, uint32_t threads) {
    const uint64_t size = uint64_t{p.rows} * p.cols;
    if (p.vector || size > kMostSums) return p.vector;
    return size * pairs * p.ranks < kSmall || pairs / (chunk_bundles(p) * S::kLanes) >= 2 * threads;
  }

  // A parameter whose pairs are shared out.
  struct Task {
    Task(uint32_t the_param, const PlanParam& p, const SortedPairs& the_pairs)
        : param(the_param), shape(p), pairs(the_pairs), bundles(chunk_bundles(p)), votes(shape.rows * shape.cols) {
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
      chunk_.begin(p, task.pairs, first, last, 0, p.rows);
      for (size_t bundle = 0; bundle < last - first; ++bundle) {
        chunk_.draw(votes.noise_, p, task.param, step_key, task.pairs, bundle);
      }
      chunk_.end_draw(task.shape);
      for (size_t row = 0; row < p.rows; row += Chunk::kRows) {
        chunk_.multiply(task.shape, row, sums_.data() + row * task.shape.sum_cols);
      }
    }

    // Whether the sums have no room for another chunk.
    bool full() const { return draws_ + Chunk::kDraws > Chunk::kMostDraws; }

    // Hands the sums over. Returns whether they were the last of the task.
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
      workers_.with([] { return std::make_unique<Worker>(); },
                    [&](Worker& worker) {
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

  // A matrix whose rows are shared out: in stripes, each chunk of pairs drawn by all threads, its sums carried to the
  // next one.
  struct Large {
    Large(const PlanParam& p, size_t places)
        : stripe(std::min<size_t>(p.rows, kStripe)),
          bundles(Chunk::bundles_of(Chunk::kDraws, p)),
          chunks(std::max<size_t>(1, (places / S::kLanes + bundles - 1) / bundles)),
          carried(chunks > 1 ? stripe * p.cols : 0) {}
    static constexpr size_t kStripe = 6144;  // a multiple of every kVoteRows
    size_t stripe;
    size_t bundles;  // of a chunk
    size_t chunks;
    size_t carried;
  };

  int64_t update_large(uint32_t param, const SortedPairs& pairs, const egg_update& u, Threads& threads) {
    const PlanParam& p = plan_.forms[param];
    const Shape shape(p);
    const Large large(p, pairs.size());
    const uint64_t step_key = noise_.step_key(u.step);
    Chunk chunk;
    Buffer<int64_t> carried(large.carried);
    std::atomic<int64_t> changed = 0;
    for (size_t first_row = 0; first_row < p.rows; first_row += large.stripe) {
      const size_t last_row = std::min<size_t>(p.rows, first_row + large.stripe);
      std::fill(carried.begin(), carried.end(), 0);
      for (size_t c = 0; c < large.chunks; ++c) {
        const size_t first = c * large.bundles;
        const size_t last = std::min(pairs.size() / S::kLanes, first + large.bundles);
        chunk.begin(p, pairs, first, last, first_row, last_row);
        threads.split(last - first, [&](size_t begin, size_t end) {
          for (size_t bundle = begin; bundle < end; ++bundle) chunk.draw(noise_, p, param, step_key, pairs, bundle);
        });
        chunk.end_draw(shape);
        threads.split((last_row - first_row + Chunk::kRows - 1) / Chunk::kRows, [&](size_t begin, size_t stop) {
          Buffer<int32_t> sums(Chunk::kRows * shape.sum_cols);
          RuleBlocks<S> rule(*spec_.rule, u.scalars);
          int64_t mine = 0;
          for (size_t block = begin; block < stop; ++block) {
            const size_t row = first_row + block * Chunk::kRows;
            std::fill(sums.begin(), sums.end(), 0);
            chunk.multiply(shape, row, sums.data());
            const size_t rows = std::min(Chunk::kRows, last_row - row);
            for (size_t i = 0; i < rows; ++i) {
              const int32_t* votes = sums.data() + i * shape.sum_cols;
              const size_t at = (row + i) * p.cols;
              if (large.carried == 0) {
                mine += rule.run_all(run_of(param, at, votes, p.cols, u), weights_.size(param));
                continue;
              }
              int64_t* total = carried.data() + (row + i - first_row) * p.cols;
              for (size_t j = 0; j < p.cols; ++j) total[j] += votes[j];
              if (c + 1 == large.chunks)
                mine += rule.run_all(run_of(param, at, total, p.cols, u), weights_.size(param));
            }
            if (c + 1 == large.chunks) weights_.pack_rows(param, row, row + rows);
          }
          changed += mine;
        });
      }
    }
    return changed;
  }

  const egg_session_spec& spec_;
  const Plan& plan_;
  const NoiseDraw<S>& noise_;
  Weights<S>& weights_;
  std::vector<Slots>& slots_;
  Idle<Worker> workers_;
  RowVotes<S> row_votes_;
};

}  // namespace eggroll::tile

#endif
