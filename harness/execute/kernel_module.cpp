#include "harness/execute/kernel_module.h"

#include <algorithm>
#include <cstring>

#include "harness/execute/driver.h"
#include "harness/execute/run_error.h"

namespace kagent::execute {

namespace {

// The loaded kernel's own parameters against what a launch passes: the facts of the PTX were read from text.
void hold_parameters(CUfunction function, const std::vector<plan::PackedArg>& args, const std::string& kernel,
                     std::optional<int> line) {
  std::size_t offset = 0;
  std::size_t size = 0;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const CUresult result = driver().param_info(function, i, &offset, &size);
    if (result == CUDA_SUCCESS && size == args[i].bytes.size()) continue;
    throw RunError("launch_error",
                   kernel + ": argument " + std::to_string(i) + " is " + std::to_string(args[i].bytes.size()) +
                       " bytes, the loaded kernel takes " +
                       (result == CUDA_SUCCESS ? std::to_string(size) : std::string("none")) + " there",
                   line);
  }
  if (driver().param_info(function, args.size(), &offset, &size) == CUDA_SUCCESS)
    throw RunError("launch_error",
                   kernel + ": the loaded kernel takes more than " + std::to_string(args.size()) + " arguments", line);
}

}  // namespace

KernelModule::KernelModule(const std::string& cubin) {
  check(driver().module_load(&module_, cubin.data()), "cuModuleLoadData");
}

KernelModule::~KernelModule() {
  if (module_ != nullptr) driver().module_unload(module_);  // fails only in a context that is lost anyway
}

CUfunction KernelModule::function(const std::string& symbol, int shared_bytes) {
  CUfunction found = nullptr;
  check(driver().module_function(&found, module_, symbol.c_str()), "cuModuleGetFunction");
  int local = 0;
  check(driver().get_attribute(&local, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, found), "cuFuncGetAttribute");
  local_bytes_ = std::max(local_bytes_, local);
  int& allowed = shared_[symbol];
  if (shared_bytes > allowed) {
    check(driver().set_attribute(found, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared_bytes),
          "cuFuncSetAttribute");
    allowed = shared_bytes;
  }
  return found;
}

PreparedLaunch::PreparedLaunch(const plan::Launch& launch, const plan::Kernel& kernel, KernelModule& module,
                               std::optional<int> line)
    : function_(module.function(kernel.symbol, static_cast<int>(launch.shared_bytes))),
      name_(launch.kernel),
      line_(line) {
  plan::Packed packed = plan::pack(launch, kernel);
  if (const auto* problem = std::get_if<plan::Problem>(&packed)) throw RunError("launch_error", problem->message, line);
  const auto& args = std::get<std::vector<plan::PackedArg>>(packed);
  hold_parameters(function_, args, launch.kernel, line);
  for (const plan::PackedArg& arg : args) {
    bytes_.push_back(std::make_unique<std::byte[]>(std::max<std::size_t>(arg.bytes.size(), 8)));
    std::memcpy(bytes_.back().get(), arg.bytes.data(), arg.bytes.size());
    params_.push_back(bytes_.back().get());
    for (const auto& [offset, tensor] : arg.pointers) {
      pointers_.push_back({reinterpret_cast<void**>(bytes_.back().get() + offset), tensor});
    }
  }
  config_.gridDimX = static_cast<unsigned>(launch.grid[0]);
  config_.gridDimY = static_cast<unsigned>(launch.grid[1]);
  config_.gridDimZ = static_cast<unsigned>(launch.grid[2]);
  config_.blockDimX = static_cast<unsigned>(launch.block[0]);
  config_.blockDimY = static_cast<unsigned>(launch.block[1]);
  config_.blockDimZ = static_cast<unsigned>(launch.block[2]);
  config_.sharedMemBytes = static_cast<unsigned>(launch.shared_bytes);
  config_.attrs = attributes_;
  if (launch.cluster) {
    CUlaunchAttribute& a = attributes_[config_.numAttrs++];
    a.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    a.value.clusterDim = {static_cast<unsigned>((*launch.cluster)[0]), static_cast<unsigned>((*launch.cluster)[1]),
                          static_cast<unsigned>((*launch.cluster)[2])};
  }
  if (launch.cooperative) {
    CUlaunchAttribute& a = attributes_[config_.numAttrs++];
    a.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    a.value.cooperative = 1;
  }
}

void PreparedLaunch::start(CUstream stream) {
  config_.hStream = stream;
  config_.attrs = attributes_;
  const CUresult result = driver().launch(&config_, function_, params_.data(), nullptr);
  if (result != CUDA_SUCCESS) check(result, name_.c_str(), line_);
}

CUDA_KERNEL_NODE_PARAMS PreparedLaunch::node_params() {
  CUDA_KERNEL_NODE_PARAMS p = {};
  p.func = function_;
  p.gridDimX = config_.gridDimX;
  p.gridDimY = config_.gridDimY;
  p.gridDimZ = config_.gridDimZ;
  p.blockDimX = config_.blockDimX;
  p.blockDimY = config_.blockDimY;
  p.blockDimZ = config_.blockDimZ;
  p.sharedMemBytes = config_.sharedMemBytes;
  p.kernelParams = params_.data();
  return p;
}

std::vector<void*> PreparedLaunch::addresses() const {
  std::vector<void*> out;
  out.reserve(pointers_.size());
  for (const Pointer& p : pointers_) out.push_back(*p.where);
  return out;
}

bool PreparedLaunch::uses(plan::TensorId id) const {
  return std::any_of(pointers_.begin(), pointers_.end(), [id](const Pointer& p) { return p.tensor == id; });
}

}  // namespace kagent::execute
