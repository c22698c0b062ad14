/* Several arrays that only atomic updates change, of sizes known at run time: all of them small, the first of
 * them, or none; sizes by clauses or by what is present; in inner loops. */
#include "check.h"

static void update_present(int n, int k, int d, const float *x, const int *label, float *sum, int *count) {
#pragma acc parallel loop default(present)
    for (int i = 0; i < n; i++) {
        int l = label[i];
#pragma acc atomic update
        count[l] += 1;
        for (int q = 0; q < d; q++) {
#pragma acc atomic update
            sum[l * d + q] += x[i * d + q];
        }
    }
}

static void update_copied(int n, int k, int d, const float *x, const int *label, float *sum, int *count) {
#pragma acc parallel loop gang vector copyin(x[0:n*d], label[0:n]) copy(sum[0:k*d], count[0:k])
    for (int i = 0; i < n; i++) {
        for (int q = 0; q < d; q++) {
#pragma acc atomic
            sum[label[i] * d + q] += x[i * d + q];
        }
#pragma acc atomic
        count[label[i]]++;
    }
}

static void check(int n, int k, int d) {
    float *x = malloc(sizeof(float) * n * d), *sum = calloc(3 * k * d, sizeof *sum);
    int *label = malloc(sizeof(int) * n), *count = calloc(3 * k, sizeof *count);
    for (int i = 0; i < n * d; i++) x[i] = i * 37 % 101;
    for (int i = 0; i < n; i++) label[i] = i * 31 % k;
#pragma acc data copyin(x[0:n*d], label[0:n]) copy(sum[0:k*d], count[0:k])
    update_present(n, k, d, x, label, sum, count);
    update_copied(n, k, d, x, label, sum + k * d, count + k);
    for (int i = 0; i < n; i++) {
        count[2 * k + label[i]]++;
        for (int q = 0; q < d; q++) sum[2 * k * d + label[i] * d + q] += x[i * d + q];
    }
    for (int copy = 0; copy < 2; copy++) {
        CHECK(!memcmp(count + copy * k, count + 2 * k, sizeof(int) * k));
        CHECK(!memcmp(sum + copy * k * d, sum + 2 * k * d, sizeof(float) * k * d));
    }
    free(x), free(sum), free(label), free(count);
}

int main(void) {
    check(700, 16, 8);
    check(300, 16, 600);
    check(1, 1, 1);
    check(500, 20000, 1);
    return report();
}
