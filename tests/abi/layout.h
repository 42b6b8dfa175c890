/* The layout of eggroll/plugin.h at ABI 0.11: S(struct, bytes), F(struct, field, offset). Frozen: a change here is a
 * new ABI number. */
#ifndef EGGROLL_ABI_LAYOUT_H
#define EGGROLL_ABI_LAYOUT_H

#include <stddef.h>

struct egg_layout_row {
  const char* type;
  const char* field; /* empty for the size of the struct */
  size_t value;
};

#ifdef __cplusplus
extern "C" {
#endif
extern const struct egg_layout_row layout_in_c[]; /* as a C11 compiler sees it */
extern const size_t layout_in_c_count;
#ifdef __cplusplus
}
#endif

/* clang-format off */
#define EGG_LAYOUT(S, F) \
  S(egg_error, 1032) \
  F(egg_error, struct_size, 0) \
  F(egg_error, code, 4) \
  F(egg_error, key, 8) \
  F(egg_error, text, 104) \
  S(egg_setting, 40) \
  F(egg_setting, key, 0) \
  F(egg_setting, type, 8) \
  F(egg_setting, reserved, 12) \
  F(egg_setting, integer, 16) \
  F(egg_setting, real, 24) \
  F(egg_setting, text, 32) \
  S(egg_settings, 16) \
  F(egg_settings, struct_size, 0) \
  F(egg_settings, count, 4) \
  F(egg_settings, items, 8) \
  S(egg_param, 32) \
  F(egg_param, name, 0) \
  F(egg_param, kind, 8) \
  F(egg_param, rows, 12) \
  F(egg_param, cols, 16) \
  F(egg_param, init, 20) \
  F(egg_param, init_value, 24) \
  F(egg_param, perturbed, 28) \
  S(egg_value, 24) \
  F(egg_value, name, 0) \
  F(egg_value, size, 8) \
  F(egg_value, is_state, 12) \
  F(egg_value, is_wide, 16) \
  F(egg_value, reserved, 20) \
  S(egg_index, 12) \
  F(egg_index, tokens, 0) \
  F(egg_index, rows, 4) \
  F(egg_index, words, 8) \
  S(egg_table, 24) \
  F(egg_table, name, 0) \
  F(egg_table, count, 8) \
  F(egg_table, reserved, 12) \
  F(egg_table, entries, 16) \
  S(egg_op, 44) \
  F(egg_op, code, 0) \
  F(egg_op, out, 4) \
  F(egg_op, in, 8) \
  F(egg_op, param, 20) \
  F(egg_op, attr, 28) \
  F(egg_op, table, 32) \
  F(egg_op, head, 36) \
  F(egg_op, mode, 40) \
  S(egg_program, 80) \
  F(egg_program, struct_size, 0) \
  F(egg_program, vocab, 4) \
  F(egg_program, fixed_point, 8) \
  F(egg_program, rounding, 12) \
  F(egg_program, param_count, 16) \
  F(egg_program, value_count, 20) \
  F(egg_program, op_count, 24) \
  F(egg_program, table_count, 28) \
  F(egg_program, context, 32) \
  F(egg_program, index_count, 36) \
  F(egg_program, params, 40) \
  F(egg_program, values, 48) \
  F(egg_program, ops, 56) \
  F(egg_program, tables, 64) \
  F(egg_program, indices, 72) \
  S(egg_rule_node, 28) \
  F(egg_rule_node, code, 0) \
  F(egg_rule_node, in, 4) \
  F(egg_rule_node, index, 16) \
  F(egg_rule_node, integer, 20) \
  F(egg_rule_node, real, 24) \
  S(egg_slot, 16) \
  F(egg_slot, name, 0) \
  F(egg_slot, type, 8) \
  F(egg_slot, node, 12) \
  S(egg_rule, 48) \
  F(egg_rule, struct_size, 0) \
  F(egg_rule, node_count, 4) \
  F(egg_rule, slot_count, 8) \
  F(egg_rule, scalar_count, 12) \
  F(egg_rule, nodes, 16) \
  F(egg_rule, slots, 24) \
  F(egg_rule, scalar_names, 32) \
  F(egg_rule, delta, 40) \
  F(egg_rule, reserved, 44) \
  S(egg_noise, 32) \
  F(egg_noise, seed, 0) \
  F(egg_noise, source, 8) \
  F(egg_noise, distribution, 12) \
  F(egg_noise, rank, 16) \
  F(egg_noise, sigma_shift, 20) \
  F(egg_noise, sigma_vector_shift, 24) \
  F(egg_noise, table_log2, 28) \
  S(egg_model_interface, 16) \
  F(egg_model_interface, struct_size, 0) \
  F(egg_model_interface, reserved, 4) \
  F(egg_model_interface, program, 8) \
  S(egg_evaluation, 24) \
  F(egg_evaluation, step, 0) \
  F(egg_evaluation, loss, 8) \
  F(egg_evaluation, tokens, 16) \
  S(egg_progress, 24) \
  F(egg_progress, struct_size, 0) \
  F(egg_progress, evaluation_count, 4) \
  F(egg_progress, step, 8) \
  F(egg_progress, evaluations, 16) \
  S(egg_optimizer_interface, 24) \
  F(egg_optimizer_interface, struct_size, 0) \
  F(egg_optimizer_interface, reserved, 4) \
  F(egg_optimizer_interface, rule, 8) \
  F(egg_optimizer_interface, scalars, 16) \
  S(egg_voters, 16) \
  F(egg_voters, first_pair, 0) \
  F(egg_voters, pairs, 4) \
  F(egg_voters, masked, 8) \
  F(egg_voters, site, 12) \
  S(egg_site, 32) \
  F(egg_site, value, 0) \
  F(egg_site, design, 4) \
  F(egg_site, draws, 8) \
  F(egg_site, amplitude, 12) \
  F(egg_site, horizon, 16) \
  F(egg_site, shift, 20) \
  F(egg_site, first_pair, 24) \
  F(egg_site, pairs, 28) \
  S(egg_site_sums, 16) \
  F(egg_site_sums, tokens, 0) \
  F(egg_site_sums, squares, 8) \
  S(egg_site_part, 40) \
  F(egg_site_part, struct_size, 0) \
  F(egg_site_part, site, 4) \
  F(egg_site_part, first_stream, 8) \
  F(egg_site_part, streams, 12) \
  F(egg_site_part, errors, 16) \
  F(egg_site_part, perturbed, 24) \
  F(egg_site_part, votes, 32) \
  S(egg_session_spec, 104) \
  F(egg_session_spec, struct_size, 0) \
  F(egg_session_spec, threads, 4) \
  F(egg_session_spec, program, 8) \
  F(egg_session_spec, rule, 16) \
  F(egg_session_spec, noise, 24) \
  F(egg_session_spec, population, 56) \
  F(egg_session_spec, first, 60) \
  F(egg_session_spec, members, 64) \
  F(egg_session_spec, reserved, 68) \
  F(egg_session_spec, voters, 72) \
  F(egg_session_spec, sites, 80) \
  F(egg_session_spec, site_count, 88) \
  F(egg_session_spec, tokens, 92) \
  F(egg_session_spec, members_per_stream, 96) \
  F(egg_session_spec, reserved2, 100) \
  S(egg_batch, 40) \
  F(egg_batch, streams, 0) \
  F(egg_batch, tokens, 4) \
  F(egg_batch, inputs, 8) \
  F(egg_batch, targets, 16) \
  F(egg_batch, resets, 24) \
  F(egg_batch, rows, 32) \
  S(egg_evaluate, 88) \
  F(egg_evaluate, struct_size, 0) \
  F(egg_evaluate, members_per_stream, 4) \
  F(egg_evaluate, step, 8) \
  F(egg_evaluate, first, 16) \
  F(egg_evaluate, count, 20) \
  F(egg_evaluate, batch, 24) \
  F(egg_evaluate, losses, 64) \
  F(egg_evaluate, next, 72) \
  F(egg_evaluate, sites, 80) \
  S(egg_update, 112) \
  F(egg_update, struct_size, 0) \
  F(egg_update, pairs, 4) \
  F(egg_update, step, 8) \
  F(egg_update, fitness, 16) \
  F(egg_update, scalars, 24) \
  F(egg_update, vote_stds, 32) \
  F(egg_update, changed, 40) \
  F(egg_update, chosen, 48) \
  F(egg_update, batch, 56) \
  F(egg_update, members_per_stream, 96) \
  F(egg_update, reserved, 100) \
  F(egg_update, sites, 104) \
  S(egg_infer, 72) \
  F(egg_infer, struct_size, 0) \
  F(egg_infer, reserved, 4) \
  F(egg_infer, batch, 8) \
  F(egg_infer, states, 48) \
  F(egg_infer, losses, 56) \
  F(egg_infer, logits, 64) \
  S(egg_session_plan, 768) \
  F(egg_session_plan, struct_size, 0) \
  F(egg_session_plan, reserved, 4) \
  F(egg_session_plan, memory, 8) \
  F(egg_session_plan, device, 16) \
  F(egg_session_plan, plan, 256) \
  S(egg_backend_interface, 144) \
  F(egg_backend_interface, struct_size, 0) \
  F(egg_backend_interface, reserved, 4) \
  F(egg_backend_interface, supports_op, 8) \
  F(egg_backend_interface, supports_rule_op, 16) \
  F(egg_backend_interface, supports_site, 24) \
  F(egg_backend_interface, session_plan, 32) \
  F(egg_backend_interface, session_open, 40) \
  F(egg_backend_interface, session_close, 48) \
  F(egg_backend_interface, set_weights, 56) \
  F(egg_backend_interface, get_weights, 64) \
  F(egg_backend_interface, set_slot, 72) \
  F(egg_backend_interface, get_slot, 80) \
  F(egg_backend_interface, set_states, 88) \
  F(egg_backend_interface, get_states, 96) \
  F(egg_backend_interface, evaluate, 104) \
  F(egg_backend_interface, update, 112) \
  F(egg_backend_interface, infer, 120) \
  F(egg_backend_interface, get_site_part, 128) \
  F(egg_backend_interface, add_site_part, 136) \
  S(egg_processes_interface, 64) \
  F(egg_processes_interface, struct_size, 0) \
  F(egg_processes_interface, reserved, 4) \
  F(egg_processes_interface, join, 8) \
  F(egg_processes_interface, gather_begin, 16) \
  F(egg_processes_interface, gather_end, 24) \
  F(egg_processes_interface, collect, 32) \
  F(egg_processes_interface, broadcast, 40) \
  F(egg_processes_interface, leave, 48) \
  F(egg_processes_interface, abort, 56) \
  S(egg_plugin_descriptor, 88) \
  F(egg_plugin_descriptor, magic, 0) \
  F(egg_plugin_descriptor, abi_major, 4) \
  F(egg_plugin_descriptor, abi_minor, 8) \
  F(egg_plugin_descriptor, struct_size, 12) \
  F(egg_plugin_descriptor, kind, 16) \
  F(egg_plugin_descriptor, reserved, 20) \
  F(egg_plugin_descriptor, spec_hash, 24) \
  F(egg_plugin_descriptor, name, 32) \
  F(egg_plugin_descriptor, version, 40) \
  F(egg_plugin_descriptor, build, 48) \
  F(egg_plugin_descriptor, probe, 56) \
  F(egg_plugin_descriptor, open, 64) \
  F(egg_plugin_descriptor, close, 72) \
  F(egg_plugin_descriptor, interface_table, 80)
/* clang-format on */

#endif
