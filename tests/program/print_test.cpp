// Golden printed forms, and their hashes: a hash is stable, and differs after each change to what is computed.
#include <set>

#include "eggroll/rule_builder.h"
#include "program/program.h"
#include "program/raw_program.h"
#include "program/rule.h"
#include "support/host.h"
#include "system/files.h"

namespace eggroll::test {
namespace {

const char* const kTinyText =
    R"(program vocab 5, fixed point 4, rounding nearest
param e                        matrix 5 x 3        init normal 16
param gain                     vector 3            init constant 16
param w                        matrix 3 x 3        init normal 8
param bias                     vector 3            init constant -2
param head                     matrix 5 x 3        init normal 16
state h                        3
op    x[3]                     = embed(token, e)
op    n[3]                     = l1_norm(x, gain, reciprocal)
op    f[3]                     = linear(n, w, bias bias, shift 7)
op    g[3]                     = gru_gate(f, h)
op    m[3]                     = gru_mix(f, h, g)
op    a[3]                     = add(m, x)
op    h[3]                     = store(m)
op    logits[5]                = linear(a, head, shift 7)
op    loss                     = loss(logits, target, unit 4096/65536 bits)
)";

void expect_has(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
}

// Each change to a Raw must give its printed form another hash. The first change must do nothing.
template <class Raw, class Printed>
void expect_hashes_differ(const std::vector<std::function<void(Raw&)>>& changes, const Printed& printed) {
  std::set<std::string> hashes;
  for (size_t i = 0; i < changes.size(); ++i) {
    Raw raw;
    changes[i](raw);
    const auto made = printed(raw);
    EXPECT_EQ(made.hash(), sha256_hex(made.text()));
    EXPECT_TRUE(hashes.insert(made.hash()).second) << "change " << i;
  }
}

TEST(ProgramText, OfTheTinyProgram) {
  RawProgram raw;
  const Program program(raw.view());
  EXPECT_EQ(program.text(), kTinyText);
  EXPECT_EQ(program.state_bytes(), 3U);
  EXPECT_EQ(program.weight_count(), 15U + 3U + 9U + 3U + 15U);
  EXPECT_EQ(program.macs_per_token(), 9U + 15U);
}

TEST(ProgramText, ShowsWhatTheTinyProgramLacks) {
  RawProgram raw;
  raw.program.rounding = EGG_ROUND_FLOOR;
  raw.params[2].perturbed = 0;
  raw.ops[1].attr = EGG_DIVIDE_TRUNCATE;
  raw.ops[5].param[1] = 3;
  const std::string text = Program(raw.view()).text();
  expect_has(text, {"program vocab 5, fixed point 4, rounding floor\n",
                    "param w                        matrix 3 x 3        init normal 8, frozen\n",
                    "op    n[3]                     = l1_norm(x, gain, truncate)\n",
                    "op    a[3]                     = add(m, x, bias bias)\n"});
}

TEST(ProgramIndices, OfWords) {
  ProgramBuilder b(256, 4, EGG_ROUND_NEAREST);
  const auto table = [&](const char* name) { return b.matrix(name, 32, 256, 0); };
  Value x = b.embed("one", table("one_rows"), b.index_by_words(1, 32));
  x = b.embed("two", table("two_rows"), b.index_by_words(2, 32), x);
  x = b.embed("two_again", table("more_rows"), b.index_by_words(2, 32), x);
  x = b.embed("tokens", table("last_rows"), b.index(2, 32), x);
  b.loss(x, 4096);
  const Program program(*b.view());
  EXPECT_EQ(program.indices().size(), 3U);
  const std::string text = program.text();
  expect_has(text, {"embed(hash of 1 word, one_rows)", "embed(hash of 2 words, one, two_rows)",
                    "embed(hash of 2 words, two, more_rows)", "embed(hash of 2 tokens, two_again, last_rows)"});
}

TEST(ProgramIndices, OfWordsKeepTheContract) {
  const auto refusal = [](int32_t vocab, const egg_index& index) {
    ProgramBuilder b(vocab, 4, EGG_ROUND_NEAREST);
    b.loss(b.embed("logits", b.matrix("rows", 32, vocab, 0), b.index_by_words(1, 32)), 4096);
    egg_program program = *b.view();
    program.indices = &index;
    return message_of([&] { validate_program(program); });
  };
  EXPECT_EQ(refusal(256, {0, 32, 1}), "");
  const auto fault = [](const std::string& text) {
    return "the model's program is wrong: index 0" + text + "; fix the model plugin";
  };
  EXPECT_EQ(refusal(256, {0, 32, 3}), fault(": words is 3, expected 0 to 2"));
  EXPECT_EQ(refusal(256, {0, 32, -1}), fault(": words is -1, expected 0 to 2"));
  EXPECT_EQ(refusal(256, {0, 32, 0}), fault(": tokens is 0, expected 1 to 16"));
  EXPECT_EQ(refusal(256, {2, 32, 1}), fault(": tokens is 2, expected 0 to 0"));
  EXPECT_EQ(refusal(255, {0, 32, 1}),
            fault(" is of words, and the vocabulary is 255, expected 256, one for each byte"));
}

// A batch carries each row number once. The printed form, and so its hash, says what a table's row is a hash of. It has
// no number of an index.
TEST(ProgramIndices, OfTheSameHashAreShared) {
  ProgramBuilder b(16, 4, EGG_ROUND_NEAREST);
  const auto add = [&](const char* name, Value x, int32_t tokens, int32_t rows) {
    return b.embed(name, b.matrix(std::string(name) + "_rows", rows, 16, 16), b.index(tokens, rows), x);
  };
  Value x = b.embed("token", b.matrix("e", 16, 16, 16));
  x = add("two", x, 2, 32);
  x = add("more_rows", x, 2, 64);
  x = add("three", x, 3, 32);
  x = add("three_again", x, 3, 32);
  x = add("two_again", x, 2, 32);
  b.loss(x, 4096);
  const egg_program& source = *b.view();
  ASSERT_EQ(source.index_count, 5U);
  const Program program(source);
  ASSERT_EQ(program.view().index_count, 3U);
  ASSERT_EQ(program.indices().size(), 3U);
  for (uint32_t i = 1; i < source.op_count - 1; ++i) {
    const egg_index& expected = source.indices[source.ops[i].attr - 1];
    const egg_index& shared = program.indices().at(static_cast<size_t>(program.ops()[i].attr - 1));
    EXPECT_EQ(shared.tokens, expected.tokens) << i;
    EXPECT_EQ(shared.rows, expected.rows) << i;
  }
  EXPECT_EQ(program.ops()[0].attr, 0);
  const std::string text = program.text();
  expect_has(text,
             {"embed(hash of 2 tokens, token, two_rows)", "embed(hash of 2 tokens, two, more_rows_rows)",
              "embed(hash of 3 tokens, more_rows, three_rows)", "embed(hash of 3 tokens, three, three_again_rows)",
              "embed(hash of 2 tokens, three_again, two_again_rows)"});
  EXPECT_EQ(text.find("index"), std::string::npos) << text;
}

TEST(ProgramText, OfTheTinyFormer) {
  RawProgram raw(tiny_former());
  const std::string text = Program(raw.view()).text();
  expect_has(text, {"program vocab 5, fixed point 4, rounding nearest, context 2\n",
                    "op    u[8]                     = lut(x, lut)\n",
                    "op    q[8] wide                = linear(u, w, shift 0)\n",
                    "op    r[8] wide                = rope(q, angles, head 4)\n",
                    "op    o[8]                     = attention(n, x, u, weights, head 4, softmax, shift 6)\n",
                    "op    s[8] wide                = add(o, q)\n"});
}

// A table is part of what a program computes.
TEST(ProgramHash, ChangesWithATable) {
  RawProgram raw(tiny_former());
  const std::string before = Program(raw.view()).hash();
  std::vector<int32_t> entries(256, 3);
  entries[255] = 4;
  raw.tables[0].entries = entries.data();
  EXPECT_NE(Program(raw.view()).hash(), before);
}

TEST(ProgramHash, IsTheSha256OfTheText) {
  RawProgram raw;
  const Program program(raw.view());
  EXPECT_EQ(program.hash(), sha256_hex(kTinyText));
  EXPECT_EQ(program.hash(), "89498749bc18151cf30747a61db9726c11a7360444e6cf0e73369f3be3f1ea58");
}

TEST(ProgramHash, OutlivesTheSource) {
  std::optional<RawProgram> raw(std::in_place);
  const Program program(raw->view());
  raw.reset();
  EXPECT_EQ(program.text(), kTinyText);
}

// A program's hash depends on everything that changes its results or the place of its weights.
TEST(ProgramHash, ChangesWithEveryPart) {
  const std::vector<std::function<void(RawProgram&)>> changes = {
      [](RawProgram&) {},
      [](RawProgram& r) { r.program.fixed_point = 5; },
      [](RawProgram& r) { r.program.rounding = EGG_ROUND_FLOOR; },
      [](RawProgram& r) { r.program.vocab = r.params[0].rows = r.params[4].rows = r.values[7].size = 6; },
      [](RawProgram& r) { r.params[0].name = "table"; },
      [](RawProgram& r) { r.params[0].init = EGG_INIT_CONSTANT; },
      [](RawProgram& r) { r.params[0].init_value = 15; },
      [](RawProgram& r) { r.params[0].perturbed = 0; },
      [](RawProgram& r) { std::swap(r.params[0], r.params[4]), std::swap(r.ops[0].param[0], r.ops[7].param[0]); },
      [](RawProgram& r) { r.values[0].name = "state"; },
      [](RawProgram& r) { r.ops[1].attr = EGG_DIVIDE_TRUNCATE; },
      [](RawProgram& r) { r.ops[1].attr = EGG_DIVIDE_FLOOR; },
      [](RawProgram& r) { r.ops[1].param[1] = 3; },
      [](RawProgram& r) { r.ops[2].attr = 8; },
      [](RawProgram& r) {
        r.ops[4].in[2] = 3;
        r.ops[5].in[1] = 4;
      },
      [](RawProgram& r) { std::swap(r.ops[5].in[0], r.ops[5].in[1]); },
      [](RawProgram& r) { std::swap(r.ops[5], r.ops[6]); },
      [](RawProgram& r) { r.ops[6].in[0] = 3; },
      [](RawProgram& r) { r.ops[8].attr = 4097; },
  };
  expect_hashes_differ(changes, [](RawProgram& raw) { return Program(raw.view()); });
}

const char* const kSignEs =
    R"(rule
node %0 = scalar threshold
node %1 = vote_std
node %2 = fmul %0 %1
node %3 = vote_f32
node %4 = const_i32 1
node %5 = const_i32 -1
node %6 = const_i32 0
node %7 = fabs %3
node %8 = flt %2 %7
node %9 = const_f32 0
node %10 = flt %3 %9
node %11 = select %10 %5 %4
node %12 = select %8 %11 %6
weight = clip(weight + %12)
)";

