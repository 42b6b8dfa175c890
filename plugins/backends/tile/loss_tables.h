// The loss's table of powers, as kernels read it: as one table, or as four tables of bytes that fit in registers.
#ifndef EGGROLL_TILE_LOSS_TABLES_H
#define EGGROLL_TILE_LOSS_TABLES_H

#include <array>
#include <cstddef>

#include "eggroll/arithmetic.h"

namespace eggroll::tile {

template <class S>
struct LossTables {
  explicit LossTables(int32_t unit) {
    egg_fill_loss_tables(&tables, unit);
    for (size_t b = 0; b < 4; ++b) {
      for (size_t d = 0; d < 256; ++d) planes[b][d] = static_cast<uint8_t>(tables.exp2_q30[d] >> (8 * b));
    }
  }

  egg_loss_tables tables;
  std::array<std::array<uint8_t, 256>, 4> planes;  // byte b of exp2_q30
};

}  // namespace eggroll::tile

#endif
