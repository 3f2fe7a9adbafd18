// Three groups of two routers: none of them leads to the third group.
// Expected: SIGABRT, groups
// Found: SIGSEGV
#include <cstdio>
#include <simgrid/s4u.hpp>

namespace s4u = simgrid::s4u;

int main(int argc, char* argv[])
{
  s4u::Engine engine(&argc, argv);
  auto* zone = engine.get_netzone_root()->add_netzone_dragonfly("fly", {3, 1}, {1, 1}, {2, 1}, 1, 1e9, 0,
                                                                s4u::Link::SharingPolicy::SHARED);
  zone->set_host_cb([](s4u::NetZone* fly, std::vector<unsigned long> const&, unsigned long id) {
    return fly->add_host("node-" + std::to_string(id), 1e9);
  });
  zone->seal();

  std::vector<s4u::Link*> links;
  engine.host_by_name("node-0")->route_to(engine.host_by_name("node-4"), links, nullptr);
  for (auto const* link : links)
    std::printf("%s\n", link->get_cname());
  return 0;
}
