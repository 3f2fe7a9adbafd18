// Hosts, links and routes as actors see them.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "types.hpp"

namespace driver {

struct Host {
  PyObject ob_base{}; // PyObject_HEAD
  s4u::Host* host = nullptr;
  Ref<> properties;
  Actor* actors = nullptr;
  std::vector<Actor*> boot;    // borrowed: started again each time the host comes back
  Pair* last_pair   = nullptr; // of a transfer from here; the first thing to look at
  int index         = 0;
  int running       = 0;     // executions in progress
  int suspended     = 0;     // of those
  bool stopped      = false; // its speed is 0
  double busy_since = 0.0;
  double busy       = 0.0; // s
  double flops      = 0.0;
};

extern PyTypeObject HostType;
extern PyTypeObject LinkType;

/// All hosts in the order of their names, and all links. SimGrid looks for them anew each time.
std::vector<s4u::Host*> const& platform_hosts();
std::vector<s4u::Link*> const& platform_links();
Host* host_of(s4u::Host const* host);                             // borrowed: lives as long as the simulation
Host* host_argument(PyObject* value, Host* standard);             // Host, name or None; nullptr with an exception set
bool set_available_speed(s4u::Host const* host, PyObject* value); // false with an exception set
PyObject* concurrency_limit(simgrid::kernel::lmm::Constraint const* of);
int limit_concurrency(simgrid::kernel::lmm::Constraint* of, PyObject* value); // -1 with an exception set
/// Changes the platform; from an actor of the reference back end that is a request to maestro, and others run
/// meanwhile. False with an exception set if it has killed the actor.
bool change(std::function<void()> const& body);
PyObject* link_object(s4u::Link* link);
PyObject* link_named(PyObject* name);
PyObject* all_hosts();
PyObject* all_links();
PyObject* find_route(Host* source, Host* destination);

/// A dictionary that is made once.
PyObject* properties_dict(Ref<>& cache, std::unordered_map<std::string, std::string> const* properties);

/// Texts of SimGrid for Python; none with a PlatformError set if it is not UTF-8.
Ref<> text(std::string const& value);
bool put(PyObject* dict, const char* key, Ref<> const& value); // false with an exception set

} // namespace driver
