// A directive that is wrong is refused at the word that is wrong, with what to write instead.

// RUN: accopt %s -DCASE=1 --verify-diagnostics | filecheck %s --check-prefix=MISSPELT
// RUN: accopt %s -DCASE=2 --verify-diagnostics | filecheck %s --check-prefix=MISPLACED
// RUN: accopt %s -DCASE=3 --verify-diagnostics | filecheck %s --check-prefix=CONTINUED
// RUN: accopt %s -DCASE=4 --verify-diagnostics | filecheck %s --check-prefix=EXCLUSIVE
// RUN: accopt %s -DCASE=5 --verify-diagnostics | filecheck %s --check-prefix=OPERATOR
// RUN: accopt %s -DCASE=6 --verify-diagnostics | filecheck %s --check-prefix=MISSING

#define N 1000000

void f(int n, double *a) {
#if CASE == 1
// A misspelt directive: the nearest one is suggested.
// MISSPELT: directives-invalid.c:[[# @LINE + 1]]:13: error: unknown directive 'paralel'; did you mean 'parallel'?
#pragma acc paralel loop

#elif CASE == 2
// A clause of another directive: the message says where it may stand.
// MISPLACED: directives-invalid.c:[[# @LINE + 2]]:18: error: clause 'copyin' is not allowed on 'loop'
// MISPLACED: help: it is allowed on 'parallel'
#pragma acc loop copyin(a[0:n])

#elif CASE == 3
// On a continued line, behind a macro: line and column are those of the file.
// CONTINUED: directives-invalid.c:[[# @LINE + 3]]:17: error: expected ']' after the section, not ')'
// CONTINUED: help: write [start:length]
#pragma acc parallel num_gangs(N) \
    copy(a[0 : N)

#elif CASE == 4
// Two clauses that exclude each other: the second is refused, the first is shown.
// EXCLUSIVE: directives-invalid.c:[[# @LINE + 2]]:22: error: clauses 'seq' and 'gang' exclude each other
// EXCLUSIVE: directives-invalid.c:[[# @LINE + 1]]:18: note: 'seq' is here
#pragma acc loop seq gang

#elif CASE == 5
// A reduction without an operator.
// OPERATOR: directives-invalid.c:[[# @LINE + 1]]:37: error: expected an operator and ':' in 'reduction', not 'a'
#pragma acc parallel loop reduction(a)

#elif CASE == 6
// A directive that does nothing without a clause.
// MISSING: directives-invalid.c:[[# @LINE + 1]]:13: error: 'enter data' needs at least one of the clauses 'copyin', 'create', 'attach'
#pragma acc enter data async

#endif
  for (int i = 0; i < n; i++)
    a[i] = 0;
}
