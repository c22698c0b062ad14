"""The warnings of `-Wall`: each where its comment says, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest
from accopt.compiler.base.diagnostics import DiagnosticSink
from accopt.compiler.c.program import load_program
from accopt.compiler.c.sema.checker import check_text
from accopt.compiler.c.warnings import check_unit
from places import marked

_TEXT = """
int printf(const char *, ...); int scanf(const char *, ...); void exit(int);
static int never(int x) { return x; }           // unused-function
static int called(int x) { return x; }
static int pointed(int x) { return x; }
int (*table[1])(int) = { pointed };
static inline int header(int x) { return x; }
int f(int n) { if (n) return called(n); }       // return-type
int endless(int n) { for (;;) { if (n) return 2; } } int in(int n) { for (;;) switch (n) case 1: break; }
int every(int n) { switch (n) { case 1: return 1; default: exit(1); } }
void stops(int) __attribute__((cold, noreturn)); _Noreturn void halts(void); [[noreturn]] void ends(void);
static void __attribute__((noreturn)) leave(void) { exit(1); }
struct calls { void (*f)(int) __attribute__((noreturn)); }; void * __attribute__((noreturn)) dies(void);
int stopped(int n) { if (n == 1) stops(n); else if (n) halts(); else { if (!n) leave(); ends(); } }
int falls(int n) { switch (n) { case 1: return 1; } } // return-type
int leaves(int n) { while (1) { if (n) break; } } // return-type
int jumps(int n) { again: if (n) goto again; return 0; }
int both(int n) { if (n) return 1; else return 2; }
int after(int n) { do { if (n) continue; return 1; } while (1); }
int loops(int n, double *a) {
    int unread;                                 // unused-variable
    int set;                                    // unused-but-set-variable
    set = 3;
    int used;
    volatile int touched;
    double d = 1, branch, sum;
    if (n) branch = 1; else branch = 2;
    for (int i = 0; i < n; i++) { int t; if (i) t = 1; d += t; }
    for (int i = 0; i < n; i++) { int first; d += first; first = 1; } // uninitialized
    for (int i = 0; i < n; i++) { if (i) d += sum; sum = d; }
    switch (n) { case 1: used = 2; break; default: used = 3; }
    d == 2;                                     // unused-value
    d + n;                                      // unused-value
    n++, a[0] = d;
    n && printf("x");
    return (int)(d + branch + used);
}
int fresh(void) { int v; return v; }            // uninitialized
int void_cast(void) { int v; (void)v; return 0; }
int taken(void) { int v; scanf("%d", &v); return v; }
int copied(int n) {
    int v, w, i;
#pragma acc parallel loop private(v) firstprivate(w)
    for (i = 0; i < n; i++) v = w;
    return n;
}
int copies(int n, int *a) {
    int s = 1, k, t[4], u[4], v[4], *p = a;
#pragma acc parallel loop private(s, k, t, u, v, p)
    for (int i = 0; i < n; i++) {
        for (k = 0; k < 4; k++) u[k] = k;
        called(v[1] = 2);
        a[i] = s                                // uninitialized
            + t[1] + u[2]                       // uninitialized
            + p[3];                             // uninitialized
        s = i; }
#pragma acc parallel private(s, t)
    { s = 3; t[0] = s;
#pragma acc loop
      for (int i = 0; i < n; i++) a[i] = t[0] + s; }
    return s;
}
int bodies(int n) {
    for (int i = 0; i < n; i++);                // empty-body
    { n += 2; }
    while (n++ < 3);
    if (n);                                     // empty-body
    { n = 3; }
    return n;
}
int *addresses(int n) {
    static int kept[3];
    int lost[3], *fine = kept;
    if (n == 1) return lost;                    // return-local-addr
    if (n == 2) return &n;                      // return-local-addr
    return n == 3 ? kept : fine;
}
void formats(double d, float f, long l, unsigned long z, char *s, const void *p, long double e) {
    printf("%d %s %f %ld %zu %5.2f%% %*d %c %Lf %p %#x %-3u", 1, s, f, l, z, d, 3, 4, 'c', e, p, 7, 8u);
    printf("%d", d);                            // format
    printf("%f", l);                            // format
    printf("%s", l);                            // format
    printf("%d %d", 1);                         // format
    printf("%d", 1, 2);                         // format
    printf("%ld", 1);                           // format
    printf(s, 1, 2);
    scanf("%d %lf %f %9s %*d %[a-z]", (int *)p, &d, &f, s, s);
    scanf("%f", &d);                            // format
    scanf("%ld", &f);                           // format
    scanf("%s", &s);                            // format
}
"""


def test_warnings() -> None:
    text, expected = marked(_TEXT)
    sink = DiagnosticSink()
    unit = check_text(text, "t.c", sink)
    sink.diagnostics.clear()
    check_unit(unit, sink)
    found = [(d.loc.line, d.option) for d in sink.diagnostics]
    assert sorted(found) == sorted(expected)


def test_mistakes_for_certain_need_no_wall() -> None:
    text, expected = marked(_TEXT)
    sink = DiagnosticSink()
    unit = check_text(text, "t.c", sink)
    sink.diagnostics.clear()
    check_unit(unit, sink, wall=False)
    options = {"uninitialized", "return-local-addr"}
    found = {(d.loc.line, d.option) for d in sink.diagnostics}
    assert found <= {(line, option) for line, option in expected if option in options}
    assert len(found) == 5


def test_what_is_meant_is_not_warned_of(tmp_path: Path) -> None:
    file = tmp_path / "t.c"
    file.write_text("void f(void) {\nint meant __attribute__((unused));\nint forgotten;\n}\n")
    sink = DiagnosticSink()
    check_unit(check_text(file.read_text(), str(file), sink), sink)
    assert [(d.loc.line, d.option) for d in sink.diagnostics] == [(3, "unused-variable")]


_OVERFLOWS = """
typedef unsigned long size_t;
char *strcpy(char *, const char *); char *strcat(char *, const char *); void *memset(void *, int, size_t);
char *strncpy(char *, const char *, size_t); void *memcpy(void *, const void *, size_t);
int snprintf(char *, size_t, const char *, ...), sprintf(char *, const char *, ...);
char *fgets(char *, int, void *);
struct pair { char first[4], second[4]; int tail[1]; };
void known(int n, char *p, struct pair *q) {
    char b[4], rows[2][4], v[n]; int a[10]; struct pair s;
    strcpy(b, "abc"); strcpy(p, "whatever"); strcpy(v, "whatever"); strcpy(q->first, "whatever");
    strcpy(b, "abcd");                          // stringop-overflow
    strcpy(b + 2, "ab");                        // stringop-overflow
    strcpy(&b[3], "a");                         // stringop-overflow
    strcpy(&b[3], "");
    strcpy(b + n, "abc");
    strcpy(rows[n], "abcd");                    // stringop-overflow
    strcpy(rows[1], "abc");
    strcpy(s.second, "abcd");                   // stringop-overflow
    strcat(b, "abcd");                          // stringop-overflow
    strncpy(b, p, sizeof b + 1);                // stringop-overflow
    strncpy(b, p, sizeof b);
    memset(a, 0, 10 * sizeof(int));
    memset(a, 0, 80);                           // stringop-overflow
    memset((void *)a + 4, 0, 40);               // stringop-overflow
    memset(&a[5], 0, 20); memset(&n, 0, 4); memset(rows[0], 0, 8); memset(s.first, 0, 8); memset(a, 0, n);
    memset(&n, 0, sizeof(double));              // stringop-overflow
    memcpy(rows, b, 9);                         // stringop-overflow
    sprintf(b, "%d%%%s", n, p);
    sprintf(b, "%d of %d", n, n);               // stringop-overflow
    sprintf(b, "%5s", p);                       // stringop-overflow
    snprintf(b, 5, "%d", n);                    // stringop-overflow
    fgets(b, 100, p);                           // stringop-overflow
    if (sizeof(long) == 4) memset(a, 0, 80); else memset(a, 0, 40);
}
"""

_LOST = """
double kept[10], sums[10]; double *made(void); void other(void); double sqrt(double);
void show(double *);
double lost(int n, double *p, double *q, double *r) {
    double a[10], b[10], c[10], t = 0, u = 0;
#pragma acc parallel loop copyin(a, t, u) copyin(kept)
    for (int i = 0; i < 10; i++) { a[i] = i; kept[i] = u; t = i; }
    u += a[1];                                  // lost-writes
    u += a[2] + t;                              // lost-writes
    other();
    u += kept[0];
#pragma acc data copyin(p[0:n]) create(q[0:n]) copyin(b, c)
    {
#pragma acc parallel loop
        for (int i = 0; i < n; i++) { p[i] += 1; q[i] = p[i]; b[0] = i; c[0] = i; }
#pragma acc parallel loop present(q[0:n])
        for (int i = 0; i < n; i++) q[i] = p[i];
        show(c);
    }
    if (n > 3) u += q[0];                       // lost-writes
    p[3] = 1;
    u += p[2] + c[0];
    if (n > 4) { show(b); return u; }
    for (int i = 0; i < n; i++) u += sqrt(b[i]); // lost-writes
#pragma acc parallel loop copyin(r[0:n])
    for (int i = 0; i < n; i++) r[i] += 1;
    r = made();
    return u + r[0];
}
double brought(int n, double *p, double *q, double *r, double *s) {
    double u = 0;
#pragma acc data copyin(p[0:n]) copy(r[0:n])
    {
#pragma acc parallel loop copyin(r[0:n])
        for (int i = 0; i < n; i++) p[i] += r[i]++;
#pragma acc update self(p[0:n])
    }
#pragma acc parallel loop copyin(q[0:n]) if(n > 100)
    for (int i = 0; i < n; i++) q[i] += 1;
#pragma acc parallel loop copyin(s[0:n]) private(sums)
    for (int i = 0; i < n; i++) sums[0] = s[i];
    return p[0] + q[0] + r[0] + s[0] + sums[0];
}
"""


_LOST_REDUCTIONS = """
int reduced(int n, const int *a, int *out) {
    int s = 1, t = 1, u = 1, v = 1, w = 1, x = 1, y = 1, z = 1, q = 1, r = 1, k = 0, h[4] = {1};
#pragma acc parallel firstprivate(s, t) private(u)
    {
        u = 0;
#pragma acc loop gang reduction(+:s)            // lost-writes
        for (int i = 0; i < n; i++) s += a[i];
#pragma acc loop vector reduction(max:t)
        for (int i = 0; i < n; i++) t = a[i] > t ? a[i] : t;
        out[0] = t;
#pragma acc loop worker reduction(+:u)          // lost-writes
        for (int i = 0; i < n; i++) u += a[i];
    }
#pragma acc parallel loop gang private(k)
    for (int j = 0; j < n; j++) {
        k = 0;
#pragma acc loop vector reduction(+:k)
        for (int i = 0; i < n; i++) k += a[i];
        out[j] = k;
#pragma acc loop vector private(k)
        for (int i = 0; i < n; i++) {
            k = 0;
#pragma acc loop seq reduction(+:k)             // lost-writes
            for (int l = 0; l < n; l++) k += a[l];
        }
    }
#pragma acc parallel loop reduction(+:v) copyin(v)
    for (int i = 0; i < n; i++) v += a[i];
    r += v;                                     // lost-writes
#pragma acc kernels loop copyout(w) reduction(*:w) // uninitialized
    for (int i = 0; i < n; i++) w *= a[i];
#pragma acc serial create(x) copyout(zero: h)
    {
        x = 0;
#pragma acc loop reduction(+:x, h)
        for (int i = 0; i < n; i++) x += a[i], h[0] += a[i];
        out[0] = x;
    }
#pragma acc parallel copyout(y)
    {
#pragma acc loop gang reduction(+:y)            // uninitialized
        for (int i = 0; i < n; i++) y += a[i];
    }
#pragma acc data copy(z)
    {
#pragma acc parallel loop copyout(z) reduction(+:z)
        for (int i = 0; i < n; i++) z += a[i];
    }
    return w + y + z + q + r + h[0];
}
"""


_HOST_COPIES = """
double table[16]; double made(void);
double copies(int n, double *p, double *q, double *r, double *s) {
    double a[16], b[16], c[16], u = 0;
#pragma acc data copy(a, table) copyin(p[0:n]) create(b)
    {
#pragma acc parallel loop
        for (int i = 0; i < 16; i++) { a[i] = i; b[i] = table[i] + p[i]; p[i] = 1; }
        a[3] = 2;                               // overwritten-writes
        for (int i = 0; i < 16; i++) u += b[i]; // stale-reads
        u += p[2];                              // stale-reads
        table[1]++;                             // overwritten-writes
        u += a[4];
    }
#pragma acc data copy(q[0:n], r[4:n]) copyout(s[:n])
    {
        u += q[0];
#pragma acc kernels
        for (int i = 0; i < n; i++) { q[i] = i; r[4 + i] = i; s[i] = i; }
#pragma acc update self(q[0:n])
        u += q[1];
        q[2] = 5;
        r[0] = 1;
        s += 1;
        s[0] = 2;
    }
#pragma acc data copy(q[0:n])
    {
#pragma acc parallel loop
        for (int i = 0; i < n; i++) q[i] = i;
        u += made();
        u += q[1];
    }
#pragma acc data copy(q[0:n]) if(n > 100)
    {
#pragma acc parallel loop
        for (int i = 0; i < n; i++) q[i] = i;
        q[1] = 2;
    }
#pragma acc data copy(c)
    {
#pragma acc parallel loop if(n > 100)
        for (int i = 0; i < 16; i++) c[i] = i;
        u += c[1];
    }
    return u;
}
double forgotten(int n, double *p, double *q, double *r, int flag) {
    double a[16], b[16][16], e[16], f[16], u = 0, x = 1, y = 1, z = 1, sum = 0;
    int k = 0, m = 3, i = 0;
#pragma acc data copyin(a, e, p[0:n]) create(b, q[0:n]) copyin(x, y, m, i) copy(sum, z)
    {
        for (int i = 0; i < 16; i++) a[i] = 2;
        b[0][0] = 1, e[3] = 4, p[0] = 1, q[1] = x;
        x = 2;
        m = 4;
#pragma acc parallel loop reduction(+:sum) private(y)
        for (i = 0; i < 16; i++) {
            a[i] += 1;                          // stale-reads
            b[i][0] = i;
            sum += b[i][0] + e[i];              // stale-reads
            sum += x;                           // stale-reads
            y = 2;
        }
        u += a[5] + b[0][0] + y + i;            // stale-reads
        u += b[1][0];                           // stale-reads
        u += sum;                               // stale-reads
        while (k++ < 3) {
#pragma acc serial
            { q[0] = 1; z = p[k]; }             // stale-reads
            u += q[0];                          // stale-reads
            p[k] = u;
        }
#pragma acc parallel loop copy(f) firstprivate(m)
        for (int i = 0; i < 16; i++) f[i] = m;
    }
#pragma acc data copyin(a, f) create(e, r[0:n]) copyin(x)
    {
#pragma acc parallel loop
        for (int i = 0; i < 16; i++) { a[i] = i; e[i] = i; }
        a[3] = 2;
        u += a[3] + a[4];
        for (int i = 0; i < 16; i++) e[i] = 0;
#pragma acc parallel loop
        for (int i = 0; i < 16; i++) e[i] = 1;
        for (int t = 0; t < 3; t++) {
            if (flag) {
#pragma acc parallel loop
                for (int i = 0; i < n; i++) r[i] = f[i];
            } else {
                for (int i = 0; i < n; i++) r[i] = 0;
                u += r[0];
            }
            f[1] = 2;
#pragma acc update device(f)
        }
#pragma acc serial copyin(always: x)
        u += x;
        x = 3;
#pragma acc serial copyin(always: x) copy(u)
        u += x;
    }
    return u;
}
double entered(int n, double *p) {
    double a[16], b[16], c[16], u = 0;
#pragma acc enter data copyin(a, p[0:n]) create(b, c)
    for (int i = 0; i < n; i++) p[i] = b[i] = i;
    c[3] = 5;
#pragma acc update device(c)
#pragma acc parallel loop default(present)
    for (int i = 0; i < n; i++)
        a[i] = p[i]                             // stale-reads
             + b[i]                             // stale-reads
             + c[i];
    u += a[2];                                  // stale-reads
#pragma acc exit data copyout(a) delete(b)
    u += a[3];
    return u;
}
double entered_too(int n, int flag, double *q, double *r) {
    double d[16], u = 0;
    if (flag) {
#pragma acc enter data copyin(q[0:n]) if(n > 3)
#pragma acc enter data create(r[0:n])
        q[1] = r[1] = 2;
#pragma acc serial present(q[0:n], r[0:n])
        q[2] = q[1] + r[1];                     // stale-reads
#pragma acc exit data copyout(q[0:n])
        u += q[2];
    }
    u += q[2];
#pragma acc enter data copyin(d)
#pragma acc parallel loop
    for (int i = 0; i < 16; i++) d[i] += 1;
#pragma acc exit data copyout(d)
    return u + d[3];
}
"""


_ASSIGNED = """
double reduced(int n, const double *a, double *b) {
    double x = 0, y = 0, z = 0, u = 0, v = 0, w = 0, last = 0, biggest = 0;
    int found = 0, count = 0, some = 0, value = n / 2;
#pragma acc parallel loop reduction(+:x, y) reduction(max:biggest)
    for (int i = 0; i < n; i++) {
        x = a[i];                               // assigned-reduction
        y += a[i];
        if (a[i] > biggest) biggest = a[i];
    }
#pragma acc parallel loop reduction(+:z, last) reduction(||:found) reduction(|:some) reduction(+:count)
    for (int i = 0; i < n; i++) {
        z = a[i];                               // assigned-reduction
        if (i == n - 1) last = a[i];
        found = 1;
        some = value;
        count = 1;                              // assigned-reduction
    }
#pragma acc parallel reduction(max:u) num_gangs(8)
    {
        u = 1;
#pragma acc loop reduction(max:v)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < 3; j++)
                v = b[i] + j;                   // assigned-reduction
    }
#pragma acc parallel loop reduction(+:w) copyin(a[0:n])
    for (int i = 0; i < n; i++) {
        w = w + a[i];
        double s = 0;
#pragma acc loop reduction(+:s)
        for (int j = 0; j < n; j++) s += a[j];
        b[i] = s;
    }
#pragma acc serial loop reduction(+:u)
    for (int i = 0; i < n; i++) u = a[i];
#pragma acc parallel loop reduction(+:v)
    for (int i = 0; i < n; i++) {
        if (a[i] < 0) continue;
        v = 1;
    }
    return x + y + z + u + v + w + last + biggest + found + count + some;
}
"""


@pytest.mark.parametrize(
    "text",
    [_OVERFLOWS, _LOST, _LOST_REDUCTIONS, _HOST_COPIES, _ASSIGNED],
    ids=["overflows", "lost", "lost reductions", "host copies", "assigned"],
)
def test_results_that_go_elsewhere_need_no_wall(text: str) -> None:
    text, expected = marked(text)
    sink = DiagnosticSink()
    unit = check_text(text, "t.c", sink)
    sink.diagnostics.clear()
    check_unit(unit, sink, wall=False)
    assert [(d.loc.line, d.option) for d in sink.diagnostics] == expected


def test_conditions_that_assign(tmp_path: Path) -> None:
    text, expected = marked("""
int next(void);
#define IF_ASSIGNED(x, y) if (x = y) x++
int f(int n, int *p) {
    if (n = 1) n++;                             // certain
    while (p = (void *)0) n++;                  // certain
    do n++; while (n = 0);                      // certain
    for (int i = 0; n = 2; i++) break;          // certain
    if (n = next()) n++;                        // likely
    if ((n = next())) n++;
    while ((n = 1)) break;
    if (n == 1 && (n = 2)) n++;
    IF_ASSIGNED(n, 3);
    return n;
}
""")
    file = tmp_path / "t.c"
    file.write_text(text)
    for wall in (False, True):
        sink = DiagnosticSink()
        load_program([file], None, sink, wall=wall)
        wanted = [line for line, kind in expected if wall or kind == "certain"]
        found = [d.loc.line for d in sink.diagnostics if d.option == "parentheses"]
        assert found == wanted
