#include "session.h"

#include <algorithm>
#include <cstring>

namespace eggroll::reference {
namespace {

Stream stream_of(const egg_batch& batch, size_t stream, size_t indices) {
  const size_t at = stream * batch.tokens;
  return Stream{batch.tokens, batch.inputs + at, batch.targets + at, batch.resets + at, batch.rows + at * indices};
}

}  // namespace

ReferenceSession::ReferenceSession(const egg_session_spec& spec)
    : spec_(spec), model_(spec), rule_(spec.rule), noise_(spec.noise), threads_(spec.threads), first_(spec.first) {
  const egg_program& program = *spec.program;
  for (uint32_t i = 0; i < program.param_count; ++i) {
    const LoweredParam& param = model_.params[i];
    slots_.emplace_back(param.perturbed ? param.count() * rule_->slot_count : 0);
  }
  states_.resize(spec.members * model_.state_bytes);
  for (uint32_t i = 0; i < spec.site_count; ++i) sites_.emplace_back(spec, i);
}

uint64_t ReferenceSession::memory(const egg_session_spec& spec, uint32_t population) {
  const egg_program& program = *spec.program;
  const LoweredProgram lowered(spec);
  uint64_t shared = spec.noise.source == EGG_NOISE_TABLE ? uint64_t{1} << spec.noise.table_log2 : 0;
  uint64_t thread = 0;
  uint64_t most_draws = 0;
  for (const LoweredParam& param : lowered.params) {
    shared += param.count() * sizeof(Weights::value_type);
    if (!param.perturbed) continue;
    shared += param.count() * spec.rule->slot_count * sizeof(uint32_t);
    const uint64_t draws = (uint64_t{param.rows} + param.b_count) * param.ranks;
    thread += draws;
    most_draws = std::max(most_draws, draws);
  }
  for (uint32_t i = 0; i < program.value_count; ++i) {
    const egg_value& value = program.values[i];
    const auto size = static_cast<uint64_t>(value.size);
    thread += size * (value.is_wide != 0 ? sizeof(int32_t) : 1) + (value.is_state != 0 ? size : 0);
  }
  for (uint32_t i = 0; i < program.op_count; ++i) {
    const egg_op& op = program.ops[i];
    if (op.code != EGG_OP_ATTENTION) continue;
    thread += 2 * static_cast<uint64_t>(program.context) * static_cast<uint64_t>(program.values[op.out].size);
  }
  for (uint32_t i = 0; i < spec.site_count; ++i) shared += SiteErrors::bytes(spec, i, population);
  return shared + own_members(spec, population) * lowered.state_bytes + population / 2 * most_draws * sizeof(int16_t) +
         Threads::number(spec.threads) * thread;
}

void ReferenceSession::set_weights(uint32_t param, const int8_t* weights) {
  Weights& mine = model_.weights.at(param);
  std::copy_n(weights, mine.size(), mine.begin());
}

void ReferenceSession::get_weights(uint32_t param, int8_t* weights) {
  const Weights& mine = model_.weights.at(param);
  std::transform(mine.begin(), mine.end(), weights, [](int16_t w) { return static_cast<int8_t>(w); });
}

void ReferenceSession::set_slot(uint32_t param, uint32_t slot, const void* data) {
  std::vector<uint32_t>& mine = slots_.at(param);
  const auto* bytes = static_cast<const char*>(data);
  for (size_t i = slot; i < mine.size(); i += rule_->slot_count, bytes += sizeof(uint32_t))
    std::memcpy(&mine[i], bytes, sizeof(uint32_t));
}

void ReferenceSession::get_slot(uint32_t param, uint32_t slot, void* data) {
  const std::vector<uint32_t>& mine = slots_.at(param);
  auto* bytes = static_cast<char*>(data);
  for (size_t i = slot; i < mine.size(); i += rule_->slot_count, bytes += sizeof(uint32_t))
    std::memcpy(bytes, &mine[i], sizeof(uint32_t));
}

void ReferenceSession::set_states(uint32_t first, uint32_t count, const int8_t* states) {
  std::copy_n(states, count * model_.state_bytes, state_of(first));
}

void ReferenceSession::get_states(uint32_t first, uint32_t count, int8_t* states) {
  std::copy_n(state_of(first), count * model_.state_bytes, states);
}

void ReferenceSession::evaluate(const egg_evaluate& e) {
  evaluate_pairs(e);
  if (!sites_.empty()) evaluate_sites(e);
}

void ReferenceSession::evaluate_pairs(const egg_evaluate& e) {
  const auto is_of_site = [&](uint32_t pair) {
    return std::any_of(sites_.begin(), sites_.end(), [&](const SiteErrors& site) { return site.has_pair(pair); });
  };
  threads_.split(e.count / 2, [&](size_t begin, size_t end) {
    Frame frame(*model_.program);
    for (size_t p = begin; p < end; ++p) {
      const size_t first_member = e.first + 2 * p;
      const auto pair = static_cast<uint32_t>(first_member / 2);
      if (is_of_site(pair)) continue;
      const std::vector<ParamNoise> noise = draw_noise(model_, noise_, e.step, pair);
      for (const size_t member : {first_member, first_member + 1}) {
        const size_t local = member - e.first;
        e.losses[local] = run_member(model_, &noise, member % 2 == 0 ? 1 : -1,
                                     stream_of(e.batch, local / e.members_per_stream, model_.program->index_count),
                                     frame, state_of(member), nullptr);
      }
    }
  });
}

void ReferenceSession::evaluate_sites(const egg_evaluate& e) {
  const uint32_t before = e.first / e.members_per_stream;  // streams of the step before the call's
  threads_.split(e.batch.streams, [&](size_t begin, size_t end) {
    for (auto s = static_cast<uint32_t>(begin); s < end; ++s) {
      std::vector<SiteErrors*> sites;
      for (SiteErrors& site : sites_) {
        if (site.has(before + s)) sites.push_back(&site);
      }
      if (sites.empty()) continue;
      const uint32_t first = e.first + s * e.members_per_stream;
      const int64_t loss = run_sites(model_, e.step, before + s, sites,
                                     stream_of(e.batch, s, model_.program->index_count), state_of(first));
      for (uint32_t i = 0; i < e.members_per_stream; ++i) {
        e.losses[first - e.first + i] = loss;
        std::copy_n(state_of(first), model_.state_bytes, state_of(first + i));
      }
    }
  });
  for (const SiteErrors& site : sites_) {
    for (uint32_t s = before; s < before + e.batch.streams; ++s) {
      if (site.has(s)) site.add_to(e.sites[site.number], s, s + 1);
    }
  }
}

void ReferenceSession::infer(const egg_infer& i) {
  const auto vocab = static_cast<size_t>(model_.program->vocab);
  threads_.split(i.batch.streams, [&](size_t begin, size_t end) {
    Frame frame(*model_.program);
    for (size_t s = begin; s < end; ++s) {
      i.losses[s] = run_member(model_, nullptr, 0, stream_of(i.batch, s, model_.program->index_count), frame,
                               i.states + s * model_.state_bytes, i.logits == nullptr ? nullptr : i.logits + s * vocab);
    }
  });
}

}  // namespace eggroll::reference
