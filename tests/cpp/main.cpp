// Mirrors: nothing in PyTorch: its C++ tests use GoogleTest's main.
// The one file that compiles doctest itself; every other *_test.cpp only includes its header.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
