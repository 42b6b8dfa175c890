// A small program whose every part a test can break.
#ifndef EGGROLL_TESTS_PROGRAM_RAW_PROGRAM_H
#define EGGROLL_TESTS_PROGRAM_RAW_PROGRAM_H

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "program/tiny_programs.h"
#include "record/scratch.h"

namespace eggroll::test {

// A program as plain lists, free to be changed.
struct RawProgram {
  explicit RawProgram(ProgramBuilder made = tiny_program()) : builder(std::move(made)), program(*builder.view()) {
    params.assign(program.params, program.params + program.param_count);
    values.assign(program.values, program.values + program.value_count);
    ops.assign(program.ops, program.ops + program.op_count);
    tables.assign(program.tables, program.tables + program.table_count);
  }

  // Points the program to the lists as they are now.
  const egg_program& view() {
    program.param_count = static_cast<uint32_t>(params.size());
    program.value_count = static_cast<uint32_t>(values.size());
    program.op_count = static_cast<uint32_t>(ops.size());
    program.table_count = static_cast<uint32_t>(tables.size());
    program.params = params.data();
    program.values = values.data();
    program.ops = ops.data();
    program.tables = tables.data();
    return program;
  }

  ProgramBuilder builder;  // owns the names and the tables' entries
  egg_program program;
  std::vector<egg_param> params;
  std::vector<egg_value> values;
  std::vector<egg_op> ops;
  std::vector<egg_table> tables;
};

// A change that breaks what a Raw stands for, and the part of the refusal between its usual beginning and cure.
template <class Raw>
struct BrokenPart {
  const char* name;
  std::function<void(Raw&)> change;
  std::string fault;
};

template <class Raw>
void PrintTo(const BrokenPart<Raw>& broken, std::ostream* out) {
  *out << broken.fault;
}

template <class Raw>
std::string name_of(const testing::TestParamInfo<BrokenPart<Raw>>& info) {
  return info.param.name;
}

}  // namespace eggroll::test

#endif
