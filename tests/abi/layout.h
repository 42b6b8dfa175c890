/* The layout of eggroll/plugin.h at ABI 0.11: STRUCT(name, bytes, (field, offset)...). Frozen: a change here is a new
 * ABI number. */
#ifndef EGGROLL_ABI_LAYOUT_H
#define EGGROLL_ABI_LAYOUT_H

#include <stddef.h>

#include "eggroll/plugin.h"

/* Takes a field's offset, or the struct's size where the field is "", as the compiler sees it and as it is frozen. */
typedef void layout_row(const char* type, const char* field, size_t value, size_t frozen);

#ifdef __cplusplus
extern "C" {
#endif
void each_row_in_c(layout_row* row); /* as a C11 compiler sees them */
#ifdef __cplusplus
}
#endif

/* clang-format off */
/* Calls row() for a struct and its fields. The fields' two macros take turns, because no macro expands itself. */
#define STRUCT(type, bytes, fields) \
  { \
    typedef type this_struct; \
    const char* const this_name = #type; \
    row(this_name, "", sizeof(type), bytes); \
    LAYOUT_JOIN(FIELD_A fields, _END) \
  }
#define FIELD_A(field, offset) row(this_name, #field, offsetof(this_struct, field), offset); FIELD_B
#define FIELD_B(field, offset) row(this_name, #field, offsetof(this_struct, field), offset); FIELD_A
#define FIELD_A_END
#define FIELD_B_END
#define LAYOUT_JOIN(a, b) LAYOUT_JOINED(a, b)
#define LAYOUT_JOINED(a, b) a##b

#define EGG_LAYOUT \
  STRUCT(egg_error, 1032, (struct_size, 0)(code, 4)(key, 8)(text, 104)) \
  STRUCT(egg_setting, 40, (key, 0)(type, 8)(reserved, 12)(integer, 16)(real, 24)(text, 32)) \
  STRUCT(egg_settings, 16, (struct_size, 0)(count, 4)(items, 8)) \
  STRUCT(egg_param, 32, (name, 0)(kind, 8)(rows, 12)(cols, 16)(init, 20)(init_value, 24)(perturbed, 28)) \
  STRUCT(egg_value, 24, (name, 0)(size, 8)(is_state, 12)(is_wide, 16)(reserved, 20)) \
  STRUCT(egg_index, 12, (tokens, 0)(rows, 4)(words, 8)) \
  STRUCT(egg_table, 24, (name, 0)(count, 8)(reserved, 12)(entries, 16)) \
  STRUCT(egg_op, 44, (code, 0)(out, 4)(in, 8)(param, 20)(attr, 28)(table, 32)(head, 36)(mode, 40)) \
  STRUCT(egg_program, 80, (struct_size, 0)(vocab, 4)(fixed_point, 8)(rounding, 12)(param_count, 16)(value_count, 20) \
         (op_count, 24)(table_count, 28)(context, 32)(index_count, 36)(params, 40)(values, 48)(ops, 56)(tables, 64) \
         (indices, 72)) \
  STRUCT(egg_rule_node, 28, (code, 0)(in, 4)(index, 16)(integer, 20)(real, 24)) \
  STRUCT(egg_slot, 16, (name, 0)(type, 8)(node, 12)) \
  STRUCT(egg_rule, 48, (struct_size, 0)(node_count, 4)(slot_count, 8)(scalar_count, 12)(nodes, 16)(slots, 24) \
         (scalar_names, 32)(delta, 40)(reserved, 44)) \
  STRUCT(egg_noise, 32, (seed, 0)(source, 8)(distribution, 12)(rank, 16)(sigma_shift, 20)(sigma_vector_shift, 24) \
         (table_log2, 28)) \
  STRUCT(egg_model_interface, 16, (struct_size, 0)(reserved, 4)(program, 8)) \
  STRUCT(egg_evaluation, 24, (step, 0)(loss, 8)(tokens, 16)) \
  STRUCT(egg_progress, 24, (struct_size, 0)(evaluation_count, 4)(step, 8)(evaluations, 16)) \
  STRUCT(egg_optimizer_interface, 24, (struct_size, 0)(reserved, 4)(rule, 8)(scalars, 16)) \
  STRUCT(egg_voters, 16, (first_pair, 0)(pairs, 4)(masked, 8)(site, 12)) \
  STRUCT(egg_site, 32, (value, 0)(design, 4)(draws, 8)(amplitude, 12)(horizon, 16)(shift, 20)(first_pair, 24) \
         (pairs, 28)) \
  STRUCT(egg_site_sums, 16, (tokens, 0)(squares, 8)) \
  STRUCT(egg_site_part, 40, (struct_size, 0)(site, 4)(first_stream, 8)(streams, 12)(errors, 16)(perturbed, 24) \
         (votes, 32)) \
  STRUCT(egg_session_spec, 104, (struct_size, 0)(threads, 4)(program, 8)(rule, 16)(noise, 24)(population, 56) \
         (first, 60)(members, 64)(reserved, 68)(voters, 72)(sites, 80)(site_count, 88)(tokens, 92) \
         (members_per_stream, 96)(reserved2, 100)) \
  STRUCT(egg_batch, 40, (streams, 0)(tokens, 4)(inputs, 8)(targets, 16)(resets, 24)(rows, 32)) \
  STRUCT(egg_evaluate, 88, (struct_size, 0)(members_per_stream, 4)(step, 8)(first, 16)(count, 20)(batch, 24) \
         (losses, 64)(next, 72)(sites, 80)) \
  STRUCT(egg_update, 112, (struct_size, 0)(pairs, 4)(step, 8)(fitness, 16)(scalars, 24)(vote_stds, 32)(changed, 40) \
         (chosen, 48)(batch, 56)(members_per_stream, 96)(reserved, 100)(sites, 104)) \
  STRUCT(egg_infer, 72, (struct_size, 0)(reserved, 4)(batch, 8)(states, 48)(losses, 56)(logits, 64)) \
  STRUCT(egg_session_plan, 768, (struct_size, 0)(reserved, 4)(memory, 8)(device, 16)(plan, 256)) \
  STRUCT(egg_backend_interface, 144, (struct_size, 0)(reserved, 4)(supports_op, 8)(supports_rule_op, 16) \
         (supports_site, 24)(session_plan, 32)(session_open, 40)(session_close, 48)(set_weights, 56) \
         (get_weights, 64)(set_slot, 72)(get_slot, 80)(set_states, 88)(get_states, 96)(evaluate, 104)(update, 112) \
         (infer, 120)(get_site_part, 128)(add_site_part, 136)) \
  STRUCT(egg_processes_interface, 64, (struct_size, 0)(reserved, 4)(join, 8)(gather_begin, 16)(gather_end, 24) \
         (collect, 32)(broadcast, 40)(leave, 48)(abort, 56)) \
  STRUCT(egg_plugin_descriptor, 88, (magic, 0)(abi_major, 4)(abi_minor, 8)(struct_size, 12)(kind, 16)(reserved, 20) \
         (spec_hash, 24)(name, 32)(version, 40)(build, 48)(probe, 56)(open, 64)(close, 72)(interface_table, 80))
/* clang-format on */

#endif
