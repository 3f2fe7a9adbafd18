// SimGrid's headers that it does not install, and why each is needed. The build recipe keeps them with the library.
#pragma once

// The driver is a model of SimGrid's engine, and what it starts are kernel actions.
#include "src/kernel/EngineImpl.hpp" // all models; the maestro, on which detached puts of SimGrid's actors hang
#include "src/kernel/activity/ActivityImpl.hpp"     // an action tells its end to an ActivityImpl: class Work
#include "src/kernel/resource/CpuImpl.hpp"          // execution_start()
#include "src/kernel/resource/DiskImpl.hpp"         // io_start()
#include "src/kernel/resource/HostImpl.hpp"         // get_cpu()
#include "src/kernel/resource/NetworkModel.hpp"     // communicate()
#include "src/kernel/resource/WifiLinkImpl.hpp"     // rates of hosts on a Wi-Fi link, without which SimGrid aborts
#include "src/kernel/resource/models/ptask_L07.hpp" // latencies of parallel tasks

// The reference back end, and plug-ins that listen to activities.
#include "src/kernel/activity/CommImpl.hpp" // put that has outlived its host; signals of transfers for plug-ins
#include "src/kernel/activity/ExecImpl.hpp" // signals of executions for plug-ins
#include "src/kernel/actor/ActorImpl.hpp"   // the maestro's activities; daemons of plug-ins

// Checks that the rates of SimGrid's default options are right.
#include "src/kernel/lmm/System.hpp"
