// A backend that writes outside the array that one function gets. Settings: `function` names it; `at` counts elements
// from the array's end on, or, where it is negative, back from its beginning.
#include <string>

#include "stub_backend.h"

namespace {

class Overrunning : public eggroll::Session {
 public:
  Overrunning(const egg_session_spec& spec, std::string function, int64_t at)
      : program_(*spec.program), function_(std::move(function)), at_(at) {}

  void set_weights(uint32_t, const int8_t*) override {}
  void get_weights(uint32_t, int8_t* weights) override { write("get_weights", weights, 6); }
  void set_slot(uint32_t, uint32_t, const void*) override {}
  void get_slot(uint32_t, uint32_t, void* data) override { write("get_slot", static_cast<int32_t*>(data), 6); }
  void set_states(uint32_t, uint32_t, const int8_t*) override {}
  void get_states(uint32_t, uint32_t count, int8_t* states) override { write("get_states", states, 5 * count); }
  void evaluate(const egg_evaluate& e) override { write("evaluate", e.losses, e.count); }
  void update(const egg_update& u) override { write("update", u.changed, program_.param_count); }
  void infer(const egg_infer& i) override {
    write("infer states", i.states, 5 * i.batch.streams);
    write("infer losses", i.losses, i.batch.streams);
    write("infer logits", i.logits, 4 * i.batch.streams);
  }
  // The site has one stream of two tokens, a table and a matrix (4, 5).
  void get_site_part(const egg_site_part& part) override {
    write("part errors", part.errors, 8);
    write("part perturbed", part.perturbed, 2);
    write("part votes", part.votes, 25);
  }

 private:
  template <class T>
  void write(const char* function, T* values, uint32_t count) const {
    for (uint32_t i = 0; i < count; ++i) values[i] = 5;
    if (function_ == function) values[at_ < 0 ? at_ : at_ + count] = 5;
  }

  const egg_program& program_;
  std::string function_;
  int64_t at_;
};

class Overruns : public StubBackend {
 public:
  explicit Overruns(eggroll::Settings& settings)
      : StubBackend("/dev/null"), function_(settings.text("function")), at_(settings.integer("at", -100, 100)) {
    settings.finish();
  }
  bool supports_site(const egg_program&, const egg_site&) override { return true; }
  std::unique_ptr<eggroll::Session> open_session(const egg_session_spec& spec) override {
    return std::make_unique<Overrunning>(spec, function_, at_);
  }

 private:
  std::string function_;
  int64_t at_;
};

}  // namespace

EGGROLL_BACKEND("overruns", "1.0", Overruns, &eggroll::probe_always);
