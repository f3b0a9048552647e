// The processes of a judge as scripts that talk the protocol and do what a test wants.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "agent/base/file.h"

namespace kagent {

// Into `folder`: tracer, compiler and fork server that answer every request at once, and workers whose main() is in
// `worker` (Python; `answers.serve(reply)` answers each request by reply(request)). `kernels`: the names that the plan
// launches, as a Python list.
inline void put_fake_harness(const std::string& folder, const std::string& kernels, const std::string& worker) {
  const auto put = [&](const char* name, const std::string& text) {
    ASSERT_TRUE(write_file(folder + "/" + name, text).ok());
  };
  const std::string here = folder + "/harness";
  put("harness/answers.py", R"(import json, os, sys
def serve(reply):
    for line in sys.stdin:
        print(json.dumps(reply(json.loads(line))), flush=True)
)");
  put("harness/trace.py",
      "import answers\nanswers.serve(lambda r: {'ok': True, 'plan': '{}', 'kernels': " + kernels + "})\n");
  put("compile", "#!/usr/bin/env python3\nimport sys\nsys.path.insert(0, '" + here +
                     "')\nimport answers\nanswers.serve(lambda r: {'ok': True, 'lint': {'findings': []}})\n");
  std::filesystem::permissions(folder + "/compile", std::filesystem::perms::owner_all);
  put("harness/fork_server.py",
      "import sys\nsys.path[:0] = ['" KAGENT_SOURCE_DIR "/harness', '" + here +
          "']\nimport importlib.util\n"
          "spec = importlib.util.spec_from_file_location('real', '" KAGENT_SOURCE_DIR
          "/harness/fork_server.py')\n"
          "real = importlib.util.module_from_spec(spec)\nspec.loader.exec_module(real)\n"
          "sys.path.insert(0, '" +
          here +
          "')\n"
          "real.PROGRAMS = {'worker.py': 'fake_worker'}\nreal.preload = lambda: None\nreal.main()\n");
  put("harness/fake_worker.py", worker);
}

}  // namespace kagent
