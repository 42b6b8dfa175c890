// A site of a session and what its streams leave for the update of the same step, for the CPU backends. They also keep
// the errors of other sessions' streams, and the sums of those streams' votes on matrices and vectors (egg_site_part).
#ifndef EGGROLL_SITE_ERRORS_H
#define EGGROLL_SITE_ERRORS_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "eggroll/draws.h"
#include "eggroll/sites.h"

namespace eggroll {

// A matrix or a vector that votes with a site.
struct SummedVoter {
  // Where its votes begin in egg_site_part.votes; the squares follow them.
  size_t first_square() const { return first_vote + size_t{rows} * cols; }
  size_t end() const { return first_square() + (is_vector ? 0 : cols); }

  uint32_t param;
  bool is_vector;
  uint32_t rows;
  uint32_t cols;
  uint32_t readers;  // ops
  size_t first_vote;
};

// The streams, ops and voters that a site has.
struct SiteShape {
  SiteShape(const egg_session_spec& spec, uint32_t index)
      : site(spec.sites[index]),
        number(index),
        size(static_cast<uint32_t>(spec.program->values[site.value].size)),
        made_by(static_cast<uint32_t>(maker_of(*spec.program, site.value))),
        first_stream(2 * site.first_pair / spec.members_per_stream),
        streams(2 * site.pairs / spec.members_per_stream),
        tokens(spec.tokens),
        own_first(std::clamp(spec.first / spec.members_per_stream, first_stream, first_stream + streams)),
        own_streams(
            std::clamp((spec.first + spec.members) / spec.members_per_stream, own_first, first_stream + streams) -
            own_first),
        ops(ops_of_sum(*spec.program, site.value)) {
    const egg_program& program = *spec.program;
    for (uint32_t p = 0; p < program.param_count; ++p) {
      if (spec.voters == nullptr || spec.voters[p].site != static_cast<int32_t>(index + 1)) continue;
      const egg_param& param = program.params[p];
      SummedVoter voter{p,
                        param.kind == EGG_PARAM_VECTOR,
                        static_cast<uint32_t>(param.rows),
                        static_cast<uint32_t>(param.cols),
                        0,
                        votes()};
      bool is_table = false;
      for (const uint32_t i : ops) {
        if (program.ops[i].param[voter.is_vector ? 1 : 0] != static_cast<int32_t>(p)) continue;
        ++voter.readers;
        is_table = is_table || (!voter.is_vector && program.ops[i].code == EGG_OP_EMBED);
      }
      has_tables = has_tables || is_table;
      if (!is_table) summed.push_back(voter);
    }
  }

  // The size of the input that the op multiplies with its matrix; 0 if the op is no linear.
  static uint32_t input_size(const egg_program& program, uint32_t op) {
    const egg_op& made = program.ops[op];
    return made.code == EGG_OP_LINEAR ? static_cast<uint32_t>(program.values[made.in[0]].size) : 0;
  }

  // stream: its number in the step.
  bool has(uint32_t stream) const { return stream >= first_stream && stream - first_stream < streams; }
  bool has_pair(uint32_t pair) const { return pair >= site.first_pair && pair - site.first_pair < site.pairs; }
  size_t places() const { return size_t{streams} * tokens; }
  size_t place(uint32_t stream, uint32_t token) const { return size_t{stream - first_stream} * tokens + token; }
  size_t own_begin() const { return place(own_first, 0); }
  size_t own_end() const { return place(own_first + own_streams, 0); }
  // The size of egg_site_part.votes.
  size_t votes() const { return summed.empty() ? 0 : summed.back().end(); }
  const SummedVoter& summed_voter(uint32_t param) const {
    return *std::find_if(summed.begin(), summed.end(), [&](const SummedVoter& voter) { return voter.param == param; });
  }

  egg_site site;
  uint32_t number;
  uint32_t size;          // of the value
  uint32_t made_by;       // the op that makes it
  uint32_t first_stream;  // of the step
  uint32_t streams;
  uint32_t tokens;
  uint32_t own_first;  // stream of the session's own, in the step
  uint32_t own_streams;
  std::vector<uint32_t> ops;  // whose parameters vote with the errors
  std::vector<SummedVoter> summed;
  bool has_tables = false;  // that vote with the errors
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

  // The bytes of an object in a population of this size.
  static uint64_t bytes(const egg_session_spec& spec, uint32_t index, uint32_t population) {
    const egg_site& site = spec.sites[index];
    const uint64_t pairs = uint64_t{site.pairs} * population / spec.population;
    const SiteShape shape(spec, index);
    uint64_t of_token = uint64_t{shape.size} * sizeof(int16_t) + 1;
    for (const uint32_t op : shape.ops) of_token += input_size(*spec.program, op);
    const uint64_t others = spec.members < spec.population ? shape.votes() * sizeof(int64_t) : 0;
    return 2 * pairs / spec.members_per_stream * spec.tokens * of_token + others;
  }

  int16_t* error(size_t place) { return errors.data() + place * size; }
  const int16_t* error(size_t place) const { return errors.data() + place * size; }
  uint64_t key(uint64_t seed, uint64_t step, uint32_t stream, uint32_t token, uint32_t draw) const {
    return egg_draw_key(seed, step, stream, number, token, draw);
  }

  // Adds what the streams [first, last) have left to the sums.
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

  // The errors of a part's streams, from here and to here.
  void put_errors(const egg_site_part& part) const {
    if (part.errors == nullptr) return;
    const size_t first = place(part.first_stream, 0);
    const size_t count = size_t{part.streams} * tokens;
    std::copy_n(error(first), count * size, part.errors);
    std::copy_n(perturbed.data() + first, count, part.perturbed);
  }
  void take(const egg_site_part& part) {
    if (part.errors != nullptr) {
      const size_t first = place(part.first_stream, 0);
      const size_t count = size_t{part.streams} * tokens;
      std::copy_n(part.errors, count * size, error(first));
      std::copy_n(part.perturbed, count, perturbed.data() + first);
    }
    if (part.votes == nullptr) return;
    others.resize(votes());
    for (size_t i = 0; i < others.size(); ++i) others[i] += part.votes[i];
  }
  // Adds the votes of other sessions' streams and, for a matrix, the squares.
  void add_others(const SummedVoter& voter, int64_t* to, int64_t* squares) const {
    if (others.empty()) return;
    for (size_t i = voter.first_vote; i < voter.first_square(); ++i) *to++ += others[i];
    for (size_t i = voter.first_square(); i < voter.end(); ++i) *squares++ += others[i];
  }

  std::vector<int16_t> errors;     // (streams, tokens, size)
  std::vector<uint8_t> perturbed;  // (streams, tokens): whether the token has a target
  std::vector<Input> inputs;
  std::vector<int64_t> others;  // votes(), of this step's parts of other sessions; empty: there are none
};

}  // namespace eggroll

#endif
