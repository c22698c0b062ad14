/* Rows of a product in cached tiles: `gang` gives the rows to gangs alone, whatever else is said of the loop. */
#define N 256
void product(float (*Q c)[N], const float (*Q a)[N], const float (*Q b)[N]) {
#pragma acc kernels copy(c[0:N]) copyin(a[0:N], b[0:N])
  {
#pragma acc loop gang
    for (int i = 0; i < N; i++)
#pragma acc loop vector
      for (int j = 0; j < N; j++) {
        float sum = 0;
        for (int k = 0; k < N; k += 16) {
#pragma acc cache(readonly: a[i:1][k:16], b[k:16][j:1])
          for (int q = k; q < k + 16; q++) sum += a[i][q] * b[q][j];
        }
        c[i][j] = sum;
      }
  }
}
