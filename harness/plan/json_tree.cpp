#include "harness/plan/json_tree.h"

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "harness/plan/parse.h"

namespace kagent::plan {
namespace {

using nlohmann::json;

// Receives nlohmann's events (its SAX interface) and builds the tree; returning false ends the reading.
class Builder {
 public:
  json root;
  std::optional<Problem> problem;

  bool null() { return add(nullptr) != nullptr; }
  bool boolean(bool value) { return add(value) != nullptr; }
  bool number_integer(std::int64_t value) { return add(value) != nullptr; }
  bool number_unsigned(std::uint64_t value) {
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return too_long_integer();
    return add(static_cast<std::int64_t>(value)) != nullptr;
  }
  bool number_float(double value, const std::string& text) {
    if (text.find_first_of(".eE") == std::string::npos) return too_long_integer();
    return add(value) != nullptr;
  }
  bool string(std::string& value) { return add(std::move(value)) != nullptr; }
  bool binary(json::binary_t&) { return false; }  // JSON text has none
  bool start_object(std::size_t) { return open(json::value_t::object); }
  bool start_array(std::size_t) { return open(json::value_t::array); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& name) {
    if (open_.back()->contains(name)) return fail("bad_json", "the plan has the key " + in_quotes(name) + " twice");
    key_ = std::move(name);
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const json::exception&) {
    return fail("bad_json", "the plan is not JSON: error at byte " + std::to_string(position));
  }

 private:
  json* add(json value) {
    if (++count_ > kMaxValues) {
      fail("too_large", "the plan has more than " + std::to_string(kMaxValues) + " JSON values");
      return nullptr;
    }
    if (open_.empty()) return &(root = std::move(value));
    json& parent = *open_.back();
    if (parent.is_object()) return &(parent[std::move(key_)] = std::move(value));
    parent.push_back(std::move(value));
    return &parent.back();
  }

  bool open(json::value_t kind) {
    if (open_.size() >= kMaxDepth) {
      return fail("too_large", "the plan is nested deeper than " + std::to_string(kMaxDepth) + " levels");
    }
    json* made = add(json(kind));
    if (made != nullptr) open_.push_back(made);
    return made != nullptr;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  bool too_long_integer() { return fail("bad_json", "the plan has an integer that does not fit 64 bits"); }

  bool fail(const char* kind, std::string message) {
    if (!problem) problem = Problem{kind, std::move(message), std::nullopt};
    return false;
  }

  std::vector<json*> open_;  // arrays and objects being read; only the last one grows, so the pointers stay valid
  std::string key_;
  std::size_t count_ = 0;
};

}  // namespace

std::variant<json, Problem> read_tree(std::string_view text) {
  Builder builder;
  const bool read = json::sax_parse(text.begin(), text.end(), &builder);
  if (builder.problem) return *std::move(builder.problem);
  if (!read) return Problem{"bad_json", "the plan is not JSON", std::nullopt};
  return std::move(builder.root);
}

}  // namespace kagent::plan
