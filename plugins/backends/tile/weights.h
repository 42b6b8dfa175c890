// The weights of a session: row-major, as calls of the contract pass them, and in the forms that the kernels read.
#ifndef EGGROLL_TILE_WEIGHTS_H
#define EGGROLL_TILE_WEIGHTS_H

#include <algorithm>
#include <vector>

#include "memory.h"
#include "plan.h"
#include "simd.h"

namespace eggroll::tile {

template <class S>
class Weights {
 public:
  // Sizes of a parameter's forms.
  struct Forms {
    explicit Forms(const PlanParam& p)
        : plain(size_t{p.rows} * p.cols),
          blocks(p.by_product ? p.padded_bytes() : 0),
          outputs(p.by_product ? size_t{p.row_quads} * 4 : 0),
          rows(p.by_lookup && p.cols != p.col_quads * 4 ? size_t{p.rows} * p.col_quads * 4 : 0),
          vectors(p.vector ? size_t{p.row_quads} * 4 : 0) {}
    uint64_t bytes() const { return plain + blocks + outputs * sizeof(typename S::Row) + rows + vectors; }
    size_t plain;
    size_t blocks;
    size_t outputs;
    size_t rows;
    size_t vectors;
  };

  explicit Weights(const Plan& plan) : plan_(plan), zeros_(size_t{plan.widest} * 4) {
    for (const PlanParam& p : plan.forms) {
      const Forms forms(p);
      plain_.emplace_back(forms.plain);
      blocks_.emplace_back(forms.blocks);
      outputs_.emplace_back(forms.outputs);
      rows_.emplace_back(forms.rows);
      vectors_.emplace_back(forms.vectors);
    }
    for (size_t i = 0; i < plan.forms.size(); ++i) pack_rows(i, 0, plan.forms[i].rows);
  }

  // (rows, cols). Who changes these must call pack_rows.
  int8_t* plain(size_t param) { return plain_[param].data(); }
  size_t size(size_t param) const { return plain_[param].size(); }

  // For `linear`: blocks of kBlock outputs (the last one fewer), each as S::quad_at says.
  const int8_t* block(size_t param, size_t first_output) const {
    return blocks_[param].data() + first_output * plan_.forms[param].col_quads * 4;
  }
  // For `linear`: what S::Row holds about each output's weights.
  const typename S::Row* outputs(size_t param) const { return outputs_[param].data(); }
  // For `embed`: rows that are padded with zeros to whole quads, or the plain rows if these need no padding.
  const int8_t* rows(size_t param) const { return (rows_[param].size() != 0 ? rows_ : plain_)[param].data(); }
  // A row of zeros for any `embed`.
  const int8_t* zeros() const { return zeros_.data(); }
  // A vector, padded with zeros.
  const int8_t* vector(size_t param) const { return vectors_[param].data(); }

  // Outputs of the block that begins at first_output.
  static size_t block_size(const PlanParam& p, size_t first_output) {
    return std::min(size_t{S::kBlock}, size_t{p.row_quads} * 4 - first_output);
  }

  // Packs rows [begin, end) into the kernels' forms, and the padding if end == rows. Several threads may pack rows.
  void pack_rows(size_t param, size_t begin, size_t end) {
    const PlanParam& p = plan_.forms[param];
    if (p.vector) {
      std::copy(plain(param) + begin, plain(param) + end, vectors_[param].data() + begin);
      return;
    }
    for (size_t row = begin; row < end; ++row) {
      const int8_t* from = plain(param) + row * p.cols;
      if (rows_[param].size() != 0) std::copy_n(from, p.cols, rows_[param].data() + row * p.col_quads * 4);
      if (!p.by_product) continue;
      pack_output(param, row, from, p.cols);
      outputs_[param][row] = typename S::Row(from, p.cols);
    }
    if (!p.by_product || end != p.rows) return;
    for (size_t row = end; row < size_t{p.row_quads} * 4; ++row) pack_output(param, row, nullptr, 0);
  }

 private:
  // Packs one row of a matrix; columns from `cols` on are zeros.
  void pack_output(size_t param, size_t row, const int8_t* from, size_t cols) {
    const PlanParam& p = plan_.forms[param];
    const size_t first = row / S::kBlock * S::kBlock;
    const size_t nb = block_size(p, first);
    int8_t* block = blocks_[param].data() + first * p.col_quads * 4;
    for (size_t k = 0; k < p.col_quads; ++k) {
      int8_t* to = block + S::quad_at(nb, row - first, k);
      for (size_t i = 0; i < 4; ++i) {
        const int8_t weight = 4 * k + i < cols ? from[4 * k + i] : int8_t{0};
        to[i] = static_cast<int8_t>(weight ^ (S::kSignedBlocks ? 0 : S::kWeightXor));
      }
    }
  }

  const Plan& plan_;
  std::vector<Buffer<int8_t>> plain_;
  std::vector<Buffer<int8_t>> blocks_;
  std::vector<std::vector<typename S::Row>> outputs_;
  std::vector<Buffer<int8_t>> rows_;
  std::vector<Buffer<int8_t>> vectors_;
  Buffer<int8_t> zeros_;
};

}  // namespace eggroll::tile

#endif
