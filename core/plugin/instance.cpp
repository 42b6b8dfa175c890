#include "plugin/instance.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <deque>
#include <map>
#include <set>

#include "eggroll/draws.h"
#include "eggroll/error.h"
#include "eggroll/site_errors.h"
#include "eggroll/threads.h"
#include "plugin/calls.h"
#include "plugin/watchdog.h"
#include "program/op_info.h"
#include "program/program.h"
#include "system/vector_clones.h"

namespace eggroll {
namespace {

// Fills memory that a plugin is to overwrite: no weight has this byte.
constexpr int kNotGiven = 0x80;

// Whether all are in [0, most]. What is looked for is a sign, as wide registers need not have comparisons of 64 bits.
EGGROLL_WIDE bool all_from_zero_to(uint64_t most, const int64_t* numbers, size_t count) {
  uint64_t signs = 0;
  for (size_t i = 0; i < count; ++i) {
    const auto number = static_cast<uint64_t>(numbers[i]);
    signs |= number | (most - number);
  }
  return signs >> 63 == 0;
}

// The same for the losses of pairs. Sets the difference of each pair, and adds all losses to the sum.
EGGROLL_WIDE bool compare_pairs(uint64_t most, const int64_t* losses, size_t pairs, int64_t* d, uint64_t& sum) {
  uint64_t signs = 0;
  uint64_t added = 0;
  for (size_t k = 0; k < pairs; ++k) {
    const auto even = static_cast<uint64_t>(losses[2 * k]);
    const auto odd = static_cast<uint64_t>(losses[2 * k + 1]);
    signs |= even | odd | (most - even) | (most - odd);
    d[k] = static_cast<int64_t>(odd - even);
    added += even + odd;
  }
  sum += added;
  return signs >> 63 == 0;
}

// One call of open with all that it touches. The thread that makes the call shares it, and may outlive the caller's
// wait.
class Opening {
 public:
  Opening(decltype(egg_plugin_descriptor::open) open, const egg_settings& settings)
      : open_(open), items_(settings.items, settings.items + settings.count) {
    for (egg_setting& item : items_) {
      item.key = keep(item.key);
      if (item.text != nullptr) item.text = keep(item.text);
    }
    settings_ = egg_settings{sizeof(egg_settings), settings.count, items_.data()};
  }

  SeamCall run() {
    return call_plugin([this](egg_error* error) { return open_(&settings_, &self_, error); });
  }
  void* self() const { return self_; }

 private:
  const char* keep(const char* text) { return texts_.emplace_back(text).c_str(); }

