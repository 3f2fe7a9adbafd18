// Operations that are never awaited.
#pragma once

#include <cstdint>

#include "actor.hpp"
#include "simulation.hpp"

namespace driver {

void note_place(PyObject const* operation);
void forget_place(PyObject const* operation);
/// A new operation; returns how many exceptions its creator has caught so far.
inline uint32_t expect_await(PyObject const* operation, Actor const* creator)
{
  sim.expected_awaits++;
  if (sim.locating)
    note_place(operation);
  return creator == nullptr ? 0 : creator->exceptions;
}
inline void awaited(PyObject const* operation)
{
  sim.expected_awaits--;
  if (sim.locating)
    forget_place(operation);
}
/// It goes away; an error unless an exception or a kill is the reason.
void never_awaited(PyObject* operation, Actor const* creator, uint32_t exceptions);
extern PyMethodDef unawaited_functions[];

} // namespace driver
