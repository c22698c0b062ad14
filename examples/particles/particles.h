/* Particles in a box: declarations shared by the files of this program. */
#ifndef PARTICLES_H
#define PARTICLES_H

typedef struct {
    double x, y;
    double vx, vy;
} particle;

extern double box_size;
#pragma acc declare copyin(box_size)

/* one time step of one particle, reflecting at the walls */
#pragma acc routine seq
void advance(particle *p, double dt);

void step_all(particle *p, int n, double dt, int steps);
double kinetic_energy(const particle *p, int n);

#endif