  decltype(egg_plugin_descriptor::open) open_;
  std::deque<std::string> texts_;
  std::vector<egg_setting> items_;
  egg_settings settings_{};
  void* self_ = nullptr;
};

// Closing must not throw. If a plugin throws all the same, nobody is there to hear of it.
template <class Function>
void close_quietly(Function close, void* handle) noexcept {
  try {
    close(handle);
  } catch (...) {
  }
}

template <size_t kSize>
std::string plan_text(const std::string& who, const char* what, const char (&from)[kSize]) {
  const std::string text(from, std::find(from, from + kSize, '\0'));
  const std::string line = printed(text);
  if (text.empty() || text.size() == kSize || text != line) {
    throw Error(fmt::format("{} gave '{}' as a session's {}, expected one line of 1 to {} characters; fix the plugin",
                            who, line, what, kSize - 1));
  }
  return text;
}

}  // namespace

Instance::Instance(const ChosenPlugin& plugin, egg_kind kind, const egg_settings& settings) : who_(plugin.file.who()) {
  const egg_plugin_descriptor* descriptor = plugin.descriptor;
  if (descriptor == nullptr || plugin.file.kind != kind) {
    throw Error(fmt::format("{} cannot be opened as a {}; choose another", who_, kind_name(kind)));
  }
  table_ = descriptor->interface_table;
  const auto opening = std::make_shared<Opening>(descriptor->open, settings);
  const CallNote note(who_, "in open()", Patience::kShort, plugin.file.path);
  const auto call = finish_within(plugin.limit, [opening] { return opening->run(); });
  if (!call) throw Error(abandoned_text(plugin.file.name, "open", plugin.limit, plugin.file.path));
  require_ok(*call, who_);
  self_ = std::shared_ptr<void>(opening->self(), [who = who_, close = descriptor->close](void* self) {
    const CallNote closing(who, "in close()", Patience::kLong);
    close_quietly(close, self);
  });
}

ModelInstance::ModelInstance(const ChosenPlugin& plugin, const egg_settings& settings)
    : Instance(plugin, EGG_KIND_MODEL, settings) {
  const CallNote note(who(), "in program()", Patience::kShort, plugin.file.path);
  require_ok(call_plugin([&](egg_error* error) {
               return table<egg_model_interface>().program(self().get(), &program_, error);
             }),
             who());
  if (program_ == nullptr) throw Error(who() + " gave no program; fix the plugin");
}

OptimizerInstance::OptimizerInstance(const ChosenPlugin& plugin, const egg_settings& settings)
    : Instance(plugin, EGG_KIND_OPTIMIZER, settings) {
  const CallNote note(who(), "in rule()", Patience::kShort, plugin.file.path);
  require_ok(
      call_plugin([&](egg_error* error) { return table<egg_optimizer_interface>().rule(self().get(), &rule_, error); }),
      who());
  if (rule_ == nullptr) throw Error(who() + " gave no rule; fix the plugin");
}

std::vector<float> OptimizerInstance::scalars(uint64_t step, std::span<const egg_evaluation> evaluations) const {
  const egg_progress progress{sizeof(egg_progress), static_cast<uint32_t>(evaluations.size()), step,
                              evaluations.data()};
  std::vector<float> values(rule_->scalar_count);
  Lent<float> lent(values.data(), values.size());
  const CallNote note(who(), "in scalars()", Patience::kShort);
  require_ok(call_plugin([&](egg_error* error) {
               return table<egg_optimizer_interface>().scalars(self().get(), &progress, lent.data(), error);
             }),
             who());
  lent.give_back(who(), "scalars", "scalars");
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i])) continue;
    throw Error(
        fmt::format("{} gave {} as the scalar '{}' of step {}, expected a finite number; fix the plugin or its "
                    "settings",
                    who(), values[i], printed(rule_->scalar_names[i]), step));
  }
  return values;
}

BackendInstance::BackendInstance(const ChosenPlugin& plugin, const egg_settings& settings)
    : Instance(plugin, EGG_KIND_BACKEND, settings) {}

bool BackendInstance::supports_op(const egg_program& program, uint32_t op) const {
  const auto ask = table<egg_backend_interface>().supports_op;
  const CallNote note(who(), "in supports_op()", Patience::kShort);
  return answer_of(call_plugin([&](egg_error*) { return ask(self().get(), &program, op); }), who()) != 0;
}

bool BackendInstance::supports_rule_op(int32_t code) const {
  const auto ask = table<egg_backend_interface>().supports_rule_op;
  const CallNote note(who(), "in supports_rule_op()", Patience::kShort);
  return answer_of(call_plugin([&](egg_error*) { return ask(self().get(), code); }), who()) != 0;
}

void BackendInstance::require_support(const egg_program& program, const egg_rule& rule) const {
  // A backend may take an op at one shape and not at another, so the values it would make are named.
  std::map<int32_t, std::vector<std::string>> ops;
  for (uint32_t i = 0; i < program.op_count; ++i) {
    if (supports_op(program, i)) continue;
    const egg_op& op = program.ops[i];
    ops[op.code].push_back(op.out >= 0 ? program.values[op.out].name : "the loss");
  }
  std::set<int32_t> rule_ops;
  for (uint32_t i = 0; i < rule.node_count; ++i) {
    if (!supports_rule_op(rule.nodes[i].code)) rule_ops.insert(rule.nodes[i].code);
  }
  std::vector<std::string> missing;
  for (const auto& [code, outputs] : ops) {
    missing.push_back(fmt::format("{} (of {})", signature_of(code).name, fmt::join(outputs, ", ")));
  }
  for (const int32_t code : rule_ops) {
    missing.push_back(fmt::format("{} (of the rule)", kRuleOpInfo[static_cast<size_t>(code)].name));
  }
  if (missing.empty()) return;
  throw Error(fmt::format("{} lacks {}; choose another backend", who(), fmt::join(missing, ", ")),
              EGG_ERROR_UNSUPPORTED);
}

