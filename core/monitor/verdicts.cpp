#include "monitor/verdicts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "eggroll/op_signature.h"

namespace eggroll {
namespace {

// Whether the op passes on inputs at +-127. An op that reads more than a channel scales anew.
bool passes_saturation_on(const egg_op& op) {
  const OpAccess access = signature_of(op).access;
  return access == OpAccess::kChannel || access == OpAccess::kState;
}

// Which of the program's values are saturated or dead. Wide values are not seen and count as neither.
struct Marks {
  std::vector<bool> saturated;
  std::vector<bool> dead;
};

Marks marks_of(const Program& program, const MonitorReport& report) {
  Marks marks{std::vector<bool>(program.values().size()), std::vector<bool>(program.values().size())};
  for (const ValueReport& value : report.values) {
    marks.saturated[static_cast<size_t>(value.value)] = value.spread.saturated >= kSaturated;
    marks.dead[static_cast<size_t>(value.value)] = value.constant >= kDead;
  }
  return marks;
}

// The values that the op reads.
std::vector<size_t> inputs_of(const egg_op& op) {
  std::vector<size_t> inputs;
  std::copy_if(std::begin(op.in), std::end(op.in), std::back_inserter(inputs), [](int32_t in) { return in >= 0; });
  return inputs;
}

// Whether next to no pair has had a fitness. Everything else that is to be seen then follows from that.
bool lacks_votes(const MonitorReport& report) {
  const bool perturbed = std::any_of(report.tensors.begin(), report.tensors.end(),
                                     [](const TensorReport& tensor) { return tensor.perturbed; });
  if (!perturbed) return false;
  return !report.vote_deviations ||
         (report.vote_steps >= kStepsToMove && report.pairs_without_fitness >= kNearlyAllWithout);
}

void judge_values(const Program& program, const MonitorReport& report, std::vector<std::string>& verdicts) {
  const Marks marks = marks_of(program, report);
  const int32_t logits = program.ops().back().in[0];  // those of a sure model are at +-127
  for (const ValueReport& value : report.values) {
    const auto self = static_cast<size_t>(value.value);
    const egg_op& op = *std::find_if(program.ops().begin(), program.ops().end(),
                                     [&](const egg_op& each) { return each.out == value.value; });
    const std::vector<size_t> inputs = inputs_of(op);
    if (marks.saturated[self] && value.value != logits) {
      // A state holds what its store was given one token ago. It excuses nothing, or a value and its state would excuse
      // each other.
      const auto excuses = [&](size_t in) { return marks.saturated[in] && program.values()[in].is_state == 0; };
      const bool inherited = passes_saturation_on(op) && std::any_of(inputs.begin(), inputs.end(), excuses);
      if (inherited) continue;
      verdicts.push_back(
          fmt::format("{}: {:.0f} % of values at ±127; lower the gains or weights before it, or shift more", value.name,
                      100.0 * value.spread.saturated));
    } else if (marks.dead[self] && !lacks_votes(report)) {
      const bool inherited =
          !inputs.empty() && std::all_of(inputs.begin(), inputs.end(), [&](size_t in) { return marks.dead[in]; });
      if (inherited) continue;
      verdicts.push_back(
          fmt::format("{}: dead, because {:.0f} % of channels are the same for every token; raise the gains or "
                      "weights before it, or shift less",
                      value.name, 100.0 * value.constant));
    }
  }
}

void judge_heads(const MonitorReport& report, std::vector<std::string>& verdicts) {
  for (const HeadReport& head : report.heads) {
    if (head.spread.largest < kOneToken) continue;
    verdicts.push_back(
        fmt::format("{} head {}: attends to one token, with {:.0f} % of the weight; shift its scores more, or give a "
                    "bit of weight more score steps",
                    head.name, head.head, 100.0 * head.spread.largest));
  }
}

void judge_tensors(const MonitorReport& report, std::vector<std::string>& verdicts) {
  for (const TensorReport& tensor : report.tensors) {
    if (tensor.spread.saturated >= kSaturated) {
      verdicts.push_back(fmt::format("{}: {:.0f} % of weights at ±127; begin lower, or use weight decay", tensor.name,
                                     100.0 * tensor.spread.saturated));
    }
    if (!tensor.perturbed) {
      verdicts.push_back(fmt::format("{}: never moves, because the model keeps it frozen", tensor.name));
    } else if (tensor.moved_since_start == 0.0 && report.step >= kStepsToMove && tensor.votes) {
      verdicts.push_back(
          fmt::format("{}: never moves, because all weights are those of {} steps ago; raise the "
                      "optimizer's learning rate or lower its threshold",
                      tensor.name, report.step));
    }
  }
}

// One verdict for all tensors: where the perturbation is lost, it is mostly lost in many tensors.
void judge_tensors_without_votes(const MonitorReport& report, std::vector<std::string>& verdicts) {
  const auto is_without = [](const TensorReport& tensor) { return tensor.perturbed && !tensor.votes; };
  const auto first = std::find_if(report.tensors.begin(), report.tensors.end(), is_without);
  if (first == report.tensors.end() || report.vote_steps < kStepsToMove) return;
  const auto others = std::count_if(first + 1, report.tensors.end(), is_without);
  verdicts.push_back(
      fmt::format("{}{}: no votes, because for {} steps both members of every pair that perturbs {} have had the same "
                  "loss; perturb "
                  "more (lower noise.sigma_shift and the other shifts of noise)",
                  first->name, others == 0 ? "" : fmt::format(" and {} more tensor{}", others, others == 1 ? "" : "s"),
                  report.vote_steps, others == 0 ? "it" : "them"));
}

// The change that helps if votes are noise, as far as the report can tell.
std::string cure_of_noise(const MonitorReport& report) {
  if (report.pairs_without_fitness >= kManyWithout) {
    return fmt::format(
        "{:.0f} % of the pairs had no fitness, for both members had the same loss: perturb more (lower "
        "noise.sigma_shift and the other shifts of noise)",
        100.0 * report.pairs_without_fitness);
  }
  if (report.cost_of_noise && *report.cost_of_noise >= kCostly) {
    return fmt::format(
        "the perturbed members lose {:.1f} bits more than the model: perturb less (raise noise.sigma_shift and the "
        "other shifts of noise), or use more members",
        *report.cost_of_noise);
  }
  if (report.cost_of_noise && std::abs(*report.cost_of_noise) < kFree) {
    return "the perturbed members lose about as much as the model: use more members, or perturb more (lower "
           "noise.sigma_shift and the other shifts of noise)";
  }
  return "use more members, or try noise.sigma_shift and the other shifts of noise one lower and one higher";
}

void judge_votes(const MonitorReport& report, std::vector<std::string>& verdicts) {
  if (lacks_votes(report)) {
    const std::string who = report.vote_deviations
                                ? fmt::format("next to no votes: for {} steps both members of {:.1f} % of the pairs",
                                              report.vote_steps, 100.0 * report.pairs_without_fitness)
                                : fmt::format("no votes: for {} steps both members of every pair", report.vote_steps);
    verdicts.push_back(fmt::format(
        "there are {} have had the same loss; perturb more (lower noise.sigma_shift and the other shifts of noise)",
        who));
  } else if (report.vote_deviations && report.vote_steps == kVoteSteps && *report.vote_deviations < kChance) {
    verdicts.push_back(
        fmt::format("votes are mostly noise: over {} steps they are spread no further than by chance; {}",
                    report.vote_steps, cure_of_noise(report)));
  }
}

}  // namespace

std::vector<std::string> verdicts_of(const Program& program, const MonitorReport& report) {
  std::vector<std::string> verdicts;
  if (lacks_votes(report)) {
    judge_votes(report, verdicts);
    judge_values(program, report, verdicts);
    return verdicts;
  }
  judge_values(program, report, verdicts);
  judge_heads(report, verdicts);
  judge_tensors(report, verdicts);
  judge_tensors_without_votes(report, verdicts);
  judge_votes(report, verdicts);
  return verdicts;
}

}  // namespace eggroll
