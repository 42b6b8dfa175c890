/* The plugin contract, ABI 0.11. C11 at the seam; C++ adapters for authors are in model.h, optimizer.h, backend.h and
 * processes.h.
 *
 * A plugin is one shared library, NAME.eggplugin, that exports one data symbol, `egg_plugin`. The head of that
 * descriptor never moves; the host reads it before it calls any function. While the major number is 0 the minor must be
 * equal.
 *
 * Rules for every function:
 *  - returns EGG_OK, or an error code after it has filled the caller's egg_error;
 *  - never throws, never aborts, never prints, never frees or keeps memory of the other side beyond the call
 *    (what a plugin returns by pointer stays valid until its `close`; strings in the descriptor for ever);
 *  - one instance is used by one thread at a time, not always the same one. */
#ifndef EGGROLL_PLUGIN_H
#define EGGROLL_PLUGIN_H

#include <stdint.h>

#include "eggroll/ops.h"

#ifdef __cplusplus
extern "C" {
#endif

#define EGG_MAGIC UINT32_C(0x47474531) /* "1EGG" in memory on a little-endian machine */
#define EGG_ABI_MAJOR 0
#define EGG_ABI_MINOR 11

/* In C++ a field that is left out of a list of values is zero. */
#ifdef __cplusplus
#define EGG_ZERO \
  {}
#else
#define EGG_ZERO
#endif

enum egg_code {
  EGG_OK = 0,
  EGG_ERROR_CONFIG = 1,      /* a setting is wrong; egg_error.key names it */
  EGG_ERROR_UNSUPPORTED = 2, /* this plugin cannot do that */
  EGG_ERROR_DEVICE = 3,      /* the device or its driver failed */
  EGG_ERROR_MEMORY = 4,
  EGG_ERROR_INTERNAL = 5
};

/* Owned by the caller, who sets struct_size. text is one sentence: what, what was expected, the cure. */
typedef struct egg_error {
  uint32_t struct_size;
  int32_t code;
  char key[96];
  char text[928];
} egg_error;

/* A plugin's settings: its section of the configuration, flattened to dotted keys ("mlp.ratio", "sizes.0"). */
enum egg_setting_type {
  EGG_SETTING_INTEGER = 0,
  EGG_SETTING_REAL = 1,
  EGG_SETTING_BOOLEAN = 2,
  EGG_SETTING_TEXT = 3,
  EGG_SETTING_NULL = 4
};

typedef struct egg_setting {
  const char* key;
  int32_t type;
  int32_t reserved;
  int64_t integer; /* integers; booleans as 0 or 1 */
  double real;     /* reals, and integers once more */
  const char* text;
} egg_setting;

typedef struct egg_settings {
  uint32_t struct_size;
  uint32_t count;
  const egg_setting* items;
} egg_settings;

/* ---- Programs: one token step of a model ---- */

enum egg_param_kind { EGG_PARAM_MATRIX = 0, EGG_PARAM_VECTOR = 1 };
enum egg_init_kind { EGG_INIT_CONSTANT = 0, EGG_INIT_NORMAL = 1 };
enum egg_rounding { EGG_ROUND_FLOOR = 0, EGG_ROUND_NEAREST = 1 };
enum egg_weighting { EGG_WEIGHT_SOFTMAX = 0, EGG_WEIGHT_SIGMOID = 1 };
enum egg_division { EGG_DIVIDE_RECIPROCAL = 0, EGG_DIVIDE_TRUNCATE = 1, EGG_DIVIDE_FLOOR = 2 };

/* int8 weights in [-127, 127], row-major (rows, cols) = (outputs, inputs); a table is (rows, width), where an embedding
 * by token has a row for each token; a vector is (size, 1). */
typedef struct egg_param {
  const char* name;
  int32_t kind;
  int32_t rows;
  int32_t cols;
  int32_t init;       /* egg_init_kind */
  int32_t init_value; /* the constant, or the standard deviation */
  int32_t perturbed;  /* 0: never perturbed, never updated */
} egg_param;

/* A value of the token step. A state is per member, int8, zero at first; reading it gives what it was when the token
 * began. A wide value is int32. */
typedef struct egg_value {
  const char* name;
  int32_t size;
  int32_t is_state;
  int32_t is_wide; /* linear, add and rope may make it; add, max_norm and rope may read it. To hand one to another op,
                      let an add make a narrow value of it, which clips to [-127, 127] */
  int32_t reserved;
} egg_value;

#define EGG_INDEX_TOKENS_MAX 16
#define EGG_INDEX_WORDS_MAX 2

/* A number that goes with a token: the hash of the last `tokens` tokens, this one included, or of the last
 * `words` words of bytes, modulo `rows`. The host works it out; a backend reads it in the batch (egg_batch.rows). */
typedef struct egg_index {
  int32_t tokens;         /* 1 to EGG_INDEX_TOKENS_MAX; where there are words 0 */
  int32_t rows;           /* a power of two */
  int32_t words EGG_ZERO; /* 1 to EGG_INDEX_WORDS_MAX, where the vocabulary is 256; else 0 */
} egg_index;

/* Constants of an op. lut: 256 in [-127, 127]. rope: (context, head / 2, 2) cosines and sines times 2^20. attention:
 * 256 weights from 0 on; times 255 * context they fit int32. */
typedef struct egg_table {
  const char* name;
  uint32_t count;
  uint32_t reserved;
  const int32_t* entries;
} egg_table;

typedef struct egg_op {
  int32_t code;     /* egg_op_code */
  int32_t out;      /* value written; for store the state; -1 for loss */
  int32_t in[3];    /* values read, -1 where absent */
  int32_t param[2]; /* E | W, bias | gain, bias | (-1), bias; -1 where absent */
  int32_t attr;  /* embed: 0 where the token is the row, i where index i - 1 is; linear: shift; l1_norm: egg_division;
                    attention: shift of the scores; loss: unit, bits of one logit step in Q16; else 0 */
  int32_t table; /* lut, rope, attention; else -1 */
  int32_t head;  /* rope: channels of a head, even; attention: the same, a multiple of 4; else 0 */
  int32_t mode;  /* attention: egg_weighting; else 0 */
} egg_op;

typedef struct egg_program {
  uint32_t struct_size;
  int32_t vocab;
  int32_t fixed_point; /* FP */
  int32_t rounding;    /* egg_rounding */
  uint32_t param_count;
  uint32_t value_count;
  uint32_t op_count;
  uint32_t table_count;
  int32_t context; /* tokens that a call may read, from 1 on where there is a rope or an attention; 0: any number */
  uint32_t index_count;
  const egg_param* params;
  const egg_value* values;
  const egg_op* ops; /* in order; exactly one loss, the last */
  const egg_table* tables;
  const egg_index* indices;
} egg_program;

/* ---- Rules: what an optimizer does to each weight ---- */

typedef struct egg_rule_node {
  int32_t code;    /* egg_rule_code */
  int32_t in[3];   /* earlier nodes, -1 where absent */
  int32_t index;   /* slot or scalar number */
  int32_t integer; /* const_i32 */
  float real;      /* const_f32 */
} egg_rule_node;

typedef struct egg_slot {
  const char* name;
  int32_t type; /* 'i' or 'f' */
  int32_t node; /* its new value */
} egg_slot;

typedef struct egg_rule {
  uint32_t struct_size;
  uint32_t node_count;
  uint32_t slot_count;
  uint32_t scalar_count;
  const egg_rule_node* nodes;
  const egg_slot* slots;
  const char* const* scalar_names;
  int32_t delta; /* node of type i: the weight becomes clip(weight + delta) */
  int32_t reserved;
} egg_rule;

/* ---- Noise (see noise.h) ---- */

enum egg_noise_source { EGG_NOISE_COUNTER = 0, EGG_NOISE_TABLE = 1 };
enum egg_noise_distribution { EGG_NOISE_GAUSSIAN = 0, EGG_NOISE_UNIFORM = 1, EGG_NOISE_RADEMACHER = 2 };

typedef struct egg_noise {
  uint64_t seed;
  int32_t source;
  int32_t distribution;
  int32_t rank;
  int32_t sigma_shift;        /* matrices: perturbation A*B >> (FP + sigma_shift) */
  int32_t sigma_vector_shift; /* vectors */
  int32_t table_log2;         /* table source: log2 of the table's bytes; else 0 */
} egg_noise;

/* ---- The four kinds ---- */

enum egg_kind { EGG_KIND_BACKEND = 0, EGG_KIND_MODEL = 1, EGG_KIND_OPTIMIZER = 2, EGG_KIND_PROCESSES = 3 };

typedef struct egg_model_interface {
  uint32_t struct_size;
  uint32_t reserved;
  int32_t (*program)(void* self, const egg_program** program, egg_error* error);
} egg_model_interface;

/* A held-out evaluation of the unperturbed model, exact. Only those over equally many tokens can be compared. */
typedef struct egg_evaluation {
  uint64_t step;   /* steps done before it */
  int64_t loss;    /* sum of Q16 bits over the scored tokens */
  uint64_t tokens; /* scored; at least 1 */
} egg_evaluation;

/* What a run has seen before a step. */
typedef struct egg_progress {
  uint32_t struct_size;
  uint32_t evaluation_count;
  uint64_t step;                     /* the one to be done, counted from 0 */
  const egg_evaluation* evaluations; /* (evaluation_count), in their order; of steps done only */
} egg_progress;

typedef struct egg_optimizer_interface {
  uint32_t struct_size;
  uint32_t reserved;
  int32_t (*rule)(void* self, const egg_rule** rule, egg_error* error);
  /* The scalars of a step. A pure function of the settings and the progress. */
  int32_t (*scalars)(void* self, const egg_progress* progress, float* scalars, egg_error* error);
} egg_optimizer_interface;

/* Who perturbs a parameter and votes on it: pairs [first_pair, first_pair + pairs). All others read it as it is.
 *
 * masked: for a matrix that only embeds read. A row is voted on by those of these pairs whose window of the step reads
 * it: its vote sums over them, and its null deviation is that of as many pairs of average fitness. A row that none of
 * them reads keeps its weights and slots. row_voters.h finds them and states the deviation. */
typedef struct egg_voters {
  uint32_t first_pair;
  uint32_t pairs;
  int32_t masked;
  int32_t site EGG_ZERO; /* the number plus 1 of the site whose errors vote on it; 0: pairs do */
} egg_voters;

/* A value that is perturbed in place of parameters; draws.h has the arithmetic. Pairs [first_pair, first_pair + pairs),
 * whole streams, run as one member each stream: the unperturbed model, whose states are the stream's. At each token
 * with a target, `draws` pairs perturb the value there and nowhere else, by +A and -A, and all behind it is computed
 * again. The error of a token is what its draws say of each channel. The site's parameters, those that enter the value
 * linearly (sites.h), vote with the errors: a table row with those of the tokens that read it, a matrix with error
 * times input, a bias with the error. Such a parameter is perturbed by nobody else. */
enum egg_design { EGG_DRAWS_INDEPENDENT = 0, EGG_DRAWS_ORTHOGONAL = 1 };
typedef struct egg_site {
  int32_t value; /* made by an op of the program */
  int32_t design;
  uint32_t draws;    /* 1 to EGG_DRAWS_MAX; orthogonal: at most the value's size, rounded up to a power of two */
  int32_t amplitude; /* steps that a member adds or takes, 1 to EGG_AMPLITUDE_MAX, of a wide value to
                        EGG_WIDE_AMPLITUDE_MAX: with it no value behind leaves its range */
  uint32_t
      horizon;   /* tokens behind the perturbed one whose losses count with its own; 0 where the value is the logits */
  int32_t shift; /* of errors, right */
  uint32_t first_pair;
  uint32_t pairs;
} egg_site;

/* Sums of one site over the streams of a call, or of a step. */
typedef struct egg_site_sums {
  uint64_t tokens; /* that were perturbed */
  int64_t squares; /* of their errors, over all channels */
} egg_site_sums;

/* What a session's own streams of a site leave for the update of their step, so that sessions of several processes know
 * it of all streams. Tables take the errors of all streams, which are fewer bytes than votes on the rows that they
 * read; votes on matrices and vectors are sums, which are added up. */
typedef struct egg_site_part {
  uint32_t struct_size;
  uint32_t site;         /* its number */
  uint32_t first_stream; /* of the step */
  uint32_t streams;      /* of the site, all that are the session's own; at least 1 */
  int16_t* errors;       /* (streams, tokens, size), of tokens with a target; NULL: no table votes with the site */
  uint8_t* perturbed;    /* (streams, tokens): 1 where the token has a target, else 0; NULL likewise */
  int64_t* votes;        /* of these streams, on all matrices and vectors that vote with the site, in the order of
                            parameters: on a matrix (rows, cols) votes and (cols) sums of squared inputs, on a vector
                            (size) votes; NULL: none votes with the site */
} egg_site_part;

/* What a session computes with. Members 2k and 2k+1 are pair k; even members have sign +1, odd ones -1. Members
 * [first, first + members), a whole number of pairs, are the session's own: it keeps their states alone and evaluates
 * no others. Its updates count the votes of all pairs: add_site_part() brings what other sessions' streams leave. */
typedef struct egg_session_spec {
  uint32_t struct_size;
  int32_t threads; /* 0: as many as the machine has */
  const egg_program* program;
  const egg_rule* rule;
  egg_noise noise;
  uint32_t population; /* even */
  uint32_t first;
  uint32_t members;
  uint32_t reserved;
  const egg_voters* voters; /* (param_count); NULL: all pairs on all parameters, and none masked */
  const egg_site* sites EGG_ZERO;
  uint32_t site_count EGG_ZERO;
  /* Where there are sites: of a step. Their errors are kept until the next step's evaluate(). */
  uint32_t tokens EGG_ZERO;
  uint32_t members_per_stream EGG_ZERO;
  uint32_t reserved2 EGG_ZERO;
} egg_session_spec;

/* What a session will be, stated before it takes memory. Texts are one line, not empty, with a zero byte at the end. */
typedef struct egg_session_plan {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t memory;  /* bytes that it will take of its device, of the fullest where there are several; at least 1 */
  char device[240]; /* what computes: "NVIDIA H200", a processor's model */
  char plan[512];   /* how */
} egg_session_plan;

#define EGG_NO_TARGET UINT32_C(0xFFFFFFFF) /* this token is read but not scored */
#define EGG_NO_ROW UINT32_C(0xFFFFFFFF)    /* too few tokens since the last reset: an embed reads no row */

/* Streams of T tokens, row-major (streams, tokens). resets[i] != 0 zeroes the state before that token is read, and
 * hides earlier positions from attention. Positions count from 0 in every call. */
typedef struct egg_batch {
  uint32_t streams;
  uint32_t tokens;
  const uint32_t* inputs;
  const uint32_t* targets;
  const uint8_t* resets;
  const uint32_t* rows; /* (streams, tokens, index_count): each index's value, or EGG_NO_ROW */
} egg_batch;

/* Members [first, first + count), a whole number of pairs of the session's own; member m reads stream (m - first) /
 * members_per_stream of the batch. The session keeps each member's state from call to call. losses: (count), sums of
 * Q16 bits over the scored tokens. */
typedef struct egg_evaluate {
  uint32_t struct_size;
  uint32_t members_per_stream;
  uint64_t step;
  uint32_t first;
  uint32_t count;
  egg_batch batch;
  int64_t* losses;
  const struct egg_evaluate* next; /* What the next evaluate() will be given, but for its losses and next; NULL: not
                                      known. It is valid during this call. A backend may bring that batch to its device
                                      ahead: the host leaves the batch's arrays as they are until that evaluate() has
                                      returned. */
  egg_site_sums* sites EGG_ZERO; /* (site_count): each is added to. The call has whole streams of a site, whose members
                                    lose what the unperturbed model loses. */
} egg_evaluate;

/* Votes of all pairs and one application of the rule to every perturbed parameter, or to those that are chosen. */
typedef struct egg_update {
  uint32_t struct_size;
  uint32_t pairs;
  uint64_t step;
  const int8_t* fitness;  /* (pairs), in [-127, 127] */
  const float* scalars;   /* (scalar_count) */
  const float* vote_stds; /* (param_count): of the null; means nothing where masked */
  int64_t* changed;       /* (param_count): weights that moved */
  const uint8_t* chosen;  /* (param_count): 0: weights and slots stay as they are; NULL: all are chosen */
  egg_batch batch; /* what all members read in the step: member m stream m / members_per_stream. Where a parameter
                      is masked its inputs and rows are there; targets and resets never need be */
  uint32_t members_per_stream;
  uint32_t reserved;
  const egg_site_sums* sites EGG_ZERO; /* (site_count): of the step, of all streams. The errors are those that the
                                          session kept of the same step. */
} egg_update;

/* The unperturbed model over the batch's streams; states belong to the caller. */
typedef struct egg_infer {
  uint32_t struct_size;
  uint32_t reserved;
  egg_batch batch;
  int8_t* states;  /* (streams, state bytes), read and written */
  int64_t* losses; /* (streams) */
  int8_t* logits;  /* (streams, vocab) after the last token, or NULL */
} egg_infer;

typedef struct egg_backend_interface {
  uint32_t struct_size;
  uint32_t reserved;
  /* 1 if the session could run this op of this program, else 0; rule ops alike. */
  int32_t (*supports_op)(void* self, const egg_program* program, uint32_t op_index);
  int32_t (*supports_rule_op)(void* self, int32_t code);
  /* 1 if the session could perturb this value of this program so, else 0. */
  int32_t (*supports_site)(void* self, const egg_program* program, const egg_site* site);
  /* What session_open would make of the spec now. EGG_ERROR_MEMORY if it does not fit: the text then names the
   * largest even population that would. */
  int32_t (*session_plan)(void* self, const egg_session_spec* spec, egg_session_plan* plan, egg_error* error);
  /* The spec and all it points to stay valid until session_close. Weights and slots begin at zero, states too. */
  int32_t (*session_open)(void* self, const egg_session_spec* spec, void** session, egg_error* error);
  void (*session_close)(void* session);
  int32_t (*set_weights)(void* session, uint32_t param, const int8_t* weights, egg_error* error);
  int32_t (*get_weights)(void* session, uint32_t param, int8_t* weights, egg_error* error);
  /* One slot of one parameter: 4 bytes a weight, in the slot's type. */
  int32_t (*set_slot)(void* session, uint32_t param, uint32_t slot, const void* data, egg_error* error);
  int32_t (*get_slot)(void* session, uint32_t param, uint32_t slot, void* data, egg_error* error);
  /* (count, state bytes), of own members: each one's states one after another in the order of the program's values. */
  int32_t (*set_states)(void* session, uint32_t first, uint32_t count, const int8_t* states, egg_error* error);
  int32_t (*get_states)(void* session, uint32_t first, uint32_t count, int8_t* states, egg_error* error);
  int32_t (*evaluate)(void* session, const egg_evaluate* arguments, egg_error* error);
  int32_t (*update)(void* session, const egg_update* arguments, egg_error* error);
  int32_t (*infer)(void* session, const egg_infer* arguments, egg_error* error);
  /* Fills the arrays of a part with what evaluate() has left of the own streams. */
  int32_t (*get_site_part)(void* session, const egg_site_part* part, egg_error* error);
  /* Called once before an update() for every part of other sessions. The update() uses the part up. */
  int32_t (*add_site_part)(void* session, const egg_site_part* part, egg_error* error);
} egg_backend_interface;

/* The processes that share a run. All of them call the same functions in the same order with equal sizes;
 * a call may wait for all others. Bytes are the host's own: little-endian, without meaning to the plugin. */
typedef struct egg_processes_interface {
  uint32_t struct_size;
  uint32_t reserved;
  /* Called first, once. 0 <= index < size. */
  int32_t (*join)(void* self, uint32_t* index, uint32_t* size, egg_error* error);
  /* Gives every process the bytes of all processes, sizes[i] of process i, in their order. The caller may work between
   * begin and end, but leaves mine, sizes and all alone and calls nothing else here. */
  int32_t (*gather_begin)(void* self, const void* mine, const uint64_t* sizes, void* all, egg_error* error);
  int32_t (*gather_end)(void* self, egg_error* error);
  /* Gives process 0 the bytes of all processes; all is NULL on the others. */
  int32_t (*collect)(void* self, const void* mine, const uint64_t* sizes, void* all, egg_error* error);
  /* Gives every process the bytes of process 0. */
  int32_t (*broadcast)(void* self, void* bytes, uint64_t size, egg_error* error);
  /* The last call of a process whose run ended well. It waits for all others. */
  int32_t (*leave)(void* self, egg_error* error);
  /* Ends every process at once, this one too. */
  void (*abort)(void* self, int32_t exit_code);
} egg_processes_interface;

/* Constant-initialised data, so that the host can read and refuse it before it calls any function. Constructors of the
 * library, and of those that it needs, have run by then: loading a plugin runs its code. The host loads and probes each
 * file in another process first (not on macOS), where a plugin that crashes, hangs or ends the process is rejected, and
 * then loads into its own those that are used. */
typedef struct egg_plugin_descriptor {
  uint32_t magic;
  uint32_t abi_major;
  uint32_t abi_minor;
  uint32_t struct_size;
  int32_t kind;
  uint32_t reserved;
  uint64_t spec_hash; /* EGG_SPEC_HASH of the headers it was built with */
  const char* name;   /* lower_snake, unique among its kind */
  const char* version;
  const char* build; /* compiler, flags, commit */
  /* Returns a score above 0, or 0 and the reason in why->text. Must be fast, without allocation or device context. */
  int32_t (*probe)(egg_error* why);
  int32_t (*open)(const egg_settings* settings, void** self, egg_error* error);
  void (*close)(void* self);
  const void* interface_table; /* the kind's function table */
} egg_plugin_descriptor;

#if defined(_WIN32)
#define EGG_EXPORT __declspec(dllexport)
#else
#define EGG_EXPORT __attribute__((visibility("default")))
#endif

#define EGG_PLUGIN_SYMBOL "egg_plugin"

#ifdef __cplusplus
}
#endif

#endif
