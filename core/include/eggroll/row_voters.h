// Who votes on the rows of a masked table in a step: see egg_voters in plugin.h. One definition for every backend.
#ifndef EGGROLL_ROW_VOTERS_H
#define EGGROLL_ROW_VOTERS_H

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "eggroll/noise.h"
#include "eggroll/plugin.h"

namespace eggroll {

inline egg_voters voters_of(const egg_session_spec& spec, uint32_t param) {
  return spec.voters != nullptr ? spec.voters[param] : egg_voters{0, spec.population / 2, 0, 0};
}

// The parameter whose side B a parameter votes with.
inline uint32_t lead_of(const egg_voters& voters, uint32_t param) {
  return voters.joint != 0 ? static_cast<uint32_t>(voters.joint - 1) : param;
}

// Whether the pair reads the parameter perturbed.
inline bool is_perturbed(const egg_voters& voters, uint32_t param, uint32_t pair) {
  return pair >= voters.first_pair && pair - voters.first_pair < voters.pairs && lead_of(voters, param) == param;
}

// The sum of the squares of the fitness of a parameter's voters.
inline int64_t squares_of(const egg_voters& voters, const int8_t* fitness) {
  int64_t squares = 0;
  for (uint32_t k = voters.first_pair; k < voters.first_pair + voters.pairs; ++k) squares += fitness[k] * fitness[k];
  return squares;
}

// The null deviation of a row on which `count` pairs vote; squares: of all voters of the parameter. In this order of
// operations, in double precision.
inline float row_vote_std(uint64_t count, int64_t squares, const egg_noise& noise, const egg_voters& voters) {
  const double moment = noise_second_moment(noise.distribution);
  const double a = voters.joint != 0 ? EGG_JOINT_A * EGG_JOINT_A : moment;
  const double of_draw = static_cast<double>(squares) / static_cast<double>(voters.pairs) * (a * moment);
  return static_cast<float>(std::sqrt(static_cast<double>(count * static_cast<uint64_t>(noise.rank)) * of_draw));
}

// The rows of one parameter that have votes in a step. Keeps its memory from step to step.
class RowVoters {
 public:
  // Pairs [begin, end), all of one stream.
  struct Pairs {
    uint32_t begin;
    uint32_t end;
  };
  // Its voters are voters()[first_voters] up to the next row's.
  struct Row {
    uint32_t row;
    float vote_std;
    size_t first_voters;
  };

  void find(const egg_session_spec& spec, uint32_t param, const egg_update& update) {
    const auto rows = static_cast<size_t>(spec.program->params[param].rows);
    reads_.clear();
    counts_.assign(rows, 0);
    newest_.assign(rows, kNone);
    const egg_voters voters = voters_of(spec, param);
    const uint32_t in_stream = update.group / 2;
    const uint32_t last = voters.first_pair + voters.pairs;
    for (uint32_t begin = voters.first_pair, end = 0; begin < last; begin = end) {
      const uint32_t stream = begin / in_stream;
      end = std::min(last, (stream + 1) * in_stream);
      read(*spec.program, param, update.batch, stream, {begin, end});
    }
    sort(rows);
    const int64_t squares = squares_of(voters, update.fitness);
    for (size_t i = 0; i < size(); ++i) rows_[i].vote_std = row_vote_std(pairs_[i], squares, spec.noise, voters);
  }

  // In rising order. The end is marked by one row more, which is none.
  size_t size() const { return rows_.size() - 1; }
  const std::vector<Row>& rows() const { return rows_; }
  const std::vector<Pairs>& voters() const { return voters_; }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Read {
    uint32_t row;
    Pairs pairs;
  };

  // Notes each row that the stream reads, once.
  void read(const egg_program& program, uint32_t param, const egg_batch& batch, uint32_t stream, Pairs pairs) {
    for (uint32_t i = 0; i < program.op_count; ++i) {
      const egg_op& op = program.ops[i];
      if (op.code != EGG_OP_EMBED || op.param[0] != static_cast<int32_t>(param)) continue;
      const bool by_token = op.attr == 0;
      const size_t stride = by_token ? 1 : program.index_count;
      const uint32_t* row = by_token ? batch.inputs : batch.rows + (op.attr - 1);
      row += size_t{stream} * batch.tokens * stride;
      for (uint32_t t = 0; t < batch.tokens; ++t, row += stride) {
        if (*row == EGG_NO_ROW || newest_[*row] == stream) continue;
        newest_[*row] = stream;
        ++counts_[*row];
        reads_.push_back({*row, pairs});
      }
    }
  }

  // By row; within one in the order of the streams.
  void sort(size_t rows) {
    rows_.clear();
    size_t before = 0;
    for (size_t row = 0; row < rows; ++row) {
      if (counts_[row] == 0) continue;
      rows_.push_back({static_cast<uint32_t>(row), 0.0F, before});
      before += counts_[row];
      counts_[row] = static_cast<uint32_t>(rows_.size() - 1);  // from here on the row's place
    }
    rows_.push_back({kNone, 0.0F, before});
    voters_.resize(before);
    next_.resize(rows_.size());
    pairs_.assign(rows_.size(), 0);
    for (size_t i = 0; i < rows_.size(); ++i) next_[i] = rows_[i].first_voters;
    for (const Read& read : reads_) {
      const uint32_t place = counts_[read.row];
      voters_[next_[place]++] = read.pairs;
      pairs_[place] += read.pairs.end - read.pairs.begin;
    }
  }

  std::vector<Row> rows_;
  std::vector<Pairs> voters_;
  std::vector<Read> reads_;
  std::vector<uint32_t> counts_;  // by row of the table
  std::vector<uint32_t> newest_;  // the last stream that read it
  std::vector<size_t> next_;
  std::vector<uint64_t> pairs_;  // that vote on each row
};

}  // namespace eggroll

#endif
