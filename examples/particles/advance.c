#include "particles.h"

double box_size = 10.0;

static double reflect(double position, double *velocity)
{
    if (position < 0.0) {
        *velocity = -*velocity;
        return -position;
    }
    if (position > box_size) {
        *velocity = -*velocity;
        return 2.0 * box_size - position;
    }
    return position;
}

void advance(particle *p, double dt)
{
    p->x = reflect(p->x + p->vx * dt, &p->vx);
    p->y = reflect(p->y + p->vy * dt, &p->vy);
}