void BackendInstance::require_sites(const egg_session_spec& spec) const {
  const auto ask = table<egg_backend_interface>().supports_site;
  for (uint32_t i = 0; i < spec.site_count; ++i) {
    const egg_site& site = spec.sites[i];
    const CallNote note(who(), "in supports_site()", Patience::kShort);
    if (answer_of(call_plugin([&](egg_error*) { return ask(self().get(), spec.program, &site); }), who()) != 0)
      continue;
    throw Error(
        fmt::format(
            "{} cannot perturb the value '{}' by {} {} draws a token; choose another backend (docs/sites.md says what "
            "each has)",
            who(), spec.program->values[site.value].name, site.draws,
            site.design == EGG_DRAWS_ORTHOGONAL ? "orthogonal" : "independent"),
        EGG_ERROR_UNSUPPORTED);
  }
}

SessionPlan BackendInstance::plan_session(egg_session_spec spec) const {
  require_sites(spec);
  spec.struct_size = sizeof(spec);
  egg_session_plan plan{};
  plan.struct_size = sizeof(plan);
  const CallNote note(who(), "in session_plan()", Patience::kLong);
  require_ok(call_plugin([&](egg_error* error) {
               return table<egg_backend_interface>().session_plan(self().get(), &spec, &plan, error);
             }),
             who());
  if (plan.memory == 0) throw Error(who() + " plans a session that takes no memory; fix the plugin");
  return {plan.memory, plan_text(who(), "device", plan.device), plan_text(who(), "plan", plan.plan)};
}

BackendSession BackendInstance::open_session(const egg_session_spec& spec) const {
  require_sites(spec);
  return BackendSession(who(), table<egg_backend_interface>(), self(), spec);
}

BackendSession::BackendSession(std::string who, const egg_backend_interface& table, std::shared_ptr<void> backend,
                               const egg_session_spec& spec)
    : who_(std::move(who)),
      table_(&table),
      backend_(std::move(backend)),
      spec_(std::make_unique<egg_session_spec>(spec)) {
  spec_->struct_size = sizeof(egg_session_spec);
  void* session = nullptr;
  const CallNote note(who_, "in session_open()", Patience::kLong);
  require_ok(
      call_plugin([&](egg_error* error) { return table_->session_open(backend_.get(), spec_.get(), &session, error); }),
      who_);
  if (session == nullptr) throw Error(who_ + " gave no session; fix the plugin");
  session_ = std::shared_ptr<void>(session, [who = who_, close = table_->session_close](void* closed) {
    const CallNote closing(who, "in session_close()", Patience::kLong);
    close_quietly(close, closed);
  });
}

template <class Function, class... Arguments>
void BackendSession::call(const char* name, Function function, Arguments... arguments) {
  const CallNote note(who_, fmt::format("in {}()", name), Patience::kLong);
  require_ok(call_plugin([&](egg_error* error) { return function(session_.get(), arguments..., error); }), who_);
}

void BackendSession::set_weights(uint32_t param, const int8_t* weights) {
  call("set_weights", table_->set_weights, param, weights);
}

void BackendSession::get_weights(uint32_t param, int8_t* weights) {
  Guarded<int8_t> memory;
  std::copy_n(get_weights(param, memory), weight_count(spec_->program->params[param]), weights);
}

const int8_t* BackendSession::get_weights(uint32_t param, Guarded<int8_t>& memory) {
  const size_t count = weight_count(spec_->program->params[param]);
  int8_t* weights = memory.lend(count);
  std::memset(weights, kNotGiven, count);
  call("get_weights", table_->get_weights, param, weights);
  memory.require_whole(who_, "weights", "get_weights");
  return weights;
}

const uint32_t* BackendSession::get_slot(uint32_t param, uint32_t slot, Guarded<uint32_t>& memory) {
  const size_t count = weight_count(spec_->program->params[param]);
  uint32_t* cells = memory.lend(count);
  std::memset(cells, kNotGiven, count * sizeof(uint32_t));
  call("get_slot", table_->get_slot, param, slot, cells);
  memory.require_whole(who_, "cells", "get_slot");
  return cells;
}

void BackendSession::set_slot(uint32_t param, uint32_t slot, const void* data) {
  call("set_slot", table_->set_slot, param, slot, data);
}

