#include "tests/harness/execute/plans.h"

#include <ATen/Context.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "harness/plan/parse.h"

namespace kagent::execute::plans {
namespace {

using nlohmann::json;

constexpr const char* kPtx = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry scale(.param .u64 in, .param .u64 out, .param .f32 factor, .param .u32 n)
{
  .reg .pred %p;
  .reg .f32 %f<3>;
  .reg .b32 %r<5>;
  .reg .b64 %d<6>;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r1, %r1, %r2, %r3;
  ld.param.u32 %r4, [n];
  setp.ge.u32 %p, %r1, %r4;
  @%p ret;
  ld.param.u64 %d1, [in];
  ld.param.u64 %d2, [out];
  cvta.to.global.u64 %d1, %d1;
  cvta.to.global.u64 %d2, %d2;
  mul.wide.u32 %d3, %r1, 4;
  add.u64 %d4, %d1, %d3;
  add.u64 %d5, %d2, %d3;
  ld.global.f32 %f1, [%d4];
  ld.param.f32 %f2, [factor];
  mul.f32 %f1, %f1, %f2;
  st.global.f32 [%d5], %f1;
  ret;
}
)";

constexpr const char* kKernels = R"({"scale": {"symbol": "scale", "mangled": false, "params": [
  {"size": 8, "align": 8, "kind": "pointer", "pointee": null, "const": null},
  {"size": 8, "align": 8, "kind": "pointer", "pointee": null, "const": null},
  {"size": 4, "align": 4, "kind": "float", "pointee": null, "const": null},
  {"size": 4, "align": 4, "kind": "int", "pointee": null, "const": null}],
  "registers": 16, "static_shared_bytes": 0, "local_bytes": 0, "spill_store_bytes": 0, "spill_load_bytes": 0,
  "max_threads": 1024, "required_cluster": null}})";

std::string plan_text(const Parts& parts) {
  json tensors = json::array();
  for (std::size_t id = 0; id < parts.tensors.size(); ++id) {
    const Row& row = parts.tensors[id];
    tensors.push_back({{"shape", row.shape},
                       {"stride", row.stride},
                       {"offset", row.offset},
                       {"dtype", "float32"},
                       {"storage", row.storage < 0 ? static_cast<int>(id) : row.storage}});
  }
  return json{{"version", 1},
              {"options", {{"graph", parts.graph}, {"tf32", false}}},
              {"tensors", tensors},
              {"inputs", json::parse(parts.inputs)},
              {"parameters", json::parse(parts.parameters)},
              {"buffers", json::parse(parts.buffers)},
              {"state", json::parse(parts.state)},
              {"constants", json::array()},
              {"prepare", json::parse(parts.prepare)},
              {"forward", json::parse(parts.forward)},
              {"outputs", json::parse(parts.outputs)},
              {"tags", json::array()}}
      .dump();
}

}  // namespace

std::string scale_launch(int in, int out, double factor, int n) {
  const json step = {{"launch", "scale"},   {"grid", {(n + 63) / 64, 1, 1}},
                     {"block", {64, 1, 1}}, {"shared", 0},
                     {"cluster", nullptr},  {"cooperative", false},
                     {"line", 1},           {"args", {{{"t", in}}, {{"t", out}}, factor, n}}};
  return step.dump();
}

bool has_gpu() { return at::globalContext().hasCUDA(); }

c10::Device gpu() {
  at::globalContext().lazyInitDevice(c10::kCUDA);
  return {c10::kCUDA, 0};
}

std::unique_ptr<Executor> executor(const Parts& parts, const c10::Device& device) {
  auto parsed = plan::parse(plan_text(parts));
  if (const auto* problem = std::get_if<plan::Problem>(&parsed)) {
    ADD_FAILURE() << problem->kind << ": " << problem->message;
    return nullptr;
  }
  auto kernels = plan::read_kernels(kKernels);
  return std::make_unique<Executor>(std::get<plan::Plan>(std::move(parsed)), std::get<plan::Kernels>(kernels), kPtx,
                                    device);
}

}  // namespace kagent::execute::plans
