// A profile that is named by an absolute path.
// Expected: loaded
// Found: SIGABRT, Cannot open file
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <simgrid/s4u.hpp>

namespace s4u = simgrid::s4u;

char const* const platform = R"(<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
<zone id="world" routing="Full">
  <host id="ada" speed="1Gf" speed_file="@"/>
</zone>
</platform>
)";

int main(int argc, char* argv[])
{
  s4u::Engine engine(&argc, argv);
  auto const profile = std::filesystem::current_path() / "profile.txt";
  std::ofstream(profile) << "1 0.5\n";
  std::string text = platform;
  text.replace(text.find('@'), 1, profile);
  std::ofstream("profile-path.xml") << text;
  engine.load_platform("profile-path.xml");
  std::printf("loaded\n");
  return 0;
}
