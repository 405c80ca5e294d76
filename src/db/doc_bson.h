// SPDX-License-Identifier: GPL-2.0-or-later
//
// The name under which src/db includes kit/bson.h.
#include "kit/bson.h"