void BackendSession::get_slot(uint32_t param, uint32_t slot, void* data) {
  Guarded<uint32_t> memory;
  const size_t count = weight_count(spec_->program->params[param]);
  std::memcpy(data, get_slot(param, slot, memory), count * sizeof(uint32_t));
}

void BackendSession::set_states(uint32_t first, uint32_t count, const int8_t* states) {
  call("set_states", table_->set_states, first, count, states);
}

void BackendSession::get_states(uint32_t first, uint32_t count, int8_t* states) {
  Lent<int8_t> lent(states, uint64_t{count} * state_bytes(*spec_->program));
  call("get_states", table_->get_states, first, count, lent.data());
  lent.give_back(who_, "states", "get_states");
}

void BackendSession::require_context(const egg_batch& batch) const {
  const auto context = static_cast<uint32_t>(spec_->program->context);
  if (context == 0 || batch.tokens <= context) return;
  throw Error(fmt::format("a call reads {} tokens, expected at most {}, the context of the model's program; read fewer",
                          batch.tokens, context),
              EGG_ERROR_UNSUPPORTED);
}

uint64_t BackendSession::largest_sum(const egg_batch& batch) const {
  return static_cast<uint64_t>(batch.tokens) * static_cast<uint64_t>(largest_loss(*spec_->program));
}

void BackendSession::require_losses(const int64_t* losses, uint64_t count, const egg_batch& batch, const char* function,
                                    Threads* threads) const {
  const uint64_t largest = largest_sum(batch);
  std::atomic<bool> possible = true;
  split(threads, count, kFewestElements, [&](size_t begin, size_t end) {
    if (!all_from_zero_to(largest, losses + begin, end - begin)) possible = false;
  });
  if (!possible) refuse_losses(losses, count, batch, function);
}

void BackendSession::refuse_losses(const int64_t* losses, uint64_t count, const egg_batch& batch,
                                   const char* function) const {
  const uint64_t largest = largest_sum(batch);
  const int64_t* found =
      std::find_if(losses, losses + count, [&](int64_t loss) { return static_cast<uint64_t>(loss) > largest; });
  throw Error(
      fmt::format("{} gave {} as the loss at position {} in {}(), expected 0 to {} for {} tokens; use another "
                  "backend or fix the plugin (eggroll check finds the op)",
                  who_, *found, found - losses, function, largest, batch.tokens));
}

void BackendSession::require_changed(const int64_t* changed) const {
  for (uint32_t i = 0; i < spec_->program->param_count; ++i) {
    const egg_param& param = spec_->program->params[i];
    const auto count = static_cast<int64_t>(weight_count(param));
    if (changed[i] >= 0 && changed[i] <= count) continue;
    throw Error(
        fmt::format("{} gave {} as the count of changed weights of the tensor '{}', expected 0 to {}; use "
                    "another backend or fix the plugin",
                    who_, changed[i], param.name, count));
  }
}

void BackendSession::require_read(const egg_update& update) const {
  if (spec_->site_count > 0 && update.sites == nullptr) {
    throw Error("an update with sites was not told the sums of their errors; pass those of the step's evaluation");
  }
  const egg_voters* voters = spec_->voters;
  const uint32_t params = spec_->program->param_count;
  const bool masked =
      voters != nullptr && std::any_of(voters, voters + params, [](const egg_voters& v) { return v.masked != 0; });
  const egg_batch& batch = update.batch;
  const bool covers_all =
      update.members_per_stream >= 2 && uint64_t{batch.streams} * update.members_per_stream >= spec_->population;
  const bool has_rows = spec_->program->index_count == 0 || batch.rows != nullptr;
  if (!masked || (covers_all && batch.inputs != nullptr && has_rows)) return;
  throw Error("an update of a masked parameter was not told what all members read; pass the step's batch");
}

void BackendSession::require_windows(const egg_evaluate& evaluate) const {
  if (spec_->site_count == 0) return;
  if (evaluate.sites != nullptr && evaluate.batch.tokens == spec_->tokens &&
      evaluate.members_per_stream == spec_->members_per_stream) {
    return;
  }
  throw Error(fmt::format(
      "a session with sites was to evaluate {} tokens of streams of {} members, expected {} tokens and {} members, and "
      "room for the sums of errors; open a session for these streams",
      evaluate.batch.tokens, evaluate.members_per_stream, spec_->tokens, spec_->members_per_stream));
}

