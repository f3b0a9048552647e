#include "harness/execute/stand_in.h"

#include <algorithm>
#include <cstdint>
#include <set>

namespace kagent::execute {
namespace {

using plan::TensorId;

struct Argument {
  TensorId id;
  bool read_only;
};

void collect(const plan::Value& value, bool read_only, std::vector<Argument>& out) {
  if (const auto* tensor = std::get_if<plan::TensorRef>(&value.data)) out.push_back({tensor->id, read_only});
  if (const auto* array = std::get_if<plan::Array>(&value.data)) {
    for (const plan::Value& item : array->items) collect(item, read_only, out);
  }
}

std::int64_t elements(const plan::Tensor& t) {
  std::int64_t n = 1;
  for (const std::int64_t extent : t.shape) n *= extent;
  return n;
}

// Memory that lasts from call to call, or that the caller owns.
std::set<TensorId> sources_of(const plan::Plan& plan) {
  std::set<TensorId> out;
  for (const auto* group : {&plan.parameters, &plan.buffers, &plan.state}) {
    for (const auto& [name, id] : *group) out.insert(id);
  }
  for (const auto& [id, bytes] : plan.constants) out.insert(id);
  for (const plan::Value& v : plan.inputs) {
    if (const auto* t = std::get_if<plan::TensorRef>(&v.data)) out.insert(t->id);
  }
  return out;
}

}  // namespace

Copies copies_of(const plan::Launch& launch, const plan::Plan& plan, const plan::Kernels& kernels) {
  const auto kernel = kernels.find(launch.kernel);
  std::vector<Argument> arguments;
  for (std::size_t i = 0; i < launch.args.size(); ++i) {
    const bool known = kernel != kernels.end() && i < kernel->second.params.size();
    collect(launch.args[i], known && kernel->second.params[i].is_const.value_or(false), arguments);
  }
  const std::set<TensorId> sources = sources_of(plan);
  const auto facts = [&](TensorId id) -> const plan::Tensor& { return plan.tensors[static_cast<std::size_t>(id)]; };
  Copies copies;
  for (std::size_t i = arguments.size(); i-- > 0;) {  // outputs stand last as a rule
    const plan::Tensor& to = facts(arguments[i].id);
    if (arguments[i].read_only || sources.count(to.storage) != 0) continue;
    const auto from = std::find_if(arguments.begin(), arguments.end(), [&](const Argument& other) {
      const plan::Tensor& t = facts(other.id);
      const bool target_already = std::any_of(copies.begin(), copies.end(),
                                              [&](const auto& c) { return facts(c.second).storage == t.storage; });
      return t.storage != to.storage && t.dtype == to.dtype && elements(t) == elements(to) && !target_already;
    });
    if (from != arguments.end()) copies.emplace_back(from->id, arguments[i].id);
  }
  return copies;
}

}  // namespace kagent::execute
