#include "harness/plan/parse.h"

#include <algorithm>
#include <limits>

#include "harness/plan/base64.h"
#include "harness/plan/dtype.h"
#include "harness/plan/json_tree.h"
#include "harness/plan/parse_value.h"
#include "harness/plan/reader.h"

namespace kagent::plan {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxNames = 65536;
constexpr std::size_t kMaxArguments = 1024;

class PlanReader {
 public:
  Parsed read(const json& root) {
    const Place top;
    if (reader_.object(root, top,
                       {"version", "options", "tensors", "inputs", "parameters", "buffers", "state", "constants",
                        "prepare", "forward", "outputs", "tags"})) {
      reader_.integer(root["version"], {&top, "version"}, 1, 1);
      options(root["options"], {&top, "options"});
      reader_.each(root["tensors"], {&top, "tensors"}, kMaxTensors,
                   [&](const json& t, const Place& at) { tensor(t, at, root["tensors"].size()); });
      reader_.each(root["inputs"], {&top, "inputs"}, kMaxArguments, [&](const json& v, const Place& at) {
        plan_.inputs.push_back(parse_value(reader_, v, at, Where::kInput, count()));
      });
      named(root["parameters"], {&top, "parameters"}, plan_.parameters);
      named(root["buffers"], {&top, "buffers"}, plan_.buffers);
      named(root["state"], {&top, "state"}, plan_.state);
      reader_.each(root["constants"], {&top, "constants"}, kMaxArguments,
                   [&](const json& c, const Place& at) { constant(c, at); });
      steps(root["prepare"], {&top, "prepare"}, plan_.prepare);
      steps(root["forward"], {&top, "forward"}, plan_.forward);
      plan_.outputs = tree(root["outputs"], {&top, "outputs"}, 0);
      named(root["tags"], {&top, "tags"}, plan_.tags);
    }
    if (reader_.failed()) return *reader_.problem();
    return std::move(plan_);
  }

 private:
  [[nodiscard]] std::size_t count() const { return plan_.tensors.size(); }

  void options(const json& v, const Place& at) {
    if (!reader_.object(v, at, {"graph", "tf32"})) return;
    plan_.graph = reader_.boolean(v["graph"], {&at, "graph"});
    plan_.tf32 = reader_.boolean(v["tf32"], {&at, "tf32"});
  }

  void numbers(const json& v, const Place& at, std::vector<std::int64_t>& out) {
    reader_.each(v, at, kMaxDims,
                 [&](const json& n, const Place& here) { out.push_back(reader_.integer(n, here, 0, kMaxBytes)); });
  }

  void tensor(const json& v, const Place& at, std::size_t tensors) {
    if (!reader_.object(v, at, {"shape", "stride", "offset", "dtype", "storage"})) return;
    Tensor t;
    numbers(v["shape"], {&at, "shape"}, t.shape);
    numbers(v["stride"], {&at, "stride"}, t.stride);
    t.offset = reader_.integer(v["offset"], {&at, "offset"}, 0, kMaxBytes);
    t.dtype = reader_.text(v["dtype"], {&at, "dtype"}, kMaxText);
    t.storage = parse_id(reader_, v["storage"], {&at, "storage"}, tensors);
    if (reader_.failed()) return;
    if (t.shape.size() != t.stride.size()) reader_.fail(at, "has a shape and a stride of different lengths");
    if (dtype_bytes(t.dtype) == 0) reader_.fail({&at, "dtype"}, in_quotes(t.dtype) + " cannot be used in a plan");
    if (!reader_.failed() && (!byte_extent(t) || elements_overflow(t))) reader_.fail(at, "is too large", "too_large");
    plan_.tensors.push_back(std::move(t));
  }

  static bool elements_overflow(const Tensor& t) {
    std::int64_t n = dtype_bytes(t.dtype);
    for (const std::int64_t size : t.shape) {
      if (size == 0) return false;
      if (__builtin_mul_overflow(n, size, &n) || n > kMaxBytes) return true;
    }
    return false;
  }

