// SPDX-License-Identifier: GPL-2.0-or-later
//
// Detects embedded Lua modules of another build than the C code. Increment the
// number when the meaning of a .ffi.h changes.
#ifndef SB_ABI_FFI_H
#define SB_ABI_FFI_H

#include <stdint.h>

#include "base/export.h"

enum { SB_SCRIPT_ABI = 1 };

SB_FFI uint32_t sb_script_abi(void);

#endif
