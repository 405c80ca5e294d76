// SPDX-License-Identifier: GPL-2.0-or-later
//
// Looking at growing data after each value: how small the p value of a look has
// to be, so that the chance of an error at any look is at most alpha. A group
// sequential design with alpha spending (Armitage, McPherson and Rowe 1969; Lan
// and DeMets 1983). docs/internals/pairs.md has the spending function and how
// often it errs. Pure; one thread at a time.
#ifndef SB_SEQUENTIAL_H
#define SB_SEQUENTIAL_H

struct sb_sequential;

// The first look is at this number of values.
#define SB_SEQUENTIAL_FIRST 5u

// alpha: the two-sided chance of an error over all looks, above 0 and below 1.
// planned: the number of values after which nine tenths of alpha are spent, at
// least SB_SEQUENTIAL_FIRST; later looks share the rest, however many there
// are. 0 with a design in *out, or SB_ENOMEM.
int sb_sequential_new(
    double alpha, unsigned planned, struct sb_sequential **out);
void sb_sequential_free(struct sb_sequential *s); // NULL is allowed

// Returns the two-sided level of the look at n values: an interval of 1 - level
// may be used there. 0: no look, because n is below SB_SEQUENTIAL_FIRST, or
// out of memory. Takes some ms for each look before n that was not asked yet.
double sb_sequential_level(struct sb_sequential *s, unsigned n);

#endif
