// For the reference back end.
#pragma once

#include "types.hpp"

namespace driver {

extern PyMethodDef reference_functions[];

} // namespace driver
