// What is kept of a run: totals of hosts and links, and the trace.
#pragma once

#include <string>

#include "activity.hpp"

namespace driver {

double host_energy(s4u::Host const* host); // J, NaN without wattages
void note_energy(s4u::Host const* host);   // before its load changes, where the plug-in does not notice
double link_energy(s4u::Link const* link); // J, NaN where SimGrid does not measure it
bool note_link_watts();                    // of links that are off; false with an exception set
/// Notes how many executions more a host has, how many of them are suspended, and whether its speed is 0.
void note_use(Host* host, int executions, int suspended, bool stopped);
void record(Activity* activity, State outcome, double amount);
std::string resource_name(Activity const* activity); // in the trace
PyObject* collect();

} // namespace driver
