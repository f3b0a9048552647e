// Typed access to a JSON tree under a closed schema. The first thing that is wrong is kept with its path and ends the
// reading: every reader after it gives a default at once.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "harness/plan/problem.h"

namespace kagent::plan {

// A place in the document, linked on the stack: forward[3].grid[1].
struct Place {
  const Place* parent = nullptr;
  std::string_view key;   // within an object, or
  std::size_t index = 0;  // within an array
  bool free_key = false;  // the key is the plan's own and must be quoted
  [[nodiscard]] std::string text() const;
};

class Reader {
 public:
  using Json = nlohmann::json;

  [[nodiscard]] bool failed() const { return problem_.has_value(); }
  [[nodiscard]] const std::optional<Problem>& problem() const { return problem_; }
  void fail(const Place& at, const std::string& message, const char* kind = "bad_plan");

  // An object with exactly these keys.
  bool object(const Json& node, const Place& at, std::initializer_list<const char*> keys);
  bool array(const Json& node, const Place& at, std::size_t most);
  bool boolean(const Json& node, const Place& at);
  std::int64_t integer(const Json& node, const Place& at, std::int64_t least, std::int64_t most);
  std::string text(const Json& node, const Place& at, std::size_t most_bytes);

  // Calls read(item, place) for each item of an array of at most `most` until something is wrong.
  template <typename Read>
  void each(const Json& node, const Place& at, std::size_t most, Read read) {
    if (!array(node, at, most)) return;
    for (std::size_t i = 0; i < node.size() && !failed(); ++i) read(node[i], Place{&at, {}, i});
  }

  // The step being read: its line goes into a problem.
  std::optional<int> line;

 private:
  std::optional<Problem> problem_;
};

}  // namespace kagent::plan
