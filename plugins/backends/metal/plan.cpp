#include "plan.h"

#include <algorithm>
#include <string>

#include "eggroll/error.h"
#include "eggroll/noise.h"

namespace eggroll::metal {
namespace {

constexpr uint32_t kAlignment = 16;

uint32_t fitted(size_t bytes) {
  if (bytes > UINT32_MAX) {
    throw Error("the metal backend keeps at most 4 GiB of weights, of slots and of the values of " +
                    std::to_string(kTileRows) +
                    " members, and this program has more; use a smaller width, vocabulary or context",
                EGG_ERROR_UNSUPPORTED);
  }
  return static_cast<uint32_t>(bytes);
}

class Planner {
 public:
  Planner(Plan& plan, const egg_session_spec& spec)
      : plan_(plan), spec_(spec), program_(*spec.program), rule_(*spec.rule) {}

  void run() {
    plan_sites();
    for (uint32_t i = 0; i < program_.param_count; ++i) add_param(i);
    plan_.state_stride = fitted(plan_.state_stride + kLossBytes);
    for (uint32_t t = 0; t < program_.table_count; ++t) {
      tables_.push_back(static_cast<uint32_t>(plan_.tables.size()));
      const egg_table& table = program_.tables[t];
      plan_.tables.insert(plan_.tables.end(), table.entries, table.entries + table.count);
    }
    place_values();
    plan_.sites.draws.resize(plan_.sites.shapes.size());
    for (const Step& step : plan_.steps) add(step);
    for (const SiteShape& site : plan_.sites.shapes) finish_draws(site);
    fitted(plan_.workspace);
    fitted(plan_.weight_bytes);
    fitted(plan_.halves);
    fitted(plan_.slot_cells);
  }

 private:
  void plan_sites() {
    SitePlan& sites = plan_.sites;
    uint32_t end = 0;
    for (uint32_t i = 0; i < spec_.site_count; ++i) {
      const SiteShape& site = sites.shapes.emplace_back(spec_, i);
      sites.first_stream = i == 0 ? site.first_stream : std::min(sites.first_stream, site.first_stream);
      end = std::max(end, site.first_stream + site.streams);
      sites.tokens = site.tokens;
      if (is_at_loss(program_, site.site.value)) {
        draws_.emplace_back();
        keep(site.site.value, false);
      } else {
        draws_.push_back(ops_of_draw(program_, site.site));
        for (const uint32_t cached : draws_.back().cached) keep(static_cast<int32_t>(cached), true);
        for (const uint32_t source : draws_.back().sources) {
          const auto value = static_cast<int32_t>(source);
          if (!sites.is_kept(value, true)) keep(value, false);
        }
      }
      for (const uint32_t k : site.ops) {
        const egg_op& op = program_.ops[k];
        if (op.code == EGG_OP_LINEAR && votes_with(op.param[0], i)) keep(op.in[0], false);
      }
    }
    sites.streams = end - sites.first_stream;
  }

  bool votes_with(int32_t param, uint32_t site) const {
    return plan_.params[static_cast<size_t>(param)].voters.site == static_cast<int32_t>(site + 1);
  }

  void keep(int32_t value, bool always) {
    SitePlan& sites = plan_.sites;
    if (sites.is_kept(value, always)) return;
    sites.kept.push_back({value, always, sites.kept_bytes});
    sites.kept_bytes = fitted(size_t{sites.kept_bytes} + row_bytes(shape_of(value)));
  }

  // Where a parameter's noise begins in the noise of a pair.
  struct NoisePlace {
    uint32_t keys;  // of side A
    uint32_t a;     // or the vector
    uint32_t b;
  };

  uint32_t add_part(NoisePart part, const egg_voters& voters) {
    const uint32_t at = plan_.noise_bytes;
    part.offset = at;
    part.first_pair = voters.first_pair;
    part.pairs = voters.pairs;
    plan_.parts.push_back(part);
    const uint32_t bytes = part.kind == kKeys ? 8 * part.size : part.size;
    const size_t copies = part.kind == kVector ? 2 : 1;
    plan_.noise_bytes = fitted(plan_.noise_bytes + copies * padded(bytes, kBlock));
    return at;
  }

  // The draws of all ranks of one side.
  uint32_t add_draws(uint32_t param, uint32_t side, uint32_t size, const egg_voters& voters) {
    const uint32_t at = plan_.noise_bytes;
    for (uint32_t r = 0; r < ranks(); ++r) add_part({kDraw, param, side, r, size, 0, 0, 0, 0}, voters);
    return at;
  }

