// Mirrors: c10/macros/Export.h
//
// The library is built with hidden visibility; these macros mark what a C++ extension may call. Left out: Windows'
// import and export.
#pragma once

#define C10_API __attribute__((visibility("default")))
#define TORCH_API __attribute__((visibility("default")))
