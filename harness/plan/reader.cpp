#include "harness/plan/reader.h"

#include <algorithm>

namespace kagent::plan {

std::string Place::text() const {
  const std::string before = parent != nullptr ? parent->text() : "";
  if (free_key) return before + "[" + in_quotes(key) + "]";
  if (!key.empty()) return before.empty() ? std::string(key) : before + "." + std::string(key);
  return parent != nullptr ? before + "[" + std::to_string(index) + "]" : "";
}

void Reader::fail(const Place& at, const std::string& message, const char* kind) {
  if (failed()) return;
  const std::string place = at.text();
  problem_ = Problem{kind, (place.empty() ? "the plan " : place + ": ") + message, line};
}

bool Reader::object(const Json& node, const Place& at, std::initializer_list<const char*> keys) {
  if (failed()) return false;
  if (!node.is_object()) {
    fail(at, std::string("must be an object, is ") + node.type_name());
    return false;
  }
  for (const char* key : keys) {
    if (!node.contains(key)) fail(at, std::string("lacks the field ") + in_quotes(key));
  }
  if (node.size() == keys.size() || failed()) return !failed();
  for (const auto& [key, value] : node.items()) {
    if (std::find(keys.begin(), keys.end(), std::string_view(key)) == keys.end()) {
      fail(at, "has the unknown field " + in_quotes(key));
    }
  }
  return false;
}

bool Reader::array(const Json& node, const Place& at, std::size_t most) {
  if (failed()) return false;
  if (!node.is_array()) {
    fail(at, std::string("must be a list, is ") + node.type_name());
  } else if (node.size() > most) {
    fail(at, "has " + std::to_string(node.size()) + " entries, at most " + std::to_string(most) + " are allowed",
         "too_large");
  }
  return !failed();
}

bool Reader::boolean(const Json& node, const Place& at) {
  if (node.is_boolean()) return node.get<bool>();
  fail(at, std::string("must be true or false, is ") + node.type_name());
  return false;
}

std::int64_t Reader::integer(const Json& node, const Place& at, std::int64_t least, std::int64_t most) {
  if (!node.is_number_integer()) {
    fail(at, std::string("must be an integer, is ") + (node.is_number_float() ? "float" : node.type_name()));
    return least;
  }
  const auto value = node.get<std::int64_t>();
  if (value >= least && value <= most) return value;
  fail(at,
       "is " + std::to_string(value) + ", must be between " + std::to_string(least) + " and " + std::to_string(most));
  return least;
}

std::string Reader::text(const Json& node, const Place& at, std::size_t most_bytes) {
  if (!node.is_string()) {
    fail(at, std::string("must be a string, is ") + node.type_name());
    return "";
  }
  const auto& value = node.get_ref<const std::string&>();
  if (value.size() <= most_bytes) return value;
  fail(at, "is longer than " + std::to_string(most_bytes) + " bytes", "too_large");
  return "";
}

}  // namespace kagent::plan
