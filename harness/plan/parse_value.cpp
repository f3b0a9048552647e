#include "harness/plan/parse_value.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "harness/plan/dtype.h"
#include "harness/plan/parse.h"

namespace kagent::plan {
namespace {

using nlohmann::json;

constexpr std::string_view kMemoryFormats[] = {"contiguous_format", "channels_last", "channels_last_3d",
                                               "preserve_format"};

struct NamedKind {
  const char* key;
  Named::Kind kind;
  bool (*known)(std::string_view);
};

constexpr NamedKind kNamed[] = {
    {"dtype", Named::Kind::kDtype, [](std::string_view name) { return dtype_bytes(name) != 0; }},
    {"layout", Named::Kind::kLayout, [](std::string_view name) { return name == "strided"; }},
    {"device", Named::Kind::kDevice, [](std::string_view name) { return name == "cuda"; }},
    {"memory_format", Named::Kind::kMemoryFormat,
     [](std::string_view name) {
       return std::find(std::begin(kMemoryFormats), std::end(kMemoryFormats), name) != std::end(kMemoryFormats);
     }},
};

class ValueReader {
 public:
  ValueReader(Reader& reader, Where where, std::size_t tensors) : reader_(reader), where_(where), tensors_(tensors) {}

  Value read(const json& node, const Place& at) {
    switch (node.type()) {
      case json::value_t::null:
        return {std::monostate{}};
      case json::value_t::boolean:
        if (where_ == Where::kArray) break;  // the size of a bool in a struct is not a number's
        return {node.get<bool>()};
      case json::value_t::number_integer:
        return {node.get<std::int64_t>()};
      case json::value_t::number_float:
        return {node.get<double>()};
      case json::value_t::string:
        if (where_ != Where::kOperator) break;
        return {reader_.text(node, at, kMaxText)};
      case json::value_t::array:
        if (where_ != Where::kOperator) break;
        return {items(node, at)};
      case json::value_t::object:
        return tagged(node, at);
      default:
        break;
    }
    return misplaced(node.type_name(), at);
  }

 private:
  List items(const json& node, const Place& at) {
    List out;
    reader_.each(node, at, kMaxValues, [&](const json& item, const Place& place) { out.push_back(read(item, place)); });
    return out;
  }

  // {"t": 3}, {"float": "inf"}, {"dtype": "float32"}, {"array": [...]}, {"i64": 1}
  Value tagged(const json& node, const Place& at) {
    const bool in_launch = where_ == Where::kLaunch || where_ == Where::kArray;
    if (node.contains("t")) return {tensor(node, at, in_launch)};
    if (node.contains("float")) return {special_float(node, at)};
    if (node.contains("array") && where_ == Where::kLaunch) {
      if (!reader_.object(node, at, {"array"})) return {};
      ValueReader inner(reader_, Where::kArray, tensors_);
      return {Array{inner.items(node["array"], Place{&at, "array"})}};
    }
    if (node.contains("i64") && where_ == Where::kArray) {
      if (!reader_.object(node, at, {"i64"})) return {};
      return {Int64{reader_.integer(node["i64"], Place{&at, "i64"}, std::numeric_limits<std::int64_t>::min(),
                                    std::numeric_limits<std::int64_t>::max())}};
    }
    for (const NamedKind& named : kNamed) {
      if (where_ == Where::kOperator && node.contains(named.key)) return enumerator(named, node, at);
    }
    return misplaced(node.empty() ? "{}" : in_quotes(node.begin().key()), at);
  }

  TensorRef tensor(const json& node, const Place& at, bool may_be_strided) {
    const bool strided = may_be_strided && node.contains("strided");
    if (strided ? !reader_.object(node, at, {"t", "strided"}) : !reader_.object(node, at, {"t"})) return {};
    if (strided && !reader_.boolean(node["strided"], Place{&at, "strided"})) {
      reader_.fail(Place{&at, "strided"}, "must be true or left out");
    }
    return {parse_id(reader_, node["t"], Place{&at, "t"}, tensors_), strided};
  }

  double special_float(const json& node, const Place& at) {
    if (!reader_.object(node, at, {"float"})) return 0;
    const std::string name = reader_.text(node["float"], Place{&at, "float"}, kMaxText);
    if (name == "inf") return std::numeric_limits<double>::infinity();
    if (name == "-inf") return -std::numeric_limits<double>::infinity();
    if (name != "nan") reader_.fail(at, "a float in words is \"inf\", \"-inf\" or \"nan\", not " + in_quotes(name));
    return std::numeric_limits<double>::quiet_NaN();
  }

  Value enumerator(const NamedKind& named, const json& node, const Place& at) {
    if (!reader_.object(node, at, {named.key})) return {};
    const std::string name = reader_.text(node[named.key], Place{&at, named.key}, kMaxText);
    if (!named.known(name))
      reader_.fail(at, std::string(named.key) + " " + in_quotes(name) + " cannot be used in a plan");
    return {Named{named.kind, name}};
  }

  Value misplaced(const std::string& what, const Place& at) {
    static constexpr const char* kPlaces[] = {"an operator's argument", "a launch argument", "an item of kg.array",
                                              "an input"};
    reader_.fail(at, what + " cannot be " + kPlaces[static_cast<int>(where_)]);
    return {};
  }

  Reader& reader_;
  Where where_;
  std::size_t tensors_;
};

}  // namespace

Value parse_value(Reader& reader, const json& node, const Place& at, Where where, std::size_t tensors) {
  return ValueReader(reader, where, tensors).read(node, at);
}

TensorId parse_id(Reader& reader, const json& node, const Place& at, std::size_t tensors) {
  if (tensors == 0) reader.fail(at, "names a tensor, but the tensor table is empty");
  return static_cast<TensorId>(reader.integer(node, at, 0, static_cast<std::int64_t>(tensors) - 1));
}

}  // namespace kagent::plan