  NoisePlace add_noise(uint32_t i, const ParamPlace& param) {
    const egg_voters& voters = param.voters;
    NoisePlace at{};
    if (param.vector) {
      const egg_voters none{0, 0, 0};
      at.a = add_part({kVector, i, EGG_SIDE_A, 0, param.cols, 0, 0, 0, param.weights}, param.ranks > 0 ? voters : none);
    } else if (param.ranks > 0) {
      if (param.by_lookup) at.keys = add_part({kKeys, i, EGG_SIDE_A, 0, ranks(), 0, 0, 0, 0}, voters);
      if (param.by_product) at.a = add_draws(i, EGG_SIDE_A, param.rows, voters);
      at.b = add_draws(i, EGG_SIDE_B, param.cols, voters);
    }
    return at;
  }

  void add_param(uint32_t i) {
    ParamPlace param{{plan_.params[i]}, 0, 0, kNoHalves, 0, 0};
    if (param.vector) std::swap(param.rows, param.cols);
    param.stride = padded(param.cols, kBlock);
    param.weights = fitted(plan_.weight_bytes);
    param.cells = fitted(plan_.cells);
    param.slots = fitted(plan_.slot_cells);
    if (param.by_product) {
      param.halves = fitted(plan_.halves);
      plan_.halves += size_t{padded(param.rows, kCell)} * param.stride;
    }
    plan_.weight_bytes += size_t{param.vector ? 1 : padded(param.rows, kBlock)} * param.stride;
    noise_.push_back(add_noise(i, param));
    if (param.perturbed) add_jobs(i, param);
    plan_.places.push_back(param);
  }

  void add_jobs(uint32_t i, const ParamPlace& param) {
    const egg_voters& voters = param.voters;
    const auto count = fitted(param.count());
    plan_.slot_cells += size_t{count} * rule_.slot_count;
    if (voters.site != 0) return add_site_jobs(i, param, plan_.sites.shapes[static_cast<size_t>(voters.site - 1)]);
    if (param.masked) {
      plan_.masked.push_back({i, count, param.cols, param.stride, param.weights, param.slots});
      plan_.masked_rows += param.rows;
      return;
    }
    plan_.votes.add(
        {0, i, param.vector ? 1U : 0U, param.vector ? param.cols : param.rows, param.vector ? 1 : param.cols,
         param.vector ? 1 : ranks(), param.cells, voters.first_pair, voters.pairs},
        param.vector ? divide_up(param.cols, 4 * kThreads)
                     : divide_up(param.rows, kBlock) * divide_up(param.cols, kBlock));
    plan_.rules.add(
        {0, i, count, param.cols, param.stride, param.weights, param.halves, param.cells, param.slots, 1, i, 0},
        divide_up(count, kThreads));
    plan_.cells += count;
  }

  // The votes of each op that reads the parameter have cells of their own, which the rule adds up.
  void add_site_jobs(uint32_t i, const ParamPlace& param, const SiteShape& site) {
    SitePlan& sites = plan_.sites;
    std::vector<egg_op> reads;
    for (const uint32_t k : site.ops) {
      const egg_op& op = program_.ops[k];
      if (op.param[param.vector ? 1 : 0] == static_cast<int32_t>(i)) reads.push_back(op);
    }
    const auto count = static_cast<uint32_t>(param.count());
    if (param.by_lookup) {
      SiteTable& table = sites.tables.emplace_back();
      table.site = site.number;
      table.job.param = i;
      table.job.count = count;
      table.job.cols = param.cols;
      table.job.stride = param.stride;
      table.job.weights = param.weights;
      table.job.slots = param.slots;
      for (const egg_op& op : reads) table.reads.push_back(op.attr);
      return;
    }
    const auto read_count = static_cast<uint32_t>(reads.size());
    const uint32_t squares = fitted(plan_.cells + size_t{count} * read_count);
    SiteVoteJob job{};
    job.param = i;
    job.vector = param.vector ? 1 : 0;
    job.rows = param.vector ? param.cols : param.rows;
    job.cols = param.vector ? 1 : param.cols;
    // There are fewer than 2^32 places: the errors of 2^32 would take more memory than any Mac has.
    job.first_kept = sites.first_kept(site.own_first);
    job.first_error = sites.first_error(site, site.own_first);
    job.error_bytes = SitePlan::error_bytes(site);
    job.places = static_cast<uint32_t>(site.own_end() - site.own_begin());
    for (uint32_t r = 0; r < read_count; ++r) {
      job.cells = param.cells + r * count;
      job.squares = squares + r * job.cols;
      if (!param.vector) job.input = sites.kept_offset(reads[r].in[0]);
      sites.votes.add(
          job, param.vector ? divide_up(count, kThreads) : divide_up(job.rows, kBlock) * divide_up(job.cols, kBlock));
    }
    const uint32_t columns = param.vector ? 0 : param.cols;
    const uint32_t std = param.vector ? i : program_.param_count + sites.stds;
    sites.voters.push_back({i, site.number, columns, squares, read_count, std});
    sites.stds += columns;
    plan_.rules.add({0, i, count, param.cols, param.stride, param.weights, param.halves, param.cells, param.slots,
                     read_count, std, columns != 0 ? 1U : 0U},
                    divide_up(count, kThreads));
    plan_.cells = fitted(size_t{squares} + size_t{read_count} * columns);
  }