  void named(const json& v, const Place& at, std::vector<std::pair<std::string, TensorId>>& out) {
    reader_.each(v, at, kMaxNames, [&](const json& pair, const Place& here) {
      if (!reader_.array(pair, here, 2)) return;
      if (pair.size() != 2) return reader_.fail(here, "must be [name, id]");
      const Place name{&here, {}, 0};
      const Place id{&here, {}, 1};
      std::string text = reader_.text(pair[0], name, kMaxText);
      out.emplace_back(std::move(text), parse_id(reader_, pair[1], id, count()));
    });
  }

  void constant(const json& v, const Place& at) {
    if (!reader_.object(v, at, {"t", "data"})) return;
    const TensorId id = parse_id(reader_, v["t"], {&at, "t"}, count());
    const Place here{&at, "data"};
    const auto bytes = decode_base64(reader_.text(v["data"], here, 2 * kMaxConstantBytes));
    if (reader_.failed()) return;
    if (!bytes) return reader_.fail(here, "is not base64");
    const Tensor& t = plan_.tensors[static_cast<std::size_t>(id)];
    constant_bytes_ += bytes->size();
    if (constant_bytes_ > kMaxConstantBytes)
      return reader_.fail(here, "constants are larger than 1 MiB together", "too_large");
    if (!is_contiguous(t) || static_cast<std::int64_t>(bytes->size()) != element_count(t) * dtype_bytes(t.dtype)) {
      return reader_.fail(here, "does not have the size of its contiguous tensor");
    }
    plan_.constants.emplace_back(id, *bytes);
  }

  void steps(const json& v, const Place& at, std::vector<Step>& out) {
    reader_.each(v, at, kMaxSteps - plan_.prepare.size(), [&](const json& s, const Place& here) {
      Step step;
      reader_.line.reset();
      if (s.is_object() && s.contains("line") && s["line"].is_number_integer()) {
        step.line = static_cast<int>(reader_.integer(s["line"], {&here, "line"}, 1, 10'000'000));
        reader_.line = step.line;
      } else if (s.is_object() && s.contains("line") && !s["line"].is_null()) {
        reader_.fail({&here, "line"}, "must be an integer or null");
      }
      if (s.is_object() && s.contains("launch")) {
        step.what = launch(s, here);
      } else {
        step.what = operation(s, here);
      }
      out.push_back(std::move(step));
    });
    reader_.line.reset();
  }

  Operator operation(const json& s, const Place& at) {
    Operator op;
    if (!reader_.object(s, at, {"op", "args", "kwargs", "results", "line"})) return op;
    const std::string name = reader_.text(s["op"], {&at, "op"}, kMaxText);
    op.name = name.substr(0, name.find('.'));
    if (name.find('.') != std::string::npos) op.overload = name.substr(name.find('.') + 1);
    if (name.ends_with('.')) reader_.fail({&at, "op"}, in_quotes(name) + " names no overload after its dot");
    reader_.each(s["args"], {&at, "args"}, kMaxArguments, [&](const json& v, const Place& here) {
      op.args.push_back(parse_value(reader_, v, here, Where::kOperator, count()));
    });
    const Place kwargs{&at, "kwargs"};
    if (!s["kwargs"].is_object()) reader_.fail(kwargs, "must be an object");
    if (reader_.failed()) return op;
    for (const auto& [key, v] : s["kwargs"].items()) {
      const Place here{&kwargs, key, 0, true};
      op.kwargs.emplace_back(key, parse_value(reader_, v, here, Where::kOperator, count()));
    }
    reader_.each(s["results"], {&at, "results"}, kMaxArguments,
                 [&](const json& v, const Place& here) { op.results.push_back(result(v, here)); });
    return op;
  }

  Value result(const json& v, const Place& at) {
    if (v.is_null()) return {std::monostate{}};
    if (!v.is_array()) {
      if (!reader_.object(v, at, {"t"})) return {};
      return {TensorRef{parse_id(reader_, v["t"], {&at, "t"}, count()), false}};
    }
    List out;
    reader_.each(v, at, kMaxTensors, [&](const json& item, const Place& here) {
      if (item.is_array()) return reader_.fail(here, "must be a tensor");
      out.push_back(result(item, here));
    });
    return {out};
  }

