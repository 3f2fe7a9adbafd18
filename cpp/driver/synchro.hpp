// Synchronisation in simulated time: mutex, semaphore, condition variable, barrier.
#pragma once

#include "types.hpp"

namespace driver {

extern PyTypeObject MutexType;
extern PyTypeObject SemaphoreType;
extern PyTypeObject ConditionType;
extern PyTypeObject BarrierType;

bool start_synchro(Activity* activity);
void condition_timed_out(Activity* activity);
void give_back(Activity* activity, Actor* actor);

} // namespace driver
