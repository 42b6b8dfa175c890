// Makes random programs: a graph of ops over values whose sizes fit, states that are stored once, one loss at the end.
#include "conformance/random_program.h"

#include <algorithm>

#include "conformance/draws.h"
#include "eggroll/error.h"
#include "eggroll/op_signature.h"

namespace eggroll {
namespace {

constexpr uint32_t kProgramDraws = 1000000;  // stream of random numbers
constexpr int64_t kMostMacs = 60000;         // of a token step, so that a case takes milliseconds

class ProgramGenerator {
 public:
  ProgramGenerator(uint64_t seed, uint32_t attempt) : draws_(seed, kProgramDraws + attempt) {
    case_.scenario.seed = seed;
  }

  RandomCase go() {
    program_.fixed_point = draws_.one_in(3) ? static_cast<int32_t>(draws_.below(13)) : 4;
    program_.rounding = draws_.one_in(2) ? EGG_ROUND_FLOOR : EGG_ROUND_NEAREST;
    make_dims();
    const uint32_t states = draws_.below(4);
    for (uint32_t i = 0; i < states; ++i) add_state(any_dim());
    const uint32_t ops = 1 + draws_.below(12);
    for (uint32_t i = 0; i < ops; ++i) add_random_op();
    finish();
    while (macs_per_token(program_) > kMostMacs) cut_largest_size(program_);
    make_vote_rule();
    make_random_scenario(case_, draws_);
    return case_;
  }

 private:
  // ---- Sizes ----

  int32_t random_size() {
    static constexpr int32_t kVectors[] = {3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65};
    static constexpr int32_t kPrimes[] = {2, 5, 11, 13, 19, 23, 29, 37, 41, 43, 47, 53, 61, 67};
    switch (draws_.below(6)) {
      case 0:
        return 1 + static_cast<int32_t>(draws_.below(4));
      case 1:
        return draws_.pick(kVectors);
      case 2:
        return draws_.pick(kPrimes);
      default:
        return 1 + static_cast<int32_t>(draws_.below(40));
    }
  }

  void make_dims() {
    const uint32_t count = 2 + draws_.below(3);
    for (uint32_t i = 0; i < count; ++i) program_.dims.push_back(random_size());
    if (draws_.one_in(6)) program_.dims[0] = 257 + static_cast<int32_t>(draws_.below(60));
    if (draws_.one_in(5)) program_.dims[draws_.below(count)] = 200 + static_cast<int32_t>(draws_.below(900));
    // Sizes that an attention takes.
    if (draws_.one_in(2)) program_.dims[1] = 4 * (1 + static_cast<int32_t>(draws_.below(12)));
    program_.dims[0] = std::max(2, program_.dims[0]);
  }

  int32_t size_of_dim(int32_t dim) const { return program_.dims[static_cast<size_t>(dim)]; }
  int32_t any_dim() { return static_cast<int32_t>(draws_.below(static_cast<uint32_t>(program_.dims.size()))); }

  // ---- Values and parameters ----

  const RandomProgram::Value& value(int32_t id) const { return program_.values[static_cast<size_t>(id)]; }

  int32_t add_value(int32_t dim, bool state, bool wide = false) {
    program_.values.push_back({dim, state, wide});
    reads_.push_back(0);
    stored_.push_back(false);
    return static_cast<int32_t>(program_.values.size()) - 1;
  }

  int32_t add_state(int32_t dim) { return add_value(dim, true); }

  // A value that may be read now: of that size, or of any size if dim is -1; -1 if there is none. Often it is one that
  // nothing has read yet.
  int32_t any_value(int32_t dim, bool wide_too = false) {
    std::vector<int32_t> all;
    std::vector<int32_t> unread;
    for (size_t i = 0; i < program_.values.size(); ++i) {
      if (dim >= 0 && program_.values[i].dim != dim) continue;
      if (program_.values[i].wide && !wide_too) continue;
      all.push_back(static_cast<int32_t>(i));
      if (reads_[i] == 0) unread.push_back(static_cast<int32_t>(i));
    }
    if (all.empty()) return -1;
    return !unread.empty() && draws_.one_in(2) ? draws_.pick_of(unread) : draws_.pick_of(all);
  }

  int32_t param(bool vector, int32_t rows, int32_t cols) {
    std::vector<int32_t> known;
    for (size_t i = 0; i < program_.params.size(); ++i) {
      const RandomProgram::Param& p = program_.params[i];
      if (p.index < 0 && p.vector == vector && p.rows == rows && p.cols == cols)
        known.push_back(static_cast<int32_t>(i));
    }
    if (!known.empty() && draws_.one_in(2)) return draws_.pick_of(known);
    program_.params.push_back({vector, rows, cols, draws_.one_in(5)});
    return static_cast<int32_t>(program_.params.size()) - 1;
  }

  int32_t maybe_vector(int32_t dim) { return draws_.one_in(2) ? param(true, dim, -1) : -1; }

  // ---- Ops ----

