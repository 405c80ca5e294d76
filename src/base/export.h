// SPDX-License-Identifier: GPL-2.0-or-later
//
// SB_FFI marks a C function that Lua calls: it is declared in a .ffi.h file
// and exported from the executable. The build removes the mark and
// preprocessor lines when it embeds the file as cdef text.
#ifndef SB_EXPORT_H
#define SB_EXPORT_H

#if defined(__GNUC__)
#define SB_FFI __attribute__((visibility("default")))
#else
#define SB_FFI
#endif

#endif
