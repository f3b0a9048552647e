// Mutations of a good plan, of its bytes and of its tree: nothing may crash, hang or contradict itself.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tests/harness/plan/sample.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace kagent::plan {
namespace {

using sample::Json;

void feed(const std::string& text) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

class Mutator {
 public:
  std::string bytes(std::string text) {
    for (std::size_t n = below(4) + 1; n > 0; --n) {
      const std::size_t at = below(text.size());
      const std::size_t length = std::min(below(16), text.size() - at);
      switch (below(5)) {
        case 0:
          text[at] = static_cast<char>(below(256));
          break;
        case 1:
          text.erase(at, length);
          break;
        case 2:
          text.insert(below(text.size()), text.substr(at, length));
          break;
        case 3:
          text.insert(at, 1, "[]{},:\"\\-.e0"[below(12)]);
          break;
        default:
          text.resize(at + 1);
      }
    }
    return text;
  }

  // Replaces a few values anywhere in the tree; what comes out is still JSON.
  Json tree(Json root) {
    for (std::size_t n = below(3) + 1; n > 0; --n) {
      std::vector<Json*> nodes;
      collect(root, nodes);
      Json& target = *nodes[below(nodes.size())];
      const Json donor = *nodes[below(nodes.size())];
      if (below(3) == 0 && target.is_array() && !target.empty()) {
        target.erase(below(target.size()));
      } else if (below(3) == 0 && target.is_array()) {
        target.push_back(donor);
      } else {
        target = below(2) == 0 ? donor : literal();
      }
    }
    return root;
  }

 private:
  std::size_t below(std::size_t n) { return n == 0 ? 0 : random_() % n; }

  Json literal() {
    static const Json kLiterals[] = {nullptr,
                                     true,
                                     0,
                                     -1,
                                     1,
                                     7,
                                     11,
                                     2147483647,
                                     2147483648LL,
                                     1LL << 46,
                                     1LL << 47,
                                     INT64_MAX,
                                     INT64_MIN,
                                     0.5,
                                     1e300,
                                     "",
                                     "bn<0>",
                                     "aten::relu_",
                                     "bfloat16",
                                     Json::array(),
                                     Json::object(),
                                     {{"t", 3}},
                                     {{"float", "nan"}},
                                     {{"i64", -1}},
                                     {{"array", {1, {{"t", 8}}}}},
                                     {1, 1, 1}};
    return kLiterals[below(std::size(kLiterals))];
  }

  static void collect(Json& node, std::vector<Json*>& out) {
    out.push_back(&node);
    if (!node.is_structured()) return;
    for (Json& child : node) collect(child, out);
  }

  std::mt19937 random_{20261201};
};

TEST(HostilePlan, MutatedBytesNeverCrash) {
  Mutator mutator;
  const std::string good = sample::plan_json().dump();
  for (int i = 0; i < 3000; ++i) feed(mutator.bytes(good));
}

TEST(HostilePlan, MutatedTreesNeverCrash) {
  Mutator mutator;
  const Json good = sample::plan_json();
  for (int i = 0; i < 4000; ++i) feed(mutator.tree(good).dump());
}

TEST(HostilePlan, EveryPrefixIsRejectedOrWhole) {
  const std::string good = sample::plan_json().dump();
  for (std::size_t n = 0; n <= good.size(); ++n) feed(good.substr(0, n));
}

}  // namespace
}  // namespace kagent::plan
