#include "bench/op_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <random>

#include "bench/peak_meter.h"
#include "eggroll/program_builder.h"

namespace eggroll::bench {
namespace {

constexpr int32_t kFixedPoint = 4;
constexpr int32_t kLogitUnit = 4096;
constexpr int32_t kElements = 8192;  // elements of all copies of an elementwise op together, for each token
constexpr int32_t kSmallVocab = 2;   // makes a loss that costs next to nothing

// Two programs: one has `copies` copies of an op, the other has none. All else is the same.
struct OpForm {
  int32_t vocab;
  int32_t copies;
  bool scored;   // whether the loss is computed
  double units;  // for each token and all copies: multiply-adds of linear, else elements
  bool is_linear;
  // Adds the op's copies to a program.
  std::function<void(ProgramBuilder&, int32_t copies)> build;
};

// A state that keeps the value that it was set to.
Value input(ProgramBuilder& program, const std::string& name, int32_t size) {
  const Value state = program.state(name, size);
  program.store(state, state);
  return state;
}

// Applies x = next(x) `copies` times, and stores the last x.
void chain(ProgramBuilder& program, int32_t width, int32_t copies,
           const std::function<Value(const std::string&, Value)>& next) {
  Value x = input(program, "x", width);
  for (int32_t i = 0; i < copies; ++i) x = next(fmt::format("y{}", i), x);
  program.store(program.state("result", width), x);
}

OpForm elementwise(int32_t width, std::function<void(ProgramBuilder&, int32_t)> build) {
  const int32_t copies = std::max(1, kElements / width);
  return OpForm{kSmallVocab, copies, false, static_cast<double>(copies) * width, false, std::move(build)};
}

OpForm linear_form(int32_t width) {
  constexpr int32_t kCopies = 8;
  const auto build = [width](ProgramBuilder& program, int32_t copies) {
    chain(program, width, copies, [&](const std::string& name, Value x) {
      return program.linear(name, x, program.matrix(name + ".w", width, width, 16), 8);
    });
  };
  return OpForm{kSmallVocab, kCopies, false, static_cast<double>(kCopies) * width * width, true, build};
}

OpForm l1_norm_form(int32_t width) {
  return elementwise(width, [width](ProgramBuilder& program, int32_t copies) {
    const Param gain = copies > 0 ? program.vector("gain", width, 16) : Param{};
    chain(program, width, copies,
          [&](const std::string& name, Value x) { return program.l1_norm(name, x, gain, EGG_DIVIDE_RECIPROCAL); });
  });
}

OpForm add_form(int32_t width) {
  return elementwise(width, [width](ProgramBuilder& program, int32_t copies) {
    const Param bias = copies > 0 ? program.vector("bias", width, 1) : Param{};
    const Value other = input(program, "other", width);
    chain(program, width, copies, [&](const std::string& name, Value x) { return program.add(name, x, other, bias); });
  });
}

OpForm gru_gate_form(int32_t width) {
  return elementwise(width, [width](ProgramBuilder& program, int32_t copies) {
    const Value f = input(program, "f", width);
    chain(program, width, copies, [&](const std::string& name, Value x) { return program.gru_gate(name, f, x); });
  });
}

OpForm gru_mix_form(int32_t width) {
  return elementwise(width, [width](ProgramBuilder& program, int32_t copies) {
    const Value f = input(program, "f", width);
    const Value c = input(program, "c", width);
    chain(program, width, copies, [&](const std::string& name, Value x) { return program.gru_mix(name, f, x, c); });
  });
}

// Each copy has a table of its own and stores the row that it read. In the program without copies the same states keep
// their values.
OpForm embed_form(int32_t width) {
  constexpr int32_t kVocab = 256;
  constexpr int32_t kCopies = 8;
  const auto build = [width](ProgramBuilder& program, int32_t copies) {
    for (int32_t i = 0; i < kCopies; ++i) {
      const Value kept = program.state(fmt::format("kept{}", i), width);
      const Value read = i < copies ? program.embed(fmt::format("y{}", i),
                                                    program.matrix(fmt::format("table{}", i), kVocab, width, 16))
                                    : kept;
      program.store(kept, read);
    }
  };
  return OpForm{kVocab, kCopies, false, static_cast<double>(kCopies) * width, false, build};
}

// Each copy adds a row of a table of 4,096 rows to the last copy's result.
OpForm embed_index_form(int32_t width) {
  constexpr int32_t kRows = 4096;
  constexpr int32_t kCopies = 8;
  const auto build = [width](ProgramBuilder& program, int32_t copies) {
    chain(program, width, copies, [&](const std::string& name, Value x) {
      return program.embed(name, program.matrix(name + ".w", kRows, width, 16), program.index(2, kRows), x);
    });
  };
  return OpForm{kSmallVocab, kCopies, false, static_cast<double>(kCopies) * width, false, build};
}

constexpr int32_t kContext = 16;  // positions in each call of the programs

OpForm lut_form(int32_t width) {
  return elementwise(width, [width](ProgramBuilder& program, int32_t copies) {
    const Table table = copies > 0 ? program.table("entries", std::vector<int32_t>(256, 5)) : Table{};
    chain(program, width, copies, [&](const std::string& name, Value x) { return program.lut(name, x, table); });
  });
}

// The max_norm of a wide sum, as models use it for residuals.
OpForm max_norm_form(int32_t width) {
  return elementwise(width, [width](ProgramBuilder& program, int32_t copies) {
    const Value other = input(program, "other", width);
    chain(program, width, copies, [&](const std::string& name, Value x) {
      return program.max_norm(name, program.wide_add(name + ".sum", x, other));
    });
  });
}

OpForm rope_form(int32_t width) {
  return elementwise(width, [width](ProgramBuilder& program, int32_t copies) {
    const std::vector<int32_t> angles(static_cast<size_t>(kContext) * 32, 1 << 19);
    const Table table = copies > 0 ? program.table("angles", angles) : Table{};
    chain(program, width, copies, [&](const std::string& name, Value x) { return program.rope(name, x, table, 32); });
  });
}

// A call has the positions 0 to 15, so each attends to eight and a half positions on average.
OpForm attention_form(int32_t width) {
  return elementwise(width, [width](ProgramBuilder& program, int32_t copies) {
    const Value k = input(program, "k", width);
    const Value v = input(program, "v", width);
    const Table table = copies > 0 ? program.table("weights", std::vector<int32_t>(256, 9999)) : Table{};
    chain(program, width, copies, [&](const std::string& name, Value x) {
      return program.attention(name, x, k, v, table, 32, EGG_WEIGHT_SOFTMAX, 7);
    });
  });
}

OpForm loss_form(int32_t width) {
  return OpForm{width, 1, true, static_cast<double>(width), false, [](ProgramBuilder&, int32_t) {}};
}

const std::map<std::string, OpForm (*)(int32_t)> kForms = {
    {"linear", &linear_form},     {"l1_norm", &l1_norm_form}, {"add", &add_form},   {"gru_gate", &gru_gate_form},
    {"gru_mix", &gru_mix_form},   {"embed", &embed_form},     {"lut", &lut_form},   {"embed_index", &embed_index_form},
    {"max_norm", &max_norm_form}, {"rope", &rope_form},       {"loss", &loss_form}, {"attention", &attention_form}};

// A session of a program, ready to evaluate.
class OpProgram {
 public:
  // copies 0: all but the op. For loss it is the program with the smallest vocabulary.
  OpProgram(const Learner& learner, const OpForm& form, int32_t copies, uint32_t tokens)
      : population_(learner.train.population), members_per_stream_(learner.train.members_per_stream) {
    const int32_t vocab = form.scored && copies == 0 ? kSmallVocab : form.vocab;
    ProgramBuilder builder(vocab, kFixedPoint, EGG_ROUND_NEAREST, kContext);
    // A program must have a parameter; this one has a single weight.
    const Param weight = builder.vector("weight", 1, 0);
    builder.freeze(weight);
    const Value kept = builder.state("kept", 1);
    builder.store(kept, builder.add("moved", kept, Value{}, weight));
    form.build(builder, copies);
    builder.loss(input(builder, "logits", vocab), kLogitUnit);
    program_.emplace(*builder.view());
    require_no_overflow(program_->view(), learner.noise);
    learner.backend->require_support(program_->view(), learner.rule->view());
    session_.emplace(learner.backend->open_session(
        egg_session_spec{sizeof(egg_session_spec), learner.threads, &program_->view(), &learner.rule->view(),
                         learner.noise, population_, 0, population_, 0, nullptr}));
    std::minstd_rand draw(1);
    const auto fill = [&](std::vector<int8_t>& values) {
      for (int8_t& value : values) value = static_cast<int8_t>(static_cast<int32_t>(draw() % 255) - 127);
    };
    for (uint32_t i = 0; i < program_->params().size(); ++i) {
      std::vector<int8_t> weights(weight_count(program_->params()[i]));
      fill(weights);
      session_->set_weights(i, weights.data());
    }
    std::vector<int8_t> states(size_t{population_} * program_->state_bytes());
    fill(states);
    session_->set_states(0, population_, states.data());
    batch_ = random_batch(program_->view(), population_ / members_per_stream_, tokens);
    if (!form.scored) std::fill(batch_.targets.begin(), batch_.targets.end(), EGG_NO_TARGET);
    losses_.resize(population_);
    evaluate();
  }

