"""
Random programs with all kinds of host code between constructs: loops that may not run, branches, reads and
writes of arrays that constructs map, pointers that are equal or overlap, scalars in conditions and
sections, clauses that discard the kernels' writes.

The output of such a program must not depend on inferred data regions.
"""

from __future__ import annotations

import random

N = 24


class RegionProgram:
    """Makes one program from a seed."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.count = 0

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def chance(self, p: float) -> bool:
        return self.random.random() < p

    def section(self) -> tuple[str, str]:
        """First element and end: constants, or variables the program may change."""
        low = self.random.randint(0, 6)
        return str(low), self.pick(str(self.random.randint(low, N)), "n", "m")

    def construct(self, arrays: list[str]) -> list[str]:
        self.count += 1
        low, high = self.section()
        target = self.pick(*arrays)
        # Arguments of f may overlap: a construct with one of them has no other.
        source = target if target in "abc" else self.pick(*[x for x in arrays if x not in "abc"])
        index = self.pick("i", "i", f"{N - 1} - i")
        reads = f"{source}[i]" if source != target else f"{target}[{index}]"
        body = f"{target}[{index}] = {reads} * 0.5 + {self.count};"
        if self.chance(0.15):
            body = f"{target}[{index}] = {self.count} + i;"
        if self.chance(0.15):
            body = f"if (i % 3 == 0) {body}"
        clauses = ""
        shape = self.random.randrange(9)
        whole = f"[0:{N}]"
        if shape == 0:
            clauses = f" copy({target}{whole})"
        elif shape == 1:
            clauses = f" copyin({target}{whole})"  # what the kernel writes is lost
        elif shape == 2:
            clauses = f" copy({target}[0:n > {N} ? {N} : {N}])"
        elif shape == 3 and source != target:
            clauses = f" copyin({source}{whole}) copy({target}{whole})"
        if self.chance(0.1):
            clauses += f" if(k % {self.random.randint(1, 3)} == 0)"
        if self.chance(0.15):
            body = f"s{self.random.randint(0, 1)} += {target}[i];"
            variable = body[:2]
            clauses += f" reduction(+ : {variable})"
        kind = self.pick("parallel loop", "parallel loop", "kernels loop independent")
        return [f"#pragma acc {kind}{clauses}", f"for (int i = {low}; i < {high}; i++) {body}"]

    def host(self, arrays: list[str]) -> list[str]:
        x, at = self.pick(*arrays), self.random.randrange(N)
        scalar = self.pick("s0", "s1")
        return [
            self.pick(
                f"{scalar} += {x}[{at}];",
                f"{x}[{at}] = {scalar} + k;",
                f'printf("%g\\n", {scalar});',
                f"{scalar} = {scalar} * 0.25 + k;",
                "k = next(k);",
                f"n = {self.random.randint(8, N)};",
                f"m = m > 12 ? m - 1 : {N};",
                f"look({x}, {at});",
                f"{scalar} = fabs({scalar}) + 1;",
                "G[1] += 1;",
            )
        ]

    def block(self, arrays: list[str], depth: int) -> list[str]:
        lines: list[str] = []
        for _ in range(self.random.randint(1, 4)):
            shape = self.random.random()
            if shape < 0.5 or depth == 0:
                lines += self.construct(arrays)
            elif shape < 0.6:
                lines += self.host(arrays)
            else:
                lines += self.control(arrays, depth - 1)
        return lines

    def control(self, arrays: list[str], depth: int) -> list[str]:
        body = self.block(arrays, depth)
        self.count += 1
        t = f"t{self.count}"
        trips = self.pick("0", "2", "3", "k % 3", "n % 2")
        match self.random.randrange(6):
            case 0 | 1:
                return [f"for (int {t} = 0; {t} < {trips}; {t}++) {{", *body, "}"]
            case 2:
                stop = f"if ({self.pick('s0', 's1')} > {self.random.randint(0, 300)}) break;"
                where = self.random.choice((0, len(body)))
                return [
                    f"for (int {t} = 0; {t} < 3; {t}++) {{",
                    *body[:where],
                    stop,
                    *body[where:],
                    "}",
                ]
            case 3:
                head = f"while ({t} < 3 && s0 < 1000)"
                return [
                    f"{{ int {t} = {self.pick('0', '3')};",
                    f"{head} {{",
                    *body,
                    f"{t}++; }} }}",
                ]
            case 4:
                return [
                    f"{{ int {t} = 0; do {{",
                    *body,
                    f"}} while (++{t} < {self.pick('1', '2')}); }}",
                ]
            case _:
                return [f"if ({self.pick('k % 2', 's0 > 20', 'n > 12')}) {{", *body, "}"]

    def source(self) -> str:
        local = self.block(["p", "q", "G", "H"], 3)
        if self.chance(0.3):
            local += ["for (int t = 0; t < 3; t++) {", *self.construct(["p", "q"])]
            local += ["double *other = p; p = q; q = other; }"]
        inside = self.block(["a", "b", "c", "G"], 3)
        calls = self.pick("f(p, q, G, 20, N)", "f(p, p, q, 20, N)", "f(p, p + 4, H, 20, 20)")
        indent = "\n    "
        return f"""#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#define N {N}
double G[N + 8], H[N + 8];
static double s1 = 1;
static int next(int k) {{ return k * 5 % 7 + 1; }}
static void look(const double *x, int at) {{ printf("%g\\n", x[at]); }}
static void f(double *a, double *b, double *c, int n, int m)
{{
    double s0 = 1;
    int k = 1;
    {indent.join(inside)}
    printf("%g %g %d %d %d\\n", s0, s1, k, n, m);
}}
int main(void)
{{
    double *p = malloc((N + 8) * sizeof(double)), *q = malloc((N + 8) * sizeof(double));
    double s0 = 2;
    int k = 3, n = 16, m = N;
    for (int i = 0; i < N + 8; i++) p[i] = i, q[i] = 2 * i, G[i] = i % 5, H[i] = i % 7;
    {indent.join(local)}
    {calls};
    for (int i = 0; i < N + 8; i++) printf("%g %g %g %g\\n", p[i], q[i], G[i], H[i]);
    printf("%g %g %d %d %d\\n", s0, s1, k, n, m);
    return 0;
}}
"""
