#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Reads, sums, sorts and finds distinct values of ranges of documents.

require("sb.mongodb.oltp").declare{ranges = true}
