// Measures one op at a time, in a small program around many copies of it.
#ifndef EGGROLL_BENCH_OP_CASE_H
#define EGGROLL_BENCH_OP_CASE_H

#include <memory>

#include "bench/case.h"

namespace eggroll::bench {

// The ops that can be measured by themselves: all but store.
const std::vector<std::string>& benchmarked_ops();

// width: the size of the op's input and output; for loss the vocabulary.
std::unique_ptr<Case> open_op_case(const Host& host, const std::string& backend, const std::string& op, int32_t width);

}  // namespace eggroll::bench

#endif
