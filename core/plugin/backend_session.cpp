#include "plugin/backend_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

#include "eggroll/draws.h"
#include "eggroll/error.h"
#include "eggroll/site_errors.h"
#include "eggroll/threads.h"
#include "plugin/watchdog.h"
#include "program/program.h"
#include "system/vector_clones.h"

namespace eggroll {
namespace {

// Fills memory that a plugin is to overwrite: no weight has this byte.
constexpr int kNotGiven = 0x80;

// Whether all are in [0, most]. It tests for a sign, because vector registers need not have comparisons of 64 bits.
EGGROLL_WIDE bool all_from_zero_to(uint64_t most, const int64_t* numbers, size_t count) {
  uint64_t signs = 0;
  for (size_t i = 0; i < count; ++i) {
    const auto number = static_cast<uint64_t>(numbers[i]);
    signs |= number | (most - number);
  }
  return signs >> 63 == 0;
}

// The same for the losses of pairs. Also sets the difference of each pair, and adds all losses to the sum.
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

// The largest possible sum of the losses of the batch's tokens.
uint64_t largest_sum(const egg_session_spec& spec, const egg_batch& batch) {
  return static_cast<uint64_t>(batch.tokens) * static_cast<uint64_t>(largest_loss(*spec.program));
}

// Throws Error that names the first loss outside [0, largest]. There must be one.
[[noreturn]] void refuse_losses(const std::string& who, const int64_t* losses, uint64_t count, uint64_t largest,
                                uint32_t tokens, const char* function) {
  const int64_t* found =
      std::find_if(losses, losses + count, [&](int64_t loss) { return static_cast<uint64_t>(loss) > largest; });
  throw Error(
      fmt::format("{} gave {} as the loss at position {} in {}(), expected 0 to {} for {} tokens; use another "
                  "backend or fix the plugin (eggroll check finds the op)",
                  who, *found, found - losses, function, largest, tokens));
}

// Throws Error if a loss is not in [0, largest].
void require_losses(const std::string& who, const int64_t* losses, uint64_t count, uint64_t largest, uint32_t tokens,
                    const char* function, Threads* threads) {
  std::atomic<bool> possible = true;
  split(threads, count, kFewestElements, [&](size_t begin, size_t end) {
    if (!all_from_zero_to(largest, losses + begin, end - begin)) possible = false;
  });
  if (!possible) refuse_losses(who, losses, count, largest, tokens, function);
}

// Throws Error if a call would read past the program's context.
void require_context(const egg_session_spec& spec, const egg_batch& batch) {
  const auto context = static_cast<uint32_t>(spec.program->context);
  if (context == 0 || batch.tokens <= context) return;
  throw Error(fmt::format("a call reads {} tokens, expected at most {}, the context of the model's program; read fewer",
                          batch.tokens, context),
              EGG_ERROR_UNSUPPORTED);
}

// changed: (param_count)
void require_changed(const std::string& who, const egg_program& program, const int64_t* changed) {
  for (uint32_t i = 0; i < program.param_count; ++i) {
    const egg_param& param = program.params[i];
    const auto count = static_cast<int64_t>(weight_count(param));
    if (changed[i] >= 0 && changed[i] <= count) continue;
    throw Error(
        fmt::format("{} gave {} as the count of changed weights of the tensor '{}', expected 0 to {}; use "
                    "another backend or fix the plugin",
                    who, changed[i], param.name, count));
  }
}

// Throws Error if votes depend on what was read and the call leaves that out.
void require_read(const egg_session_spec& spec, const egg_update& update) {
  if (spec.site_count > 0 && update.sites == nullptr) {
    throw Error("an update with sites was not told the sums of their errors; pass those of the step's evaluation");
  }
  const egg_voters* voters = spec.voters;
  const uint32_t params = spec.program->param_count;
  const bool masked =
      voters != nullptr && std::any_of(voters, voters + params, [](const egg_voters& v) { return v.masked != 0; });
  const egg_batch& batch = update.batch;
  const bool covers_all =
      update.members_per_stream >= 2 && uint64_t{batch.streams} * update.members_per_stream >= spec.population;
  const bool has_rows = spec.program->index_count == 0 || batch.rows != nullptr;
  if (!masked || (covers_all && batch.inputs != nullptr && has_rows)) return;
  throw Error("an update of a masked parameter was not told what all members read; pass the step's batch");
}

// Throws Error if a session with sites is to evaluate other windows than its own.
void require_windows(const egg_session_spec& spec, const egg_evaluate& evaluate) {
  if (spec.site_count == 0) return;
  if (evaluate.sites != nullptr && evaluate.batch.tokens == spec.tokens &&
      evaluate.members_per_stream == spec.members_per_stream) {
    return;
  }
  throw Error(fmt::format(
      "a session with sites was to evaluate {} tokens of streams of {} members, expected {} tokens and {} members, and "
      "room for the sums of errors; open a session for these streams",
      evaluate.batch.tokens, evaluate.members_per_stream, spec.tokens, spec.members_per_stream));
}

// Throws Error if the sums of a site are impossible, or if the losses of its streams differ within a stream.
void require_sums(const std::string& who, const egg_session_spec& spec, const egg_evaluate& evaluate) {
  const uint32_t in_stream = spec.members_per_stream;
  const uint32_t first = evaluate.first / std::max(1U, in_stream);
  for (uint32_t i = 0; i < spec.site_count; ++i) {
    const egg_site& site = spec.sites[i];
    const uint32_t begin = std::max(first, 2 * site.first_pair / in_stream);
    const uint32_t end = std::min(first + evaluate.batch.streams, 2 * (site.first_pair + site.pairs) / in_stream);
    uint64_t tokens = 0;
    for (uint32_t stream = begin; stream < end; ++stream) {
      const uint32_t* targets = evaluate.batch.targets + size_t{stream - first} * spec.tokens;
      tokens += spec.tokens - static_cast<uint64_t>(std::count(targets, targets + spec.tokens, EGG_NO_TARGET));
      const int64_t* losses = evaluate.losses + (stream * in_stream - evaluate.first);
      if (std::count(losses, losses + in_stream, losses[0]) == in_stream) continue;
      throw Error(
          fmt::format("{} gave the members of stream {} different losses, expected those of the unperturbed "
                      "model, since the stream is of a site; use another backend or fix the plugin",
                      who, stream));
    }
    const egg_site_sums& sums = evaluate.sites[i];
    const auto size = static_cast<double>(spec.program->values[site.value].size);
    const double largest = static_cast<double>(tokens) * size * EGG_ERROR_MAX * EGG_ERROR_MAX;
    if (sums.tokens == tokens && sums.squares >= 0 && static_cast<double>(sums.squares) <= largest) continue;
    throw Error(fmt::format(
        "{} gave {} tokens and {} as the squares of their errors for site {}, expected {} tokens and at most "
        "{:.0f}; use another backend or fix the plugin",
        who, sums.tokens, sums.squares, i, tokens, largest));
  }
}

}  // namespace

BackendSession::BackendSession(std::string who, const egg_backend_interface& table, std::shared_ptr<void> backend,
                               const egg_session_spec& spec)
    : who_(std::move(who)),
      table_(&table),
      backend_(std::move(backend)),
      spec_(std::make_unique<egg_session_spec>(spec)) {
  spec_->struct_size = sizeof(egg_session_spec);
  void* session = nullptr;
  call_function({who_, "session_open", Patience::kLong}, table_->session_open, backend_.get(), spec_.get(), &session);
  if (session == nullptr) throw Error(who_ + " gave no session; fix the plugin");
  session_ = closed_at_end(who_, "session_close", table_->session_close, session);
}

template <class Function, class... Arguments>
void BackendSession::call(const char* name, Function function, Arguments... arguments) {
  call_function({who_, name, Patience::kLong}, function, session_.get(), arguments...);
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

void BackendSession::expect_losses(uint32_t count, Threads* threads) {
  int64_t* const losses = losses_.lend(count);
  // No loss is -1, so a loss that the plugin leaves out is found.
  fill_elements(threads, losses, count, int64_t{-1});
  expected_ = count;
}

const int64_t* BackendSession::unchecked_losses_of(egg_evaluate arguments, Threads* threads) {
  require_context(*spec_, arguments.batch);
  require_windows(*spec_, arguments);
  arguments.struct_size = sizeof(arguments);
  egg_site_sums* const sums = arguments.sites;
  std::vector<egg_site_sums> of_call(spec_->site_count);
  arguments.sites = of_call.data();
  if (expected_ != arguments.count) expect_losses(arguments.count, threads);
  expected_.reset();
  arguments.losses = losses_.data();
  call("evaluate", table_->evaluate, &arguments);
  losses_.require_whole(who_, "losses", "evaluate");
  require_sums(who_, *spec_, arguments);
  for (size_t i = 0; i < of_call.size(); ++i) {
    sums[i].tokens += of_call[i].tokens;
    sums[i].squares += of_call[i].squares;
  }
  return arguments.losses;
}

void BackendSession::evaluate(egg_evaluate arguments, Threads* threads) {
  const int64_t* losses = unchecked_losses_of(arguments, threads);
  require_losses(who_, losses, arguments.count, largest_sum(*spec_, arguments.batch), arguments.batch.tokens,
                 "evaluate", threads);
  copy_elements(threads, losses, arguments.count, arguments.losses);
}

int64_t BackendSession::differences_of(egg_evaluate arguments, int64_t* d, Threads* threads) {
  const int64_t* losses = unchecked_losses_of(arguments, threads);
  const uint64_t largest = largest_sum(*spec_, arguments.batch);
  std::atomic<bool> possible = true;
  std::atomic<uint64_t> sum = 0;
  split(threads, arguments.count / 2, fewest_of_urgent(arguments.count / 2), [&](size_t begin, size_t end) {
    uint64_t sum_here = 0;
    if (!compare_pairs(largest, losses + 2 * begin, end - begin, d + begin, sum_here)) possible = false;
    sum += sum_here;
  });
  if (!possible) refuse_losses(who_, losses, arguments.count, largest, arguments.batch.tokens, "evaluate");
  return static_cast<int64_t>(sum);
}

void BackendSession::update(egg_update arguments) {
  require_read(*spec_, arguments);
  arguments.struct_size = sizeof(arguments);
  Lent<int64_t> changed(arguments.changed, spec_->program->param_count);
  arguments.changed = changed.data();
  call("update", table_->update, &arguments);
  changed.give_back(who_, "changed counts", "update");
  require_changed(who_, *spec_->program, changed.data());
}

void BackendSession::infer(egg_infer arguments, Threads* threads) {
  require_context(*spec_, arguments.batch);
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
  require_losses(who_, losses.data(), streams, largest_sum(*spec_, arguments.batch), arguments.batch.tokens, "infer",
                 threads);
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

}  // namespace eggroll
