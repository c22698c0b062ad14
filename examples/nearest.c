/* Nearest neighbour: the distance of every record of an array of structs to one target. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    float latitude;
    float longitude;
} location;

static void distances(int n, const location *restrict records, location target,
                      float *restrict distance)
{
#pragma acc parallel loop copyin(records[0:n]) copyout(distance[0:n])
    for (int i = 0; i < n; i++) {
        float dlat = records[i].latitude - target.latitude;
        float dlon = records[i].longitude - target.longitude;
        distance[i] = sqrtf(dlat * dlat + dlon * dlon);
    }
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 50000;
    location *records = malloc(n * sizeof *records);
    float *distance = malloc(n * sizeof *distance);
    location target = {30.0f, 90.0f};
    unsigned int seed = 12345;
    for (int i = 0; i < n; i++) {
        seed = seed * 1103515245u + 12345u;
        records[i].latitude = (float)(seed >> 16 & 0x7fff) / 32767.0f * 180.0f - 90.0f;
        seed = seed * 1103515245u + 12345u;
        records[i].longitude = (float)(seed >> 16 & 0x7fff) / 32767.0f * 360.0f - 180.0f;
    }

    distances(n, records, target, distance);

    int best = 0, wrong = 0;
    for (int i = 0; i < n; i++) {
        float dlat = records[i].latitude - target.latitude;
        float dlon = records[i].longitude - target.longitude;
        double exact = sqrt((double)dlat * dlat + (double)dlon * dlon);
        if (fabs(exact - distance[i]) > 1e-4)
            wrong++;
        if (distance[i] < distance[best])
            best = i;
    }
    printf("nearest: record %d at (%.3f, %.3f), distance %.4f, %d wrong\n", best,
           records[best].latitude, records[best].longitude, distance[best], wrong);
    free(records);
    free(distance);
    return wrong != 0;
}
