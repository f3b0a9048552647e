// A job array as Slurm's queue shows it, followed until it is gone.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/base/result.h"

namespace kagent::slurm {

struct Element {
  std::string id;      // "123_4"
  std::string state;   // "RUNNING", "PENDING", ...
  std::string reason;  // why it waits: "Resources", "Priority", ...; "None"
};

// The elements of this user's jobs of that name that wait or run. None: all have ended, whichever way, which the run's
// log tells (an accounting database is not asked: many clusters have none). Errors: kUsage (no Slurm here), kIo.
Result<std::vector<Element>> queued(const std::string& job_name);

// squeue's lines "id|state|reason"; others are left out.
std::vector<Element> parse_queue(std::string_view text);

// "2 running, 3 pending (Resources)".
std::string queue_line(const std::vector<Element>& elements);

struct FollowHooks {
  std::function<bool()> stopped;              // asked between looks; the jobs run on
  std::function<void(std::string_view)> say;  // when the queue has changed
  double look_every_s = 5;
  double patience_s = 600;  // how long a controller may be gone (restarted, say) before that is an error
};

// Returns once none is queued. Errors: kCancelled (stopped); queued()'s after `patience_s`.
Status follow(const std::string& job_name, const FollowHooks& hooks);

}  // namespace kagent::slurm
