#include "agent/judge/draws.h"

#include <gtest/gtest.h>

#include <set>

#include "agent/judge/rules.h"

namespace kagent {
namespace {

TEST(Draws, ComeBackFromTheLogAsTheyWere) {
  const Seeds seeds = draw_seeds();
  const auto again = seeds_from_json(to_json(seeds));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(to_json(again.value()), to_json(seeds));
}

TEST(Draws, HiddenSeedsAreNewForEveryEvaluation) {
  const Seeds a = draw_seeds();
  const Seeds b = draw_seeds();
  EXPECT_NE(a.hidden.front().seed, b.hidden.front().seed);
  EXPECT_NE(a.beyond.front().seed, b.beyond.front().seed);
  EXPECT_EQ(a.visible.front().seed, b.visible.front().seed);
}

TEST(Draws, TouchedOnesHaveTheSeedOfTheCallThatTheyAreHeldAgainst) {
  const Seeds seeds = draw_seeds();
  const Draw& untouched = seeds.beyond.front();
  EXPECT_EQ(untouched.weights, "as_built");
  EXPECT_EQ(untouched.inputs, "as_drawn");
  std::set<std::string> quarters;
  for (const Draw& draw : seeds.beyond) {
    if (!draw.inputs.starts_with("touched")) continue;
    EXPECT_EQ(draw.seed, untouched.seed);
    EXPECT_EQ(draw.weights, draw.inputs);
    quarters.insert(draw.inputs);
  }
  EXPECT_EQ(quarters.size(), 4U);
}

TEST(Draws, FewerOrOtherDrawsThanThisVersionMakesAreRefused) {
  nlohmann::json fewer = to_json(draw_seeds());
  fewer["beyond"].erase(fewer["beyond"].size() - 1);
  EXPECT_FALSE(seeds_from_json(fewer));
  nlohmann::json weaker = to_json(draw_seeds());
  weaker["beyond"].back()["inputs"] = "as_drawn";
  EXPECT_FALSE(seeds_from_json(weaker));
}

TEST(Draws, OfficialOnesAreDrawnAsTheOfficialCheckDrawsThemTheOthersWhereItIsQuick) {
  const Seeds seeds = draw_seeds();
  for (const auto* group : {&seeds.visible, &seeds.hidden}) {
    for (const Draw& draw : *group) EXPECT_EQ(draw.drawn_on, "host");
  }
  for (const Draw& draw : seeds.beyond) EXPECT_EQ(draw.drawn_on, "device");
}

TEST(Draws, OfALogWithoutThePlaceOfDrawingWereDrawnOnTheHost) {
  nlohmann::json old = to_json(draw_seeds());
  for (auto& draw : old["beyond"]) draw.erase("drawn_on");
  const auto seeds = seeds_from_json(old);
  ASSERT_TRUE(seeds) << seeds.error().message;
  EXPECT_EQ(seeds.value().beyond.front().drawn_on, "host");
  old["beyond"][0]["drawn_on"] = "moon";
  EXPECT_FALSE(seeds_from_json(old));
}

TEST(Rules, EachHasANameOfItsOwnAndAVersion) {
  std::set<std::string_view> ids;
  for (const Rule& rule : all_rules()) {
    EXPECT_TRUE(ids.insert(rule.id).second) << rule.id;
    EXPECT_GE(rule.version, 1);
    EXPECT_EQ(find_rule(rule.id), &rule);
  }
  ASSERT_NE(find_rule("sensitivity"), nullptr);
  EXPECT_TRUE(find_rule("sensitivity")->hidden);
}

}  // namespace
}  // namespace kagent
