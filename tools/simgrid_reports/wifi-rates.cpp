// A station of 18 Mbit/s sends 1 MB each to ada, behind a wire of 1 MB/s, and to bob, behind one of 4 MB/s. Of the
// station's 2.25 MB/s, 1.25 MB/s are left for the transfer to bob.
// With: --cfg=network/crosstraffic:0 --cfg=network/bandwidth-factor:1 --cfg=network/latency-factor:1
// Expected: bob has it at 0.900 s
// Found: bob has it at 0.350 s
#include <cstdio>
#include <fstream>
#include <simgrid/s4u.hpp>

namespace s4u = simgrid::s4u;

char const* const platform = R"(<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
<zone id="world" routing="Full">
  <zone id="air" routing="Wifi">
    <prop id="access_point" value="ap"/>
    <host id="station" speed="1Gf"/>
    <link id="cell" sharing_policy="WIFI" bandwidth="18Mbps" latency="0ms"/>
    <router id="ap"/>
  </zone>
  <zone id="first" routing="Full"><host id="ada" speed="1Gf"/></zone>
  <zone id="second" routing="Full"><host id="bob" speed="1Gf"/></zone>
  <link id="slow" bandwidth="1MBps" latency="100ms"/>
  <link id="fast" bandwidth="4MBps" latency="100ms"/>
  <zoneRoute src="air" dst="first" gw_src="ap" gw_dst="ada"><link_ctn id="slow"/></zoneRoute>
  <zoneRoute src="air" dst="second" gw_src="ap" gw_dst="bob"><link_ctn id="fast"/></zoneRoute>
</zone>
</platform>
)";

int main(int argc, char* argv[])
{
  s4u::Engine engine(&argc, argv);
  std::ofstream("wifi-rates.xml") << platform;
  engine.load_platform("wifi-rates.xml");
  auto* station = engine.host_by_name("station");
  s4u::Link::by_name("cell")->set_host_wifi_rate(station, 0);
  for (char const* name : {"ada", "bob"})
    station->add_actor(name, [&engine, station, name] {
      s4u::Comm::sendto(station, engine.host_by_name(name), 1000000);
      std::printf("%s has it at %.3f s\n", name, s4u::Engine::get_clock());
    });
  engine.run();
  return 0;
}
