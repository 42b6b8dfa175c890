#include "plugin/instance.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <set>

#include "eggroll/error.h"
#include "plugin/lent.h"
#include "plugin/watchdog.h"
#include "program/op_info.h"

namespace eggroll {
namespace {

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
  self_ = closed_at_end(who_, "close", descriptor->close, opening->self());
}

ModelInstance::ModelInstance(const ChosenPlugin& plugin, const egg_settings& settings)
    : Instance(plugin, EGG_KIND_MODEL, settings) {
  call_function({who(), "program", Patience::kShort, plugin.file.path}, table<egg_model_interface>().program,
                self().get(), &program_);
  if (program_ == nullptr) throw Error(who() + " gave no program; fix the plugin");
}

OptimizerInstance::OptimizerInstance(const ChosenPlugin& plugin, const egg_settings& settings)
    : Instance(plugin, EGG_KIND_OPTIMIZER, settings) {
  call_function({who(), "rule", Patience::kShort, plugin.file.path}, table<egg_optimizer_interface>().rule,
                self().get(), &rule_);
  if (rule_ == nullptr) throw Error(who() + " gave no rule; fix the plugin");
}

std::vector<float> OptimizerInstance::scalars(uint64_t step, std::span<const egg_evaluation> evaluations) const {
  const egg_progress progress{sizeof(egg_progress), static_cast<uint32_t>(evaluations.size()), step,
                              evaluations.data()};
  std::vector<float> values(rule_->scalar_count);
  Lent<float> lent(values.data(), values.size());
  call_function({who(), "scalars"}, table<egg_optimizer_interface>().scalars, self().get(), &progress, lent.data());
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
  return says_yes({who(), "supports_op"}, table<egg_backend_interface>().supports_op, self().get(), &program, op);
}

bool BackendInstance::supports_rule_op(int32_t code) const {
  return says_yes({who(), "supports_rule_op"}, table<egg_backend_interface>().supports_rule_op, self().get(), code);
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
  const auto supports_site = table<egg_backend_interface>().supports_site;
  for (uint32_t i = 0; i < spec.site_count; ++i) {
    const egg_site& site = spec.sites[i];
    if (says_yes({who(), "supports_site"}, supports_site, self().get(), spec.program, &site)) continue;
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
  call_function({who(), "session_plan", Patience::kLong}, table<egg_backend_interface>().session_plan, self().get(),
                &spec, &plan);
  if (plan.memory == 0) throw Error(who() + " plans a session that takes no memory; fix the plugin");
  return {plan.memory, plan_text(who(), "device", plan.device), plan_text(who(), "plan", plan.plan)};
}

BackendSession BackendInstance::open_session(const egg_session_spec& spec) const {
  require_sites(spec);
  return BackendSession(who(), table<egg_backend_interface>(), self(), spec);
}

ProcessesInstance::ProcessesInstance(const ChosenPlugin& plugin, const egg_settings& settings)
    : Instance(plugin, EGG_KIND_PROCESSES, settings) {}

template <class Function, class... Arguments>
void ProcessesInstance::call(const char* name, Function function, Arguments... arguments) {
  call_function({who(), name, Patience::kUnwatched}, function, self().get(), arguments...);
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
