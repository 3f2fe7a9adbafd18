// Solvers that compute again only what a change affects: transfers (max-min) and parallel tasks.
#pragma once

#include <memory>

#include "../simgrid_internals.hpp"

namespace simgrid::kernel::lmm {

class System;
System* incremental_system(); // maxmin.cpp: what solves again only what a change affects
// bottleneck.cpp: the same for parallel tasks; with a model that comes before SimGrid's, it also ends them.
void share_among_tasks(routing::NetZoneImpl const* zone, bool ends_them);
std::shared_ptr<resource::Model> model_of_tasks();
double remains_of(resource::Action const* action); // of any model

} // namespace simgrid::kernel::lmm
