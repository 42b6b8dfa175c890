// A site of a session, and what its streams leave for the update of the same step, as backends for processors keep it.
#ifndef EGGROLL_SITE_ERRORS_H
#define EGGROLL_SITE_ERRORS_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "eggroll/draws.h"
#include "eggroll/sites.h"

namespace eggroll {

// Which streams and ops a site has.
struct SiteShape {
  SiteShape(const egg_session_spec& spec, uint32_t index)
      : site(spec.sites[index]),
        number(index),
        size(static_cast<uint32_t>(spec.program->values[site.value].size)),
        made_by(static_cast<uint32_t>(maker_of(*spec.program, site.value))),
        first_stream(2 * site.first_pair / spec.members_per_stream),
        streams(2 * site.pairs / spec.members_per_stream),
        tokens(spec.tokens),
        ops(ops_of_sum(*spec.program, site.value)) {}

  // The size of what the op multiplies with its matrix; 0 where it is no linear.
  static uint32_t input_size(const egg_program& program, uint32_t op) {
    const egg_op& made = program.ops[op];
    return made.code == EGG_OP_LINEAR ? static_cast<uint32_t>(program.values[made.in[0]].size) : 0;
  }

  // stream: of the step.
  bool has(uint32_t stream) const { return stream >= first_stream && stream - first_stream < streams; }
  bool has_pair(uint32_t pair) const { return pair >= site.first_pair && pair - site.first_pair < site.pairs; }
  size_t places() const { return size_t{streams} * tokens; }
  size_t place(uint32_t stream, uint32_t token) const { return size_t{stream - first_stream} * tokens + token; }

  egg_site site;
  uint32_t number;
  uint32_t size;          // of the value
  uint32_t made_by;       // the op that makes it
  uint32_t first_stream;  // of the step
  uint32_t streams;
  uint32_t tokens;
  std::vector<uint32_t> ops;  // whose parameters vote with the errors
};

struct SiteErrors : SiteShape {
  // The input of a linear whose matrix votes.
  struct Input {
    uint32_t op;
    uint32_t size;
    std::vector<int8_t> values;  // (streams, tokens, size)
  };

  SiteErrors(const egg_session_spec& spec, uint32_t index)
      : SiteShape(spec, index), errors(places() * size), perturbed(places()) {
    for (const uint32_t op : ops) {
      if (const uint32_t count = input_size(*spec.program, op); count > 0) {
        inputs.push_back({op, count, std::vector<int8_t>(places() * count)});
      }
    }
  }

  // Bytes of one in a population of this size.
  static uint64_t bytes(const egg_session_spec& spec, uint32_t index, uint32_t population) {
    const egg_site& site = spec.sites[index];
    const uint64_t pairs = uint64_t{site.pairs} * population / spec.population;
    uint64_t of_token = static_cast<uint64_t>(spec.program->values[site.value].size) * sizeof(int16_t) + 1;
    for (const uint32_t op : ops_of_sum(*spec.program, site.value)) of_token += input_size(*spec.program, op);
    return 2 * pairs / spec.members_per_stream * spec.tokens * of_token;
  }

  int16_t* error(size_t place) { return errors.data() + place * size; }
  const int16_t* error(size_t place) const { return errors.data() + place * size; }
  uint64_t key(uint64_t seed, uint64_t step, uint32_t stream, uint32_t token, uint32_t draw) const {
    return egg_draw_key(seed, step, stream, number, token, draw);
  }

  // What the streams of [first, last) have left, added to the sums.
  void add_to(egg_site_sums& sums, uint32_t first, uint32_t last) const {
    for (size_t p = place(first, 0); p < place(last, 0); ++p) {
      if (perturbed[p] == 0) continue;
      ++sums.tokens;
      int64_t squares = 0;
      const int16_t* const errors_here = error(p);
      for (uint32_t i = 0, count = size; i < count; ++i) squares += int32_t{errors_here[i]} * errors_here[i];
      sums.squares += squares;
    }
  }

  std::vector<int16_t> errors;     // (streams, tokens, size)
  std::vector<uint8_t> perturbed;  // (streams, tokens): whether the token has a target
  std::vector<Input> inputs;
};

}  // namespace eggroll

#endif
