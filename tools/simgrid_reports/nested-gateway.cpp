// A site of two clusters, one and two, whose gateway is the host of the second; ada is in the first.
// Expected: ada to eve: inner outer
// Found: SIGSEGV
#include <cstdio>
#include <simgrid/s4u.hpp>

namespace s4u = simgrid::s4u;

int main(int argc, char* argv[])
{
  s4u::Engine engine(&argc, argv);
  auto* world = engine.get_netzone_root()->add_netzone_full("world");
  auto* site  = world->add_netzone_full("site");
  auto* other = world->add_netzone_full("other");
  auto* one   = site->add_netzone_full("one");
  auto* two   = site->add_netzone_full("two");
  auto* ada   = one->add_host("ada", 1e9);
  auto* bob   = two->add_host("bob", 1e9);
  auto* eve   = other->add_host("eve", 1e9);
  one->set_gateway(ada->get_netpoint());
  two->set_gateway(bob->get_netpoint());
  site->set_gateway(bob->get_netpoint());
  other->set_gateway(eve->get_netpoint());
  site->add_route(one, two, {site->add_link("inner", 1e9)});
  world->add_route(site, other, {world->add_link("outer", 1e9)});
  engine.get_netzone_root()->seal();
  std::vector<s4u::Link*> links;
  ada->route_to(eve, links, nullptr);
  std::printf("ada to eve:");
  for (auto const* link : links)
    std::printf(" %s", link->get_cname());
  std::printf("\n");
  return 0;
}
