#include "harness/plan/operators.h"

#include <algorithm>

namespace kagent::plan {
namespace {

// Their running mean and variance (arguments 3 and 4) are updated in training, though the schemas do not say so.
constexpr std::string_view kUpdatesRunningStatistics[] = {"aten::batch_norm", "aten::native_batch_norm",
                                                          "aten::cudnn_batch_norm", "aten::instance_norm"};

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

// True for `relu_`, false for `__and__`.
bool is_in_place(std::string_view name) { return name.ends_with('_') && !name.ends_with("__"); }

}  // namespace

Operators Operators::from_text(std::string_view text) {
  Operators out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    const std::string_view name = trimmed(line.substr(0, line.find('#')));
    if (!name.empty()) out.names_.emplace(name);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string Operators::full_name(const Operator& op) {
  return op.overload.empty() ? op.name : op.name + "." + op.overload;
}

void tensors_of(const Value& value, std::vector<TensorId>& out) {
  if (const auto* tensor = std::get_if<TensorRef>(&value.data)) out.push_back(tensor->id);
  if (const auto* list = std::get_if<List>(&value.data)) {
    for (const Value& item : *list) tensors_of(item, out);
  }
  if (const auto* array = std::get_if<Array>(&value.data)) {
    for (const Value& item : array->items) tensors_of(item, out);
  }
}

std::vector<TensorId> arguments_of(const Operator& op) {
  std::vector<TensorId> out;
  for (const Value& value : op.args) tensors_of(value, out);
  for (const auto& [name, value] : op.kwargs) tensors_of(value, out);
  return out;
}

std::vector<TensorId> arguments_of(const Launch& launch) {
  std::vector<TensorId> out;
  for (const Value& value : launch.args) tensors_of(value, out);
  return out;
}

std::vector<TensorId> results_of(const Operator& op) {
  std::vector<TensorId> out;
  for (const Value& value : op.results) tensors_of(value, out);
  return out;
}

std::vector<TensorId> written_by(const Operator& op) {
  std::vector<TensorId> out;
  if (is_in_place(op.name)) {
    if (!op.args.empty()) tensors_of(op.args[0], out);
    for (const auto& [name, value] : op.kwargs) {
      if (name == "self") tensors_of(value, out);
    }
  }
  // An out= tensor is an argument by keyword that is a result too.
  const std::vector<TensorId> made = results_of(op);
  const std::set<TensorId> results(made.begin(), made.end());
  for (const auto& [name, value] : op.kwargs) {
    std::vector<TensorId> named;
    tensors_of(value, named);
    for (const TensorId id : named) {
      if (results.contains(id)) out.push_back(id);
    }
  }
  const bool updates = std::find(std::begin(kUpdatesRunningStatistics), std::end(kUpdatesRunningStatistics), op.name) !=
                       std::end(kUpdatesRunningStatistics);
  for (std::size_t i = 3; updates && i < std::min<std::size_t>(op.args.size(), 5); ++i) tensors_of(op.args[i], out);
  for (const auto& [name, value] : op.kwargs) {
    if (updates && (name == "running_mean" || name == "running_var")) tensors_of(value, out);
  }
  return out;
}

}  // namespace kagent::plan
