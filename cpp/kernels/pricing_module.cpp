// simplugin.pricing._kernels: trees, and the memory of their arrays.

#include "pricing.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>

#include <sys/mman.h>

namespace pricing {

namespace {

constexpr std::size_t HUGE_PAGE = std::size_t{1} << 21;

Side side_of(Integers const& resources, Floats const& capacity)
{
  std::size_t const agents = resources.size(), count = capacity.size();
  Side side{Buffer<std::int32_t>(agents), Buffer<std::int32_t>(count), Buffer<double>(count), 0};
  std::vector<std::int32_t> number(count, -1);
  std::int32_t next = 0;
  auto const use    = [&](std::int64_t resource) {
    if (number[resource] < 0) {
      side.resource[next] = static_cast<std::int32_t>(resource);
      side.capacity[next] = capacity.data()[resource];
      number[resource]    = next++;
    }
    return number[resource];
  };
  for (std::size_t i = 0; i < agents; i++)
    side.place[i] = resources.data()[i] < 0 ? -1 : use(resources.data()[i]);
  side.used = static_cast<std::size_t>(next);
  for (std::size_t resource = 0; resource < count; resource++)
    use(static_cast<std::int64_t>(resource));
  return side;
}

} // namespace

double const* values_of(Floats const& array, std::size_t size, char const* name)
{
  if (static_cast<std::size_t>(array.size()) != size)
    throw std::invalid_argument(std::string(name) + " must have " + std::to_string(size) + " values");
  return array.data();
}

void* allocate(std::size_t bytes)
{
  bool const large = bytes >= 2 * HUGE_PAGE;
  void* memory     = nullptr;
  if (posix_memalign(&memory, large ? HUGE_PAGE : 64, std::max<std::size_t>(bytes, 1)) != 0)
    throw std::bad_alloc();
  if (large)
    madvise(memory, bytes, MADV_HUGEPAGE);
  return memory;
}

Buffer<double> Pool::take(std::size_t size)
{
  auto const found = std::find_if(free_.begin(), free_.end(), [size](auto const& each) { return each.size() == size; });
  if (found == free_.end())
    return Buffer<double>(size);
  Buffer<double> memory = std::move(*found);
  free_.erase(found);
  return memory;
}

Floats Trees::array(std::vector<std::size_t> const& shape) const
{
  std::size_t size = 1;
  for (std::size_t const length : shape)
    size *= length;
  auto lease         = std::make_unique<Scratch<double>>(pool_, size);
  double* const data = lease->data();
  py::capsule const owner(lease.release(), [](void* pointer) { delete static_cast<Scratch<double>*>(pointer); });
  return Floats(std::vector<py::ssize_t>(shape.begin(), shape.end()), data, owner);
}

Trees::Trees(Integers const& application, Integers const& parents, Integers const& host, Integers const& link,
             Flags const& computing, Integers const& roots, Floats const& speed, Floats const& bandwidth)
    : parent(parents.size()), computes(parents.size()), masters(roots.data(), roots.data() + roots.size()),
      sides{side_of(host, speed), side_of(link, bandwidth)}, trees_(masters.size())
{
  if (agents() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
    throw std::invalid_argument("there are too many agents");
  std::int64_t level_start = 0;
  std::size_t level        = 0;
  Run whole{0, 0, 0, 0, true};
  auto const end_run = [&](std::size_t last) {
    if (whole.first == last)
      return;
    whole.last = last;
    trees_[whole.application].push_back(whole);
    for (std::size_t first = whole.first; first < last; first += SHORT) {
      Run run{first, std::min(first + SHORT, last), whole.application, whole.level};
      run.computes =
          std::all_of(computes.data() + run.first, computes.data() + run.last, [](bool each) { return each; });
      runs_.push_back(run);
    }
  };
  for (std::size_t i = 0; i < agents(); i++) {
    parent[i]      = static_cast<std::int32_t>(parents.data()[i]);
    computes[i]    = computing.data()[i];
    auto const own = static_cast<std::size_t>(application.data()[i]);
    // Agents are in the order of levels: the first child of a level begins the next.
    bool const deeper = parents.data()[i] >= level_start && parents.data()[i] >= 0;
    if (deeper || own != whole.application) {
      end_run(i);
      if (deeper) {
        level_start = static_cast<std::int64_t>(i);
        level++;
      }
      whole = {i, i, own, level, true};
    }
  }
  end_run(agents());
}

} // namespace pricing

PYBIND11_MODULE(_kernels, module)
{
  using namespace pricing;
  py::class_<Trees> trees(module, "Trees");
  trees
      .def(py::init<Integers, Integers, Integers, Integers, Flags, Integers, Floats, Floats>(), py::arg("application"),
           py::arg("parent"), py::arg("host"), py::arg("link"), py::arg("computes"), py::arg("masters"),
           py::arg("speed"), py::arg("bandwidth"))
      .def_readwrite("threads", &Trees::threads);
  register_gradient(trees);
  register_market(trees);
}
