// Two chassis of two routers with one node each: 0 and 1 in the first, 2 and 3 in the second one.
// Expected: node-2 to node-3: local green local
// Found: node-2 to node-3: local green black local
#include <cstdio>
#include <simgrid/s4u.hpp>

namespace s4u = simgrid::s4u;

int main(int argc, char* argv[])
{
  s4u::Engine engine(&argc, argv);
  auto* zone = engine.get_netzone_root()->add_netzone_dragonfly("fly", {1, 1}, {2, 1}, {2, 1}, 1, 1e9, 0,
                                                                s4u::Link::SharingPolicy::SHARED);
  zone->set_host_cb([](s4u::NetZone* fly, std::vector<unsigned long> const&, unsigned long id) {
    return fly->add_host("node-" + std::to_string(id), 1e9);
  });
  zone->seal();

  for (auto const* source : engine.get_all_hosts())
    for (auto const* destination : engine.get_all_hosts())
      if (source != destination) {
        std::vector<s4u::Link*> links;
        source->route_to(destination, links, nullptr);
        std::printf("%s to %s:", source->get_cname(), destination->get_cname());
        for (auto const* link : links)
          std::printf(" %.5s", link->get_cname()); // local, green in a chassis, black between chassis
        std::printf("\n");
      }
  return 0;
}
