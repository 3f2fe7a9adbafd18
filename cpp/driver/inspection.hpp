// The state of a simulation that pauses.
#pragma once

#include "types.hpp"

namespace driver {

extern PyMethodDef inspection_functions[];

} // namespace driver
