// What a tile's token costs, counted while the kernels run: docs/notes/metal.md works its floors out from these
// numbers.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "session.h"
#include "shim_device.h"
#include "support/host.h"
#include "threadgroup.h"

namespace eggroll::metal {
namespace {

struct PerToken {
  uint64_t barriers;
  uint64_t matrix_loads;
  uint64_t matrix_products;
  bool operator==(const PerToken&) const = default;
};
void PrintTo(const PerToken& counted, std::ostream* out) {
  *out << counted.barriers << " barriers, " << counted.matrix_loads << " loads, " << counted.matrix_products
       << " products";
}

// What a token of one tile costs where a call has many tokens.
PerToken counted(const std::vector<std::string>& model) {
  std::vector<std::string> overrides = {"optimizer=es_adamw", "train.population=64", "train.members_per_stream=64",
                                        "backend=reference"};
  overrides.insert(overrides.end(), model.begin(), model.end());
  Learner learner(test::repository_config(overrides), test::built_plugins());
  const egg_session_spec spec = learner.session_spec();
  EXPECT_EQ(spec.members, kTileRows);
  std::vector<int64_t> losses(spec.population);
  const auto counts_of = [&](uint32_t tokens) {
    shim_faults().slice_tokens = tokens;
    MetalSession session(open_shim_device(), spec);
    test::Draws draws(1);
    const test::TestStream stream(draws, tokens, static_cast<uint32_t>(spec.program->vocab));
    const PerToken before{shim::counts.barriers, shim::counts.matrix_loads, shim::counts.matrix_products};
    session.evaluate(
        {sizeof(egg_evaluate), spec.population, 0, 0, spec.population, stream.batch(), losses.data(), nullptr});
    return PerToken{shim::counts.barriers - before.barriers, shim::counts.matrix_loads - before.matrix_loads,
                    shim::counts.matrix_products - before.matrix_products};
  };
  const PerToken one = counts_of(1);
  const PerToken two = counts_of(2);
  shim_faults() = ShimFaults{};
  return {two.barriers - one.barriers, two.matrix_loads - one.matrix_loads, two.matrix_products - one.matrix_products};
}

TEST(Counts, OfATilesToken) {
  EXPECT_EQ(counted({"model=gru", "model.width=128", "model.layers=1"}), (PerToken{120, 21504, 28672}));
  EXPECT_EQ(counted({"model=gru", "model.width=256", "model.layers=6"}), (PerToken{1708, 448512, 598016}));
  EXPECT_EQ(counted({"model=int8nativeformer", "model.width=256", "model.layers=4", "model.head_width=64"}),
            (PerToken{1335, 350208, 466944}));
}

}  // namespace
}  // namespace eggroll::metal
