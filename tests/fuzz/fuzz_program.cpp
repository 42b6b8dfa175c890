// The input is a model's program, as a plugin gives it to the host, and noise settings.
#include <optional>

#include "fuzz/input.h"
#include "fuzz/outcome.h"
#include "fuzz/seam_bytes.h"
#include "program/program.h"

using namespace eggroll;
using namespace eggroll::test;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const SeamProgram input(text_of(data, size));
  std::optional<Program> program;
  if (!accepts([&] { program.emplace(input.program); })) return 0;
  must_accept("a copy", [&] { require(Program(program->view()).text() == program->text(), "another program"); });
  uint64_t weights = 0;
  for (const egg_param& param : program->params()) weights += weight_count(param);
  require(program->weight_count() == weights, "another number of weights");
  uint64_t states = 0;
  for (const egg_value& value : program->values())
    states += value.is_state != 0 ? static_cast<uint64_t>(value.size) : 0;
  require(program->state_bytes() == states, "another size of states");
  for (const AccumulatorBound& bound : accumulator_bounds(program->view(), input.noise)) {
    require(bound.largest >= 0 && bound.op < program->ops().size(), "a bound that is none");
  }
  accepts([&] { require_no_overflow(program->view(), input.noise); });
  accepts([&] { require_table_covers(program->view(), input.noise); });
  return 0;
}
