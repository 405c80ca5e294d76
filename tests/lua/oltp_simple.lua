#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- One SELECT of c by primary key per event, with the options of 0.5.

require("sb.legacy").declare_single("point_selects")
