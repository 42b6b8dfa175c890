// A model's program rewritten so that its values can be seen: the same ops, and for each int8 value a state that keeps
// it. Wide values cannot be stored and are left out; what add or max_norm makes of them is seen.
#ifndef EGGROLL_MONITOR_PROBE_PROGRAM_H
#define EGGROLL_MONITOR_PROBE_PROGRAM_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "program/program.h"

namespace eggroll {

class ProbeProgram {
 public:
  explicit ProbeProgram(const Program& model);

  // It computes what the model computes.
  const Program& program() const { return *program_; }

  // A value of the model, and where its copy lies in a stream's states once a token is read. The copy of a state, as of
  // any other value, is what that token read.
  struct Seen {
    uint32_t value;
    size_t offset;
    size_t size;
  };
  const std::vector<Seen>& seen() const { return seen_; }

 private:
  std::optional<Program> program_;
  std::vector<Seen> seen_;
};

}  // namespace eggroll

#endif
