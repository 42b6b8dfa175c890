/* The op set: the one list of program ops and of rule ops. Plain C11, so that C, C++, CUDA and Metal read the same
 * file.
 *
 * Everything that must exist once per op (enum, name, reference implementation, conformance cases) is generated from
 * these lists; an op without a reference or without cases does not compile. */
#ifndef EGGROLL_OPS_H
#define EGGROLL_OPS_H

/* X(CODE, name, required values, optional values, required parameters, optional parameters, semantics,
 *   PARAM, ATTR, TABLE, HEAD, MODE, WIDE, ACCESS)
 *
 * Values are int8 in [-127, 127], or wide: int32 within +-2^28. clip saturates at +-127; where the output is wide it
 * does nothing. rshift is the program's rounding shift. s is the member's sign (+1, -1, 0 for unperturbed), FP the
 * fixed point, A and B the member's noise. n is the size of x, p the token's position in its call, T the op's table.
 *
 * The last seven columns name what op_signature.h explains: what the first parameter is, what attr, table, head and
 * mode of an egg_op mean, which values may be wide, and what of its inputs an output channel depends on. An optional
 * parameter is a bias. */
#define EGG_OPS(X)                                                                                                    \
  X(EMBED, embed, 0, 1, 1, 0,                                                                                         \
    "embed(row, x?; E): clip(x + E[row] + s*rshift(sum_r A_r[row]*B_r[d], FP+sigma)); clip(x) where there is no row", \
    kTable, kIndex, kNone, 0, kNone, kNarrow, kLookup)                                                                \
  X(LINEAR, linear, 1, 0, 1, 1,                                                                                       \
    "linear(x; W, bias?): q_r = clip16(rshift(sum x*B_r, FP+sigma-4)); "                                              \
    "clip(rshift(16*sum x*W + s*sum_r q_r*A_r, shift+4) + bias')",                                                    \
    kMatrix, kShift, kNone, 0, kNone, kMakes, kProduct)                                                               \
  X(L1_NORM, l1_norm, 1, 0, 1, 1,                                                                                     \
    "l1_norm(x; gain, bias?): m = max(1, sum|x| / n); reciprocal: clip(rshift(x*gain'*round(2^16/m), 16) + "          \
    "bias'); truncate or floor: clip(x*gain' / m + bias')",                                                           \
    kGain, kDivision, kNone, 0, kNone, kNarrow, kRow)                                                                 \
  X(ADD, add, 1, 1, 0, 1, "add(a, b?; bias?): clip(a + b + bias')", kNone, kNone, kNone, 0, kNone, kBoth, kChannel)   \
  X(GRU_GATE, gru_gate, 2, 0, 0, 0, "gru_gate(f, h): ((f+127)*h) >> 8", kNone, kNone, kNone, 0, kNone, kNarrow,       \
    kChannel)                                                                                                         \
  X(GRU_MIX, gru_mix, 3, 0, 0, 0, "gru_mix(f, h, c): h + (((f+127)*(c-h)) >> 8)", kNone, kNone, kNone, 0, kNone,      \
    kNarrow, kChannel)                                                                                                \
  X(STORE, store, 1, 0, 0, 0, "store(x): the state's value from the next token on", kNone, kNone, kNone, 0, kNone,    \
    kNarrow, kState)                                                                                                  \
  X(LUT, lut, 1, 0, 0, 0, "lut(x; T): T[x + 128]", kNone, kNone, kBytes, 0, kNone, kNarrow, kChannel)                 \
  X(MAX_NORM, max_norm, 1, 0, 0, 0, "max_norm(x): 127 * x / max(1, max|x|), to the nearest, halves away from zero",   \
    kNone, kNone, kNone, 0, kNone, kReads, kRow)                                                                      \
  X(ROPE, rope, 1, 0, 0, 0,                                                                                           \
    "rope(x; T): channels 2i and 2i+1 of each head become clip((x0*c - x1*d + 2^19) >> 20) and "                      \
    "clip((x0*d + x1*c + 2^19) >> 20); c, d = T[p][i]",                                                               \
    kNone, kNone, kAngles, 2, kNone, kBoth, kRow)                                                                     \
  X(ATTENTION, attention, 3, 0, 0, 0,                                                                                 \
    "attention(q, k, v; T): for each head and each visible position j <= p of this call: "                            \
    "z_j = rshift(sum q*k_j, shift); softmax: w_j = T[min(255, max z - z_j)], sigmoid: w_j = "                        \
    "T[clip(z_j) + 128]; sum w_j*v_j / max(1, sum w_j), under nearest to the nearest, halves away from "              \
    "zero, under floor towards zero; a reset hides the positions before it",                                          \
    kNone, kShift, kWeights, 4, kWeighting, kNarrow, kCache)                                                          \
  X(LOSS, loss, 1, 0, 0, 0, "loss(logits, target): -log2 softmax in Q16 bits; one logit step is unit/65536 bits",     \
    kNone, kUnit, kNone, 0, kNone, kNarrow, kEnd)

