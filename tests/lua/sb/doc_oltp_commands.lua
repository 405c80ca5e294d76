-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The commands of the document workloads whose documents are the rows of the
-- SQL workloads.

return require("sb.doc_commands").of(require("sb.doc_tables").derive{})
