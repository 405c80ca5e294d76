// SPDX-License-Identifier: GPL-2.0-or-later
//
// What every fuzz target defines; libFuzzer brings no header for it.
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

// One input. Ends the process by assert() or a sanitizer when something is
// wrong with how it was read; returns 0.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
