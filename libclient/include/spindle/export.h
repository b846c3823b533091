// What a shared library shows of itself: everything else is compiled as hidden.
#pragma once

/// Before a class or a function that programs may use and that is not defined in a header.
#define SPINDLE_EXPORT __attribute__((visibility("default")))
/// Before what is declared within such a class and is not for programs.
#define SPINDLE_HIDDEN __attribute__((visibility("hidden")))
