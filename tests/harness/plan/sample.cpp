#include "tests/harness/plan/sample.h"

#include <gtest/gtest.h>

#include "harness/plan/parse.h"

namespace kagent::plan::sample {
namespace {

constexpr const char* kPlan = R"({
  "version": 1,
  "options": {"graph": true, "tf32": false},
  "tensors": [
    {"shape": [2, 3, 8, 8], "stride": [192, 64, 8, 1], "offset": 0, "dtype": "float32", "storage": 0},
    {"shape": [4, 3, 3, 3], "stride": [27, 9, 3, 1], "offset": 0, "dtype": "float32", "storage": 1},
    {"shape": [4], "stride": [1], "offset": 0, "dtype": "float32", "storage": 2},
    {"shape": [2, 4], "stride": [4, 1], "offset": 0, "dtype": "float32", "storage": 3},
    {"shape": [2], "stride": [1], "offset": 0, "dtype": "float32", "storage": 4},
    {"shape": [4, 27], "stride": [27, 1], "offset": 0, "dtype": "float32", "storage": 5},
    {"shape": [4, 27], "stride": [27, 1], "offset": 0, "dtype": "float32", "storage": 1},
    {"shape": [2, 4, 8, 8], "stride": [256, 64, 8, 1], "offset": 0, "dtype": "float32", "storage": 7},
    {"shape": [2, 4, 8, 8], "stride": [256, 64, 8, 1], "offset": 0, "dtype": "float32", "storage": 8},
    {"shape": [2, 256], "stride": [256, 1], "offset": 0, "dtype": "float32", "storage": 8},
    {"shape": [2, 128], "stride": [256, 1], "offset": 128, "dtype": "float32", "storage": 8}
  ],
  "inputs": [{"t": 0}, 3, null],
  "parameters": [["conv1.weight", 1]],
  "buffers": [["bn1.running_mean", 2]],
  "state": [["hidden", 3]],
  "constants": [{"t": 4, "data": "AACAPwAAAEA="}],
  "prepare": [
    {"op": "aten::view", "args": [{"t": 1}, [4, 27]], "kwargs": {}, "results": [{"t": 6}], "line": 5},
    {"op": "aten::clone", "args": [{"t": 6}], "kwargs": {"memory_format": {"memory_format": "contiguous_format"}},
     "results": [{"t": 5}], "line": 6}
  ],
  "forward": [
    {"op": "aten::conv2d", "args": [{"t": 0}, {"t": 1}, null, [1, 1], [1, 1]], "kwargs": {}, "results": [{"t": 7}],
     "line": 9},
    {"op": "aten::empty_like", "args": [{"t": 7}], "kwargs": {"dtype": {"dtype": "float32"}, "device": {"device": "cuda"}},
     "results": [{"t": 8}], "line": 10},
    {"launch": "bn<0>", "grid": [8, 4, 1], "block": [256, 1, 1], "shared": 4096, "cluster": [2, 1, 1],
     "cooperative": false,
     "args": [{"t": 7}, {"t": 5}, null, {"t": 8}, 1024, 1e-05, {"array": [{"t": 4}, 7, 0.5, {"i64": -1}]}], "line": 14},
    {"op": "aten::view", "args": [{"t": 8}, [2, -1]], "kwargs": {}, "results": [{"t": 9}], "line": 15},
    {"op": "aten::slice.Tensor", "args": [{"t": 9}, 1, 128, 256], "kwargs": {}, "results": [{"t": 10}], "line": 16},
    {"launch": "fc", "grid": [132, 1, 1], "block": [128, 1, 1], "shared": 0, "cluster": null, "cooperative": true,
     "args": [{"t": 10, "strided": true}, {"t": 2}, {"t": 3}, true, {"float": "-inf"}], "line": 17},
    {"op": "aten::relu_", "args": [{"t": 9}], "kwargs": {}, "results": [{"t": 9}], "line": null}
  ],
  "outputs": {"tuple": [{"t": 9}, {"dict": [["n", {"value": 2}], ["h", {"list": [{"t": 8}]}]]}]},
  "tags": [["layer1.0", 7]]
})";

constexpr const char* kKernels = R"({
  "bn<0>": {"symbol": "_Z2bnILi0EEvPKfS1_S1_Pfif5Extra", "mangled": true, "params": [
      {"size": 8, "align": 8, "kind": "pointer", "pointee": "float", "const": true},
      {"size": 8, "align": 8, "kind": "pointer", "pointee": "float", "const": true},
      {"size": 8, "align": 8, "kind": "pointer", "pointee": "float", "const": true},
      {"size": 8, "align": 8, "kind": "pointer", "pointee": "float", "const": false},
      {"size": 4, "align": 4, "kind": "int", "pointee": null, "const": null},
      {"size": 4, "align": 4, "kind": "float", "pointee": null, "const": null},
      {"size": 24, "align": 8, "kind": "struct", "pointee": null, "const": null}],
    "registers": 32, "static_shared_bytes": 1024, "local_bytes": 0, "spill_store_bytes": 0, "spill_load_bytes": 0,
    "max_threads": 256, "required_cluster": null},
  "fc": {"symbol": "fc", "mangled": false, "params": [
      {"size": 8, "align": 8, "kind": "pointer", "pointee": null, "const": null},
      {"size": 8, "align": 8, "kind": "pointer", "pointee": null, "const": null},
      {"size": 8, "align": 8, "kind": "pointer", "pointee": null, "const": null},
      {"size": 1, "align": 1, "kind": "int", "pointee": null, "const": null},
      {"size": 8, "align": 8, "kind": "float", "pointee": null, "const": null}],
    "registers": 128, "static_shared_bytes": 0, "local_bytes": 0, "spill_store_bytes": 0, "spill_load_bytes": 0,
    "max_threads": 1024, "required_cluster": null}
})";

constexpr const char* kDevice =
    R"({"name": "NVIDIA H200", "arch": "sm_90a", "sm_count": 132, "shared_per_block": 232448,
  "shared_per_sm": 233472, "registers_per_sm": 65536, "threads_per_sm": 2048, "blocks_per_sm": 32, "max_cluster": 8,
  "l2_bytes": 62914560, "memory_bytes": 150000000000, "driver": "580.1"})";

constexpr const char* kOperators =
    "# a comment\naten::view\naten::clone\naten::conv2d\naten::empty_like # fresh\naten::slice.Tensor\naten::relu_\n"
    "aten::copy_\naten::batch_norm\naten::add.out\naten::split.Tensor\naten::view.dtype\n";

template <typename T>
T value_or_fail(std::variant<T, Problem> result) {
  if (const auto* problem = std::get_if<Problem>(&result)) {
    ADD_FAILURE() << problem->kind << ": " << problem->message;
    return {};
  }
  return std::get<T>(std::move(result));
}

}  // namespace

Json plan_json() { return Json::parse(kPlan); }
std::string kernels_text() { return kKernels; }
std::string device_text() { return kDevice; }
Plan plan() { return value_or_fail(parse(kPlan)); }
Kernels kernels() { return value_or_fail(read_kernels(kKernels)); }
Device device() { return value_or_fail(read_device(kDevice)); }
Operators operators() { return Operators::from_text(kOperators); }

}  // namespace kagent::plan::sample