/* X(CODE, name, result type, operand types, semantics). Types: i int32, f float32, t any (all t of a node are one
 * type). Integer arithmetic wraps modulo 2^32. Float arithmetic is IEEE binary32, round to nearest, never contracted.
 *
 * The inputs have no operands: each backend reads them where it keeps them. The arithmetic has operands alone: all
 * backends share its functions in rule_arithmetic.h. */
#define EGG_RULE_INPUTS(X)                                                                 \
  X(VOTE_I32, vote_i32, 'i', "", "the exact vote; the host proves that it fits")           \
  X(VOTE_F32, vote_f32, 'f', "", "the exact vote rounded once to float32")                 \
  X(VOTE_STD, vote_std, 'f', "", "standard deviation of the tensor's vote under the null") \
  X(WEIGHT, weight, 'i', "", "the weight")                                                 \
  X(SLOT, slot, 't', "", "slot[index] as the last step left it, 0 at first")               \
  X(SCALAR, scalar, 'f', "", "scalar[index] of this step")                                 \
  X(CONST_I32, const_i32, 'i', "", "integer")                                              \
  X(CONST_F32, const_f32, 'f', "", "real")

#define EGG_RULE_ARITHMETIC(X)                                   \
  X(IADD, iadd, 'i', "ii", "a + b")                              \
  X(ISUB, isub, 'i', "ii", "a - b")                              \
  X(IMUL, imul, 'i', "ii", "a * b")                              \
  X(ILT, ilt, 'i', "ii", "a < b ? 1 : 0")                        \
  X(FADD, fadd, 'f', "ff", "a + b")                              \
  X(FSUB, fsub, 'f', "ff", "a - b")                              \
  X(FMUL, fmul, 'f', "ff", "a * b")                              \
  X(FDIV, fdiv, 'f', "ff", "a / b")                              \
  X(FSQRT, fsqrt, 'f', "f", "square root, correctly rounded")    \
  X(FABS, fabs, 'f', "f", "|a|")                                 \
  X(FLT, flt, 'i', "ff", "a < b ? 1 : 0; 0 where either is NaN") \
  X(SELECT, select, 't', "itt", "a != 0 ? b : c")                \
  X(TO_F32, to_f32, 'f', "i", "nearest float32, ties to even")   \
  X(TRUNC_I32, trunc_i32, 'i', "f", "towards zero, saturating; 0 for NaN")

#define EGG_RULE_OPS(X) EGG_RULE_INPUTS(X) EGG_RULE_ARITHMETIC(X)

/* Raise when the meaning of an op or of the noise changes while its text above does not. */
#define EGG_SPEC_REVISION "2"

/* FNV-1a over the revision and the lists above. spec.h refuses to compile when it is out of date. */
#define EGG_SPEC_HASH UINT64_C(13979577541389545857)

#define EGG_OP_ENUM(code, ...) EGG_OP_##code,
enum egg_op_code { EGG_OPS(EGG_OP_ENUM) EGG_OP_COUNT };
#undef EGG_OP_ENUM

#define EGG_RULE_ENUM(code, name, result, operands, text) EGG_RULE_##code,
enum egg_rule_code { EGG_RULE_OPS(EGG_RULE_ENUM) EGG_RULE_COUNT };
#undef EGG_RULE_ENUM

#endif