void BackendSession::require_sums(const egg_evaluate& evaluate) const {
  const uint32_t in_stream = spec_->members_per_stream;
  const uint32_t first = evaluate.first / std::max(1U, in_stream);
  for (uint32_t i = 0; i < spec_->site_count; ++i) {
    const egg_site& site = spec_->sites[i];
    const uint32_t begin = std::max(first, 2 * site.first_pair / in_stream);
    const uint32_t end = std::min(first + evaluate.batch.streams, 2 * (site.first_pair + site.pairs) / in_stream);
    uint64_t tokens = 0;
    for (uint32_t stream = begin; stream < end; ++stream) {
      const uint32_t* targets = evaluate.batch.targets + size_t{stream - first} * spec_->tokens;
      tokens += spec_->tokens - static_cast<uint64_t>(std::count(targets, targets + spec_->tokens, EGG_NO_TARGET));
      const int64_t* losses = evaluate.losses + (stream * in_stream - evaluate.first);
      if (std::count(losses, losses + in_stream, losses[0]) == in_stream) continue;
      throw Error(
          fmt::format("{} gave the members of stream {} different losses, expected those of the unperturbed "
                      "model, since the stream is of a site; use another backend or fix the plugin",
                      who_, stream));
    }
    const egg_site_sums& sums = evaluate.sites[i];
    const auto size = static_cast<double>(spec_->program->values[site.value].size);
    const double largest = static_cast<double>(tokens) * size * EGG_ERROR_MAX * EGG_ERROR_MAX;
    if (sums.tokens == tokens && sums.squares >= 0 && static_cast<double>(sums.squares) <= largest) continue;
    throw Error(fmt::format(
        "{} gave {} tokens and {} as the squares of their errors for site {}, expected {} tokens and at most "
        "{:.0f}; use another backend or fix the plugin",
        who_, sums.tokens, sums.squares, i, tokens, largest));
  }
}

void BackendSession::expect_losses(uint32_t count, Threads* threads) {
  int64_t* const losses = losses_.lend(count);
  // No loss is -1, so a loss that the plugin leaves out is found.
  fill_elements(threads, losses, count, int64_t{-1});
  expected_ = count;
}

const int64_t* BackendSession::unchecked_losses_of(egg_evaluate arguments, Threads* threads) {
  require_context(arguments.batch);
  require_windows(arguments);
  arguments.struct_size = sizeof(arguments);
  egg_site_sums* const sums = arguments.sites;
  std::vector<egg_site_sums> of_call(spec_->site_count);
  arguments.sites = of_call.data();
  if (expected_ != arguments.count) expect_losses(arguments.count, threads);
  expected_.reset();
  arguments.losses = losses_.data();
  call("evaluate", table_->evaluate, &arguments);
  losses_.require_whole(who_, "losses", "evaluate");
  require_sums(arguments);
  for (size_t i = 0; i < of_call.size(); ++i) {
    sums[i].tokens += of_call[i].tokens;
    sums[i].squares += of_call[i].squares;
  }
  return arguments.losses;
}

void BackendSession::evaluate(egg_evaluate arguments, Threads* threads) {
  const int64_t* losses = unchecked_losses_of(arguments, threads);
  require_losses(losses, arguments.count, arguments.batch, "evaluate", threads);
  copy_elements(threads, losses, arguments.count, arguments.losses);
}

int64_t BackendSession::differences_of(egg_evaluate arguments, int64_t* d, Threads* threads) {
  const int64_t* losses = unchecked_losses_of(arguments, threads);
  const uint64_t largest = largest_sum(arguments.batch);
  std::atomic<bool> possible = true;
  std::atomic<uint64_t> sum = 0;
  split(threads, arguments.count / 2, fewest_of_urgent(arguments.count / 2), [&](size_t begin, size_t end) {
    uint64_t sum_here = 0;
    if (!compare_pairs(largest, losses + 2 * begin, end - begin, d + begin, sum_here)) possible = false;
    sum += sum_here;
  });
  if (!possible) refuse_losses(losses, arguments.count, arguments.batch, "evaluate");
  return static_cast<int64_t>(sum);
}

void BackendSession::update(egg_update arguments) {
  require_read(arguments);
  arguments.struct_size = sizeof(arguments);
  Lent<int64_t> changed(arguments.changed, spec_->program->param_count);
  arguments.changed = changed.data();
  call("update", table_->update, &arguments);
  changed.give_back(who_, "changed counts", "update");
  require_changed(changed.data());
}

