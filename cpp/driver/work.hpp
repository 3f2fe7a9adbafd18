// Kernel actions: what occupies hosts and links.
#pragma once

#include <vector>

#include "activity.hpp"

namespace driver {

/// The running kernel action of an activity; SimGrid calls finish() when the action ends. Pooled.
class Work final : public simgrid::kernel::activity::ActivityImpl {
public:
  Ref<Activity> owner; // while it runs
  s4u::ExecPtr shadow; // what plug-ins see of an execution, if any listens
  Work* next_free = nullptr;
  void finish() override;
  double remaining() const;
  double remaining_at(double date) const; // without bringing SimGrid up to date; NaN if SimGrid does not tell
  void release();
};

void start_execution(Activity* activity);
void start_disk_operation(Activity* activity);
void migrate_execution(Activity* activity, Host* host);
void prioritise(Activity* activity, double priority);                      // an execution, read or write
void note_use_by(Activity const* activity, int executions, int suspended); // of hosts, by an execution
bool start_parallel(Activity* activity);
bool takes_parallel_tasks();
bool require_load();                         // of hosts; false with an exception set where SimGrid does not know it
bool takes_threads_and_bounds();             // of executions
std::vector<Activity*> in_progress();        // what occupies hosts and links, in order of creation
void fail_transfers(s4u::Host const* host);  // the direct ones from or to a host that went off
void fail_executions(s4u::Host const* host); // all that is left there
/// A transfer from activity->source to activity->destination; `partner` is the other side, or nullptr.
void start_transfer(Activity* activity, Activity* partner);

} // namespace driver
