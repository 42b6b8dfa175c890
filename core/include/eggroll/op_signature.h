// The facts about each op in ops.h, for code that handles ops without computing them: validation, printing, random
// programs, plans of memory.
#ifndef EGGROLL_OP_SIGNATURE_H
#define EGGROLL_OP_SIGNATURE_H

#include <array>
#include <cstddef>
#include <cstdint>

#include "eggroll/ops.h"
#include "eggroll/plugin.h"

namespace eggroll {

// The op's first parameter. A matrix has a row for each output and a column for each input; a table has a row for each
// token or for each row of an index, and a column for each output; a gain is a vector of the output's size.
enum class FirstParam : uint8_t { kNone, kMatrix, kTable, kGain };

// The meaning of egg_op.attr. kIndex: 0 if the token is the row, i if index i - 1 is the row. kShift: 0 to
// kLargestShift. kDivision: an egg_division. kUnit: bits of one logit step in Q16, 1 to kLargestUnit.
enum class OpAttr : uint8_t { kNone, kIndex, kShift, kDivision, kUnit };
constexpr int32_t kLargestShift = 26;      // with the guard bits it stays within the range of egg_rshift
constexpr int32_t kLargestUnit = 1 << 18;  // 4 bits a logit step

// The meaning of egg_op.table. kBytes: 256 entries within +-127. kAngles: (context, head / 2, 2) cosines and sines
// times 2^20. kWeights: EGG_ATTENTION_TABLE entries from 0 to kLargestWeight.
enum class OpTable : uint8_t { kNone, kBytes, kAngles, kWeights };
constexpr int32_t kLargestWeight = (1 << 21) - 1;

// The meaning of egg_op.mode. kWeighting: an egg_weighting.
enum class OpMode : uint8_t { kNone, kWeighting };

// Which values may be wide.
enum class OpWidth : uint8_t { kNarrow, kReads, kMakes, kBoth };

// What a channel of the output depends on. Channel: the same channel of each input. Row: all channels of the one input.
// Lookup: the same channel of the input and of a row of the table. Product: all channels of the input, through a
// matrix. Cache: the inputs of earlier tokens too. State: the same channel of the input, seen by the next token. End:
// there is no output; the op is the last.
enum class OpAccess : uint8_t { kChannel, kRow, kLookup, kProduct, kCache, kState, kEnd };

struct OpSignature {
  const char* name;
  int required_values;
  int optional_values;
  int required_params;
  int optional_params;  // each is a bias
  const char* text;
  FirstParam first_param;
  OpAttr attr;
  OpTable table;
  int32_t head;  // a head has a multiple of this number of channels; 0: the op has no heads
  OpMode mode;
  OpWidth width;
  OpAccess access;

  constexpr bool reads_wide() const { return width == OpWidth::kReads || width == OpWidth::kBoth; }
  constexpr bool makes_wide() const { return width == OpWidth::kMakes || width == OpWidth::kBoth; }
  // Whether the result depends on the position in the call, so that the program needs a context.
  constexpr bool needs_context() const { return access == OpAccess::kCache || table == OpTable::kAngles; }
};

#define EGG_OP_SIGNATURE(code, name, required_values, optional_values, required_params, optional_params, text, param, \
                         attr, table, head, mode, width, access)                                                      \
  OpSignature{#name,        required_values,   optional_values, required_params, optional_params,                     \
              text,         FirstParam::param, OpAttr::attr,    OpTable::table,  head,                                \
              OpMode::mode, OpWidth::width,    OpAccess::access},
inline constexpr std::array<OpSignature, EGG_OP_COUNT> kOpSignatures{{EGG_OPS(EGG_OP_SIGNATURE)}};
#undef EGG_OP_SIGNATURE

constexpr const OpSignature& signature_of(int32_t code) { return kOpSignatures[static_cast<size_t>(code)]; }
constexpr const OpSignature& signature_of(const egg_op& op) { return signature_of(op.code); }

}  // namespace eggroll

#endif
