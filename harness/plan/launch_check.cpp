#include "harness/plan/launch_check.h"

#include <algorithm>
#include <string>

#include "harness/plan/dtype.h"
#include "harness/plan/operators.h"
#include "harness/plan/pack.h"

namespace kagent::plan {
namespace {

struct Access {
  std::string_view pointee;
  std::string_view dtypes;  // separated by spaces
};

// Unsigned integers also read the bits of a float of their size; wide vectors also load narrow elements in groups.
constexpr Access kAccess[] = {
    {"float", "float32"},
    {"float2", "float32 float16 bfloat16"},
    {"float3", "float32"},
    {"float4", "float32 float16 bfloat16 int8 uint8"},
    {"double", "float64"},
    {"double2", "float64"},
    {"double4", "float64"},
    {"int", "int32"},
    {"unsigned int", "int32 float32 float16 bfloat16 int8 uint8"},
    {"long", "int64"},
    {"long long", "int64"},
    {"longlong2", "int64"},
    {"unsigned long", "int64 float64"},
    {"unsigned long long", "int64 float64"},
    {"short", "int16"},
    {"unsigned short", "int16 float16 bfloat16"},
    {"char", "int8 uint8 bool"},
    {"signed char", "int8"},
    {"unsigned char", "uint8 int8 bool"},
    {"bool", "bool uint8"},
    {"__half", "float16"},
    {"half", "float16"},
    {"__half2", "float16"},
    {"half2", "float16"},
    {"__nv_bfloat16", "bfloat16"},
    {"nv_bfloat16", "bfloat16"},
    {"__nv_bfloat162", "bfloat16"},
    {"nv_bfloat162", "bfloat16"},
};

bool lists(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    if (words.substr(0, end) == word) return true;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

template <typename Numbers>
std::string list_text(const Numbers& numbers) {
  std::string out;
  for (const std::int64_t n : numbers) out += (out.empty() ? "" : ", ") + std::to_string(n);
  return "[" + out + "]";
}

std::string tensor_text(const Tensor& t) {
  return t.dtype + " tensor of shape " + list_text(t.shape) + " and stride " + list_text(t.stride);
}

std::string text(std::int64_t number) { return std::to_string(number); }

class LaunchCheck {
 public:
  LaunchCheck(const Launch& launch, const Kernel& kernel, const Device& device)
      : launch_(launch), kernel_(kernel), device_(device) {
    shared_ = launch.shared_bytes + kernel.static_shared_bytes;
  }

  std::optional<Problem> run(const std::vector<Tensor>& tensors) {
    for (auto check :
         {&LaunchCheck::dimensions, &LaunchCheck::resources, &LaunchCheck::cluster, &LaunchCheck::cooperative}) {
      if (auto problem = (this->*check)()) return problem;
    }
    if (auto packed = pack(launch_, kernel_); std::holds_alternative<Problem>(packed)) return std::get<Problem>(packed);
    return arguments(tensors);
  }

 private:
  [[nodiscard]] Problem wrong(const std::string& message, const char* kind = "bad_launch") const {
    return {kind, "kernel " + in_quotes(launch_.kernel) + ": " + message, std::nullopt};
  }

  std::optional<Problem> dimensions() {
    static constexpr std::int64_t kGrid[] = {2147483647, 65535, 65535};
    static constexpr std::int64_t kBlock[] = {1024, 1024, 64};
    static constexpr const char* kAxis[] = {"x", "y", "z"};
    for (int i = 0; i < 3; ++i) {
      if (launch_.grid[i] < 1 || launch_.grid[i] > kGrid[i]) {
        return wrong(std::string("grid ") + kAxis[i] + " is " + text(launch_.grid[i]) + ", must be 1 to " +
                     text(kGrid[i]) + (i > 0 ? ": put the long dimension into x" : ""));
      }
      if (launch_.block[i] < 1 || launch_.block[i] > kBlock[i]) {
        return wrong(std::string("block ") + kAxis[i] + " is " + text(launch_.block[i]) + ", must be 1 to " +
                     text(kBlock[i]));
      }
    }
    threads_ = launch_.block[0] * launch_.block[1] * launch_.block[2];
    if (threads_ > 1024) return wrong("a block of " + text(threads_) + " threads is over the limit of 1024");
    if (threads_ > kernel_.max_threads) {
      return wrong("a block of " + text(threads_) + " threads is over this kernel's limit of " +
                   text(kernel_.max_threads) + " (its __launch_bounds__ or registers)");
    }
    return std::nullopt;
  }

  std::optional<Problem> resources() {
    constexpr std::int64_t kMaxStatic = 48 << 10;
    if (kernel_.static_shared_bytes > kMaxStatic) {
      return wrong(text(kernel_.static_shared_bytes) + " bytes of static shared memory, at most " + text(kMaxStatic) +
                   " are possible: use extern __shared__ and shared=");
    }
    if (shared_ > device_.shared_per_block) {
      return wrong(text(shared_) + " bytes of shared memory (" + text(kernel_.static_shared_bytes) + " static + " +
                   text(launch_.shared_bytes) + " dynamic), a block can have " + text(device_.shared_per_block));
    }
    // Without its shared memory only registers can keep a block from fitting.
    if (blocks_per_sm(device_, kernel_.registers, threads_, 0) < 1) {
      return wrong(text(kernel_.registers) + " registers a thread times " + text(threads_) +
                   " threads exceed the SM's " + text(device_.registers_per_sm) +
                   ": use fewer threads or __launch_bounds__(" + text(threads_) + ")");
    }
    return std::nullopt;
  }

  std::optional<Problem> cluster() {
    if (kernel_.required_cluster && launch_.cluster &&
        !std::equal(launch_.cluster->begin(), launch_.cluster->end(), kernel_.required_cluster->begin(),
                    kernel_.required_cluster->end())) {
      return wrong("cluster " + list_text(*launch_.cluster) + " differs from its __cluster_dims__ " +
                   list_text(*kernel_.required_cluster));
    }
    const std::vector<std::int64_t> blocks = cluster_shape();
    if (blocks.size() != 3) return wrong("cluster must be three numbers");
    cluster_blocks_ = 1;
    for (int i = 0; i < 3; ++i) {
      if (blocks[i] < 1 || blocks[i] > device_.max_cluster) {
        return wrong("cluster " + list_text(blocks) + ": at most " + text(device_.max_cluster) +
                     " blocks are portable");
      }
      cluster_blocks_ *= blocks[i];
      if (launch_.grid[i] % blocks[i] != 0) {
        return wrong("grid " + list_text(launch_.grid) + " is no multiple of cluster " + list_text(blocks));
      }
    }
    if (cluster_blocks_ > device_.max_cluster) {
      return wrong("a cluster of " + text(cluster_blocks_) + " blocks, at most " + text(device_.max_cluster) +
                   " are portable");
    }
    return std::nullopt;
  }

  [[nodiscard]] std::vector<std::int64_t> cluster_shape() const {
    if (launch_.cluster) return *launch_.cluster;
    if (kernel_.required_cluster) return {kernel_.required_cluster->begin(), kernel_.required_cluster->end()};
    return {1, 1, 1};
  }

  // A necessary condition where clusters are used: how they fit the GPU's processing clusters only the driver knows.
  std::optional<Problem> cooperative() {
    if (!launch_.cooperative) return std::nullopt;
    const std::int64_t an_sm = blocks_per_sm(device_, kernel_.registers, threads_, shared_);
    const std::int64_t most = an_sm * device_.sm_count / cluster_blocks_ * cluster_blocks_;
    std::int64_t blocks = 1;
    for (const std::int64_t n : launch_.grid) {
      if (__builtin_mul_overflow(blocks, n, &blocks)) blocks = INT64_MAX;
      if (blocks == INT64_MAX) break;
    }
    if (blocks <= most) return std::nullopt;
    return wrong("a cooperative grid of " + text(blocks) + " blocks, but only " + text(most) + " run at a time (" +
                 text(an_sm) + " an SM, " + text(device_.sm_count) + " SMs): use a smaller grid and loop");
  }

  std::optional<Problem> arguments(const std::vector<Tensor>& tensors) {
    for (std::size_t i = 0; i < launch_.args.size(); ++i) {
      const Value& value = launch_.args[i];
      if (const auto* array = std::get_if<Array>(&value.data)) {
        for (const Value& item : array->items) {
          if (auto problem = layout(item, i, tensors)) return problem;
        }
      }
      if (auto problem = layout(value, i, tensors)) return problem;
      const auto* ref = std::get_if<TensorRef>(&value.data);
      if (ref == nullptr) continue;
      const Tensor& tensor = tensors[static_cast<std::size_t>(ref->id)];
      if (!pointer_reads(kernel_.params[i].pointee, tensor.dtype)) {
        return wrong("argument " + std::to_string(i) + " is a " + tensor.dtype + " tensor, the parameter points to " +
                         kernel_.params[i].pointee,
                     "bad_argument");
      }
    }
    return std::nullopt;
  }

  std::optional<Problem> layout(const Value& value, std::size_t argument, const std::vector<Tensor>& tensors) {
    const auto* ref = std::get_if<TensorRef>(&value.data);
    if (ref == nullptr || ref->strided) return std::nullopt;
    const Tensor& tensor = tensors[static_cast<std::size_t>(ref->id)];
    if (is_dense(tensor)) return std::nullopt;
    return wrong("argument " + std::to_string(argument) + " is a non-dense view (" + tensor_text(tensor) +
                     "): pass .contiguous(), or kg.strided(t) if the kernel uses these strides",
                 "bad_argument");
  }

  const Launch& launch_;
  const Kernel& kernel_;
  const Device& device_;
  std::int64_t threads_ = 0;
  std::int64_t shared_ = 0;
  std::int64_t cluster_blocks_ = 1;
};

}  // namespace

bool pointer_reads(std::string_view pointee, std::string_view dtype) {
  for (const Access& access : kAccess) {
    if (access.pointee == pointee) return lists(access.dtypes, dtype);
  }
  return true;
}

std::optional<Problem> check_launch(const Launch& launch, const std::vector<Tensor>& tensors, const Kernels& kernels,
                                    const Device& device) {
  const auto found = kernels.find(launch.kernel);
  if (found == kernels.end()) {
    std::string known;
    for (const auto& [name, kernel] : kernels) {
      if (known.size() < 200) known += (known.empty() ? "" : ", ") + in_quotes(name);
    }
    return Problem{
        "unknown_kernel",
        "no kernel " + in_quotes(launch.kernel) + " was compiled" + (known.empty() ? "" : "; there is " + known),
        std::nullopt};
  }
  return LaunchCheck(launch, found->second, device).run(tensors);
}

std::vector<TensorId> written_by(const Launch& launch, const Kernels& kernels) {
  const auto kernel = kernels.find(launch.kernel);
  std::vector<TensorId> out;
  for (std::size_t i = 0; i < launch.args.size(); ++i) {
    const bool known = kernel != kernels.end() && i < kernel->second.params.size();
    if (!known || !kernel->second.params[i].is_const.value_or(false)) tensors_of(launch.args[i], out);
  }
  return out;
}

}  // namespace kagent::plan
