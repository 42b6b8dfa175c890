// Sections as flat settings, errors traced to file and line, unknown sections.
#include "config/settings_block.h"

#include "config/config_folder.h"
#include "config/override.h"
#include "eggroll/settings.h"

namespace eggroll::test {
namespace {

const char* const kText =
    "name: run\n"
    "model:\n"
    "  width: -5\n"
    "  rate: 2\n"
    "  tied: true\n"
    "  shift: null\n"
    "  kind: ab\n"
    "  mlp:\n"
    "    ratio: 4.5\n"
    "    none: {}\n"
    "  sizes: [8, 9]\n"
    "  empty: []\n"
    "seed: 3\n";

ConfigNode config() { return parse_yaml(kText, "a.yaml"); }

std::string shown(const egg_settings& settings) {
  std::string text;
  for (uint32_t i = 0; i < settings.count; ++i) {
    const egg_setting& item = settings.items[i];
    text += std::string(item.key) + " " + std::to_string(item.type) + " " + std::to_string(item.integer) + " " +
            real_text(item.real) + " '" + item.text + "'\n";
  }
  return text;
}

// The error that reading the section throws, located.
template <class Read>
Error located_error(const std::string& section, Read&& read) {
  const ConfigNode tree = config();
  const SettingsBlock block(tree, section);
  try {
    Settings settings(block.view());
    read(settings);
  } catch (const Error& error) {
    return block.located(error);
  }
  return Error("nothing was thrown");
}

TEST(SettingsBlock, FlattensToDottedKeys) {
  const ConfigNode tree = config();
  const SettingsBlock block(tree, "model");
  EXPECT_EQ(block.view()->struct_size, sizeof(egg_settings));
  EXPECT_EQ(shown(*block.view()),
            "width 0 -5 -5.0 ''\n"
            "rate 0 2 2.0 ''\n"
            "tied 2 1 0.0 ''\n"
            "shift 4 0 0.0 ''\n"
            "kind 3 0 0.0 'ab'\n"
            "mlp.ratio 1 0 4.5 ''\n"
            "sizes.0 0 8 8.0 ''\n"
            "sizes.1 0 9 9.0 ''\n");
}

TEST(SettingsBlock, LeavesKeysOut) {
  EXPECT_EQ(shown(*SettingsBlock(config(), "model", {"width", "rate", "mlp", "sizes"}).view()),
            "tied 2 1 0.0 ''\nshift 4 0 0.0 ''\nkind 3 0 0.0 'ab'\n");
}

TEST(SettingsBlock, TheTopHasTheValuesOfNoSection) {
  EXPECT_EQ(shown(*SettingsBlock(config(), "").view()), "name 3 0 0.0 'run'\nseed 0 3 3.0 ''\n");
}

TEST(SettingsBlock, NestedSections) {
  EXPECT_EQ(shown(*SettingsBlock(config(), "model.mlp").view()), "ratio 1 0 4.5 ''\n");
  EXPECT_EQ(SettingsBlock(config(), "model.mlp.none").view()->count, 0U);
}

TEST(SettingsBlock, OwnsItsStrings) {
  ConfigNode tree = config();
  const SettingsBlock block(tree, "model");
  tree = ConfigNode();
  EXPECT_EQ(Settings(block.view()).text("kind"), "ab");
}

TEST(SettingsBlock, ASectionMustBeAMap) {
  EXPECT_EQ(config_error_of([] { SettingsBlock(config(), "modle"); }),
            "a.yaml: the configuration has no key 'modle'; did you mean 'model'?");
  EXPECT_EQ(config_error_of([] { SettingsBlock(config(), "seed"); }),
            "a.yaml:13: seed is an integer, expected a map of settings; give it one");
}

// It would have no key, so that [{}] would be read as [].
TEST(SettingsBlock, AnElementOfAListHasSettings) {
  for (const auto& [list, sentence] :
       {std::pair{"[{}]", "model.tables.0 is a map"}, std::pair{"[{a: 1}, {b: {}}]", "model.tables.1 is a map"},
        std::pair{"[[]]", "model.tables.0 is a list"}, std::pair{"[{a: [{}]}]", "model.tables.0.a.0 is a map"}}) {
    const ConfigNode tree = parse_yaml(std::string("model:\n  tables: ") + list + "\n", "a.yaml");
    EXPECT_EQ(
        config_error_of([&] { SettingsBlock(tree, "model"); }),
        std::string("a.yaml:2: ") + sentence + " without settings, expected some; give them or leave the element out");
  }
}

TEST(SettingsBlock, LocatesErrors) {
  struct Case {
    std::string section;
    std::function<void(Settings&)> read;
    std::string text;
    std::string key;
  };
  const std::vector<Case> cases = {
      {"model", [](Settings& s) { s.int32("width", 1); },
       "a.yaml:3: model.width is -5, expected an integer of at least 1", "model.width"},
      {"model", [](Settings& s) { s.int32("widht", 1); },
       "a.yaml:2: missing key 'model.widht', expected an integer of at least 1; add it; 'width' is near: is it "
       "misspelt?",
       "model.widht"},
      {"model",
       [](Settings& s) {
         s.choice("kind", {"a", "abc"});
       },
       "a.yaml:7: model.kind is 'ab', expected one of a, abc; did you mean 'a'?", "model.kind"},
      {"model", [](Settings& s) { s.integer("mlp.ratio", 1, 8); },
       "a.yaml:9: model.mlp.ratio is 4.5, expected an integer from 1 to 8", "model.mlp.ratio"},
      {"model", [](Settings& s) { s.integer("sizes.1", 1, 8); },
       "a.yaml:11: model.sizes.1 is 9, expected an integer from 1 to 8", "model.sizes.1"},
      {"model.mlp", [](Settings& s) { s.integer("ratio", 1, 8); },
       "a.yaml:9: model.mlp.ratio is 4.5, expected an integer from 1 to 8", "model.mlp.ratio"},
      {"", [](Settings& s) { s.integer("seed", 4, 8); }, "a.yaml:13: seed is 3, expected an integer from 4 to 8",
       "seed"},
      {"",
       [](Settings& s) {
         s.text("name");
         s.finish();
       },
       "a.yaml:13: unknown key 'seed'; known: name (correct or remove it)", "seed"},
      {"model", [](Settings&) { throw setting_error("width", "gru: shift_width and width are odd; change width"); },
       "a.yaml:3: gru: shift_width and model.width are odd; change width", "model.width"},
      {"model", [](Settings&) { throw setting_error("rate", "this is unrated"); }, "a.yaml:4: this is unrated",
       "model.rate"},
      {"model", [](Settings&) { throw setting_error("", "out of luck"); }, "out of luck", ""},
  };
  for (const Case& row : cases) {
    const Error error = located_error(row.section, row.read);
    EXPECT_EQ(error.what(), row.text);
    EXPECT_EQ(error.key(), row.key);
    EXPECT_EQ(error.code(), EGG_ERROR_CONFIG);
  }
}

TEST(SettingsBlock, ARealWithoutAFractionIsAnInteger) {
  const ConfigNode tree =
      parse_yaml("a: {whole: 1e3, rank: 4.0, broken: 1.5, large: 1e30, more: 3000000000}", "a.yaml");
  const SettingsBlock block(tree, "a");
  Settings settings(block.view());
  EXPECT_EQ(settings.integer("whole", 1, 1000), 1000);
  EXPECT_EQ(settings.int32("rank", 4, 64), 4);
  const auto refusal = [&](const char* key, int64_t low, int64_t high) {
    return config_error_of([&] { settings.integer(key, low, high); });
  };
  constexpr int64_t kHighest = std::numeric_limits<int32_t>::max();
  EXPECT_EQ(refusal("broken", 1, kHighest), "broken is 1.5, expected an integer of at least 1");
  EXPECT_EQ(refusal("rank", 8, 64), "rank is 4, expected an integer from 8 to 64");
  EXPECT_EQ(refusal("large", 1, kHighest), "large is 1e+30, expected an integer of at most 2147483647");
  EXPECT_EQ(refusal("more", 1, kHighest), "more is 3000000000, expected an integer of at most 2147483647");
}

TEST(SettingsBlock, SaysWhatDeletedAMissingKey) {
  ConfigNode tree = config();
  apply_override(tree, parse_override("~model.mlp.ratio"));
  const SettingsBlock block(tree, "model");
  try {
    Settings(block.view()).integer("mlp.ratio", 1, 8);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(block.located(error).what(),
                 "a.yaml:8: missing key 'model.mlp.ratio', expected an integer from 1 to 8; add it (command line "
                 "'~model.mlp.ratio' deleted it)");
  }
  apply_override(tree, parse_override("~model"));
  EXPECT_EQ(
      config_error_of([&] { SettingsBlock(tree, "model"); }),
      "a.yaml: the configuration has no key 'model', because command line '~model' deleted it; remove that override");
}

TEST(SettingsBlock, LocationKeepsTheCode) {
  EXPECT_EQ(located_error("model", [](Settings&) { throw Error("width", EGG_ERROR_UNSUPPORTED, "width"); }).code(),
            EGG_ERROR_UNSUPPORTED);
}

TEST(RequireOnly, NamesTheFirstUnknownSection) {
  EXPECT_EQ(config_error_of([] { require_only(config(), {"name", "model", "seed", "train"}); }), "");
  EXPECT_EQ(config_error_of([] {
              require_only(config(), {"name", "models", "seed"});
            }),
            "a.yaml:2: unknown key 'model'; did you mean 'models'? (correct or remove it)");
}

}  // namespace
}  // namespace eggroll::test
