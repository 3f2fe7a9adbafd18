// The user's functions: shares, factors and monitors.
#pragma once

#include "types.hpp"

namespace driver {

/// An activity that has ended, for the monitor if there is one; kind and state as in the trace.
void announce(Activity const* activity, int kind, int state, double amount);
void tell_monitors(); // and ends the run if a callback has failed
extern PyMethodDef callback_functions[];

} // namespace driver
