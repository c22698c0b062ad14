/*
 * Sections of arrays without clauses where a loop around the construct counts what is left of others: parts may be
 * empty, and no element outside of the array may be asked for.
 */
#include "check.h"
#include <openacc.h>
#include <stdlib.h>

static void fw(int n, int d[n][n]) { for (int k = 0; k < n; k++) {
#pragma acc kernels
    for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { int t = d[i][k] + d[k][j]; if (t < d[i][j]) d[i][j] = t; } } }
static void fl(int n, int *d) { for (int k = 0; k < n; k++) {
#pragma acc kernels
    for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) if (d[i*n+k] + d[k*n+j] < d[i*n+j]) d[i*n+j] = d[i*n+k] + d[k*n+j]; } }
static void lu(int n, int *d) { for (int k = 0; k < n; k++) {
#pragma acc kernels
    for (int i = k + 1; i < n; i++) for (int j = k + 1; j < n; j++) d[i*n+j] -= d[i*n+k] * d[k*n+j]; } }
static void tri(int n, int *d) { for (int k = 0; k < n; k++) {
#pragma acc kernels
    { for (int i = 0; i < k; i++) for (int j = 0; j < n; j++) d[i*n+j] += d[k*n+j];
      for (int i = k + 1; i < n; i++) for (int j = 0; j < n; j++) d[i*n+j] -= d[k*n+j]; } } }
static void down(int n, int *d) { for (int k = n - 1; k >= 0; k--) {
#pragma acc kernels
    { for (int i = 0; i < k; i++) d[i*n+k] += d[k*n+k];
      for (int i = k + 1; i < n; i++) d[i*n+k] -= d[k*n+k]; } } }
static void h(int n, int *d, int which) { for (int k = 0; k < n; k++) for (int i = which == 2 ? k + 1 : 0; i < n; i++) for (int j = which == 2 ? k + 1 : 0; j < n; j++) {
   if (which < 2) { if (d[i*n+k] + d[k*n+j] < d[i*n+j]) d[i*n+j] = d[i*n+k] + d[k*n+j]; } else if (which == 2) d[i*n+j] -= d[i*n+k] * d[k*n+j];
   else if (which == 3 && i != k) { if (i < k) d[i*n+j] += d[k*n+j]; else d[i*n+j] -= d[k*n+j]; } } 
  if (which == 4) for (int k = n - 1; k >= 0; k--) for (int i = 0; i < n; i++) if (i < k) d[i*n+k] += d[k*n+k]; else if (i > k) d[i*n+k] -= d[k*n+k]; }
int main(void)
{
  for (int n = 0; n < 6; n++) for (int w = 0; w < 5; w++) {
    int size = n*n + 1, *a = malloc(4*size), *b = malloc(4*size);
    for (int i = 0; i < n*n; i++) a[i] = b[i] = (i * 37 + 11) % 50;
    if (n) acc_copyin(a, 4*n*n);
    switch (w) { case 0: fw(n, (int(*)[n])a); break; case 1: fl(n, a); break; case 2: lu(n, a); break; case 3: tri(n, a); break; case 4: down(n, a); }
    if (n) acc_copyout(a, 4*n*n);
    h(n, b, w);
    for (int i = 0; i < n*n; i++)
      CHECK_EQ(a[i], b[i]);
    free(a);
    free(b);
  }
  return report();
}
