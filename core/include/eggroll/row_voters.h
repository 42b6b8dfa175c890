// Finds who votes on the rows of a masked table in a step: see egg_voters in plugin.h. The same for all backends.
#ifndef EGGROLL_ROW_VOTERS_H
#define EGGROLL_ROW_VOTERS_H

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "eggroll/noise.h"
#include "eggroll/plugin.h"

namespace eggroll {

inline egg_voters voters_of(const egg_session_spec& spec, uint32_t param) {
  return spec.voters != nullptr ? spec.voters[param] : egg_voters{0, spec.population / 2, 0};
}

// Whether the pair reads the parameter in perturbed form.
inline bool is_perturbed(const egg_voters& voters, uint32_t pair) {
  return voters.site == 0 && pair >= voters.first_pair && pair - voters.first_pair < voters.pairs;
}

// The sum of the squares of the fitness of a parameter's voters.
inline int64_t squares_of(const egg_voters& voters, const int8_t* fitness) {
  constexpr uint32_t kBlock = 65536;  // squares of a byte whose sum fits an int32: such a loop runs in wide registers
  int64_t squares = 0;
  const uint32_t last = voters.first_pair + voters.pairs;
  for (uint32_t first = voters.first_pair; first < last; first += std::min(kBlock, last - first)) {
    const int8_t* const end = fitness + first + std::min(kBlock, last - first);
    int32_t sum = 0;
    for (const int8_t* f = fitness + first; f < end; ++f) sum += *f * *f;
    squares += sum;
  }
  return squares;
}

// The null variance of one pair's vote with one rank, averaged over the voters. squares: see squares_of(). This order
// of operations in double precision is part of the definition, as it is in row_vote_std.
inline double draw_variance(int64_t squares, const egg_noise& noise, const egg_voters& voters) {
  const double moment = noise_second_moment(noise.distribution);
  return static_cast<double>(squares) / static_cast<double>(voters.pairs) * (moment * moment);
}

// The null deviation of a row on which `count` pairs vote.
inline float row_vote_std(uint64_t count, int32_t rank, double of_draw) {
  return static_cast<float>(std::sqrt(static_cast<double>(count * static_cast<uint64_t>(rank)) * of_draw));
}

// A radix sort of reads by row, of `rows` rows; reads of one row keep their order. other: working memory.
template <class Read, class RowOf>
void sort_by_row(std::vector<Read>& reads, std::vector<Read>& other, uint32_t rows, const RowOf& row_of) {
  constexpr uint32_t kBits = 11;
  other.resize(reads.size());
  for (uint32_t shift = 0; shift < 32 && (rows - 1) >> shift != 0; shift += kBits) {
    const auto digit = [&](const Read& read) { return (row_of(read) >> shift) % (1U << kBits); };
    std::array<size_t, (1U << kBits) + 1> next{};
    for (const Read& read : reads) ++next[digit(read) + 1];
    for (size_t i = 1; i < next.size(); ++i) next[i] += next[i - 1];
    for (const Read& read : reads) other[next[digit(read)]++] = read;
    reads.swap(other);
  }
}

// The rows of one parameter that have votes in a step. It keeps its memory from step to step, which grows with the rows
// that are read and not with the table.
class RowVoters {
 public:
  // Pairs [begin, end), all of one stream.
  struct Pairs {
    uint32_t begin;
    uint32_t end;
  };
  // Its voters are the elements of voters() from first_voters up to the next row's first_voters.
  struct Row {
    uint32_t row;
    float vote_std;
    size_t first_voters;
  };

  void find(const egg_session_spec& spec, uint32_t param, const egg_update& update) {
    reads_.clear();
    const egg_voters voters = voters_of(spec, param);
    const uint32_t in_stream = update.members_per_stream / 2;
    const uint32_t last = voters.first_pair + voters.pairs;
    find_indices(*spec.program, param);
    for (uint32_t begin = voters.first_pair, end = 0; begin < last; begin = end) {
      const uint32_t stream = begin / in_stream;
      end = std::min(last, (stream + 1) * in_stream);
      read(*spec.program, update.batch, stream, {begin, end});
    }
    sort_by_row(reads_, sorted_, static_cast<uint32_t>(spec.program->params[param].rows),
                [](const Read& read) { return read.row; });
    gather(voters, update.fitness, spec.noise);
  }

  // The rows in rising order. One more row follows the last and only marks the end.
  size_t size() const { return rows_.size() - 1; }
  const std::vector<Row>& rows() const { return rows_; }
  const std::vector<Pairs>& voters() const { return voters_; }

  // The bytes that the object keeps if streams read this number of rows.
  static constexpr uint64_t bytes(uint64_t reads) { return reads * (2 * sizeof(Read) + sizeof(Pairs) + sizeof(Row)); }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Read {
    uint32_t row;
    Pairs pairs;
  };

  // Finds how the parameter's embeds look up a row: see egg_op's attr.
  void find_indices(const egg_program& program, uint32_t param) {
    indices_.clear();
    for (uint32_t i = 0; i < program.op_count; ++i) {
      const egg_op& op = program.ops[i];
      if (op.code == EGG_OP_EMBED && op.param[0] == static_cast<int32_t>(param)) indices_.push_back(op.attr);
    }
  }

  // Notes the rows that the stream reads.
  void read(const egg_program& program, const egg_batch& batch, uint32_t stream, Pairs pairs) {
    for (const int32_t index : indices_) {
      const size_t stride = index == 0 ? 1 : program.index_count;
      const uint32_t* row = index == 0 ? batch.inputs : batch.rows + (index - 1);
      row += size_t{stream} * batch.tokens * stride;
      for (uint32_t t = 0; t < batch.tokens; ++t, row += stride) {
        if (*row != EGG_NO_ROW) reads_.push_back({*row, pairs});
      }
    }
  }

  // A stream that reads a row more than once votes on it once.
  void gather(const egg_voters& voters, const int8_t* fitness, const egg_noise& noise) {
    rows_.clear();
    voters_.clear();
    const double of_draw = draw_variance(squares_of(voters, fitness), noise, voters);
    uint64_t pairs = 0;  // that vote on the row
    const auto finish = [&] {
      if (!rows_.empty()) rows_.back().vote_std = row_vote_std(pairs, noise.rank, of_draw);
      pairs = 0;
    };
    for (const Read& read : reads_) {
      if (rows_.empty() || rows_.back().row != read.row) {
        finish();
        rows_.push_back({read.row, 0.0F, voters_.size()});
      } else if (voters_.back().begin == read.pairs.begin) {
        continue;
      }
      voters_.push_back(read.pairs);
      pairs += read.pairs.end - read.pairs.begin;
    }
    finish();
    rows_.push_back({kNone, 0.0F, voters_.size()});
  }

  std::vector<int32_t> indices_;
  std::vector<Row> rows_;
  std::vector<Pairs> voters_;
  std::vector<Read> reads_;
  std::vector<Read> sorted_;
};

}  // namespace eggroll

#endif
