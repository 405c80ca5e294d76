#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The writes of the classic OLTP mix on documents: updates and upserts.

require("sb.mongodb.oltp").declare{writes = true}
