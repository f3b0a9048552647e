// The compiled kernels of an answer, loaded into the current context, and their launches with arguments packed in
// advance.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/plan/kernels.h"
#include "harness/plan/pack.h"
#include "harness/plan/plan.h"

namespace kagent::execute {

class KernelModule {
 public:
  // `cubin`: or PTX, which the driver compiles. Throws RunError (driver, launch_error).
  explicit KernelModule(const std::string& cubin);
  ~KernelModule();
  KernelModule(const KernelModule&) = delete;
  KernelModule& operator=(const KernelModule&) = delete;

  // The function of this symbol, allowed `shared_bytes` of dynamic shared memory.
  CUfunction function(const std::string& symbol, int shared_bytes);
  // The most bytes of local memory that a thread of any function asked for so far uses (spills, arrays, stack).
  [[nodiscard]] int local_bytes() const { return local_bytes_; }

 private:
  CUmodule module_ = nullptr;
  std::map<std::string, int> shared_;  // what each function was allowed so far
  int local_bytes_ = 0;
};

// One launch of a plan, ready but for the addresses of its tensors.
class PreparedLaunch {
 public:
  PreparedLaunch(const plan::Launch& launch, const plan::Kernel& kernel, KernelModule& module, std::optional<int> line);

  // `address(id)` gives a tensor's data address. Throws RunError.
  template <typename Address>
  void run(CUstream stream, Address&& address) {
    fill(address);
    start(stream);
  }

  // Writes the addresses into the packed arguments.
  template <typename Address>
  void fill(Address&& address) {
    for (const Pointer& p : pointers_) *p.where = address(p.tensor);
  }

  void start(CUstream stream);
  // The parameters of a graph node that does the same as start() with the addresses last filled in.
  CUDA_KERNEL_NODE_PARAMS node_params();

  // The addresses last filled in, in the order of the arguments.
  [[nodiscard]] std::vector<void*> addresses() const;

  [[nodiscard]] bool uses(plan::TensorId id) const;

 private:
  struct Pointer {
    void** where;
    plan::TensorId tensor;
  };
  CUfunction function_;
  std::string name_;
  std::optional<int> line_;
  std::vector<std::unique_ptr<std::byte[]>> bytes_;  // one a parameter, aligned for any type
  std::vector<void*> params_;
  std::vector<Pointer> pointers_;
  CUlaunchConfig config_ = {};
  CUlaunchAttribute attributes_[2] = {};
};

}  // namespace kagent::execute
