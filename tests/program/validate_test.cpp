// Breaks each condition on a program once.
#include <fmt/format.h>

#include <deque>

#include "program/program.h"
#include "program/raw_program.h"

namespace eggroll::test {
namespace {

using Break = std::function<void(RawProgram&)>;

struct Broken {
  const char* name;
  Break change;
  std::string fault;  // the part of the sentence between its usual beginning and cure
};

void PrintTo(const Broken& broken, std::ostream* out) { *out << broken.fault; }

// Fields of the tiny program by name, so that a case reads as what it breaks.
enum ParamIndex : size_t { kE, kGain, kW, kBias, kHead };
enum ValueIndex : size_t { kH, kX, kN, kF, kG, kM, kA, kLogits };
enum OpIndex : size_t { kEmbed, kNorm, kLinear, kGate, kMix, kAdd, kStore, kLogitsOp, kLoss };

class ValidateProgram : public testing::TestWithParam<Broken> {};

TEST_P(ValidateProgram, RefusesWithOneSentence) {
  RawProgram raw;
  GetParam().change(raw);
  EXPECT_EQ(message_of([&] { validate_program(raw.view()); }),
            "the model's program is wrong: " + GetParam().fault + "; fix the model plugin");
}

std::string name_of(const testing::TestParamInfo<Broken>& info) { return info.param.name; }

const size_t kSize = sizeof(egg_program);

INSTANTIATE_TEST_SUITE_P(Head, ValidateProgram,
                         testing::Values(Broken{"ShortStruct", [](RawProgram& r) { r.program.struct_size = 8; },
                                                fmt::format("it has 8 bytes, expected {}", kSize)},
                                         Broken{"VocabularyOfOne", [](RawProgram& r) { r.program.vocab = 1; },
                                                "the vocabulary is 1, expected 2 to 262144"},
                                         Broken{"VocabularyTooLarge", [](RawProgram& r) { r.program.vocab = 262145; },
                                                "the vocabulary is 262145, expected 2 to 262144"},
                                         Broken{"NegativeFixedPoint", [](RawProgram& r) { r.program.fixed_point = -1; },
                                                "fixed_point is -1, expected 0 to 12"},
                                         Broken{"LargeFixedPoint", [](RawProgram& r) { r.program.fixed_point = 13; },
                                                "fixed_point is 13, expected 0 to 12"},
                                         Broken{"UnknownRounding", [](RawProgram& r) { r.program.rounding = 2; },
                                                "rounding is 2, expected 0 to 1"},
                                         Broken{"NoParameters", [](RawProgram& r) { r.params.clear(); }, "it is empty"},
                                         Broken{"NoValues", [](RawProgram& r) { r.values.clear(); }, "it is empty"},
                                         Broken{"NoOps", [](RawProgram& r) { r.ops.clear(); }, "it is empty"}),
                         name_of);

// Adds states whose bytes do not fit 32 bits.
void add_large_states(RawProgram& raw) {
  static std::deque<std::string> names;
  for (int i = 0; i < 256; ++i) {
    raw.values.push_back({names.emplace_back(fmt::format("s{}", i)).c_str(), 1 << 24, 1, 0, 0});
  }
}

INSTANTIATE_TEST_SUITE_P(States, ValidateProgram,
                         testing::Values(Broken{"TooLarge", add_large_states,
                                                "the states of a member are 4294967299 bytes, expected at most "
                                                "2147483647"}),
                         name_of);

const std::string kLongName(201, 'a');

INSTANTIATE_TEST_SUITE_P(
    Names, ValidateProgram,
    testing::Values(Broken{"NullParameter", [](RawProgram& r) { r.params[kE].name = nullptr; },
                           "a parameter, value or table has no name"},
                    Broken{"EmptyParameter", [](RawProgram& r) { r.params[kE].name = ""; },
                           "a parameter, value or table has no name"},
                    Broken{"NullValue", [](RawProgram& r) { r.values[kX].name = nullptr; },
                           "a parameter, value or table has no name"},
                    Broken{"Capital", [](RawProgram& r) { r.params[kW].name = "W"; },
                           "the name 'W' has characters other than a-z, 0-9, underscores and dots"},
                    Broken{"Slash", [](RawProgram& r) { r.values[kX].name = "x/y"; },
                           "the name 'x/y' has characters other than a-z, 0-9, underscores and dots"},
                    Broken{"Metadata", [](RawProgram& r) { r.params[kW].name = "__metadata__"; },
                           "the name '__metadata__' belongs to a part of every safetensors file"},
                    Broken{"TooLong", [](RawProgram& r) { r.values[kX].name = kLongName.c_str(); },
                           fmt::format("the name '{}' is longer than 200 characters", kLongName)},
                    Broken{"TwoParameters", [](RawProgram& r) { r.params[kW].name = "e"; },
                           "two parameters, values or tables are named 'e'"},
                    Broken{"ParameterAndValue", [](RawProgram& r) { r.values[kX].name = "head"; },
                           "two parameters, values or tables are named 'head'"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Parameters, ValidateProgram,
    testing::Values(
        Broken{"Kind", [](RawProgram& r) { r.params[kE].kind = 2; }, "parameter 'e': kind is 2, expected 0 to 1"},
        Broken{"NoRows", [](RawProgram& r) { r.params[kE].rows = 0; },
               "parameter 'e': rows is 0, expected 1 to 16777216"},
        Broken{"TooManyRows", [](RawProgram& r) { r.params[kE].rows = 16777217; },
               "parameter 'e': rows is 16777217, expected 1 to 16777216"},
        Broken{"NoColumns", [](RawProgram& r) { r.params[kE].cols = 0; },
               "parameter 'e': columns is 0, expected 1 to 16777216"},
        Broken{"VectorWithColumns", [](RawProgram& r) { r.params[kGain].cols = 2; },
               "parameter 'gain': columns is 2, expected 1 to 1"},
        Broken{"TooManyWeights",
               [](RawProgram& r) {
                 r.params[kE].rows = 1 << 16;
                 r.params[kE].cols = 1 << 16;
               },
               "parameter 'e': weights is 4294967296, expected 1 to 4294967295"},
        Broken{"Init", [](RawProgram& r) { r.params[kE].init = 2; }, "parameter 'e': init is 2, expected 0 to 1"},
        Broken{"NegativeDeviation", [](RawProgram& r) { r.params[kE].init_value = -1; },
               "parameter 'e': initial value is -1, expected 0 to 127"},
        Broken{"LargeDeviation", [](RawProgram& r) { r.params[kE].init_value = 128; },
               "parameter 'e': initial value is 128, expected 0 to 127"},
        Broken{"LowConstant", [](RawProgram& r) { r.params[kBias].init_value = -128; },
               "parameter 'bias': initial value is -128, expected -127 to 127"},
        Broken{"Perturbed", [](RawProgram& r) { r.params[kE].perturbed = 2; },
               "parameter 'e': perturbed is 2, expected 0 to 1"},
        Broken{"Unused", [](RawProgram& r) { r.ops[kLinear].param[1] = -1; }, "parameter 'bias' is never used"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Values, ValidateProgram,
    testing::Values(Broken{"EmptyValue", [](RawProgram& r) { r.values[kX].size = 0; },
                           "value 'x': size is 0, expected 1 to 16777216"},
                    Broken{"ReadTooEarly", [](RawProgram& r) { r.ops[kLinear].in[0] = kM; },
                           "op 2 (linear 'f') reads 'm' before it is made"},
                    Broken{"WrittenTwice",
                           [](RawProgram& r) {
                             r.ops[kGate] = r.ops[kAdd];
                             r.ops[kGate].in[0] = kX;
                             r.ops[kGate].in[1] = kF;
                             r.ops[kGate].out = kF;
                           },
                           "'f' is written twice"},
                    Broken{"StateStoredTwice",
                           [](RawProgram& r) { r.ops.insert(r.ops.begin() + kStore, r.ops[kStore]); },
                           "'h' is written twice"},
                    Broken{"StateNeverStored", [](RawProgram& r) { r.ops.erase(r.ops.begin() + kStore); },
                           "state 'h' is never written"},
                    Broken{"NeverWritten",
                           [](RawProgram& r) {
                             r.values.push_back({"extra", 3, 0, 0, 0});
                           },
                           "value 'extra' is never written"},
                    Broken{"NeverRead",
                           [](RawProgram& r) {
                             r.ops[kAdd].in[0] = kX;
                             r.ops.erase(r.ops.begin() + kStore);
                             r.values[kH].is_state = 1;
                             r.ops.insert(r.ops.begin() + kStore, r.ops[kStore - 1]);
                             r.ops[kStore] = egg_op{EGG_OP_STORE, kH, {kA, -1, -1}, {-1, -1}, 0, -1, 0, 0};
                           },
                           "value 'm' is never read"},
                    Broken{"StateWrittenByAdd", [](RawProgram& r) { r.ops[kAdd].out = kH; },
                           "op 5 (add 'h') writes 'h', which is a state"},
                    Broken{"StoreToAValue", [](RawProgram& r) { r.ops[kStore].out = kA; },
                           "op 6 (store 'a') writes 'a', which is no state"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Ops, ValidateProgram,
    testing::Values(
        Broken{"NegativeCode", [](RawProgram& r) { r.ops[kMix].code = -1; },
               fmt::format("op 4: code is -1, expected 0 to {}", EGG_OP_COUNT - 1)},
        Broken{"UnknownCode", [](RawProgram& r) { r.ops[kMix].code = EGG_OP_COUNT; },
               fmt::format("op 4: code is {}, expected 0 to {}", int{EGG_OP_COUNT}, EGG_OP_COUNT - 1)},
        Broken{"MissingInput", [](RawProgram& r) { r.ops[kMix].in[2] = -1; },
               "op 4 (gru_mix 'm'): input is -1, expected 0 to 7"},
        Broken{"InputThatIsNone", [](RawProgram& r) { r.ops[kMix].in[2] = 8; },
               "op 4 (gru_mix 'm'): input is 8, expected 0 to 7"},
        Broken{"InputTooMany", [](RawProgram& r) { r.ops[kGate].in[2] = kX; },
               "op 3 (gru_gate 'g') has an input too many"},
        Broken{"EmbedWithTwoInputs", [](RawProgram& r) { r.ops[kEmbed].in[1] = kH; },
               "op 0 (embed 'x') has an input too many"},
        Broken{"MissingParameter", [](RawProgram& r) { r.ops[kEmbed].param[0] = -1; },
               "op 0 (embed 'x'): parameter is -1, expected 0 to 4"},
        Broken{"ParameterThatIsNone", [](RawProgram& r) { r.ops[kLinear].param[1] = 5; },
               "op 2 (linear 'f'): parameter is 5, expected 0 to 4"},
        Broken{"ParameterTooMany", [](RawProgram& r) { r.ops[kGate].param[0] = kW; },
               "op 3 (gru_gate 'g') has a parameter too many"},
        Broken{"BiasInTheFirstPlace", [](RawProgram& r) { r.ops[kAdd].param[0] = kBias; },
               "op 5 (add 'a') has a parameter too many"},
        Broken{"EmbedWithBias", [](RawProgram& r) { r.ops[kEmbed].param[1] = kBias; },
               "op 0 (embed 'x') has a parameter too many"},
        Broken{"Attribute", [](RawProgram& r) { r.ops[kAdd].attr = 1; },
               "op 5 (add 'a') has an attribute it does not take"},
        Broken{"OutputThatIsNone", [](RawProgram& r) { r.ops[kGate].out = 8; },
               "op 3 (gru_gate): output is 8, expected 0 to 7"},
        Broken{"NoOutput", [](RawProgram& r) { r.ops[kGate].out = -1; },
               "op 3 (gru_gate): output is -1, expected 0 to 7"},
        Broken{"LossIsNotLast",
               [](RawProgram& r) {
                 std::swap(r.ops[kLogitsOp], r.ops[kLoss]);
                 r.ops[kLogitsOp].in[0] = kX;
                 r.program.vocab = 3;
                 r.params[kE].rows = 3;
               },
               "exactly one loss is expected, as the last op"},
        Broken{"NoLoss", [](RawProgram& r) { r.ops.pop_back(); }, "exactly one loss is expected, as the last op"},
        Broken{"TwoLosses", [](RawProgram& r) { r.ops.push_back(r.ops[kLoss]); },
               "exactly one loss is expected, as the last op"},
        Broken{"LossWrites", [](RawProgram& r) { r.ops[kLoss].out = kX; }, "op 8 (loss) writes a value"},
        // The check must not read the value with that number.
        Broken{"LossWritesFarAway", [](RawProgram& r) { r.ops[kLoss].out = 1 << 30; }, "op 8 (loss) writes a value"},
        Broken{"OpWritesFarAway", [](RawProgram& r) { r.ops[kMix].out = 1 << 30; },
               "op 4 (gru_mix): output is 1073741824, expected 0 to 7"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Shapes, ValidateProgram,
    testing::Values(Broken{"EmbeddingIsAVector", [](RawProgram& r) { r.ops[kEmbed].param[0] = kGain; },
                           "op 0 (embed 'x'): the embedding is not a matrix"},
                    Broken{"EmbeddingRows", [](RawProgram& r) { r.params[kE].rows = 6; },
                           "op 0 (embed 'x'): the embedding's vocabulary has size 6, expected 5"},
                    Broken{"EmbedOntoAnotherSize",
                           [](RawProgram& r) {
                             r.params[kE].cols = 4;
                             r.values[kX].size = 4;
                             r.ops[kEmbed].in[0] = kH;
                           },
                           "op 0 (embed 'x'): its input has size 3, expected 4"},
                    Broken{"EmbedByAnIndexThatIsNone", [](RawProgram& r) { r.ops[kEmbed].attr = 1; },
                           "op 0 (embed 'x'): index is 1, expected 0 to 0"},
                    Broken{"EmbeddingOutput", [](RawProgram& r) { r.values[kX].size = 4; },
                           "op 0 (embed 'x'): its output has size 4, expected 3"},
                    Broken{"LinearIsAVector", [](RawProgram& r) { r.ops[kLinear].param[0] = kGain; },
                           "op 2 (linear 'f'): its weight is not a matrix"},
                    Broken{"LinearInput", [](RawProgram& r) { r.params[kW].cols = 4; },
                           "op 2 (linear 'f'): its input has size 3, expected 4"},
                    Broken{"LinearOutput", [](RawProgram& r) { r.params[kW].rows = 4; },
                           "op 2 (linear 'f'): its output has size 3, expected 4"},
                    Broken{"LinearBiasIsAMatrix", [](RawProgram& r) { r.ops[kLinear].param[1] = kW; },
                           "op 2 (linear 'f'): its bias is not a vector"},
                    Broken{"LinearBias", [](RawProgram& r) { r.params[kBias].rows = 2; },
                           "op 2 (linear 'f'): its bias has size 2, expected 3"},
                    Broken{"LinearShift", [](RawProgram& r) { r.ops[kLinear].attr = 27; },
                           "op 2 (linear 'f'): shift is 27, expected 0 to 26"},
                    Broken{"LinearNegativeShift", [](RawProgram& r) { r.ops[kLinear].attr = -1; },
                           "op 2 (linear 'f'): shift is -1, expected 0 to 26"},
                    Broken{"NormOutput", [](RawProgram& r) { r.values[kN].size = 2; },
                           "op 1 (l1_norm 'n'): its input has size 3, expected 2"},
                    Broken{"NormGain", [](RawProgram& r) { r.params[kGain].rows = 2; },
                           "op 1 (l1_norm 'n'): its gain has size 2, expected 3"},
                    Broken{"NormGainIsAMatrix", [](RawProgram& r) { r.ops[kNorm].param[0] = kW; },
                           "op 1 (l1_norm 'n'): its gain is not a vector"},
                    Broken{"NormBiasIsAMatrix", [](RawProgram& r) { r.ops[kNorm].param[1] = kW; },
                           "op 1 (l1_norm 'n'): its bias is not a vector"},
                    Broken{"NormDivision", [](RawProgram& r) { r.ops[kNorm].attr = 3; },
                           "op 1 (l1_norm 'n'): division is 3, expected 0 to 2"},
                    Broken{"AddOutput", [](RawProgram& r) { r.values[kA].size = 2; },
                           "op 5 (add 'a'): its first input has size 3, expected 2"},
                    Broken{"AddSecondInput",
                           [](RawProgram& r) {
                             r.ops[kAdd].in[1] = kG;
                             r.values[kG].size = 2;
                             r.values[kH].size = 2;
                             r.ops[kGate].in[0] = kH;
                             r.ops[kMix].in[2] = kF;
                             r.ops[kMix].in[1] = kF;
                             r.ops[kStore].in[0] = kM;
                           },
                           "op 5 (add 'a'): its second input has size 2, expected 3"},
                    Broken{"AddBias",
                           [](RawProgram& r) {
                             r.ops[kAdd].param[1] = kBias;
                             r.params[kBias].rows = 2;
                             r.ops[kLinear].param[1] = -1;
                           },
                           "op 5 (add 'a'): its bias has size 2, expected 3"},
                    Broken{"Gate", [](RawProgram& r) { r.values[kG].size = 2; },
                           "op 3 (gru_gate 'g'): its first input has size 3, expected 2"},
                    Broken{"Mix", [](RawProgram& r) { r.values[kM].size = 2; },
                           "op 4 (gru_mix 'm'): its first input has size 3, expected 2"},
                    Broken{"Store",
                           [](RawProgram& r) {
                             r.values[kH].size = 4;
                             r.ops[kGate].in[1] = kF;
                             r.ops[kMix].in[1] = kF;
                           },
                           "op 6 (store 'h'): its input has size 3, expected 4"},
                    Broken{"Logits", [](RawProgram& r) { r.ops[kLoss].in[0] = kA; },
                           "op 8 (loss): its logits has size 3, expected 5"},
                    Broken{"NoUnit", [](RawProgram& r) { r.ops[kLoss].attr = 0; },
                           "op 8 (loss): unit is 0, expected 1 to 262144"},
                    Broken{"LargeUnit", [](RawProgram& r) { r.ops[kLoss].attr = 262145; },
                           "op 8 (loss): unit is 262145, expected 1 to 262144"}),
    name_of);

TEST(ValidateProgramLists, MustBeThere) {
  const std::string sentence = "the model's program is wrong: a list is missing; fix the model plugin";
  RawProgram raw;
  egg_program program = raw.view();
  program.params = nullptr;
  EXPECT_EQ(message_of([&] { validate_program(program); }), sentence);
  program = raw.view();
  program.values = nullptr;
  EXPECT_EQ(message_of([&] { validate_program(program); }), sentence);
  program = raw.view();
  program.ops = nullptr;
  EXPECT_EQ(message_of([&] { validate_program(program); }), sentence);
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
