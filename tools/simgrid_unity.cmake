# Several source files of SimGrid are compiled at a time, which takes a third of the time. Each file has a default
# category of log messages, a static variable: CMake gives it another name for each. Functions of some plugins have the
# same names, and one file defines what others declare.
function(simplugin_unity)
  get_target_property(sources simgrid SOURCES)
  list(FILTER sources INCLUDE REGEX "^src/plugins/|/xbt_misc.cpp")
  set_source_files_properties(${sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  set_target_properties(simgrid PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8
                        UNITY_BUILD_UNIQUE_ID _misuse_of_XBT_LOG_macros_detected__default)
endfunction()
cmake_language(DEFER CALL simplugin_unity)
