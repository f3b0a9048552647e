// The launch plan as C++ values: docs/plan.md says what each field means. A Plan that came out of parse() has the right
// structure (closed schema, ids in range, limits kept); only validate() (validate.h) makes it fit to run.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace kagent::plan {

using TensorId = std::int32_t;

struct Tensor {
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> stride;  // elements
  std::int64_t offset = 0;           // elements from the start of the storage
  std::string dtype;                 // torch's name: "float32"
  TensorId storage = 0;              // id of the tensor that first owned the storage
};

struct Value;
using List = std::vector<Value>;

struct TensorRef {
  TensorId id = 0;
  bool strided = false;  // launches: a non-dense view passed on purpose
};
struct Named {  // {"dtype": "float32"} and its kind
  enum class Kind { kDtype, kLayout, kDevice, kMemoryFormat } kind = Kind::kDtype;
  std::string name;
};
struct Array {
  List items;
};  // kg.array: one struct by value
struct Int64 {
  std::int64_t value = 0;
};

struct Value {
  std::variant<std::monostate, bool, std::int64_t, double, std::string, TensorRef, Named, Array, Int64, List> data;
};

struct Operator {
  std::string name;      // "aten::conv2d"
  std::string overload;  // "" is the default overload
  std::vector<Value> args;
  std::vector<std::pair<std::string, Value>> kwargs;
  std::vector<Value> results;  // TensorRef, List of TensorRef, or null
};

struct Launch {
  std::string kernel;  // as the answer wrote it: "bn<0>"
  std::int64_t grid[3] = {1, 1, 1};
  std::int64_t block[3] = {1, 1, 1};
  std::optional<std::vector<std::int64_t>> cluster;  // three numbers
  std::int64_t shared_bytes = 0;                     // dynamic
  bool cooperative = false;
  std::vector<Value> args;
};

struct Step {
  std::variant<Operator, Launch> what;
  std::optional<int> line;  // in the answer's python block
};

struct Branch;

struct Tree {  // what forward returns
  enum class Kind { kTensor, kTuple, kList, kDict, kValue } kind = Kind::kValue;
  TensorId tensor = 0;
  std::vector<Branch> children;
  Value value;
};

struct Branch {
  std::string key;  // empty but in a dict
  Tree tree;
};

struct Plan {
  bool graph = false;
  bool tf32 = false;
  std::vector<Tensor> tensors;
  std::vector<Value> inputs;  // TensorRef or literal
  std::vector<std::pair<std::string, TensorId>> parameters;
  std::vector<std::pair<std::string, TensorId>> buffers;
  std::vector<std::pair<std::string, TensorId>> state;
  std::vector<std::pair<TensorId, std::string>> constants;  // raw little-endian bytes
  std::vector<Step> prepare;
  std::vector<Step> forward;
  Tree outputs;
  std::vector<std::pair<std::string, TensorId>> tags;
};

}  // namespace kagent::plan
