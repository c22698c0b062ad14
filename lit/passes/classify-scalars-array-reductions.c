// RUN: accopt %s --emit=transformed --verify-diagnostics | filecheck %s

// Lanes do not share the copy that a gang has of an array.
// CHECK: 7:13: error: threads of a gang share this loop, but not a gang's copy of 't', which is reduced
void lanes(int n, const double *restrict a, double t[3]) {
#pragma acc parallel reduction(+:t[0:3]) present(a[0:n])
#pragma acc loop gang vector
  for (int i = 0; i < n; i++)
    t[i % 3] += a[i];
}
