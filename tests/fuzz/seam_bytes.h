// Programs and rules as bytes: every field of every structure comes from the input, the lists are as long as they say,
// and names are chosen from a few good and bad ones. fuzz_seeds writes these bytes and the fuzzers read them.
#ifndef EGGROLL_TESTS_FUZZ_SEAM_BYTES_H
#define EGGROLL_TESTS_FUZZ_SEAM_BYTES_H

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "eggroll/plugin.h"

namespace eggroll::test {

class BytesReader {
 public:
  explicit BytesReader(std::string_view bytes) : rest_(bytes) {}

  // Returns zeros after the end of the input.
  template <class T>
  T take() {
    T value{};
    const size_t size = std::min(sizeof(T), rest_.size());
    std::memcpy(&value, rest_.data(), size);
    rest_.remove_prefix(size);
    return value;
  }

 private:
  std::string_view rest_;
};

template <class T>
void put(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

// Name i of a list; the last numbers give bad names.
inline const char* name_of(uint8_t number) {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (int i = 0; i < 240; ++i) all.push_back("n" + std::to_string(i));
    all.insert(all.end(), {"step", "Upper", "a/b", "a\nb", "\x1b[31m", "\xff", std::string(300, 'a'), "held_out_tokens",
                           "a b", "scalars"});
    return all;
  }();
  if (number == 255) return nullptr;
  return number < names.size() ? names[number].c_str() : "";
}

struct SeamProgram {
  egg_program program{};
  egg_noise noise{};
  std::vector<egg_param> params;
  std::vector<egg_value> values;
  std::vector<egg_op> ops;
  std::vector<std::vector<int32_t>> entries;
  std::vector<egg_table> tables;

  explicit SeamProgram(std::string_view bytes) {
    BytesReader in(bytes);
    program.struct_size = in.take<uint32_t>();
    for (int32_t* field : {&program.vocab, &program.fixed_point, &program.rounding, &program.context}) {
      *field = in.take<int32_t>();
    }
    params.resize(in.take<uint8_t>());
    values.resize(in.take<uint8_t>());
    ops.resize(in.take<uint8_t>());
    tables.resize(in.take<uint8_t>());
    const auto missing = in.take<uint8_t>();
    noise.source = in.take<uint8_t>() % 2;
    noise.distribution = in.take<uint8_t>() % 3;
    noise.rank = 1 + in.take<uint8_t>() % 64;
    noise.sigma_shift = 4 + in.take<uint8_t>() % 9;
    noise.table_log2 = 12 + in.take<uint8_t>() % 19;
    for (egg_param& p : params) {
      p.name = name_of(in.take<uint8_t>());
      for (int32_t* field : {&p.kind, &p.rows, &p.cols, &p.init, &p.init_value, &p.perturbed}) {
        *field = in.take<int32_t>();
      }
    }
    for (egg_value& v : values) {
      v.name = name_of(in.take<uint8_t>());
      for (int32_t* field : {&v.size, &v.is_state, &v.is_wide}) *field = in.take<int32_t>();
    }
    for (egg_op& o : ops) o = in.take<egg_op>();
    entries.reserve(tables.size());
    for (egg_table& t : tables) {
      t.name = name_of(in.take<uint8_t>());
      t.count = in.take<uint16_t>();
      const auto value = in.take<int32_t>();
      t.entries = entries.emplace_back(t.count, value).data();
      if (in.take<uint8_t>() % 16 == 15) t.entries = nullptr;
    }
    program.param_count = static_cast<uint32_t>(params.size());
    program.value_count = static_cast<uint32_t>(values.size());
    program.op_count = static_cast<uint32_t>(ops.size());
    program.table_count = static_cast<uint32_t>(tables.size());
    program.params = missing % 16 == 1 ? nullptr : params.data();
    program.values = missing % 16 == 2 ? nullptr : values.data();
    program.ops = missing % 16 == 3 ? nullptr : ops.data();
    program.tables = missing % 16 == 4 ? nullptr : tables.data();
  }
};

// Names become n0, n1, ...; a table's entries become its first one.
inline std::string bytes_of(const egg_program& program) {
  std::string bytes;
  put(bytes, program.struct_size);
  for (const int32_t field : {program.vocab, program.fixed_point, program.rounding, program.context}) put(bytes, field);
  for (const uint32_t count : {program.param_count, program.value_count, program.op_count, program.table_count}) {
    put(bytes, static_cast<uint8_t>(count));
  }
  bytes += std::string(6, '\0');
  uint8_t name = 0;
  for (uint32_t i = 0; i < program.param_count; ++i) {
    const egg_param& p = program.params[i];
    put(bytes, name++);
    for (const int32_t field : {p.kind, p.rows, p.cols, p.init, p.init_value, p.perturbed}) put(bytes, field);
  }
  for (uint32_t i = 0; i < program.value_count; ++i) {
    const egg_value& v = program.values[i];
    put(bytes, name++);
    for (const int32_t field : {v.size, v.is_state, v.is_wide}) put(bytes, field);
  }
  for (uint32_t i = 0; i < program.op_count; ++i) put(bytes, program.ops[i]);
  for (uint32_t i = 0; i < program.table_count; ++i) {
    put(bytes, name++);
    put(bytes, static_cast<uint16_t>(program.tables[i].count));
    put(bytes, program.tables[i].entries[0]);
    put(bytes, uint8_t{0});
  }
  return bytes;
}

struct SeamRule {
  egg_rule rule{};
  std::vector<egg_rule_node> nodes;
  std::vector<egg_slot> slots;
  std::vector<const char*> scalars;

  explicit SeamRule(std::string_view bytes) {
    BytesReader in(bytes);
    rule.struct_size = in.take<uint32_t>();
    rule.delta = in.take<int32_t>();
    nodes.resize(in.take<uint8_t>());
    slots.resize(in.take<uint8_t>());
    scalars.resize(in.take<uint8_t>());
    const auto missing = in.take<uint8_t>();
    for (egg_rule_node& node : nodes) node = in.take<egg_rule_node>();
    for (egg_slot& slot : slots) {
      slot.name = name_of(in.take<uint8_t>());
      slot.type = in.take<int32_t>();
      slot.node = in.take<int32_t>();
    }
    for (const char*& scalar : scalars) scalar = name_of(in.take<uint8_t>());
    rule.node_count = static_cast<uint32_t>(nodes.size());
    rule.slot_count = static_cast<uint32_t>(slots.size());
    rule.scalar_count = static_cast<uint32_t>(scalars.size());
    rule.nodes = missing % 16 == 1 ? nullptr : nodes.data();
    rule.slots = missing % 16 == 2 ? nullptr : slots.data();
    rule.scalar_names = missing % 16 == 3 ? nullptr : scalars.data();
  }
};

inline std::string bytes_of(const egg_rule& rule) {
  std::string bytes;
  put(bytes, rule.struct_size);
  put(bytes, rule.delta);
  for (const uint32_t count : {rule.node_count, rule.slot_count, rule.scalar_count}) {
    put(bytes, static_cast<uint8_t>(count));
  }
  bytes += '\0';
  for (uint32_t i = 0; i < rule.node_count; ++i) put(bytes, rule.nodes[i]);
  uint8_t name = 0;
  for (uint32_t i = 0; i < rule.slot_count; ++i) {
    put(bytes, name++);
    put(bytes, rule.slots[i].type);
    put(bytes, rule.slots[i].node);
  }
  for (uint32_t i = 0; i < rule.scalar_count; ++i) put(bytes, name++);
  return bytes;
}

}  // namespace eggroll::test

#endif
