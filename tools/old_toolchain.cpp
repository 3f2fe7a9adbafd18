// What the libstdc++ of GCC 10 has and that of GCC 8 lacks; tools/old_toolchain.py has it linked into what needs it.
#include <sstream>
#include <stdexcept>

template std::basic_istringstream<char>::basic_istringstream();
template std::basic_ostringstream<char>::basic_ostringstream();
template std::basic_stringstream<char>::basic_stringstream();

// Its text is shared by all copies: to copy it is to move it.
std::runtime_error::runtime_error(std::runtime_error &&other) noexcept
    : runtime_error(static_cast<const std::runtime_error &>(other)) {}