  void three(const json& v, const Place& at, std::int64_t* out) {
    if (!reader_.array(v, at, 3)) return;
    if (v.size() != 3) return reader_.fail(at, "must be three numbers");
    std::size_t i = 0;
    reader_.each(v, at, 3, [&](const json& n, const Place& here) {
      out[i++] = reader_.integer(n, here, 1, std::numeric_limits<std::int32_t>::max());
    });
  }

  Launch launch(const json& s, const Place& at) {
    Launch launch;
    if (!reader_.object(s, at, {"launch", "grid", "block", "shared", "cluster", "cooperative", "args", "line"}))
      return launch;
    launch.kernel = reader_.text(s["launch"], {&at, "launch"}, kMaxText);
    three(s["grid"], {&at, "grid"}, launch.grid);
    three(s["block"], {&at, "block"}, launch.block);
    if (!s["cluster"].is_null()) {
      launch.cluster = std::vector<std::int64_t>(3, 1);
      three(s["cluster"], {&at, "cluster"}, launch.cluster->data());
    }
    launch.shared_bytes = reader_.integer(s["shared"], {&at, "shared"}, 0, std::numeric_limits<std::int32_t>::max());
    launch.cooperative = reader_.boolean(s["cooperative"], {&at, "cooperative"});
    reader_.each(s["args"], {&at, "args"}, kMaxArguments, [&](const json& v, const Place& here) {
      launch.args.push_back(parse_value(reader_, v, here, Where::kLaunch, count()));
    });
    return launch;
  }

  Tree tree(const json& v, const Place& at, int depth) {
    Tree out;
    if (depth > kMaxDepth) reader_.fail(at, "is nested too deeply", "too_large");
    if (reader_.failed()) return out;
    if (!v.is_object() || v.size() != 1) {
      reader_.fail(at, "must be an object with one of t, tuple, list, dict, value");
      return out;
    }
    const std::string& key = v.begin().key();
    const json& inner = v.begin().value();
    const Place here{&at, key};
    if (key == "t") {
      out.kind = Tree::Kind::kTensor;
      out.tensor = parse_id(reader_, inner, here, count());
    } else if (key == "value") {
      out.value = parse_value(reader_, inner, here, Where::kInput, count());
      if (std::holds_alternative<TensorRef>(out.value.data)) reader_.fail(here, "must be a number, a bool or null");
    } else if (key == "tuple" || key == "list") {
      out.kind = key == "tuple" ? Tree::Kind::kTuple : Tree::Kind::kList;
      reader_.each(inner, here, kMaxTensors, [&](const json& child, const Place& place) {
        out.children.push_back({"", tree(child, place, depth + 1)});
      });
    } else if (key == "dict") {
      out.kind = Tree::Kind::kDict;
      reader_.each(inner, here, kMaxTensors, [&](const json& pair, const Place& place) {
        if (!reader_.array(pair, place, 2)) return;
        if (pair.size() != 2) return reader_.fail(place, "must be [key, tree]");
        std::string name = reader_.text(pair[0], place, kMaxText);
        out.children.push_back({std::move(name), tree(pair[1], place, depth + 1)});
      });
    } else {
      reader_.fail(at, "has the unknown field " + in_quotes(key));
    }
    return out;
  }

  Reader reader_;
  Plan plan_;
  std::size_t constant_bytes_ = 0;
};

}  // namespace

Parsed parse(std::string_view text) {
  if (text.size() > kMaxPlanBytes)
    return Problem{"too_large", "the plan is larger than 16 MiB: launch fewer, larger steps", std::nullopt};
  auto tree = read_tree(text);
  if (auto* problem = std::get_if<Problem>(&tree)) return *problem;
  return PlanReader().read(std::get<nlohmann::json>(tree));
}

}  // namespace kagent::plan
