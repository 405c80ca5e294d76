// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the module exports for its own Lua module.
#ifndef TEMPLATE_FFI_H
#define TEMPLATE_FFI_H

#include "base/export.h"

// Twice the number: there is nothing to ask here. Any thread.
SB_FFI int template_answer(int question);

#endif
