// Hosts of speed 0, and links and disks of bandwidth 0.
#pragma once

#include <memory>

#include "types.hpp"

namespace driver {

constexpr double NOTHING = 1e-250; // what SimGrid has for a capacity of 0 [flop/s or byte/s]
void note_zero_capacity();         // from now on, also of what the platform's file says
void read_zero_capacity();         // once the platform is loaded
std::shared_ptr<simgrid::kernel::resource::Model> model_of_zero_capacity();
bool is_stopped(simgrid::kernel::lmm::Constraint const* constraint);
bool stands_still(Action const& action); // and no profile changes that
double load_of(double used);             // without what passes where nothing passes
double bandwidth_of(s4u::Link const* link);
void set_bandwidth(s4u::Link* link, double bandwidth);
void set_bandwidth(s4u::Disk* disk, double bandwidth, bool of_reading);

} // namespace driver
