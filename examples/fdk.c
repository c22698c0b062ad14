/* Cone-beam tomography by Feldkamp, Davis and Kress: a ball is projected, and found again by weighting,
   filtering and back-projection. Usage: fdk [voxels per side [angles]] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define PI 3.14159265358979323846
#define DISTANCE 4.0 /* of the source from the axis; the volume is 2 wide */
#define RADIUS 0.6
#define CENTRE 0.1

/* What a ray through the ball passes of it, from the source at angle b to (u, v) in the plane of the axis. */
#pragma acc routine seq
static double chord(double b, double u, double v)
{
    double px = DISTANCE * cos(b), py = DISTANCE * sin(b);
    double dx = -u * sin(b) - px, dy = u * cos(b) - py, dz = v;
    double length = sqrt(dx * dx + dy * dy + dz * dz);
    double cx = CENTRE - px, cy = -py, cz = 0;
    double along = (cx * dx + cy * dy + cz * dz) / length;
    double off = cx * cx + cy * cy + cz * cz - along * along;
    return off < RADIUS * RADIUS ? 2 * sqrt(RADIUS * RADIUS - off) : 0;
}

static void project(int angles, int m, double pixel, double p[angles][m][m])
{
#pragma acc parallel loop collapse(3) present(p)
    for (int a = 0; a < angles; a++)
        for (int j = 0; j < m; j++)
            for (int i = 0; i < m; i++) {
                double u = (i - 0.5 * (m - 1)) * pixel, v = (j - 0.5 * (m - 1)) * pixel;
                double weight = DISTANCE / sqrt(DISTANCE * DISTANCE + u * u + v * v);
                p[a][j][i] = weight * chord(2 * PI * a / angles, u, v);
            }
}

/* Every row with the ramp filter of Ramachandran and Lakshminarayanan. */
static void filter(int angles, int m, double pixel, double p[angles][m][m], double q[angles][m][m])
{
#pragma acc parallel loop gang collapse(2) present(p, q)
    for (int a = 0; a < angles; a++)
        for (int j = 0; j < m; j++) {
#pragma acc loop vector
            for (int i = 0; i < m; i++) {
                double sum = p[a][j][i] / (4 * pixel);
#pragma acc loop seq
                for (int k = 0; k < m; k++)
                    if ((k - i) % 2 != 0)
                        sum -= p[a][j][k] / (PI * PI * (k - i) * (k - i) * pixel);
                q[a][j][i] = sum;
            }
        }
}

static void back_project(int angles, int m, double pixel, double q[angles][m][m], int n, float f[n][n][n])
{
#pragma acc parallel loop collapse(3) present(q, f)
    for (int z = 0; z < n; z++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++) {
                double px = (x + 0.5) * 2 / n - 1, py = (y + 0.5) * 2 / n - 1, pz = (z + 0.5) * 2 / n - 1;
                double sum = 0;
#pragma acc loop seq
                for (int a = 0; a < angles; a++) {
                    double c = cos(2 * PI * a / angles), s = sin(2 * PI * a / angles);
                    double scale = DISTANCE / (DISTANCE - px * c - py * s);
                    double u = (py * c - px * s) * scale / pixel + 0.5 * (m - 1);
                    double v = pz * scale / pixel + 0.5 * (m - 1);
                    int i = (int)floor(u), j = (int)floor(v);
                    if (i < 0 || j < 0 || i + 1 >= m || j + 1 >= m)
                        continue;
                    u -= i;
                    v -= j;
                    sum += scale * scale
                        * ((1 - v) * ((1 - u) * q[a][j][i] + u * q[a][j][i + 1])
                           + v * ((1 - u) * q[a][j + 1][i] + u * q[a][j + 1][i + 1]));
                }
                f[z][y][x] = sum * PI / angles;
            }
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 12, angles = argc > 2 ? atoi(argv[2]) : 24, m = 2 * n + 8;
    double pixel = 3.0 / m;
    double(*p)[m][m] = malloc(sizeof(double[angles][m][m])), (*q)[m][m] = malloc(sizeof(double[angles][m][m]));
    float(*f)[n][n] = malloc(sizeof(float[n][n][n]));

#pragma acc data create(p[0:angles], q[0:angles]) copyout(f[0:n])
    {
        project(angles, m, pixel, p);
        filter(angles, m, pixel, p, q);
        back_project(angles, m, pixel, q, n, f);
    }

    double inside = 0, outside = 0;
    int counts[2] = { 0 };
    for (int z = 0; z < n; z++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++) {
                double px = (x + 0.5) * 2 / n - 1 - CENTRE, py = (y + 0.5) * 2 / n - 1, pz = (z + 0.5) * 2 / n - 1;
                double r = sqrt(px * px + py * py + pz * pz);
                if (r < 0.7 * RADIUS) {
                    inside += f[z][y][x];
                    counts[0]++;
                } else if (r > 1.3 * RADIUS && fabs(pz) < 0.5 && px * px + py * py < 0.8) {
                    outside += f[z][y][x];
                    counts[1]++;
                }
            }
    inside /= counts[0];
    outside /= counts[1];
    printf("density inside %.4f, outside %.4f\n", inside, outside);
    int good = fabs(inside - 1) < 0.05 && fabs(outside) < 0.05;
    puts(good ? "the ball is found" : "WRONG");
    free(p);
    free(q);
    free(f);
    return !good;
}
