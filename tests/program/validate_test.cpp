// Breaks each condition on a program once.
#include <fmt/format.h>

#include <deque>

#include "program/program.h"
#include "program/raw_program.h"

namespace eggroll::test {
namespace {

// Fields of the tiny program by name, so that a case reads as what it breaks.
enum ParamIndex : size_t { kE, kGain, kW, kBias, kHead };
enum ValueIndex : size_t { kH, kX, kN, kF, kG, kM, kA, kLogits };
enum OpIndex : size_t { kEmbed, kNorm, kLinear, kGate, kMix, kAdd, kStore, kLogitsOp, kLoss };

using Broken = BrokenPart<RawProgram>;

class ValidateProgram : public testing::TestWithParam<Broken> {};

TEST_P(ValidateProgram, RefusesWithOneSentence) {
  RawProgram raw;
  GetParam().change(raw);
  EXPECT_EQ(message_of([&] { validate_program(raw.view()); }),
            "the model's program is wrong: " + GetParam().fault + "; fix the model plugin");
}

// Adds states whose bytes do not fit 32 bits.
void add_large_states(RawProgram& raw) {
  static std::deque<std::string> names;
  for (int i = 0; i < 256; ++i) {
    raw.values.push_back({names.emplace_back(fmt::format("s{}", i)).c_str(), 1 << 24, 1, 0, 0});
  }
}

const std::string kLongName(201, 'a');

const std::vector<Broken> kBroken = {
    // ---- Head ----
    {"ShortStruct", [](auto& r) { r.program.struct_size = 8; },
     fmt::format("it has 8 bytes, expected {}", sizeof(egg_program))},
    {"VocabularyOfOne", [](auto& r) { r.program.vocab = 1; }, "the vocabulary is 1, expected 2 to 262144"},
    {"VocabularyTooLarge", [](auto& r) { r.program.vocab = 262145; }, "the vocabulary is 262145, expected 2 to 262144"},
    {"NegativeFixedPoint", [](auto& r) { r.program.fixed_point = -1; }, "fixed_point is -1, expected 0 to 12"},
    {"LargeFixedPoint", [](auto& r) { r.program.fixed_point = 13; }, "fixed_point is 13, expected 0 to 12"},
    {"UnknownRounding", [](auto& r) { r.program.rounding = 2; }, "rounding is 2, expected 0 to 1"},
    {"NoParameters", [](auto& r) { r.params.clear(); }, "it is empty"},
    {"NoValues", [](auto& r) { r.values.clear(); }, "it is empty"},
    {"NoOps", [](auto& r) { r.ops.clear(); }, "it is empty"},
    // ---- States ----
    {"TooLarge", add_large_states, "the states of a member are 4294967299 bytes, expected at most 2147483647"},
    // ---- Names ----
    {"NullParameter", [](auto& r) { r.params[kE].name = nullptr; }, "a parameter, value or table has no name"},
    {"EmptyParameter", [](auto& r) { r.params[kE].name = ""; }, "a parameter, value or table has no name"},
    {"NullValue", [](auto& r) { r.values[kX].name = nullptr; }, "a parameter, value or table has no name"},
    {"Capital", [](auto& r) { r.params[kW].name = "W"; },
     "the name 'W' has characters other than a-z, 0-9, underscores and dots"},
    {"Slash", [](auto& r) { r.values[kX].name = "x/y"; },
     "the name 'x/y' has characters other than a-z, 0-9, underscores and dots"},
    {"Metadata", [](auto& r) { r.params[kW].name = "__metadata__"; },
     "the name '__metadata__' belongs to a part of every safetensors file"},
    {"TooLong", [](auto& r) { r.values[kX].name = kLongName.c_str(); },
     fmt::format("the name '{}' is longer than 200 characters", kLongName)},
    {"TwoParameters", [](auto& r) { r.params[kW].name = "e"; }, "two parameters, values or tables are named 'e'"},
    {"ParameterAndValue", [](auto& r) { r.values[kX].name = "head"; },
     "two parameters, values or tables are named 'head'"},
    // ---- Parameters ----
    {"Kind", [](auto& r) { r.params[kE].kind = 2; }, "parameter 'e': kind is 2, expected 0 to 1"},
    {"NoRows", [](auto& r) { r.params[kE].rows = 0; }, "parameter 'e': rows is 0, expected 1 to 16777216"},
    {"TooManyRows", [](auto& r) { r.params[kE].rows = 16777217; },
     "parameter 'e': rows is 16777217, expected 1 to 16777216"},
    {"NoColumns", [](auto& r) { r.params[kE].cols = 0; }, "parameter 'e': columns is 0, expected 1 to 16777216"},
    {"VectorWithColumns", [](auto& r) { r.params[kGain].cols = 2; }, "parameter 'gain': columns is 2, expected 1 to 1"},
    {"TooManyWeights",
     [](auto& r) {
       r.params[kE].rows = 1 << 16;
       r.params[kE].cols = 1 << 16;
     },
     "parameter 'e': weights is 4294967296, expected 1 to 4294967295"},
    {"Init", [](auto& r) { r.params[kE].init = 2; }, "parameter 'e': init is 2, expected 0 to 1"},
    {"NegativeDeviation", [](auto& r) { r.params[kE].init_value = -1; },
     "parameter 'e': initial value is -1, expected 0 to 127"},
    {"LargeDeviation", [](auto& r) { r.params[kE].init_value = 128; },
     "parameter 'e': initial value is 128, expected 0 to 127"},
    {"LowConstant", [](auto& r) { r.params[kBias].init_value = -128; },
     "parameter 'bias': initial value is -128, expected -127 to 127"},
    {"Perturbed", [](auto& r) { r.params[kE].perturbed = 2; }, "parameter 'e': perturbed is 2, expected 0 to 1"},
    {"Unused", [](auto& r) { r.ops[kLinear].param[1] = -1; }, "parameter 'bias' is never used"},
    // ---- Values ----
    {"EmptyValue", [](auto& r) { r.values[kX].size = 0; }, "value 'x': size is 0, expected 1 to 16777216"},
    {"ReadTooEarly", [](auto& r) { r.ops[kLinear].in[0] = kM; }, "op 2 (linear 'f') reads 'm' before it is made"},
    {"WrittenTwice",
     [](auto& r) {
       r.ops[kGate] = r.ops[kAdd];
       r.ops[kGate].in[0] = kX;
       r.ops[kGate].in[1] = kF;
       r.ops[kGate].out = kF;
     },
     "'f' is written twice"},
    {"StateStoredTwice", [](auto& r) { r.ops.insert(r.ops.begin() + kStore, r.ops[kStore]); }, "'h' is written twice"},
    {"StateNeverStored", [](auto& r) { r.ops.erase(r.ops.begin() + kStore); }, "state 'h' is never written"},
    {"NeverWritten",
     [](auto& r) {
       r.values.push_back({"extra", 3, 0, 0, 0});
     },
     "value 'extra' is never written"},
    {"NeverRead",
     [](auto& r) {
       r.ops[kAdd].in[0] = kX;
       r.ops.erase(r.ops.begin() + kStore);
       r.values[kH].is_state = 1;
       r.ops.insert(r.ops.begin() + kStore, r.ops[kStore - 1]);
       r.ops[kStore] = egg_op{EGG_OP_STORE, kH, {kA, -1, -1}, {-1, -1}, 0, -1, 0, 0};
     },
     "value 'm' is never read"},
    {"StateWrittenByAdd", [](auto& r) { r.ops[kAdd].out = kH; }, "op 5 (add 'h') writes 'h', which is a state"},
    {"StoreToAValue", [](auto& r) { r.ops[kStore].out = kA; }, "op 6 (store 'a') writes 'a', which is no state"},
    // ---- Ops ----
    {"NegativeCode", [](auto& r) { r.ops[kMix].code = -1; },
     fmt::format("op 4: code is -1, expected 0 to {}", EGG_OP_COUNT - 1)},
    {"UnknownCode", [](auto& r) { r.ops[kMix].code = EGG_OP_COUNT; },
     fmt::format("op 4: code is {}, expected 0 to {}", int{EGG_OP_COUNT}, EGG_OP_COUNT - 1)},
    {"MissingInput", [](auto& r) { r.ops[kMix].in[2] = -1; }, "op 4 (gru_mix 'm'): input is -1, expected 0 to 7"},
    {"InputThatIsNone", [](auto& r) { r.ops[kMix].in[2] = 8; }, "op 4 (gru_mix 'm'): input is 8, expected 0 to 7"},
    {"InputTooMany", [](auto& r) { r.ops[kGate].in[2] = kX; }, "op 3 (gru_gate 'g') has an input too many"},
    {"EmbedWithTwoInputs", [](auto& r) { r.ops[kEmbed].in[1] = kH; }, "op 0 (embed 'x') has an input too many"},
    {"MissingParameter", [](auto& r) { r.ops[kEmbed].param[0] = -1; },
     "op 0 (embed 'x'): parameter is -1, expected 0 to 4"},
    {"ParameterThatIsNone", [](auto& r) { r.ops[kLinear].param[1] = 5; },
     "op 2 (linear 'f'): parameter is 5, expected 0 to 4"},
    {"ParameterTooMany", [](auto& r) { r.ops[kGate].param[0] = kW; }, "op 3 (gru_gate 'g') has a parameter too many"},
    {"BiasInTheFirstPlace", [](auto& r) { r.ops[kAdd].param[0] = kBias; }, "op 5 (add 'a') has a parameter too many"},
    {"EmbedWithBias", [](auto& r) { r.ops[kEmbed].param[1] = kBias; }, "op 0 (embed 'x') has a parameter too many"},
    {"Attribute", [](auto& r) { r.ops[kAdd].attr = 1; }, "op 5 (add 'a') has an attribute it does not take"},
    {"OutputThatIsNone", [](auto& r) { r.ops[kGate].out = 8; }, "op 3 (gru_gate): output is 8, expected 0 to 7"},
    {"NoOutput", [](auto& r) { r.ops[kGate].out = -1; }, "op 3 (gru_gate): output is -1, expected 0 to 7"},
    {"LossIsNotLast",
     [](auto& r) {
       std::swap(r.ops[kLogitsOp], r.ops[kLoss]);
       r.ops[kLogitsOp].in[0] = kX;
       r.program.vocab = 3;
       r.params[kE].rows = 3;
     },
     "exactly one loss is expected, as the last op"},
    {"NoLoss", [](auto& r) { r.ops.pop_back(); }, "exactly one loss is expected, as the last op"},
    {"TwoLosses", [](auto& r) { r.ops.push_back(r.ops[kLoss]); }, "exactly one loss is expected, as the last op"},
    {"LossWrites", [](auto& r) { r.ops[kLoss].out = kX; }, "op 8 (loss) writes a value"},
    // The check must not read the value with that number.
    {"LossWritesFarAway", [](auto& r) { r.ops[kLoss].out = 1 << 30; }, "op 8 (loss) writes a value"},
    {"OpWritesFarAway", [](auto& r) { r.ops[kMix].out = 1 << 30; },
     "op 4 (gru_mix): output is 1073741824, expected 0 to 7"},
    // ---- Shapes ----
    {"EmbeddingIsAVector", [](auto& r) { r.ops[kEmbed].param[0] = kGain; },
     "op 0 (embed 'x'): the embedding is not a matrix"},
    {"EmbeddingRows", [](auto& r) { r.params[kE].rows = 6; },
     "op 0 (embed 'x'): the embedding's vocabulary has size 6, expected 5"},
    {"EmbedOntoAnotherSize",
     [](auto& r) {
       r.params[kE].cols = 4;
       r.values[kX].size = 4;
       r.ops[kEmbed].in[0] = kH;
     },
     "op 0 (embed 'x'): its input has size 3, expected 4"},
    {"EmbedByAnIndexThatIsNone", [](auto& r) { r.ops[kEmbed].attr = 1; },
     "op 0 (embed 'x'): index is 1, expected 0 to 0"},
    {"EmbeddingOutput", [](auto& r) { r.values[kX].size = 4; }, "op 0 (embed 'x'): its output has size 4, expected 3"},
    {"LinearIsAVector", [](auto& r) { r.ops[kLinear].param[0] = kGain; },
     "op 2 (linear 'f'): its weight is not a matrix"},
    {"LinearInput", [](auto& r) { r.params[kW].cols = 4; }, "op 2 (linear 'f'): its input has size 3, expected 4"},
    {"LinearOutput", [](auto& r) { r.params[kW].rows = 4; }, "op 2 (linear 'f'): its output has size 3, expected 4"},
    {"LinearBiasIsAMatrix", [](auto& r) { r.ops[kLinear].param[1] = kW; },
     "op 2 (linear 'f'): its bias is not a vector"},
    {"LinearBias", [](auto& r) { r.params[kBias].rows = 2; }, "op 2 (linear 'f'): its bias has size 2, expected 3"},
    {"LinearShift", [](auto& r) { r.ops[kLinear].attr = 27; }, "op 2 (linear 'f'): shift is 27, expected 0 to 26"},
    {"LinearNegativeShift", [](auto& r) { r.ops[kLinear].attr = -1; },
     "op 2 (linear 'f'): shift is -1, expected 0 to 26"},
    {"NormOutput", [](auto& r) { r.values[kN].size = 2; }, "op 1 (l1_norm 'n'): its input has size 3, expected 2"},
    {"NormGain", [](auto& r) { r.params[kGain].rows = 2; }, "op 1 (l1_norm 'n'): its gain has size 2, expected 3"},
    {"NormGainIsAMatrix", [](auto& r) { r.ops[kNorm].param[0] = kW; }, "op 1 (l1_norm 'n'): its gain is not a vector"},
    {"NormBiasIsAMatrix", [](auto& r) { r.ops[kNorm].param[1] = kW; }, "op 1 (l1_norm 'n'): its bias is not a vector"},
    {"NormDivision", [](auto& r) { r.ops[kNorm].attr = 3; }, "op 1 (l1_norm 'n'): division is 3, expected 0 to 2"},
    {"AddOutput", [](auto& r) { r.values[kA].size = 2; }, "op 5 (add 'a'): its first input has size 3, expected 2"},
    {"AddSecondInput",
     [](auto& r) {
       r.ops[kAdd].in[1] = kG;
       r.values[kG].size = 2;
       r.values[kH].size = 2;
       r.ops[kGate].in[0] = kH;
       r.ops[kMix].in[2] = kF;
       r.ops[kMix].in[1] = kF;
       r.ops[kStore].in[0] = kM;
     },
     "op 5 (add 'a'): its second input has size 2, expected 3"},
    {"AddBias",
     [](auto& r) {
       r.ops[kAdd].param[1] = kBias;
       r.params[kBias].rows = 2;
       r.ops[kLinear].param[1] = -1;
     },
     "op 5 (add 'a'): its bias has size 2, expected 3"},
    {"Gate", [](auto& r) { r.values[kG].size = 2; }, "op 3 (gru_gate 'g'): its first input has size 3, expected 2"},
    {"Mix", [](auto& r) { r.values[kM].size = 2; }, "op 4 (gru_mix 'm'): its first input has size 3, expected 2"},
    {"Store",
     [](auto& r) {
       r.values[kH].size = 4;
       r.ops[kGate].in[1] = kF;
       r.ops[kMix].in[1] = kF;
     },
     "op 6 (store 'h'): its input has size 3, expected 4"},
    {"Logits", [](auto& r) { r.ops[kLoss].in[0] = kA; }, "op 8 (loss): its logits has size 3, expected 5"},
    {"NoUnit", [](auto& r) { r.ops[kLoss].attr = 0; }, "op 8 (loss): unit is 0, expected 1 to 262144"},
    {"LargeUnit", [](auto& r) { r.ops[kLoss].attr = 262145; }, "op 8 (loss): unit is 262145, expected 1 to 262144"},
};

INSTANTIATE_TEST_SUITE_P(Each, ValidateProgram, testing::ValuesIn(kBroken), name_of<RawProgram>);

TEST(ValidateProgramLists, MustBeThere) {
  const std::string sentence = "the model's program is wrong: a list is missing; fix the model plugin";
  for (void (*drop)(egg_program&) :
       {+[](egg_program& p) { p.params = nullptr; }, +[](egg_program& p) { p.values = nullptr; },
        +[](egg_program& p) { p.ops = nullptr; }}) {
    RawProgram raw;
    egg_program program = raw.view();
    drop(program);
    EXPECT_EQ(message_of([&] { validate_program(program); }), sentence);
  }
}

TEST(ValidateProgramAccepts, TheTinyProgramAndWhatLiesAtTheEdges) {
  RawProgram raw;
  EXPECT_EQ(message_of([&] { validate_program(raw.view()); }), "");
  raw.program.struct_size = sizeof(egg_program) + 8;  // a newer struct
  raw.ops[kLinear].attr = 26;
  raw.ops[kNorm].attr = EGG_DIVIDE_FLOOR;
  raw.ops[kLoss].attr = 1 << 18;
  raw.params[kBias].init_value = -127;
  raw.program.fixed_point = 12;
  EXPECT_EQ(message_of([&] { validate_program(raw.view()); }), "");
  // A state may be stored and never read: its last value is what `get_states` gives.
  raw.values.push_back({"kept", 3, 1, 0, 0});
  raw.ops.insert(raw.ops.begin() + kStore, egg_op{EGG_OP_STORE, kLogits + 1, {kX, -1, -1}, {-1, -1}, 0, -1, 0, 0});
  EXPECT_EQ(message_of([&] { validate_program(raw.view()); }), "");
}

TEST(ProgramBuilder, RefusesWhatWasNeverMade) {
  const std::string sentence = "the program uses a value or parameter that was never made; fix the model plugin";
  ProgramBuilder builder(5, 4, EGG_ROUND_NEAREST);
  EXPECT_EQ(message_of([&] { builder.embed("x", Param{}); }), sentence);
  EXPECT_EQ(message_of([&] { builder.gru_gate("g", Value{}, Value{}); }), sentence);
}

}  // namespace
}  // namespace eggroll::test
