// SPDX-License-Identifier: GPL-2.0-or-later
//
// The document of the json reporter, for reporters that put it into something
// else: they call the functions of sb__json_kind, and write at the end. Main
// thread.
#ifndef SB_JSON_DOCUMENT_H
#define SB_JSON_DOCUMENT_H

#include "out/reporter.h"
#include "out/target.h"

// Writes the document to out. SB_ENOMEM, or SB_ESYS if what was kept cannot be
// read. The caller checks the stream.
int sb__json_document(struct sb_reporter *r, const struct sb_outcome *o,
    FILE *out, struct sb_err *err);
// The file that sb__json_kind.open() opened.
struct sb_target *sb__json_target(struct sb_reporter *r);

#endif
