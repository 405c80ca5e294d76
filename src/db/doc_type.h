// SPDX-License-Identifier: GPL-2.0-or-later
//
// Constants of doc.ffi.h, available to Lua by name.
#ifndef SB_DOC_TYPE_H
#define SB_DOC_TYPE_H

enum sb_doc_type {
    SB_DOC_NULL,
    SB_DOC_INT,     // i
    SB_DOC_DOUBLE,  // d: a Lua number, see sb_doc_compile()
    SB_DOC_TEXT,    // s, len bytes of UTF-8
    SB_DOC_BOOL,    // i
    SB_DOC_ELEMENT, // s: a BSON type byte and the value; len: of both
};

#endif
