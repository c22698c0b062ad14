#include "particles.h"

void step_all(particle *p, int n, double dt, int steps)
{
#pragma acc data copy(p[0:n])
    for (int s = 0; s < steps; s++) {
#pragma acc parallel loop present(p[0:n])
        for (int i = 0; i < n; i++)
            advance(&p[i], dt);
    }
}

double kinetic_energy(const particle *p, int n)
{
    double energy = 0.0;
#pragma acc parallel loop reduction(+:energy) copyin(p[0:n])
    for (int i = 0; i < n; i++)
        energy += 0.5 * (p[i].vx * p[i].vx + p[i].vy * p[i].vy);
    return energy;
}
