#include "harness/plan/kernels.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace kagent::plan {
namespace {

using nlohmann::json;

// These facts come from kagent's own processes: a wrong one is an error of ours, so one exception ends the reading.
struct BadFact {
  std::string message;
};

std::int64_t integer(const json& object, const char* key, std::int64_t least) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_integer() || found->get<std::int64_t>() < least) {
    throw BadFact{std::string("no usable ") + in_quotes(key)};
  }
  return found->get<std::int64_t>();
}

std::string text(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) throw BadFact{std::string("no usable ") + in_quotes(key)};
  return found->get<std::string>();
}

Param::Kind kind_of(const std::string& name) {
  if (name == "pointer") return Param::Kind::kPointer;
  if (name == "int") return Param::Kind::kInt;
  if (name == "float") return Param::Kind::kFloat;
  if (name == "struct") return Param::Kind::kStruct;
  throw BadFact{"a parameter's kind cannot be " + in_quotes(name)};
}

Param param_of(const json& node) {
  Param out;
  out.kind = kind_of(text(node, "kind"));
  out.size = integer(node, "size", 1);
  out.align = integer(node, "align", 1);
  if (node.contains("pointee") && node["pointee"].is_string()) out.pointee = node["pointee"].get<std::string>();
  if (node.contains("const") && node["const"].is_boolean()) out.is_const = node["const"].get<bool>();
  return out;
}

Kernel kernel_of(const json& node) {
  Kernel out;
  out.symbol = text(node, "symbol");
  out.mangled = node.value("mangled", false);
  for (const json& param : node.at("params")) out.params.push_back(param_of(param));
  out.registers = integer(node, "registers", 0);
  out.static_shared_bytes = integer(node, "static_shared_bytes", 0);
  out.max_threads = integer(node, "max_threads", 1);
  if (node.contains("required_cluster") && !node["required_cluster"].is_null()) {
    out.required_cluster = node["required_cluster"].get<std::array<std::int64_t, 3>>();
    for (const std::int64_t blocks : *out.required_cluster) {
      if (blocks < 1) throw BadFact{"no usable \"required_cluster\""};
    }
  }
  return out;
}

template <typename T, typename Read>
std::variant<T, Problem> guarded(std::string_view text, const char* what, Read read) {
  try {
    return read(json::parse(text));
  } catch (const json::exception& error) {
    return Problem{"bad_facts", std::string(what) + ": " + error.what(), std::nullopt};
  } catch (const BadFact& fact) {
    return Problem{"bad_facts", std::string(what) + ": " + fact.message, std::nullopt};
  }
}

std::int64_t round_up(std::int64_t value, std::int64_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

std::variant<Kernels, Problem> read_kernels(std::string_view text) {
  return guarded<Kernels>(text, "kernel facts", [](const json& root) {
    if (!root.is_object()) throw BadFact{"no object"};
    Kernels out;
    for (const auto& [name, node] : root.items()) out.emplace(name, kernel_of(node));
    return out;
  });
}

std::variant<Device, Problem> read_device(std::string_view json_text) {
  return guarded<Device>(json_text, "device facts", [](const json& root) {
    if (!root.is_object()) throw BadFact{"no object"};
    Device out;
    out.name = text(root, "name");
    out.arch = text(root, "arch");
    out.sm_count = integer(root, "sm_count", 1);
    out.shared_per_block = integer(root, "shared_per_block", 1);
    out.shared_per_sm = integer(root, "shared_per_sm", 1);
    out.registers_per_sm = integer(root, "registers_per_sm", 1);
    out.threads_per_sm = integer(root, "threads_per_sm", 1);
    out.blocks_per_sm = integer(root, "blocks_per_sm", 1);
    out.max_cluster = integer(root, "max_cluster", 1);
    return out;
  });
}

std::int64_t blocks_per_sm(const Device& device, std::int64_t registers, std::int64_t threads,
                           std::int64_t shared_bytes) {
  constexpr std::int64_t kWarp = 32;
  constexpr std::int64_t kPartitions = 4;
  constexpr std::int64_t kRegisterUnit = 256;
  constexpr std::int64_t kSharedUnit = 128;
  if (threads < 1 || shared_bytes > device.shared_per_block) return 0;
  const std::int64_t warps = round_up(threads, kWarp) / kWarp;
  std::int64_t blocks = std::min(device.blocks_per_sm, device.threads_per_sm / (warps * kWarp));
  if (registers > 0) {
    const std::int64_t a_warp = round_up(registers * kWarp, kRegisterUnit);
    const std::int64_t a_partition = device.registers_per_sm / kPartitions / a_warp;  // warps
    blocks = std::min(blocks, a_partition * kPartitions / warps);
  }
  const std::int64_t reserved = std::max<std::int64_t>(0, device.shared_per_sm - device.shared_per_block);
  const std::int64_t shared = round_up(shared_bytes + reserved, kSharedUnit);
  if (shared > 0) blocks = std::min(blocks, device.shared_per_sm / shared);
  return blocks;
}

}  // namespace kagent::plan
