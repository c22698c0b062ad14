/* Whole structures read from and written to compressed arrays: as variables, by assignment, in functions. */
#include "check.h"
#define N 500

typedef struct {
    float lat, lng;
} Place;

typedef struct {
    double at[3];
    struct {
        double mass, charge;
    } kind;
} Particle;

#pragma acc routine seq
static float distance(Place a, Place b)
{
    return sqrtf((a.lat - b.lat) * (a.lat - b.lat) + (a.lng - b.lng) * (a.lng - b.lng));
}

static Place places[N], moved[N];
static Particle particles[N], copies[N];

int main(void)
{
    float found[4][N];
    Place here = {30, 90};
    for (int i = 0; i < N; i++) {
        places[i] = (Place){7 + i * 37 % 640 / 10.f, i * 73 % 3590 / 10.f};
        particles[i] = (Particle){{i, 2 * i, i / 3.0}, {i % 7, -i}};
    }
#pragma acc kernels ccopyin(places[0:N]) copyout(found[0:1])
#pragma acc loop independent
    for (int i = 0; i < N; i++) {
        Place p = places[i];
        found[0][i] = distance(p, here);
    }
#pragma acc parallel loop ccopyin(soa: places) copyout(found[1:1])
    for (int i = 0; i < N; i++) {
        Place p;
        p = places[i];
        found[1][i] = distance(p, here);
    }
#pragma acc parallel loop ccopyin(places) ccopyout(soa: moved[0:N:0:400]) copyout(found[2:1])
    for (int i = 0; i < N; i++) {
        Place p = places[i];
        p.lat += 1;
        moved[i] = p;
        found[2][i] = p.lat;
    }
#pragma acc parallel loop ccopyin(particles) ccopyout(copies[0:N:-500:1000]) copyout(found[3:1])
    for (int i = 0; i < N; i++) {
        Particle p = particles[i];
        found[3][i] = p.at[2];
        copies[i] = p;
    }
    double worst[5] = {0};
    for (int i = 0; i < N; i++) {
        worst[0] = fmax(worst[0], fabs(found[0][i] - distance(places[i], here)));
        worst[1] = fmax(worst[1], fabs(found[1][i] - distance(places[i], here)));
        worst[2] = fmax(worst[2], fabs(found[2][i] - places[i].lat - 1));
        worst[3] = fmax(worst[3], fabs(moved[i].lng - places[i].lng));
        worst[4] = fmax(worst[4], fabs(found[3][i] - i / 3.0));
        worst[4] = fmax(worst[4], fabs(copies[i].at[1] - 2 * i));
        worst[4] = fmax(worst[4], fabs(copies[i].kind.charge + i));
    }
    for (int k = 0; k < 5; k++)
        CHECK(worst[k] < 0.02);
    return report();
}
