// The config section `noise`: both shipped files, and every sentence it refuses with.
#include "train/noise_settings.h"

#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <string>
#include <tuple>
#include <vector>

namespace eggroll {
namespace {

// A section as the host would hand it over: integers, null and text suffice here.
class Section {
 public:
  explicit Section(const std::string& file)
      : node_(YAML::LoadFile(std::string(EGGROLL_SOURCE_DIR "/configs/noise/") + file)) {}

  Section& set(const std::string& key, const std::string& yaml) {
    node_[key] = YAML::Load(yaml);
    return *this;
  }

  egg_noise read(int32_t fixed_point) const {
    std::vector<std::pair<std::string, std::string>> texts;
    for (const auto& item : node_) {
      texts.emplace_back(item.first.as<std::string>(), item.second.IsNull() ? "" : item.second.as<std::string>());
    }
    std::vector<egg_setting> items;
    for (const auto& [key, text] : texts) {
      egg_setting item{};
      item.key = key.c_str();
      item.text = text.c_str();
      item.type = text.empty()                                                 ? EGG_SETTING_NULL
                  : text.find_first_not_of("-0123456789") == std::string::npos ? EGG_SETTING_INTEGER
                                                                               : EGG_SETTING_TEXT;
      if (item.type == EGG_SETTING_INTEGER) item.integer = std::stoll(text);
      items.push_back(item);
    }
    const egg_settings all{sizeof(egg_settings), static_cast<uint32_t>(items.size()), items.data()};
    Settings settings(&all);
    return read_noise(settings, 5, fixed_point);
  }

  std::string refusal(int32_t fixed_point = 4) const {
    try {
      read(fixed_point);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), EGG_ERROR_CONFIG);
      return e.key() + ": " + e.what();
    }
    return "accepted";
  }

 private:
  YAML::Node node_;
};

TEST(NoiseSettings, Shipped) {
  for (const auto& [file, source, table_log2] :
       {std::tuple{"counter.yaml", EGG_NOISE_COUNTER, 0}, {"table.yaml", EGG_NOISE_TABLE, 24}}) {
    const egg_noise noise = Section(file).read(4);
    EXPECT_EQ(noise.seed, 5u);
    EXPECT_EQ(noise.source, source);
    EXPECT_EQ(noise.distribution, EGG_NOISE_RADEMACHER);
    EXPECT_EQ(noise.rank, 1);
    EXPECT_EQ(noise.sigma_shift, 4);
    EXPECT_EQ(noise.sigma_vector_shift, 4);
    EXPECT_EQ(noise.table_log2, table_log2);
  }
}

TEST(NoiseSettings, EveryKeyArrives) {
  const egg_noise noise = Section("table.yaml")
                              .set("distribution", "rademacher")
                              .set("rank", "64")
                              .set("sigma_shift", "12")
                              .set("sigma_vector_shift", "0")
                              .set("table_log2", "30")
                              .read(4);
  EXPECT_EQ(noise.distribution, EGG_NOISE_RADEMACHER);
  EXPECT_EQ(noise.rank, 64);
  EXPECT_EQ(noise.sigma_shift, 12);
  EXPECT_EQ(noise.sigma_vector_shift, 0);
  EXPECT_EQ(noise.table_log2, 30);
  EXPECT_EQ(Section("counter.yaml").set("distribution", "uniform").read(4).distribution, EGG_NOISE_UNIFORM);
}

TEST(NoiseSettings, Choices) {
  EXPECT_EQ(Section("counter.yaml").set("source", "conter").refusal(),
            "source: source is 'conter', expected one of counter, table; did you mean 'counter'?");
  EXPECT_EQ(Section("counter.yaml").set("distribution", "cauchy").refusal(),
            "distribution: distribution is 'cauchy', expected one of gaussian, uniform, rademacher");
}

TEST(NoiseSettings, Ranges) {
  for (const std::string rank : {"0", "65"}) {
    EXPECT_EQ(Section("counter.yaml").set("rank", rank).refusal(),
              "rank: rank is " + rank + ", expected an integer from 1 to 64");
  }
  for (const std::string key : {"sigma_shift", "sigma_vector_shift"}) {
    for (const std::string value : {"-1", "13"}) {
      EXPECT_EQ(Section("counter.yaml").set(key, value).refusal(),
                key + ": " + key + " is " + value + ", expected an integer from 0 to 12");
    }
  }
  for (const std::string value : {"11", "31"}) {
    EXPECT_EQ(Section("table.yaml").set("table_log2", value).refusal(),
              "table_log2: table_log2 is " + value + ", expected an integer from 12 to 30");
  }
}

TEST(NoiseSettings, TableSizeBelongsToTheTable) {
  EXPECT_EQ(Section("counter.yaml").set("table_log2", "24").refusal(),
            "table_log2: table_log2 is set, expected null for source counter, which has no table; set it to null or "
            "source to table");
  EXPECT_EQ(Section("table.yaml").set("table_log2", "null").refusal(),
            "table_log2: table_log2 is null, expected an integer from 12 to 30");
}

TEST(NoiseSettings, PerturbationKeepsItsGuardBits) {
  EXPECT_EQ(Section("counter.yaml").set("sigma_shift", "0").refusal(4), "accepted");
  EXPECT_EQ(Section("counter.yaml").set("sigma_shift", "0").refusal(3),
            "sigma_shift: sigma_shift is 0, expected at least 1 where fixed_point is 3; raise it");
}

TEST(NoiseSettings, UnknownKey) {
  EXPECT_EQ(Section("counter.yaml").set("ranks", "2").refusal(),
            "ranks: unknown key 'ranks'; did you mean 'rank'? (correct or remove it)");
}

}  // namespace
}  // namespace eggroll
