// SPDX-License-Identifier: GPL-2.0-or-later
//
// The function that each fuzz target defines; libFuzzer has no header for it.
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

// Processes one input. If that goes wrong, assert() or a sanitizer ends the
// process. Returns 0.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
