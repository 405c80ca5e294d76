// SPDX-License-Identifier: GPL-2.0-or-later
//
// Student's t distribution with any number of degrees of freedom; INFINITY is
// the normal distribution. Pure; any thread.
#ifndef SB_STUDENT_H
#define SB_STUDENT_H

// Returns the probability that |T| exceeds |t|, to a relative error of 1e-9:
// the two-sided p value. df > 0. NaN if an argument is NaN.
double sb_student_p(double t, double df);

// Returns the t > 0 that |T| exceeds with probability p, 0 < p < 1, to a
// relative error of 1e-8. df > 0. sb_student_t(0.05, df) is the factor of a
// 95 % interval.
double sb_student_t(double p, double df);

#endif
