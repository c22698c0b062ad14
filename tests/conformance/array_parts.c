/* Arrays of which only a part is on the device: constructs need what they access (OpenACC 3.4, 2.6.2), without a
   clause, in present and under default(present). */
#include <stdio.h>
#include <openacc.h>
#define N 32
enum { LOW = 4, HIGH = 20 };
double line[N], plane[N][N], cube[N][6][5];
static int counts[N], whole[N];
struct fields { int tag; double x[N]; float y[N][3]; } f;
static int failures;
static void expect(const char *what, int good) { if (!good) { printf("wrong: %s\n", what); failures++; } }
static void fill(void) {
  for (int i = 0; i < N; i++) { line[i] = i; counts[i] = i; whole[i] = i; f.x[i] = i; for (int j = 0; j < 3; j++) f.y[i][j] = i + j;
    for (int j = 0; j < N; j++) plane[i][j] = i * 100 + j;
    for (int j = 0; j < 6; j++) for (int k = 0; k < 5; k++) cube[i][j][k] = i + 10 * j + k; } }
static void nested(int lo, int hi) {
#pragma acc parallel loop present(line)
  for (int i = lo; i < hi; i++) line[i] += 1000;
#pragma acc kernels default(present)
  for (int i = lo; i < hi; i++) counts[i] += 1000;
}
static void without_clauses(int lo, int hi) {
#pragma acc kernels
  for (int i = lo; i < hi; i++) line[i] += 1;
#pragma acc parallel loop
  for (int i = lo; i < hi; i++) line[i] += 10;
#pragma acc serial
  for (int i = lo; i < hi; i++) line[i] += 100;
#pragma acc parallel loop collapse(2)
  for (int i = lo; i < hi; i++) for (int j = 1; j < N - 1; j++) plane[i][j] += 0.5;
#pragma acc kernels loop
  for (int i = hi - 1; i >= lo; i--) for (int j = 0; j < 6; j++) for (int k = 0; k < 5; k++) cube[i][j][k] *= 2;
#pragma acc parallel
  {
#pragma acc loop gang
    for (int i = lo; i < hi; i++) counts[i]++;
  }
}
static double sums(int lo, int hi) {
  double s = 0; int t = 0;
#pragma acc parallel loop reduction(+:s) default(present)
  for (int i = lo; i < hi; i++) s += line[i];
#pragma acc serial loop reduction(+:t) present(counts)
  for (int i = lo + 1; i <= hi - 1; i++) t += counts[i];
  return s + t;
}
int main(void) {
  int lo = LOW, hi = HIGH; double local[N]; double variable[hi * 2];
  fill();
  for (int i = 0; i < N; i++) local[i] = i;
  for (int i = 0; i < 2 * hi; i++) variable[i] = i;
#pragma acc enter data copyin(line[lo:hi - lo], plane[lo:hi - lo][0:N], cube[lo:hi - lo], counts[LOW:HIGH - LOW])
#pragma acc enter data copyin(local[lo:hi - lo], variable[lo:hi - lo], f.x[lo:hi-lo])
  without_clauses(lo, hi);
  double s = sums(lo, hi);
  nested(lo, hi);
#pragma acc parallel loop present(local, variable, f.x)
  for (int i = lo; i < hi; i++) { local[i] *= 2; variable[i] *= 3; f.x[i] *= 4; }
#pragma acc kernels default(present) async(1)
  for (int i = lo; i < hi; i++) { local[i] += 1; variable[i] += 1; }
#pragma acc wait
#pragma acc data copy(whole)
  {
#pragma acc parallel loop
    for (int i = lo; i < hi; i++) { whole[i] += (int)line[i]; local[i] += 1; }
  }
  if (lo == hi) {
#pragma acc parallel loop present(line)
    for (int i = 0; i < lo; i++) line[i] = 0;
  }
#pragma acc parallel loop present(plane)
  for (int i = hi; i < lo; i++) plane[i][0] = 0;
#pragma acc parallel loop present(plane, line, local, variable) firstprivate(lo, hi) // three are not accessed
  for (int i = 0; i < N; i++) if (i >= lo && i < hi) plane[i][0] = -1;
#pragma acc exit data copyout(line[lo:hi - lo], plane[lo:hi - lo][0:N], cube[lo:hi - lo], counts[LOW:HIGH - LOW])
#pragma acc exit data copyout(local[lo:hi - lo], variable[lo:hi - lo], f.x[lo:hi-lo])
  int good[8] = {1, 1, 1, 1, 1, 1, 1, 1}; double want = 0;
  for (int i = 0; i < N; i++) {
    int in = i >= lo && i < hi;
    good[0] &= line[i] == i + (in ? 1111 : 0);
    good[1] &= counts[i] == i + (in ? 1001 : 0);
    good[2] &= plane[i][5] == i * 100 + 5 + (in ? 0.5 : 0) && plane[i][0] == (in ? -1 : i * 100);
    good[3] &= cube[i][5][4] == (i + 54) * (in ? 2 : 1);
    good[4] &= local[i] == (in ? 2 * i + 2 : i) && variable[i] == (in ? 3 * i + 1 : i);
    good[5] &= f.x[i] == (in ? 4 * i : i) && f.y[i][2] == i + 2;
    good[6] &= whole[i] == (in ? i + i + 1111 : i);
    if (in) want += i + 111 + (i > lo ? i + 1 : 0);
  }
  good[7] = s == want;
  for (int i = 0; i < 8; i++) { char name[2] = {'0' + i, 0}; expect(name, good[i]); }
  puts(failures ? "wrong" : "OK");
  return failures != 0;
}
