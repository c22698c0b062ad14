/* Heat capacity and enthalpy of a mixture of gases in every cell of a grid, as a flow solver for combustion
   needs them in each of its stages (S3D). Both are sums over species of polynomials in the temperature; each
   species has one below 1000 K and one above. With two devices, each computes one of the two.
   Usage: thermodynamics [cells] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef _OPENACC
#include <openacc.h>
#else
#define acc_get_num_devices(type) 1
#endif

#define SPECIES 9
#define TERMS 5
#define STAGES 6
#define MIDDLE 1000.0
#define GAS_CONSTANT 8.314462

/* Coefficients of cp / R by range (0: the lower one), and of the enthalpy's constant; molar masses. */
static double coefficients[SPECIES][2][TERMS], constant[SPECIES][2], mass[SPECIES];

/* Smooth curves like those of gases; what belongs together at 1000 K does so exactly. */
static void make_species(void)
{
    for (int s = 0; s < SPECIES; s++) {
        mass[s] = 0.002 + 0.004 * s;
        for (int r = 0; r < 2; r++) {
            double scale = 1.0;
            coefficients[s][r][0] = 2.5 + 0.4 * s;
            for (int t = 1; t < TERMS; t++) {
                scale *= 1e-3;
                coefficients[s][r][t] = scale * (r ? 0.2 : 0.5) / (t * t) * ((s + t) % 3 - 0.8);
            }
        }
        double cp[2] = {0, 0}, h[2] = {0, 0};
        for (int r = 0; r < 2; r++)
            for (int t = 0; t < TERMS; t++)
                cp[r] += coefficients[s][r][t] * pow(MIDDLE, t);
        coefficients[s][1][0] += cp[0] - cp[1];
        for (int r = 0; r < 2; r++)
            for (int t = 0; t < TERMS; t++)
                h[r] += coefficients[s][r][t] * pow(MIDDLE, t + 1) / (t + 1);
        constant[s][0] = -1000.0 - 50 * s;
        constant[s][1] = constant[s][0] + h[0] - h[1];
    }
}

static void calc_mixcp(int n, const double *restrict temperature, const double *restrict fraction,
                       double *restrict cp, int device)
{
#pragma acc parallel loop present(temperature[0:n], fraction[0:SPECIES * n], cp[0:n]) \
    copyin(coefficients, mass) deviceid(device)
    for (int i = 0; i < n; i++) {
        double t = temperature[i], sum = 0;
        int range = t >= MIDDLE;
        for (int s = 0; s < SPECIES; s++) {
            double value = 0;
            for (int k = TERMS - 1; k >= 0; k--)
                value = value * t + coefficients[s][range][k];
            sum += fraction[s * n + i] * value / mass[s];
        }
        cp[i] = GAS_CONSTANT * sum;
    }
}

static void calc_mixenth(int n, const double *restrict temperature, const double *restrict fraction,
                         double *restrict enthalpy, int device)
{
#pragma acc parallel loop present(temperature[0:n], fraction[0:SPECIES * n], enthalpy[0:n]) \
    copyin(coefficients, constant, mass) deviceid(device)
    for (int i = 0; i < n; i++) {
        double t = temperature[i], sum = 0;
        int range = t >= MIDDLE;
        for (int s = 0; s < SPECIES; s++) {
            double value = 0;
            for (int k = TERMS - 1; k >= 0; k--)
                value = value * t + coefficients[s][range][k] / (k + 1);
            sum += fraction[s * n + i] * (value * t + constant[s][range]) / mass[s];
        }
        enthalpy[i] = GAS_CONSTANT * sum;
    }
}

/* Both in every stage; the input stays on the devices. */
static void stages(int n, double *temperature, double *fraction, double *cp, double *enthalpy)
{
    int devices = acc_get_num_devices(acc_device_default), other = devices > 1;
#pragma acc enter data copyin(temperature[0:n], fraction[0:SPECIES * n]) create(cp[0:n]) deviceid(0)
    if (other) {
#pragma acc enter data copyin(temperature[0:n], fraction[0:SPECIES * n]) deviceid(other)
    }
#pragma acc enter data create(enthalpy[0:n]) deviceid(other)
    for (int stage = 0; stage < STAGES; stage++) {
        calc_mixcp(n, temperature, fraction, cp, 0);
        calc_mixenth(n, temperature, fraction, enthalpy, other);
    }
#pragma acc exit data copyout(cp[0:n]) delete(temperature[0:n], fraction[0:SPECIES * n]) deviceid(0)
    if (other) {
#pragma acc exit data delete(temperature[0:n], fraction[0:SPECIES * n]) deviceid(other)
    }
#pragma acc exit data copyout(enthalpy[0:n]) deviceid(other)
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 3000;
    double *temperature = malloc(n * sizeof(double)), *fraction = malloc(n * SPECIES * sizeof(double));
    double *cp = malloc(n * sizeof(double)), *enthalpy = malloc(n * sizeof(double)), worst = 0, most = 0;
    make_species();
    /* cells come in threes: a temperature, a little less and a little more, of one mixture */
    for (int i = 0; i < n; i++) {
        int cell = i / 3;
        temperature[i] = 300 + 2500.0 * ((cell * 37) % 1000) / 1000;
        temperature[i] += i % 3 == 2 ? 0.01 : i % 3 == 1 ? -0.01 : 0;
        for (int s = 0; s < SPECIES; s++)
            fraction[s * n + i] = (1 + (cell + s * s) % 7) / 40.0;
    }
    stages(n, temperature, fraction, cp, enthalpy);

    /* the heat capacity is the enthalpy's derivative */
    for (int i = 0; i + 2 < n; i += 3) {
        double slope = (enthalpy[i + 2] - enthalpy[i + 1]) / (temperature[i + 2] - temperature[i + 1]);
        worst = fmax(worst, fabs(slope - cp[i]) / cp[i]);
        most = fmax(most, cp[i]);
    }
    printf("%d cells, heat capacity up to %.0f J/(kg K)\n", n, most);
    puts(worst < 1e-5 && most > 0 ? "it is the derivative of the enthalpy" : "WRONG");
    if (worst >= 1e-5)
        printf("off by %g\n", worst);
    free(temperature);
    free(fraction);
    free(cp);
    free(enthalpy);
    return worst >= 1e-5;
}
