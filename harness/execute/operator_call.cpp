#include "harness/execute/operator_call.h"

#include <ATen/core/List.h>
#include <ATen/core/jit_type.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/scalar_tensor.h>
#include <c10/core/MemoryFormat.h>

#include <algorithm>

#include "harness/execute/run_error.h"

namespace kagent::execute {
namespace {

using plan::TensorId;
using plan::TensorRef;
using plan::Value;

const TensorRef* tensor_of(const Value& v) { return std::get_if<TensorRef>(&v.data); }

c10::ScalarType scalar_type(const std::string& name) {
  static const std::pair<const char*, c10::ScalarType> kTypes[] = {
      {"float32", c10::kFloat}, {"float64", c10::kDouble}, {"float16", c10::kHalf}, {"bfloat16", c10::kBFloat16},
      {"int64", c10::kLong},    {"int32", c10::kInt},      {"int16", c10::kShort},  {"int8", c10::kChar},
      {"uint8", c10::kByte},    {"bool", c10::kBool}};
  for (const auto& [known, type] : kTypes) {
    if (name == known) return type;
  }
  throw RunError("operator_error", "unknown dtype " + name);
}

std::int64_t memory_format(const std::string& name) {
  if (name == "channels_last") return static_cast<std::int64_t>(c10::MemoryFormat::ChannelsLast);
  if (name == "channels_last_3d") return static_cast<std::int64_t>(c10::MemoryFormat::ChannelsLast3d);
  if (name == "preserve_format") return static_cast<std::int64_t>(c10::MemoryFormat::Preserve);
  return static_cast<std::int64_t>(c10::MemoryFormat::Contiguous);
}

c10::TypePtr without_optional(c10::TypePtr type) {
  while (const auto optional = type->cast<c10::OptionalType>()) type = optional->getElementType();
  return type;
}

double as_double(const Value& v) {
  if (const auto* i = std::get_if<std::int64_t>(&v.data)) return static_cast<double>(*i);
  if (const auto* d = std::get_if<double>(&v.data)) return *d;
  if (const auto* b = std::get_if<bool>(&v.data)) return *b ? 1 : 0;
  throw RunError("operator_error", "a number is expected");
}

std::int64_t as_integer(const Value& v) {
  if (const auto* i = std::get_if<std::int64_t>(&v.data)) return *i;
  if (const auto* b = std::get_if<bool>(&v.data)) return *b ? 1 : 0;
  throw RunError("operator_error", "an integer is expected");
}

// A list of constants of the schema's element type.
c10::IValue list_value(const plan::List& items, const c10::TypePtr& element) {
  switch (element->kind()) {
    case c10::TypeKind::FloatType: {
      c10::List<double> out;
      for (const Value& v : items) out.push_back(as_double(v));
      return out;
    }
    case c10::TypeKind::BoolType: {
      c10::List<bool> out;
      for (const Value& v : items) out.push_back(std::get<bool>(v.data));
      return out;
    }
    case c10::TypeKind::NumberType: {
      c10::List<at::Scalar> out;
      for (const Value& v : items) {
        const auto* i = std::get_if<std::int64_t>(&v.data);
        out.push_back(i != nullptr ? at::Scalar(*i) : at::Scalar(as_double(v)));
      }
      return out;
    }
    default: {
      c10::List<std::int64_t> out;
      for (const Value& v : items) out.push_back(as_integer(v));
      return out;
    }
  }
}

// A constant as the schema's type wants it.
c10::IValue constant(const Value& v, c10::TypePtr type, const c10::Device& device) {
  if (std::holds_alternative<std::monostate>(v.data)) return {};
  type = without_optional(type);
  if (type->kind() == c10::TypeKind::TensorType) {
    // A Python number where a tensor is expected: torch's argument parser makes a "wrapped number" of it, which does
    // not promote dtypes.
    const auto* i = std::get_if<std::int64_t>(&v.data);
    const auto* b = std::get_if<bool>(&v.data);
    at::Tensor number = b != nullptr   ? at::scalar_tensor(*b, at::TensorOptions().dtype(c10::kBool))
                        : i != nullptr ? at::scalar_tensor(*i, at::TensorOptions().dtype(c10::kLong))
                                       : at::scalar_tensor(as_double(v), at::TensorOptions().dtype(c10::kDouble));
    number.unsafeGetTensorImpl()->set_wrapped_number(true);
    return number;
  }
  if (const auto* named = std::get_if<plan::Named>(&v.data)) {
    switch (named->kind) {
      case plan::Named::Kind::kDtype:
        return static_cast<std::int64_t>(scalar_type(named->name));
      case plan::Named::Kind::kLayout:
        return static_cast<std::int64_t>(c10::kStrided);
      case plan::Named::Kind::kDevice:
        return device;
      case plan::Named::Kind::kMemoryFormat:
        return memory_format(named->name);
    }
  }
  if (const auto* items = std::get_if<plan::List>(&v.data)) {
    const auto list = type->cast<c10::ListType>();
    if (!list) throw RunError("operator_error", "a list is given where " + type->str() + " is expected");
    return list_value(*items, list->getElementType());
  }
  if (const auto list = type->cast<c10::ListType>()) return list_value({v}, list->getElementType());  // int for int[2]
  if (const auto* s = std::get_if<std::string>(&v.data)) return *s;
  if (type->kind() == c10::TypeKind::FloatType) return as_double(v);
  if (type->kind() == c10::TypeKind::NumberType || type->kind() == c10::TypeKind::BoolType) {
    if (const auto* b = std::get_if<bool>(&v.data)) return *b;
    if (const auto* i = std::get_if<std::int64_t>(&v.data))
      return type->kind() == c10::TypeKind::BoolType ? c10::IValue(*i != 0) : c10::IValue(*i);
    return as_double(v);
  }
  return as_integer(v);
}

bool is_tensor_list(const plan::List& items) {
  return std::any_of(items.begin(), items.end(), [](const Value& v) { return tensor_of(v) != nullptr; });
}

}  // namespace

OperatorCall::OperatorCall(const plan::Operator& op, const c10::Device& device, std::optional<int> line)
    : name_(op.name + (op.overload.empty() ? "" : "." + op.overload)), line_(line), results_(op.results) {
  handle_ = c10::Dispatcher::singleton().findSchema({op.name, op.overload});
  if (!handle_) fail("torch has no such operator");
  const auto& schema = handle_->schema();
  for (std::size_t i = 0; i < schema.arguments().size(); ++i) {
    const c10::Argument& argument = schema.arguments()[i];
    const Value* given = nullptr;
    if (i < op.args.size() && !argument.kwarg_only()) given = &op.args[i];
    for (const auto& [key, value] : op.kwargs) {
      if (key == argument.name()) given = &value;
    }
    if (given == nullptr) {
      if (!argument.default_value()) fail("the argument " + argument.name() + " is missing");
      arguments_.push_back(*argument.default_value());
      continue;
    }
    arguments_.emplace_back();
    if (const TensorRef* t = tensor_of(*given)) {
      tensors_.emplace_back(i, t->id);
      reads.push_back(t->id);
    } else if (const auto* items = std::get_if<plan::List>(&given->data); items != nullptr && is_tensor_list(*items)) {
      const auto list = without_optional(argument.type())->cast<c10::ListType>();
      if (!list) fail("a list of tensors is given for " + argument.name());
      TensorList out{i, list->getElementType()->kind() == c10::TypeKind::OptionalType, {}};
      for (const Value& v : *items) {
        const TensorRef* member = tensor_of(v);
        out.ids.push_back(member != nullptr ? std::optional(member->id) : std::nullopt);
        if (member != nullptr) reads.push_back(member->id);
      }
      lists_.push_back(std::move(out));
    } else {
      try {
        arguments_.back() = constant(*given, argument.type(), device);
      } catch (const RunError& error) {
        fail("argument " + argument.name() + ": " + error.what());
      } catch (const std::bad_variant_access&) {
        fail("argument " + argument.name() + " has the wrong type");
      }
    }
  }
  if (op.args.size() > schema.arguments().size()) fail("too many arguments");
  for (const auto& [key, value] : op.kwargs) {  // each argument once: nothing may be read otherwise than it was checked
    const auto index = schema.argumentIndexWithName(key);
    if (!index) fail("it has no argument " + key);
    if (static_cast<std::size_t>(*index) < op.args.size()) fail("the argument " + key + " is given twice");
  }
  for (const Value& r : results_) {
    if (const TensorRef* t = tensor_of(r)) makes.push_back(t->id);
    if (const auto* items = std::get_if<plan::List>(&r.data)) {
      for (const Value& v : *items) {
        if (const TensorRef* t = tensor_of(v)) makes.push_back(t->id);
      }
    }
  }
  scratch_ = op.name.starts_with("aten::empty") || op.name.starts_with("aten::new_empty");
}

void OperatorCall::fail(const std::string& what) const { throw RunError("operator_error", name_ + ": " + what, line_); }

bool OperatorCall::only_views(const std::vector<plan::Tensor>& table) const {
  return !makes.empty() && std::all_of(makes.begin(), makes.end(), [&](TensorId id) {
    return table[static_cast<std::size_t>(id)].storage != id &&
           std::find(reads.begin(), reads.end(), id) == reads.end();
  });
}

int OperatorCall::run(std::vector<at::Tensor>& environment, const std::vector<plan::Tensor>& table) {
  torch::jit::Stack stack(arguments_);
  for (const auto& [i, id] : tensors_) stack[i] = environment[static_cast<std::size_t>(id)];
  for (const TensorList& list : lists_) {
    if (list.optional) {
      c10::List<std::optional<at::Tensor>> out;
      for (const auto& id : list.ids)
        out.push_back(id ? std::optional(environment[static_cast<std::size_t>(*id)]) : std::nullopt);
      stack[list.argument] = out;
    } else {
      c10::List<at::Tensor> out;
      for (const auto& id : list.ids) out.push_back(id ? environment[static_cast<std::size_t>(*id)] : at::Tensor());
      stack[list.argument] = out;
    }
  }
  handle_->callBoxed(&stack);
  if (stack.size() != results_.size()) fail("returned " + std::to_string(stack.size()) + " values");
  int copied = 0;
  for (std::size_t i = 0; i < stack.size(); ++i) {
    if (const TensorRef* t = tensor_of(results_[i])) {
      if (!stack[i].isTensor()) fail("a result is no tensor");
      bind(stack[i].toTensor(), t->id, environment, table, copied);
    } else if (const auto* items = std::get_if<plan::List>(&results_[i].data)) {
      if (!stack[i].isTensorList() || stack[i].toTensorVector().size() != items->size())
        fail("a result is no list of the planned length");
      const auto tensors = stack[i].toTensorVector();
      for (std::size_t k = 0; k < tensors.size(); ++k) {
        if (const TensorRef* member = tensor_of((*items)[k])) bind(tensors[k], member->id, environment, table, copied);
      }
    }
  }
  return copied;
}

void OperatorCall::bind(at::Tensor result, TensorId id, std::vector<at::Tensor>& environment,
                        const std::vector<plan::Tensor>& table, int& copied) {
  const plan::Tensor& planned = table[static_cast<std::size_t>(id)];
  at::Tensor& slot = environment[static_cast<std::size_t>(id)];
  if (!result.defined()) fail("a result is undefined");
  if (result.sizes() != at::IntArrayRef(planned.shape)) fail("its result has another shape than planned");
  if (result.scalar_type() != scalar_type(planned.dtype)) fail("its result has another dtype than planned");
  if (slot.defined()) {  // in place: the result is the argument
    if (!slot.is_alias_of(result)) fail("it should have written in place");
    return;
  }
  const bool view = planned.storage != id;
  if (view) {
    const at::Tensor& base = environment[static_cast<std::size_t>(planned.storage)];
    if (base.defined() && !base.is_alias_of(result) && result.numel() > 0)
      fail("its result should be a view and is not");
  } else {
    for (const TensorId argument : reads) {
      const at::Tensor& t = environment[static_cast<std::size_t>(argument)];
      if (t.defined() && t.is_alias_of(result) && result.numel() > 0) {
        result = result.clone(at::MemoryFormat::Preserve);
        ++copied;
        break;
      }
    }
  }
  bool same = true;
  for (std::size_t d = 0; d < planned.shape.size(); ++d) {
    same = same && (planned.shape[d] == 1 || result.stride(static_cast<std::int64_t>(d)) == planned.stride[d]);
  }
  if (!same && result.numel() > 0) {
    if (view) fail("its view has other strides than planned");
    at::Tensor laid_out = at::empty_strided(planned.shape, planned.stride, result.options());
    laid_out.copy_(result);
    result = laid_out;
    ++copied;
  }
  slot = std::move(result);
}

}  // namespace kagent::execute