  double evaluate() {
    return seconds_of([&] {
      session_->evaluate(egg_evaluate{sizeof(egg_evaluate), members_per_stream_, 0, 0, population_, batch_.view(),
                                      losses_.data(), nullptr});
    });
  }

 private:
  uint32_t population_;
  uint32_t members_per_stream_;
  std::optional<Program> program_;
  std::optional<BackendSession> session_;
  BatchBuffer batch_;
  std::vector<int64_t> losses_;
};

class OpCase : public Case {
 public:
  OpCase(const Host& host, const std::string& backend, const std::string& op, int32_t width)
      : form_(kForms.at(op)(width)),
        slow_(backend == "reference"),
        tokens_(slow_ ? 4 : kContext),
        learner_(open_learner(
            host, backend, {slow_ ? "train.population=16" : "train.population=1024", "train.members_per_stream=16"})),
        peak_(peak_of(backend), host.threads),
        with_(learner_, form_, form_.copies, tokens_),
        without_(learner_, form_, 0, tokens_) {}

  void run(benchmark::State& state) override {
    double difference = 0.0;
    peak_.reset();
    peak_.take_slice();
    for ([[maybe_unused]] auto _ : state) {
      peak_.between_iterations();
      const double with = with_.evaluate();
      state.SetIterationTime(with);
      difference += with - without_.evaluate();
    }
    peak_.take_slice();
    const double units = form_.units * learner_.train.population * tokens_ * static_cast<double>(state.iterations());
    if (form_.is_linear) {
      const double gmacs = units / difference / 1e9;
      state.counters["GMAC/s"] = gmacs;
      state.counters["peak_GMAC/s"] = peak_.mean();
      state.counters["peak_ratio"] = gmacs / peak_.mean();
      state.SetLabel(peak_.name());
    } else {
      state.counters["ns_per_element"] = difference * 1e9 / units;
    }
  }

 private:
  OpForm form_;
  bool slow_;
  uint32_t tokens_;
  Learner learner_;
  PeakMeter peak_;
  OpProgram with_;
  OpProgram without_;
};

}  // namespace

const std::vector<std::string>& benchmarked_ops() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const auto& [name, form] : kForms) all.push_back(name);
    return all;
  }();
  return names;
}

std::unique_ptr<Case> open_op_case(const Host& host, const std::string& backend, const std::string& op, int32_t width) {
  return std::make_unique<OpCase>(host, backend, op, width);
}

}  // namespace eggroll::bench
