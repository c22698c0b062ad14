/* A program of several files: a routine and a declared global in one, constructs in another. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "particles.h"

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 5000;
    int steps = 200;
    double dt = 0.05;
    particle *p = malloc(n * sizeof *p);
    particle *q = malloc(n * sizeof *q);
    for (int i = 0; i < n; i++) {
        p[i].x = (i * 37 % 1000) / 100.0;
        p[i].y = (i * 53 % 1000) / 100.0;
        p[i].vx = (i * 17 % 200) / 100.0 - 1.0;
        p[i].vy = (i * 29 % 200) / 100.0 - 1.0;
        q[i] = p[i];
    }

    double before = kinetic_energy(p, n);
    step_all(p, n, dt, steps);
    double after = kinetic_energy(p, n);

    int wrong = 0;
    for (int i = 0; i < n; i++) {
        for (int s = 0; s < steps; s++)
            advance(&q[i], dt);
        if (fabs(p[i].x - q[i].x) > 1e-9 || fabs(p[i].y - q[i].y) > 1e-9)
            wrong++;
    }
    int conserved = fabs(before - after) < 1e-9 * before;
    printf("particles: n = %d, energy %.6f, %s, %d wrong\n", n, after,
           conserved ? "conserved" : "NOT CONSERVED", wrong);
    free(p);
    free(q);
    return wrong != 0 || !conserved;
}