  uint32_t ranks() const { return static_cast<uint32_t>(plan_.noise.rank); }

  // A place without an offset.
  Place shape_of(int32_t value) const {
    const auto size = static_cast<uint32_t>(program_.values[value].size);
    return {0, padded(size, kBlock), size, program_.values[value].is_wide != 0 ? 1U : 0U};
  }

  // A tile's workspace: its pairs' noise, values, caches.
  void place_values() {
    FirstFit<> memory;
    const size_t noise = size_t{kTilePairs} * plan_.noise_bytes;
    for (uint32_t v = 0; v < program_.value_count; ++v) {
      Place place = shape_of(static_cast<int32_t>(v));
      const size_t bytes = size_t{kTileRows} * row_bytes(place);
      const Stay& stay = plan_.stays[v];
      if (stay.begin != Stay::kNever) place.offset = fitted(noise + memory.take({bytes, stay}));
      places_.push_back(place);
    }
    plan_.workspace = noise + memory.size();
  }

  uint32_t take_workspace(size_t bytes) {
    const uint32_t at = fitted(plan_.workspace);
    plan_.workspace += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    return at;
  }

  Place place(int32_t value) const { return value >= 0 ? places_[static_cast<size_t>(value)] : Place{}; }

  int32_t vector_noise(int32_t param) const {
    if (param < 0 || program_.params[param].kind != EGG_PARAM_VECTOR) return -1;
    return static_cast<int32_t>(noise_[static_cast<size_t>(param)].a);
  }

  void add(const Step& step) {
    const egg_op from = plan_.op_of(step, kLoadState);
    DeviceOp op{};
    op.code = from.code;
    op.attr = from.attr;
    op.head = from.head;
    op.mode = from.mode;
    op.out = place(from.out);
    for (int k = 0; k < 3; ++k) op.in[k] = place(from.in[k]);
    for (int k = 0; k < 2; ++k) op.vectors[k] = vector_noise(from.param[k]);
    if (from.table >= 0) op.table = tables_[static_cast<size_t>(from.table)];
    const int32_t state = plan_.state_at(step);
    if (state >= 0) op.state = plan_.state_place(state);
    op.of_state = from.code == EGG_OP_LOSS && state >= 0 ? 1 : 0;
    if (from.code == EGG_OP_LINEAR || from.code == EGG_OP_EMBED) add_matrix(op, static_cast<uint32_t>(from.param[0]));
    if (from.code == EGG_OP_ATTENTION) add_caches(op, from);
    push(op, step, from.code == EGG_OP_STORE ? -1 : from.out);
  }

  // made: the value that the step makes, or -1.
  void push(const DeviceOp& op, const Step& step, int32_t made) {
    plan_.ops.push_back(op);
    SitePlan& sites = plan_.sites;
    if (sites.shapes.empty()) return;
    sites.ops.push_back(op);
    for (const bool always : {false, true}) {
      if (made >= 0 && sites.is_kept(made, always)) sites.ops.push_back(kept_op(kKeepValue, made, always));
    }
    for (const SiteShape& site : sites.shapes) {
      if (!is_at_loss(program_, site.site.value)) add_behind(site, op, step, made);
    }
  }

