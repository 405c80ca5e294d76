#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Ranges of documents: read, summed, sorted, distinct.

require("sb.doc_oltp").declare{ranges = true}