const char* const kSignEsWithResidual =
    R"(rule
node %0 = scalar threshold
node %1 = slot residual
node %2 = const_f32 0
node %3 = vote_std
node %4 = vote_f32
node %5 = fdiv %4 %3
node %6 = flt %2 %3
node %7 = select %6 %5 %2
node %8 = const_f32 0.5
node %9 = fmul %8 %1
node %10 = fadd %7 %9
node %11 = const_i32 1
node %12 = const_i32 -1
node %13 = const_i32 0
node %14 = fabs %10
node %15 = flt %0 %14
node %16 = const_f32 0
node %17 = flt %10 %16
node %18 = select %17 %12 %11
node %19 = select %15 %18 %13
node %20 = select %19 %2 %10
slot residual float32 = %20
weight = clip(weight + %19)
)";

TEST(RuleText, OfSignEs) {
  const auto text = [](const std::string& residual) {
    const Learner learner(repository_config({"optimizer.residual=" + residual}), built_plugins());
    return learner.rule->text();
  };
  EXPECT_EQ(text("0"), kSignEs);
  EXPECT_EQ(text("0.5"), kSignEsWithResidual);
}

// Nodes: 0 real constant, 1 vote, 2 product, 3 slot, 4 sum, 5 change.
struct SmallRule {
  SmallRule() {
    const Node product = builder.op(EGG_RULE_FMUL, {builder.constant(0.1F), builder.vote_f32()});
    const Node slot = builder.slot("sum", 'f');
    builder.set_slot(slot, builder.op(EGG_RULE_FADD, {slot, product}));
    builder.delta(builder.op(EGG_RULE_TRUNC_I32, {product}));
    rule = *builder.view();
    nodes.assign(rule.nodes, rule.nodes + rule.node_count);
    slots.assign(rule.slots, rule.slots + rule.slot_count);
    rule.nodes = nodes.data();
    rule.slots = slots.data();
  }
  RuleBuilder builder;
  egg_rule rule;
  std::vector<egg_rule_node> nodes;
  std::vector<egg_slot> slots;
};

