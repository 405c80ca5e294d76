#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The classic OLTP mix on documents: reads by id, ranges and writes.

require("sb.mongodb.oltp").declare{reads = true, ranges = true, writes = true}