  egg_op& add_op(int32_t code, std::initializer_list<int32_t> in, int32_t out) {
    egg_op op{code, out, {-1, -1, -1}, {-1, -1}, 0, -1, 0, 0};
    size_t i = 0;
    for (const int32_t id : in) {
      op.in[i++] = id;
      if (id >= 0) ++reads_[static_cast<size_t>(id)];
    }
    program_.ops.push_back(op);
    return program_.ops.back();
  }

  // Any op but the loss, linears twice as often.
  void add_random_op() {
    const auto drawn = static_cast<int32_t>(draws_.below(EGG_OP_COUNT + 1));
    const int32_t code = drawn == EGG_OP_COUNT ? EGG_OP_LINEAR : drawn;
    const OpSignature& info = signature_of(code);
    const int32_t x = any_value(-1, info.reads_wide());
    if (x < 0 && info.access != OpAccess::kEnd) return add_embed();
    switch (info.access) {
      case OpAccess::kEnd:
        break;
      case OpAccess::kLookup:
        add_embed();
        break;
      case OpAccess::kProduct:
        add_linear(x, any_dim(), draws_.one_in(3));
        break;
      case OpAccess::kState:
        store_somewhere(x);
        break;
      case OpAccess::kChannel:
      case OpAccess::kRow:
      case OpAccess::kCache:
        add_op_of_one_size(code, info, x);
        break;
    }
  }

  // An op whose values are all of the size of x.
  void add_op_of_one_size(int32_t code, const OpSignature& info, int32_t x) {
    const int32_t dim = value(x).dim;
    if (info.head > 0 && size_of_dim(dim) % info.head != 0) return;
    if (info.needs_context()) need_context();
    int32_t in[3] = {x, -1, -1};
    for (int k = 1; k < info.required_values; ++k) in[k] = any_value(dim, info.reads_wide());
    if (info.optional_values > 0 && !draws_.one_in(3)) in[info.required_values] = any_value(dim, info.reads_wide());
    const int32_t gain = info.first_param == FirstParam::kGain ? param(true, dim, -1) : -1;
    const int32_t bias = info.optional_params > 0 ? maybe_vector(dim) : -1;
    const bool wide = info.makes_wide() && draws_.one_in(3);
    egg_op& op = add_op(code, {in[0], in[1], in[2]}, add_value(dim, false, wide));
    op.param[0] = gain;
    op.param[1] = bias;
    if (info.attr == OpAttr::kDivision) op.attr = static_cast<int32_t>(draws_.below(3));
    if (info.attr == OpAttr::kShift) op.attr = static_cast<int32_t>(draws_.below(draws_.one_in(6) ? 27 : 12));
    if (info.head > 0) op.head = heads(size_of_dim(dim), info.head);
    if (info.mode == OpMode::kWeighting) op.mode = static_cast<int32_t>(draws_.below(2));
    if (info.table != OpTable::kNone) op.table = static_cast<int32_t>(draws_.below(1 << 20));
  }

  // Draws a number of heads, each with a multiple of `unit` channels.
  int32_t heads(int32_t size, int32_t unit) {
    const int32_t units = size / unit;
    int32_t count = 1 + static_cast<int32_t>(draws_.below(4));
    while (units % count != 0) --count;
    return count;
  }

  void need_context() {
    if (program_.context == 0) program_.context = 1 + static_cast<int32_t>(draws_.below(draws_.one_in(4) ? 40 : 9));
  }

  // An embed by token or by an index, added to a value or alone.
  void add_embed() {
    const int32_t x = draws_.one_in(2) ? any_value(-1) : -1;
    const int32_t dim = x >= 0 ? value(x).dim : any_dim();
    const int32_t index = draws_.one_in(2) ? any_index() : -1;
    const int32_t table = index >= 0 ? table_of(index, dim) : param(false, 0, dim);
    egg_op& op = add_op(EGG_OP_EMBED, {x}, add_value(dim, false));
    op.param[0] = table;
    op.attr = index + 1;
  }

  int32_t any_index() {
    std::vector<RandomProgram::Index>& indices = program_.indices;
    if (indices.empty() || draws_.one_in(2)) {
      indices.push_back({1 + static_cast<int32_t>(draws_.below(EGG_INDEX_TOKENS_MAX)),
                         static_cast<int32_t>(draws_.below(draws_.one_in(4) ? 10 : 5))});
      return static_cast<int32_t>(indices.size()) - 1;
    }
    return static_cast<int32_t>(draws_.below(static_cast<uint32_t>(indices.size())));
  }

  int32_t table_of(int32_t index, int32_t dim) {
    for (size_t i = 0; i < program_.params.size(); ++i) {
      const RandomProgram::Param& p = program_.params[i];
      if (p.index == index && p.cols == dim && draws_.one_in(2)) return static_cast<int32_t>(i);
    }
    program_.params.push_back({false, 0, dim, draws_.one_in(5), index});
    return static_cast<int32_t>(program_.params.size()) - 1;
  }

