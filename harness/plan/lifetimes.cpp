#include "harness/plan/lifetimes.h"

#include <cstdint>

#include "harness/plan/operators.h"

namespace kagent::plan {
namespace {

std::vector<TensorId> uses(const Step& step) {
  if (const auto* launch = std::get_if<Launch>(&step.what)) return arguments_of(*launch);
  const auto& op = std::get<Operator>(step.what);
  std::vector<TensorId> out = arguments_of(op);
  const std::vector<TensorId> results = results_of(op);
  out.insert(out.end(), results.begin(), results.end());
  return out;
}

void mark_leaves(const Tree& tree, std::vector<bool>& marks) {
  if (tree.kind == Tree::Kind::kTensor) marks[static_cast<std::size_t>(tree.tensor)] = true;
  for (const auto& [key, child] : tree.children) mark_leaves(child, marks);
}

std::vector<bool> sources(const Plan& plan) {
  std::vector<bool> out(plan.tensors.size());
  std::vector<TensorId> ids;
  for (const Value& input : plan.inputs) tensors_of(input, ids);
  for (const auto* group : {&plan.parameters, &plan.buffers, &plan.state}) {
    for (const auto& [name, id] : *group) ids.push_back(id);
  }
  for (const auto& [id, bytes] : plan.constants) ids.push_back(id);
  for (const TensorId id : ids) out[static_cast<std::size_t>(id)] = true;
  return out;
}

// For each step the ids in nobody's `held` whose last use among `steps` it is; each becomes held.
std::vector<std::vector<TensorId>> last_uses(const std::vector<Step>& steps, std::vector<bool>& held) {
  std::vector<std::vector<TensorId>> out(steps.size());
  for (std::size_t i = steps.size(); i-- > 0;) {
    for (const TensorId id : uses(steps[i])) {
      if (held[static_cast<std::size_t>(id)]) continue;
      held[static_cast<std::size_t>(id)] = true;
      out[i].push_back(id);
    }
  }
  return out;
}

}  // namespace

Lifetimes lifetimes(const Plan& plan) {
  Lifetimes out;
  std::vector<bool> made_by_prepare(plan.tensors.size());
  std::vector<bool> source = sources(plan);
  std::vector<bool> needed(plan.tensors.size());  // by forward or its caller
  mark_leaves(plan.outputs, needed);
  std::vector<bool> held = needed;
  for (const Step& step : plan.forward) {
    for (const TensorId id : uses(step)) needed[static_cast<std::size_t>(id)] = true;
  }
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i]) held[i] = needed[i] = true;
  }
  for (const Step& step : plan.prepare) {
    for (const TensorId id : uses(step)) {
      const auto i = static_cast<std::size_t>(id);
      if (needed[i] && !source[i] && !made_by_prepare[i]) {
        made_by_prepare[i] = held[i] = true;
        out.kept.push_back(id);
      }
    }
  }
  out.drop_after_prepare = last_uses(plan.prepare, needed);
  out.drop_after_forward = last_uses(plan.forward, held);
  return out;
}

}  // namespace kagent::plan
