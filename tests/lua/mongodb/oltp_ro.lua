#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The reads of the classic OLTP mix on documents: by id and by range.

require("sb.mongodb.oltp").declare{reads = true, ranges = true}
