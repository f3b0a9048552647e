#include "harness/plan/print.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "harness/plan/base64.h"
#include "harness/plan/operators.h"

namespace kagent::plan {
namespace {

using Json = nlohmann::ordered_json;

Json value_json(const Value& value);

Json list_json(const List& list) {
  Json out = Json::array();
  for (const Value& item : list) out.push_back(value_json(item));
  return out;
}

struct ValuePrinter {
  Json operator()(std::monostate) const { return nullptr; }
  Json operator()(bool flag) const { return flag; }
  Json operator()(std::int64_t number) const { return number; }
  Json operator()(double number) const {
    if (std::isfinite(number)) return number;
    return {{"float", std::isnan(number) ? "nan" : number > 0 ? "inf" : "-inf"}};
  }
  Json operator()(const std::string& text) const { return text; }
  Json operator()(const TensorRef& tensor) const {
    Json out = {{"t", tensor.id}};
    if (tensor.strided) out["strided"] = true;
    return out;
  }
  Json operator()(const Named& named) const {
    static constexpr const char* kKeys[] = {"dtype", "layout", "device", "memory_format"};
    return {{kKeys[static_cast<int>(named.kind)], named.name}};
  }
  Json operator()(const Array& array) const { return {{"array", list_json(array.items)}}; }
  Json operator()(const Int64& number) const { return {{"i64", number.value}}; }
  Json operator()(const List& list) const { return list_json(list); }
};

Json value_json(const Value& value) { return std::visit(ValuePrinter{}, value.data); }

Json names_json(const std::vector<std::pair<std::string, TensorId>>& names) {
  Json out = Json::array();
  for (const auto& [name, id] : names) out.push_back(Json::array({name, id}));
  return out;
}

Json step_json(const Step& step) {
  Json out;
  if (const auto* op = std::get_if<Operator>(&step.what)) {
    Json kwargs = Json::object();
    for (const auto& [name, value] : op->kwargs) kwargs[name] = value_json(value);
    out = {{"op", Operators::full_name(*op)},
           {"args", list_json(op->args)},
           {"kwargs", std::move(kwargs)},
           {"results", list_json(op->results)}};
  } else {
    const auto& launch = std::get<Launch>(step.what);
    out = {{"launch", launch.kernel},
           {"grid", launch.grid},
           {"block", launch.block},
           {"shared", launch.shared_bytes},
           {"cluster", launch.cluster ? Json(*launch.cluster) : Json(nullptr)},
           {"cooperative", launch.cooperative},
           {"args", list_json(launch.args)}};
  }
  out["line"] = step.line ? Json(*step.line) : Json(nullptr);
  return out;
}

Json tree_json(const Tree& tree) {
  if (tree.kind == Tree::Kind::kTensor) return {{"t", tree.tensor}};
  if (tree.kind == Tree::Kind::kValue) return {{"value", value_json(tree.value)}};
  Json children = Json::array();
  for (const auto& [key, child] : tree.children) {
    children.push_back(tree.kind == Tree::Kind::kDict ? Json::array({key, tree_json(child)}) : tree_json(child));
  }
  return {{tree.kind == Tree::Kind::kTuple  ? "tuple"
           : tree.kind == Tree::Kind::kList ? "list"
                                            : "dict",
           std::move(children)}};
}

}  // namespace

std::string to_json(const Plan& plan) {
  Json tensors = Json::array();
  for (const Tensor& t : plan.tensors) {
    tensors.push_back(
        {{"shape", t.shape}, {"stride", t.stride}, {"offset", t.offset}, {"dtype", t.dtype}, {"storage", t.storage}});
  }
  Json constants = Json::array();
  for (const auto& [id, bytes] : plan.constants) constants.push_back({{"t", id}, {"data", encode_base64(bytes)}});
  Json prepare = Json::array();
  for (const Step& step : plan.prepare) prepare.push_back(step_json(step));
  Json forward = Json::array();
  for (const Step& step : plan.forward) forward.push_back(step_json(step));
  Json out;
  out["version"] = 1;
  out["options"] = {{"graph", plan.graph}, {"tf32", plan.tf32}};
  out["tensors"] = std::move(tensors);
  out["inputs"] = list_json(plan.inputs);
  out["parameters"] = names_json(plan.parameters);
  out["buffers"] = names_json(plan.buffers);
  out["state"] = names_json(plan.state);
  out["constants"] = std::move(constants);
  out["prepare"] = std::move(prepare);
  out["forward"] = std::move(forward);
  out["outputs"] = tree_json(plan.outputs);
  out["tags"] = names_json(plan.tags);
  return out.dump();
}

}  // namespace kagent::plan