  int32_t add_linear(int32_t x, int32_t dim, bool wide) {
    const int32_t weight = param(false, dim, value(x).dim);
    const int32_t bias = maybe_vector(dim);
    const int32_t out = add_value(dim, false, wide);
    egg_op& op = add_op(EGG_OP_LINEAR, {x}, out);
    op.param[0] = weight;
    op.param[1] = bias;
    // Mostly a shift that leaves sums of random products within int8.
    int32_t log2 = 0;
    while (size_of_dim(value(x).dim) >> (log2 + 1) != 0) ++log2;
    op.attr = draws_.one_in(6)
                  ? 0
                  : static_cast<int32_t>(draws_.one_in(6) ? draws_.below(27) : 5 + draws_.below(3)) + log2 / 2;
    op.attr = std::min(op.attr, 26);
    return out;
  }

  void store(int32_t state, int32_t x) {
    stored_[static_cast<size_t>(state)] = true;
    add_op(EGG_OP_STORE, {x}, state);
  }

  // Stores into a state of its size that has no store yet, or into a new one.
  void store_somewhere(int32_t x) {
    for (size_t i = 0; i < program_.values.size(); ++i) {
      const RandomProgram::Value& v = program_.values[i];
      if (!v.state || stored_[i] || v.dim != value(x).dim || draws_.one_in(3)) continue;
      store(static_cast<int32_t>(i), x);
      return;
    }
    store(add_state(value(x).dim), x);
  }

  // Adds the logits, stores of unread values, and the loss.
  void finish() {
    static constexpr int32_t kUnits[] = {1, 256, 4096, 4096, 65536, 1 << 18};
    int32_t logits = draws_.one_in(4) ? -1 : any_value(0);
    if (logits < 0) {
      if (any_value(-1) < 0) add_embed();
      logits = add_linear(any_value(-1), 0, false);
    }
    ++reads_[static_cast<size_t>(logits)];
    for (size_t i = 0; i < program_.values.size(); ++i) {
      if (program_.values[i].state && !stored_[i]) store(static_cast<int32_t>(i), any_value(program_.values[i].dim));
    }
    for (size_t i = 0; i < program_.values.size(); ++i) {
      const RandomProgram::Value v = program_.values[i];
      if (v.state || reads_[i] > 0) continue;
      if (v.wide) {
        const int32_t narrow = add_value(v.dim, false);
        add_op(draws_.one_in(2) ? EGG_OP_ADD : EGG_OP_MAX_NORM, {static_cast<int32_t>(i)}, narrow);
        continue;
      }
      const int32_t state = add_state(v.dim);
      store(state, static_cast<int32_t>(i));
    }
    // A program has at least one parameter.
    if (program_.params.empty()) {
      add_embed();
      const auto embedded = static_cast<int32_t>(program_.values.size()) - 1;
      const int32_t state = add_state(value(embedded).dim);
      store(state, embedded);
    }
    add_op(EGG_OP_LOSS, {logits}, -1).attr = draws_.pick(kUnits);
  }

  // The rule of op cases, build_vote_rule(), as a list.
  void make_vote_rule() {
    const auto node = [&](egg_rule_code code, int32_t a, int32_t b) {
      case_.rule.nodes.push_back(egg_rule_node{code, {a, b, -1}, 0, 0, 0.0F});
    };
    node(EGG_RULE_VOTE_I32, -1, -1);
    node(EGG_RULE_CONST_I32, -1, -1);
    node(EGG_RULE_ILT, 0, 1);
    node(EGG_RULE_ILT, 1, 0);
    node(EGG_RULE_ISUB, 3, 2);
    case_.rule.slots.push_back({'i', 0});
    case_.rule.delta = 4;
  }

  Draws draws_;
  RandomCase case_;
  RandomProgram& program_ = case_.program;
  std::vector<int32_t> reads_;  // of each value
  std::vector<bool> stored_;    // of each state
};

}  // namespace

int64_t macs_per_token(const RandomProgram& program) {
  const auto size = [&](int32_t value) {
    return int64_t{program.dims[static_cast<size_t>(program.values[static_cast<size_t>(value)].dim)]};
  };
  int64_t sum = 0;
  for (const egg_op& op : program.ops) {
    const int64_t out = op.out >= 0 ? size(op.out) : program.dims[0];
    const OpAccess access = signature_of(op).access;
    const int64_t positions = access == OpAccess::kCache ? 2 * int64_t{program.context} : 1;
    sum += access == OpAccess::kProduct ? out * size(op.in[0]) : out * positions;
  }
  return sum;
}

void cut_largest_size(RandomProgram& program) {
  int32_t& largest = *std::max_element(program.dims.begin(), program.dims.end());
  const bool fours = largest % 4 == 0;
  largest -= largest / 4;
  if (fours) largest -= largest % 4;
}

RandomCase random_program_case(uint64_t seed) {
  // A program that the host refuses is made anew: a shift could overflow, say.
  for (uint32_t attempt = 0;; ++attempt) {
    RandomCase test = ProgramGenerator(seed, attempt).go();
    try {
      require_valid(test);
      return test;
    } catch (const Error&) {
      if (attempt == 100) throw;
    }
  }
}

}  // namespace eggroll
