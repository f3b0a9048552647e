#include "harness/plan/pack.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>

namespace kagent::plan {
namespace {

constexpr std::size_t kPointerBytes = 8;

// Bytes at increasing offsets, each item at its natural alignment, as a C struct has them.
class Writer {
 public:
  PackedArg out;
  std::size_t align = 1;

  void bytes(const void* data, std::size_t size) {
    pad(size);
    const auto* from = static_cast<const std::byte*>(data);
    out.bytes.insert(out.bytes.end(), from, from + size);
    align = std::max(align, size);
  }
  void pointer(TensorId id) {
    pad(kPointerBytes);
    out.pointers.emplace_back(out.bytes.size(), id);
    null();
  }
  void null() {
    const std::uint64_t zero = 0;
    bytes(&zero, kPointerBytes);
  }
  void pad(std::size_t unit) { out.bytes.resize((out.bytes.size() + unit - 1) / unit * unit); }
};

std::string describe(const Param& param) {
  const std::string size = std::to_string(param.size) + "-byte ";
  switch (param.kind) {
    case Param::Kind::kPointer:
      return param.pointee.empty() ? "a pointer" : "a " + param.pointee + " pointer";
    case Param::Kind::kInt:
      return "a " + size + "integer";
    case Param::Kind::kFloat:
      return "a " + size + "float";
    case Param::Kind::kStruct:
      break;
  }
  return "a struct of " + std::to_string(param.size) + " bytes";
}

// Signed or unsigned: a parameter's sign is not known. Null if it fits `size` bytes, else why not.
std::optional<std::string> write_integer(Writer& writer, std::int64_t value, std::int64_t size) {
  if (size < 8) {
    const std::int64_t half = std::int64_t{1} << (8 * size - 1);
    if (value < -half || value >= 2 * half) {
      return "is " + std::to_string(value) + ", which does not fit " + std::to_string(size) + " bytes";
    }
  }
  writer.bytes(&value, static_cast<std::size_t>(size));  // little-endian: the low bytes come first
  return std::nullopt;
}

std::optional<std::string> write_float(Writer& writer, double value, std::int64_t size) {
  if (size == 8) {
    writer.bytes(&value, 8);
    return std::nullopt;
  }
  // The bound is checked first: a conversion out of range is undefined.
  if (std::isfinite(value) && std::abs(value) > static_cast<double>(std::numeric_limits<float>::max())) {
    return "is " + std::to_string(value) + ", which does not fit a float";
  }
  const auto narrow = static_cast<float>(value);
  writer.bytes(&narrow, 4);
  return std::nullopt;
}

std::optional<std::string> write_pointer(Writer& writer, const Value& value) {
  const auto* integer = std::get_if<std::int64_t>(&value.data);
  if (const auto* tensor = std::get_if<TensorRef>(&value.data)) {
    writer.pointer(tensor->id);
  } else if (std::holds_alternative<std::monostate>(value.data) || (integer != nullptr && *integer == 0)) {
    writer.null();
  } else {
    return "must be a tensor, or None for a null pointer";
  }
  return std::nullopt;
}

std::optional<std::string> write_item(Writer& writer, const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value.data)) return write_integer(writer, *integer, 4);
  if (const auto* number = std::get_if<double>(&value.data)) return write_float(writer, *number, 4);
  if (const auto* wide = std::get_if<Int64>(&value.data)) return write_integer(writer, wide->value, 8);
  return write_pointer(writer, value);
}

std::optional<std::string> write_struct(Writer& writer, const Param& param, const Array& array) {
  for (std::size_t i = 0; i < array.items.size(); ++i) {
    if (auto wrong = write_item(writer, array.items[i])) return "item " + std::to_string(i) + " " + *wrong;
  }
  const std::size_t packed = writer.out.bytes.size();
  writer.pad(writer.align);
  if (writer.align < static_cast<std::size_t>(param.align)) writer.pad(static_cast<std::size_t>(param.align));
  const bool fits = writer.out.bytes.size() == static_cast<std::size_t>(param.size) &&
                    writer.align <= static_cast<std::size_t>(param.align);
  if (fits) return std::nullopt;
  return "packs to " + std::to_string(packed) +
         " bytes (8 a tensor or int64, 4 an int or float, each at its natural alignment), the struct has " +
         std::to_string(param.size);
}

std::optional<std::string> write_argument(Writer& writer, const Param& param, const Value& value) {
  const auto* integer = std::get_if<std::int64_t>(&value.data);
  switch (param.kind) {
    case Param::Kind::kPointer:
      return write_pointer(writer, value);
    case Param::Kind::kInt:
      if (const auto* flag = std::get_if<bool>(&value.data)) return write_integer(writer, *flag ? 1 : 0, param.size);
      if (integer != nullptr) return write_integer(writer, *integer, param.size);
      if (std::holds_alternative<double>(value.data)) return "is a float: write int(...)";
      return "must be an integer";
    case Param::Kind::kFloat:
      if (const auto* number = std::get_if<double>(&value.data)) return write_float(writer, *number, param.size);
      if (integer != nullptr) return write_float(writer, static_cast<double>(*integer), param.size);
      return "must be a number";
    case Param::Kind::kStruct:
      break;
  }
  const auto* array = std::get_if<Array>(&value.data);
  return array != nullptr ? write_struct(writer, param, *array) : "must be kg.array([...])";
}

bool is_sound(const Param& param) {
  switch (param.kind) {
    case Param::Kind::kPointer:
      return param.size == 8;
    case Param::Kind::kInt:
      return param.size == 1 || param.size == 2 || param.size == 4 || param.size == 8;
    case Param::Kind::kFloat:
      return param.size == 4 || param.size == 8;
    case Param::Kind::kStruct:
      break;
  }
  return param.align > 0;
}

}  // namespace

Packed pack(const Launch& launch, const Kernel& kernel) {
  const auto wrong = [&](const std::string& message) {
    return Problem{"bad_argument", "kernel " + in_quotes(launch.kernel) + ": " + message, std::nullopt};
  };
  if (launch.args.size() != kernel.params.size()) {
    return wrong("it takes " + std::to_string(kernel.params.size()) + " arguments, the launch passes " +
                 std::to_string(launch.args.size()));
  }
  std::vector<PackedArg> out;
  for (std::size_t i = 0; i < kernel.params.size(); ++i) {
    const Param& param = kernel.params[i];
    if (!is_sound(param)) return wrong("parameter " + std::to_string(i) + " has a type that cannot be passed");
    Writer writer;
    if (auto problem = write_argument(writer, param, launch.args[i])) {
      return wrong("argument " + std::to_string(i) + ", " + describe(param) + ", " + *problem);
    }
    out.push_back(std::move(writer.out));
  }
  return out;
}

}  // namespace kagent::plan