  // What the members of a draw take stays where the program has it, and when: so it lies beside nothing that it meets.
  void add_behind(const SiteShape& site, const DeviceOp& op, const Step& step, int32_t made) {
    const OpsOfDraw& behind = draws_[site.number];
    std::vector<DeviceOp>& ops = plan_.sites.draws[site.number].ops;
    if (std::find(behind.sources.begin(), behind.sources.end(), static_cast<uint32_t>(made)) != behind.sources.end()) {
      DeviceOp take = kept_op(kTakeValue, made, plan_.sites.is_kept(made, true));
      take.attr = made == site.site.value ? 1 : 0;
      ops.push_back(take);
    } else if (step.op >= 0 &&
               std::binary_search(behind.ops.begin(), behind.ops.end(), static_cast<uint32_t>(step.op))) {
      ops.push_back(op);
    }
  }

  // Tokens after the place run all ops, as members' tokens do.
  void finish_draws(const SiteShape& site) {
    DrawPlan& draws = plan_.sites.draws[site.number];
    if (draws.ops.empty()) return;
    const std::vector<uint32_t>& at_place = draws_[site.number].ops;
    draws.place_ops = static_cast<uint32_t>(draws.ops.size());
    draws.tokens += std::min(site.site.horizon, site.tokens - 1);
    draws.record_bytes = site.site.horizon > 0 ? static_cast<uint32_t>(plan_.state_stride) : kLossBytes;
    const uint32_t most_members = std::min(kMostDrawMembers, kMostDrawBytes / draws.record_bytes);
    draws.most_places = std::max(1U, most_members / (2 * site.site.draws));
    for (size_t i = 0; i < plan_.ops.size() && draws.tokens > 1; ++i) {
      DeviceOp& op = draws.ops.emplace_back(plan_.ops[i]);
      if (op.code != EGG_OP_ATTENTION) continue;
      const auto from = static_cast<uint32_t>(plan_.steps[i].op);
      op.of_stream = std::binary_search(at_place.begin(), at_place.end(), from) ? 0 : 1;
    }
  }

  DeviceOp kept_op(int32_t code, int32_t value, bool always) const {
    DeviceOp op{};
    op.code = code;
    op.attr = always ? 1 : 0;
    (code == kKeepValue ? op.in[0] : op.out) = place(value);
    op.state = plan_.sites.kept_offset(value, always);
    return op;
  }

  void add_matrix(DeviceOp& op, uint32_t i) const {
    const ParamPlace& param = plan_.places[i];
    op.matrix = param.weights;
    op.halves = param.halves;
    op.stride = param.stride;
    op.ranks = param.ranks;
    op.shift = param.shift;
    op.a = op.code == EGG_OP_EMBED ? noise_[i].keys : noise_[i].a;
    op.a_stride = padded(param.rows, kBlock);
    op.b = noise_[i].b;
    op.b_stride = param.stride;
  }

  void add_caches(DeviceOp& op, const egg_op& from) {
    const size_t positions = size_t{kTileRows} * static_cast<size_t>(program_.context);
    if (scores_ == 0) scores_ = take_workspace(positions * sizeof(int32_t));
    op.scores = scores_;
    for (int i = 0; i < 2; ++i) {
      op.caches[i] = take_workspace(positions * op.out.padded);
      const int32_t value = from.in[1 + i];
      if (plan_.sites.is_kept(value, true)) op.kept[i] = plan_.sites.kept_offset(value, true);
    }
  }

  Plan& plan_;
  const egg_session_spec& spec_;
  const egg_program& program_;
  const egg_rule& rule_;
  std::vector<NoisePlace> noise_;  // by parameter
  std::vector<uint32_t> tables_;   // by table: entries before its own
  std::vector<Place> places_;      // by value
  std::vector<OpsOfDraw> draws_;   // by site; empty at what the loss reads
  uint32_t scores_ = 0;
};

}  // namespace

bool has_site(const egg_program& program, const egg_site& site) {
  return !is_at_loss(program, site.value) || program.vocab <= static_cast<int32_t>(kMostDrawRows);
}

Plan::Plan(const egg_session_spec& spec, uint32_t the_block_inputs)
    : DeviceProgram(spec, kBlock), block_inputs(the_block_inputs) {
  if (block_inputs == 0 || block_inputs % kBlock != 0 || block_inputs > kMostBlockInputs) {
    throw Error("sums of " + std::to_string(block_inputs) + " products as float32, expected a multiple of " +
                    std::to_string(kBlock) + " up to " + std::to_string(kMostBlockInputs) +
                    ", which stay below 2^24 and so are exact; use blocks of " + std::to_string(kBlockInputs),
                EGG_ERROR_UNSUPPORTED);
  }
  Planner(*this, spec).run();
}

}  // namespace eggroll::metal
