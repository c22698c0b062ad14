#include <stdio.h>
#include <stdlib.h>
/* as many counters as the caller says: a version for few, one for many */
static long count(int n, const int *keys, int m, int *restrict hist, int offset)
{
#pragma acc parallel loop copyin(keys[0:n]) copy(hist[2:m]) async
    for (int i = 0; i < n; i++) {
        int k = keys[i] % m;
#pragma acc atomic
        hist[k + 2] += i & 3;
    }
#pragma acc wait
    long sum = 0;
    for (int i = 0; i < m + 2; i++)
        sum += hist[i] * (long)(i + offset);
    return sum;
}

int main(void)
{
    long n = 100003;
    unsigned char *data = malloc(n + 16);
    unsigned short *wide = malloc(2 * n + 16);
    for (long i = 0; i < n; i++) { data[i] = (unsigned char)(i * 7 + i / 13); wide[i] = (unsigned short)((i * 31) % 500); }
    int bins[256] = {5};
    long big[500];
    float w[8] = {0};
    int lo = -1, hi[4] = {-5, -5, -5, -5};
    unsigned mask = 0;
    for (int i = 0; i < 500; i++) big[i] = i;
#pragma acc parallel loop copyin(data[0:n]) copy(bins)
    for (long i = 0; i < n; i++) {
#pragma acc atomic update
        bins[data[i]]++;
    }
    /* input that is not aligned on the device, a lower bound that is not 0 */
#pragma acc parallel loop copyin(data[3:n-3]) copy(bins)
    for (long i = 5; i < n - 1; i++) {
#pragma acc atomic update
        bins[data[i]] += (int)i & 1;
    }
    unsigned short *later = wide + 1;
#pragma acc parallel loop copyin(wide[0:n]) copy(big[0:500])
    for (int i = 7; i < (int)n - 1; i++) {
#pragma acc atomic
        big[later[i]] -= 3;
    }
    unsigned char *odd = data + 3;
#pragma acc parallel loop copyin(data[0:n]) copy(bins[16:32])
    for (long i = 1; i < n - 3; i++) {
        if (odd[i] >= 16 && odd[i] < 48) {
#pragma acc atomic
            bins[odd[i]] -= 2;
        }
    }
#pragma acc parallel loop copyin(wide[0:n]) copy(big[0:500])
    for (int i = 0; i < (int)n; i++) {
#pragma acc atomic
        big[wide[i]] += i;
    }
#pragma acc parallel loop copyin(data[0:n]) copy(w[0:8]) copy(lo, hi, mask) num_gangs(7)
    for (int i = 0; i < (int)n; i++) {
#pragma acc atomic
        w[data[i] & 7] += 0.5f;
#pragma acc atomic
        lo &= ~(int)data[i] | 8;
#pragma acc atomic
        mask |= 1u << (data[i] & 15);
    }
    long image[16];
    for (int i = 0; i < 16; i++) image[i] = 0;
#pragma acc parallel loop collapse(2) copyin(data[0:n]) copy(image)
    for (int y = 0; y < 300; y++)
        for (int x = 0; x < 300; x++) {
#pragma acc atomic
            image[data[y * 300 + x] / 16] += x;
        }
    long total = 0;
    for (int i = 0; i < 256; i++) { total += bins[i] * (long)(i + 1); }
    printf("%d %d %d %ld\n", bins[0], bins[17], bins[255], total);
    total = 0;
    for (int i = 0; i < 500; i++) total += big[i] * (i + 1);
    printf("%ld %ld\n", big[3], total);
    for (int i = 0; i < 8; i++) printf("%g ", w[i]);
    printf("%d %u\n", lo, mask);
    for (int i = 0; i < 16; i++) printf("%ld ", image[i]);
    printf("\n");
    int *keys = malloc(30000 * sizeof(int));
    for (int i = 0; i < 30000; i++) keys[i] = i * 13 + i / 9;
    for (int m = 1; m < 10000; m = 3 * m + 1) {
        int *hist = calloc(m + 2, sizeof(int));
        hist[0] = hist[1] = 7;
        printf("%d %ld\n", m, count(30000, keys, m, hist, m & 1));
        free(hist);
    }
}
