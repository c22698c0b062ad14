// RUN: accopt %s --target=nvptx --emit=data -o /dev/null 2>&1 | filecheck %s
// RUN: accopt %s --target=nvptx --emit=data -Wno-short-section -o /dev/null 2>&1 | filecheck %s --check-prefix=OFF --allow-empty

// Accesses that certainly leave the section of a data construct are reported, others are not.

#define N 64
double a[N + 2][N + 2], b[N + 2][N + 2], whole[N], twice[N], once[N];

// CHECK: short-sections.c:{{[0-9]+}}:7: warning: this accesses 'b' up to 528 bytes after the section that is mapped [-Wshort-section]
// CHECK: short-sections.c:{{[0-9]+}}:40: note: it is mapped here
// CHECK: short-sections.c:{{[0-9]+}}:17: warning: this accesses 'a' up to 1056 bytes after the section that is mapped
// CHECK-NOT: warning
// OFF-NOT: warning
void stencil(void) {
#pragma acc data copyin(a[0:N]) create(b[0:N])
#pragma acc parallel loop collapse(2)
  for (int i = 1; i <= N; i++)
    for (int j = 1; j <= N; j++)
      b[i][j] = a[i + 1][j] + a[i - 1][j];
}

void allowed(int n, const int *used, double *p) {
#pragma acc data copy(whole) copyin(p[0:n]) copyin(used[0:N])
  {
#pragma acc data copyin(whole[0:8])
#pragma acc parallel loop
    for (int i = 0; i < N; i++)
      whole[i] += p[i];
#pragma acc data copy(once[8:8])
    {
#pragma acc parallel loop
      for (int i = 8; i < 16; i++)
        once[i] = i;
#pragma acc parallel loop
      for (int i = 0; i < N; i++)
        if (used[i])
          once[i] = i;
#pragma acc parallel loop
      for (int i = 0; i < n; i++)
        once[i] += 1;
    }
  }
#pragma acc data present(twice[0:8])
#pragma acc parallel loop
  for (int i = 0; i < N; i++)
    twice[i] = i;
}
