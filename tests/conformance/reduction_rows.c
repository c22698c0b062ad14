/* Reductions of sections of rows whose number is known at run time. */
#include "check.h"
int main(int argc, char **argv) {
  int rows = argc + 2, i, j, m[5][4];
  double (*d)[3][2] = calloc(rows, sizeof *d);
  float z[6] = {0};
  for (i = 0; i < 5; i++)
    for (j = 0; j < 4; j++)
      m[i][j] = 100 * i;
#pragma acc parallel loop reduction(+:m[1:rows])
  for (i = 0; i < 120; i++)
    m[1 + i % rows][i % 4] += 1;
  for (i = 0; i < 5; i++)
    for (j = 0; j < 4; j++)
      CHECK_EQ(m[i][j], 100 * i + (i >= 1 && i <= rows ? 10 : 0));
#pragma acc parallel loop gang reduction(+:d[0:rows]) num_gangs(5)
  for (i = 0; i < 10; i++)
#pragma acc loop vector reduction(+:d[0:rows])
    for (j = 0; j < rows * 6; j++)
      d[j / 6][j / 2 % 3][j % 2] += 0.5;
  for (j = 0; j < rows * 6; j++)
    CHECK_NEAR(d[j / 6][j / 2 % 3][j % 2], 5);
#pragma acc parallel loop gang reduction(max:z[0:rows])
  for (i = 0; i < 10; i++)
    for (j = 0; j < rows; j++)
      z[j] = z[j] > i + j ? z[j] : i + j;
  for (j = 0; j < rows; j++)
    CHECK_NEAR(z[j], 9 + j);
  free(d);
  return report();
}
