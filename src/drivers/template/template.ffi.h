// SPDX-License-Identifier: GPL-2.0-or-later
//
// Functions that the module exports for its Lua module.
#ifndef TEMPLATE_FFI_H
#define TEMPLATE_FFI_H

#include "base/export.h"

// An example: returns twice the number. Any thread.
SB_FFI int template_answer(int question);

#endif