TEST(RuleHash, ChangesWithEveryPart) {
  EXPECT_EQ(Rule(SmallRule().rule).text(),
            "rule\nnode %0 = const_f32 0.1\nnode %1 = vote_f32\nnode %2 = fmul %0 %1\nnode %3 = slot sum\n"
            "node %4 = fadd %3 %2\nnode %5 = trunc_i32 %2\nslot sum float32 = %4\nweight = clip(weight + %5)\n");
  const std::vector<std::function<void(SmallRule&)>> changes = {
      [](SmallRule&) {},
      [](SmallRule& r) { r.nodes[2].code = EGG_RULE_FDIV; },
      [](SmallRule& r) { std::swap(r.nodes[2].in[0], r.nodes[2].in[1]); },
      [](SmallRule& r) { r.nodes[5].in[0] = 1; },
      // The next float32 after 0.1F: the printed digits must tell the two apart.
      [](SmallRule& r) { r.nodes[0].real = std::nextafter(0.1F, 1.0F); },
      [](SmallRule& r) { r.slots[0].node = 2; },
      [](SmallRule& r) { r.slots[0].name = "total"; },
  };
  expect_hashes_differ(changes, [](const SmallRule& small) { return Rule(small.rule); });
}

}  // namespace
}  // namespace eggroll::test
