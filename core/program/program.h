// The host's own copy of a model's token-step program: validated, printable, hashed, proved free of overflow.
#ifndef EGGROLL_PROGRAM_PROGRAM_H
#define EGGROLL_PROGRAM_PROGRAM_H

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "eggroll/plugin.h"

namespace eggroll {

class Program {
 public:
  // Copies and validates, and gives ops that read the same hash one index. Throws Error that names the op, value or
  // parameter at fault.
  explicit Program(const egg_program& source);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  const egg_program& view() const { return view_; }
  const std::vector<egg_param>& params() const { return params_; }
  const std::vector<egg_value>& values() const { return values_; }
  const std::vector<egg_op>& ops() const { return ops_; }
  const std::vector<egg_table>& tables() const { return tables_; }
  const std::vector<egg_index>& indices() const { return indices_; }

  uint32_t state_bytes() const;                           // per member
  uint64_t weight_count() const;                          // all parameters
  uint64_t macs_per_token() const;                        // multiply-adds of the unperturbed linear ops
  uint64_t macs_of(std::span<const uint32_t> ops) const;  // of these
  // One line per parameter, state, table and op. Two programs with the same text compute the same.
  std::string text() const;
  std::string hash() const;  // sha256 of text()

 private:
  void merge_indices(const egg_program& source);

  std::vector<std::string> names_;
  std::vector<egg_param> params_;
  std::vector<egg_value> values_;
  std::vector<egg_op> ops_;
  std::vector<std::vector<int32_t>> entries_;  // of each table
  std::vector<egg_table> tables_;
  std::vector<egg_index> indices_;
  egg_program view_;
};

uint64_t weight_count(const egg_param& param);
uint32_t state_bytes(const egg_program& program);  // per member

// Whether only embeds read the parameter. If so, votes on a row can be limited to the pairs that read it.
bool is_table(const egg_program& program, uint32_t param);

// Throws Error unless the program is well formed: every value made once before it is read, every state stored once,
// every parameter, table and index used, shapes and widths fitting, exactly one loss, at the end.
void validate_program(const egg_program& program);

// The largest magnitude an int32 accumulator of an op, or a wide value, can reach, with noise of the given kind.
struct AccumulatorBound {
  uint32_t op;
  const char* what;  // "x*W + perturbation", "x*B", ...
  int64_t largest;
  int64_t limit;  // what it may reach
};
std::vector<AccumulatorBound> accumulator_bounds(const egg_program& program, const egg_noise& noise,
                                                 std::span<const egg_site> sites = {});

// The largest loss that a token can have, in Q16 bits; losses are not negative.
int64_t largest_loss(const egg_program& program);

// Throws Error naming the first op whose accumulator could overflow.
void require_no_overflow(const egg_program& program, const egg_noise& noise, std::span<const egg_site> sites = {});

// Throws Error (key table_log2) if a side of a tensor is longer than its half of the noise table: its noise would
// repeat.
void require_table_covers(const egg_program& program, const egg_noise& noise);

}  // namespace eggroll

#endif