void BackendSession::infer(egg_infer arguments, Threads* threads) {
  require_context(arguments.batch);
  arguments.struct_size = sizeof(arguments);
  const uint64_t streams = arguments.batch.streams;
  int8_t* const states = arguments.states;
  const uint64_t state_count = streams * state_bytes(*spec_->program);
  arguments.states = states_.lend(state_count);
  copy_elements(threads, states, state_count, arguments.states);
  Guarded<int64_t> losses;
  int64_t* const host_losses = arguments.losses;
  arguments.losses = losses.lend(streams);
  std::fill_n(arguments.losses, streams, -1);  // as in expect_losses()
  Lent<int8_t> logits(arguments.logits,
                      arguments.logits == nullptr ? 0 : streams * static_cast<uint64_t>(spec_->program->vocab));
  if (arguments.logits != nullptr) arguments.logits = logits.data();
  call("infer", table_->infer, &arguments);
  states_.require_whole(who_, "states", "infer");
  copy_elements(threads, states_.data(), state_count, states);
  losses.require_whole(who_, "losses", "infer");
  logits.give_back(who_, "logits", "infer");
  require_losses(losses.data(), streams, arguments.batch, "infer", threads);
  std::copy_n(losses.data(), streams, host_losses);
}

void BackendSession::get_site_part(egg_site_part part) {
  part.struct_size = sizeof(part);
  const SiteShape shape(*spec_, part.site);
  const egg_site_part to = part;
  const size_t places = part.errors == nullptr ? 0 : size_t{part.streams} * shape.tokens;
  const size_t votes = part.votes == nullptr ? 0 : shape.votes();
  if (places > 0) part.errors = part_errors_.lend(places * shape.size);
  if (places > 0) part.perturbed = part_perturbed_.lend(places);
  if (votes > 0) part.votes = part_votes_.lend(votes);
  call("get_site_part", table_->get_site_part, &part);
  if (places > 0) part_errors_.require_whole(who_, "errors", "get_site_part");
  if (places > 0) part_perturbed_.require_whole(who_, "perturbed tokens", "get_site_part");
  if (votes > 0) part_votes_.require_whole(who_, "votes", "get_site_part");
  std::copy_n(part.errors, places * shape.size, to.errors);
  std::copy_n(part.perturbed, places, to.perturbed);
  std::copy_n(part.votes, votes, to.votes);
}

void BackendSession::add_site_part(egg_site_part part) {
  part.struct_size = sizeof(part);
  call("add_site_part", table_->add_site_part, &part);
}

ProcessesInstance::ProcessesInstance(const ChosenPlugin& plugin, const egg_settings& settings)
    : Instance(plugin, EGG_KIND_PROCESSES, settings) {}

template <class Function, class... Arguments>
void ProcessesInstance::call(const char* name, Function function, Arguments... arguments) {
  const CallNote note(who(), fmt::format("in {}()", name), Patience::kUnwatched);
  require_ok(call_plugin([&](egg_error* error) { return function(self().get(), arguments..., error); }), who());
}

void ProcessesInstance::join(uint32_t& process, uint32_t& size) {
  call("join", table<egg_processes_interface>().join, &process, &size);
  if (process >= size) throw Error(fmt::format("{} says process {} of {}; fix the plugin", who(), process, size));
}

void ProcessesInstance::gather_begin(const void* mine, const uint64_t* sizes, void* all) {
  call("gather_begin", table<egg_processes_interface>().gather_begin, mine, sizes, all);
}

void ProcessesInstance::gather_end() { call("gather_end", table<egg_processes_interface>().gather_end); }

void ProcessesInstance::collect(const void* mine, const uint64_t* sizes, void* all) {
  call("collect", table<egg_processes_interface>().collect, mine, sizes, all);
}

void ProcessesInstance::broadcast(void* bytes, uint64_t size) {
  call("broadcast", table<egg_processes_interface>().broadcast, bytes, size);
}

void ProcessesInstance::leave() { call("leave", table<egg_processes_interface>().leave); }

void ProcessesInstance::abort(int32_t exit_code) noexcept {
  table<egg_processes_interface>().abort(self().get(), exit_code);
}

}  // namespace eggroll
