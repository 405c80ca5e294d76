// SPDX-License-Identifier: GPL-2.0-or-later
//
// The name under which src/db and drivers/mysql include kit/buf.h.
#include "kit/buf.h"
