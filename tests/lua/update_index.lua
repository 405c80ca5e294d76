#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- One UPDATE of the indexed column per event, with the options of 0.5.

require("sb.legacy").declare_single("index_updates")
